"""The files of UD English EWT: its training set from its genres, and its parts by genre.

`python scripts/treebank.py train SOURCE TARGET`: if the folder that the variable STRUCTREG_DATA
names has a folder SOURCE with the treebank by genre (en_ewt-weblog.conllu, ...), but without its
training set, write the training set to TARGET: what is in neither the development nor the test
set. Else nothing is done.

`python scripts/treebank.py genres FILE FOLDER`: write the sentences of each genre of a file to
FOLDER/GENRE.conllu.
"""

from __future__ import annotations

import argparse
import os
import sys
from itertools import chain
from pathlib import Path

from spacy_structreg.corpora.conllu import read_conllu, write_conllu
from spacy_structreg.corpora.splits import EWT_GENRES, genre, rest_of_treebank

VARIABLE = "STRUCTREG_DATA"
SUFFIXES = ("", ".xz", ".gz")


def find(folder: Path, name: str) -> Path | None:
    """The file of that name, or the compressed one."""
    paths = (folder / (name + suffix) for suffix in SUFFIXES)
    return next((path for path in paths if path.is_file()), None)


def write_training_set(source: str, target: Path) -> None:
    """Write the training set, if the folder of corpora has what it takes."""
    corpora = os.environ.get(VARIABLE)
    if not corpora:
        return
    folder = Path(corpora, source)
    whole = [find(folder, f"en_ewt-{name}.conllu") for name in EWT_GENRES]
    held_out = [find(folder, f"en_ewt-ud-{part}.conllu") for part in ("dev", "test")]
    found = [path for path in (*whole, *held_out) if path is not None]
    if find(folder, "en_ewt-ud-train.conllu") or len(found) < len(whole) + len(held_out):
        return
    treebank = chain.from_iterable(map(read_conllu, found[: len(whole)]))
    rest = rest_of_treebank(treebank, chain.from_iterable(map(read_conllu, found[len(whole) :])))
    target.parent.mkdir(parents=True, exist_ok=True)
    count = write_conllu(target, rest)
    print(f"{target}: {count:,} sentences of the genres of {source} of {VARIABLE}")


def write_genres(path: Path, folder: Path) -> None:
    """Write a file for each genre; every one must have sentences."""
    sentences = [(genre(sentence), sentence) for sentence in read_conllu(path)]
    folder.mkdir(parents=True, exist_ok=True)
    for name in EWT_GENRES:
        chosen = [sentence for of, sentence in sentences if of == name]
        if not chosen:
            raise ValueError(f"{path}: no sentence of the genre {name}; give a whole part")
        write_conllu(folder / f"{name}.conllu", chosen)
        print(f"{folder / name}.conllu: {len(chosen):,} sentences")


def main(arguments: list[str] | None = None) -> int:
    """0 if all went well, else 1."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True)
    train = commands.add_parser("train")
    train.add_argument("source")
    train.add_argument("target", type=Path)
    genres = commands.add_parser("genres")
    genres.add_argument("file", type=Path)
    genres.add_argument("folder", type=Path)
    given = parser.parse_args(arguments)
    try:
        if given.command == "train":
            write_training_set(given.source, given.target)
        else:
            write_genres(given.file, given.folder)
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
