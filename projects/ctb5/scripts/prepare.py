"""Make the parts of a split of the Chinese Treebank from a release of the LDC.

`python scripts/prepare.py RELEASE SPLIT FOLDER` writes FOLDER/train.bracket, dev.bracket and
test.bracket: the trees of the articles of each part, in UTF-8, without empty terminals and function
tags, and with a phrase that is the only child of one of the same label taken off. Their numbers of
sentences and words are held to those of the papers.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from spacy_structreg.corpora.files import replace_text
from spacy_structreg.corpora.trees import Tree

sys.path.append(str(Path(__file__).resolve().parents[2]))

from studies.ctb import (
    CTB_SPLITS,
    check_counts,
    list_articles,
    read_articles,
)


def prepared(tree: Tree) -> Tree | None:
    """The tree as parsers learn it; None if it has no words."""
    cleaned = tree.remove_empties()
    return cleaned and cleaned.without_function_tags().collapse_unaries()


def write_split(release: Path, split: str, folder: Path, *, check: bool) -> None:
    """Write the parts of a split; ValueError if there are no trees, or not as many as expected."""
    files = list_articles(release)
    folder.mkdir(parents=True, exist_ok=True)
    for name, part in CTB_SPLITS[split].items():
        trees = list(filter(None, map(prepared, read_articles(files, part.numbers()))))
        n_words = sum(len(tree.leaves()) for tree in trees)
        print(f"{folder / name}.bracket: {len(trees):,} sentences, {n_words:,} words")
        if check:
            try:
                check_counts(name, part, len(trees), n_words)
            except ValueError as error:
                raise ValueError(f"{error}, or take it as it is with --counts any") from error
        if not trees:
            raise ValueError(
                f"{release}: it has no article of the part {name} of the split {split}"
            )
        with replace_text(folder / f"{name}.bracket") as stream:
            stream.writelines(f"{tree.to_bracket(2)}\n\n" for tree in trees)


def main(arguments: list[str] | None = None) -> int:
    """0 if all went well, else 1."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("release", type=Path)
    parser.add_argument("split", choices=CTB_SPLITS)
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--counts",
        choices=["papers", "any"],
        default="papers",
        help="any: do not hold the counts to those of the papers",
    )
    given = parser.parse_args(arguments)
    try:
        write_split(given.release, given.split, given.folder, check=given.counts == "papers")
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
