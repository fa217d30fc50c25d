"""The corpora of papers: Docs to train on, to choose epochs on and to score on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import spacy
from spacy.tokens import Doc
from studies.corpora import read_part, read_parts

from spacy_structreg.corpora.brackets import Tree
from spacy_structreg.corpora.checksum import corpus_checksum
from spacy_structreg.corpora.corpus_options import CorpusOptions, FormatName, HeadRuleSet
from spacy_structreg.corpora.ctb import check_counts, list_articles, read_articles
from spacy_structreg.corpora.splits import CTB_SPLITS, CtbPart, fold_bounds
from spacy_structreg.pipeline.documents import gold_words
from spacy_structreg.pipeline.gold_docs import read_docs, save_docs

PARTS: Final = ("train", "dev", "test")


@dataclass(frozen=True)
class Corpus:
    """Parts of a corpus, of each fold, as the bytes of `.spacy` files.

    refit: train once more in the end, on train and dev, for as many epochs as were best.
    punctuation: the tags that it bears; None for the words that look like it.
    """

    folds: list[dict[str, bytes]]
    refit: bool
    punctuation: frozenset[str] | None
    checksum: str


def read_corpus(name: str, entry: Mapping[str, Any], folder: Path) -> Corpus:
    """Read a corpus as its entry in the grid says.

    The entry has paths of `train`, `dev` and `test` in the folder, files or folders of them, or of
    `whole`, as `read_parts` takes them; or, of the Chinese Treebank, `split`, a name of
    `CTB_SPLITS`, with `whole`. counts: "any" if these need not have the sizes of the papers.
    folds: cut `whole` into so many, each of which is the test set once, with the next one as the
    development set. A part may be {path, sections}: the first and the last number of folders such
    as `02` to be taken, as in the Penn Treebank; {path, articles}: those of articles of the Chinese
    Treebank; {path, first}: so many of its sentences.
    refit: as of `Corpus`. punctuation: its tags, with spaces between them.
    Raises ValueError for an entry that is not sound or a corpus that is too small, and what the
    readers raise; OSError for files that cannot be read.
    """
    vocab = spacy.blank("zh").vocab
    options = CorpusOptions(
        format=FormatName(entry.get("format", "auto")),
        encoding=entry.get("encoding", "utf-8"),
        head_rules=HeadRuleSet(entry["head_rules"]) if "head_rules" in entry else None,
    )

    def docs(given: str | Mapping[str, Any]) -> Iterator[Doc]:
        each = {"path": given} if isinstance(given, str) else dict(given)
        path = folder / each.pop("path")
        days = each.pop("days", None)
        if days is not None:
            each["days"] = frozenset(range(days[0], days[1] + 1))
        if "articles" in each:
            begin, end = each["articles"]
            trees = trees_of(list_articles(path), range(begin, end + 1))
            yield from docs_of(trees, docs)
            return
        sections, first = each.pop("sections", None), each.pop("first", None)
        if sections is not None:
            folders = [path / f"{number:02}" for number in range(sections[0], sections[1] + 1)]
            files = [file for section in folders for file in files_of(section)]
        else:
            files = files_of(path) if path.is_dir() and "part" not in each else [path]
        chosen = CorpusOptions(**{**vars(options), **each})
        yield from islice(chain.from_iterable(read_docs(f, vocab, chosen) for f in files), first)

    if "folds" in entry:
        whole = read_part(name, entry, "whole", docs)
        bounds = fold_bounds(len(whole), int(entry["folds"]))
        runs = [whole[begin:end] for begin, end in bounds]
        parted = []
        for number in range(len(runs)):
            dev = (number + 1) % len(runs)
            rest = [doc for k, run in enumerate(runs) if k not in (number, dev) for doc in run]
            parted.append((rest, runs[dev], runs[number]))
    elif "split" in entry:
        split, release = CTB_SPLITS[entry["split"]], folder / entry["whole"]
        parted = [tuple(articles(split, release, docs, check=entry.get("counts") != "any"))]
    else:
        parted = [read_parts(name, entry, docs)]
    checked = [doc for part in parted[0] for doc in part]
    words = ([*gold_words(doc), *(token.tag_ for token in doc)] for doc in checked)
    punctuation = entry.get("punctuation")
    return Corpus(
        [dict(zip(PARTS, map(saved, parts), strict=True)) for parts in parted],
        bool(entry.get("refit", False)),
        None if punctuation is None else frozenset(punctuation.split()),
        corpus_checksum(words)[:12],
    )


def files_of(folder: Path) -> list[Path]:
    """The files of a folder, in the order of their names."""
    return sorted(path for path in folder.iterdir() if path.is_file())


def articles(
    split: Mapping[str, CtbPart], folder: Path, docs: Any, *, check: bool
) -> Iterator[list[Doc]]:
    """Yield the parts of a split of the Chinese Treebank."""
    files = list_articles(folder)
    for name in PARTS:
        trees = trees_of(files, split[name].numbers())
        if check:
            check_counts(name, split[name], len(trees), sum(len(tree.leaves()) for tree in trees))
        yield docs_of(trees, docs)


def trees_of(files: Mapping[int, Path], articles: Iterable[int]) -> list[Tree]:
    """The trees of articles of the Chinese Treebank, prepared as by the project `ctb5`."""
    found = (tree.remove_empties() for tree in read_articles(files, articles))
    return [tree.without_function_tags().collapse_unaries() for tree in found if tree]


def docs_of(trees: Iterable[Tree], docs: Callable[[str], Iterator[Doc]]) -> list[Doc]:
    """Trees as the Docs that a reader makes of a file of them."""
    with TemporaryDirectory() as made:
        path = Path(made) / "trees.bracket"
        path.write_text("\n".join(tree.to_bracket(2) for tree in trees), encoding="utf-8")
        return list(docs(str(path)))


def saved(docs: list[Doc]) -> bytes:
    """Docs as the bytes of a `.spacy` file."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "docs.spacy"
        save_docs(path, docs)
        return path.read_bytes()
