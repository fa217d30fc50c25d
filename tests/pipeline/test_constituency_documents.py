"""Constituents in Docs: written, read as trees, kept by all that spaCy does, and scored."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from looped import looped
from pipeline.made_up import copies
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_structreg.corpora.constituents import ConstituencySentence, Constituent
from spacy_structreg.pipeline.constituency import make_constituency_scorer
from spacy_structreg.pipeline.constituency_documents import (
    Phrase,
    constituency_sentences,
    read_phrases,
    write_constituents,
    write_phrases,
)

WORDS = ["我", "看", "旧", "书", "。", "好", "！"]
TAGS = ["PN", "VV", "JJ", "NN", "PU", "VA", "PU"]
PHRASES = [
    Phrase("IP", 0, 5, 1),
    Phrase("NP", 0, 1, 0),
    Phrase("VP", 1, 4, 1),
    Phrase("NP", 2, 4, 3),
    Phrase("IP", 5, 7, 5),
    Phrase("VP", 5, 6, 5),
]
TREES = [
    ConstituencySentence(
        tuple(WORDS[:5]), tuple(TAGS[:5]), tuple(Constituent(*phrase) for phrase in PHRASES[:4])
    ),
    ConstituencySentence(
        tuple(WORDS[5:]), tuple(TAGS[5:]), (Constituent("IP", 0, 2, 0), Constituent("VP", 0, 1, 0))
    ),
]


def new_doc(words: list[str] = WORDS, tags: list[str] | None = TAGS, **annotation: Any) -> Doc:
    return Doc(Vocab(), words=words, spaces=[False] * len(words), tags=tags, **annotation)


def write_arrays(doc: Doc, phrases: list[Phrase]) -> None:
    """As `write_phrases`, of phrases with heads, but as pipes write them."""
    labels = np.array([doc.vocab.strings.add(phrase.label) for phrase in phrases], np.uint64)
    places = np.array([phrase[1:] for phrase in phrases], dtype=np.int64).reshape(-1, 3)
    write_constituents(doc, labels, places)


def doc_with(phrases: list[Phrase] = PHRASES, write: Any = write_arrays, **annotation: Any) -> Doc:
    doc = new_doc(**annotation)
    write(doc, phrases)
    return doc


@pytest.mark.parametrize("write", [write_phrases, write_arrays])
def test_a_group_has_labels_and_heads(write: Any) -> None:
    doc = doc_with(write=write)
    group = doc.spans["constituents"]
    assert [(span.label_, span.start, span.end) for span in group] == [p[:3] for p in PHRASES]
    assert group.attrs == {"heads": [1, 0, 1, 3, 5, 5]}
    assert read_phrases(doc) == PHRASES
    assert read_phrases(new_doc()) is None
    write(doc, [])
    assert read_phrases(doc) == []
    assert len(doc.spans["constituents"]) == 0


@pytest.mark.parametrize("write", [write_phrases, write_arrays])
def test_what_is_done_with_a_group_that_nobody_has_looked_at(write: Any) -> None:
    doc = doc_with(write=write)
    doc.spans["more"] = [doc[0:1]]
    more = doc.spans["more"]
    more += doc.spans["constituents"]
    assert [(span.start, span.end) for span in list(more)[1:]] == [p[1:3] for p in PHRASES]
    doc = doc_with(write=write)
    group = doc.spans["constituents"]
    group.attrs = {"heads": [], "own": 1}
    assert group.attrs == {"heads": [], "own": 1}
    assert len(group) == len(PHRASES)
    group = doc_with(write=write).spans["constituents"]
    group.from_bytes(doc_with(PHRASES[:2]).spans["constituents"].to_bytes())
    assert len(group) == 2


def test_groups_survive_what_spacy_does_with_docs() -> None:
    chain = [Phrase("IP", 0, 7, 1), Phrase("VP", 0, 7, 1), Phrase("IP", 0, 7, 1), *PHRASES[1:]]
    doc = doc_with(chain)
    assert list(map(read_phrases, copies(doc))) == [chain] * 4
    # Several Docs as one, and JSON, lose what groups have besides their spans.
    for other in (Doc.from_docs([doc, doc]), Doc(Vocab()).from_json(doc.to_json())):
        assert other is not None
        found = read_phrases(other)
        assert found is not None
        assert [phrase[:3] for phrase in found[: len(chain)]] == [phrase[:3] for phrase in chain]
        assert {phrase.head for phrase in found} == {None}
    assert read_phrases(doc[:].as_doc()) is None


def test_groups_follow_merged_tokens() -> None:
    """As spaCy's pipe merge_entities merges them."""
    ents = ["O", "O", "B-WORK", "I-WORK", "O", "O", "O"]
    merge_entities = spacy.blank("zh").create_pipe("merge_entities")
    for doc in (doc_with(ents=ents), doc_with(ents=ents).copy()):
        merge_entities(doc)
        assert [token.text for token in doc] == ["我", "看", "旧书", "。", "好", "！"]
        expected = [
            *(Phrase("IP", 0, 4, 1), Phrase("NP", 0, 1, 0), Phrase("VP", 1, 3, 1)),
            *(Phrase("NP", 2, 3, 2), Phrase("IP", 4, 6, 4), Phrase("VP", 4, 5, 4)),
        ]
        assert doc.spans["constituents"].attrs == {"heads": [1, 0, 1, 2, 4, 4]}
        assert list(map(read_phrases, [doc, *copies(doc)])) == [expected] * 5
        as_json = [(span["start"], span["end"]) for span in doc.to_json()["spans"]["constituents"]]
        assert as_json == [(0, 5), (0, 1), (1, 4), (2, 4), (5, 7), (5, 6)]


def test_spans_are_added_after_tokens_are_merged() -> None:
    for add in (
        lambda group, span: group.append(span),
        lambda group, span: group.extend([span]),
        lambda group, span: group.__iadd__([span]),
    ):
        doc = doc_with()
        with doc.retokenize() as retokenizer:
            retokenizer.merge(doc[2:4])
        group = doc.spans["constituents"]
        add(group, Span(doc, 0, 1, label="NP"))
        assert group.attrs["heads"] == [1, 0, 1, 2, 4, 4]
        assert (group[-1].start, group[-1].end) == (0, 1)


@given(st.data())
def test_groups_follow_all_changes_of_tokens(data: st.DataObject) -> None:
    """Against the characters of constituents and heads.

    A change counts when the group is looked at: what does not fit then is gone, and heads are
    tokens.
    """
    words = ["ab", "c", "defg", "h", "ij", "k"]
    doc = new_doc(words, None)
    bounds = st.lists(st.sampled_from(range(7)), min_size=2, max_size=2, unique=True).map(sorted)
    spans = data.draw(st.lists(bounds, max_size=5))
    heads = [data.draw(st.integers(begin, end - 1)) for begin, end in spans]
    write = data.draw(st.sampled_from([write_phrases, write_arrays]))
    write(doc, [Phrase(f"X{i}", *span, heads[i]) for i, span in enumerate(spans)])
    group = doc.spans["constituents"]
    offsets = [token.idx for token in doc] + [len(doc.text)]
    known = [
        (f"X{i}", offsets[begin], offsets[end], offsets[head])
        for i, ((begin, end), head) in enumerate(zip(spans, heads, strict=True))
    ]
    n_changes = data.draw(st.integers(1, 3))
    for change in range(n_changes):
        begin, end = data.draw(bounds)
        with doc.retokenize() as retokenizer:
            if end <= len(doc) and end - begin > 1:
                retokenizer.merge(doc[begin:end])
            for token in doc:
                if len(token) > 1 and not begin <= token.i < end and data.draw(st.booleans()):
                    parts = [token.text[:1], token.text[1:]]
                    retokenizer.split(token, parts, [(token, 0), (token, 0)])
        if change + 1 < n_changes and data.draw(st.booleans()):
            continue
        inside = {token.idx + i: token for token in doc for i in range(len(token))}
        ends = {token.idx + len(token): token.i + 1 for token in doc}
        known = [
            (label, begin, end, inside[head].idx)
            for label, begin, end, head in known
            if inside[begin].idx == begin and end in ends
        ]
        expected = [
            (label, inside[begin].i, ends[end], inside[head].i) for label, begin, end, head in known
        ]
        found = [(span.label_, span.start, span.end) for span in group]
        heads = group.attrs["heads"]
        assert [(*span, head) for span, head in zip(found, heads, strict=True)] == expected
        other = doc.copy()
        assert found == [(span.label_, span.start, span.end) for span in other.spans[group.name]]


def test_trees_of_the_sentences_that_a_doc_knows_or_of_its_own() -> None:
    starts = [index in (0, 5) for index in range(7)]
    expected = [(5, TREES[0]), (2, TREES[1])]
    assert constituency_sentences(doc_with(sent_starts=starts)) == expected
    assert constituency_sentences(doc_with()) == expected
    # Other tags, and none of them visible.
    (_, tree), _ = constituency_sentences(doc_with(), tags=["X"] * 7)
    assert tree is not None
    assert tree.tags == ("X",) * 5


def test_sentences_without_trees() -> None:
    starts = [index in (0, 5, 6) for index in range(7)]
    # The words of the first are in no constituent together; the last is one word.
    doc = doc_with([*PHRASES[1:4], Phrase("VP", 5, 6, 5)], sent_starts=starts)
    (first, none), (_, one), (_, word) = constituency_sentences(doc)
    assert (first, none) == (5, None)
    assert one == ConstituencySentence(("好",), ("VA",), (Constituent("VP", 0, 1, 0),))
    assert word == ConstituencySentence(("！",), ("PU",), ())
    # A Doc without the group has no trees at all.
    assert constituency_sentences(new_doc(sent_starts=starts)) == [(5, None), (1, None), (1, None)]
    # What lies between trees, where no sentences are known.
    doc = doc_with([Phrase("NP", 2, 4, 3)])
    assert [n_words for n_words, _ in constituency_sentences(doc)] == [2, 2, 3]
    assert constituency_sentences(new_doc([], [])) == []


def test_white_space_does_not_count() -> None:
    words = ["\n", "我", " ", "看", "\n", "好 的", " "]
    doc = new_doc(words, None, sent_starts=[True, False, False, False, False, True, False])
    write_phrases(
        doc,
        [
            Phrase("IP", 0, 5, 3),
            Phrase("NP", 1, 3, 1),
            Phrase("X", 2, 3, 2),
            Phrase("VP", 5, 6, 5),
        ],
    )
    assert read_phrases(doc) == [
        Phrase("IP", 0, 2, 1), Phrase("NP", 0, 1, 0), Phrase("VP", 2, 3, 2)
    ]  # fmt: skip
    (_, first), (_, second) = constituency_sentences(doc)
    assert first is not None
    assert second is not None
    assert (first.words, second.words) == (("我", "看"), ("好的",))
    doc.spans["constituents"].attrs["heads"] = [3, 2, 2, 5]
    with pytest.raises(ValueError, match=r"the head of NP over .* is 2; it must be the index"):
        read_phrases(doc)


def test_the_order_of_spans_is_mended_but_that_of_chains_kept() -> None:
    chain = [Phrase("IP", 5, 7, 5), Phrase("CP", 5, 7, 5)]
    doc = doc_with([*chain, *PHRASES[:4]])
    assert read_phrases(doc) == [*PHRASES[:4], *chain]


@looped(
    ("phrases", "heads", "message"),
    [
        (
            [("IP", 0, 7)],
            [],
            "has 1 spans, and attrs\\['heads'\\] is \\[\\]; give one head for each",
        ),
        ([("IP", 0, 7)], 3, "attrs\\['heads'\\] is 3"),
        ([("IP", 0, 7)], ["1"], "is '1'; it must be the index of a word between 0 and 6"),
        ([("IP", 1, 7)], [0], "is 0; it must be the index of a word between 1 and 6"),
        ([("IP", 0, 7)], [None], "IP over .* has no head; .*convert --head-rules"),
        ([("IP", 0, 7), ("NP", 0, 2), ("NP", 1, 3)], [0, 0, 1], "overlap"),
        ([("IP", 0, 7), ("", 0, 2)], [0, 0], "a constituent has no label"),
        ([("IP", 0, 7), ("NP", 0, 2)], [0, 1], "not the head of its part NP"),
    ],
)
def test_groups_that_are_no_trees(
    phrases: list[tuple[str, int, int]], heads: Any, message: str
) -> None:
    doc = new_doc()
    doc.spans["constituents"] = [Span(doc, b, e, label=label) for label, b, e in phrases]
    doc.spans["constituents"].attrs["heads"] = heads
    with pytest.raises(ValueError, match=message):
        constituency_sentences(doc)


def test_constituents_beyond_a_sentence() -> None:
    doc = doc_with([Phrase("IP", 0, 7, 1)], sent_starts=[index in (0, 5) for index in range(7)])
    with pytest.raises(ValueError, match="IP over '我 看 旧 书 。 好 ！' goes beyond its sentence"):
        constituency_sentences(doc)


# Scores -------------------------------------------------------------------------------------------

score = make_constituency_scorer("plain")


def figures_of(predicted: list[Phrase], gold: Doc | None = None) -> dict[str, Any]:
    reference = doc_with() if gold is None else gold
    return score([Example(doc_with(predicted), reference)])


def test_figures() -> None:
    right = figures_of(PHRASES)
    assert right["brackets_p"] == right["brackets_r"] == right["brackets_f"] == 1.0
    assert right["brackets_complete"] == right["head_acc"] == 1.0
    assert right["brackets_crossing"] == 0.0
    assert right["brackets_f_40"] == 1.0
    assert "tag_acc" not in right
    # A wrong label; a bracket that crosses NP; one too few; a wrong head of what is right.
    wrong = figures_of(
        [
            *(Phrase("IP", 0, 5, 3), Phrase("QP", 0, 1, 0), Phrase("X", 1, 3, 1)),
            *(Phrase("IP", 5, 7, 5), Phrase("VP", 5, 6, 5)),
        ]
    )
    assert (wrong["brackets_p"], wrong["brackets_r"]) == (3 / 5, 3 / 6)
    assert wrong["brackets_f"] == 6 / 11
    assert (wrong["brackets_crossing"], wrong["brackets_complete"]) == (1 / 2, 1 / 2)
    assert wrong["head_acc"] == 2 / 3


def test_gold_constituents_without_heads() -> None:
    """All figures but that of heads are those that a gold Doc with heads has."""
    predicted = [
        *(Phrase("IP", 0, 5, 3), Phrase("QP", 0, 1, 0), Phrase("X", 1, 3, 1)),
        *(Phrase("IP", 5, 7, 5), Phrase("VP", 5, 6, 5)),
    ]
    without = new_doc()
    without.spans["constituents"] = [
        Span(without, begin, end, label=label) for label, begin, end, _ in PHRASES
    ]
    some = doc_with()
    some.spans["constituents"].attrs["heads"] = [1, 0, 1, None, 5, 5]
    expected = figures_of(predicted) | {"head_acc": None}
    assert expected["brackets_f"] == 6 / 11
    assert figures_of(predicted, without) == figures_of(predicted, some) == expected
    # Nor are heads counted of one Doc and not of the other.
    both = [Example(doc_with(predicted), gold) for gold in (doc_with(), without)]
    assert score(both) == expected
    # What is no tree is none without heads either.
    without.spans["constituents"] = [
        Span(without, begin, end, label="IP") for begin, end in ((0, 7), (0, 2), (1, 3))
    ]
    with pytest.raises(ValueError, match="overlap"):
        figures_of(predicted, without)


def test_conventions() -> None:
    """The bracket over the full stop counts only where punctuation does."""
    flat = [Phrase("IP", 0, 5, 1), *PHRASES[1:4], Phrase("IP", 5, 6, 5), Phrase("VP", 5, 6, 5)]
    example = Example(doc_with(flat), doc_with())
    assert make_constituency_scorer("no_pu")([example])["brackets_f"] == 1.0
    assert make_constituency_scorer("plain")([example])["brackets_f"] == 5 / 6
    assert make_constituency_scorer()([example])["brackets_f"] == 5 / 6
    with pytest.raises(
        ValueError, match="conventions of the scorer is 'evalb'; choose collins, pl"
    ):
        make_constituency_scorer("evalb")


def test_nothing_to_score(caplog: pytest.LogCaptureFixture) -> None:
    none = dict.fromkeys(figures_of(PHRASES))
    # No gold trees; no examples; other words in one Doc of two.
    assert figures_of(PHRASES, new_doc()) == none
    assert score([]) == none
    assert not caplog.text
    other = new_doc(["我看", *WORDS[2:]], ["X", *TAGS[2:]])
    assert score([Example(doc_with(), doc_with()), Example(other, doc_with())]) == none
    assert "1 of 2 Docs have other words than the gold ones" in caplog.text
    # A parser that finds nothing has found none of the gold brackets.
    figures = score([Example(new_doc(), doc_with())])
    assert (figures["brackets_r"], figures["brackets_f"]) == (0.0, 0.0)


def test_sentences_without_gold_trees_do_not_count() -> None:
    gold = doc_with(PHRASES[:4], sent_starts=[index in (0, 5) for index in range(7)])
    assert figures_of(PHRASES, gold)["brackets_f"] == 1.0


def test_sentences_that_are_cut_elsewhere() -> None:
    """What is predicted beyond a gold sentence, or for parts of it, is wrong but counted."""
    over = figures_of([Phrase("IP", 0, 7, 1), *PHRASES[1:4], PHRASES[5]])
    assert (over["brackets_p"], over["brackets_r"]) == (4 / 5, 4 / 6)
    parts = figures_of([Phrase("IP", 0, 2, 1), PHRASES[1], *PHRASES[3:]])
    assert (parts["brackets_p"], parts["brackets_r"]) == (4 / 5, 4 / 6)


def test_another_span_group() -> None:
    docs = []
    for phrases in (PHRASES[:-1], PHRASES):
        doc = new_doc()
        write_phrases(doc, phrases, "trees")
        docs.append(doc)
    example = Example(*docs)
    assert score([example])["brackets_f"] is None
    assert score([example], spans_key="trees")["brackets_p"] == 1.0
    assert score([example], spans_key="trees")["brackets_r"] == 5 / 6
