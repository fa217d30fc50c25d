"""The dependency parser: what it learns, keeps, refuses and writes into files."""

from __future__ import annotations

import logging
import pickle
import random
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from example_counts import quick_examples
from hypothesis import given
from hypothesis import strategies as st
from looped import looped
from parser_twins import all_trees, is_tree, random_tree

from spacy_structreg.corpora.dependencies import DEPENDENCY, ROOT, Parse
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.learn import learning_settings as learn_settings
from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.learn.model_file import State, parse_model
from spacy_structreg.metrics.dependencies import score_parses
from spacy_structreg.models.dependencies import (
    SYSTEMS,
    DependencyParser,
)

PLAIN = Learning()


def tree(text: str) -> Sentence:
    """A sentence of word/tag/head/label, heads counted from 1, 0 for the root, _ for unknown."""
    words, tags, heads, labels = zip(*(item.split("/") for item in text.split()), strict=True)
    return Sentence(
        words,
        tags,
        tuple(None if head == "_" else int(head) - 1 for head in heads),
        tuple(None if label == "_" else label for label in labels),
    )


CORPUS = [
    tree("the/D/2/det dog/N/3/nsubj walks/V/0/root"),
    tree("a/D/3/det big/A/3/amod dog/N/4/nsubj sees/V/0/root the/D/6/det cat/N/4/obj"),
    tree("dogs/N/2/nsubj walk/V/0/root home/N/2/advmod ./P/2/punct"),
    tree("see/V/0/root the/D/4/det old/A/4/amod house/N/1/obj of/I/6/case dogs/N/4/nmod"),
    tree("cats/N/2/nsubj see/V/0/root and/C/4/cc walk/V/2/conj"),
    tree("狗/N/2/nsubj 走/V/0/root"),
]
LABELS = ("advmod", "amod", "case", "cc", "conj", "det", "nmod", "nsubj", "obj", "punct")
VOCABULARY = sorted({(w, t) for s in CORPUS for w, t in zip(s.words, s.tags, strict=True)})
EACH_SYSTEM = looped("system", SYSTEMS)
# Two words of which one is lifted: the arc of the third crosses that of the fourth.
CROSSING = tree("a/D/3/det b/N/4/obj c/V/0/root d/N/3/obj")
SEVERAL_ROOTS = tree("walk/V/0/root see/V/0/root")


@cache
def fitted(system: str = "arc_eager", **changes: object) -> DependencyParser:
    """A parser that is trained once; tests that change weights take their own."""
    chosen = {"epochs": 6, "learning": PLAIN, "beam": 4, **changes}
    return DependencyParser(system=system, **chosen).fit(CORPUS)  # type: ignore[arg-type]


def queries(sentences: Sequence[Sentence]) -> list[tuple[list[str], list[str]]]:
    return [(list(sentence.words), list(sentence.tags)) for sentence in sentences]


def las(parser: DependencyParser) -> float | None:
    return parser.evaluate(CORPUS).as_dict()["dep_las"]


def random_query(draw: random.Random, n: int) -> tuple[list[str], list[str]]:
    pairs = draw.choices([*VOCABULARY, ("new", "N"), ("词", "X")], k=n)
    return [word for word, _ in pairs], [tag for _, tag in pairs]


# Learning -----------------------------------------------------------------------------------------


@EACH_SYSTEM
@looped("beam", [1, 4, None])
def test_learns_its_corpus(system: str, beam: int | None) -> None:
    corpus = CORPUS[:3] if beam is None else CORPUS
    chosen = "action: S0w N0w | S0t N0t N1t" if system == "arc_eager" else None
    if beam is None:
        # All analyses are looked at: of short sentences only.
        corpus = [CORPUS[0], CORPUS[5]]
    parser = DependencyParser(
        system=system,
        beam=beam,
        templates=chosen if beam is None else None,
        epochs=15,
        learning=PLAIN,
    )
    parser.fit(corpus)
    assert parser.predict_batch(queries(corpus)) == [Parse(s.heads, s.labels) for s in corpus]  # type: ignore[arg-type]


@EACH_SYSTEM
def test_without_labels_all_arcs_are_alike(system: str) -> None:
    corpus = [*CORPUS, tree("walk/V/0/_ home/N/1/_")]
    parser = DependencyParser(system=system, labeled=False, epochs=12, learning=PLAIN, beam=4)
    parser.fit(corpus)
    assert parser.labels == (DEPENDENCY,)
    for sentence, parse in zip(corpus, parser.predict_batch(queries(corpus)), strict=True):
        assert parse == Parse(sentence.heads, (DEPENDENCY,) * len(sentence.words))  # type: ignore[arg-type]


def test_without_labels_the_best_epoch_is_that_of_the_best_heads() -> None:
    parser = DependencyParser(labeled=False, epochs=12, learning=PLAIN, beam=4)
    parser.fit(CORPUS, CORPUS)
    # No label of the gold trees can be right.
    assert parser.evaluate(CORPUS).as_dict()["dep_las"] == 0.0
    assert parser.evaluate(CORPUS).as_dict()["dep_uas"] == 1.0


def test_dropout_hides_words_but_no_tags() -> None:
    hidden = Learning(dropout=1 - 1e-12)
    words = DependencyParser(templates="action: S0w | N0w | len(S0)", learning=hidden, beam=4)
    tags = DependencyParser(templates="action: S0t N0t", learning=hidden, beam=4)
    sentence = queries(CORPUS)[1]
    assert words.fit(CORPUS).nbest(*sentence, 1)[0][0] == 0.0
    assert tags.fit(CORPUS).nbest(*sentence, 1)[0][0] > 0.0


# What a corpus may hold ---------------------------------------------------------------------------


def test_the_log_counts_trees_that_are_no_projective_trees(
    caplog: pytest.LogCaptureFixture,
) -> None:
    parser = DependencyParser(epochs=12, learning=PLAIN, beam=4)
    with caplog.at_level(logging.INFO, "spacy_structreg"):
        parser.fit([*CORPUS, CROSSING, CROSSING, SEVERAL_ROOTS])
    (lifted,) = [r for r in caplog.records if "not projective" in r.message]
    (left_out,) = [r for r in caplog.records if "several roots" in r.message]
    assert lifted.message.startswith("2 trees")
    assert left_out.message.startswith("1 sentences")
    assert left_out.levelname == "WARNING"
    # The shorter of the two arcs, that of "b", hangs on the head of its head.
    assert parser.predict(CROSSING.words, CROSSING.tags).heads == (2, 2, ROOT, 2)
    caplog.clear()
    with caplog.at_level(logging.INFO, "spacy_structreg"):
        DependencyParser(epochs=1).fit(CORPUS)
    assert not caplog.records


def half_known(sentence: Sentence, draw: random.Random) -> Sentence:
    known = [draw.random() < 0.5 for _ in sentence.words]
    heads, labels = (
        tuple(each if is_known else None for each, is_known in zip(of, known, strict=True))
        for of in (sentence.heads, sentence.labels)
    )
    return Sentence(sentence.words, sentence.tags, heads, labels)


@EACH_SYSTEM
@looped("beam", [1, 4])
def test_trees_are_learned_from_parts_of_them(system: str, beam: int) -> None:
    draw = random.Random(1)
    parts = [half_known(sentence, draw) for sentence in CORPUS for _ in range(6)]
    parser = DependencyParser(system=system, epochs=15, learning=PLAIN, beam=beam).fit(parts)
    assert las(parser) == pytest.approx(1.0, abs=0.05)


@EACH_SYSTEM
def test_without_labels_heads_are_a_whole_tree(system: str) -> None:
    trained = [
        DependencyParser(system=system, epochs=3, beam=4, labeled=False).fit(corpus)
        for corpus in (CORPUS, [replace(s, labels=(None,) * len(s.words)) for s in CORPUS])
    ]
    assert arrays_of_model(trained[0]) == arrays_of_model(trained[1])


@looped(
    ("text", "labels"),
    [
        ("x/N/_/rare y/V/0/root", ("rare",)),
        ("x/N/_/root y/V/_/_", ("root",)),
        ("x/N/_/root y/V/0/root", ()),
        ("x/N/_/rare y/V/_/root z/V/0/root", ("rare",)),
        # Lifted, the first word has no head any more.
        ("a/N/3/det b/N/4/_ c/V/_/_ d/V/_/_", ("det",)),
        ("x/N/0/_ y/N/_/_", ()),
    ],
)
def test_labels_of_words_without_heads_count(text: str, labels: tuple[str, ...]) -> None:
    assert DependencyParser(epochs=2).fit([tree(text)]).labels == labels
    parser = DependencyParser(epochs=12, learning=PLAIN, beam=4).fit([*CORPUS, tree(text)])
    expected = set(labels) - {"root"}
    assert parser.labels == tuple(sorted({*LABELS, *expected}))
    assert las(parser) == pytest.approx(1.0, abs=0.05)


@looped("text", ["x/N/_/_ y/N/_/_", "x/N/0/root y/N/0/root"])
def test_there_must_be_a_tree_to_learn_from(text: str) -> None:
    with pytest.raises(ValueError, match="nothing in the training corpus that a parser could"):
        DependencyParser().fit([tree(text)])


def test_a_model_of_nothing_but_roots_has_no_labels() -> None:
    parser = DependencyParser(epochs=1).fit([tree("walk/V/0/root")])
    assert parser.labels == ()
    parse = parser.predict(["a", "b"], ["D", "N"])
    assert sorted(parse.labels) == ["", "root"]
    assert parser.predict(["a", "b"], ["D", "N"], given=([1, None], ["x", None])) == Parse(
        (1, ROOT), ("x", "root")
    )


def test_blank_words_are_no_words() -> None:
    # The dog hangs on a blank, which hangs on the verb.
    with_blanks = Sentence(
        (" ", "the", "\n", "dog", "\u3000", "walks"),
        ("", "D", "", "N", "", "V"),
        (5, 3, 5, 2, 5, ROOT),
        ("_", "det", "_", "nsubj", "_", "root"),
    )
    parser = DependencyParser(epochs=12, learning=PLAIN, beam=4).fit([*CORPUS, with_blanks])
    parse = parser.predict(with_blanks.words, with_blanks.tags)
    assert parse.heads == (1, 3, 1, 5, 3, ROOT)
    assert parse.labels == ("", "det", "", "nsubj", "", "root")
    assert parser.predict([" ", "\t", "\n"], ["", "", ""]).heads == (ROOT, 0, 1)
    assert [p for _, p in parser.nbest(list(with_blanks.words), list(with_blanks.tags), 1)] == [
        parse
    ]
    blank = Sentence((" ",), ("",), (ROOT,), ("root",))
    assert DependencyParser(epochs=1).fit([*CORPUS, blank]).labels == LABELS


def test_the_label_of_roots_is_the_most_frequent() -> None:
    def root_label(*labels: str) -> str:
        corpus = [tree(f"walk/V/0/{label} home/N/1/obj") for label in labels]
        return DependencyParser(epochs=1).fit(corpus).predict(["x"], ["V"]).labels[0]

    assert root_label("b", "a", "b") == "b"
    assert root_label("b", "a") == "a"


# Prediction ---------------------------------------------------------------------------------------


@EACH_SYSTEM
def test_without_a_limit_all_trees_are_found_once(system: str) -> None:
    """In arc-standard parsing several ways lead to most trees."""
    parser = DependencyParser(system=system, merge=False, beam=None, epochs=2, labeled=False)
    parser.fit([CORPUS[0], CORPUS[5]])
    found = parser.nbest(["the", "dog", "walks", "home"], ["D", "N", "V", "N"], 1_000)
    assert sorted(parse.heads for _, parse in found) == sorted(all_trees(4))


@EACH_SYSTEM
def test_a_backward_parser_does_what_a_forward_one_does_with_mirrored_sentences(
    system: str,
) -> None:
    def flipped(heads: Sequence[int | None]) -> tuple[int | None, ...]:
        n = len(heads)
        return tuple(h if h in (None, ROOT) else n - 1 - (h or 0) for h in reversed(heads))

    def turned_back(tree: Parse) -> Parse:
        return Parse(flipped(tree.heads), tree.labels[::-1])  # type: ignore[arg-type]

    corpus = [
        *CORPUS,
        CROSSING,
        replace(CORPUS[1], words=("the", " ", *CORPUS[1].words[2:])),
        replace(CORPUS[3], heads=(ROOT, None, None, 0, 5, 3)),
    ]
    turned = [
        Sentence(s.words[::-1], s.tags[::-1], flipped(s.heads), s.labels[::-1]) for s in corpus
    ]
    chosen: dict[str, Any] = {"system": system, "epochs": 3, "beam": 4, "learning": PLAIN}
    backward = DependencyParser(**chosen, backward=True, seed=0).fit(corpus)
    forward = DependencyParser(**chosen, seed=0).fit(turned)
    draw = random.Random(3)
    for n in range(1, 9):
        words, tags = random_query(draw, n)
        found = backward.nbest(words, tags, 3)
        wanted = forward.nbest(words[::-1], tags[::-1], 3)
        assert found == [(score, turned_back(tree)) for score, tree in wanted]
        assert backward.predict(words, tags) == found[0][1]
        heads, labels = random_tree(draw, n), [None] * n
        known = [head if draw.random() < 0.5 else None for head in heads]
        tree = backward.predict(words, tags, given=(known, labels))
        assert tree == turned_back(
            forward.predict(words[::-1], tags[::-1], given=(flipped(known), labels))
        )
        assert all(k in (None, h) for k, h in zip(known, tree.heads, strict=True))
    mirror, found = forward.explain(words[::-1], tags[::-1]), backward.explain(words, tags)
    assert found.text == " ".join(words)
    assert found.analysis.split() == mirror.analysis.split()[::-1]
    sides = {"ARC-LEFT": "ARC-RIGHT", "ARC-RIGHT": "ARC-LEFT"}
    assert [each.chosen.split() for each in found.decisions] == [
        [sides.get(part, part) for part in each.chosen.split()] for each in mirror.decisions
    ]


def test_evaluate_counts_as_the_metric_does() -> None:
    gold = [*CORPUS, CROSSING, SEVERAL_ROOTS]
    parser = fitted()
    predicted = parser.predict_batch(queries(gold))
    assert parser.evaluate(gold) == score_parses(gold, predicted)
    assert parser.evaluate(gold, n_threads=2) == score_parses(gold, predicted)


# Given arcs ---------------------------------------------------------------------------------------


@EACH_SYSTEM
@looped("beam", [1, 4])
@given(draw=st.integers(0, 2**32 - 1).map(random.Random), n=st.integers(1, 14))
@quick_examples(40)
def test_given_arcs_stay(system: str, beam: int, draw: random.Random, n: int) -> None:
    parser = fitted(system, beam=beam)
    words, tags = random_query(draw, n)
    share = draw.choice([0.2, 0.5, 1.0])
    heads = [head if draw.random() < share else None for head in random_tree(draw, n)]
    labels = [draw.choice([None, "det", "obj", "unheard of"]) for _ in range(n)]
    parse = parser.predict(words, tags, given=(heads, labels))
    assert is_tree(parse.heads)
    assert all(wish in (None, head) for wish, head in zip(heads, parse.heads, strict=True))
    assert all(wish in (None, label) for wish, label in zip(labels, parse.labels, strict=True))
    # What is not given is a label of the model.
    assert set(parse.labels) <= {*LABELS, "root", "unheard of"}


@looped("n", [1, 2, 3, 4])
def test_arcs_are_refused_if_and_only_if_no_tree_has_them(n: int) -> None:
    """All that can be given of short sentences."""
    parser = fitted("arc_standard", beam=1)
    draw = random.Random(n)
    words, tags = random_query(draw, n)
    choices = [None, *range(ROOT, n)]
    for _ in range(150):
        heads = [draw.choice(choices) for _ in range(n)]
        fits = any(
            all(wish in (None, head) for wish, head in zip(heads, other, strict=True))
            for other in all_trees(n)
        )
        if fits:
            parse = parser.predict(words, tags, given=(heads, [None] * n))
            assert all(wish in (None, h) for wish, h in zip(heads, parse.heads, strict=True))
        else:
            with pytest.raises(ValueError, match=r"own head|circle|no projective tree"):
                parser.predict(words, tags, given=(heads, [None] * n))


@EACH_SYSTEM
@looped("backward", [False, True])
def test_labels_of_known_heads(system: str, backward: bool) -> None:
    parser = fitted(system=system, backward=backward)
    draw = random.Random(3)
    asked, heads, expected = [], [], []
    for _ in range(20):
        words, tags = zip(*draw.choices(VOCABULARY, k=draw.randint(1, 7)), strict=True)
        known = random_tree(draw, len(words))
        asked.append((words, tags))
        heads.append(known)
        expected.append(parser.predict(words, tags, given=(known, [None] * len(words))).labels)
    assert list(map(tuple, parser.predict_labels(asked, heads))) == expected
    for wrong in ([1, 0], [ROOT, ROOT], [1, ROOT, 0, 1], [2, 3, ROOT, 2]):
        n = len(wrong)
        with pytest.raises(ValueError, match=r"make no projective tree|form a cycle"):
            parser.predict_labels([(["cats"] * n, ["N"] * n)], [wrong])


def test_some_sentences_of_a_batch_have_given_arcs() -> None:
    parser = fitted()
    words, tags = ["the", "dog", "walks", "the", "dog"], ["D", "N", "V", "D", "N"]
    batch = [(words[:n], tags[:n]) for n in (3, 5, 1, 2, 5, 4)]
    known: list[Any] = [None, ([None, ROOT, None, 1, None], [None] * 5), None]
    known += [([1, None], ["det", None]), None, ([None, None, 3, None], [None] * 4)]
    alone = [parser.predict(*each, given=some) for each, some in zip(batch, known, strict=True)]
    assert alone[1] != alone[4]
    assert parser.predict_batch(batch, given=known) == alone


def test_given_arcs_that_are_none() -> None:
    parser = fitted()
    words, tags = ["the", "dog", "walks"], ["D", "N", "V"]
    for heads, message in (
        ([1, None, 3], "head 3 of word 2"),
        ([-2, None, None], "head -2 of word 0"),
        ([None, None], "2 heads"),
        ([ROOT, ROOT, None], "no projective tree"),
        ([1, 0, None], "circle"),
        ([None, 1, None], "word 1 is its own head; that of a root is -1"),
    ):
        with pytest.raises(ValueError, match=message):
            parser.predict(words, tags, given=(heads, [None] * 3))
    with pytest.raises(ValueError, match="1 labels"):
        parser.predict(words, tags, given=([None] * 3, ["det"]))
    not_known = [None] * 3
    for odd, message in (
        ([(0, 2)], r"\[\(0, 2\)\] is given, which is not a list of heads and one of labels"),
        ((not_known, None), "is not a list of heads and one of labels"),
        ((not_known, not_known, not_known), "is not a list of heads and one of labels"),
        ((["1", None, None], not_known), "the head '1' is given of word 0; give a number"),
        ((not_known, [None, 3, None]), "the label 3 is given of word 1; give a string"),
    ):
        with pytest.raises(ValueError, match=message):
            parser.predict(words, tags, given=odd)  # type: ignore[arg-type]
    nothing = (not_known, not_known)
    alone = parser.predict(words, tags)
    assert parser.predict_batch([(words, tags)] * 2, given=[None, nothing])[0] == alone
    with pytest.raises(ValueError, match="given for 1 sentences, but there are more"):
        parser.predict_batch([(words, tags)] * 2, given=[None])
    with pytest.raises(ValueError, match="given for more than the 1 sentences"):
        parser.predict_batch([(words, tags)], given=[None, None])


def test_tags_that_no_file_can_hold() -> None:
    parser = fitted()
    for predict in (parser.predict, lambda words, tags: parser.nbest(words, tags, 2)):
        with pytest.raises(ValueError, match=r"'N\\ud800' has a lone surrogate, U\+D800"):
            predict(["dog", "walks"], ["V", "N\ud800"])


def test_given_labels_of_roots_and_blanks_stay() -> None:
    words, tags = ["dogs", " ", "walk"], ["N", "", "V"]
    given_arcs = ([2, None, ROOT], ["topic", "space", "main"])
    parse = fitted().predict(words, tags, given=given_arcs)
    assert parse == Parse((2, 0, ROOT), ("topic", "space", "main"))


# Files --------------------------------------------------------------------------------------------


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the features of small corpora were many."""
    monkeypatch.setattr(learn_settings, "LEAST_PRUNED", 1)


def sizes(parser: DependencyParser) -> np.ndarray:
    """The absolute values of all weights."""
    return np.abs(parse_model(parser.to_bytes())[1]["0.values"])


def pruned_by_hand(parser: DependencyParser, prune: float) -> bytes:
    """The arrays of a model without its small weights."""
    arrays = parse_model(parser.to_bytes())[1]
    kept = np.abs(arrays["0.values"]) > np.float32(prune)
    rows = np.repeat(np.arange(len(arrays["0.keys"])), np.diff(arrays["0.starts"]))[kept]
    numbers, counts = np.unique(rows, return_counts=True)
    starts = np.concatenate(([0], np.cumsum(counts)))
    parts = (arrays["0.keys"][numbers], starts, arrays["0.columns"][kept], arrays["0.values"][kept])
    return b"".join(part.tobytes() for part in parts)


def arrays_of_model(parser: DependencyParser) -> bytes:
    arrays = parse_model(parser.to_bytes())[1]
    names = ("keys", "starts", "columns", "values")
    return b"".join(arrays[f"0.{name}"].tobytes() for name in names)


@pytest.mark.usefixtures("few")
@looped("n_models", [1, 3])
def test_small_weights_are_dropped_at_the_end(n_models: int) -> None:
    """Of one model, and of the mean of several, not before."""
    chosen: dict[str, Any] = {"epochs": 4, "beam": 4, "n_models": n_models}
    whole, pruned = (
        DependencyParser(learning=Learning(prune=prune), **chosen).fit(CORPUS)
        for prune in (0.0, 0.8)
    )
    assert arrays_of_model(pruned) == pruned_by_hand(whole, 0.8) != arrays_of_model(whole)
    assert sizes(pruned).min() > 0.8
    # What is averaged later, or goes on learning, is pruned by its settings too.
    again = DependencyParser.average([pruned, pruned.partial_fit(CORPUS)])
    assert again.learning.prune == 0.8 < sizes(again).min()
    assert sizes(pruned).min() > 0.8


def test_small_models_keep_all_weights() -> None:
    default, whole = (
        DependencyParser(learning=learning, epochs=4, beam=4).fit(CORPUS)
        for learning in (None, Learning())
    )
    assert default.learning.prune == 0.8
    assert arrays_of_model(default) == arrays_of_model(whole)
    assert sizes(default).min() < 0.8


def keys_of(parser: DependencyParser, state: State = "trained") -> set[int]:
    return set(parse_model(parser.to_bytes(state=state))[1]["0.keys"].tolist())


def test_rare_features_get_no_weights() -> None:
    learning = Learning(min_count=3)
    parser = DependencyParser(learning=learning, epochs=6, beam=4).fit(CORPUS)
    # Counted over the whole corpus, whether it is learned in portions or not.
    portions = DependencyParser(learning=learning, beam=4)
    portions.prepare(CORPUS)
    at_once = DependencyParser(learning=learning, beam=4)
    at_once.compile(CORPUS)
    for portion in (CORPUS[:3], CORPUS[3:], CORPUS):
        portions.learn(portions.compile(portion))
    known = keys_of(portions, "training")
    assert keys_of(parser) <= known == keys_of(at_once, "training")
    assert not keys_of(DependencyParser(epochs=6, beam=4).fit(CORPUS)) <= known
    # Nothing that comes later brings others, from a training or from its weights.
    for again in (
        DependencyParser.from_bytes(portions.to_bytes(state="training")),
        DependencyParser.from_bytes(portions.to_bytes()),
        pickle.loads(pickle.dumps(portions)),
    ):
        again.partial_fit([tree("new/N/2/nsubj words/V/0/root")])
        again.partial_fit(CORPUS)
        assert keys_of(again, "training") <= known
    assert las(parser) is not None


def test_features_are_counted_where_there_are_any() -> None:
    """Nothing is counted as long as there is no sentence, so that a training can still begin."""
    learning = Learning(min_count=3)
    expected = DependencyParser(learning=learning, beam=4).partial_fit(CORPUS)
    parser = DependencyParser(learning=learning, beam=4)
    parser.prepare([], labels=LABELS)
    assert parser.compile([]) == []
    parser.partial_fit(CORPUS)
    assert keys_of(parser, "training") == keys_of(expected, "training") != set()
    # Too rare are all features of one sentence, and partial trees are not counted.
    partial = [tree("dogs/N/2/nsubj walk/V/_/_")] * 99
    for few in (CORPUS[:1], partial):
        other = DependencyParser(learning=Learning(min_count=90), beam=4)
        for learn in (other.fit, other.prepare, other.partial_fit):
            with pytest.raises(ValueError, match="min_count is 90, but no feature"):
                learn(few)
            assert not other.is_training
