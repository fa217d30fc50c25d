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


def with_spans(begin: int = 4, end: int = 6, heads: tuple[int, int] = (5, 5)) -> Doc:
    """With an entity, and two constituents over the same words, the outer one first."""
    found = doc()
    found.set_ents([Span(found, 4, 5, label="PERSON")])
    spans = [Span(found, begin, end, label=label) for label in ("TOP", "IP")]
    attrs = {"heads": list(heads)}
    found.spans["constituents"] = SpanGroup(found, name="constituents", attrs=attrs, spans=spans)
    return found


OTHER_WORDS = doc(
    words=["我", "看书", "。", "他", "来", "。"],
    tags=["PN", "VV", "PU", "PN", "VV", "PU"],
    heads=[1, 1, 1, 4, 4, 4],
    deps=["nsubj", "ROOT", "punct", "nsubj", "ROOT", "punct"],
)


@pytest.mark.parametrize(
    ("one", "other", "kept"),
    [
        (doc(), doc(), ["我看书。", "他来。"]),
        (doc(), doc(tags=["PN", "VV", "VV", "PU", "PN", "VV", "PU"]), ["他来。"]),
        (doc(), doc(heads=[1, 1, 1, 2, 5, 5, 5]), ["他来。"]),
        (
            doc(),
            doc(deps=["nsubj", "ROOT", "dobj", "punct", "dep", "ROOT", "punct"]),
            ["我看书。"],
        ),
        (doc(), OTHER_WORDS, ["他来。"]),
        (doc(), doc(heads=[1, 1, 1, 1, 5, 1, 5]), []),
        (doc(), with_spans(), ["我看书。"]),
        (with_spans(), with_spans(), ["我看书。", "他来。"]),
        (with_spans(), with_spans(heads=(4, 4)), ["我看书。"]),
        (doc(), with_spans(2, 6), []),
    ],
    ids=[
        *("the same", "another tag", "another head", "another label", "other words"),
        *("one sentence", "spans", "the same spans", "heads of spans", "beyond a sentence"),
    ],
)
def test_sentences_that_are_alike_are_kept(
    one: Doc, other: Doc, kept: list[str], tmp_path: Path, invoke: Any
) -> None:
    """Those of white space do not count."""
    paths = [tmp_path / name for name in ("one.spacy", "two.spacy", "out.spacy")]
    for path, made in zip(paths, (one, other), strict=False):
        save_docs(path, [Doc(VOCAB, words=["\n"]), Doc(VOCAB, words=[]), made])
    result = invoke("agree", *paths)
    if not kept:
        assert result.exit_code == 1
        assert "no sentence that all inputs annotate alike" in result.stderr
        return
    assert result.stdout == f"{paths[2]}: {len(kept)} of 3 sentences\n"
    found = list(read_docbin(paths[2], VOCAB))
    assert [each.text for each in found] == kept
    for each in found:
        sentence = next(sentence for sentence in one.sents if sentence.text == each.text)
        assert [(t.tag_, t.head.i, t.dep_, t.ent_type_) for t in each] == [
            (t.tag_, t.head.i - sentence.start, t.dep_, t.ent_type_) for t in sentence
        ]
    if "constituents" in one.spans and len(found) == 2:
        group = found[1].spans["constituents"]
        assert [(span.text, span.label_) for span in group] == [("他来", "TOP"), ("他来", "IP")]
        assert group.attrs["heads"] == [1, 1]


def test_three_inputs_and_folders(tmp_path: Path, runs: Any) -> None:
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
    assert runs("agree", *inputs, output) == f"{output}: 3 of 4 sentences\n"
    assert [each.text for each in read_docbin(output, VOCAB)] == ["我看书。", "他来。", "他来。"]


def test_inputs_that_cannot_be_compared(tmp_path: Path, fails: Any) -> None:
    one, two, output = tmp_path / "one.spacy", tmp_path / "two.spacy", tmp_path / "out.spacy"
    save_docs(one, [doc()])
    save_docs(two, [doc(), doc()])
    other = tmp_path / "other.spacy"
    save_docs(other, [doc()[:4].as_doc()])
    (tmp_path / "empty").mkdir()
    for inputs, message in (
        ([one], "name those of two pipelines"),
        ([one, two], "different numbers of texts"),
        ([one, other], "annotate the same texts"),
        ([one, one], "agrees with itself"),
        ([one, tmp_path / "empty"], "no .spacy file"),
    ):
        assert message in fails("agree", *inputs, output)
        assert not output.exists()


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
