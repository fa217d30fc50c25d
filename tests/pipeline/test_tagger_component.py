"""The component that tags words: what it learns from Docs, what it writes, how it is saved."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import Linear

from spacy_structreg.models.tagging import Tagger
from spacy_structreg.pipeline.tagger import StructregTagger, score_tags

# Words, fine-grained tags and universal ones; 书 and "can" have two.
GOLD = [
    [("我", "PN", "PRON"), ("看", "VV", "VERB"), ("书", "NN", "NOUN"), ("。", "PU", "PUNCT")],
    [("他", "PN", "PRON"), ("书", "VV", "VERB"), ("字", "NN", "NOUN"), ("。", "PU", "PUNCT")],
    [("小王", "NR", "PROPN"), ("看", "VV", "VERB"), ("字", "NN", "NOUN"), ("。", "PU", "PUNCT")],
    [("是", "VC", "AUX"), ("我", "PN", "PRON"), ("的", "DEG", "PART"), ("书", "NN", "NOUN")],
]
WORDS = [[word for word, _, _ in sentence] for sentence in GOLD]
TAGS = [[tag for _, tag, _ in sentence] for sentence in GOLD]
POS = [[pos for _, _, pos in sentence] for sentence in GOLD]


def gold_doc(vocab: Vocab, number: int, **changes: Any) -> Doc:
    annotation = {"words": WORDS[number], "tags": TAGS[number], "pos": POS[number], **changes}
    spaces = [False] * len(annotation["words"])
    return Doc(vocab, spaces=spaces, **annotation)


def words_doc(nlp: Language, words: Sequence[str], **annotation: Any) -> Doc:
    return Doc(nlp.vocab, words=list(words), spaces=[False] * len(words), **annotation)


def examples(nlp: Language, **changes: Any) -> list[Example]:
    return [
        Example(words_doc(nlp, WORDS[number]), gold_doc(nlp.vocab, number, **changes))
        for number in range(len(GOLD))
    ]


def untrained(model: dict[str, Any] | None = None, **settings: Any) -> Language:
    nlp = spacy.blank("zh")
    architecture = {"@architectures": "spacy_structreg.Tagger.v1", "seed": 1, **(model or {})}
    nlp.add_pipe("structreg_tagger", name="tagger", config={"model": architecture, **settings})
    return nlp


def trained(passes: int = 12, **settings: Any) -> Language:
    nlp = untrained(**settings)
    gold = examples(nlp)
    nlp.initialize(lambda: gold)
    for _ in range(passes):
        nlp.update(gold)
    return nlp


def tags(doc: Doc) -> list[str]:
    return [token.tag_ for token in doc]


def pos(doc: Doc) -> list[str]:
    return [token.pos_ for token in doc]


@pytest.fixture(scope="module")
def nlp() -> Language:
    """A trained pipeline that no test changes."""
    return trained()


# What is written ----------------------------------------------------------------------------------


@pytest.mark.parametrize("attribute", ["tag", "pos", "both"])
def test_attributes(attribute: str) -> None:
    nlp = trained(attribute=attribute)
    for number, words in enumerate(WORDS):
        doc = nlp(words_doc(nlp, words))
        none = [""] * len(words)
        assert tags(doc) == (TAGS[number] if attribute != "pos" else none)
        assert pos(doc) == (POS[number] if attribute != "tag" else none)
    labels = nlp.get_pipe("tagger").labels
    expected = {
        "tag": {tag for _, tag, _ in chain.from_iterable(GOLD)},
        "pos": {p for _, _, p in chain.from_iterable(GOLD)},
        "both": {f"{tag}|{p}" for _, tag, p in chain.from_iterable(GOLD)},
    }
    assert labels == tuple(sorted(expected[attribute]))


@pytest.mark.parametrize("attribute", ["tag", "both"])
def test_white_space_has_the_tag_of_spacy(attribute: str) -> None:
    nlp = trained(attribute=attribute)
    doc = nlp(words_doc(nlp, ["我", " ", "看", "\n\n", "书", "。"]))
    assert tags(doc) == ["PN", "_SP", "VV", "_SP", "NN", "PU"]
    if attribute == "both":
        assert pos(doc)[1] == "SPACE"


def test_tags_that_are_there_stay_unless_they_are_to_be_overwritten() -> None:
    for overwrite in (False, True):
        nlp = trained(overwrite=overwrite)
        doc = nlp(words_doc(nlp, WORDS[0], tags=["", "XX", "VV", ""]))
        assert tags(doc) == (TAGS[0] if overwrite else ["PN", "XX", "VV", "PU"])


def test_given_tags_count_for_the_others() -> None:
    """The tag of a word that follows from the tag before it is found to fit one that is given."""
    nlp = untrained({"templates": "tag: t-1", "learning": {"@misc": "spacy_structreg.Learning.v1"}})
    words = ["a", "b"]
    gold = [
        Example(words_doc(nlp, words), words_doc(nlp, words, tags=pair))
        for pair in (["A", "B"], ["C", "D"])
    ]
    nlp.initialize(lambda: gold)
    for _ in range(10):
        nlp.update(gold)
    for first, second in (("A", "B"), ("C", "D")):
        assert tags(nlp(words_doc(nlp, words, tags=[first, ""]))) == [first, second]


def test_sentences_are_tagged_by_themselves() -> None:
    nlp = trained()
    words = WORDS[0] + WORDS[3]
    whole = nlp(words_doc(nlp, words))
    starts = [i in (0, len(WORDS[0])) for i in range(len(words))]
    parted = nlp(words_doc(nlp, words, sent_starts=starts))
    estimator = nlp.get_pipe("tagger").estimator
    assert tags(whole) == estimator.predict(words)
    assert tags(parted) == estimator.predict(WORDS[0]) + estimator.predict(WORDS[3])


# Training -----------------------------------------------------------------------------------------


def test_sentences_without_tags_are_left_out(caplog: pytest.LogCaptureFixture) -> None:
    nlp = untrained()
    gold = examples(nlp)
    gold[1] = Example(words_doc(nlp, WORDS[1]), gold_doc(nlp.vocab, 1, tags=[""] * 4))
    gold.append(Example(words_doc(nlp, [" "]), words_doc(nlp, [" "])))
    nlp.initialize(lambda: gold)
    assert "1 of 4 training sentences have no word with a tag" in caplog.text
    for _ in range(3):
        nlp.update(gold)
    twin = untrained()
    rest = [example for example in examples(twin) if example.reference.text != gold[1].text]
    twin.initialize(lambda: rest)
    for _ in range(3):
        twin.update(rest)
    assert nlp.get_pipe("tagger").to_bytes() == twin.get_pipe("tagger").to_bytes()
    # No tag at all is no error for a component that shares a corpus with others.
    assert nlp.update([Example(words_doc(nlp, ["x"]), words_doc(nlp, ["x"]))])["tagger"] == 0


def test_half_of_the_tags_of_each_doc_train() -> None:
    nlp = untrained()
    halves = [
        [tag if i % 2 == half else "" for i, tag in enumerate(sentence)]
        for sentence in TAGS
        for half in (0, 1)
    ]
    gold = [
        Example(words_doc(nlp, WORDS[i // 2]), gold_doc(nlp.vocab, i // 2, tags=half))
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
    assert nlp.get_pipe("tagger").to_bytes() == tagger.to_bytes()
    assert [tags(nlp(words_doc(nlp, words))) for words in WORDS] == TAGS
    # What is to be corrected at once must be whole.
    with pytest.raises(ValueError, match="annotated in part"):
        nlp.get_pipe("tagger").correct(gold)


def test_of_two_tags_both_must_be_known() -> None:
    nlp = untrained(attribute="both")
    doc = gold_doc(nlp.vocab, 0, pos=["PRON", "", "NOUN", ""], tags=["PN", "VV", "NN", ""])
    ((sentence,), n_others) = nlp.get_pipe("tagger").gold(Example(words_doc(nlp, WORDS[0]), doc))
    assert sentence == [("我", "PN|PRON"), ("看", None), ("书", "NN|NOUN"), ("。", None)]
    assert n_others == 0


def test_settings_that_are_refused() -> None:
    with pytest.raises(ValueError, match="'lemma' is not"):
        untrained(attribute="lemma")
    model = untrained().get_pipe("tagger").model
    with pytest.raises(ValueError, match=r"attribute must be one of tag, pos, both.*, got 'lemma'"):
        StructregTagger(Vocab(), model, attribute="lemma")
    with pytest.raises(ValueError, match=r"the pipe 'tagger' is 'linear', none of spacy_structreg"):
        StructregTagger(Vocab(), Linear(), "tagger")
    learning = {"@misc": "spacy_structreg.Learning.v1", "clock": "epochs"}
    nlp = untrained({"learning": learning})
    gold = examples(nlp)
    nlp.initialize(lambda: gold)
    with pytest.raises(ValueError, match="clock = 'epochs'"):
        nlp.update(gold)
    with pytest.raises(TypeError, match="not called as a layer"):
        nlp.get_pipe("tagger").model.predict([])


# Scores -------------------------------------------------------------------------------------------


def scored(nlp: Language, predicted: list[tuple[str, str]], **settings: Any) -> dict[str, Any]:
    """The scores of one predicted Doc against the first gold Doc."""
    doc = words_doc(nlp, [word for word, _ in predicted], tags=[tag for _, tag in predicted])
    return score_tags([Example(doc, gold_doc(nlp.vocab, 0, **settings))])


def test_accuracy_on_gold_words(nlp: Language) -> None:
    figures = scored(nlp, [("我", "PN"), ("看", "NN"), ("书", "NN"), ("。", "PU")])
    assert figures == {"tag_acc": 0.75, "tag_p": None, "tag_r": None, "tag_f": None}
    # A word whose tag nobody knows does not count.
    partial = scored(
        nlp, [("我", "PN"), ("看", "NN"), ("书", "NN"), ("。", "PU")], tags=["PN", "", "NN", "PU"]
    )
    assert partial["tag_acc"] == 1.0


def test_spans_on_other_words(nlp: Language) -> None:
    # Of four gold words and three predicted ones two are right, and one of these in its tag.
    figures = scored(nlp, [("我看", "PN"), ("书", "NN"), ("。", "NN")])
    assert figures["tag_acc"] is None
    assert figures["tag_p"] == pytest.approx(1 / 3)
    assert figures["tag_r"] == pytest.approx(1 / 4)
    assert figures["tag_f"] == pytest.approx(2 / 7)
    # spaCy would say 1.0 of a word that is cut into pieces of the right tag.
    cut = [("我", "PN"), ("看", "VV"), ("书", "NN"), ("。", "PU")]
    joined = words_doc(nlp, ["我看书", "。"], tags=["NN", "PU"])
    doc = words_doc(nlp, [w for w, _ in cut], tags=["NN"] * 3 + ["PU"])
    assert score_tags([Example(doc, joined)])["tag_r"] == 0.5
