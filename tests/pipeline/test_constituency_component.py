"""The component that finds constituents: what it learns from Docs, what it writes, its files."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest
from contract.components import PIPES
from small_pipeline import TAGS, WORDS, gold_doc, plain_doc
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_structreg.metrics import constituents
from spacy_structreg.pipeline.constituency import CONVENTIONS
from spacy_structreg.pipeline.constituency_documents import Phrase, read_phrases, write_phrases

pytestmark = pytest.mark.usefixtures("extensions")

untrained, trained = PIPES["constituency"].untrained, PIPES["constituency"].trained


def new_doc(vocab: Vocab, words: Sequence[str], **annotation: Any) -> Doc:
    return Doc(vocab, words=list(words), spaces=[False] * len(words), **annotation)


def phrases(*numbers: int) -> list[Phrase]:
    found = read_phrases(gold_doc(Vocab(), *numbers))
    assert found is not None
    return found


@pytest.fixture(scope="module")
def nlp() -> Language:
    """A trained pipeline that no test changes."""
    return trained()


# Annotation --------------------------------------------------------------------------------------


def test_attributes_lead_through_the_trees() -> None:
    nlp = trained()
    doc = nlp(plain_doc(nlp.vocab, 0))
    (sentence,) = doc.sents
    assert sentence._.labels == ("IP",)
    assert sentence._.parse_string == "(IP (NP (PN 我)) (VP (VV 看) (NN 书)) (PU 。))"
    assert [span.text for span in sentence._.children] == ["我", "看书", "。"]
    assert doc[2]._.parent.text == "看书"
    # Made once more, they are the same; elsewhere, they need another name.
    untrained()
    with pytest.raises(ValueError, match="is taken by another extension, or for another span"):
        untrained(spans_key="trees")
    assert untrained(extension_prefix="tree_", spans_key="trees")
    doc.spans["trees"] = [Span(doc, 0, 4, label="TOP")]
    assert doc[:]._.tree_labels == ("TOP",)


def test_white_space_is_not_shown(nlp: Language) -> None:
    words = [" ", "我", "\n\n", "看", " ", "书", "。", " "]
    tags = ["_SP", "PN", "_SP", "VV", "_SP", "NN", "PU", "_SP"]
    doc = nlp(new_doc(nlp.vocab, words, tags=tags))
    assert read_phrases(doc) == phrases(0)
    group = doc.spans["constituents"]
    assert [(span.label_, span.start, span.end) for span in group] == [
        *(("IP", 1, 7), ("NP", 1, 2), ("VP", 3, 6)),
    ]
    assert group.attrs["heads"] == [3, 1, 3]
    assert [sentence.text for sentence in doc.sents] == [doc.text]
    # Nor is that within words.
    doc = new_doc(nlp.vocab, ["\u3000我", "看", "书 ", "。\n"], tags=TAGS[0])
    assert read_phrases(nlp(doc)) == phrases(0)


def test_sentences_of_heads_are_left_to_the_heads() -> None:
    nlp = trained(sentences="punctuation")
    heads = {"heads": [0] * 13, "deps": ["ROOT", *["dep"] * 12]}
    doc = nlp(plain_doc(nlp.vocab, 0, 1, 2, **heads))
    assert read_phrases(doc) == phrases(0, 1, 2)
    assert len(list(doc.sents)) == 1


@pytest.mark.parametrize("sentences", ["doc", "punctuation"])
def test_what_is_there_stays(sentences: str) -> None:
    nlp = trained(sentences=sentences)
    # 看书。 is to be a phrase, and 我看 is none then.
    doc = plain_doc(nlp.vocab, 0)
    doc.spans["constituents"] = [Span(doc, 1, 4, label="NP"), Span(doc, 3, 4)]
    found = read_phrases(nlp(doc))
    assert found is not None
    assert ("NP", 1, 4) in [phrase[:3] for phrase in found]
    # One without a label gets one.
    assert all(phrase.label for phrase in found if phrase[1:3] == (3, 4))
    assert [phrase[1:3] for phrase in found].count((3, 4)) >= 1
    # Of trees that are whole, all stays as it is.
    for number in range(3):
        once = nlp(plain_doc(nlp.vocab, number))
        assert read_phrases(nlp(once)) == phrases(number)
    again = trained(sentences=sentences, overwrite=True)
    other = plain_doc(again.vocab, 0)
    other.spans["constituents"] = [Span(other, 1, 4, label="NP")]
    assert read_phrases(again(other)) == phrases(0)


def test_whole_trees_with_heads_stay_as_they_are(nlp: Language) -> None:
    draw = random.Random(1)
    words = draw.choices("我他看写书字大。", k=60)
    doc = new_doc(nlp.vocab, words, tags=draw.choices(["PN", "VV", "NN", "JJ"], k=60))
    once = read_phrases(nlp(doc))
    assert read_phrases(nlp(doc)) == once
    # With other heads than those of the model, and labels that it does not know.
    odd = [Phrase("S", 0, 4, 0), Phrase("NP", 0, 1, 0), Phrase("X", 1, 4, 3), Phrase("X", 1, 4, 3)]
    pair = plain_doc(nlp.vocab, 0, 1, sent_starts=[i in (0, 4) for i in range(9)])
    write_phrases(pair, odd)
    assert read_phrases(nlp(pair)) == [*odd, *phrases(0, 1)[3:]]
    # Heads that are not those of a part.
    write_phrases(pair, [Phrase("IP", 0, 4, 1), Phrase("VP", 1, 3, 2)])
    with pytest.raises(ValueError, match="headed by word 1, which is not the head of its part"):
        nlp(pair)
    # A constituent of two sentences.
    pair.spans["constituents"] = [Span(pair, 2, 6, label="NP")]
    with pytest.raises(
        ValueError, match=r"cannot keep NP in .* goes beyond the sentence '我看书。'"
    ):
        nlp(pair)


def test_constituents_that_are_there_are_not_cut() -> None:
    nlp = trained(sentences="punctuation")
    doc = plain_doc(nlp.vocab, 0, 1, 2)
    doc.spans["constituents"] = [Span(doc, 2, 6, label="NP")]
    doc = nlp(doc)
    assert [sentence.start for sentence in doc.sents] == [0, 9]
    assert [len(span) for span in doc.spans["constituents"] if span.label_ == "IP"][:1] == [9]


@pytest.mark.parametrize("dependencies", ["model", "ctb", "ptb"])
def test_dependencies(dependencies: str) -> None:
    """White space hangs on the token before it."""
    nlp = trained(dependencies=dependencies, sentences="punctuation")
    words, tags = [" ", *WORDS[0], "\n", *WORDS[1]], ["_SP", *TAGS[0], "_SP", *TAGS[1]]
    doc = nlp(new_doc(nlp.vocab, words, tags=tags))
    # The rules of the Penn Treebank know no IP, VV and PU: its last part is the head of IP,
    # and ADJP that of VP, if there is one.
    heads = {"ptb": [1, 4, 3, 4, 4, 4, 10, 8, 10, 8, 10]}.get(
        dependencies, [1, 2, 2, 2, 2, 4, 7, 7, 7, 7, 7]
    )
    assert [token.head.i for token in doc] == heads
    assert [token.dep_ for token in doc] == [
        "ROOT" if head == i else "dep" for i, head in enumerate(heads)
    ]
    assert [sentence.start for sentence in doc.sents] == [0, 6]
    blank = nlp(new_doc(nlp.vocab, [" ", "\n"]))
    assert [(token.head.i, token.dep_) for token in blank] == [(0, "ROOT"), (0, "dep")]
    assert len(nlp(new_doc(nlp.vocab, []))) == 0


# Training ----------------------------------------------------------------------------------------


def test_what_is_learned_from() -> None:
    pipe = untrained().get_pipe("pipe")
    # Also where the reference knows of no sentences.
    reference = plain_doc(Vocab(), 0, 1, 2)
    write_phrases(reference, phrases(0, 1, 2))
    gold, n_others = pipe.gold(Example(plain_doc(Vocab(), 0, 1, 2), reference))
    assert [sentence.words for sentence in gold] == [*map(tuple, WORDS)]
    assert n_others == 0
    # A sentence without a tree is left out.
    write_phrases(reference, [p for p in phrases(0, 1, 2) if not 4 <= p.begin < 9])
    for i in range(13):
        reference[i].is_sent_start = i in (0, 4, 9)
    gold, n_others = pipe.gold(Example(plain_doc(Vocab(), 0, 1, 2), reference))
    assert [sentence.words for sentence in gold] == [tuple(WORDS[0]), tuple(WORDS[2])]
    assert n_others == 1
    # Heads are needed.
    reference.spans["constituents"].attrs.clear()
    with pytest.raises(ValueError, match="has no head; give the index of the token in"):
        pipe.initialize(lambda: [Example(plain_doc(reference.vocab, 0, 1, 2), reference)])


def test_conventions_of_the_scorer_are_those_of_the_figures() -> None:
    assert set(CONVENTIONS) == set(constituents.CONVENTIONS)
