"""The component that tags words: what it learns from Docs, what it writes, its figures."""

from __future__ import annotations

from typing import Any

import pytest
from contract.components import PIPES
from small_pipeline import TAGS, UNIVERSAL, WORDS, examples, gold_doc, plain_doc
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_structreg.models.tagging import Tagger
from spacy_structreg.pipeline.tagger import score_tags

NUMBERS = range(len(WORDS))
POS = [[UNIVERSAL[tag] for tag in tags] for tags in TAGS]
VOCAB = Vocab()


def untrained(model: dict[str, Any] | None = None, **settings: Any) -> Language:
    return PIPES["tagger"].untrained(model, **{"attribute": "tag", **settings})


def trained(**settings: Any) -> Language:
    return PIPES["tagger"].trained(**{"attribute": "tag", **settings})


def words_doc(words: list[str], **annotation: Any) -> Doc:
    return Doc(VOCAB, words=words, spaces=[False] * len(words), **annotation)


def tags(doc: Doc) -> list[str]:
    return [token.tag_ for token in doc]


# Annotation --------------------------------------------------------------------------------------


@pytest.mark.parametrize("attribute", ["tag", "pos", "both"])
def test_attributes(attribute: str) -> None:
    nlp = trained(attribute=attribute)
    for number, words in enumerate(WORDS):
        doc = nlp(words_doc(words))
        none = [""] * len(words)
        assert tags(doc) == (TAGS[number] if attribute != "pos" else none)
        assert [token.pos_ for token in doc] == (POS[number] if attribute != "tag" else none)
    expected = {
        "tag": {*UNIVERSAL},
        "pos": {*UNIVERSAL.values()},
        "both": {f"{tag}|{pos}" for tag, pos in UNIVERSAL.items()},
    }
    assert nlp.get_pipe("pipe").labels == tuple(sorted(expected[attribute]))
    # White space has the tag of spaCy.
    doc = nlp(Doc(nlp.vocab, words=["我", " ", "看", "\n\n"]))
    assert tags(doc) == (["PN", "_SP", "VV", "_SP"] if attribute != "pos" else [""] * 4)
    if attribute == "both":
        assert doc[1].pos_ == "SPACE"


def test_tags_that_are_there_stay_unless_they_are_to_be_overwritten() -> None:
    for overwrite in (False, True):
        nlp = trained(overwrite=overwrite)
        doc = nlp(words_doc(WORDS[0], tags=["", "XX", "NN", ""]))
        assert tags(doc) == (TAGS[0] if overwrite else ["PN", "XX", "NN", "PU"])


def test_given_tags_count_for_the_others() -> None:
    """The tag of a word that follows from the tag before it is found to fit one that is given."""
    nlp = untrained({"templates": "tag: t-1", "learning": {"@misc": "spacy_structreg.Learning.v1"}})
    words = ["a", "b"]
    gold = [
        Example(words_doc(words), words_doc(words, tags=pair)) for pair in (["A", "B"], ["C", "D"])
    ]
    nlp.initialize(lambda: gold)
    for _ in range(10):
        nlp.update(gold)
    for first, second in (("A", "B"), ("C", "D")):
        assert tags(nlp(words_doc(words, tags=[first, ""]))) == [first, second]


# Training ----------------------------------------------------------------------------------------


def test_sentences_without_tags_are_left_out(caplog: pytest.LogCaptureFixture) -> None:
    nlp = untrained()
    gold = examples(nlp.vocab)
    left_out = [
        Example(words_doc(WORDS[1]), plain_doc(VOCAB, 1, tags=[""] * 5)),
        Example(words_doc([" "]), words_doc([" "])),
    ]
    nlp.initialize(lambda: [*gold, *left_out])
    assert "1 of 4 training sentences have no word with a tag" in caplog.text
    nlp.update([*gold, *left_out])
    assert nlp.get_pipe("pipe").to_bytes() == trained(passes=1).get_pipe("pipe").to_bytes()
    # No tag at all is no error for a component that shares a corpus with others.
    assert nlp.update([Example(words_doc(["x"]), words_doc(["x"]))])["pipe"] == 0


def test_half_of_the_tags_of_each_doc_train() -> None:
    nlp = untrained()
    halves = [
        [tag if i % 2 == half else "" for i, tag in enumerate(TAGS[number])]
        for number in NUMBERS
        for half in (0, 1)
    ]
    gold = [
        Example(words_doc(WORDS[i // 2]), plain_doc(nlp.vocab, i // 2, tags=half))
        for i, half in enumerate(halves)
    ]
    nlp.initialize(lambda: gold)
    pairs = [
        [(word, tag or None) for word, tag in zip(WORDS[i // 2], half, strict=True)]
        for i, half in enumerate(halves)
    ]
    tagger = Tagger(seed=1)
    tagger.prepare(pairs)
    for _ in range(12):
        nlp.update(gold)
        tagger.partial_fit(pairs)
    assert nlp.get_pipe("pipe").to_bytes() == tagger.to_bytes()
    assert [tags(nlp(words_doc(words))) for words in WORDS] == TAGS
    # What is to be corrected at once must be whole.
    with pytest.raises(ValueError, match="annotated in part"):
        nlp.get_pipe("pipe").correct(gold)


def test_of_two_tags_both_must_be_known() -> None:
    pipe = untrained(attribute="both").get_pipe("pipe")
    doc = plain_doc(VOCAB, 0, pos=["PRON", "", "NOUN", ""], tags=["PN", "VV", "NN", ""])
    ((sentence,), n_others) = pipe.gold(Example(words_doc(WORDS[0]), doc))
    assert sentence == [("我", "PN|PRON"), ("看", None), ("书", "NN|NOUN"), ("。", None)]
    assert n_others == 0


# Scores ------------------------------------------------------------------------------------------


def scored(predicted: str, gold: Doc) -> dict[str, Any]:
    """The scores of one Doc of words written word/TAG."""
    words, found = zip(*(pair.split("/") for pair in predicted.split()), strict=True)
    return score_tags([Example(words_doc([*words], tags=[*found]), gold)])


def test_accuracy_on_gold_words() -> None:
    figures = scored("我/PN 看/NN 书/NN 。/PU", gold_doc(VOCAB, 0))
    assert figures == {"tag_acc": 0.75, "tag_p": None, "tag_r": None, "tag_f": None}
    # A word whose tag nobody knows does not count.
    partial = plain_doc(VOCAB, 0, tags=["PN", "", "NN", "PU"])
    assert scored("我/PN 看/NN 书/NN 。/PU", partial)["tag_acc"] == 1.0


def test_spans_on_other_words() -> None:
    # Of four gold words and three predicted ones two are right, and one of these in its tag.
    figures = scored("我看/PN 书/NN 。/NN", gold_doc(VOCAB, 0))
    assert figures == {
        "tag_acc": None,
        "tag_p": pytest.approx(1 / 3),
        "tag_r": pytest.approx(1 / 4),
        "tag_f": pytest.approx(2 / 7),
    }
    # spaCy would say 1.0 of a word that is cut into pieces of the right tag.
    joined = words_doc(["我看书", "。"], tags=["NN", "PU"])
    assert scored("我/NN 看/NN 书/NN 。/PU", joined)["tag_r"] == 0.5
