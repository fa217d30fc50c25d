"""The augmenter that writes gold Docs as people write them."""

from __future__ import annotations

import random
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from example_counts import quick_examples
from hypothesis import given
from hypothesis import strategies as st
from looped import looped
from pipeline.made_up import DEV, gold_doc, tag_of, tokens, untrained
from random_trees import sentences_with_trees
from spacy.tokens import Doc, DocBin, Span, SpanGroup, Token
from spacy.training import Example

from spacy_structreg.pipeline.constituency_documents import read_phrases
from spacy_structreg.pipeline.documents import UNKNOWN_WORDS
from spacy_structreg.pipeline.readers import create_corpus
from spacy_structreg.pipeline.text_variants import create_text_variants

NLP = untrained()
VOCAB = NLP.vocab
OFF: dict[str, Any] = {"half_width": 0.0, "no_final": 0.0, "spaces": 0.0, "traditional": 0.0}
WORDS = ["我们", "看见", "ＵＳＢ", "3.5", "，", ",", "。", "！", "?", "……", "”", "\n"]
TRADITIONAL = str.maketrans("们见后", "們見後")
MARKS = dict(zip("，。！？：；（）", ",.!?:;()", strict=True))
NARROW = str.maketrans("，。！？：；（）", ",.!?:;()")
EXTENSION = "variant_number"


class Converter:
    """OpenCC, as far as these tests know it."""

    def __init__(self, name: str) -> None:
        assert name == "s2t"

    def convert(self, text: str) -> str:
        return text.translate(TRADITIONAL)


@pytest.fixture(scope="module", autouse=True)
def opencc_and_extension() -> Iterator[None]:
    Token.set_extension(EXTENSION, default=None)
    Span.set_extension(EXTENSION, default=None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "opencc", SimpleNamespace(OpenCC=Converter))
        yield
    Token.remove_extension(EXTENSION)
    Span.remove_extension(EXTENSION)


# By their settings: that of the other script reads the whole table of OpenCC.
AUGMENTERS: dict[str, Any] = {}


def variants(doc: Doc, **settings: Any) -> list[Doc]:
    """The Docs that come of one."""
    given = {**OFF, **settings}
    augment = AUGMENTERS.get(repr(given)) or create_text_variants(**given)
    AUGMENTERS[repr(given)] = augment
    found = list(augment(NLP, Example(NLP.make_doc(doc.text), doc)))
    for each in found:
        assert each.predicted.text == each.reference.text
    return [each.reference for each in found]


def variant(doc: Doc, **settings: Any) -> Doc:
    """What a Doc is changed to; itself if it is not."""
    (found,) = variants(doc, keep=False, **settings)
    return found


# Each change -------------------------------------------------------------------------------------


@looped(
    ("words", "settings", "text"),
    [
        (["我", "，", "ＵＳＢ", "３．５", "。"], ["half_width"], "我,USB3.5."),
        (["“", "好", "、", "走", "”"], ["half_width"], '"好,走"'),
        (["（", "好", "）", "：", "走", "！", "？", "；"], ["half_width"], "(好):走!?;"),
        # Half-width marks become full-width ones only where nothing is full-width, and as tokens.
        (["我", ",", "1,000", "好", "?!"], ["half_width"], "我，1,000好？！"),
        (["我", ",", "好", "。"], ["half_width"], "我,好."),
        (["好", "。"], ["no_final"], "好"),
        (["好", "？", "！！"], ["no_final"], "好"),
        (["好", "。", "\n"], ["no_final"], "好\n"),
        (["。", "。"], ["no_final"], "。"),
        (["好", "。", "”"], ["no_final"], "好。”"),
        (["我", "，", "好", ",", "，", "走", "。"], ["spaces"], "我 好 走。"),
        (["，", "好", "、", "走", "，"], ["spaces"], "，好、走，"),
        (["好", "，", "走", "，", "。"], ["spaces"], "好 走 。"),
        (["好", "，", "走", "，", "。"], ["spaces", "no_final"], "好 走，"),
        (["们", "后", "来"], ["traditional"], "們後来"),
        (["们", "，", "见", "。"], list(OFF), "們 見"),
    ],
)
def test_what_becomes_of_a_text(words: list[str], settings: list[str], text: str) -> None:
    doc = gold_doc(VOCAB, words)
    changed = variant(doc, **dict.fromkeys(settings, 1.0))
    assert changed.text == text
    assert doc.text == "".join(words)


def test_an_entity_and_a_sentence_begin_behind_a_comma_that_goes() -> None:
    doc = Doc(
        VOCAB,
        words=["好", "，", "王", "来"],
        spaces=[False] * 4,
        ents=["", "B-P", "I-P", "O"],
        sent_starts=[True, True, False, False],
        lemmas=["好", "，", "姓王", "来"],
    )
    doc.cats = {"news": 1.0}
    new = variant(doc, spaces=1.0)
    assert [t.ent_iob_ for t in new] == ["", "B", "O"]
    assert [s.text for s in new.sents] == ["好", "王来"]
    assert [t.lemma_ for t in new] == ["好", "姓王", "来"]
    assert new.cats == doc.cats


def test_roots_stay_and_so_does_what_may_be_part_of_a_word() -> None:
    words = ["好", "，", "走", "。"]
    doc = Doc(VOCAB, words=words, spaces=[False] * 4, heads=[1, 1, 1, 1], deps=["x"] * 4)
    assert variant(doc, spaces=1.0).text == "好，走。"
    doc = gold_doc(VOCAB, ["1", ",", "0", ",", "元"])
    doc.spans[UNKNOWN_WORDS] = [doc[0:3]]
    new = variant(doc, spaces=1.0, half_width=1.0)
    assert tokens(new) == ["1", ",", "0", "元"]
    assert [(s.start, s.end) for s in new.spans[UNKNOWN_WORDS]] == [(0, 3)]


def test_a_doc_that_does_not_know_its_spaces_has_no_variants() -> None:
    doc = Doc(VOCAB, words=["好", "，", "走", "。"])
    assert variants(doc, half_width=1.0, spaces=1.0) == [doc]


# All of them -------------------------------------------------------------------------------------


@st.composite
def docs(draw: st.DrawFn) -> Doc:
    """Docs with everything; the tag of a token is its number."""
    words = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=8))
    n = len(words)
    tree = draw(sentences_with_trees(words))
    # White space is the head of no phrase.
    phrases = [each for each in tree.constituents if set(words[each.begin : each.end]) != {"\n"}]
    phrase_heads = [
        each.head
        if words[each.head] != "\n"
        else next(i for i in range(each.begin, each.end) if words[i] != "\n")
        for each in phrases
    ]
    heads = list(range(n))
    # Of several, the last is the innermost.
    for phrase in tree.constituents:
        for i in range(phrase.begin, phrase.end):
            if i != phrase.head:
                heads[i] = phrase.head
    span = st.tuples(st.integers(0, n - 1), st.integers(1, n)).filter(
        lambda pair: pair[0] < pair[1]
    )
    doc = Doc(
        VOCAB,
        words=words,
        spaces=draw(st.lists(st.booleans(), min_size=n, max_size=n)),
        tags=[str(i) for i in range(n)],
        heads=heads if draw(st.booleans()) else None,
        deps=[f"d{i}" for i in range(n)],
    )
    begin, end = draw(span)
    doc.set_ents([Span(doc, begin, end, label="E", kb_id="Q1")], default="outside")
    chunks = draw(st.lists(span, max_size=4))
    doc.spans["chunks"] = [Span(doc, b, e, label=f"C{i}") for i, (b, e) in enumerate(chunks)]
    doc.spans["constituents"] = SpanGroup(
        doc,
        attrs={"heads": phrase_heads},
        spans=[Span(doc, each.begin, each.end, label=each.label) for each in phrases],
    )
    doc.spans[UNKNOWN_WORDS] = [doc[b:e] for b, e in draw(st.lists(span, max_size=1))]
    for token in doc:
        token._.set(EXTENSION, token.i)
    for chunk in doc.spans["chunks"]:
        chunk._.set(EXTENSION, chunk.start)
    return doc


@quick_examples(60)
@given(docs(), st.sets(st.sampled_from(sorted(OFF))))
def test_annotation_follows(doc: Doc, settings: set[str]) -> None:
    before = doc.to_bytes()
    new = variant(doc, **dict.fromkeys(settings, 1.0))
    assert doc.to_bytes() == before
    kept = [int(token.tag_) for token in new]
    assert kept == sorted(set(kept))
    gone = set(range(len(doc))) - set(kept)
    unknown = {token.i for span in doc.spans[UNKNOWN_WORDS] for token in span}
    assert not gone & unknown
    assert {doc[i].text for i in gone} <= {"，", ",", "。", "！", "?", "……"}
    assert new.text == "".join(token.text + token.whitespace_ for token in new)
    assert sum(key[1] == EXTENSION and key[3] is None for key in new.user_data) == len(new)
    for token, i in zip(new, kept, strict=True):
        old = doc[i]
        assert token._.get(EXTENSION) == i
        assert (token.dep_, token.pos_) == (old.dep_, old.pos_)
        assert len(token) == len(old)
        # Nothing is lost of the spaces that there were.
        assert token.whitespace_ or not old.whitespace_
        above = old.head
        while above.i in gone:
            above = above.head
        assert kept[token.head.i] == above.i
    for old_spans, new_spans in (
        (doc.ents, new.ents),
        *((doc.spans[key], new.spans[key]) for key in doc.spans),
    ):
        left = [
            (span, [i for i in range(span.start, span.end) if i not in gone]) for span in old_spans
        ]
        assert [(s.label_, s.kb_id_, kept[s.start : s.end]) for s in new_spans] == [
            (span.label_, span.kb_id_, inside) for span, inside in left if inside
        ]
    for span in doc.spans["chunks"]:
        inside = [kept.index(i) for i in range(span.start, span.end) if i not in gone]
        if inside and not any(
            (s.start, s.end) == (inside[0], inside[-1] + 1)
            for s in new.spans["chunks"]
            if s._.get(EXTENSION) == span.start
        ):
            # Another one, now over the same words, has put its own there.
            same = Span(new, inside[0], inside[-1] + 1)
            assert same._.get(EXTENSION) in {s.start for s in doc.spans["chunks"]}
    # Heads lie in their phrases, or this raises.
    phrases = read_phrases(new)
    assert phrases is not None
    if not gone:
        assert phrases == read_phrases(doc)


@quick_examples(40)
@given(st.lists(st.sampled_from([*MARKS, "我们", "看见", "3.5", "1:2"]), min_size=1, max_size=8))
def test_what_keeps_its_length_can_be_changed_back(words: list[str]) -> None:
    doc = gold_doc(VOCAB, words)
    narrow = variant(doc, half_width=1.0)
    assert tokens(narrow) == [MARKS.get(word, word) for word in words]
    if narrow is not doc:
        assert tokens(variant(narrow, half_width=1.0)) == words
    back = {code: chr(other) for other, code in TRADITIONAL.items()}
    traditional = tokens(variant(doc, traditional=1.0))
    assert [word.translate(back) for word in traditional] == words


def test_full_width_forms_are_those_of_unicode() -> None:
    forms = list(map(chr, range(0xFF01, 0xFF5F)))
    narrow = tokens(variant(gold_doc(VOCAB, forms), half_width=1.0))
    assert narrow == [unicodedata.normalize("NFKC", form) for form in forms]


# Chance ------------------------------------------------------------------------------------------


def test_the_original_stays_and_is_not_told_twice() -> None:
    doc = gold_doc(VOCAB, ["好", "。"])
    first, second = variants(doc, no_final=1.0)
    assert first is doc
    assert second.text == "好"
    # Drawn, but nothing to change.
    plain = gold_doc(VOCAB, ["好", "走"])
    assert variants(plain, half_width=1.0, no_final=1.0) == [plain]


def test_changes_are_as_frequent_as_asked_for_and_the_seed_decides() -> None:
    doc = gold_doc(VOCAB, ["好", "，", "走", "。"])
    augment = create_text_variants(half_width=0.5, no_final=0.25, spaces=0.0)
    example = Example(NLP.make_doc(doc.text), doc)

    def drawn() -> list[str]:
        random.seed(1)
        return [each.reference.text for _ in range(400) for each in list(augment(NLP, example))[1:]]

    texts = drawn()
    assert drawn() == texts
    assert 150 < sum("," in text for text in texts) < 250
    assert 60 < sum(text[-1] == "走" for text in texts) < 140
    assert {"好,走.", "好,走", "好，走"} == set(texts)


@looped("name", OFF)
@looped("chance", [-0.1, 1.5, float("nan")])
def test_what_is_no_probability_is_refused(name: str, chance: float) -> None:
    with pytest.raises(ValueError, match=f"{name} = .* give a number from 0 to 1"):
        create_text_variants(**{**OFF, name: chance})


def test_opencc_is_needed_for_the_other_script_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opencc", None)
    with pytest.raises(ImportError, match=r"traditional = 0\.5 .*\[scripts\].*set it to 0"):
        create_text_variants(traditional=0.5)
    create_text_variants()


def test_the_table_of_opencc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "opencc")
    pytest.importorskip("opencc")
    monkeypatch.setattr(sys.modules[__name__], "AUGMENTERS", {})
    doc = gold_doc(VOCAB, ["后来", "的", "发展"])
    assert variant(doc, traditional=1.0).text == "後來的發展"


# Names -------------------------------------------------------------------------------------------


def name_lists(folder: Path, **lists: str) -> dict[str, Path]:
    """Files of names, one list for each type of entity."""
    for label, names in lists.items():
        (folder / label).write_text("\n".join(names.split()), "utf-8")
    return {label: folder / label for label in lists}


def test_names_become_others_of_their_type(tmp_path: Path) -> None:
    words = ["张三", "和", "李四", "去", "北京", "大学", "，", "张三", "用", "@张三", "的", "北京"]
    tags = ["NR", "CC", "NR", "VV", "NR", "NN", "PU", "NR", "VV", "NR", "DEG", "NN"]
    doc = gold_doc(VOCAB, words, tags=tags)
    doc.ents = [
        Span(doc, 0, 1, "PERSON"), Span(doc, 2, 3, "PERSON"), Span(doc, 4, 6, "ORG"),
        Span(doc, 7, 8, "PERSON"), Span(doc, 9, 10, "PERSON"),
    ]  # fmt: skip
    lists = name_lists(tmp_path, PERSON="欧阳修 列夫·托尔斯泰", GPE="北京 呼和浩特")
    random.seed(0)
    found = set()
    for _ in range(40):
        new = variant(doc, names=1.0, name_lists=lists)
        texts = tokens(new)
        found.add((texts[0], texts[2], texts[4]))
        assert texts[0] == texts[7]
        assert [texts[i] for i in (1, 3, 5, 6, 8, 9, 10, 11)] == [
            words[i] for i in (1, 3, 5, 6, 8, 9, 10, 11)
        ]
        assert [(e.start, e.end, e.label_) for e in new.ents] == [
            (e.start, e.end, e.label_) for e in doc.ents
        ]
        assert [token.tag_ for token in new] == tags
    people = {"欧阳修", "列夫·托尔斯泰"}
    assert found == {(a, b, c) for a in people for b in people for c in ("北京", "呼和浩特")}
    # A place that is not listed may be anything.
    lists = name_lists(tmp_path, GPE="呼和浩特")
    assert tokens(variant(doc, names=1.0, name_lists=lists)) == words


def test_names_need_lists(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"names = 0\.5 .* give name_lists"):
        create_text_variants(names=0.5)
    with pytest.raises(OSError, match="missing"):
        create_text_variants(names=0.5, name_lists={"GPE": tmp_path / "missing"})


# With the reader ---------------------------------------------------------------------------------


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.spacy"
    docs = [gold_doc(VOCAB, words, tags=list(map(tag_of, words))) for words in DEV[:6]]
    DocBin(docs=docs).to_disk(path)
    return path


def test_the_reader_gives_variants_the_gold_that_is_asked_for(corpus: Path) -> None:
    augmenter = create_text_variants(half_width=1.0, no_final=1.0, spaces=0.0)
    examples = list(create_corpus(corpus, ["words", "tags"], augmenter=augmenter, limit=3)(NLP))
    assert [tokens(each.reference) for each in examples[::2]] == DEV[:3]
    for each in examples:
        assert tokens(each.predicted) == tokens(each.reference)
        assert [t.tag_ for t in each.predicted] == [t.tag_ for t in each.reference]
    for gold, changed in zip(examples[::2], examples[1::2], strict=True):
        assert changed.text == gold.text[:-1].translate(NARROW) != gold.text
