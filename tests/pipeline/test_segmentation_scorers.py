"""The scorer of segmentation against figures worked by hand."""

from __future__ import annotations

import pytest
import spacy
from looped import looped
from pipeline.made_up import CONFIG, JOINT_CONFIG, gold_doc
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import registry
from spacy.vocab import Vocab

from spacy_structreg.pipeline.tokenizer_tasks import score_joint, score_segmentation

VOCAB = Vocab()
NONE = dict.fromkeys(("token_acc", "token_p", "token_r", "token_f", "seg_p", "seg_r", "seg_f"))


def doc(words: str) -> Doc:
    """A Doc from words with a slash between them; `␣` behind a word is its space."""
    parts = words.split("/") if words else []
    spaces = [part.endswith("␣") for part in parts]
    return Doc(VOCAB, words=[part.removesuffix("␣") for part in parts], spaces=spaces)


def score(*pairs: tuple[str, str]) -> dict[str, float | None]:
    """The figures of pairs of gold and predicted words."""
    return score_segmentation(Example(doc(predicted), doc(gold)) for gold, predicted in pairs)


def test_docs_are_pooled() -> None:
    # 0 of 2 and 4, 2 of 3 and 4, 1 of 1 and 1: 3 right of 6 gold and 9 predicted words. spaCy's own
    # accuracy asks only whether each of 中/国/经/济 lies in one gold word.
    figures = score(
        ("中国/经济", "中/国/经/济"), ("中国/经济/发展", "中国/经/济/发展"), ("好", "好")
    )
    assert figures["seg_p"] == pytest.approx(3 / 9)
    assert figures["seg_r"] == pytest.approx(3 / 6)
    assert figures["seg_f"] == figures["token_f"] == pytest.approx(6 / 15)
    assert score_segmentation([]) == NONE


@looped(
    ("gold", "predicted"),
    [
        ("中国␣/经济", "中国␣/经济"),
        ("中国/ /经济", "中国␣/经济"),
        ("中国␣/ \n/经济/\n", "中国␣/ \n/经济/\n"),
        # Gold words without the spaces of the source, as segmented text gives them.
        ("中国/经济", "中国␣/经济"),
        ("中国/经济", "\n/中国/ \n/经济"),
    ],
)
def test_white_space_is_no_word(gold: str, predicted: str) -> None:
    figures = score((gold, predicted))
    assert (figures["seg_p"], figures["seg_r"], figures["seg_f"]) == (1, 1, 1)
    wrong = score((gold, predicted), ("经济", "经/济"))
    assert (wrong["seg_p"], wrong["seg_r"]) == (2 / 4, 2 / 3)


def test_white_space_within_a_gold_word_does_not_count() -> None:
    # The gold word New York is not found, 去 is.
    figures = score(("去/New York", "去/New␣/York"))
    assert (figures["seg_p"], figures["seg_r"], figures["seg_f"]) == (1 / 3, 1 / 2, 2 / 5)


def test_references_that_do_not_know_their_spaces_are_left_out() -> None:
    unknown = Doc(VOCAB, words=["中国", "经济"])
    assert unknown.has_unknown_spaces
    # Its text is 中国 经济, which would give the words away.
    left_out = Example(doc("中国␣/经济"), unknown)
    assert score_segmentation([left_out]) == NONE
    counted = Example(doc("经/济/发展"), doc("经济/发展"))
    assert score_segmentation([left_out, counted]) == score_segmentation([counted])
    assert score_segmentation([left_out, counted])["seg_f"] == pytest.approx(2 / 5)


def test_another_text_is_an_error() -> None:
    with pytest.raises(ValueError, match="differ at character offset 3"):
        score(("中国/经济", "中国/经纪"))


def test_the_registered_scorer_and_the_tokenizer_give_these_figures() -> None:
    nlp = spacy.blank("zh", config=CONFIG)
    gold = [["中国", "经济"], ["好"]]
    examples = [Example(nlp.make_doc("".join(w)), gold_doc(nlp.vocab, w)) for w in gold]
    # Untrained, every character is a word: 1 right of 3 gold and 5 predicted.
    expected = {"seg_p": 1 / 5, "seg_r": 1 / 3, "seg_f": 2 / 8}
    make = registry.scorers.get("spacy_structreg.segmentation_scorer.v1")
    for figures in (make()(examples), nlp.tokenizer.score(examples), nlp.evaluate(examples)):
        assert {key: figures[key] for key in expected} == pytest.approx(expected)
        assert figures["token_f"] == pytest.approx(2 / 8)


# Words with their tags ---------------------------------------------------------------------------


def tagged(text: str) -> Doc:
    """A Doc of words with tags: 中国_NR/经济_NN."""
    words, tags = zip(*(part.split("_") for part in text.split("/")), strict=True)
    return gold_doc(VOCAB, list(words), tags=list(tags))


def joint(*pairs: tuple[str, str]) -> dict[str, object]:
    return score_joint(Example(tagged(predicted), tagged(gold)) for gold, predicted in pairs)


@looped(
    ("gold", "predicted", "p", "r"),
    [
        ("中国_NR/经济_NN", "中国_NR/经济_VV", 1 / 2, 1 / 2),
        # Every one of 中/国/经/济 has the tag of the gold word that it lies in.
        ("中国_NR/经济_NN", "中_NR/国_NR/经_NN/济_NN", 0, 0),
        ("中国_NR/经济_NN", "中国_NR/经_NN/济_NN", 1 / 3, 1 / 2),
    ],
)
def test_words_count_with_their_tags(gold: str, predicted: str, p: float, r: float) -> None:
    figures = joint((gold, predicted))
    f = 2 * p * r / (p + r) if p + r else 0.0
    assert [figures["joint_p"], figures["joint_r"], figures["joint_f"]] == pytest.approx([p, r, f])
    words = score_segmentation([Example(tagged(predicted), tagged(gold))])
    assert {key: figures[key] for key in words} == words
    # A figure of gold words, which a segmented text cannot have.
    assert "tag_acc" not in figures


def test_gold_docs_without_tags_count_for_words_alone() -> None:
    untagged = Example(tagged("中_NR/国_NR"), gold_doc(VOCAB, ["中国"]))
    figures = score_joint([untagged])
    assert (figures["seg_f"], figures["joint_f"]) == (0.0, None)
    right = Example(tagged("好_VA"), tagged("好_VA"))
    figures = score_joint([untagged, right])
    # 1 right of 2 gold and 3 predicted words; and of the tagged Doc, 1 of 1.
    assert figures["seg_f"] == pytest.approx(2 / 5)
    assert figures["joint_f"] == 1.0


def test_the_joint_scorer_is_registered_and_the_tokenizers() -> None:
    nlp = spacy.blank("zh", config=JOINT_CONFIG)
    reference = tagged("中国_NR/好_VA")
    examples = [Example(nlp.make_doc("中国好"), reference)]
    make = registry.scorers.get("spacy_structreg.joint_scorer.v1")
    for figures in (make()(examples), nlp.tokenizer.score(examples), nlp.evaluate(examples)):
        # Untrained: 好 is a word of the three, and has no tag.
        assert (figures["seg_p"], figures["joint_f"]) == (pytest.approx(1 / 3), 0.0)


def test_the_scorer_of_a_task_reads_the_settings_of_the_component() -> None:
    make = registry.scorers.get("spacy_structreg.task_scorer.v1")
    gold = Doc(VOCAB, words=["好", "书"], tags=["VA", "NN"], pos=["ADJ", "NOUN"])
    found = Doc(VOCAB, words=["好", "书"], tags=["VA", "NN"], pos=["ADJ", "VERB"])
    examples = [Example(found, gold)]
    assert make("tagging")(examples)["tag_acc"] == 1.0
    assert make("tagging")(examples, attribute="pos")["pos_acc"] == 0.5
    # With figures of each label.
    gold.cats, found.cats = {"good": 1.0}, {"good": 0.25, "bad": 0.75}
    figures = make("classification")(examples)
    assert figures["cats_acc"] == 0.0
    assert figures["cats_f_per_type"]["bad"] == {"p": 0.0, "r": None, "f": 0.0}
    with pytest.raises(ValueError, match=r"'dance' is no task; there are segmentation, joint, "):
        make("dance")
