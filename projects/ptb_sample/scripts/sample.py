"""The sample of the Penn Treebank: from the archive to one file, and from that to folds.

`python scripts/sample.py join ARCHIVE TARGET`: write the trees of the archive, its files
combined/wsj_0001.mrg and so on in the order of their names, to TARGET. Without the archive nothing
is done.

`python scripts/sample.py fold TREES FOLDER K`: of ten folds of sentences, the k-th (from 1) is the
test set, the one before it the development set (for the first, the last), and the others are the
training set. They go to FOLDER/test.spacy, dev.spacy and train.spacy as Docs with their tags,
constituents with heads by the usual rules, and the dependencies that these give, the words as they
stand in text: ( for -LRB-.
"""

from __future__ import annotations

import argparse
import re
import sys
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path

from spacy_structreg.cli.convert import write_docs
from spacy_structreg.cli.corpus_files import sentence_of_tree
from spacy_structreg.corpora.brackets import plain_word
from spacy_structreg.corpora.constituents import constituency_sentences
from spacy_structreg.corpora.files import replace_bytes
from spacy_structreg.corpora.splits import fold_bounds

MEMBER = re.compile(r"(?:.*/)?combined/wsj_[0-9]{4}\.mrg")
# A hundred times the largest file of the sample.
LARGEST_MEMBER = 1 << 23
N_FOLDS = 10


def join(archive: Path, target: Path) -> None:
    """Write the trees of the archive to one file."""
    if not archive.is_file():
        return
    try:
        with zipfile.ZipFile(archive) as opened:
            members = sorted(
                (info for info in opened.infolist() if MEMBER.fullmatch(info.filename)),
                key=lambda info: info.filename,
            )
            if not members or any(info.file_size > LARGEST_MEMBER for info in members):
                raise ValueError("it does not hold the files combined/wsj_0001.mrg and so on")
            target.parent.mkdir(parents=True, exist_ok=True)
            with replace_bytes(target) as stream:
                for info in members:
                    stream.write(opened.read(info))
    except (
        zipfile.BadZipFile,
        NotImplementedError,
        RuntimeError,
        ValueError,
        EOFError,
        zlib.error,
    ) as error:
        raise ValueError(
            f"{archive}: not the archive of the sample ({error}); get it again"
        ) from error
    print(f"{target}: {len(members)} files of {archive}")


def write_fold(trees: Path, folder: Path, fold: int) -> None:
    """Write the training, development and test set of a fold."""
    if not 1 <= fold <= N_FOLDS:
        raise ValueError(f"fold {fold}: folds are numbered from 1 to {N_FOLDS}")
    sentences = [
        replace(tree, words=tuple(map(plain_word, tree.words)))
        for tree in constituency_sentences(trees, "ptb")
    ]
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
    commands = parser.add_subparsers(dest="command", required=True)
    joined = commands.add_parser("join")
    joined.add_argument("archive", type=Path)
    joined.add_argument("target", type=Path)
    folded = commands.add_parser("fold")
    folded.add_argument("trees", type=Path)
    folded.add_argument("folder", type=Path)
    folded.add_argument("fold", type=int)
    given = parser.parse_args(arguments)
    try:
        if given.command == "join":
            join(given.archive, given.target)
        else:
            write_fold(given.trees, given.folder, given.fold)
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
