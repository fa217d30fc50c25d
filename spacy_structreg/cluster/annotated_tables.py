"""Annotation of texts as typed columns of Arrow tables, and Docs made of these again.

No engine is known here: whatever hands over tables or batches of Arrow can carry it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from spacy.attrs import (  # type: ignore[import-not-found]  # has no stub
    DEP,
    ENT_IOB,
    ENT_TYPE,
    HEAD,
    IDS,
    IDX,
    LENGTH,
    SENT_START,
)
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from spacy_structreg.cluster.loaded_pipelines import BATCH_SIZE, LoadedPipeline, load, slices
from spacy_structreg.corpora.sentence import Phrase
from spacy_structreg.pipeline.analyses import confidence_of
from spacy_structreg.pipeline.constituency_documents import HEADS, SPANS_KEY, write_phrases
from spacy_structreg.pipeline.task import parts_of
from spacy_structreg.pipeline.written import ATTRIBUTES, constituents_key, written_annotation

PROBABILITIES: Final = {
    "words": "word_probabilities",
    "tags": "tag_probabilities",
    "heads": "head_probabilities",
}

INTS: Final = pa.list_(pa.int32())
LABELED: Final = [("label", pa.string()), ("start", pa.int32()), ("end", pa.int32())]
TYPES: Final[dict[str, pa.DataType]] = {
    "word_starts": INTS,
    "word_ends": INTS,
    "sentence_starts": INTS,
    **dict.fromkeys(("tags", "pos", "lemmas", "morphs"), pa.list_(pa.string())),
    "heads": INTS,
    "relations": pa.list_(pa.string()),
    "constituents": pa.list_(pa.struct([*LABELED, ("head", pa.int32())])),
    "entities": pa.list_(pa.struct(LABELED)),
    "spans": pa.list_(pa.struct([("group", pa.string()), *LABELED])),
    "categories": pa.list_(pa.struct([("label", pa.string()), ("score", pa.float32())])),
    **dict.fromkeys(PROBABILITIES.values(), pa.list_(pa.float32())),
}
"""The types of all columns, in their order."""

OnBadText: TypeAlias = Callable[[int, str], None]


class Annotator:
    """Annotates tables of texts by a pipeline: a function that goes to other processes.

    pipeline: the folder or the package of a pipeline, which each process loads once, when it is
        needed first; that alone is pickled. Or a loaded one, which stays in its process.
    text_column: the column of the texts. keep_text: whether it stays in the table.
    n_threads: how many threads of this process predict side by side; what comes out does not
        depend on it. batch_size: how many texts are annotated at a time; half a million characters
        at most, if it is not one text.

    Threads that annotate by the same pipeline take turns.
    """

    def __init__(
        self,
        pipeline: str | Path | Language,
        *,
        text_column: str = "text",
        keep_text: bool = True,
        n_threads: int = 1,
        batch_size: int = BATCH_SIZE,
    ) -> None:
        for name, value in (("n_threads", n_threads), ("batch_size", batch_size)):
            if value < 1:
                raise ValueError(f"{name} is {value!r}; give a whole number from 1")
        self._own = None
        if isinstance(pipeline, Language):
            self._own = LoadedPipeline(pipeline)
        elif Path(pipeline).is_dir():
            # Other processes may have another working folder.
            pipeline = str(Path(pipeline).absolute())
        self.pipeline = pipeline
        self.text_column = text_column
        self.keep_text = keep_text
        self.n_threads = n_threads
        self.batch_size = batch_size

    def __reduce__(self) -> tuple[Any, ...]:
        if self._own is not None:
            raise ValueError(
                "the annotator has a loaded pipeline, which cannot go to another process; save it "
                "with to_disk, and give its folder"
            )
        settings = (self.text_column, self.keep_text, self.n_threads, self.batch_size)
        return _annotator, (self.pipeline, *settings)

    @property
    def schema(self) -> pa.Schema:
        """The names and types of the columns that are added: the same for all tables."""
        return self._columns.schema

    def schema_of(self, schema: pa.Schema) -> pa.Schema:
        """The columns of what comes out, for a table of these columns.

        Raises ValueError if there is no column of texts, or one is called as what is added.
        """
        self._check_columns(schema)
        kept = [each for each in schema if self.keep_text or each.name != self.text_column]
        return pa.schema([*kept, *self.schema])

    def annotate_batch(
        self, table: pa.Table | pa.RecordBatch, on_bad: OnBadText | None = None
    ) -> pa.Table:
        """The table with what the pipeline finds in its texts; rows and columns stay in order.

        on_bad: is called with the number of a row, and the reason, where a text cannot be
            annotated: it is null, longer than `nlp.max_length`, or a part of the pipeline fails.
            All that would be added is null then. Of a loaded pipeline, parts that fail do as its
            error handler says.

        Columns, as far as the pipeline's parts say that they write it:

        - ``word_starts``, ``word_ends``: offsets of the tokens in the text, in characters. White
          space that makes tokens does so here.
        - ``sentence_starts``: the number of the first token of each sentence.
        - ``tags``, ``pos``, ``lemmas``, ``morphs``: a string for each token.
        - ``heads``, ``relations``: the number of the token that is the head, of a root its own;
          and the label.
        - ``constituents``, ``entities``, ``spans``: label, start and end, in tokens; of
          constituents, which come in pre-order, the token that is the head as well; of other spans
          the name of their group.
        - ``categories``: label and score.
        - ``word_probabilities``, ``tag_probabilities``, ``head_probabilities``: for each token, if
          parts of a calibrated pipeline are set to keep confidence.

        What a text has no annotation of, as one without heads, is null in that column.
        Raises ValueError as `schema_of`, and for a pipeline whose tokenizer is untrained.
        """
        if isinstance(table, pa.RecordBatch):
            table = pa.Table.from_batches([table])
        self._check_columns(table.schema)
        loaded, columns = self._loaded, self._columns
        texts = strings_of(table.column(self.text_column), self.text_column)
        lengths = pc.fill_null(pc.utf8_length(texts), 0).to_numpy()
        batches = []
        with loaded.lock:
            for start, end in slices(lengths, self.batch_size):
                of_batch = texts.slice(start, end - start).to_pylist()
                docs, reasons = loaded.annotate(of_batch, self.n_threads)
                if on_bad is not None:
                    for row, reason in reasons.items():
                        on_bad(start + row, reason)
                batches.append(columns.of_docs(docs))
        found = pa.Table.from_batches(batches, columns.schema)
        if not self.keep_text:
            table = table.drop_columns([self.text_column])
        for name, column in zip(found.column_names, found.columns, strict=True):
            table = table.append_column(found.schema.field(name), column)
        return table

    __call__ = annotate_batch

    def annotate_batches(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield batches with what the pipeline finds in their texts, as `annotate_batch`."""
        for batch in batches:
            yield from self.annotate_batch(batch).to_batches()

    @property
    def _loaded(self) -> LoadedPipeline:
        return load(str(self.pipeline)) if self._own is None else self._own

    @property
    def _columns(self) -> DocColumns:
        return DocColumns.of(self._loaded.nlp)

    def _check_columns(self, schema: pa.Schema) -> None:
        if self.text_column not in schema.names:
            raise ValueError(
                f"the table has no column {self.text_column!r} of texts; name one of "
                f"{', '.join(schema.names)} as text_column"
            )
        self._columns.check_new(schema.names)


def _annotator(
    pipeline: str, text_column: str, keep_text: bool, n_threads: int, batch_size: int
) -> Annotator:
    return Annotator(
        pipeline,
        text_column=text_column,
        keep_text=keep_text,
        n_threads=n_threads,
        batch_size=batch_size,
    )


def annotate_batch(
    table: pa.Table | pa.RecordBatch, pipeline: str | Path | Language, **settings: Any
) -> pa.Table:
    """The table with what a pipeline finds in its texts (`Annotator.annotate_batch`).

    pipeline, settings: as of `Annotator`. A folder or package is loaded once a process, and kept.
    """
    return Annotator(pipeline, **settings).annotate_batch(table)


def strings_of(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """A column of any type of strings, as a type that Arrow counts characters of.

    Raises ValueError for columns of anything else.
    """
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return column
    values = kind.value_type if pa.types.is_dictionary(kind) else kind
    if pa.types.is_string_view(kind) or pa.types.is_string(values) or values == pa.large_string():
        return column.cast(pa.large_string())
    raise ValueError(f"the column {name!r} is {kind}, and no text")


# Columns -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DocColumns:
    """Makes columns of Docs.

    names: of the columns, among `TYPES`. constituents: the span group of them.
    """

    names: tuple[str, ...]
    constituents: str = SPANS_KEY
    schema: pa.Schema = field(init=False)

    def __post_init__(self) -> None:
        fields = [(name, kind) for name, kind in TYPES.items() if name in self.names]
        object.__setattr__(self, "schema", pa.schema(fields))

    @classmethod
    def of(cls, nlp: Language) -> DocColumns:
        """The columns of all that the parts of a pipeline say that they write."""
        written = written_annotation(nlp)
        names = {"word_starts", "word_ends", *written - {"sentences"}}
        if "sentences" in written:
            names.add("sentence_starts")
        for _, part in parts_of(nlp):
            if part.confidence:
                names |= {
                    column for kind, column in PROBABILITIES.items() if kind in part.calibrations
                }
        return cls(tuple(name for name in TYPES if name in names), constituents_key(nlp))

    def check_new(self, names: Iterable[str]) -> None:
        """Raise ValueError if columns that are there have the name of one that is made."""
        if there := sorted({*names}.intersection(self.names)):
            raise ValueError(
                f"the table has columns already that are to be added ({', '.join(there)}); rename "
                "or drop them"
            )

    def of_docs(self, docs: Sequence[Doc | None]) -> pa.RecordBatch:
        """The columns of Docs; null where there is none."""
        tokens = DocTokens.of(docs, self.names)
        made: dict[str, Callable[[], pa.Array]] = {
            "word_starts": lambda: tokens.ints(tokens[IDX]),
            "word_ends": lambda: tokens.ints(tokens[IDX] + tokens[LENGTH]),
            "sentence_starts": tokens.sentences,
            "heads": tokens.heads,
            "entities": tokens.entities,
            "constituents": lambda: self._constituents(docs),
            "spans": lambda: self._spans(docs),
            "categories": lambda: _categories(docs),
        }
        for column, attribute in ATTRIBUTES.items():
            made[column] = partial(tokens.strings, IDS[attribute.upper()])
        for kind, column in PROBABILITIES.items():
            made[column] = partial(_probabilities, docs, kind)
        return pa.RecordBatch.from_arrays(
            [made[name]() for name in self.schema.names], schema=self.schema
        )

    def _constituents(self, docs: Sequence[Doc | None]) -> pa.Array:
        rows: list[Any] = []
        for doc in docs:
            group = None if doc is None else doc.spans.get(self.constituents)
            if group is None:
                rows.append(None)
                continue
            heads = group.attrs.get(HEADS) or [None] * len(group)
            rows.append(
                [
                    (span.label_, span.start, span.end, head)
                    for span, head in zip(group, heads, strict=True)
                ]
            )
        return pa.array(rows, TYPES["constituents"])

    def _spans(self, docs: Sequence[Doc | None]) -> pa.Array:
        rows = [
            None
            if doc is None
            else [
                (key, span.label_, span.start, span.end)
                for key, group in doc.spans.items()
                if "constituents" not in self.names or key != self.constituents
                for span in group
            ]
            for doc in docs
        ]
        return pa.array(rows, TYPES["spans"])


def _categories(docs: Sequence[Doc | None]) -> pa.Array:
    rows = [None if doc is None else list(doc.cats.items()) for doc in docs]
    return pa.array(rows, TYPES["categories"])


def _probabilities(docs: Sequence[Doc | None], kind: str) -> pa.Array:
    rows: list[Any] = []
    for doc in docs:
        kept = None if doc is None else confidence_of(doc).get(kind)
        probabilities = None if kept is None else kept.probabilities
        rows.append(None if probabilities is None else probabilities.astype(np.float32))
    return pa.array(rows, TYPES[PROBABILITIES[kind]])


@dataclass(frozen=True)
class DocTokens:
    """Attributes of the tokens of Docs, one after the other.

    values: by attribute. offsets: of the first token of each Doc, and of the end, int32.
    missing: for each Doc, True if there is none. string_of: of a key.
    """

    values: dict[int, NDArray[np.int64]]
    offsets: NDArray[np.int32]
    missing: NDArray[np.bool_]
    string_of: Callable[[int], str]

    @classmethod
    def of(cls, docs: Sequence[Doc | None], names: Sequence[str]) -> DocTokens:
        """The attributes of Docs that columns of some names need."""
        attributes = [IDX, LENGTH]
        attributes += [IDS[ATTRIBUTES[name].upper()] for name in ATTRIBUTES if name in names]
        for name, needed in (
            ("sentence_starts", [SENT_START]),
            ("heads", [HEAD]),
            ("entities", [ENT_IOB, ENT_TYPE]),
        ):
            if name in names:
                attributes += needed
        there = [doc for doc in docs if doc is not None]
        arrays = [doc.to_array(attributes) for doc in there]
        empty = np.empty((0, len(attributes)), dtype=np.uint64)
        matrix = np.concatenate([empty, *arrays]).view(np.int64).T
        lengths = [0 if doc is None else len(doc) for doc in docs]
        return cls(
            dict(zip(attributes, np.ascontiguousarray(matrix), strict=True)),
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32),
            np.array([doc is None for doc in docs], dtype=bool),
            there[0].vocab.strings.__getitem__ if there else str,
        )

    def __getitem__(self, attribute: int) -> NDArray[np.int64]:
        return self.values[attribute]

    def lists(
        self,
        values: pa.Array,
        offsets: NDArray[np.int32] | None = None,
        missing: NDArray[np.bool_] | None = None,
    ) -> pa.Array:
        """A list of values for each Doc. offsets: those of tokens. missing: besides the Docs."""
        gone = self.missing if missing is None else self.missing | missing
        return pa.ListArray.from_arrays(
            pa.array(self.offsets if offsets is None else offsets),
            values,
            mask=pa.array(gone) if gone.any() else None,
        )

    def ints(self, values: NDArray[np.int64], **lists: Any) -> pa.Array:
        """A list of whole numbers for each Doc."""
        return self.lists(pa.array(values.astype(np.int32)), **lists)

    def strings(self, attribute: int) -> pa.Array:
        """A list of strings for each Doc, one a token."""
        return self.lists(self._looked_up(self[attribute]))

    def _looked_up(self, keys: NDArray[np.int64]) -> pa.Array:
        # Each string is looked up once.
        encoded = pa.array(keys.view(np.uint64)).dictionary_encode()
        strings = pa.array(map(self.string_of, encoded.dictionary.to_pylist()), pa.string())
        return strings.take(encoded.indices)

    @cached_property
    def _firsts(self) -> NDArray[np.int64]:
        """For each token, the offset of the first one of its Doc."""
        return np.repeat(self.offsets[:-1].astype(np.int64), np.diff(self.offsets))

    def _places(self, chosen: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Chosen tokens by their places in their Docs, and the offsets of the lists of them."""
        offsets = np.searchsorted(chosen, self.offsets).astype(np.int32)
        return chosen - self._firsts[chosen], offsets

    def sentences(self) -> pa.Array:
        """The first token of each sentence; null for Docs that know of none."""
        starts = self[SENT_START]
        is_first = np.arange(len(starts)) == self._firsts
        known = np.flatnonzero((starts != 0) | is_first)
        n_known = np.diff(np.searchsorted(known, self.offsets))
        unknown = (n_known <= 1) & (np.diff(self.offsets) > 1)
        places, offsets = self._places(np.flatnonzero((starts == 1) | is_first))
        return self.ints(places, offsets=offsets, missing=unknown)

    def heads(self) -> pa.Array:
        """The head of each token; null for Docs without."""
        heads, labels = self[HEAD], self[DEP]
        known = np.searchsorted(np.flatnonzero((heads != 0) | (labels != 0)), self.offsets)
        unknown = (np.diff(known) == 0) & (np.diff(self.offsets) > 0)
        return self.ints(heads + np.arange(len(heads)) - self._firsts, missing=unknown)

    def entities(self) -> pa.Array:
        """The entities of each Doc."""
        inside = self[ENT_IOB] == 1
        begins = np.flatnonzero(self[ENT_IOB] == 3)
        inside[np.arange(len(inside)) == self._firsts] = False
        stops = np.append(np.flatnonzero(~inside), len(inside))
        ends = stops[np.searchsorted(stops, begins, side="right")]
        places, offsets = self._places(begins)
        structs = pa.StructArray.from_arrays(
            [
                self._looked_up(self[ENT_TYPE][begins]),
                pa.array(places.astype(np.int32)),
                pa.array((ends - self._firsts[begins]).astype(np.int32)),
            ],
            fields=list(pa.struct(LABELED)),
        )
        return self.lists(structs, offsets)


# Docs --------------------------------------------------------------------------------------------


def docs_of(
    table: pa.Table | pa.RecordBatch, vocab: Vocab, *, text_column: str = "text"
) -> Iterator[Doc]:
    """Yield the Docs of an annotated table, without probabilities; rows without words have none.

    Constituents come into the span group ``constituents``. Raises ValueError if the table has no
    texts or words.
    """
    for name in (text_column, "word_starts", "word_ends"):
        if name not in table.schema.names:
            raise ValueError(f"the table has no column {name!r}, so that no Docs can be made of it")
    for row in table.to_pylist() if isinstance(table, pa.RecordBatch) else _rows(table):
        if row["word_starts"] is not None:
            yield _doc(row, row[text_column], vocab)


def _rows(table: pa.Table) -> Iterator[dict[str, Any]]:
    for batch in table.to_batches(max_chunksize=BATCH_SIZE):
        yield from batch.to_pylist()


def _doc(row: dict[str, Any], text: str, vocab: Vocab) -> Doc:
    starts, ends = row["word_starts"], row["word_ends"]
    nexts = [*starts, len(text)][1:] if starts else []
    strings = {name: row[column] for column, name in ATTRIBUTES.items() if row.get(column)}
    doc = Doc(
        vocab,
        words=[text[start:end] for start, end in zip(starts, ends, strict=True)],
        spaces=[following > end for end, following in zip(ends, nexts, strict=True)],
        tags=strings.get("tag"),
        pos=strings.get("pos"),
        lemmas=strings.get("lemma"),
        morphs=strings.get("morph"),
        heads=row.get("heads"),
        deps=strings.get("dep"),
    )
    if row.get("sentence_starts") is not None:
        values: Any = np.full(len(doc), -1, dtype=np.int64)
        values[row["sentence_starts"]] = 1
        doc.from_array(["SENT_START"], values.astype(np.uint64))
    if row.get("entities") is not None:
        doc.set_ents(
            [Span(doc, each["start"], each["end"], each["label"]) for each in row["entities"]]
        )
    groups: dict[str, list[Span]] = {}
    for each in row.get("spans") or ():
        span = Span(doc, each["start"], each["end"], each["label"])
        groups.setdefault(each["group"], []).append(span)
    for name, spans in groups.items():
        doc.spans[name] = spans
    if row.get("constituents") is not None:
        phrases = (
            Phrase(each["label"], each["start"], each["end"], each["head"])
            for each in row["constituents"]
        )
        write_phrases(doc, phrases)
    doc.cats = {each["label"]: each["score"] for each in row.get("categories") or ()}
    return doc
