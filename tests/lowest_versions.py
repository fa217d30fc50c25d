"""Print constraints of pip by which the lowest versions that `setup.cfg` allows are installed.

``python tests/lowest_versions.py EXTRA …``: of what the package needs, and of extras.
"""

from __future__ import annotations

import configparser
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

SETUP: Final = Path(__file__).parent.parent / "setup.cfg"
REQUIREMENT: Final = re.compile(r"([A-Za-z0-9._-]+)(?:\[.*\])?\s*(?:==|>=)\s*([0-9.]+)")


# Of what these need in turn, versions of their time: they warn of what newer ones deprecate.
OF_THEIR_TIME: Final = {"click": "8.2.1", "pyparsing": "3.2.0"}


def lowest_versions(extras: Sequence[str], setup: Path = SETUP) -> Iterator[str]:
    """Yield a constraint for each requirement.

    Raises ValueError for one without a lower bound, and for two bounds of one package.
    """
    config = configparser.ConfigParser()
    config.read(setup, "utf-8")
    lists = [config["options"]["install_requires"]]
    lists += [config["options.extras_require"][extra] for extra in extras]
    found = dict(OF_THEIR_TIME)
    for line in "\n".join(lists).splitlines():
        requirement = line.partition("#")[0].strip()
        if not requirement:
            continue
        if not (match := REQUIREMENT.match(requirement)):
            raise ValueError(f"{setup}: {requirement!r} has no lower bound")
        if found.setdefault(match[1], match[2]) != match[2]:
            raise ValueError(
                f"{setup}: {match[1]} has two lower bounds, {found[match[1]]} and {match[2]}"
            )
    yield from (f"{name}=={version}" for name, version in found.items())


if __name__ == "__main__":
    print(*lowest_versions(sys.argv[1:]), sep="\n")
