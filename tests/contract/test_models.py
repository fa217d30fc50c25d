"""What is promised of every model, as scikit-learn's `check_estimator` checks it.

A model's own tests hold what is its own.
"""

from __future__ import annotations

import copy
import math
import multiprocessing
import pickle
from collections.abc import Callable, Iterator
from dataclasses import FrozenInstanceError
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from child_pickles import for_a_child
from crafted import entry as entry_of
from crafted import tampered
from looped import looped
from models import (
    KINDS,
    NO_KINDS,
    NO_TEXT,
    NOISY,
    TEXTS,
    TOPICS,
    TRAINED_APART,
    again,
    answers,
    can_say_probabilities,
    data_of,
    running_data,
    trained,
)

import spacy_structreg
from spacy_structreg.learn.learning_settings import Learning, LogLinear
from spacy_structreg.learn.model_file import parse_model
from spacy_structreg.learn.setting_fields import described, hints_of, literals_of, members_of

# Those with trees over characters are slow.
EVERY = pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * name.endswith("parsed")) for name in KINDS],
)
# What takes a few seconds at most for all kinds together.
FOR_ALL_KINDS = looped("name", KINDS)
OF_TEXTS = looped(
    "name",
    [name for name in KINDS if hasattr(KINDS[name].make, "predict_margins")] + TRAINED_APART,
)
# Numbers that nothing is kept of.
UNBOUNDED = {"seed", "prune", "least_begun", "least_seen", "dictionary"}
SPAWN = multiprocessing.get_context("spawn")


def test_every_model_is_here() -> None:
    exported = {name for name in spacy_structreg.__all__ if isinstance(model_of(name), type)}
    kinds = {type(kind.new()).__name__ for kind in KINDS.values()}
    assert "Tagger" in exported
    assert exported - kinds == NO_KINDS.keys()
    assert kinds <= exported


def model_of(name: str) -> Any:
    return getattr(spacy_structreg, name)


class Interrupted(BaseException):
    """Ends a training between two epochs."""


def weights_of(data: bytes) -> dict[str, bytes]:
    """The arrays of a model file."""
    return {name: array.tobytes() for name, array in parse_model(data)[1].items()}


# What is learned ----------------------------------------------------------------------------------


@EVERY
def test_a_seed_says_all_and_threads_nothing(name: str) -> None:
    kind = KINDS[name]
    several = {} if kind.is_ensemble else {"n_models": 3}
    one, many, other = (
        kind.new(learning=NOISY, seed=seed, **several).fit(
            kind.gold, kind.gold[:3], n_threads=n_threads
        )
        for seed, n_threads in ((3, 1), (3, 2), (9, 1))
    )
    assert one.to_bytes() == many.to_bytes()
    assert weights_of(one.to_bytes()) != weights_of(other.to_bytes())
    # Without noise, the order of the sentences differs.
    plain = [kind.new(learning=Learning(), seed=seed).fit(kind.gold) for seed in (3, 4)]
    assert weights_of(plain[0].to_bytes()) != weights_of(plain[1].to_bytes())
    assert kind.new().fit(kind.gold).to_bytes() == data_of(name)
    # A drawn seed is kept.
    drawn = kind.new(seed=None)
    assert type(drawn).from_bytes(drawn.fit(kind.gold).to_bytes()).seed == drawn.seed


@EVERY
def test_a_fit_begins_from_nothing_and_a_failed_one_changes_nothing(name: str) -> None:
    kind = KINDS[name]
    model = again(name)
    model.partial_fit(kind.gold)
    further = model.to_bytes()
    assert further != data_of(name)

    def fail(_: Any) -> None:
        raise Interrupted

    with pytest.raises(ValueError, match="training"):
        model.fit([])
    with pytest.raises(ValueError, match=r"sentence 1 of the training corpus|is no|not"):
        model.fit([None])
    if not kind.is_ensemble:
        history = again(name).fit(kind.gold).history
        model.history = history
        with pytest.raises(Interrupted):
            model.fit(kind.gold, on_epoch=fail)
        assert model.to_bytes() == further
        assert model.history is history
        # What is told of a training may ask the model as it was before.
        asked, expected = kind.inputs[0], model.predict(*kind.inputs[0])
        told: list[Any] = []
        kind.new().fit(kind.gold, on_epoch=lambda _: told.append(model.predict(*asked)))
        model.fit(kind.gold, on_epoch=lambda _: told.append(model.predict(*asked)))
        assert told == [expected] * (2 * len(history))
        several = kind.new(n_models=3).fit(kind.gold)
        before, history = several.to_bytes(), several.history

        def fail_once(report: Any) -> None:
            if report.model == 2:
                raise Interrupted

        for n_threads in (1, 3):
            with pytest.raises(Interrupted):
                several.fit(kind.gold[1:], n_threads=n_threads, on_epoch=fail_once)
            assert (several.to_bytes(), several.history) == (before, history)
    assert model.fit(kind.gold).to_bytes() == data_of(name)
    with pytest.raises(ValueError, match="no training is running"):
        model.to_bytes(state="training")


LEARNINGS = [
    Learning("pa", aggressiveness=0.5),
    Learning("pa_i"),
    Learning("pa_ii", aggressiveness=0.5),
    Learning(l2=1e-5, l1=1e-6),
    Learning(cumulative_l1=1e-5, dropout=0.1),
    Learning(clock="epochs"),
    Learning(hidden_dropout=0.1),
    Learning(clock="mistakes", l1=1e-4),
]
# Of models that can be conditional random fields.
LOG_LINEAR = [
    LogLinear(),
    LogLinear(optimizer="lbfgs"),
    LogLinear(l1=0.05, l2=0.0),
    LogLinear(noise="dropout", noise_level=0.1),
]
# Of models that search; of models of pieces of sequences.
SEARCHES = [
    {"update": "early"},
    {"update": "plain"},
    {"beam": 1, "update": "early"},
    {"beam": 1, "update": "every"},
]
PIECES = {"learning": Learning("pa_i", mini_sample=4.0, dropout=0.1)}


@EVERY
def test_every_way_of_learning_learns(name: str) -> None:
    kind = KINDS[name]
    if kind.is_ensemble:
        pytest.skip("its models are tried alone")
    is_chain = LogLinear in members_of(hints_of(type(trained(name)).SETTINGS)["learning"])
    ways: list[dict[str, Any]] = [
        {"learning": each} for each in [*LEARNINGS, *(LOG_LINEAR if is_chain else [])]
    ]
    # The early steps of a tree over characters say too little about those that follow.
    if hasattr(trained(name), "update") and name != "words, parsed":
        ways += [{"learning": Learning(), **way} for way in SEARCHES]
    if kind.has_pieces:
        ways.append(PIECES)
        ways += [{"learning": LogLinear(mini_sample=4.0)}] if is_chain else []
    made = {}
    for way in ways:
        model = kind.new(epochs=15, **way).fit(kind.gold)
        figure = model.evaluate(kind.gold).as_dict()[model.PRIMARY]
        made[model.to_bytes()] = way
        assert figure > 0.3, (way, figure)
    assert len(made) == len(ways)


@FOR_ALL_KINDS
def test_the_best_epoch_is_kept(name: str) -> None:
    kind = KINDS[name]
    model = kind.new(epochs=4)
    model.fit(kind.gold[:4], kind.gold[4:])
    figures = (
        [report.dev.as_dict()[model.PRIMARY] for report in model.words.history]
        if (kind.is_ensemble)
        else [report.dev.as_dict()[model.PRIMARY] for report in model.history]
    )
    assert len(figures) == 4
    if not kind.is_ensemble:
        found = model.evaluate(kind.gold[4:]).as_dict()[model.PRIMARY]
        assert found == max(figures)
        assert model.evaluate(kind.gold[4:], n_threads=2).as_dict()[model.PRIMARY] == found
    with pytest.raises(ValueError, match="evaluation"):
        model.evaluate([])


@EVERY
def test_a_training_goes_on_from_its_file(name: str) -> None:
    kind = KINDS[name]
    for changes in ({}, *kind.others):
        model = kind.new(**changes)
        if model.learning.needs_whole_corpus:
            continue
        model.partial_fit(kind.gold)
        other = type(model).from_bytes(model.to_bytes(state="training"))
        assert other.is_training
        assert answers(name, other) == answers(name, model)
        for each in (model, other):
            each.partial_fit(kind.gold)
        assert other.to_bytes(state="training") == model.to_bytes(state="training")
        assert other.to_bytes() == model.to_bytes()


@FOR_ALL_KINDS
def test_a_training_goes_on_from_weights(name: str) -> None:
    kind = KINDS[name]
    further = [again(name), pickle.loads(pickle.dumps(trained(name))), copy.deepcopy(trained(name))]
    for model in further:
        assert not model.is_training
        model.partial_fit(kind.gold)
        assert model.is_training
    first, *others = (model.to_bytes() for model in further)
    assert others == [first, first]
    assert first != data_of(name)
    assert trained(name).to_bytes() == data_of(name)


@FOR_ALL_KINDS
def test_portions_share_what_was_prepared(name: str) -> None:
    kind = KINDS[name]
    at_once, portions = kind.new(), kind.new()
    for model in (at_once, portions):
        model.prepare(kind.gold)
        assert not model.is_trained
    compiled = portions.compile(kind.gold)
    portions.learn(compiled)
    assert portions.to_bytes() == at_once.partial_fit(kind.gold).to_bytes()
    assert portions.owns(compiled)
    before = at_once.to_bytes(state="training")
    with pytest.raises(ValueError, match="compiled for another training"):
        at_once.learn(compiled)
    assert at_once.to_bytes(state="training") == before
    portions.fit(kind.gold)
    with pytest.raises(ValueError, match="compiled for another training"):
        portions.learn(compiled)
    halves = kind.new()
    halves.prepare(kind.gold)
    halves.partial_fit(kind.gold[:4]).partial_fit(kind.gold[4:])
    assert answers(name, halves)


@EVERY
def test_an_interrupted_training_ends_as_if_it_had_not_been(name: str, tmp_path: Path) -> None:
    kind = KINDS[name]

    def stop(report: Any) -> None:
        ended.append((report.model, report.epoch))
        raise Interrupted

    def seen(model: Any) -> list[Any]:
        return [
            (each.model, each.epoch, each.wrong_examples, each.wrong_labels, each.primary)
            for each in model.history
        ]

    for number, changes in enumerate(({}, *kind.others)):
        folder = tmp_path / str(number)
        ended: list[tuple[int, int]] = []

        def fit(changes: Any = changes, folder: Path = folder, **how: Any) -> Any:
            model = kind.new(**{**changes, "epochs": 3})
            return model.fit(kind.gold, kind.gold[:3], checkpoint=folder, **how)

        straight = kind.new(**{**changes, "epochs": 3}).fit(kind.gold, kind.gold[:3])
        for _ in range(2):
            with pytest.raises(Interrupted):
                fit(on_epoch=stop)
        assert ended[0] < ended[1]
        resumed = fit()
        assert resumed.to_bytes() == straight.to_bytes()
        assert seen(resumed) == seen(straight)
        # What has ended is not trained again.
        assert fit(on_epoch=stop).to_bytes() == straight.to_bytes()
        with pytest.raises(ValueError, match="of another training"):
            kind.new(epochs=4).fit(kind.gold, kind.gold[:3], checkpoint=folder)


@FOR_ALL_KINDS
def test_labels_are_those_that_training_began_with(name: str) -> None:
    kind = KINDS[name]
    if kind.new_label is None:
        pytest.skip("it has no labels")
    model = kind.new().partial_fit(kind.gold)
    before = model.to_bytes(state="training")
    for each in (model, again(name).partial_fit(kind.gold)):
        with pytest.raises(ValueError, match=r"NEW|unknown tag"):
            each.partial_fit([kind.new_label])
    if kind.is_ensemble:
        return
    assert model.to_bytes(state="training") == before
    # Labels of words may be known beforehand.
    if not isinstance(kind.inputs[0][0], str):
        model = kind.new()
        known = kind.new().fit([*kind.gold, kind.new_label]).labels
        more = [label for label in known if label not in trained(name).labels]
        model.prepare(kind.gold, labels=more)
        assert model.labels == known
        assert not model.is_trained
        model.partial_fit(kind.gold).partial_fit([kind.new_label])
        assert model.fit(kind.gold).labels == trained(name).labels


@FOR_ALL_KINDS
def test_gold_that_is_none_is_named_by_its_place(name: str) -> None:
    kind = KINDS[name]
    for wrong in kind.no_gold:
        corpus = [kind.gold[0], wrong]
        for call, purpose in (
            (lambda corpus: kind.new().fit(corpus), "training"),
            (lambda corpus: kind.new().partial_fit(corpus), "training"),
            (lambda corpus: kind.new().fit(kind.gold, corpus), "development"),
            (trained(name).evaluate, "evaluation"),
            (trained(name).correct, "correction"),
        ):
            with pytest.raises(ValueError, match=f"sentence 2 of the {purpose} corpus: "):
                call(corpus)
            with pytest.raises(ValueError, match=f"the {purpose} corpus is empty"):
                call([])


@EVERY
def test_corrections_are_right_at_once_and_kept(name: str, tmp_path: Path) -> None:
    kind, path = KINDS[name], tmp_path / "model.srt"
    if not kind.is_ensemble:
        occurrences = [
            array for key, array in parse_model(data_of(name))[1].items() if "occurrences" in key
        ]
        assert occurrences
        assert all(array.any() for array in occurrences if array.size)

    def is_right(model: Any, sentence: Any) -> bool:
        return bool(model.evaluate([sentence]).as_dict()[model.PRIMARY] == 1.0)

    for changes in ({}, *kind.others[-1:]):
        kind.new(**{**changes, "epochs": 1}).fit(kind.gold).save(path)
        model = type(trained(name)).load(path, mapped=True)
        gold = [each for each in kind.gold if not is_right(model, each)][:2]
        # A classifier has them all right, so that it is to learn the opposite.
        gold = gold or [(TOPICS[0][0], TOPICS[-1][1])]
        report = model.correct(gold, sample=kind.gold)
        assert (report.n_sentences, report.n_right) == (len(gold), 0)
        assert report.n_steps >= 1
        # All that is left of it is in memory.
        path.write_bytes(b"")
        again = type(model).from_bytes(model.to_bytes())
        assert [*report.wrong] == [i for i, each in enumerate(gold) if not is_right(again, each)]
        # Models that are trained apart may not agree, and few templates not be enough.
        assert changes or kind.is_ensemble or not report.wrong
        rest = [each for i, each in enumerate(gold) if i not in report.wrong]
        if rest:
            assert again.correct(rest).n_right == len(rest)
            assert again.to_bytes() == model.to_bytes()


# What is said -------------------------------------------------------------------------------------


@FOR_ALL_KINDS
def test_predictions_do_not_depend_on_threads_or_each_other(name: str) -> None:
    kind, model = KINDS[name], trained(name)
    alone = [model.predict(*args) for args in kind.inputs] * 5
    items = [kind.batch(args) for args in kind.inputs] * 5
    assert model.predict_batch(items) == alone
    assert model.predict_batch(items, n_threads=2) == alone
    assert list(model.predict_stream(iter(items), n_threads=3)) == alone
    assert model.predict_batch([]) == []
    if hasattr(model, "predict_marginals_stream") and can_say_probabilities(model):
        found = model.predict_marginals_stream(items, n_threads=2)
        for marginals, args in zip(found, kind.inputs * 5, strict=True):
            assert np.array_equal(marginals, model.predict_marginals(*args))


@FOR_ALL_KINDS
def test_empty_inputs(name: str) -> None:
    kind, model = KINDS[name], trained(name)
    if len(kind.inputs[0]) == 2 or kind.nbest is None:
        pytest.skip("its answer is of a whole sentence")
    empty = type(kind.inputs[0][0])()
    assert model.predict(empty) == []
    first, last = kind.inputs[0][0], kind.inputs[1][0]
    expected = [model.predict(first), [], model.predict(last)]
    assert model.predict_batch([first, empty, last], n_threads=2) == expected
    if name != "guided, parsed":
        assert kind.nbest(model, (empty,), 2) == [(0.0, [])]
    # Nor learned.
    if isinstance(kind.gold[0], list):
        assert weights_of(kind.new().fit([[], *kind.gold, []]).to_bytes()) == weights_of(
            data_of(name)
        )


@FOR_ALL_KINDS
def test_a_wide_beam_margin_changes_nothing_and_a_narrow_one_is_kept(name: str) -> None:
    model = again(name)
    if not hasattr(model, "set_beam_margin"):
        pytest.skip("it has no beam")
    asked = [(args, KINDS[name].batch(args)) for args in KINDS[name].inputs]
    model.set_beam_margin(None)
    whole = [model.predict(*args) for args, _ in asked]
    model.set_beam_margin(1e12)
    assert [model.predict(*args) for args, _ in asked] == whole
    model.set_beam_margin(0.0)
    narrow = [model.predict(*args) for args, _ in asked]
    assert narrow != whole
    assert model.predict_batch([item for _, item in asked], n_threads=3) == narrow
    for other in (type(model).from_bytes(model.to_bytes()), pickle.loads(pickle.dumps(model))):
        assert other.beam_margin == 0.0
        assert [other.predict(*args) for args, _ in asked] == narrow
    with pytest.raises(ValueError, match="beam_margin must be at least 0"):
        model.set_beam_margin(-1.0)
    assert model.beam_margin == 0.0
    with pytest.raises(ValueError, match="has not been trained"):
        KINDS[name].new().tune_beam_margin(KINDS[name].gold)


@FOR_ALL_KINDS
def test_invalid_inputs_are_refused(name: str) -> None:
    kind, model = KINDS[name], trained(name)
    for args, message in kind.invalid_inputs:
        for ask in (
            lambda args=args: model.predict(*args),
            lambda args=args: model.explain(*args),
            lambda args=args: model.predict_batch([kind.batch(args)]),
            *([] if kind.nbest is None else [lambda args=args: kind.nbest(model, args, 2)]),
        ):
            with pytest.raises((ValueError, TypeError), match=message):
                ask()
    if kind.invalid_inputs is NO_TEXT:
        with pytest.raises(TypeError, match="put it into a list"):
            model.predict_batch("今天")


@FOR_ALL_KINDS
def test_the_best_lists_fall(name: str) -> None:
    kind, model = KINDS[name], trained(name)
    if kind.nbest is None:
        pytest.skip("it gives one answer")
    best = getattr(model, "predict_tagged", model.predict)
    for args in kind.inputs:
        ((_, first),) = kind.nbest(model, args, 1)
        found = kind.nbest(model, args, 5)
        scores = [each for each, _ in found]
        assert 1 <= len(found) <= 5
        assert scores == sorted(scores, reverse=True)
        assert first == best(*args)
        if not name.endswith("parsed"):  # of which some differ in their trees alone
            assert all(a != b for i, (_, a) in enumerate(found) for _, b in found[:i])
        with pytest.raises(ValueError, match="0"):
            kind.nbest(model, args, 0)


@OF_TEXTS
def test_margins_have_the_sign_of_what_is_found(name: str) -> None:
    model = trained(name)
    for text, sentences in zip(TEXTS, model.predict_margins(TEXTS, n_threads=2), strict=True):
        assert "".join(sentence for sentence, _ in sentences) == text
        # Models of words look at their 16 best analyses.
        ((_, best), *_) = model.nbest(text, 16)
        words = [each if isinstance(each, str) else each[0] for each in best]
        ends = {*accumulate(map(len, words))}
        begin = 0
        for sentence, margins in sentences:
            assert len(margins) == len(sentence) - 1
            for place, margin in enumerate(margins, begin + 1):
                # Models of a beam may have two analyses that are as good.
                assert margin == 0.0 or (margin > 0.0) == (place in ends)
            begin += len(sentence)


def check_explanation(name: str, model: Any, args: tuple[Any, ...]) -> None:
    """Hold an explanation to its score, its margins and its order."""
    found = model.explain(*args)
    parts = [each.score for one in found.decisions for each in one.contributions]
    assert sum(parts) == pytest.approx(found.score, abs=1e-6)
    if KINDS[name].nbest is not None:
        assert found.score == pytest.approx(KINDS[name].nbest(model, args, 1)[0][0], abs=1e-6)
    for one in found.decisions:
        strengths = [abs(each.score) for each in one.contributions]
        assert strengths == sorted(strengths, reverse=True)
        if one.runner_up is None:
            assert one.margin == math.inf
            assert not one.differences
            continue
        assert one.runner_up != one.chosen
        assert sum(each.score for each in one.differences) == pytest.approx(one.margin, abs=1e-6)
        left = one.margin - sum(each.score for each in one.to_change)
        assert left <= 1e-6
        # One feature fewer does not do.
        assert not one.to_change or left + one.to_change[-1].score > 0.0


@FOR_ALL_KINDS
def test_explanations_add_up_to_the_score(name: str) -> None:
    kind = KINDS[name]
    for args in kind.inputs[:2]:
        check_explanation(name, trained(name), args)
    assert any(one.runner_up for one in trained(name).explain(*kind.inputs[0]).decisions)


@FOR_ALL_KINDS
def test_what_was_not_trained_says_so(name: str, tmp_path: Path) -> None:
    kind = KINDS[name]
    model = kind.new()
    assert not model.is_trained
    assert not model.is_frozen
    for ask in (
        lambda: model.predict(*kind.inputs[0]),
        lambda: model.predict_batch([kind.batch(kind.inputs[0])]),
        lambda: model.evaluate(kind.gold),
        lambda: model.explain(*kind.inputs[0]),
        lambda: model.save(tmp_path / "model.srt"),
        model.to_bytes,
        model.freeze,
        lambda: type(model).average([model, trained(name)]),
        lambda: model.correct(kind.gold[:1]),
    ):
        with pytest.raises(ValueError, match=r"not been trained|knows no labels|differ in labels"):
            ask()
    for state in ("training", "frozen", "compressed", "", None):
        with pytest.raises(ValueError, match=r"state|no training is running|is not frozen|labels"):
            model.save(tmp_path / "model.srt", state=state)
    assert not list(tmp_path.iterdir())
    for same in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), model.untrained()):
        assert not same.is_trained
        assert same.settings.as_dict() == model.settings.as_dict()
        assert same.fit(kind.gold).to_bytes() == data_of(name)


def check_limits(settings: type[Any], make: Callable[..., Any]) -> None:
    """Hold all fields of a class of settings to their types, ranges and choices."""
    hints = hints_of(settings)
    for field, about in described(settings):
        members = members_of(hints[field])
        wrong: list[Any] = [b"x"]
        if int in members:
            wrong += [about.minimum - 1, about.maximum + 1, 1.5, "1"]
            # Sizes of what a search or a training keeps.
            assert about.maximum <= 1_000_000 or field in UNBOUNDED, field
        elif float in members:
            wrong += [about.minimum - 1, math.nan, math.inf, -math.inf, "1"]
            wrong += [about.minimum] * about.open_below + [about.below]
        elif literals_of(members) or bool in members:
            wrong += ["other", 7]
        if bool not in members:
            wrong.append(True)
        if type(None) not in members:
            wrong.append(None)
        for value in wrong:
            with pytest.raises(ValueError, match=rf"\b{field} "):
                make(**{field: value})


@FOR_ALL_KINDS
def test_settings_out_of_range_are_refused(name: str) -> None:
    cls = type(KINDS[name].make())
    check_limits(cls.SETTINGS, cls)


@looped(
    ("cls", "limits"),
    [
        (Learning, {"mini_sample": 1e6, "min_count": 1_000_001, "precision": 25}),
        (LogLinear, {"mini_sample": 1e6, "decay_windows": 1_000_001, "noise_window": 1_000_001}),
    ],
)
def test_settings_of_learning_have_limits(cls: type[Any], limits: dict[str, float]) -> None:
    check_limits(cls, cls)
    for field, value in limits.items():
        with pytest.raises(ValueError, match=f"^{field} must be at least .* (at most|below) "):
            cls(**{field: value})
    with pytest.raises(FrozenInstanceError):
        cls().mini_sample = 2.0
    for changes in ({"noise": "dropout"}, {"noise": "gaussian_dropout"}) * (cls is LogLinear):
        assert cls(**changes, noise_level=0.5).variance == 1.0
        with pytest.raises(ValueError, match="noise_level must be at least 0 and below 1, got 1"):
            cls(**changes, noise_level=1.0)


# Files --------------------------------------------------------------------------------------------


@EVERY
def test_every_way_gives_equal_bytes_and_answers(name: str, tmp_path: Path) -> None:
    model, path = trained(name), tmp_path / "model.srt"
    model.save(path)
    assert path.read_bytes() == data_of(name)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    cls, expected = type(model), answers(name, model)
    loaded = cls.load(path, mapped=True)
    for other in (
        loaded,
        cls.load(str(path)),
        cls.load(path, verify=False),
        cls.from_bytes(data_of(name)),
        pickle.loads(pickle.dumps(model)),
        pickle.loads(pickle.dumps(loaded)),
        copy.deepcopy(model),
        copy.deepcopy(loaded),
    ):
        assert type(other) is cls
        assert other.is_trained
        assert not other.is_training
        assert other.to_bytes() == data_of(name)
        assert other.settings.as_dict() == model.settings.as_dict()
        assert answers(name, other) == expected
    # Over the file that is mapped; and a new one takes its place beside others.
    loaded.save(path)
    assert answers(name, loaded) == expected
    beside = cls.load(path, mapped=True)
    KINDS[name].new(seed=8).fit(KINDS[name].gold).save(path)
    assert answers(name, beside) == expected
    assert cls.load(path).to_bytes() != data_of(name)


@EVERY
def test_a_mapped_file_that_is_written_to(name: str, tmp_path: Path) -> None:
    """Its model says so; what was made of it needs no file."""
    kind, path = KINDS[name], tmp_path / "model.srt"
    cls = type(trained(name))
    for changes in ({}, *kind.others):
        kind.new(**changes).fit(kind.gold).save(path)
        model, compiled, further = (cls.load(path, mapped=True) for _ in range(3))
        adapts = getattr(model, "can_adapt", False)
        parts = list(model.parts.values()) if kind.is_ensemble else []
        compiled.compile(kind.gold)
        made = [compiled, copy.deepcopy(model), model.freeze()]
        made += [cls.average([model] * n) for n in (1, 2)]
        made += [model.adapt(TEXTS)] if adapts else []
        if not model.learning.needs_whole_corpus:
            state = tmp_path / "state.srt"
            kind.new(**changes).partial_fit(kind.gold).save(state, state="training")
            made += [further.partial_fit(kind.gold), cls.load(state, mapped=True)]
            state.write_bytes(b"")
        path.write_bytes(b"")
        asked: list[Callable[[], Any]] = [
            lambda model=model: model.predict(*kind.inputs[0]),
            lambda model=model: model.partial_fit(kind.gold),
            lambda model=model: model.compile(kind.gold),
            lambda model=model: model.learn([]),
            lambda model=model: model.correct(kind.gold),
            lambda model=model: cls.average([model]),
            lambda model=model: model.save(path),
            lambda model=model: model.save(tmp_path / "other.srt"),
            lambda model=model: pickle.dumps(model),
            *[lambda model=model: model.adapt(TEXTS)] * adapts,
            *(each.to_bytes for each in (model, *parts)),
            *(each.freeze for each in (model, *parts)),
        ]
        for ask in asked:
            with pytest.raises(ValueError, match="the file was written to while it was in use"):
                ask()
        for each in made:
            assert answers(name, each)
            assert each.to_bytes()


@pytest.mark.parametrize("name", TRAINED_APART)
def test_a_part_of_a_mapped_file_is_a_model_of_its_own(name: str, tmp_path: Path) -> None:
    path = tmp_path / "model.srt"
    trained(name).save(path)
    model = type(trained(name)).load(path, mapped=True)
    for part, same in zip(model.parts.values(), trained(name).parts.values(), strict=True):
        # Its weights are not those of the whole file.
        assert pickle.loads(for_a_child(part)).to_bytes() == same.to_bytes()
    *_, words = model.parts.values()
    words.save(path)
    assert type(words).load(path).to_bytes() == words.to_bytes()
    assert model.to_bytes() == data_of(name)
    assert pickle.loads(for_a_child(model)).to_bytes() == data_of(name)


@EVERY
def test_settings_travel(name: str) -> None:
    kind = KINDS[name]
    seen = {data_of(name)}
    for changes in kind.others:
        model = kind.new(**changes).fit(kind.gold)
        data = model.to_bytes()
        other = type(model).from_bytes(data)
        assert other.settings.as_dict() == model.settings.as_dict()
        assert answers(name, other) == answers(name, model)
        check_explanation(name, other, kind.inputs[0])
        if hasattr(model, "predict_marginals") and not can_say_probabilities(model):
            with pytest.raises(ValueError, match="no probabilities"):
                model.predict_marginals(*kind.inputs[0])
        assert other.fit(kind.gold).to_bytes() == data
        seen.add(data)
    # All of these make a difference.
    assert len(seen) == len(kind.others) + 1


@EVERY
def test_children_read_the_file_as_long_as_a_model_is_that_of_its_file(
    name: str, tmp_path: Path
) -> None:
    kind, path = KINDS[name], tmp_path / "model.srt"
    cls = type(trained(name))
    trained(name).save(path)

    def loaded() -> Any:
        return cls.load(path, mapped=True)

    pickled = for_a_child(loaded())
    assert len(pickled) < 1_000 < path.stat().st_size
    assert pickle.loads(pickled).to_bytes() == data_of(name)
    further, anew, asked, untouched = (loaded() for _ in range(4))
    further.partial_fit(kind.gold)
    anew.fit(kind.gold[1:])
    asked.partial_fit(kind.gold).predict(*kind.inputs[0])
    untouched.compile(kind.gold)
    others = [further, anew, asked, untouched, kind.new().partial_fit(kind.gold)]
    if kind.is_ensemble:
        others.append(loaded())
        others[-1].tuned_weight += 0.5
    if hasattr(cls, "set_beam_margin"):
        others.append(loaded())
        others[-1].set_beam_margin(1.0)
    for model in others:
        assert pickle.loads(for_a_child(model)).to_bytes() == model.to_bytes()
    assert not pickle.loads(for_a_child(kind.new())).is_trained
    saved_over = loaded()
    saved_over.save(path)
    path.unlink()
    assert pickle.loads(for_a_child(saved_over)).to_bytes() == data_of(name)


def work(models: list[tuple[str, Any]], queue: Any) -> None:
    """What a child process does."""
    queue.put([answers(name, model) for name, model in models])


@pytest.mark.slow
def test_models_go_to_spawned_processes(tmp_path: Path) -> None:
    """By bytes, and by the path of the file that they were loaded from."""
    models: list[tuple[str, Any]] = []
    for number, name in enumerate(KINDS):
        path = tmp_path / f"{number}.srt"
        trained(name).save(path)
        models += [(name, trained(name)), (name, type(trained(name)).load(path, mapped=True))]
    queue = SPAWN.Queue()
    child = SPAWN.Process(target=work, args=(models, queue))
    child.start()
    found = queue.get(timeout=240)
    child.join(timeout=240)
    assert child.exitcode == 0
    assert found == [answers(name, model) for name, model in models]


def is_refused(name: str, data: bytes) -> bool:
    """Whether a file is refused, with an error that names it; one that is not is what it says."""
    try:
        model = type(trained(name)).from_bytes(data, name="some.srt")
    except ValueError as error:
        assert str(error).startswith("some.srt: "), error  # noqa: PT017
        return True
    header, arrays = parse_model(data)
    written, written_arrays = parse_model(model.to_bytes(state=header["state"]))
    # Whole numbers may stand for real ones.
    assert written == header
    assert written_arrays.keys() == arrays.keys()
    assert all(np.array_equal(written_arrays[key], array) for key, array in arrays.items())
    # Of one word, as there may be no limit to the search any more.
    if model.is_trained:
        model.predict(*(each[:1] for each in KINDS[name].inputs[0]))
    return False


@EVERY
def test_damaged_files_are_refused_or_what_they_were(name: str) -> None:
    """All bytes of the header, and some of the rest."""
    data = data_of(name)
    header_end = int(np.frombuffer(data[12:20], "<u8")[0]) + 100
    stride = len(data) // 150 + 1
    places = sorted(
        {*range(0, min(header_end, len(data)), header_end // 150 + 1), *range(0, len(data), stride)}
    )
    for place in places:
        damaged = bytearray(data)
        damaged[place] ^= 1 << place % 8
        try:
            model = type(trained(name)).from_bytes(bytes(damaged), name="some.srt")
        except ValueError as error:
            assert str(error).startswith("some.srt: ")  # noqa: PT017
            continue
        # Between arrays nothing is said.
        assert model.to_bytes() == data
    for length in places:
        with pytest.raises(ValueError, match=r"^some\.srt: "):
            type(trained(name)).from_bytes(data[:length], name="some.srt")
    with pytest.raises(ValueError, match="bytes instead of"):
        type(trained(name)).from_bytes(data + b"\0")


HOSTILE: list[Any] = [
    None, True, False, 0, 1, -1, 2**31, 2**63 - 1, 2**64 - 1, 1.5, -1.0, math.nan, math.inf,
    "", "x", "\0", b"x", [], [1], [None], ["x"], [[]], {}, {"x": 1},
]  # fmt: skip
# Entries that are for messages alone.
UNREAD = ("package", "version")


def paths_of(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to the entries of a header; of lists, to the first and the last item."""
    if path and path[-1] not in UNREAD:
        yield path
    if isinstance(value, dict):
        for key, each in value.items():
            yield from paths_of(each, (*path, key))
    elif isinstance(value, list) and value:
        for place in {0, len(value) - 1}:
            yield from paths_of(value[place], (*path, place))


def entry(header: Any, path: tuple[Any, ...]) -> Any:
    """What a path leads to."""
    for key in path:
        header = header[key]
    return header


def fits(old: Any, new: Any) -> bool:
    """Whether one value may take the place of another: by its type, with whole for real numbers."""
    return (
        old is None
        or new is None
        or type(old) is type(new)
        or (type(old) is float and type(new) is int)
    )


def file_of(name: str, state: str) -> bytes:
    return data_of(name) if state == "trained" else running_data(name)


def some(places: list[Any], data: bytes) -> list[Any]:
    """All places, or, of large files, some: these are models made of others."""
    return places[:: 1 + len(places) * len(data) // 4_000_000]


EACH_STATE = pytest.mark.parametrize("state", ["trained", "training"])


@EVERY
@EACH_STATE
def test_headers_are_refused_or_true(name: str, state: str) -> None:
    """Entries that are missing or others, one by one, with checksums that fit."""
    data = file_of(name, state)
    header, _ = parse_model(data)
    if labels := header.get("labels"):
        for crafted in (labels[::-1], [labels[0], *labels[:-1]]):
            assert is_refused(name, tampered(data, entry_of("labels", crafted)))
    # Each place gets some of the values, its neighbours others.
    step = 4 + len(data) // 30_000
    for number, path in enumerate(some(list(paths_of(header)), data)):

        def drop(other: Any, _: Any, path: Any = path) -> None:
            del entry(other, path[:-1])[path[-1]]

        def add(other: Any, _: Any, path: Any = path) -> None:
            entry(other, path)["more"] = 1

        old = entry(header, path)
        # Of lists by their names, any may be there; of large files, a part is tried.
        if isinstance(path[-1], str) and "lists" not in path and number % (1 + step // 8) == 0:
            assert is_refused(name, tampered(data, drop)), f"without {path}"
        if path[-1] in ("settings", "learning"):
            assert is_refused(name, tampered(data, add)), f"more in {path}"
        for value in HOSTILE[number % step :: step]:

            def change(other: Any, _: Any, path: Any = path, value: Any = value) -> None:
                entry(other, path[:-1])[path[-1]] = value

            same = type(old) is type(value) and old == value
            if not same and not is_refused(name, tampered(data, change)):
                assert fits(old, value) or {"lexicon", "columns"} & {*path}, (
                    f"{value!r} in place of {old!r} at {path}"
                )


def changed(number: int) -> Iterator[tuple[str, Callable[[np.ndarray], np.ndarray]]]:
    """What hostile people do to an array."""
    yield "flat or deep", lambda a: a.reshape(-1, 1) if a.ndim == 1 else a.reshape(-1)
    yield "longer", lambda a: np.concatenate([a, a[-1:]])
    yield "shorter", lambda a: a[:-1]
    yield "empty", lambda a: a[:0]
    yield "turned", lambda a: a[::-1]
    yield "of zeros", np.zeros_like
    yield "of ones", lambda a: np.full_like(a, -1 if a.dtype.kind != "u" else 2**8 - 1)
    for kind in ("<f4", "<f8", "<i8", "<u8", "<u2"):
        yield kind, lambda a, kind=kind: a.astype(kind)  # type: ignore[misc]
    for value in (math.nan, math.inf, 1.1e30):
        yield str(value), lambda a, value=value: put(a, value)  # type: ignore[misc]


def put(array: np.ndarray, value: float) -> np.ndarray:
    """An array, which may be of real numbers, with another value in it."""
    if array.dtype.kind == "f" and array.size:
        array.reshape(-1)[array.size // 2] = value
    return array


@EVERY
@EACH_STATE
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")
def test_arrays_are_refused_or_true(name: str, state: str) -> None:
    data = file_of(name, state)
    _, arrays = parse_model(data)
    for stray in ("9999.keys", "keys", "", "0.more", "0.keys.1", "01.keys"):
        add = lambda _, others, stray=stray: others.update({stray: np.zeros(3)})  # noqa: E731
        assert is_refused(name, tampered(data, add)), stray
    # Odd, as the arrays of a table are two or four.
    step = 3 + 2 * (len(data) // 30_000)
    for number, (key, array) in enumerate(some(list(arrays.items()), data)):
        drop = lambda _, others, key=key: others.pop(key)  # noqa: E731
        assert is_refused(name, tampered(data, drop)) or key.endswith("occurrences"), key
        for what, make in list(changed(number))[number % step :: step]:
            other = make(array.copy())
            if other.dtype == array.dtype and np.array_equal(other, array):
                continue
            change = lambda _, others, key=key, other=other: others.update({key: other})  # noqa: E731
            if not is_refused(name, tampered(data, change)):
                assert other.dtype == array.dtype, (key, what)
                assert what not in ("nan", "inf"), (key, what)
                assert what != "1.1e+30" or not key.endswith("values"), key


@FOR_ALL_KINDS
def test_models_of_other_tasks_are_refused(name: str) -> None:
    kind = KINDS[name]
    cls = type(trained(name))
    other = "tagger" if name != "tagger" else "texts"
    with pytest.raises(ValueError, match=rf"'{type(trained(other)).KIND}', not '{cls.KIND}'"):
        cls.from_bytes(data_of(other))
    with pytest.raises(ValueError, match=r"differ in kind|as many|no models? of"):
        cls.average([trained(name), trained(other)])
    with pytest.raises(ValueError, match="no model to average"):
        cls.average([])
    # An error names the version that wrote a file, if it is another one.
    for version, says in (("0.0.9", True), (None, False), (["0.0.9"], False)):

        def change(header: Any, _: Any, version: Any = version) -> None:
            header["version"] = version
            header["settings"]["made_up"] = 1

        with pytest.raises(ValueError, match="made_up") as caught:
            cls.from_bytes(tampered(data_of(name), change))
        assert ("written by spacy_structreg 0.0.9" in str(caught.value)) == says
    data = tampered(data_of(name), lambda header, _: header.update(version="0.0.9"))
    assert answers(name, cls.from_bytes(data), kind.inputs[:1])


# Averages and frozen models -----------------------------------------------------------------------


@EVERY
def test_averages(name: str) -> None:
    kind, model = KINDS[name], trained(name)
    cls = type(model)
    assert cls.average([model]).to_bytes() == data_of(name)
    assert answers(name, cls.average([model, again(name)])) == answers(name, model)
    other = trained(name, 4)
    averages = [cls.average([model, other], mean) for mean in ("nonzero", "plain")]
    if kind.is_ensemble:
        assert averages[0].tuned_weight == model.tuned_weight
        for part, average in averages[0].parts.items():
            pair = [each.parts[part] for each in (model, other)]
            assert average.to_bytes() == type(average).average(pair).to_bytes()
    for average in averages:
        assert average.is_trained
        assert average.to_bytes() not in (data_of(name), other.to_bytes())
        assert average.settings.as_dict() == model.settings.as_dict()
        assert answers(name, cls.from_bytes(average.to_bytes())) == answers(name, average)
        average.partial_fit(kind.gold)
    # Log-linear models have weights for all features.
    same = averages[0].to_bytes() == averages[1].to_bytes()
    assert same == isinstance(model.learning, LogLinear)
    assert model.to_bytes() == data_of(name)
    if not kind.is_ensemble:
        # Several models of a training are those of the seeds that follow each other.
        several = (
            kind.new(n_models=2, mean="nonzero", learning=model.learning).fit(kind.gold).to_bytes()
        )
        assert weights_of(several) == weights_of(cls.average([model, other]).to_bytes())
    of_fewer = kind.new().fit(kind.gold[:2])
    if getattr(of_fewer, "labels", ()) != getattr(model, "labels", ()):
        with pytest.raises(ValueError, match="differ in labels"):
            cls.average([model, of_fewer])
    # The corpus is known if it is the same; the settings are those of the first.
    if not kind.is_ensemble:
        checksum = model.corpus_checksum
        assert checksum is not None
        assert cls.average([model, other]).corpus_checksum == checksum
        elsewhere = kind.new(seed=5).fit(kind.gold[::-1])
        assert elsewhere.corpus_checksum not in (None, checksum)
        for pair in ([model, elsewhere], [elsewhere, model]):
            mixed = cls.average(pair)
            assert mixed.corpus_checksum is None
            assert cls.from_bytes(mixed.to_bytes()).corpus_checksum is None
            assert mixed.settings.as_dict() == pair[0].settings.as_dict()
    # Of the same labels, but another dictionary.
    if name == "tagger":
        ((word, tag), *_), *_ = kind.gold
        for sentence in ([(word + word, tag)], [(word, "NN" if tag != "NN" else "NR")] * 9):
            with pytest.raises(ValueError, match=r"differ in categories"):
                cls.average([model, kind.new().fit([*kind.gold, sentence])])
    for changes, what in kind.incompatible:
        different = kind.new(**changes).fit(kind.gold)
        with pytest.raises(ValueError, match=f"differ in ({what})"):
            cls.average([model, different])


@EVERY
def test_frozen_models_answer_alike_and_learn_no_more(name: str, tmp_path: Path) -> None:
    kind, model = KINDS[name], trained(name)
    expected = answers(name, model)
    whole = model.freeze(bits=32)
    assert whole.is_frozen
    assert not model.is_frozen
    assert model.to_bytes() == data_of(name)
    assert answers(name, whole) == expected
    small = model.freeze()
    # Small tables are mostly what arrays are wrapped in, and of that frozen ones have more.
    assert name in ("features", "texts") or len(small.to_bytes()) < len(data_of(name))
    path = tmp_path / "frozen.srt"
    small.save(path)
    mapped = type(model).load(path, mapped=True)
    expected = answers(name, small)
    mapped.save(path)  # over the file that is mapped
    for other in (mapped, pickle.loads(pickle.dumps(small)), copy.deepcopy(small)):
        assert other.is_frozen
        assert answers(name, other) == expected
        assert other.to_bytes() == path.read_bytes() == small.to_bytes()
    for act, what in (
        (lambda: small.partial_fit(kind.gold), "trained further"),
        (lambda: small.correct(kind.gold[:1]), "corrected"),
        (lambda: type(small).average([model, small]), "averaged"),
        (small.freeze, "frozen again"),
        (lambda: small.to_bytes(state="training"), "no training is running"),
        (lambda: model.freeze(bits=4), "bits must be 8, 16 or 32"),
        (lambda: model.freeze(prune=-1.0), "prune must be a number"),
        (lambda: model.to_bytes(state="frozen"), "not frozen"),
    ):
        with pytest.raises(ValueError, match=what):
            act()
    assert small.to_bytes() == path.read_bytes()
