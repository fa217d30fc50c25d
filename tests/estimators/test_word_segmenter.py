"""The word-based segmenter: what it learns, settings, files, averages, seeds and threads."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_up_corpora import Change, arrays_of, f_score, sentences, tampered, text_of

from spacy_structreg.estimators.guided import GuidedSegmenter
from spacy_structreg.estimators.segmentation.character_segmenter import CharacterSegmenter
from spacy_structreg.estimators.segmentation.word_segmenter import DEFAULT_LEARNING, WordSegmenter
from spacy_structreg.learn.learning_settings import Learning

Corpus = list[list[str]]
PLAIN = Learning()
TRAIN = sentences(80, seed=11)
DEV = sentences(30, seed=12)
TEXT = "今天天气很好，学生在图书馆看书。大学生活！"
TEXTS = [text_of(words) for words in DEV]


def made(**settings: Any) -> WordSegmenter:
    return WordSegmenter(**{"epochs": 2, "beam": 4, "learning": PLAIN, **settings})


@pytest.fixture(scope="module")
def fitted() -> WordSegmenter:
    """A trained segmenter; tests that change weights take their own."""
    return made().fit(TRAIN)


def refused(data: bytes, complaint: str = "") -> None:
    with pytest.raises(ValueError, match=rf"^some\.srm: .*{complaint}"):
        WordSegmenter.from_bytes(data, name="some.srm")


# Learning -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"types": None},
        {"characters": True},
        {"by_words": True},
        {"update": "max_violation"},
        {"update": "plain"},
        {"update": "every", "beam": 1},
        {"learning": DEFAULT_LEARNING},
        {"learning": Learning(algorithm="pa_i")},
        {"learning": Learning(dropout=0.05, hidden_dropout=0.1)},
        {"learning": Learning(l1=1e-4, clock="mistakes")},
        {"n_models": 2},
        {"sentences": "doc"},
    ],
    ids=str,
)
def test_it_learns(settings: dict[str, Any]) -> None:
    segmenter = made(epochs=8, **settings)
    assert not segmenter.is_trained
    segmenter.fit(TRAIN)
    assert segmenter.is_trained
    found = f_score(segmenter, TRAIN)
    # One character a word, and one word a sentence, are what is to be beaten.
    assert found > 0.9
    scores = segmenter.evaluate(TRAIN)
    assert scores.as_dict()["seg_f"] == pytest.approx(found)


def test_without_a_limit_long_sentences_are_learned() -> None:
    """There are 2^39 segmentations; those that no later score can tell apart are one state."""
    long = [["大学", "生活"] * 10]
    segmenter = made(beam=None, epochs=3, sentences="doc", types=None).fit(long)
    assert segmenter.predict(text_of(long[0])) == long[0]


def test_the_best_epoch_is_kept() -> None:
    reports = []
    segmenter = made(epochs=4).fit(TRAIN, DEV, on_epoch=reports.append)
    figures = [report.primary for report in reports]
    assert segmenter.evaluate(DEV).as_dict()["seg_f"] == max(figures)
    assert [report.epoch for report in segmenter.history] == [1, 2, 3, 4]
    best = figures.index(max(figures)) + 1
    assert arrays_of(segmenter) == arrays_of(made(epochs=best).fit(TRAIN))


def test_white_space_in_gold_is_dropped() -> None:
    spaced = [" ".join(word) for word in [" ", *TRAIN[0], "\u3000"]]
    plain = made().fit([TRAIN[0], TRAIN[1]])
    assert arrays_of(made().fit([spaced, TRAIN[1]])) == arrays_of(plain)


@pytest.mark.parametrize("corpus", [[], [[]], [[" "]], [["大学"], "学生"]], ids=repr)
def test_nothing_to_learn(corpus: Any) -> None:
    with pytest.raises(ValueError, match=r"no word in it|'学生' is not a list"):
        made().fit(corpus)


def test_untrained() -> None:
    segmenter = made()
    for ask in (segmenter.predict, segmenter.predict_spans, lambda text: segmenter.nbest(text, 1)):
        with pytest.raises(ValueError, match="has not been trained"):
            ask("大学")
    with pytest.raises(ValueError, match="has not been trained"):
        segmenter.to_bytes()


# Settings -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"beam": 0}, "beam"),
        ({"beam": 2.5}, "beam"),
        ({"max_word_length": 0}, "max_word_length"),
        ({"update": "late"}, "update is 'late'; choose from early"),
        ({"sentences": "line"}, "sentences"),
        ({"types": "g11"}, "g11"),
        ({"templates": "zhang2014"}, "zhang2014"),
        ({"templates": ["tag: c0"], "types": None}, "tag"),
        ({"templates": []}, "empty"),
        ({"epochs": 0}, "epochs"),
        ({"mean": "median"}, "mean"),
        ({"seed": -1}, "seed"),
        ({"learning": Learning(mini_sample=2.0), "patience": 0}, "patience"),
    ],
    ids=str,
)
def test_settings_that_cannot_be(settings: dict[str, Any], complaint: str) -> None:
    if settings == {"templates": []}:
        settings = {"templates": [], "types": None}
    with pytest.raises(ValueError, match=complaint):
        made(**settings)


def test_every_needs_a_beam_of_one() -> None:
    with pytest.raises(ValueError, match="needs a beam of width 1"):
        made(update="every", beam=4).fit(TRAIN)


def test_settings_travel() -> None:
    for settings in (
        {"types": None, "half_width": False, "beam": None, "merge": False, "epochs": 1},
        {"types": "g10", "characters": True, "sentences": "doc", "patience": 3, "seed": 5},
        {"templates": ["separate: w-1 | c0", "append: c-1 c0"], "by_words": True},
        {"max_word_length": 3, "update": "max_violation", "n_models": 2, "mean": "plain"},
    ):
        few = [["大学", "生活"], ["学生", "活", "。"]]
        segmenter = made(**settings).fit(few)
        again = WordSegmenter.from_bytes(segmenter.to_bytes())
        for name in (*settings, "templates", "learning", "update", "beam", "merge", "by_words"):
            if name not in ("characters", "templates"):
                assert getattr(again, name) == getattr(segmenter, name)
        assert again.templates == segmenter.templates
        assert arrays_of(again.fit(few)) == arrays_of(segmenter)


def test_states_merge_where_that_is_worth_its_time(fitted: WordSegmenter) -> None:
    guide = CharacterSegmenter(epochs=1).fit(TRAIN)
    exact = made(beam=None, max_word_length=3, epochs=1).fit(TRAIN[:10])
    for model, merges in (
        (fitted, False),
        (exact, True),
        (GuidedSegmenter(guide, fitted), True),
        (GuidedSegmenter(guide, made(merge=False).fit(TRAIN[:10])), False),
        (made(merge=True).fit(TRAIN[:10]), True),
    ):
        with model._decoders().borrow() as decoder:
            assert decoder.agenda.merge is merges


def test_no_word_is_longer_than_allowed() -> None:
    segmenter = made(max_word_length=2).fit(TRAIN)
    for text in TEXTS:
        words = segmenter.predict(text)
        assert "".join(words) == text
        assert max(map(len, words)) <= 2


def test_half_width_forms_look_alike(fitted: WordSegmenter) -> None:
    lengths = [list(map(len, fitted.predict(text))) for text in ("在２０２４年", "在2024年")]
    assert lengths[0] == lengths[1]


# Prediction ---------------------------------------------------------------------------------------


def test_scores_of_analyses(fitted: WordSegmenter) -> None:
    for text in TEXTS:
        analyses = fitted.nbest(text, 4)
        scores = [score for score, _ in analyses]
        assert scores == sorted(scores, reverse=True)
        assert len({tuple(words) for _, words in analyses}) == len(analyses)
        assert all("".join(words) == text for _, words in analyses)
        assert analyses[0][1] == fitted.predict(text)
    with pytest.raises(ValueError, match="at least one"):
        fitted.nbest("大学", 0)


def test_no_text(fitted: WordSegmenter) -> None:
    for text in ("", " \n"):
        assert fitted.predict(text) == []
        assert fitted.predict_spans(text).shape == (0, 2)
        assert fitted.nbest(text, 2) == [(0.0, [])]


# Seeds and threads --------------------------------------------------------------------------------


def test_seeds_repeat_and_differ() -> None:
    learning = Learning(dropout=0.1, hidden_dropout=0.1, mini_sample=2.0)
    first, again, other = (
        made(seed=seed, learning=learning, epochs=1).fit(TRAIN) for seed in (3, 3, 4)
    )
    assert first.to_bytes() == again.to_bytes()
    assert arrays_of(first) != arrays_of(other)


def test_threads_change_no_byte() -> None:
    expected = made(n_models=3).fit(TRAIN, DEV).to_bytes()
    assert made(n_models=3).fit(TRAIN, DEV, n_threads=3).to_bytes() == expected
    one = made().fit(TRAIN, DEV)
    assert made().fit(TRAIN, DEV, n_threads=3).to_bytes() == one.to_bytes()


def test_several_models_are_the_average_of_their_seeds() -> None:
    both = made(n_models=2, seed=5).fit(TRAIN)
    parts = [made(seed=seed).fit(TRAIN) for seed in (5, 6)]
    assert arrays_of(both) == arrays_of(WordSegmenter.average(parts))


def test_one_segmenter_in_many_threads(fitted: WordSegmenter) -> None:
    expected = [fitted.predict(text) for text in TEXTS]
    best = [fitted.nbest(text, 2) for text in TEXTS]
    assert fitted.predict_batch(TEXTS, n_threads=3) == expected
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(fitted.predict, TEXTS)) == expected
        assert list(pool.map(lambda text: fitted.nbest(text, 2), TEXTS)) == best


# Training in portions -----------------------------------------------------------------------------


def test_portions_go_on_where_a_file_ended() -> None:
    whole = made(learning=Learning(dropout=0.1, mini_sample=3.0))
    for _ in range(3):
        whole.partial_fit(TRAIN)
    parts = made(learning=Learning(dropout=0.1, mini_sample=3.0)).partial_fit(TRAIN)
    assert parts.is_trained
    for _ in range(2):
        parts = WordSegmenter.from_bytes(parts.to_bytes(state="training")).partial_fit(TRAIN)
    assert parts.to_bytes() == whole.to_bytes()
    assert parts.to_bytes(state="training") == whole.to_bytes(state="training")
    assert f_score(whole, TRAIN) > 0.8


def test_training_goes_on_after_fit() -> None:
    new = ["大学会", "看见天"]
    segmenter = made(types=None).fit(TRAIN)
    before = segmenter.predict(text_of(new))
    for _ in range(6):
        segmenter.partial_fit([new] * 4)
    assert before != new
    assert segmenter.predict(text_of(new)) == new


def test_compiled_sentences_belong_to_one_training() -> None:
    one, other = made(), made()
    compiled = one.compile(TRAIN)
    assert one.owns(compiled)
    other.partial_fit(DEV)
    assert not other.owns(compiled)
    with pytest.raises(ValueError, match="another"):
        other.learn(compiled)
    assert one.learn(compiled)[0] > 0
    assert arrays_of(one) == arrays_of(made().partial_fit(TRAIN))


# Averages -----------------------------------------------------------------------------------------


def test_the_average_of_equal_models_is_the_model(fitted: WordSegmenter) -> None:
    average = WordSegmenter.average([fitted, fitted])
    assert arrays_of(average) == arrays_of(fitted)
    assert average.predict_batch(TEXTS) == fitted.predict_batch(TEXTS)


@pytest.mark.parametrize(
    ("other", "complaint"),
    [
        ({"types": "g10"}, "templates|types"),
        ({"types": None}, "templates"),
        ({"half_width": False}, "half_width"),
        ({"sentences": "doc"}, "sentences"),
    ],
)
def test_models_that_see_other_things(
    fitted: WordSegmenter, other: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(ValueError, match=f"differ in ({complaint})"):
        WordSegmenter.average([fitted, made(**other).fit(DEV)])
    with pytest.raises(ValueError, match="no model"):
        WordSegmenter.average([])
    with pytest.raises(ValueError, match="not been trained"):
        WordSegmenter.average([fitted, made()])


# Files --------------------------------------------------------------------------------------------


def test_every_way_gives_equal_bytes(fitted: WordSegmenter, tmp_path: Path) -> None:
    data = fitted.to_bytes()
    fitted.save(tmp_path / "m.srm")
    assert (tmp_path / "m.srm").read_bytes() == data
    for again in (
        WordSegmenter.load(tmp_path / "m.srm"),
        WordSegmenter.load(tmp_path / "m.srm", verify=False),
        WordSegmenter.from_bytes(data),
        pickle.loads(pickle.dumps(fitted)),
        copy.deepcopy(fitted),
    ):
        assert isinstance(again, WordSegmenter)
        assert again.to_bytes() == data
        assert again.predict_batch(TEXTS) == fitted.predict_batch(TEXTS)
        assert again.nbest(TEXT, 3) == fitted.nbest(TEXT, 3)


def test_an_untrained_one_is_pickled_with_its_settings() -> None:
    again = pickle.loads(pickle.dumps(made(beam=7, update="plain", types=None)))
    assert (again.beam, again.update, again.types, again.is_trained) == (7, "plain", None, False)


def small(state: Any = "trained") -> bytes:
    segmenter = made(templates="separate: w-1 | append: c-1 c0", types=None)
    return segmenter.partial_fit([["大学", "生活"], ["学生", "活", "。"]]).to_bytes(state=state)


@pytest.mark.parametrize("state", ["trained", "training"])
def test_damaged_files(state: Any) -> None:
    data = small(state)
    for cut in range(0, len(data), 97):
        refused(data[:cut])
    for place in range(0, len(data), 53):
        broken = bytearray(data)
        broken[place] ^= 0x41
        # What fills up to the next array may be anything; all else is noticed.
        try:
            again = WordSegmenter.from_bytes(bytes(broken), name="some.srm")
        except ValueError as error:
            assert str(error).startswith("some.srm: ")  # noqa: PT017
        else:
            assert again.to_bytes(state=state) == data


def setting(name: str, value: Any) -> Change:
    return lambda header, arrays: header["settings"].__setitem__(name, value)


def entry(name: str, value: Any) -> Change:
    return lambda header, arrays: header.__setitem__(name, value)


def array(name: str, change: Callable[[np.ndarray], np.ndarray]) -> Change:
    return lambda header, arrays: arrays.__setitem__(name, change(arrays[name]))


@pytest.mark.parametrize(
    "change",
    [
        setting("beam", 0),
        setting("beam", "4"),
        setting("beam", True),
        setting("update", "late"),
        setting("update", None),
        setting("merge", 1),
        setting("max_word_length", -1),
        setting("sentences", "line"),
        setting("types", "g11"),
        setting("templates", ["separate: w-9"]),
        setting("templates", [5]),
        setting("templates", []),
        setting("strange", 1),
        setting("learning", {}),
        entry("task", "character_segmenter"),
        entry("labels", ["B"]),
        entry("columns", [1, 1, 3]),
        entry("columns", []),
        entry("spec", {"a": 1}),
        lambda header, arrays: header["settings"].pop("update"),
        lambda header, arrays: arrays.pop("0.keys"),
        lambda header, arrays: arrays.__setitem__("3.keys", arrays["0.keys"]),
        lambda header, arrays: arrays.__setitem__("words.0.keys", arrays["0.keys"]),
        array("0.keys", lambda keys: keys[:-1]),
        array("0.keys", lambda keys: keys.astype(np.int64)),
        array("0.values", lambda values: values[:-1]),
    ],
)
@pytest.mark.parametrize("state", ["trained", "training"])
def test_crafted_files(change: Change, state: str) -> None:
    refused(tampered(small(state), change))


def test_files_of_other_tasks(fitted: WordSegmenter) -> None:
    other = CharacterSegmenter(epochs=1).fit([["大学", "生"]])
    refused(other.to_bytes(), "character_segmenter")
    with pytest.raises(ValueError, match="word_segmenter"):
        CharacterSegmenter.from_bytes(fitted.to_bytes())
