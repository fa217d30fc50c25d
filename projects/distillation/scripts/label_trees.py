"""Parse tagged sentences that have no tree.

`python scripts/label_trees.py OUTPUT CORPUS ... --model MODEL`: MODEL is the file of a
`ConstituencyParser`, each CORPUS a .spacy file. OUTPUT, an .xz file, has the tree of each sentence
on a line, with the words and tags that it was parsed with.
"""

from __future__ import annotations

import argparse
import lzma
import sys
from collections.abc import Iterator
from pathlib import Path

import spacy
from spacy.tokens import DocBin
from tqdm import tqdm

from spacy_structreg.models.constituents import ConstituencyParser
from spacy_structreg.pipeline.constituency_documents import constituency_sentences


def sentences_without_tree(path: Path) -> Iterator[tuple[list[str], list[str]]]:
    """Words and tags of the sentences of a .spacy file that have no tree."""
    for doc in DocBin().from_disk(path).get_docs(spacy.blank("zh").vocab):
        visible = [token for token in doc if not token.is_space]
        begin = 0
        for n_words, tree in constituency_sentences(doc):
            if tree is None and n_words:
                tokens = visible[begin : begin + n_words]
                yield [token.text for token in tokens], [token.tag_ for token in tokens]
            begin += n_words


def main(arguments: list[str] | None = None) -> int:
    """Write the trees; returns 0."""
    options = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    options.add_argument("output", type=Path)
    options.add_argument("corpus", type=Path, nargs="+")
    options.add_argument("--model", type=Path, required=True, help="file of the parser")
    given = options.parse_args(arguments)
    parser = ConstituencyParser.load(given.model)
    sentences = [each for path in given.corpus for each in sentences_without_tree(path)]
    parsed = parser.predict_stream(tqdm(sentences, unit=" sentences"))
    with lzma.open(given.output, "wt", encoding="utf-8", preset=9) as stream:
        stream.writelines(f"{tree.tree().to_bracket()}\n" for tree in parsed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
