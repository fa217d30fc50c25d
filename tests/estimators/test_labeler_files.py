"""Model files of labelers and classifiers: whole in other processes, refused when crafted."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from crafted import NOT_LISTS, NOT_STRINGS, NOT_WHOLE, array, entry, put, setting
from labeled import named_sentences, tokens_of
from made_up_corpora import Change, tampered

from spacy_structreg.estimators.classification.text_classifier import TextClassifier
from spacy_structreg.estimators.label_chain import ChainEstimator
from spacy_structreg.estimators.labeling.feature_labeler import FeatureLabeler
from spacy_structreg.estimators.labeling.sequence_labeler import SequenceLabeler
from spacy_structreg.features.gazetteers import Gazetteers
from spacy_structreg.learn.learning_settings import Learning, LogLinear

Model = ChainEstimator[Any, Any]
SPAWN = multiprocessing.get_context("spawn")
CORPUS = named_sentences(12, seed=3)
TOKENS = tokens_of(named_sentences(10, seed=4))

SEQUENCE = SequenceLabeler(
    templates="label: w0 | tag(w-1) | gazetteers(w0) | ngrams(w0) \n edge: \n edge: w0",
    columns=["w", "tag"],
    scheme="bioes",
    gazetteers=Gazetteers({"place": ["Harn", "Velt Bay"], "other": ["saw"]}, lower=True),
    epochs=2,
)
FEATURES = FeatureLabeler(edges=["tag"], scheme="bio", epochs=2)
TEXT = TextClassifier(ngrams=2, characters=[2], values="log", normalize=True, epochs=2)

ITEMS = {
    "sequence_labeler": TOKENS,
    "feature_labeler": [[{"w": word, "tag": tag} for word, tag in rows] for rows in TOKENS],
    "text_classifier": [[word for word, _ in rows] for rows in TOKENS],
}
GOLD: dict[str, list[Any]] = {
    "sequence_labeler": list(CORPUS),
    "feature_labeler": [
        [({"w": word, "tag": tag, "x": 0.5}, label) for word, tag, label in rows] for rows in CORPUS
    ],
    "text_classifier": [
        ([word for word, *_ in rows], "long" if len(rows) > 4 else "short") for rows in CORPUS
    ],
}
UNTRAINED: dict[str, Model] = {model.TASK: model for model in (SEQUENCE, FEATURES, TEXT)}
TRAINED: dict[str, Model] = {
    task: model.untrained().fit(GOLD[task]) for task, model in UNTRAINED.items()
}
RUNNING: dict[str, Model] = {
    task: model.untrained().partial_fit(GOLD[task]) for task, model in UNTRAINED.items()
}
TASKS = pytest.mark.parametrize("task", sorted(UNTRAINED))


def answers(model: Any) -> list[Any]:
    items = ITEMS[model.TASK]
    return [model.predict_batch(items), [list(found) for found in map(model.predict, items)]]


def refused(task: str, data: bytes) -> str:
    with pytest.raises(ValueError, match=r"^some\.srm: ") as caught:
        type(UNTRAINED[task]).from_bytes(data, name="some.srm")
    return str(caught.value)


# Every way ----------------------------------------------------------------------------------------


@TASKS
def test_equal_through_every_way(task: str, tmp_path: Path) -> None:
    model, path = TRAINED[task], tmp_path / "model.srt"
    model.save(path)
    assert task == type(model).TASK
    for again in (
        type(model).load(path),
        type(model).load(path, verify=False),
        type(model).from_bytes(model.to_bytes()),
        pickle.loads(pickle.dumps(model)),
        copy.deepcopy(model),
    ):
        assert type(again) is type(model)
        assert again.to_bytes() == path.read_bytes() == model.to_bytes()
        assert answers(again) == answers(model)
    loaded = type(model).load(path)
    assert loaded.settings.as_dict() == model.settings.as_dict()
    assert loaded.fit(GOLD[task]).to_bytes() == model.to_bytes()
    untrained = pickle.loads(pickle.dumps(UNTRAINED[task]))
    assert untrained.settings.as_dict() == model.settings.as_dict()
    assert untrained.labels == ()
    with pytest.raises(ValueError, match="has not been trained"):
        untrained.predict(ITEMS[task][0])


@TASKS
@pytest.mark.parametrize("learning", [LogLinear(), Learning(dropout=0.1)])
def test_saved_in_training(task: str, learning: Any) -> None:
    cls = type(UNTRAINED[task])
    settings = {**vars(UNTRAINED[task].settings), "learning": learning}
    running = cls(**settings).partial_fit(GOLD[task])
    again = cls.from_bytes(running.to_bytes(state="training"))
    assert answers(again) == answers(running)
    for model in (running, again):
        model.partial_fit(GOLD[task])
    assert again.to_bytes(state="training") == running.to_bytes(state="training")


def work(models: list[Any], queue: Any) -> None:
    """What the child does."""
    queue.put([answers(model) for model in models])


@pytest.mark.slow
def test_a_spawned_process(tmp_path: Path) -> None:
    models: list[Any] = []
    for task, model in TRAINED.items():
        model.save(tmp_path / task)
        models += [model, type(model).load(tmp_path / task)]
    queue = SPAWN.Queue()
    child = SPAWN.Process(target=work, args=(models, queue))
    child.start()
    found = queue.get(timeout=120)
    child.join(timeout=120)
    assert child.exitcode == 0
    assert found == [answers(model) for model in models]


# Damage and craft ---------------------------------------------------------------------------------


@TASKS
def test_damage(task: str) -> None:
    data = TRAINED[task].to_bytes()
    for length in range(0, len(data), 29):
        refused(task, data[:length])
    for place in range(0, len(data), 31):
        damaged = bytearray(data)
        damaged[place] ^= 0xFF
        try:
            again = type(TRAINED[task]).from_bytes(bytes(damaged), name="some.srm")
        except ValueError as error:
            assert str(error).startswith("some.srm: ")  # noqa: PT017
            continue
        # What lies between arrays does not matter.
        assert again.to_bytes() == data


BAD: dict[str, Change] = {
    "no settings": lambda header, _: header.pop("settings"),
    "no labels": lambda header, _: header.pop("labels"),
    "no columns": lambda header, _: header.pop("columns"),
    **{f"task {v!r}": entry("task", v) for v in (*NOT_STRINGS, "tagger")},
    **{f"settings {v!r}": entry("settings", v) for v in NOT_LISTS},
    **{
        f"labels {v!r}": entry("labels", v)
        for v in (
            *NOT_LISTS, [], ["B-PER"], [1], [None], ["X", "X"], [str(i) for i in range(1025)],
            ["O", "B-LOC"], ["B-LOC", "I-LOC", "L-LOC", "O"],
        )
    },
    **{f"columns {v!r}": entry("columns", v) for v in (*NOT_LISTS, [], [1], [2**62, 1])},
    "another setting": setting("more", 1),
    "a setting is missing": lambda header, _: header["settings"].pop("seed"),
    **{f"epochs {v!r}": setting("epochs", v) for v in (*NOT_WHOLE, 0, None)},
    **{f"learning {v!r}": setting("learning", v) for v in (None, 1, {}, {"optimizer": "sgd"}, [])},
    "another rate": lambda header, _: header["settings"]["learning"].update(rate=-1.0),
    "a rate that is none": lambda header, _: header["settings"]["learning"].update(rate="x"),
    "NaN as a rate": lambda header, _: header["settings"]["learning"].update(rate=float("nan")),
    "no arrays": lambda _, arrays: arrays.clear(),
    **{
        f"no {name}": lambda _, arrays, name=name: arrays.pop(name)  # type: ignore[misc]
        for name in ("0.keys", "0.values")
    },
    **{
        f"{name!r} besides": lambda _, arrays, name=name: arrays.update({name: np.zeros(1)})  # type: ignore[misc]
        for name in ("9.keys", "keys", "", "0.more", "graph")
    },
    "values in one dimension": array("0.values", lambda a: a.reshape(-1)),
    "a row too few": array("0.values", lambda a: a[:-1]),
    "wide": array("0.values", lambda a: np.hstack([a, a])),
    "signed keys": array("0.keys", lambda a: a.astype(np.int64)),
    **{f"{v} as a weight": put("0.values", v) for v in map(np.float64, ("nan", "inf"))},
    "a training, it says": entry("state", "training"),
}  # fmt: skip

NOT_TRUTHS: list[Any] = [None, 0, 1, "yes", [], {}]
BAD_OF: dict[str, dict[str, Change]] = {
    "sequence_labeler": {
        **{
            f"templates {v!r}": setting("templates", v)
            for v in (None, 1, "w0", {}, [], [1], [None], ["label: w0"], ["ner"], ["label: x(w0)"],
                      ["edge:", "edge:"], ["\0"], ["label: " + "w0 " * 99])
        },
        **{
            f"columns of tokens {v!r}": setting("columns", v)
            for v in (None, 1, "w", {}, [], [1], ["w"], ["w", "w"], ["w", "t a g"], ["tag", "w"])
        },
        **{f"scheme {v!r}": setting("scheme", v) for v in (1, "", "iob1", "bio", [], {})},
        **{
            f"gazetteers {v!r}": setting("gazetteers", v)
            for v in (1, "x", [], {}, {"lists": {}}, {"a": ["b"]},
                      {"lists": 1, "lower": True, "characters": False},
                      {"lists": {"place": "x"}, "lower": True, "characters": False},
                      {"lists": {"place": []}, "lower": True, "characters": False},
                      {"lists": {"place": [1]}, "lower": True, "characters": False},
                      {"lists": {"": ["x"]}, "lower": True, "characters": False},
                      {"lists": {"place": [" "]}, "lower": True, "characters": False},
                      {"lists": {"place": ["x"]}, "lower": "no", "characters": False},
                      {"lists": {"place": ["x"]}, "lower": True, "characters": 3})
        },
    },
    "feature_labeler": {
        **{f"edges {v!r}": setting("edges", v)
           for v in (None, 1, "tag", {}, [], [1], [None], ["a:b"])},
        **{f"scheme {v!r}": setting("scheme", v) for v in (1, "", "iob1", "bioes", [], {})},
    },
    "text_classifier": {
        **{f"ngrams {v!r}": setting("ngrams", v) for v in (*NOT_WHOLE, None, 4)},
        **{f"characters {v!r}": setting("characters", v)
           for v in ("12", 2, {}, {"1": 1}, [0], [9], ["1"], [1.5], [True], [None])},
        **{f"lower {v!r}": setting("lower", v) for v in NOT_TRUTHS},
        **{f"normalize {v!r}": setting("normalize", v) for v in NOT_TRUTHS},
        **{f"values {v!r}": setting("values", v) for v in (*NOT_STRINGS, "", "tf")},
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("task", "change"),
    [
        pytest.param(task, change, id=f"{task}: {name[:50]}")
        for task in sorted(UNTRAINED)
        for name, change in {**BAD, **BAD_OF[task]}.items()
    ],
)
def test_crafted(task: str, change: Change) -> None:
    refused(task, tampered(TRAINED[task].to_bytes(), change))


@TASKS
@pytest.mark.parametrize(
    "change",
    [
        *(entry("clock", v) for v in (*NOT_WHOLE, None, -(2**63), 2**63, 2**64 - 1)),
        *(entry("positions", v) for v in (*NOT_WHOLE, None, -1, 2**63, 2**64 - 1)),
        *(entry("squares", v) for v in (None, "1", [], True, -1.0, float("nan"), float("inf"))),
        lambda header, _: header.pop("positions"),
        lambda header, _: header.pop("squares"),
        lambda header, _: header["generators"].pop(),
        array("0.values", lambda a: a.astype(np.float32)),
        array("0.sums", lambda a: a[:-1]),
        put("0.values", np.float64("nan")),
        put("0.sums", np.float64("inf")),
    ],
)
def test_crafted_in_training(task: str, change: Change) -> None:
    refused(task, tampered(RUNNING[task].to_bytes(state="training"), change))


@TASKS
def test_nothing_changed(task: str) -> None:
    """What the changes above are changes of is sound."""
    for model, state in ((TRAINED[task], "trained"), (RUNNING[task], "training")):
        data = model.to_bytes(state=state)  # type: ignore[arg-type]
        same = tampered(data, lambda header, arrays: None)
        assert same == data
        again = type(model).from_bytes(same)
        assert again.to_bytes(state=state) == data  # type: ignore[arg-type]
