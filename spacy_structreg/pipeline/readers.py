"""The reader of training corpora: ``spacy_structreg.Corpus.v1``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Set
from itertools import chain, islice
from pathlib import Path
from typing import Final, Literal, TypeAlias

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_structreg.corpora.any_format import named_format
from spacy_structreg.corpora.corpus_options import CorpusOptions
from spacy_structreg.corpora.formats.segmented import read_segmented
from spacy_structreg.pipeline.checkpoint_callbacks import in_order
from spacy_structreg.pipeline.gold_docs import read_docbin, read_docs
from spacy_structreg.pipeline.partial_words import InWords, loosened, words_are_characters
from spacy_structreg.pipeline.tokenizer_trainer import trains_tokenizer

Gold: TypeAlias = Literal["words", "tags", "sents"]
Augmenter: TypeAlias = Callable[[Language, Example], Iterator[Example]]

_SUFFIX: Final = ".spacy"
# So many show whether words are characters.
_FIRST_DOCS: Final = 50


def create_corpus(
    path: str | Path | None,
    gold: list[Gold] | None = None,
    limit: int = 0,
    augmenter: Augmenter | None = None,
) -> Callable[[Language], Iterable[Example]]:
    """Make the reader of a corpus.

    path: a ``.spacy`` file, a folder of such, a file whose name says that it is of another format
        (``.conllu``, ``.jsonl``, …), or any other text of one sentence a line with its words parted
        by spaces (``.txt``, also ``.txt.gz`` and ``.txt.xz``).
    gold: which annotation of the reference goes to the predicted side: ``words``, and with them
        ``tags``, universal ones included, and ``sents``. Without it the pipeline's tokenizer makes
        the words.
    limit: how many Docs to take, before any are added; 0 for all.
    augmenter: turns each example into those that are trained on, as spaCy's augmenters do. Their
        predicted sides have the gold annotation that `gold` names.
    Raises ValueError if there is no path, `limit` is negative, or if tags or sentences are asked
    for without words. Reading raises it, naming the file, if there is nothing to read; and as
    `loosened`, if gold words that are asked for are single characters, and those of the tokenizer
    are not. Words that are not known are those of the pipeline, unless its tokenizer is trained.
    """
    if path is None:
        raise ValueError(
            "a corpus has no path; set it in [paths] of the config, or give --paths.train and "
            "--paths.dev to the command"
        )
    if limit < 0:
        raise ValueError(f"limit = {limit} of the corpus {path} is negative; 0 takes all Docs")
    given = set(gold or ())
    if given - {"words"} and "words" not in given:
        raise ValueError(
            f"gold = {sorted(given)} of the corpus {path} needs 'words' as well: tags and "
            "sentences belong to gold words"
        )

    def read(nlp: Language) -> Iterator[Example]:
        if given and trains_tokenizer(nlp):
            raise ValueError(
                f"the corpus {path} gives gold words to a pipeline whose tokenizer is being "
                "trained, which would score 1.0 untrained; set gold = [] in its block"
            )
        references: Iterator[Doc] = islice(read_references(nlp, Path(path)), limit or None)
        if not trains_tokenizer(nlp):
            first = list(islice(references, _FIRST_DOCS))
            references = chain(first, references)
            if "words" in given and words_are_characters(nlp, first):
                references = map(loosened, references)
            references = InWords(nlp, Path(path))(references)
        examples = _examples(nlp, references, given, augmenter)
        # Those of a training that goes on are to be shuffled as often as they have been.
        yield from in_order(nlp, examples)

    return read


def read_references(nlp: Language, path: Path) -> Iterator[Doc]:
    """The gold Docs of a corpus that have words. Raises ValueError as `create_corpus` says."""
    files = sorted(path.rglob(f"*{_SUFFIX}")) if path.is_dir() else [path]
    if not files:
        raise ValueError(f"the corpus {path} is a folder without {_SUFFIX} files")
    empty = True
    for file in files:
        if file.suffix == _SUFFIX:
            docs = _read_docbin(nlp, file)
        elif named_format(file, CorpusOptions()) is not None:
            docs = read_docs(file, nlp.vocab)
        else:
            docs = (
                Doc(nlp.vocab, words=words, spaces=[False] * len(words))
                for words in read_segmented(file)
            )
        for doc in docs:
            # A Doc without words would end spaCy's alignment in an error of its own.
            if len(doc):
                empty = False
                yield doc
    if empty:
        raise ValueError(f"the corpus {path} is empty: no Doc in it has a word")


def _read_docbin(nlp: Language, file: Path) -> Iterator[Doc]:
    for number, doc in enumerate(read_docbin(file, nlp.vocab), 1):
        if doc.has_unknown_spaces and len(doc):
            raise ValueError(
                f"{file}: Doc {number} does not know its spaces, so that its text would give the "
                "words away; make it with Doc(vocab, words=words, spaces=[False, …])"
            )
        yield doc


def _examples(
    nlp: Language, references: Iterable[Doc], gold: set[Gold], augmenter: Augmenter | None
) -> Iterator[Example]:
    for reference in references:
        example = Example(predicted_doc(nlp, reference, gold), reference)
        if augmenter is None:
            yield example
            continue
        for each in augmenter(nlp, example):
            # Augmenters know of no gold words.
            if gold and each is not example:
                each.predicted = predicted_doc(nlp, each.reference, gold)
            yield each


def predicted_doc(nlp: Language, reference: Doc, gold: Set[Gold]) -> Doc:
    """The predicted side of a gold Doc, before any pipe, with the gold annotation of `gold`."""
    if "words" not in gold:
        return nlp.make_doc(reference.text)
    return Doc(
        nlp.vocab,
        words=[token.text for token in reference],
        spaces=[bool(token.whitespace_) for token in reference],
        tags=[token.tag_ for token in reference] if "tags" in gold else None,
        pos=[token.pos_ for token in reference] if "tags" in gold else None,
        sent_starts=[token.is_sent_start for token in reference] if "sents" in gold else None,
    )
