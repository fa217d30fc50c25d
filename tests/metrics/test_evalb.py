"""Figures of phrase structure trees against worked examples and a plain second count."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from looped import looped
from random_trees import sentences_with_trees

from spacy_structreg.corpora.constituents import ConstituencySentence, Constituent
from spacy_structreg.metrics.constituents import (
    CONVENTIONS,
    Conventions,
    score_brackets,
)


def tree(tagged: str, phrases: str) -> ConstituencySentence:
    """From words written word/TAG, and phrases written LABEL begin end head; in pre-order."""
    pairs = [pair.split("/") for pair in tagged.split()]
    return ConstituencySentence(
        tuple(word for word, _ in pairs),
        tuple(tag for _, tag in pairs),
        tuple(
            Constituent(label, *map(int, numbers))
            for label, *numbers in (phrase.split() for phrase in phrases.split(";"))
        ),
    )


def test_worked_by_hand() -> None:
    gold = tree(
        "the/DT cat/NN sat/VBD up/RP on/IN mats/NNS ./.",
        "S 0 7 2; NP 0 2 1; VP 2 6 2; PRT 3 4 3; PP 4 6 4; NP 5 6 5",
    )
    # The full stop in a second VP; 'up on mats' together; the head of PP is its noun.
    predicted = tree(
        "the/DT cat/NN sat/VBN up/RB on/IN mats/NNS ./:",
        "S 0 7 2; NP 0 2 1; VP 2 7 2; VP 2 6 2; ADVP 3 6 5; PP 4 6 5; NP 5 6 5",
    )
    # Without the full stop both VP are (2, 6), and one of them is right. ADVP holds PRT.
    scores = score_brackets([gold], [predicted])
    counts = {
        "gold": 6,
        "predicted": 7,
        "correct": 5,
        "crossing": 0,
        "sentences": 1,
        "complete": 0,
        "uncrossed": 1,
    }
    counts |= {f"{name}_40": count for name, count in counts.items()}
    assert scores.counts == dict(counts, words=6, tags=4, heads=4)
    assert scores.as_dict() == {
        "brackets_p": pytest.approx(5 / 7),
        "brackets_r": pytest.approx(5 / 6),
        "brackets_f": pytest.approx(10 / 13),
        "brackets_complete": 0,
        "brackets_crossing": 0,
        "brackets_no_crossing": 1,
        "brackets_p_40": pytest.approx(5 / 7),
        "brackets_r_40": pytest.approx(5 / 6),
        "brackets_f_40": pytest.approx(10 / 13),
        "brackets_complete_40": 0,
        "brackets_crossing_40": 0,
        "brackets_no_crossing_40": 1,
        "tag_acc": pytest.approx(4 / 6),
        "head_acc": pytest.approx(4 / 5),
    }
    # With it, the outer VP is wrong, the inner one right; and so is the tag of the full stop wrong.
    plain = score_brackets([gold], [predicted], CONVENTIONS["plain"])
    assert plain.counts == dict(counts, words=7, tags=4, heads=4)


@looped(
    ("phrases", "correct", "predicted", "crossing"),
    [
        ("S 0 5 2; NP 0 2 1; VP 2 4 2; PRT 3 4 3", 4, 4, 0),
        ("S 0 5 2; NP 0 2 1; VP 2 4 2; ADVP 3 4 3", 4, 4, 0),
        ("S 0 5 2; NP 0 2 1; VP 2 5 2; PRT 3 5 3", 4, 4, 0),
        ("S 0 5 2; NP 0 3 2; NP 0 2 1; PRT 3 4 3", 3, 4, 1),
        ("S 0 5 2; VP 1 4 2; VP 1 3 2", 1, 3, 2),
        ("S 0 5 2", 1, 1, 0),
        ("S 0 5 2; S 0 5 2; NP 0 2 1; NP 0 2 1; VP 2 4 2; PRT 3 4 3", 4, 6, 0),
        ("S-X 0 5 2; NP-SBJ=1 0 2 1; VP 2 4 2; PRT 3 4 3", 4, 4, 0),
        ("S 0 5 2; VP 2 4 2; X 4 5 4", 2, 2, 0),
        ("TOP 0 5 2; TOP 0 4 2; X 1 3 2", 0, 1, 1),
        ("S 0 5 2; NP 0 3 2; NP 1 3 2; VP 3 5 3; PRT 3 4 3; ADVP 3 4 3", 2, 6, 2),
    ],
)
def test_the_counts_of_evalb_itself(
    phrases: str, correct: int, predicted: int, crossing: int
) -> None:
    """What the program printed of these trees, with COLLINS.prm."""
    gold = tree("the/DT dog/NN ran/VBD away/RP ./.", "S 0 5 2; NP 0 2 1; VP 2 4 2; PRT 3 4 3")
    found = tree("the/DT dog/NN ran/VBD away/RB ./.", phrases)
    scores = score_brackets([gold], [found])
    assert (scores.correct, scores.gold, scores.predicted) == (correct, 4, predicted)
    assert (scores.crossing, scores.words, scores.tags) == (crossing, 4, 3)


def test_equal_brackets_count_as_often_as_both_have_them() -> None:
    """EVALB's example of several brackets of one label over the same words."""
    once = tree("a/D man/N", "NP 0 2 1")
    twice = tree("a/D man/N", "NP 0 2 1; NP 0 2 1")
    more = score_brackets([once], [twice])
    assert (more.gold, more.predicted, more.correct, more.complete) == (1, 2, 1, 0)
    fewer = score_brackets([twice], [once])
    assert (fewer.gold, fewer.predicted, fewer.correct, fewer.complete) == (2, 1, 1, 0)
    assert score_brackets([twice], [twice]).complete == 1


def test_labels_that_are_one_and_the_same() -> None:
    gold = tree("go/VB on/RP", "VP 0 2 0; PRT 1 2 1")
    predicted = tree("go/VB on/RP", "VP-X 0 2 0; ADVP=2 1 2 1")
    assert score_brackets([gold], [predicted]).correct == 2
    assert score_brackets([gold], [predicted], CONVENTIONS["plain"]).correct == 1
    unlabeled = Conventions(labeled=False, ignored_labels={"ADVP"}, equal=({"ADVP", "X", "PRT"},))
    assert score_brackets([gold], [predicted], unlabeled).gold == 1
    assert score_brackets([gold], [predicted], Conventions(labeled=False)).correct == 2
    kept = tree("x/X", "-A-B 0 1 0")
    assert score_brackets([kept], [tree("x/X", "-A-C 0 1 0")]).correct == 0


def test_the_root_does_not_count() -> None:
    for root in ("ROOT", "TOP", "S1"):
        gold = tree("go/VB", f"{root} 0 1 0; S 0 1 0")
        assert {score_brackets([gold], [gold], c).gold for c in CONVENTIONS.values()} == {1}


def test_the_length_of_a_sentence_includes_punctuation() -> None:
    """As of EVALB, whose DELETE_LABEL_FOR_LENGTH names the empty terminals alone."""
    short = tree("go/VB ./. -/-NONE-", "S 0 3 0")
    conventions = Conventions(removed_tags={"."}, cutoff=2)
    assert score_brackets([short], [short], conventions).sentences_2 == 1
    assert score_brackets([short], [short], conventions).as_dict()["brackets_f_2"] == 1
    long = tree("go/VB ./. ./.", "S 0 3 0")
    scores = score_brackets([long, short], [long, short], conventions)
    assert (scores.sentences, scores.sentences_2) == (2, 1)


def test_gold_tags_decide_what_is_punctuation() -> None:
    gold = tree("我/PN ，/PU 来/VV", "IP 0 3 2; NP 0 1 0")
    predicted = tree("我/PU ，/NN 来/VV", "IP 0 3 2; NP 0 2 0")
    scores = score_brackets([gold], [predicted], CONVENTIONS["no_pu"])
    assert (scores.correct, scores.words, scores.tags) == (2, 2, 1)
    # EVALB knows no tag PU.
    scores = score_brackets([gold], [predicted])
    assert (scores.correct, scores.words, scores.tags) == (1, 3, 1)


def test_sentences_of_punctuation_and_none_at_all() -> None:
    nothing = tree("./. ./.", "S 0 2 0")
    assert set(score_brackets([nothing], [nothing]).counts.values()) == {0}
    assert set(score_brackets([], []).as_dict().values()) == {None}
    bare = ConstituencySentence(("x",), ("X",), ())
    scores = score_brackets([bare], [bare])
    assert {name for name, count in scores.counts.items() if count} == {
        f"{name}{end}" for name in ("sentences", "complete", "uncrossed") for end in ("", "_40")
    } | {"words", "tags"}
    assert scores.as_dict()["brackets_f"] is None


def test_conventions_that_make_no_sense() -> None:
    with pytest.raises(ValueError, match="cutoff is 0"):
        Conventions(cutoff=0)
    with pytest.raises(ValueError, match="'B' is in two sets of equal labels"):
        Conventions(equal=({"A", "B"}, {"B", "C"}))


def naive_scores(
    gold: list[ConstituencySentence],
    predicted: list[ConstituencySentence],
    conventions: Conventions,
) -> dict[str, Fraction | None]:
    """Brackets as sets of words, paired off one by one, all against all."""

    def same(one: str, other: str) -> bool:
        return one == other or any({one, other} <= set(group) for group in conventions.equal)

    def brackets(
        sentence: ConstituencySentence, words: set[int]
    ) -> list[tuple[str, set[int], int]]:
        found = []
        for phrase in sentence.constituents:
            covered = words & set(range(phrase.begin, phrase.end))
            ignored = any(same(phrase.label, label) for label in conventions.ignored_labels)
            if covered and not ignored:
                found.append((phrase.label, covered, phrase.head))
        return found

    def paired_off(
        wanted: list[tuple[str, set[int], int]],
        found: list[tuple[str, set[int], int]],
        *,
        heads: bool,
    ) -> int:
        left, right = list(found), 0
        for label, covered, head in wanted:
            for other in left:
                if (
                    (same(label, other[0]) or not conventions.labeled)
                    and covered == other[1]
                    and (head == other[2] or not heads)
                ):
                    left.remove(other)
                    right += 1
                    break
        return right

    totals = {"": [0] * 7, f"_{conventions.cutoff}": [0] * 7}
    n_words = n_tags = n_heads = 0
    for wanted_tree, found_tree in zip(gold, predicted, strict=True):
        words = {
            at for at, tag in enumerate(wanted_tree.tags) if tag not in conventions.removed_tags
        }
        if not words:
            continue
        wanted, found = brackets(wanted_tree, words), brackets(found_tree, words)
        right = paired_off(wanted, found, heads=False)
        crossing = sum(
            any(own & other and own - other and other - own for _, other, _ in wanted)
            for _, own, _ in found
        )
        figures = [
            len(wanted),
            len(found),
            right,
            crossing,
            1,
            right == len(wanted) == len(found),
            not crossing,
        ]
        for suffix, total in totals.items():
            if not suffix or len(wanted_tree.words) <= conventions.cutoff:
                for at, figure in enumerate(figures):
                    total[at] += figure
        n_words += len(words)
        n_tags += sum(same(wanted_tree.tags[at], found_tree.tags[at]) for at in words)
        n_heads += paired_off(wanted, found, heads=True)

    def ratio(part: int, whole: int) -> Fraction | None:
        return Fraction(part, whole) if whole else None

    scores = {}
    for suffix, (n_gold, n_found, right, crossing, sentences, complete, none) in totals.items():
        scores[f"brackets_p{suffix}"] = ratio(right, n_found)
        scores[f"brackets_r{suffix}"] = ratio(right, n_gold)
        scores[f"brackets_f{suffix}"] = ratio(2 * right, n_gold + n_found)
        scores[f"brackets_complete{suffix}"] = ratio(complete, sentences)
        scores[f"brackets_crossing{suffix}"] = ratio(crossing, sentences)
        scores[f"brackets_no_crossing{suffix}"] = ratio(none, sentences)
    scores["tag_acc"] = ratio(n_tags, n_words)
    scores["head_acc"] = ratio(n_heads, totals[""][2])
    return scores


@given(
    st.data(),
    st.builds(
        Conventions,
        labeled=st.booleans(),
        ignored_labels=st.sampled_from([frozenset({"S"}), frozenset({"PRT"}), frozenset()]),
        removed_tags=st.sampled_from([frozenset({",", "."}), frozenset()]),
        equal=st.sampled_from([({"ADVP", "PRT"}, {"NN", "VB"}), ()]),
        cutoff=st.integers(1, 7),
    ),
)
def test_equal_to_a_naive_count(data: st.DataObject, conventions: Conventions) -> None:
    gold = data.draw(st.lists(sentences_with_trees(), min_size=1, max_size=3))
    predicted = [data.draw(sentences_with_trees(sentence.words)) for sentence in gold]
    expected = naive_scores(gold, predicted, conventions)
    scores = score_brackets(gold, predicted, conventions).as_dict()
    assert scores == {
        key: None if figure is None else pytest.approx(float(figure))
        for key, figure in expected.items()
    }


def test_deep_trees_and_long_sentences() -> None:
    depth = 3_000
    words = " ".join(["a/X"] * depth)
    left = tree(words, ";".join(f"X 0 {end} 0" for end in range(depth, 1, -1)))
    right = tree(words, ";".join(f"X {begin} {depth} {depth - 1}" for begin in range(depth - 1)))
    scores = score_brackets([left], [right], CONVENTIONS["plain"])
    assert scores.correct == 1
    # All but the outermost cross.
    assert scores.crossing == depth - 2
    assert (scores.sentences_40, scores.heads) == (0, 0)
