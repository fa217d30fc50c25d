"""Gold Docs whose words are known in part alone, in the words that a pipeline finds.

Exports of annotation tools, and corpora with a character a line, say where entities begin and end,
and of words nothing else. What learns from them has to see the words that it will meet.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from spacy.language import Language
from spacy.tokens import Doc, Span, SpanGroup

from spacy_structreg.corpora.spacing import HAN
from spacy_structreg.pipeline.documents import UNKNOWN_WORDS, unknown_stretches

# So many spans are shown.
_SHOWN: Final = 5
# In fewer characters, all words may well be short.
_ENOUGH_HAN: Final = 50
_HAN: Final = re.compile(f"[{HAN}]")
_TWO_HAN: Final = re.compile(_HAN.pattern + "{2}")

logger = logging.getLogger("spacy")


def words_are_characters(nlp: Language, docs: Iterable[Doc]) -> bool:
    """True if gold words are single characters, and those of the tokenizer are not.

    docs: the first ones of a corpus. What is trained on characters finds nothing in words, though
    the figures on gold words are good.
    """
    docs = list(docs)
    n_han = sum(len(_HAN.findall(doc.text)) for doc in docs)
    if n_han < _ENOUGH_HAN or any(_TWO_HAN.search(token.text) for doc in docs for token in doc):
        return False
    return any(_TWO_HAN.search(token.text) for doc in docs for token in nlp.make_doc(doc.text))


def loosened(doc: Doc) -> Doc:
    """A gold Doc of single characters whose words are unknown: they end where entities do.

    Those of span groups count as well. Raises ValueError if the characters have tags or heads.
    """
    if doc.has_annotation("TAG") or doc.has_annotation("POS") or doc.has_annotation("DEP"):
        raise ValueError(
            f"the words of {doc.text!r:.40} are single characters with tags or heads, and the "
            "tokenizer of the pipeline finds longer ones; use a corpus of words, or a config whose "
            "tokenizer gives single characters (init-config without --base)"
        )
    spans = [*doc.ents, *(span for group in doc.spans.values() for span in group)]
    known = {place for span in spans for place in (span.start, span.end)}
    known |= {token.i + 1 for token in doc if token.whitespace_} | {0, len(doc)}
    doc = doc.copy()
    doc.spans[UNKNOWN_WORDS] = [
        doc[begin:end] for begin, end in pairwise(sorted(known)) if end - begin > 1
    ]
    return doc


def in_words_of(nlp: Language, doc: Doc) -> Doc:
    """A gold Doc in the words of a pipeline that go best with those that are known.

    Entities, span groups and categories are those of the gold Doc; the rest is what the tokenizer
    writes.
    """
    tokenizer: Any = nlp.tokenizer
    if hasattr(tokenizer, "completed") and tokenizer.is_trained:
        found: Doc = tokenizer.completed(doc, user_words=None)
    else:
        found = _cut(nlp.make_doc(doc.text), _boundaries(doc))
    if doc.has_annotation("ENT_IOB"):
        unknown = {token.idx for token in doc if not token.ent_iob}
        found.set_ents(
            _moved(found, doc.ents),
            missing=[found[token.i : token.i + 1] for token in found if token.idx in unknown],
            default="outside",
        )
    for key, group in doc.spans.items():
        if key != UNKNOWN_WORDS:
            found.spans[key] = SpanGroup(found, name=key, spans=_moved(found, group))
    found.cats = dict(doc.cats)
    return found


def _moved(doc: Doc, spans: Iterable[Span]) -> list[Span]:
    """Spans of another Doc of the same text; they begin and end with words of this one."""
    found = (doc.char_span(each.start_char, each.end_char, label=each.label) for each in spans)
    return [span for span in found if span is not None]


def without_words(doc: Doc) -> Doc:
    """A gold Doc with an empty group of unknown words, by which no task of words scores it."""
    doc = doc.copy()
    doc.spans[UNKNOWN_WORDS] = []
    return doc


class InWords:
    """Puts the gold Docs of a corpus whose words are known in part into those of a pipeline.

    Counts entities that do not begin and end with words of the pipeline, where these are cut; the
    pipeline cannot find such. path: of the corpus, for the warning that counts and shows them.
    """

    def __init__(self, nlp: Language, path: Path) -> None:
        self._nlp = nlp
        self._path = path
        self.n_entities = 0
        self.cut: list[str] = []

    def __call__(self, docs: Iterable[Doc]) -> Iterator[Doc]:
        """Yield the Docs; those whose words are known stay as they are. Warns at the end."""
        for doc in docs:
            if not unknown_stretches(doc):
                yield doc
                continue
            self._count(doc)
            yield in_words_of(self._nlp, doc)
        self._warn()

    def _count(self, doc: Doc) -> None:
        self.n_entities += len(doc.ents)
        free = self._nlp.make_doc(doc.text) if doc.ents else doc
        for entity in doc.ents:
            if free.char_span(entity.start_char, entity.end_char) is None:
                around = free.char_span(entity.start_char, entity.end_char, alignment_mode="expand")
                words = "" if around is None else " ".join(token.text for token in around)
                self.cut.append(f"{entity.text} {entity.label_} in {words}")

    def _warn(self) -> None:
        if self.cut:
            more = len(self.cut) - _SHOWN
            logger.warning(
                "%s: %d of %d entities do not begin and end with words of the pipeline: %s%s. They "
                "are learned from words that are cut there, but the pipeline finds others: list "
                "their words, or 'python -m spacy structreg correct' its tokenizer by the corpus",
                self._path,
                len(self.cut),
                self.n_entities,
                "; ".join(self.cut[:_SHOWN]),
                f"; and {more} more" if more > 0 else "",
            )
            self.cut = []


def _boundaries(doc: Doc) -> set[int]:
    """The characters before which a word is known to begin."""
    inside = {
        place for span in doc.spans[UNKNOWN_WORDS] for place in range(span.start + 1, span.end)
    }
    return {token.idx for token in doc if token.i not in inside}


def _cut(doc: Doc, places: set[int]) -> Doc:
    """A Doc whose tokens are cut before these characters."""
    words: list[str] = []
    spaces: list[bool] = []
    text = doc.text
    for token in doc:
        end = token.idx + len(token)
        bounds = [token.idx, *(p for p in range(token.idx + 1, end) if p in places), end]
        words += [text[begin:stop] for begin, stop in pairwise(bounds)]
        spaces += [*[False] * (len(bounds) - 2), bool(token.whitespace_)]
    return Doc(doc.vocab, words=words, spaces=spaces)
