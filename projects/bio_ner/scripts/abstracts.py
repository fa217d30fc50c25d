"""Part the training set of JNLPBA into a development set, by the abstracts, and the rest.

`python scripts/abstracts.py TRAIN IDS REST DEV`: the abstracts of TRAIN, each of which begins with
a line such as ###MEDLINE:90110496, go to DEV if their number is a line of IDS, and else to REST.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from spacy_structreg.corpora.files import read_lines, replace_text

BEGINNING = "###MEDLINE:"


def part(train: Path, ids: Path, rest: Path, dev: Path) -> tuple[int, int]:
    """Write both parts; returns how many abstracts go to the rest and to dev.

    Raises ValueError for abstracts that occur twice, lines before the first one, and numbers of
    abstracts that there are not.
    """
    wanted = {line.strip() for _, line in read_lines(ids)} - {""}
    seen: set[str] = set()
    for path in (rest, dev):
        path.parent.mkdir(parents=True, exist_ok=True)
    with replace_text(rest) as rest_stream, replace_text(dev) as dev_stream:
        stream = None
        for number, line in read_lines(train):
            if line.startswith(BEGINNING):
                abstract = line[len(BEGINNING) :].strip()
                if abstract in seen:
                    raise ValueError(f"{train}:{number}: the abstract {abstract} occurs twice")
                seen.add(abstract)
                stream = dev_stream if abstract in wanted else rest_stream
            elif stream is None and line.strip():
                raise ValueError(
                    f"{train}:{number}: there is no line with {BEGINNING} before it, so that it "
                    "belongs to no abstract"
                )
            if stream is not None:
                stream.write(line + "\n")
        if missing := wanted - seen:
            raise ValueError(
                f"{len(missing)} abstracts of {ids} are not in {train}, such as {min(missing)}; "
                "take files of one release"
            )
        if not wanted or wanted == seen:
            raise ValueError(f"{ids} names all abstracts of {train} or none; name some of them")
    return len(seen - wanted), len(wanted)


def main(arguments: list[str] | None = None) -> int:
    """0 if all went well, else 1."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    for name in ("train", "ids", "rest", "dev"):
        parser.add_argument(name, type=Path)
    given = parser.parse_args(arguments)
    try:
        n_rest, n_dev = part(given.train, given.ids, given.rest, given.dev)
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{given.rest}: {n_rest:,} abstracts\n{given.dev}: {n_dev:,} abstracts")
    return 0


if __name__ == "__main__":
    sys.exit(main())
