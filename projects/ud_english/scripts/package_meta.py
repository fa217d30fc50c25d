"""What a package says of its pipeline: licence, sources, and the figures of a test set.

`python scripts/package_meta.py METRICS META`: write the figures of a report of `structreg
evaluate` and what holds for the treebank to a meta.json for `spacy package`.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from spacy_structreg.corpora.files import replace_text

LICENCE = "CC BY-SA 4.0"
ABOUT: dict[str, Any] = {
    "lang": "en",
    "description": (
        "English pipeline of linear structured models behind spaCy's tokenizer, trained on UD "
        "English EWT: tags, universal tags, sentences, dependency trees. Figures are those of raw "
        "text, sentence by sentence, on the test set."
    ),
    "license": LICENCE,
    "sources": [
        {
            "name": "UD English EWT",
            "url": "https://github.com/UniversalDependencies/UD_English-EWT",
            "author": "Natalia Silveira, Timothy Dozat, Marie-Catherine de Marneffe and others",
            "license": LICENCE,
        }
    ],
}


def main(arguments: list[str] | None = None) -> int:
    """0 if the file was written, else 1."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("metrics", type=Path)
    parser.add_argument("meta", type=Path)
    given = parser.parse_args(arguments)
    try:
        report: dict[str, Any] = json.loads(given.metrics.read_text("utf-8"))
        # Figures stand before the counts behind them.
        names = list(report)[: list(report).index("counts")]
        figures = {name: report[name] for name in names if report[name] is not None}
        given.meta.parent.mkdir(parents=True, exist_ok=True)
        with replace_text(given.meta) as stream:
            meta = {**ABOUT, "performance": figures}
            stream.write(json.dumps(meta, ensure_ascii=False, indent=2) + "\n")
    except (ValueError, OSError) as error:
        print(f"{given.metrics}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
