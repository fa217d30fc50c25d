"""`structreg agree`: sentences that pipelines annotate alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from spacy.tokens import Doc, Span, SpanGroup
from spacy.vocab import Vocab

from spacy_structreg.pipeline.gold_docs import read_docbin, save_docs

VOCAB = Vocab()


def doc(**changes: Any) -> Doc:
    """Two sentences, 我看书。 and 他来。"""
    fields: dict[str, Any] = {
        "words": ["我", "看", "书", "。", "他", "来", "。"],
        "tags": ["PN", "VV", "NN", "PU", "PN", "VV", "PU"],
        "heads": [1, 1, 1, 1, 5, 5, 5],
        "deps": ["nsubj", "ROOT", "dobj", "punct", "nsubj", "ROOT", "punct"],
    }
    fields |= changes
    return Doc(VOCAB, spaces=[False] * len(fields["words"]), **fields)


def with_entity(found: Doc) -> Doc:
    found.set_ents([Span(found, 4, 5, label="PERSON")])
    return found


def with_span(found: Doc, begin: int = 4, end: int = 6) -> Doc:
    """With two constituents over the same words, the outer one first, and their head."""
    spans = [Span(found, begin, end, label=label) for label in ("TOP", "IP")]
    attrs = {"heads": [begin + 1] * 2}
    found.spans["constituents"] = SpanGroup(found, name="constituents", attrs=attrs, spans=spans)
    return found


OTHERS = {
    "the same": ([doc()], ["我看书。", "他来。"]),
    "another tag": ([doc(tags=["PN", "VV", "VV", "PU", "PN", "VV", "PU"])], ["他来。"]),
    "another head": ([doc(heads=[1, 1, 1, 2, 5, 5, 5])], ["他来。"]),
    "another label": (
        [doc(deps=["nsubj", "ROOT", "dobj", "punct", "dep", "ROOT", "punct"])],
        ["我看书。"],
    ),
    "an entity": ([with_entity(doc())], ["我看书。"]),
    "a span": ([with_span(doc())], ["我看书。"]),
    "a span beyond a sentence": ([with_span(doc(), 2, 6)], []),
    "other words": (
        [
            doc(
                words=["我", "看书", "。", "他", "来", "。"],
                tags=["PN", "VV", "PU", "PN", "VV", "PU"],
                heads=[1, 1, 1, 4, 4, 4],
                deps=["nsubj", "ROOT", "punct", "nsubj", "ROOT", "punct"],
            )
        ],
        ["他来。"],
    ),
    "one sentence": ([doc(heads=[1, 1, 1, 1, 5, 1, 5])], []),
}


def test_sentences_that_are_alike_are_kept(tmp_path: Path, invoke: Any) -> None:
    first, output = tmp_path / "first.spacy", tmp_path / "out.spacy"
    save_docs(first, [doc()])
    for name, (docs, wanted) in OTHERS.items():
        other = tmp_path / f"{name}.spacy"
        save_docs(other, docs)
        result = invoke("agree", first, other, output, "--force")
        if not wanted:
            assert result.exit_code == 1
            assert "no sentence that all inputs annotate alike" in result.stderr
            continue
        assert result.stdout == f"{output}: {len(wanted)} of 2 sentences\n"
        found = read_docbin(output, VOCAB)
        assert [each.text for each in found] == wanted
        for each in found:
            sentence = next(s for s in doc().sents if s.text == each.text)
            assert [(t.tag_, t.head.i, t.dep_) for t in each] == [
                (t.tag_, t.head.i - sentence.start, t.dep_) for t in sentence
            ]


def test_three_inputs_and_folders(tmp_path: Path, invoke: Any) -> None:
    """Of a folder, files are read in the order of their names, and hidden ones are not."""
    shards = tmp_path / "shards"
    shards.mkdir()
    save_docs(shards / "part-1.spacy", [doc()])
    save_docs(shards / "part-0.spacy", [doc()[:4].as_doc(), doc()[4:].as_doc()])
    (shards / ".part-2.spacy").write_bytes(b"half")
    texts = [doc()[:4].as_doc(), doc()[4:].as_doc(), doc()]
    save_docs(tmp_path / "same.spacy", texts)
    changed = doc(tags=["X", "VV", "NN", "PU", "PN", "VV", "PU"])
    save_docs(tmp_path / "other.spacy", [*texts[:2], changed])
    output = tmp_path / "out.spacy"
    inputs = (shards, tmp_path / "same.spacy", tmp_path / "other.spacy")
    assert invoke("agree", *inputs, output, "--force").stdout == f"{output}: 3 of 4 sentences\n"
    assert [each.text for each in read_docbin(output, VOCAB)] == ["我看书。", "他来。", "他来。"]


def test_inputs_that_cannot_be_compared(tmp_path: Path, invoke: Any) -> None:
    one, two, output = tmp_path / "one.spacy", tmp_path / "two.spacy", tmp_path / "out.spacy"
    save_docs(one, [doc()])
    save_docs(two, [doc(), doc()])
    other = tmp_path / "other.spacy"
    save_docs(other, [doc()[:4].as_doc()])
    (tmp_path / "empty").mkdir()
    (tmp_path / "bytes").write_bytes(b"\x00\x01")
    for inputs, message in (
        ([one], "name those of two pipelines"),
        ([one, two], "different numbers of texts"),
        ([one, other], "annotate the same texts"),
        ([one, one], "agrees with itself"),
        ([one, tmp_path / "empty"], "no .spacy file"),
        ([one, tmp_path / "bytes"], "not a corpus"),
        ([one, tmp_path / "none.spacy"], "none.spacy"),
    ):
        result = invoke("agree", *inputs, output, "--force")
        assert result.exit_code == 1
        assert message in result.stderr
        assert not output.exists()


def test_spans_and_entities_are_kept(tmp_path: Path, invoke: Any) -> None:
    paths = [tmp_path / name for name in ("one.spacy", "two.spacy", "out.spacy")]
    for path in paths[:2]:
        save_docs(path, [with_span(with_entity(doc()))])
    invoke("agree", *paths, "--force")
    _, found = read_docbin(paths[2], VOCAB)
    group = found.spans["constituents"]
    assert [(span.text, span.label_) for span in group] == [("他来", "TOP"), ("他来", "IP")]
    assert group.attrs["heads"] == [1, 1]
    assert [(entity.text, entity.label_) for entity in found.ents] == [("他", "PERSON")]


def test_heads_of_constituents_must_be_the_same(tmp_path: Path, invoke: Any) -> None:
    paths = [tmp_path / name for name in ("one.spacy", "two.spacy", "out.spacy")]
    other = with_span(doc())
    other.spans["constituents"].attrs["heads"] = [4, 4]
    save_docs(paths[0], [with_span(doc())])
    save_docs(paths[1], [other])
    assert invoke("agree", *paths, "--force").stdout == f"{paths[2]}: 1 of 2 sentences\n"
    assert [each.text for each in read_docbin(paths[2], VOCAB)] == ["我看书。"]


def test_sentences_of_white_space_are_left_out(tmp_path: Path, invoke: Any) -> None:
    paths = [tmp_path / name for name in ("one.spacy", "two.spacy", "out.spacy")]
    for path in paths[:2]:
        save_docs(path, [Doc(VOCAB, words=["\n"]), Doc(VOCAB, words=[]), doc()])
    assert invoke("agree", *paths, "--force").stdout == f"{paths[2]}: 2 of 3 sentences\n"


@pytest.mark.parametrize("lost", [{0}, {1, 2}, {6, 7}])
def test_records_that_one_pipeline_could_not_annotate(
    tmp_path: Path, invoke: Any, lost: set[int]
) -> None:
    """`annotate` has kept where Docs come from, and leaves out those that a pipeline fails on."""
    docs = []
    for number in range(8):
        made = Doc(VOCAB, words=["看", str(number)], tags=["VV", "CD"], spaces=[False] * 2)
        made.user_data |= {"file": ["raw.txt"], "record": number}
        docs.append(made)
    one, two, output = tmp_path / "one.spacy", tmp_path / "two.spacy", tmp_path / "out.spacy"
    save_docs(one, docs)
    save_docs(two, [each for number, each in enumerate(docs) if number not in lost])
    for inputs in ((one, two), (two, one)):
        result = invoke("agree", *inputs, output, "--force")
        kept = [number for number in range(8) if number not in lost]
        assert [each.text for each in read_docbin(output, VOCAB)] == [f"看{n}" for n in kept]
        texts = "1 text" if len(lost) == 1 else f"{len(lost)} texts"
        told = f"left out, as not in all inputs: {texts}\n"
        assert result.stderr == (told if inputs[0] == one else "")
