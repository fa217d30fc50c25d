"""Tables that are annotated, against Docs of `nlp.pipe` in one process."""

from __future__ import annotations

import multiprocessing
import pickle
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from looped import looped
from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_structreg.cluster import loaded_pipelines
from spacy_structreg.cluster.annotated_tables import Annotator, annotate_batch, docs_of
from spacy_structreg.models.calibration import Calibration
from spacy_structreg.pipeline.constituency_documents import HEADS

TEXTS = [
    "我看书。小王写大字！",
    "",
    " ",
    "他 看  北京。\n我看书。",
    "小王看 New York 👍 Ｘ",
    "\n\n他看北京。 ",
    "小王写大字！" * 30,
    "零\0看e\u0301",
]


@pytest.fixture(scope="module")
def folder(small_pipeline_folder: Path) -> Path:
    return small_pipeline_folder


@pytest.fixture(scope="module")
def nlp(folder: Path) -> Language:
    """The same pipeline, of which no table knows."""
    return spacy.load(folder)


def table_of(texts: Iterable[str | None]) -> pa.Table:
    texts = list(texts)
    return pa.table({"id": range(len(texts)), "text": pa.array(texts, pa.string())})


def content(doc: Doc) -> dict[str, Any]:
    """All that a pipeline writes to a Doc."""
    columns = ("TAG", "POS", "LEMMA", "HEAD", "DEP", "SENT_START", "ENT_TYPE")
    return {
        "text": doc.text,
        "words": [(token.text, token.whitespace_) for token in doc],
        "morphs": [str(token.morph) for token in doc],
        "sents": [(sent.start, sent.end) for sent in doc.sents],
        "ents": [(ent.start, ent.end, ent.label_) for ent in doc.ents],
        "cats": {label: pytest.approx(score, abs=1e-6) for label, score in doc.cats.items()},
        "tree": [[child.i for child in token.children] for token in doc],
        "spans": {
            key: [(span.start, span.end, span.label_) for span in group]
            for key, group in doc.spans.items()
            if len(group)
        },
        "phrase heads": doc.spans["constituents"].attrs.get(HEADS),
        **{name: doc.to_array(name).tolist() for name in columns},
    }


# Against Docs ------------------------------------------------------------------------------------


@looped("batch_size", [1, 3, 1000])
@looped("n_threads", [1, 2])
def test_docs_come_back_as_they_were(
    folder: Path, nlp: Language, batch_size: int, n_threads: int
) -> None:
    annotator = Annotator(folder, batch_size=batch_size, n_threads=n_threads)
    table = annotator.annotate_batch(table_of(TEXTS))
    assert table.column_names == [
        *("id", "text", "word_starts", "word_ends", "sentence_starts"),
        *("tags", "pos", "lemmas", "morphs", "heads", "relations"),
        *("constituents", "entities", "spans", "categories"),
    ]
    assert table["id"].to_pylist() == list(range(len(TEXTS)))
    found = list(map(content, docs_of(table, Vocab())))
    expected = list(map(content, nlp.pipe(TEXTS)))
    assert found == expected
    # Of something, each.
    for key in ("ents", "spans", "cats", "LEMMA", "morphs", "POS"):
        assert any(map(bool, (doc[key] for doc in expected))), key
    assert any(len(doc["sents"]) > 1 for doc in expected)


@given(st.lists(st.text("我看书小王写大字北京。！ \n aB\u3000👍\0", max_size=20), max_size=5))
def test_columns_are_what_tokens_say(folder: Path, nlp: Language, texts: list[str]) -> None:
    table = annotate_batch(table_of(texts), folder)
    for row, doc in zip(table.to_pylist(), nlp.pipe(texts), strict=True):
        assert row["word_starts"] == [token.idx for token in doc]
        assert row["word_ends"] == [token.idx + len(token) for token in doc]
        assert row["tags"] == [token.tag_ for token in doc]
        assert row["pos"] == [token.pos_ for token in doc]
        assert row["lemmas"] == [token.lemma_ for token in doc]
        assert row["morphs"] == [str(token.morph) for token in doc]
        assert row["heads"] == [token.head.i for token in doc]
        assert row["relations"] == [token.dep_ for token in doc]
        assert row["sentence_starts"] == [sent.start for sent in doc.sents]
        spans = {
            "entities": doc.ents,
            "constituents": doc.spans["constituents"],
            "spans": doc.spans.get("chunks", ()),
        }
        for column, of_doc in spans.items():
            assert [(each["label"], each["start"], each["end"]) for each in row[column]] == [
                (span.label_, span.start, span.end) for span in of_doc
            ]
        assert {each["group"] for each in row["spans"]} <= {"chunks"}
        assert {each["label"]: each["score"] for each in row["categories"]} == {
            label: np.float32(score) for label, score in doc.cats.items()
        }


def test_what_a_doc_has_not_is_null() -> None:
    """Such as heads, where a pipe writes them to some Docs alone."""
    nlp = spacy.blank("en")

    @Language.component("some_heads", assigns=["token.head", "token.is_sent_start", "doc.ents"])
    def some_heads(doc: Doc) -> Doc:
        for i in range(1, len(doc)):
            doc[i].is_sent_start = None if "none" in doc.text else i == 2
        if "tree" in doc.text:
            for token in doc:
                token.head, token.dep_ = doc[0], "dep"
        return doc

    nlp.add_pipe("some_heads")
    table = annotate_batch(table_of(["a b c", "tree b", "none b", "", "a"]), nlp)
    assert table["heads"].to_pylist() == [None, [0, 0], None, [], None]
    assert table["sentence_starts"].to_pylist() == [[0, 2], [0], None, [], [0]]
    assert table["entities"].to_pylist() == [[]] * 5


def test_entities_beside_each_other() -> None:
    """Also at the ends of Docs that follow each other."""
    nlp = spacy.blank("en")

    @Language.component("entities_that_are_said", assigns=["doc.ents"])
    def entities_that_are_said(doc: Doc) -> Doc:
        words = doc.text.split()
        return Doc(doc.vocab, words=words, ents=words)

    nlp.add_pipe("entities_that_are_said")
    expected = {
        "B-A I-A B-A O": [("A", 0, 2), ("A", 2, 3)],
        "O B-A B-B I-B": [("A", 1, 2), ("B", 2, 4)],
        "B-A": [("A", 0, 1)],
        "": [],
        "B-A I-A": [("A", 0, 2)],
        "O O": [],
    }
    table = annotate_batch(table_of(expected), nlp)
    for row, entities in zip(table["entities"].to_pylist(), expected.values(), strict=True):
        assert [(each["label"], each["start"], each["end"]) for each in row] == entities


def test_only_what_the_parts_write_has_a_column(folder: Path) -> None:
    nlp = spacy.load(folder, exclude=["parser", "ner", "textcat", "attribute_ruler"])
    names = ["word_starts", "word_ends", "sentence_starts", "tags", "constituents", "spans"]
    assert Annotator(nlp).schema.names == names
    nlp.get_pipe("constituency").dependencies = "model"  # type: ignore[attr-defined]
    assert {"heads", "relations"} <= {*Annotator(nlp).schema.names}
    assert Annotator(spacy.blank("zh")).schema.names == ["word_starts", "word_ends"]


def test_probabilities_of_calibrated_pipelines(folder: Path) -> None:
    nlp: Any = spacy.load(folder)
    curve = Calibration.fit(np.array([-1.0, 0.5, 2.0, 3.0]), np.array([False, True, False, True]))
    nlp.tokenizer.keep_analyses(confidence=True)
    assert "word_probabilities" not in Annotator(nlp).schema.names
    nlp.tokenizer.calibrations = {"words": curve, "tags": curve}
    nlp.get_pipe("parser").keep_analyses(confidence=True)
    nlp.get_pipe("parser").calibrations = {"heads": curve}
    rows = annotate_batch(table_of(TEXTS), nlp).to_pylist()
    for row, doc in zip(rows, nlp.pipe(TEXTS), strict=True):
        for kind in ("word", "tag", "head"):
            expected = doc._.structreg.confidence[f"{kind}s"].probabilities.astype(np.float32)
            assert row[f"{kind}_probabilities"] == expected.tolist()


# Tables ------------------------------------------------------------------------------------------


def test_other_columns_stay_and_the_schema_is_known_before(folder: Path) -> None:
    annotator = Annotator(folder, text_column="body", keep_text=False)
    table = table_of(TEXTS).rename_columns(["id", "body"]).append_column("n", [[1] * len(TEXTS)])
    schema = annotator.schema_of(table.schema)
    assert schema.names[:3] == ["id", "n", "word_starts"]
    found = annotator(table)
    assert found.schema == schema
    # Tables without texts, rows or anything in them, and batches.
    assert annotator(table.slice(0, 0)).schema == schema
    empty = pa.table({"id": [0], "body": [""], "n": [1]})
    assert annotator(empty).schema == schema
    batches = list(annotator.annotate_batches(table.to_batches(max_chunksize=3)))
    assert pa.Table.from_batches(batches, schema).equals(found.combine_chunks())
    (batch,) = table.to_batches()
    assert annotator(batch).equals(found)


@looped("kind", [pa.large_string(), pa.string_view(), "dictionary"])
def test_any_type_of_strings_has_texts(folder: Path, kind: Any) -> None:
    texts = pa.array([*TEXTS, None])
    expected = annotate_batch(pa.table({"text": texts}), folder)["word_ends"]
    texts = texts.dictionary_encode() if kind == "dictionary" else texts.cast(kind)
    assert annotate_batch(pa.table({"text": texts}), folder)["word_ends"].equals(expected)


@given(st.lists(st.integers(0, 30), max_size=30), st.integers(1, 5), st.integers(1, 40))
def test_slices_are_bounded(lengths: list[int], batch_size: int, characters: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loaded_pipelines, "BATCH_CHARACTERS", characters)
        found = list(loaded_pipelines.slices(lengths, batch_size))
    assert [i for start, end in found for i in range(start, end)] == list(range(len(lengths)))
    for start, end in found:
        assert end - start <= batch_size
        assert end - start == 1 or sum(lengths[start:end]) <= characters
    for (start, end), (_, following) in pairwise(found):
        full = sum(lengths[start : end + 1]) > characters or end - start == batch_size
        assert full
        assert following > end


def test_texts_that_cannot_be_annotated_are_null(folder: Path, nlp: Language) -> None:
    texts = ["我看书。", None, "x" * (nlp.max_length + 1), "小王写大字！"]
    bad: dict[int, str] = {}
    table = Annotator(folder, batch_size=2).annotate_batch(table_of(texts), bad.__setitem__)
    assert bad == {
        1: "the text is null",
        2: "the text has 1000001 characters, and the pipeline allows 1000000",
    }
    for column in table.columns[2:]:
        assert column.is_null().to_pylist() == [False, True, True, False]
    docs = list(docs_of(table, nlp.vocab))
    assert list(map(content, docs)) == list(map(content, nlp.pipe([texts[0], texts[3]])))


def test_a_part_that_fails_leaves_its_texts_out(folder: Path, tmp_path: Path) -> None:
    nlp = spacy.load(folder)
    ruler = nlp.get_pipe("attribute_ruler")
    # It has no rule for a second token in a match of one.
    ruler.add([[{"TEXT": "北京"}]], {"POS": "PROPN"}, index=3)  # type: ignore[attr-defined]
    nlp.to_disk(tmp_path / "fails")
    bad: dict[int, str] = {}
    annotator = Annotator(tmp_path / "fails")
    table = annotator.annotate_batch(
        table_of(["我看书。", "他看北京。", "我看。"]), bad.__setitem__
    )
    assert table["word_starts"].is_null().to_pylist() == [False, True, False]
    assert list(bad) == [1]
    assert bad[1].startswith("the pipe 'attribute_ruler' fails: ValueError: ")
    # A loaded pipeline does as it was told.
    with pytest.raises(ValueError, match="Target token outside of matched span"):
        annotate_batch(table_of(["他看北京。"]), nlp)


# Pipelines and processes -------------------------------------------------------------------------


def annotated_elsewhere(annotator: Annotator, texts: list[str]) -> pa.Table:
    return annotator(table_of(texts))


@pytest.mark.slow
def test_annotators_go_to_spawned_processes(
    folder: Path, nlp: Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever their working folder; only the path goes, and so no loaded pipeline."""
    with pytest.raises(ValueError, match="save it with to_disk, and give its folder"):
        pickle.dumps(Annotator(nlp))
    monkeypatch.chdir(folder.parent)
    annotator = Annotator(folder.name, n_threads=2, keep_text=False)
    expected = annotator(table_of(TEXTS))
    assert len(pickle.dumps(annotator)) < 500
    monkeypatch.chdir("/")
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(annotated_elsewhere, (annotator, TEXTS)).equals(expected)


def test_a_pipeline_is_loaded_once_and_when_it_has_changed(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    load: Callable[[str], Language] = spacy.load
    monkeypatch.setattr(spacy, "load", lambda name: calls.append(name) or load(name))
    nlp = load(str(folder))
    path = tmp_path / "pipeline"
    nlp.to_disk(path)
    for _ in range(2):
        tagged = annotate_batch(table_of(["我看书。"]), path)
    assert calls == [str(path)]
    nlp.remove_pipe("parser")
    nlp.to_disk(path)
    others = annotate_batch(table_of(["我看书。"]), path)
    assert {*tagged.column_names} - {*others.column_names} == {"heads", "relations"}
    assert len(calls) == 2


def test_threads_take_turns(folder: Path) -> None:
    annotator = Annotator(folder, batch_size=2)
    expected = annotator(table_of(TEXTS))
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(annotator, [table_of(TEXTS)] * 4))
    assert all(table.equals(expected) for table in found)


def test_words_are_forgotten_when_there_are_many(
    nlp: Language, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loaded_pipelines, "MOST_WORDS", 100)
    nlp.to_disk(tmp_path)
    annotator = Annotator(tmp_path, batch_size=10)
    texts = [f"小王写{chr(0x4E00 + 7 * number)}。我看书" for number in range(400)]
    found = list(docs_of(annotator(table_of(texts)), Vocab()))
    assert list(map(content, found)) == list(map(content, nlp.pipe(texts)))
    loaded: Any = loaded_pipelines.load(str(tmp_path)).nlp
    # What its words are made with is as it was.
    assert loaded.vocab.lex_attr_getters.keys() == nlp.vocab.lex_attr_getters.keys()
    assert loaded.vocab["Ａ"].norm_ == nlp.vocab["Ａ"].norm_
    assert len(loaded.vocab.strings) < len(nlp.vocab.strings) - 200


# Errors ------------------------------------------------------------------------------------------


@looped(
    ("settings", "fault"),
    [
        ({"text_column": "body"}, "the table has no column 'body' of texts; name one of id, text"),
        ({"n_threads": 0}, "n_threads is 0; give a whole number from 1"),
        ({"batch_size": 0}, "batch_size is 0; give a whole number from 1"),
    ],
)
def test_wrong_settings(folder: Path, settings: Any, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        annotate_batch(table_of([]), folder, **settings)


def test_pipelines_and_tables_that_do_not_fit(folder: Path, tmp_path: Path) -> None:
    table = table_of(["a"]).append_column("tags", [["x"]])
    with pytest.raises(ValueError, match=r"columns already that are to be added \(tags\)"):
        annotate_batch(table, folder)
    block = {
        "@tokenizers": "spacy_structreg.Segmenter.v1",
        "model": {"@architectures": "spacy_structreg.CharacterSegmenter.v1"},
    }
    nlp = spacy.blank("zh", config={"nlp": {"tokenizer": block}})
    with pytest.raises(ValueError, match="the tokenizer has not been trained"):
        annotate_batch(table_of(["a"]), nlp)
    with pytest.raises(OSError, match="none"):
        annotate_batch(table_of(["a"]), tmp_path / "none")
    with pytest.raises(ValueError, match="no column 'word_starts'"):
        list(docs_of(table_of(["a"]), Vocab()))
