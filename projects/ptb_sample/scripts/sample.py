"""The folds of the sample of the Penn Treebank.

`python scripts/sample.py TREES FOLDER K`: of ten folds of sentences, the k-th (from 1) is the
test set, the one before it the development set (for the first, the last), and the others are the
training set. They go to FOLDER/test.spacy, dev.spacy and train.spacy as Docs with their tags,
constituents with heads by the usual rules, and the dependencies that these give, the words as they
stand in text: ( for -LRB-.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from spacy_structreg.corpora.constituents import sentence_of_tree
from spacy_structreg.corpora.formats.brackets import constituency_sentences
from spacy_structreg.corpora.splits import fold_bounds
from spacy_structreg.pipeline.gold_docs import write_docs

N_FOLDS = 10


def write_fold(trees: Path, folder: Path, fold: int) -> None:
    """Write the training, development and test set of a fold."""
    if not 1 <= fold <= N_FOLDS:
        raise ValueError(f"fold {fold}: folds are numbered from 1 to {N_FOLDS}")
    sentences = list(constituency_sentences(trees, "ptb"))
    folds = [sentences[begin:end] for begin, end in fold_bounds(len(sentences), N_FOLDS)]
    test, dev = fold - 1, (fold - 2) % N_FOLDS
    parts = {
        "train": [
            sentence
            for number, members in enumerate(folds)
            if number not in (test, dev)
            for sentence in members
        ],
        "dev": folds[dev],
        "test": folds[test],
    }
    folder.mkdir(parents=True, exist_ok=True)
    for part, chosen in parts.items():
        write_docs(folder / f"{part}.spacy", map(sentence_of_tree, chosen))
        print(f"{folder / part}.spacy: {len(chosen):,} sentences")


def main(arguments: list[str] | None = None) -> int:
    """0 if all went well, else 1."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("trees", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("fold", type=int)
    given = parser.parse_args(arguments)
    try:
        write_fold(given.trees, given.folder, given.fold)
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
