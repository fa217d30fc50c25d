"""Card and meta data of a package: license, sources, and the figures of a test set.

`python ../scripts/package_meta.py FACTS METRICS META` in the folder of a project: write FACTS, what
holds for the treebank (JSON), and the figures of METRICS, a report of `structreg evaluate`, to
META, a meta.json for `spacy package`.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from spacy_structreg.corpora.files import replace_text


def read_object(path: Path, *keys: str) -> dict[str, Any]:
    """A JSON object with some keys. Raises ValueError, naming the file, if it is none."""
    try:
        found = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is no JSON: {error}") from error
    for key in keys:
        if not isinstance(found, dict) or key not in found:
            raise ValueError(f"{path} has no {key!r}; has it been mistaken for another file?")
    result: dict[str, Any] = found
    return result


def main(arguments: list[str] | None = None) -> int:
    """0 if the file was written, else 1."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("facts", type=Path)
    parser.add_argument("metrics", type=Path)
    parser.add_argument("meta", type=Path)
    given = parser.parse_args(arguments)
    try:
        facts = read_object(given.facts, "lang", "description", "license", "sources")
        report = read_object(given.metrics, "counts")
        # Figures stand before the counts behind them.
        names = list(report)[: list(report).index("counts")]
        figures = {name: report[name] for name in names if report[name] is not None}
        given.meta.parent.mkdir(parents=True, exist_ok=True)
        with replace_text(given.meta) as stream:
            meta = {**facts, "performance": figures}
            stream.write(json.dumps(meta, ensure_ascii=False, indent=2) + "\n")
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
