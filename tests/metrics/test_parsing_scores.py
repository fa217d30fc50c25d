"""Figures of trees against worked examples, spaCy's own scorer and a plain second count."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_structreg.corpora.dependencies import ROOT, Parse
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.metrics.dependencies import (
    NO_PUNCTUATION,
    TextParsingScorer,
    is_punctuation,
    score_parses,
)
from spacy_structreg.metrics.figures import Counts, Scores


def counts_of(scores: Scores, end: str = "") -> dict[str, int]:
    """The counts of arcs that are not 0, with or without punctuation, by names without the end."""
    others = ("gold", "predicted", "correct", "oov", "oov_correct", "left_out")
    return {
        name.removesuffix(NO_PUNCTUATION): count
        for name, count in scores.counts.items()
        if count and name not in others and name.endswith(NO_PUNCTUATION) == bool(end)
    }


def sentence(
    tagged: str, heads: tuple[int | None, ...], labels: str | tuple[str | None, ...]
) -> Sentence:
    """From words written word/TAG."""
    pairs = [pair.split("/") for pair in tagged.split()]
    return Sentence(
        tuple(word for word, _ in pairs),
        tuple(tag for _, tag in pairs),
        heads,
        tuple(labels.split()) if isinstance(labels, str) else labels,
    )


GOLD = [
    sentence("我/PN 喝/VV 绿/JJ 茶/NN 。/PU", (1, -1, 3, 1, 1), "nsubj root amod obj punct"),
    sentence("好/VA ！/PU", (-1, 0), "root punct"),
]


def test_worked_by_hand_on_gold_words() -> None:
    predicted = [
        # 茶 is the root, and 喝 below it; 绿 has a wrong label, the full stop a wrong head.
        Parse((1, 3, 3, -1, 3), ("nsubj", "acl", "acl", "root", "punct")),
        Parse((-1, 0), ("root", "punct")),
    ]
    scores = score_parses(GOLD, predicted)
    assert counts_of(scores) == {
        "words": 7,
        "heads": 4,
        "labeled_words": 7,
        "labels": 3,
        "roots": 2,
        "root_heads": 1,
        "sentences": 2,
        "complete": 1,
    }
    assert counts_of(scores, NO_PUNCTUATION) == {
        "words": 5,
        "heads": 3,
        "labeled_words": 5,
        "labels": 2,
        "roots": 2,
        "root_heads": 1,
        "sentences": 2,
        "complete": 1,
    }
    assert scores.as_dict() == {
        "dep_uas": pytest.approx(4 / 7),
        "dep_las": pytest.approx(3 / 7),
        "dep_root": pytest.approx(1 / 2),
        "dep_nonroot": pytest.approx(3 / 5),
        "dep_complete": pytest.approx(1 / 2),
        "dep_uas_nopunct": pytest.approx(3 / 5),
        "dep_las_nopunct": pytest.approx(2 / 5),
        "dep_root_nopunct": pytest.approx(1 / 2),
        "dep_nonroot_nopunct": pytest.approx(2 / 3),
        "dep_complete_nopunct": pytest.approx(1 / 2),
    }
    assert scores.by_label == {
        "acl": Counts(gold=0, predicted=2, correct=0),
        "amod": Counts(gold=1, predicted=0, correct=0),
        "nsubj": Counts(gold=1, predicted=1, correct=1),
        "obj": Counts(gold=1, predicted=0, correct=0),
        "punct": Counts(gold=2, predicted=2, correct=1),
        "root": Counts(gold=2, predicted=2, correct=1),
    }
    punct = scores.by_label["punct"]
    assert (punct.p, punct.r, punct.f) == (0.5, 0.5, 0.5)
    assert scores.by_label["acl"].r is None


def test_a_sentence_may_be_complete_but_for_its_punctuation() -> None:
    scores = score_parses(GOLD[:1], [Parse((1, -1, 3, 1, 3), ("nsubj", "root", "x", "obj", "x"))])
    assert scores.as_dict()["dep_complete"] == 0
    assert scores.as_dict()["dep_complete_nopunct"] == 1


def test_punctuation_may_be_named_by_its_tags() -> None:
    tree = sentence("％/NN ，/PU ok/PU", (-1, 0, 0), "root punct punct")
    parse = Parse((-1, 0, 0), ("root", "punct", "punct"))
    assert score_parses([tree], [parse]).words_nopunct == 1
    by_tag = score_parses([tree], [parse], punctuation={"PU"})
    assert (by_tag.words_nopunct, by_tag.roots_nopunct) == (1, 1)
    unpunctuated = score_parses([tree], [parse], punctuation=frozenset())
    assert counts_of(unpunctuated, NO_PUNCTUATION) == counts_of(by_tag)


def test_punctuation_by_its_characters() -> None:
    assert all(map(is_punctuation, ["。", "……", "--", "``", "（", "$", "+", "“”"]))
    assert not any(map(is_punctuation, ["茶", "a.", "3", "№1", "①", "́"]))


def test_what_is_not_annotated_does_not_count() -> None:
    tree = sentence("我/PN 喝/VV 茶/NN 吧/SP", (1, None, 1, 1), ("nsubj", None, None, None))
    scores = score_parses([tree], [Parse((1, -1, 1, 0), ("obj", "root", "obj", "x"))])
    assert counts_of(scores) == {"words": 3, "heads": 2, "labeled_words": 1, "sentences": 1}
    figures = scores.as_dict()
    assert figures["dep_root"] is None
    assert figures["dep_nonroot"] == pytest.approx(2 / 3)
    assert scores.by_label == {"nsubj": Counts(1, 0, 0), "obj": Counts(0, 1, 0)}

    nothing = sentence("我/PN", (None,), (None,))
    assert set(score_parses([nothing], [Parse((-1,), ("root",))]).as_dict().values()) == {None}


@st.composite
def trees(draw: st.DrawFn, words: tuple[str, ...]) -> Sentence:
    """A tree with one root over the words."""
    order = draw(st.permutations(range(len(words))))
    heads = [ROOT] * len(words)
    for rank, word in enumerate(order[1:], start=1):
        heads[word] = order[draw(st.integers(0, rank - 1))]
    labels = tuple(
        "ROOT" if head == ROOT else draw(st.sampled_from(["subj", "obj"])) for head in heads
    )
    tags = tuple(draw(st.sampled_from("NV")) for _ in words)
    return Sentence(words, tags, tuple(heads), labels)


@st.composite
def trees_of_one_text(draw: st.DrawFn) -> tuple[list[Sentence], ...]:
    """Gold and predicted sentences of one text."""
    text = draw(st.text("ab。", min_size=1, max_size=9))

    def sentences() -> list[Sentence]:
        cuts = [i for i in range(1, len(text)) if draw(st.booleans())]
        bounds = [0, *cuts, len(text)]
        words = [text[a:b] for a, b in pairwise(bounds)]
        split = draw(st.integers(0, len(words) - 1))
        parts = [words[:split], words[split:]]
        return [draw(trees(tuple(part))) for part in parts if part]

    return sentences(), sentences()


@given(st.data(), st.lists(st.sampled_from(["a", "b", "。"]), min_size=1, max_size=9))
def test_gold_words_score_as_in_spacy(data: st.DataObject, words: list[str]) -> None:
    from spacy.scorer import Scorer
    from spacy.tokens import Doc
    from spacy.training import Example
    from spacy.vocab import Vocab

    gold, predicted = data.draw(trees(tuple(words))), data.draw(trees(tuple(words)))

    def doc(tree: Sentence) -> Doc:
        heads = [index if head == ROOT else head for index, head in enumerate(tree.heads)]
        return Doc(Vocab(), words=words, heads=heads, deps=tree.labels)

    found = Scorer.score_deps(
        [Example(doc(predicted), doc(gold))],
        "dep",
        getter=lambda token, _: token.dep_,
        ignore_labels=(),
    )
    scores = score_parses([gold], [Parse(predicted.heads, predicted.labels)])
    figures = scores.as_dict()
    assert figures["dep_uas"] == pytest.approx(found["dep_uas"])
    assert figures["dep_las"] == pytest.approx(found["dep_las"])
    per_type = found["dep_las_per_type"]
    for label, counts in scores.by_label.items():
        assert (counts.f or 0) == pytest.approx(per_type[label]["f"])


def score_text_parses(
    gold: list[list[Sentence]],
    predicted: list[list[Sentence]],
    vocabulary: set[str] | None = None,
) -> Scores:
    """The scores of predicted against gold texts."""
    scorer = TextParsingScorer(vocabulary)
    for texts in zip(gold, predicted, strict=True):
        scorer.add(*texts)
    return scorer.scores()


def test_worked_by_hand_on_raw_text() -> None:
    # 绿茶 is one word, with the head right; the full stop is a sentence of its own, so that its
    # head is wrong.
    predicted = [
        sentence("我/NN 喝/VV 绿茶/NN", (1, -1, 1), "nsubj root obj"),
        sentence("。/PU", (-1,), "root"),
    ]
    scores = score_text_parses([GOLD[:1]], [predicted], {"我", "喝", "茶"})
    assert (scores.gold, scores.predicted, scores.correct) == (5, 4, 3)
    assert scores.oov == 2
    # Both of the predicted sentences have a root; that of the first is right.
    counts = {"arc_gold": 5, "arc_predicted": 4, "tags": 2, "heads": 2, "labels": 2}
    assert counts_of(scores) == dict(counts, gold_roots=1, predicted_roots=2, roots=1)
    counts = {"arc_gold": 4, "arc_predicted": 3, "tags": 1, "heads": 2, "labels": 2}
    counts |= {"gold_roots": 1, "predicted_roots": 1, "roots": 1}
    assert counts_of(scores, NO_PUNCTUATION) == counts
    figures = scores.as_dict()
    assert figures["seg_f"] == pytest.approx(6 / 9)
    assert figures["oov_r"] == pytest.approx(1 / 2)
    assert figures["tag_f"] == pytest.approx(4 / 9)
    assert figures["uas_f"] == figures["las_f"] == pytest.approx(4 / 9)
    assert figures["uas_f_nopunct"] == pytest.approx(4 / 7)
    # Right with its head and no root: 我.
    assert figures["nonroot_f"] == pytest.approx(2 / (4 + 2))
    assert figures["nonroot_f_nopunct"] == pytest.approx(2 / (3 + 2))


def test_a_head_must_be_found_as_a_word_itself() -> None:
    gold = [sentence("我/PN 喝/VV 茶/NN", (1, -1, 1), "nsubj root obj")]
    predicted = [sentence("我/PN 喝茶/VV", (1, -1), "nsubj root")]
    # 我 is a word of both, but its heads 喝 and 喝茶 are not the same.
    assert counts_of(score_text_parses([gold], [predicted])) == {
        "arc_gold": 3,
        "arc_predicted": 2,
        "tags": 1,
        "gold_roots": 1,
        "predicted_roots": 1,
    }


@given(trees_of_one_text())
def test_raw_text_against_sets_of_spans(
    texts: tuple[list[Sentence], list[Sentence]],
) -> None:
    def items(
        sentences: list[Sentence], *, labeled: bool, nopunct: bool
    ) -> set[tuple[object, ...]]:
        found: set[tuple[object, ...]] = set()
        before = ""
        for tree in sentences:
            starts = [len(before + "".join(tree.words[:i])) for i in range(len(tree.words))]
            for index, word in enumerate(tree.words):
                if nopunct and not word.strip("。"):
                    continue
                head = tree.heads[index]
                at = (
                    "root" if head == ROOT else (starts[head], starts[head] + len(tree.words[head]))
                )
                label = tree.labels[index] if labeled else None
                found.add((starts[index], word, at, label))
            before += "".join(tree.words)
        return found

    gold, predicted = texts
    figures = score_text_parses([gold], [predicted]).as_dict()
    for labeled in (False, True):
        for nopunct in (False, True):
            wanted = items(gold, labeled=labeled, nopunct=nopunct)
            found = items(predicted, labeled=labeled, nopunct=nopunct)
            key = ("las_f" if labeled else "uas_f") + ("_nopunct" if nopunct else "")
            expected = 2 * len(wanted & found) / (len(wanted) + len(found) or 1)
            assert (figures[key] or 0) == pytest.approx(expected)
            if labeled:
                continue
            # Items are (start, word, head, label).
            wanted, found = (
                {item for item in items_ if item[2] != "root"} for items_ in (wanted, found)
            )
            expected = 2 * len(wanted & found) / (len(wanted) + len(found) or 1)
            key = "nonroot_f" + ("_nopunct" if nopunct else "")
            assert (figures[key] or 0) == pytest.approx(expected)


@given(st.data(), st.lists(st.sampled_from(["a", "bc", "。"]), min_size=1, max_size=9))
def test_on_gold_words_both_ways_of_scoring_agree(data: st.DataObject, words: list[str]) -> None:
    gold, predicted = data.draw(trees(tuple(words))), data.draw(trees(tuple(words)))
    on_words = score_parses([gold], [Parse(predicted.heads, predicted.labels)]).as_dict()
    on_text = score_text_parses([[gold]], [[predicted]]).as_dict()
    for suffix in ("", "_nopunct"):
        assert on_words[f"dep_uas{suffix}"] == on_text[f"uas_f{suffix}"]
        assert on_words[f"dep_las{suffix}"] == on_text[f"las_f{suffix}"]


def test_a_predicted_word_without_head_is_wrong() -> None:
    gold = [sentence("好/VA ！/PU", (-1, 0), "root punct")]
    predicted = [sentence("好/VA ！/PU", (None, None), (None, None))]
    counts = {"arc_gold": 2, "arc_predicted": 2, "tags": 2, "gold_roots": 1}
    assert counts_of(score_text_parses([gold], [predicted])) == counts


def test_texts_that_are_not_wholly_annotated_count_for_words_alone() -> None:
    whole = [sentence("好/VA ！/PU", (-1, 0), "root punct")]
    headless = [whole[0], sentence("好/VA ！/PU", (-1, None), "root punct")]
    tagless = [sentence("好/ ！/PU", (-1, 0), "root punct")]
    found = [sentence("好/VV ！/PU", (-1, 0), "root punct")]
    scores = score_text_parses([headless, whole, tagless], [found * 2, found, found])
    assert (scores.gold, scores.predicted, scores.correct) == (8, 8, 8)
    roots = {"gold_roots": 1, "predicted_roots": 1, "roots": 1}
    counts = dict(arc_gold=2, arc_predicted=2, tags=1, heads=2, labels=2, **roots)
    assert counts_of(scores) == counts
    counts = dict(arc_gold=1, arc_predicted=1, heads=1, labels=1, **roots)
    assert counts_of(scores, NO_PUNCTUATION) == counts
    assert scores.left_out == 2
    none = score_text_parses([tagless], [found])
    assert (none.as_dict()["seg_f"], none.as_dict()["uas_f"], none.left_out) == (1.0, None, 1)


def test_texts_that_differ_are_refused() -> None:
    whole = [sentence("好/VA ！/PU", (-1, 0), "root punct")]
    with pytest.raises(ValueError, match="differ at character offset 1"):
        score_text_parses([whole], [[sentence("好/VA", (-1,), "root")]])
