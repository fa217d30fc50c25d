"""Docs as text: JSON, CoNLL-U, CSV and tasks of annotation tools, for files and for the API."""

from __future__ import annotations

import csv
import io
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal, get_args

import numpy as np
from pydantic_core import to_json
from spacy.language import Language
from spacy.tokens import Doc, Span, Token

from spacy_structreg.corpora.formats.conllu import (
    NOTHING,
    TreebankSentence,
    sentence_text,
    treebank_sentences,
)
from spacy_structreg.corpora.formats.doccano import labeled_object
from spacy_structreg.corpora.formats.label_studio import task_of
from spacy_structreg.corpora.text_spans import TextSpan
from spacy_structreg.pipeline.analyses import analyses_of
from spacy_structreg.pipeline.component import sentence_bounds
from spacy_structreg.pipeline.constituency_attributes import trees_in_brackets
from spacy_structreg.pipeline.constituency_documents import SPANS_KEY
from spacy_structreg.pipeline.documents import visible_tokens
from spacy_structreg.pipeline.gold_docs import sentence_of_doc
from spacy_structreg.pipeline.written import constituents_key, written_annotation

TextFormat = Literal["conllu", "jsonl", "csv", "label-studio", "doccano"]
"""Formats of files of text that hold Docs."""

SUFFIXES: Final = {"label-studio": "json", "doccano": "jsonl"}
"""Endings of the names of files, where these are not the format."""


class DocLines:
    """Makes the text of one Doc after the other, in one format.

    format: csv has a row for each word but white space: what comes with the Doc, the number of the
        sentence and that of the token, from 0 in the Doc, the word, its offsets, and what the
        pipeline writes; jsonl has an object for each Doc, as of `json_of`, with what comes with it
        and its words; conllu is as of `conllu_of`, with what comes with the Doc as comments;
        label-studio and doccano have each text that is not blank with its entities, to be imported
        as annotated already, and with what comes with the Doc.
    names: of what comes with each Doc. written: by the pipeline, as of `written_annotation`.
    constituents: the span group of them.

    header, footer: the text before that of the first Doc, and behind that of the last one. Raises
    ValueError for names that are taken, and for a pipeline that finds no entities for a tool.
    """

    def __init__(
        self,
        format: TextFormat,
        names: Sequence[str],
        written: Collection[str],
        constituents: str = SPANS_KEY,
    ) -> None:
        if format not in get_args(TextFormat):
            raise ValueError(f"there is no format {format!r}; choose one of {get_args(TextFormat)}")
        self._constituents = constituents
        self._columns = [column for name, column in _COLUMNS.items() if name in written]
        self._n_sentences = 0
        self._lines: Callable[[Doc, Mapping[str, Any]], str]
        taken: Sequence[str] = ()
        self.header = self.footer = ""
        if format in SUFFIXES and "entities" not in written:
            raise ValueError(
                f"the pipeline finds no entities, which {format} is to show; choose another format"
            )
        if format == "conllu":
            self._lines = self._conllu
        elif format == "jsonl":
            self._lines = self._json
            taken = _OF_JSON
        elif format == "label-studio":
            self._lines = self._label_studio
            taken = ("text",)
            self.header, self.footer = "[", "\n]\n"
            self._between = "\n"
        elif format == "doccano":
            self._lines = self._doccano
            taken = ("text", "label")
        else:
            self._lines = self._csv
            taken = [*_OF_WORDS, *(name for name, _ in self._columns)]
            self.header = _rows([[*names, *taken]])
        if twice := sorted(set(names) & set(taken)):
            raise ValueError(
                f"{twice[0]!r} is kept, and the format {format} has that name already; rename it, "
                "or choose another format"
            )

    @classmethod
    def of(cls, nlp: Language, format: TextFormat, names: Sequence[str]) -> DocLines:
        """That of a pipeline."""
        return cls(format, names, written_annotation(nlp), constituents_key(nlp))

    def of_doc(self, doc: Doc, record: Mapping[str, Any]) -> str:
        """The lines of a Doc. record: what comes with it, by its name.

        Raises ValueError for what CoNLL-U cannot hold.
        """
        return self._lines(doc, record)

    def _json(self, doc: Doc, record: Mapping[str, Any]) -> str:
        found = json_of(doc, self._constituents)
        words = [token.text for token in doc]
        whole = {**record, "text": found.pop("text"), "words": words, **found}
        return _dumped(whole) + "\n"

    def _label_studio(self, doc: Doc, record: Mapping[str, Any]) -> str:
        if not doc.text.strip():
            return ""
        task = task_of(doc.text, _text_spans(doc))
        task["data"] |= record
        before, self._between = self._between, ",\n"
        return before + _dumped(task)

    def _doccano(self, doc: Doc, record: Mapping[str, Any]) -> str:
        if not doc.text.strip():
            return ""
        return _dumped({**labeled_object(doc.text, _text_spans(doc)), **record}) + "\n"

    def _conllu(self, doc: Doc, record: Mapping[str, Any]) -> str:
        values = {name: value for name, value in record.items() if value is not None}
        comments = ["# newdoc", *(f"# {name} = {_line(value)}" for name, value in values.items())]
        sentences = list(_sentences(doc))
        for number, sentence in enumerate(sentences):
            comments.append(f"# sent_id = {self._n_sentences + number + 1}")
            sentences[number] = replace(sentence, comments=(*comments, *sentence.comments))
            comments = []
        text = "".join(map(sentence_text, sentences))
        self._n_sentences += len(sentences)
        return text

    def _csv(self, doc: Doc, record: Mapping[str, Any]) -> str:
        starts = [start for start, _ in sentence_bounds(doc)]
        values = list(record.values())
        return _rows(
            [
                *values,
                bisect_right(starts, token.i) - 1,
                token.i,
                token.text,
                token.idx,
                token.idx + len(token),
                *(value(token) for _, value in self._columns),
            ]
            for token in visible_tokens(doc)
        )


_OF_JSON: Final = (
    *("text", "words", "tokens", "sentences", "entities", "spans", "categories"),
    *("margins", "confidence", "alternatives"),
)
_OF_WORDS: Final = ("sentence", "i", "word", "start", "end")


def _dumped(value: Any) -> str:
    return to_json(value, inf_nan_mode="null").decode()


def _text_spans(doc: Doc) -> list[TextSpan]:
    return [TextSpan(span.start_char, span.end_char, span.label_) for span in doc.ents]


def _entity(token: Token) -> str:
    return f"{token.ent_iob_}-{token.ent_type_}" if token.ent_type_ else ""


# The columns of CSV by what pipelines write.
_COLUMNS: Final[dict[str, tuple[str, Callable[[Token], Any]]]] = {
    "lemmas": ("lemma", lambda token: token.lemma_),
    "tags": ("tag", lambda token: token.tag_),
    "pos": ("pos", lambda token: token.pos_),
    "morphs": ("morph", lambda token: str(token.morph)),
    "heads": ("head", lambda token: token.head.i if token.has_head() else None),
    "relations": ("dep", lambda token: token.dep_),
    "entities": ("entity", _entity),
}


def _rows(rows: Iterable[Sequence[Any]]) -> str:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(rows)
    return stream.getvalue()


def _line(value: Any) -> str:
    """A value in a line; strings as they are, unless they have line breaks or the like."""
    return value if isinstance(value, str) and value.isprintable() else _dumped(value)


# CoNLL-U -----------------------------------------------------------------------------------------


def conllu_of(doc: Doc) -> str:
    """The sentences of a Doc in CoNLL-U, with their texts, and entities in MISC.

    Raises ValueError for what it cannot hold.
    """
    return "".join(map(sentence_text, _sentences(doc)))


def _sentences(doc: Doc) -> Iterator[TreebankSentence]:
    tokens = visible_tokens(doc)
    if not tokens:
        return
    # Which spaCy makes anew whenever it is asked for.
    text = doc.text
    ends = [token.idx + len(token) for token in tokens]
    spaces = tuple(text[end : end + 1].isspace() for end in ends)
    left = iter(tokens)
    for sentence in treebank_sentences(replace(sentence_of_doc(doc), spaces=spaces)):
        yield replace(
            sentence,
            words=tuple(
                replace(word, lemma=token.lemma_ or NOTHING, feats=str(token.morph) or NOTHING)
                for word, token in zip(sentence.words, left, strict=False)
            ),
        )


# JSON --------------------------------------------------------------------------------------------

# What a token may have besides its place, by the names in the API.
_STRINGS = {"tag": "tag_", "pos": "pos_", "morph": "morph", "lemma": "lemma_"}


def json_of(doc: Doc, constituents: str) -> dict[str, Any]:
    """A Doc as an object of JSON. constituents: the span group of its trees."""
    bounds = [each for each in sentence_bounds(doc) if each[0] < each[1]]
    found: dict[str, Any] = {
        "text": doc.text,
        "tokens": list(_tokens(doc)),
        "sentences": [{"start": start, "end": end} for start, end in bounds],
    }
    if constituents in doc.spans:
        _add_trees(doc, constituents, found["sentences"])
    if doc.has_annotation("ENT_IOB"):
        found["entities"] = [_labeled(span) for span in doc.ents]
    groups = {
        name: [_labeled(span) for span in group]
        for name, group in doc.spans.items()
        if name != constituents
    }
    if groups:
        found["spans"] = groups
    if doc.cats:
        found["categories"] = {name: float(score) for name, score in doc.cats.items()}
    return found | _analyses(doc)


def _tokens(doc: Doc) -> Iterator[dict[str, Any]]:
    strings = {
        name: attribute for name, attribute in _STRINGS.items() if doc.has_annotation(name.upper())
    }
    is_parsed = doc.has_annotation("DEP")
    for token in doc:
        of_token: dict[str, Any] = {"start": token.idx, "end": token.idx + len(token)}
        for name, attribute in strings.items():
            if value := str(getattr(token, attribute)):
                of_token[name] = value
        if is_parsed and token.has_head():
            of_token["dep"] = token.dep_
            of_token["head"] = token.head.i
        yield of_token


def _labeled(span: Span) -> dict[str, Any]:
    return {"label": span.label_, "start": span.start, "end": span.end}


def _add_trees(doc: Doc, key: str, sentences: list[dict[str, Any]]) -> None:
    """Add constituents, and trees in brackets, to sentences."""
    starts = [sentence["start"] for sentence in sentences]
    for sentence in sentences:
        sentence["constituents"] = []
    for span in doc.spans[key]:
        at = bisect_right(starts, span.start) - 1
        sentences[at]["constituents"].append(_labeled(span))
    try:
        trees = list(trees_in_brackets(doc, key))
    except ValueError:
        # The spans of another's pipe, which make no trees.
        return
    for start, brackets in trees:
        sentence = sentences[bisect_right(starts, start) - 1]
        before = sentence.get("brackets")
        sentence["brackets"] = brackets if before is None else f"{before} {brackets}"


def _analyses(doc: Doc) -> dict[str, Any]:
    """Alternatives, and probabilities or margins, as far as they were kept."""
    analyses = analyses_of(doc)
    found: dict[str, Any] = {}
    for kind, confidence in analyses.confidence.items():
        if kind == "boundaries":
            continue
        if confidence.probabilities is None:
            found.setdefault("margins", {})[kind] = _finite(confidence.margins)
        else:
            found.setdefault("confidence", {})[kind] = _finite(confidence.probabilities)
    if analyses.alternatives:
        found["alternatives"] = {
            kind: [[each._asdict() for each in of_sentence] for of_sentence in listed]
            for kind, listed in analyses.alternatives.items()
        }
    return found


def _finite(numbers: Any) -> list[float | None]:
    return [float(each) if np.isfinite(each) else None for each in numbers]
