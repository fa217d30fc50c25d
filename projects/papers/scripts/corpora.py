"""The corpora of papers: Docs to train on, to choose epochs on and to score on."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, islice, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import spacy
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab
from studies.corpora import read_part, read_parts
from studies.ctb import CTB_SPLITS, CtbPart, check_counts, list_articles, read_articles
from studies.runs import data_folder

from spacy_structreg.corpora.checksum import corpus_checksum
from spacy_structreg.corpora.corpus_options import (
    CorpusOptions,
    HeadRuleSet,
    SchemeName,
    Spaces,
    parse_columns,
)
from spacy_structreg.corpora.splits import fold_bounds
from spacy_structreg.corpora.trees import Tree
from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.models.labeling.labelers import SequenceLabeler
from spacy_structreg.pipeline.gold_docs import read_docs, save_docs

PARTS: Final = ("train", "dev", "test")
UNLABELED: Final = "unlabeled"
READ_AS: Final = {
    "format": str,
    "columns": parse_columns,
    "scheme": SchemeName,
    "spaces": Spaces,
    "head_rules": HeadRuleSet,
    "comments": str,
    "lang": str,
}
"""Options of reading that a corpus, or a part of it, may have."""

SCORED_AS: Final = ("kinds", "punctuation", "refit", "scored")
"""Options that say how models are trained and scored on a corpus."""


@dataclass(frozen=True)
class Corpus:
    """Parts of a corpus, of each fold or draw, as the bytes of `.spacy` files.

    refit: train once more in the end, on train and dev, for as many epochs as were best. drawn:
    whether each seed has parts of its own. scored: the parts that figures are of. kinds: the labels
    whose figures are kept besides those of all. punctuation: the tags that it bears; None for the
    words that look like it.
    """

    folds: list[dict[str, bytes]]
    refit: bool
    checksum: str
    drawn: bool = False
    scored: tuple[str, ...] = ("test",)
    kinds: tuple[str, ...] = ()
    punctuation: frozenset[str] | None = None

    def parts(self, seed: int, fold: int) -> dict[str, bytes]:
        """The parts that a run is given."""
        return self.folds[seed if self.drawn else fold]


def read_corpus(name: str, entry: Mapping[str, Any], folder: Path) -> Corpus:
    """Read a corpus as its entry in the grid says.

    The entry has paths of `train`, `dev` and `test` in the folder, files or folders of them, or of
    `whole`, as `read_parts` takes them; or, of the Chinese Treebank, `split`, a name of
    `CTB_SPLITS`, with `whole`. counts: "any" if these need not have the sizes of the papers.
    folds: cut `whole` into so many, each of which is the test set once, with the next one as the
    development set; with choice: true, as `folded`. tagger: a part of a corpus, with the `variable`
    of its folder, of whose tags a tagger learns that tags all words. refit, scored, kinds: as of
    `Corpus`; punctuation: its tags, with spaces between them. tags: "universal" if universal parts
    of speech stand for the tags.

    A part is a path, or has a `path` and options of reading (`READ_AS`), `days` of PFR, whether its
    texts are cut into `sentences`, the numbers of what comes of this, `from` and `to` (in a folder,
    of each file), and the `category` of its texts;
    the first and the last number of `articles` of the Chinese Treebank, or of `sections` of the
    Penn Treebank, folders such as `02`; and `first`, of how many sentences it is in all; or it is a
    list of such parts. `scored` may name further parts. Texts of the part `unlabeled` are learned
    from without labels. draws: as many seeds have parts of their own: with `shares`, `whole` is
    shuffled and cut into parts by their shares; with `sample`, the training set is so large a share
    of `train`, which is drawn.
    Raises ValueError for an entry that is not sound or a corpus that is too small, and what the
    readers raise; OSError for files that cannot be read.
    """
    if "signals" in entry:
        from activities import read_signals

        return read_signals(entry)
    vocab = spacy.blank("zh").vocab
    options = CorpusOptions(
        encoding=entry.get("encoding", "utf-8"),
        **{option: read(entry[option]) for option, read in READ_AS.items() if option in entry},
    )

    is_universal = entry.get("tags") == "universal"
    docs = partial(
        docs_of_part, folder=folder, vocab=vocab, options=options, is_universal=is_universal
    )
    parted: list[dict[str, list[Doc]]] = []
    if "folds" in entry:
        whole = read_part(name, entry, "whole", docs)
        parted = list(folded(whole, int(entry["folds"]), choice=entry.get("choice", False)))
    elif "shares" in entry:
        whole = read_part(name, entry, "whole", docs)
        parted = [shared(name, whole, entry["shares"], seed) for seed in range(entry["draws"])]
    elif "split" in entry:
        split, release = CTB_SPLITS[entry["split"]], folder / entry["whole"]
        found = articles(split, release, docs, check=entry.get("counts") != "any")
        parted = [dict(zip(PARTS, found, strict=True))]
    else:
        parted = [dict(zip(PARTS, read_parts(name, entry, docs), strict=True))]
        for part in (UNLABELED, *entry.get("scored", [])):
            if part in entry and part not in parted[0]:
                parted[0][part] = read_part(name, entry, part, docs)
        if "sample" in entry:
            parted = [sampled(parted[0], entry["sample"], seed) for seed in range(entry["draws"])]
    if "tagger" in entry:
        given = {key: value for key, value in entry["tagger"].items() if key != "variable"}
        source = data_folder(entry["tagger"])
        tag_words(parted, docs(given, folder=source, options=CorpusOptions()))
    return Corpus(
        [{part: saved(found) for part, found in parts.items()} for parts in parted],
        bool(entry.get("refit", False)),
        checksum_of(parted, entry),
        drawn="draws" in entry,
        scored=tuple(entry.get("scored", ["test"])),
        kinds=tuple(entry.get("kinds", [])),
        punctuation=frozenset(entry["punctuation"].split()) if "punctuation" in entry else None,
    )


def docs_of_part(
    given: str | Mapping[str, Any] | Sequence[Any],
    *,
    folder: Path,
    vocab: Vocab,
    options: CorpusOptions,
    is_universal: bool,
) -> Iterator[Doc]:
    """Yield the Docs of a part of a corpus, as `read_corpus` says."""
    docs = partial(
        docs_of_part, folder=folder, vocab=vocab, options=options, is_universal=is_universal
    )
    if isinstance(given, Sequence) and not isinstance(given, str):
        for each in given:
            yield from docs(each)
        return
    each = {"path": given} if isinstance(given, str) else dict(given)
    path = folder / each.pop("path")
    begin, end, category = each.pop("from", 0), each.pop("to", None), each.pop("category", None)
    cut = sentences_of if each.pop("sentences", False) else iter
    days = each.pop("days", None)
    if days is not None:
        each["days"] = frozenset(range(days[0], days[1] + 1))
    each |= {option: read(each[option]) for option, read in READ_AS.items() if option in each}
    if "articles" in each:
        first, last = each["articles"]
        yield from docs_of(trees_of(list_articles(path), range(first, last + 1)), docs)
        return
    first, last = each.pop("sections", (None, None))
    folders = [path] if first is None else [path / f"{n:02}" for n in range(first, last + 1)]
    is_whole = path.is_dir() and "part" not in each
    files = [file for each in folders for file in files_of(each)] if is_whole else [path]
    most = each.pop("first", None)
    chosen = CorpusOptions(**{**vars(options), **each})
    found = (
        doc for file in files for doc in islice(cut(read_docs(file, vocab, chosen)), begin, end)
    )
    for doc in islice(found, most):
        if category is not None:
            doc.cats = {category: 1.0}
        for token in doc if is_universal else ():
            token.tag = token.pos
        yield doc


def sentences_of(docs: Iterable[Doc]) -> Iterator[Doc]:
    """Yield each sentence of Docs as a Doc of its own."""
    for doc in docs:
        for sentence in doc.sents:
            yield sentence.as_doc()


def folded(whole: Sequence[Doc], n: int, *, choice: bool) -> Iterator[dict[str, list[Doc]]]:
    """Yield the parts of a corpus for each of n folds.

    A fold is a run of sentences, the test set of its number; the next one is the development set.
    choice: for choices on a training set: a fold is every n-th sentence, and both sets at once.
    """
    bounds = fold_bounds(len(whole), n)
    folds = [whole[k::n] for k in range(n)] if choice else [whole[a:b] for a, b in bounds]
    for number, test in enumerate(folds):
        dev = number if choice else (number + 1) % n
        rest = [doc for k, fold in enumerate(folds) if k not in (number, dev) for doc in fold]
        yield {"train": rest, "dev": folds[dev], "test": test}


def tag_words(parted: Sequence[Mapping[str, list[Doc]]], tagged: Iterable[Doc]) -> None:
    """Set the tags of all words, by a tagger that learns from other Docs."""
    tagger = SequenceLabeler(templates="pos-rich", scheme=None, learning=Learning(), epochs=10)
    tagger.fit([[(token.text, token.tag_) for token in doc] for doc in tagged], n_threads=1)
    # Folds have the same Docs.
    docs = {id(doc): doc for parts in parted for part in parts.values() for doc in part}
    for doc in docs.values():
        for token, tag in zip(doc, tagger.predict([token.text for token in doc]), strict=True):
            token.tag_ = tag


def shared(
    name: str, whole: Sequence[Doc], shares: Mapping[str, float], seed: int
) -> dict[str, list[Doc]]:
    """Parts of a corpus by their shares, of its sentences in an order of the seed.

    Without a share of a test set, the development set is that, too.
    Raises ValueError for a part that there is not, or that gets no sentence.
    """
    if unknown := set(shares) - {*PARTS, UNLABELED}:
        raise ValueError(f"the corpus {name} has shares of an unknown part, {min(unknown)!r}")
    mixed = random.Random(seed).sample(whole, len(whole))
    ends = [round(len(mixed) * each / sum(shares.values())) for each in accumulate(shares.values())]
    cuts = (mixed[begin:end] for begin, end in pairwise([0, *ends]))
    found = dict(zip(shares, cuts, strict=True))
    found.setdefault("test", found.get("dev", []))
    if not all(found.get(part) for part in PARTS):
        raise ValueError(f"the corpus {name} is too small to be parted, or has no share of a part")
    return found


def sampled(parts: Mapping[str, list[Doc]], share: float, seed: int) -> dict[str, list[Doc]]:
    """The parts with a share of the training set, drawn by the seed, in the order of the corpus."""
    train = parts["train"]
    numbers = random.Random(seed).sample(range(len(train)), max(1, round(share * len(train))))
    return {**parts, "train": [train[number] for number in sorted(numbers)]}


def checksum_of(parted: Iterable[Mapping[str, Sequence[Doc]]], entry: Mapping[str, Any]) -> str:
    """The first digits of the checksum of all that runs read of a corpus.

    It covers the sentences with all that `annotation` has of them, which of them are in which part
    of each fold or draw, and what the entry says of training and scoring (`SCORED_AS`).
    """
    digests: dict[int, str] = {}
    layers = [[name, json.dumps(entry[name])] for name in SCORED_AS if name in entry]
    for parts in parted:
        for part, docs in parts.items():
            for doc in docs:
                if id(doc) not in digests:
                    digests[id(doc)] = corpus_checksum(annotation(doc))
            layers.append([part, *(digests[id(doc)] for doc in docs)])
    return corpus_checksum(layers)[:12]


def annotation(doc: Doc) -> list[list[str]]:
    """The tokens of a Doc with tags, heads and relations, its categories, and all its spans."""
    tokens = [
        [
            *(token.text, token.whitespace_, token.tag_, token.pos_, token.dep_),
            *(str(token.head.i), str(token.is_sent_start)),
        ]
        for token in doc
    ]
    categories = [[name, str(value)] for name, value in sorted(doc.cats.items())]
    groups = {"entities": doc.ents, **{f"spans {name}": group for name, group in doc.spans.items()}}
    spans = [
        [name, str(span.start), str(span.end), span.label_]
        for name, group in sorted(groups.items())
        for span in group
    ]
    return [*tokens, ["categories"], *categories, ["spans"], *spans]


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


def merged(first: bytes, second: bytes) -> bytes:
    """Two `.spacy` files as one."""
    bins = [DocBin(store_user_data=True).from_bytes(each) for each in (first, second)]
    bins[0].merge(bins[1])
    return bytes(bins[0].to_bytes())
