"""The component that finds constituents: what it learns from Docs, what it writes, its files."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.tokens.underscore import Underscore
from spacy.training import Example
from spacy.util import raise_error
from spacy.vocab import Vocab
from thinc.api import Linear

from spacy_structreg.corpora.constituents import ConstituencySentence
from spacy_structreg.corpora.formats.brackets import constituency_sentences
from spacy_structreg.metrics import constituents
from spacy_structreg.pipeline.constituency import CONVENTIONS, StructregConstituency
from spacy_structreg.pipeline.constituency_documents import (
    Phrase,
    read_phrases,
    write_phrases,
)

TREES = """
(IP (NP (PN 我)) (VP (VV 看) (NP (NN 书))) (PU 。))
(IP (NP (PN 他)) (VP (VV 写) (NP (NN 字))) (PU 。))
(IP (NP (ADJP (JJ 小)) (NP (NR 王))) (VP (VV 看) (NP (NN 字))))
(IP (NP (ADJP (JJ 旧)) (NP (NN 书))) (VP (ADVP (AD 很)) (VP (VA 好))) (PU ！))
"""


def read(text: str) -> list[ConstituencySentence]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trees.bracket"
        path.write_text(text, "utf-8")
        # Docs do not keep relations beside constituents.
        return [replace(tree, relations=()) for tree in constituency_sentences(path, "ctb")]


GOLD = read(TREES)


@pytest.fixture(autouse=True)
def extensions() -> Iterator[None]:
    """Each test begins without extensions, and leaves those that there were."""
    before = Underscore.get_state()
    Underscore.load_state(({}, {}, {}))
    yield
    Underscore.load_state(before)


def new_doc(vocab: Vocab, words: Sequence[str], **annotation: Any) -> Doc:
    return Doc(vocab, words=list(words), spaces=[False] * len(words), **annotation)


def tagged_doc(vocab: Vocab, *trees: ConstituencySentence, **annotation: Any) -> Doc:
    """A Doc of one sentence after the other."""
    words = [word for tree in trees for word in tree.words]
    tags = [tag for tree in trees for tag in tree.tags]
    return new_doc(vocab, words, tags=tags, **annotation)


def phrases(*trees: ConstituencySentence) -> list[Phrase]:
    found = []
    start = 0
    for tree in trees:
        for each in tree.constituents:
            found.append(
                Phrase(each.label, start + each.begin, start + each.end, start + each.head)
            )
        start += len(tree.words)
    return found


def gold_doc(vocab: Vocab, *trees: ConstituencySentence, key: str = "constituents") -> Doc:
    doc = tagged_doc(vocab, *trees, sent_starts=starts(*trees))
    write_phrases(doc, phrases(*trees), key)
    return doc


def starts(*trees: ConstituencySentence) -> list[bool]:
    return [i == 0 for tree in trees for i, _ in enumerate(tree.words)]


def examples(nlp: Language) -> list[Example]:
    key = nlp.get_pipe("constituency").spans_key
    return [
        Example(tagged_doc(nlp.vocab, tree), gold_doc(nlp.vocab, tree, key=key)) for tree in GOLD
    ]


def untrained(model: dict[str, Any] | None = None, **settings: Any) -> Language:
    nlp = spacy.blank("zh")
    architecture = {"@architectures": "spacy_structreg.ConstituencyParser.v1", "seed": 1}
    config = {"model": {**architecture, **(model or {})}, **settings}
    nlp.add_pipe("structreg_constituency", name="constituency", config=config)
    return nlp


def trained(passes: int = 8, **settings: Any) -> Language:
    nlp = untrained(**settings)
    gold = examples(nlp)
    nlp.initialize(lambda: gold)
    for _ in range(passes):
        nlp.update(gold)
    return nlp


@pytest.fixture(scope="module")
def nlp() -> Language:
    """A trained pipeline that no test changes."""
    return trained()


# What is written ----------------------------------------------------------------------------------


def test_attributes_lead_through_the_trees() -> None:
    nlp = trained()
    doc = nlp(tagged_doc(nlp.vocab, GOLD[0]))
    (sentence,) = doc.sents
    assert sentence._.labels == ("IP",)
    assert sentence._.parse_string == TREES.split("\n")[1]
    assert [span.text for span in sentence._.children] == ["我", "看书", "。"]
    assert doc[2]._.parent.text == "看书"
    assert sum(1 for _ in doc._.constituents) == 6
    # Made once more, they are the same.
    untrained()
    trees = trained(extension_prefix="tree_", spans_key="trees")
    doc = trees(tagged_doc(trees.vocab, GOLD[0]))
    assert doc[:]._.tree_labels == (doc.spans["trees"][0].label_,) == ("IP",)


def test_attributes_that_are_taken() -> None:
    Span.set_extension("labels", default=None)
    with pytest.raises(ValueError, match="labels is taken by another extension, or for another"):
        untrained()
    assert untrained(extension_prefix="tree_").get_pipe("constituency")


def test_white_space_is_not_shown(nlp: Language) -> None:
    words = [" ", "我", "\n\n", "看", " ", "书", "。", " "]
    tags = ["_SP", "PN", "_SP", "VV", "_SP", "NN", "PU", "_SP"]
    doc = nlp(new_doc(nlp.vocab, words, tags=tags))
    assert read_phrases(doc) == phrases(GOLD[0])
    group = doc.spans["constituents"]
    assert [(span.label_, span.start, span.end) for span in group] == [
        *(("IP", 1, 7), ("NP", 1, 2), ("VP", 3, 6), ("NP", 5, 6)),
    ]
    assert group.attrs["heads"] == [3, 1, 3, 5]
    assert [sentence.text for sentence in doc.sents] == [doc.text]


def test_white_space_within_words_is_not_shown() -> None:
    nlp = trained()
    words = ["\u3000我", "看", "书 ", "。\n"]
    assert read_phrases(nlp(new_doc(nlp.vocab, words, tags=GOLD[0].tags))) == phrases(GOLD[0])


def test_sentences_of_the_doc(nlp: Language) -> None:
    pair = GOLD[0], GOLD[3]
    doc = nlp(tagged_doc(nlp.vocab, *pair, sent_starts=starts(*pair)))
    assert read_phrases(doc) == phrases(*pair)
    assert [token.is_sent_start for token in doc] == starts(*pair)
    # A Doc that knows of no sentences is one.
    whole = nlp(tagged_doc(nlp.vocab, *pair))
    assert len(list(whole.sents)) == 1
    assert len(whole.spans["constituents"][0]) == 9


def test_sentences_by_punctuation() -> None:
    nlp = trained(sentences="punctuation")
    trees = GOLD[0], GOLD[3], GOLD[1]
    doc = nlp(tagged_doc(nlp.vocab, *trees))
    assert read_phrases(doc) == phrases(*trees)
    assert [sentence.start for sentence in doc.sents] == [0, 4, 9]
    # Sentences that are known are cut, not joined.
    doc = nlp(tagged_doc(nlp.vocab, *trees, sent_starts=[i in (0, 2) for i in range(13)]))
    assert [sentence.start for sentence in doc.sents] == [0, 2, 4, 9]
    # Those of heads are left to the heads.
    heads = {"heads": [0] * 13, "deps": ["ROOT", *["dep"] * 12]}
    doc = nlp(tagged_doc(nlp.vocab, *trees, **heads))
    assert read_phrases(doc) == phrases(*trees)
    assert len(list(doc.sents)) == 1


@pytest.mark.parametrize("sentences", ["doc", "punctuation"])
def test_what_is_there_stays(sentences: str) -> None:
    nlp = trained(sentences=sentences)
    # 看书。 is to be a phrase, and 我看 is none then.
    doc = tagged_doc(nlp.vocab, GOLD[0])
    doc.spans["constituents"] = [Span(doc, 1, 4, label="NP"), Span(doc, 3, 4)]
    found = read_phrases(nlp(doc))
    assert found is not None
    assert ("NP", 1, 4) in [phrase[:3] for phrase in found]
    # One without a label gets one.
    assert all(phrase.label for phrase in found if phrase[1:3] == (3, 4))
    assert [phrase[1:3] for phrase in found].count((3, 4)) >= 1
    # Of trees that are whole, all stays as it is, and they are no worse for white space.
    for tree in GOLD:
        once = nlp(tagged_doc(nlp.vocab, tree))
        assert read_phrases(nlp(once)) == phrases(tree)
    again = trained(sentences=sentences, overwrite=True)
    other = tagged_doc(again.vocab, GOLD[0])
    other.spans["constituents"] = [Span(other, 1, 4, label="NP")]
    assert read_phrases(again(other)) == phrases(GOLD[0])


def test_whole_trees_with_heads_stay_as_they_are(nlp: Language) -> None:
    draw = random.Random(1)
    words = draw.choices("我他看写书字小。", k=60)
    doc = new_doc(nlp.vocab, words, tags=draw.choices(["PN", "VV", "NN", "JJ"], k=60))
    once = read_phrases(nlp(doc))
    assert read_phrases(nlp(doc)) == once
    # With other heads than those of the model, and labels that it does not know.
    odd = [Phrase("S", 0, 4, 0), Phrase("NP", 0, 1, 0), Phrase("X", 1, 4, 3), Phrase("X", 1, 4, 3)]
    pair = tagged_doc(nlp.vocab, GOLD[0], GOLD[1], sent_starts=starts(GOLD[0], GOLD[1]))
    write_phrases(pair, odd)
    assert read_phrases(nlp(pair)) == [*odd, *phrases(GOLD[0], GOLD[1])[4:]]
    # Heads that are not those of a part.
    write_phrases(pair, [Phrase("IP", 0, 4, 1), Phrase("VP", 1, 3, 2)])
    with pytest.raises(ValueError, match="headed by word 1, which is not the head of its part"):
        nlp(pair)


def test_what_cannot_stay() -> None:
    nlp = trained()
    doc = tagged_doc(nlp.vocab, GOLD[0])
    doc.spans["constituents"] = [Span(doc, 0, 2, label="NP"), Span(doc, 1, 3, label="NP")]
    with pytest.raises(
        ValueError, match="given constituents over the words 0 to 1 and 1 to 2 overlap"
    ):
        nlp(doc)
    pair = GOLD[0], GOLD[3]
    doc = tagged_doc(nlp.vocab, *pair, sent_starts=starts(*pair))
    doc.spans["constituents"] = [Span(doc, 2, 6, label="NP")]
    with pytest.raises(
        ValueError, match=r"cannot keep NP in .* goes beyond the sentence '我看书。'"
    ):
        nlp(doc)


def test_the_error_handler_is_given_the_docs_that_have_no_tree() -> None:
    nlp = trained()
    docs = [tagged_doc(nlp.vocab, tree) for tree in (GOLD[0], *GOLD)]
    odd = docs[0]
    odd.spans["constituents"] = [Span(odd, 0, 2, label="NP"), Span(odd, 1, 3, label="NP")]
    failed: list[list[Doc]] = []
    nlp.set_error_handler(lambda name, pipe, docs, error: failed.append(docs))
    found = list(nlp.pipe(docs))
    assert failed == [[odd]]
    assert list(map(read_phrases, found)) == list(map(phrases, GOLD))


def test_each_doc_of_a_batch_is_annotated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    nlp = trained()
    pipe = nlp.get_pipe("constituency")
    docs = [tagged_doc(nlp.vocab, tree) for tree in (*GOLD[:2], GOLD[0], *GOLD[2:])]
    odd = docs[2]
    annotate = pipe._annotate
    attempts: list[Doc] = []

    def failing_at_one(doc: Doc, trees: Any) -> None:
        attempts.append(doc)
        if doc is odd:
            raise ValueError("no")
        annotate(doc, trees)

    monkeypatch.setattr(pipe, "_annotate", failing_at_one)
    failed: list[list[Doc]] = []
    nlp.set_error_handler(lambda name, pipe, docs, error: failed.append(docs))
    found = list(nlp.pipe(docs))
    assert failed == [[odd]]
    assert list(map(read_phrases, found)) == list(map(phrases, GOLD))
    assert list(map(id, attempts)) == list(map(id, docs))
    nlp.set_error_handler(raise_error)
    with pytest.raises(ValueError, match="no"):
        list(nlp.pipe(docs))


def test_constituents_that_are_there_are_not_cut() -> None:
    nlp = trained(sentences="punctuation")
    doc = tagged_doc(nlp.vocab, GOLD[0], GOLD[3], GOLD[1])
    doc.spans["constituents"] = [Span(doc, 2, 6, label="NP")]
    doc = nlp(doc)
    assert [sentence.start for sentence in doc.sents] == [0, 9]
    assert [len(span) for span in doc.spans["constituents"] if span.label_ == "IP"][:1] == [9]


@pytest.mark.parametrize("dependencies", ["model", "ctb", "ptb"])
def test_dependencies(dependencies: str) -> None:
    nlp = trained(dependencies=dependencies, sentences="punctuation")
    pair = GOLD[0], GOLD[3]
    doc = nlp(tagged_doc(nlp.vocab, *pair))
    # The rules of the Penn Treebank know no IP, VV and PU: its last part is the head of IP.
    heads = {"ptb": [3, 2, 3, 3, 5, 8, 7, 8, 8]}.get(dependencies, [1, 1, 1, 1, 5, 7, 7, 7, 7])
    assert [token.head.i for token in doc] == heads
    assert [token.dep_ for token in doc] == [
        "ROOT" if head == i else "dep" for i, head in enumerate(heads)
    ]
    assert [sentence.start for sentence in doc.sents] == [0, 4]
    assert doc.spans["constituents"].attrs["heads"] == [phrase.head for phrase in phrases(*pair)]


def test_white_space_hangs_on_the_token_before_it() -> None:
    nlp = trained(dependencies="model")
    words = [" ", "我", "\n\n", "看", "书", "。", " "]
    doc = nlp(new_doc(nlp.vocab, words, tags=["_SP", "PN", "_SP", "VV", "NN", "PU", "_SP"]))
    assert [(token.head.i, token.dep_) for token in doc] == [
        *((1, "dep"), (3, "dep"), (1, "dep"), (3, "ROOT")),
        *((3, "dep"), (3, "dep"), (5, "dep")),
    ]
    blank = nlp(new_doc(nlp.vocab, [" ", "\n"]))
    assert [(token.head.i, token.dep_) for token in blank] == [(0, "ROOT"), (0, "dep")]
    assert len(nlp(new_doc(nlp.vocab, []))) == 0


@pytest.mark.parametrize("dependencies", [None, "model", "ctb"])
def test_docs_of_a_batch_are_annotated_as_each_alone(dependencies: str | None) -> None:
    nlp = trained(dependencies=dependencies)
    pipe = nlp.get_pipe("constituency")

    def docs() -> list[Doc]:
        other = Vocab()
        known = gold_doc(other, *GOLD[2:])
        hooked = tagged_doc(nlp.vocab, *GOLD[:2])
        hooked.user_hooks["sents"] = lambda doc: (doc[i : i + 4] for i in (0, 4))
        return [
            Doc(nlp.vocab),
            tagged_doc(nlp.vocab, *GOLD[:2], sent_starts=starts(*GOLD[:2])),
            new_doc(other, ["\n", "\n"]),
            known,
            new_doc(other, [" ", "他", " ", "写", "字", "\n"], tags=["_SP", "PN"] * 3),
            hooked,
            tagged_doc(other, GOLD[3], deps=["dep"] * len(GOLD[3].words)),
            Doc(other),
        ]

    def content(doc: Doc) -> tuple[Any, ...]:
        group = doc.spans["constituents"]
        written = [(token.head.i, token.dep_, token.is_sent_start) for token in doc]
        return read_phrases(doc), dict(group.attrs), written

    batch, alone = docs(), docs()
    assert pipe.predict([]) == []
    for each in ([batch], [[doc] for doc in alone]):
        for some in each:
            pipe.set_annotations(some, pipe.predict(some))
    assert list(map(content, batch)) == list(map(content, alone))
    assert any(content(doc)[0] for doc in batch if doc.vocab is not nlp.vocab)


def test_an_untrained_parser_writes_nothing() -> None:
    nlp = untrained(dependencies="model")
    nlp.initialize()
    doc = nlp(tagged_doc(nlp.vocab, GOLD[0]))
    assert not doc.spans
    assert not doc.has_annotation("DEP")
    assert not doc.has_annotation("SENT_START")
    assert nlp.get_pipe("constituency").labels == ()


def test_universal_tags_can_be_looked_at() -> None:
    """Words that the model has never seen, so that the tags alone can tell."""
    universal = {"PN": "PRON", "VV": "VERB", "NN": "NOUN", "PU": "PUNCT", "JJ": "ADJ"}
    universal |= {"NR": "PROPN", "AD": "ADV", "VA": "VERB"}
    nlp = untrained(attribute="pos")
    gold = []
    for tree in GOLD:
        pos = [universal[tag] for tag in tree.tags]
        gold.append(Example(new_doc(nlp.vocab, tree.words, pos=pos), gold_doc(nlp.vocab, tree)))
    nlp.initialize(lambda: gold)
    for _ in range(8):
        nlp.update(gold)
    pos = [universal[tag] for tag in GOLD[0].tags]
    doc = nlp(new_doc(nlp.vocab, ["你", "找", "猫", "？"], pos=pos))
    assert read_phrases(doc) == phrases(GOLD[0])
    assert doc[:]._.parse_string.startswith("(IP (NP (PRON 你)) (VP (VERB 找)")


# Training -----------------------------------------------------------------------------------------


def test_each_gold_sentence_is_learned_by_itself() -> None:
    nlp = untrained()
    gold = Example(tagged_doc(nlp.vocab, *GOLD), gold_doc(nlp.vocab, *GOLD))
    assert nlp.get_pipe("constituency").gold(gold) == (GOLD, 0)
    # Also where the reference knows of no sentences.
    reference = tagged_doc(nlp.vocab, *GOLD)
    write_phrases(reference, phrases(*GOLD))
    gold = Example(tagged_doc(nlp.vocab, *GOLD), reference)
    assert nlp.get_pipe("constituency").gold(gold) == (GOLD, 0)


def test_tags_are_those_of_the_predicted_side() -> None:
    nlp = untrained()
    reference = gold_doc(nlp.vocab, GOLD[0])
    predicted = new_doc(nlp.vocab, GOLD[0].words, tags=["X", "Y", "", "Z"])
    pipe = nlp.get_pipe("constituency")
    (sentence,), _ = pipe.gold(Example(predicted, reference))
    assert sentence.tags == ("X", "Y", "", "Z")
    # They may change from pass to pass: what was compiled by the old ones is not used then.
    nlp.initialize(lambda: [Example(predicted, reference)])
    first = pipe._compile(Example(predicted, reference))
    assert pipe._compile(Example(predicted, reference))[0] is first[0]
    assert pipe._compile(Example(tagged_doc(nlp.vocab, GOLD[0]), reference))[0] is not first[0]


def test_sentences_that_are_left_out(caplog: pytest.LogCaptureFixture) -> None:
    nlp = untrained()
    # Of four sentences, one has other words in prediction, and one has no tree.
    reference = tagged_doc(nlp.vocab, *GOLD, sent_starts=starts(*GOLD))
    write_phrases(reference, [p for p in phrases(*GOLD) if not 4 <= p.begin < 8])
    words = ["我", "看书", "。", *[word for tree in GOLD[1:] for word in tree.words]]
    predicted = new_doc(nlp.vocab, words, tags=["T"] * len(words))
    kept, n_others = nlp.get_pipe("constituency").gold(Example(predicted, reference))
    assert [sentence.words for sentence in kept] == [tree.words for tree in GOLD[2:]]
    assert n_others == 2
    nlp.initialize(lambda: [Example(predicted, reference)])
    assert "2 of 4 training sentences have no tree, or not the words" in caplog.text


def test_groups_without_heads_are_not_learned_from() -> None:
    nlp = untrained()
    reference = gold_doc(nlp.vocab, GOLD[0])
    reference.spans["constituents"].attrs.clear()
    with pytest.raises(ValueError, match="has no head; give the index of the token in"):
        nlp.initialize(lambda: [Example(tagged_doc(nlp.vocab, GOLD[0]), reference)])


def test_a_corpus_without_tags_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    nlp = untrained()
    gold = [Example(new_doc(nlp.vocab, GOLD[0].words), gold_doc(nlp.vocab, GOLD[0]))]
    nlp.initialize(lambda: gold)
    assert "no word of the training corpus has a tag" in caplog.text


def test_settings_that_are_refused() -> None:
    model = untrained().get_pipe("constituency").model
    for settings, message in (
        ({"attribute": "both"}, "the pipe 'c': attribute must be one of tag, pos.*, got 'both'"),
        ({"sentences": "none"}, "sentences must be one of .*, got 'none'"),
        ({"dependencies": "ud"}, "dependencies must be one of model, ctb, .*, got 'ud'"),
    ):
        with pytest.raises(ValueError, match=message):
            StructregConstituency(Vocab(), model, "c", **settings)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"'c' is 'linear', none of .*Constituency"):
        StructregConstituency(Vocab(), Linear(), "c")


def test_conventions_of_the_scorer_are_those_of_the_figures() -> None:
    assert set(CONVENTIONS) == set(constituents.CONVENTIONS)
