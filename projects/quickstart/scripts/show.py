"""Print what a pipeline finds in a text: words with tags and heads, entities, constituents.

`python scripts/show.py PIPELINE TEXT`: the first sentence of each paragraph in full; of the first N
paragraphs with `--limit N`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import spacy
from spacy.tokens import Span
from wasabi import msg


def show(sentence: Span) -> None:
    """Print the analysis of a sentence."""
    msg.divider(sentence.text.strip())
    rows = [
        (token.text, token.tag_, token.pos_, token.dep_, token.head.text)
        for token in sentence
        if not token.is_space
    ]
    msg.table(rows, header=("word", "tag", "pos", "relation", "head"), divider=True)
    entities = "  ".join(f"{entity.text} {entity.label_}" for entity in sentence.ents)
    print(f"entities: {entities or 'none'}")
    print(f"tree: {sentence._.parse_string}")


def main(arguments: list[str] | None = None) -> int:
    """0 if the text was shown, else 1."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("pipeline")
    parser.add_argument("text", type=Path)
    parser.add_argument("--limit", type=int, metavar="N")
    given = parser.parse_args(arguments)
    try:
        nlp = spacy.load(given.pipeline)
        paragraphs = given.text.read_text("utf-8").splitlines()[: given.limit]
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    for doc in nlp.pipe(filter(str.strip, paragraphs)):
        show(next(doc.sents))
    return 0


if __name__ == "__main__":
    sys.exit(main())
