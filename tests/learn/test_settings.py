"""Settings of learning: what is refused, and why; and that they survive being written down."""

from __future__ import annotations

import dataclasses
import json
import math
import pickle
from typing import Any

import msgpack
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from looped import looped

from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.learn.setting_fields import Settings, setting


@looped(
    ("settings", "message"),
    [
        (
            {"algorithm": "mira"},
            "algorithm must be one of perceptron, pa, pa_i, pa_ii.*, got 'mira'",
        ),
        ({"algorithm": None}, "algorithm must be one of .*, got None"),
        ({"algorithm": ["pa"]}, r"algorithm must be one of .*, got \['pa'\]"),
        ({"clock": "updates"}, "clock must be one of examples, mistakes, epochs.*, got 'updates'"),
        ({"clock": 1}, "clock must be one of .*, got 1"),
        ({"algorithm": "pa", "aggressiveness": 0}, "aggressiveness must be above 0.*, got 0"),
        ({"algorithm": "pa", "aggressiveness": -1.0}, "aggressiveness must be above 0.*, got -1.0"),
        ({"algorithm": "pa", "aggressiveness": math.nan}, "aggressiveness must be .*, got nan"),
        ({"algorithm": "pa", "aggressiveness": math.inf}, "aggressiveness must be .*, got inf"),
        ({"l2": -1e-9}, "l2 must be at least 0 and below 1, got -1e-09"),
        ({"l2": 1}, "l2 must be at least 0 and below 1, got 1"),
        ({"l2": math.nan}, "l2 must be at least 0 and below 1, got nan"),
        ({"l1": -0.5}, "l1 must be at least 0.*, got -0.5"),
        ({"l1": math.inf}, "l1 must be .*, got inf"),
        ({"cumulative_l1": -0.5}, "cumulative_l1 must be at least 0.*, got -0.5"),
        ({"cumulative_l1": math.inf}, "cumulative_l1 must be .*, got inf"),
        ({"dropout": 1.0}, "dropout must be at least 0 and below 1, got 1.0"),
        ({"dropout": -0.1}, "dropout must be at least 0 and below 1, got -0.1"),
        ({"hidden_dropout": 1}, "hidden_dropout must be at least 0 and below 1, got 1"),
        ({"hidden_dropout": math.nan}, "hidden_dropout must be .*, got nan"),
        ({"mini_sample": 0.5}, "mini_sample must be at least 1.*, got 0.5"),
        ({"mini_sample": 0}, "mini_sample must be at least 1.*, got 0"),
        ({"mini_sample": math.nan}, "mini_sample must be .*, got nan"),
        ({"mini_sample": math.inf}, "mini_sample must be .*, got inf"),
        ({"mini_sample": 1e6}, "mini_sample must be at least 1 and below 1,000,000"),
        ({"prune": -0.1}, "prune must be at least 0.*, got -0.1"),
        ({"prune": math.inf}, "prune must be .*, got inf"),
        ({"min_count": 0}, "min_count must be at least 1.*, got 0"),
        ({"min_count": 1 << 31}, "min_count must be at least 1 and at most.*, got 2147483648"),
        ({"min_count": 2.0}, "min_count must be an integer, got 2.0"),
        ({"min_count": True}, "min_count must be an integer, got True"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_values_out_of_range(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Learning(**settings)


@looped(
    "name",
    [
        *("aggressiveness", "l2", "l1", "cumulative_l1"),
        *("dropout", "hidden_dropout"),
        "mini_sample",
    ],
)
@looped("value", ["0.1", True, False, [0.1], b"1", 1j], ids=repr)
def test_what_is_no_number(name: str, value: object) -> None:
    with pytest.raises(ValueError, match=f"{name} must be a number, got .*"):
        Learning(**{"algorithm": "pa", name: value})


def test_only_mini_samples_may_be_none() -> None:
    assert Learning(mini_sample=None).mini_sample is None
    for name in ("aggressiveness", "l2", "l1", "cumulative_l1", "dropout", "hidden_dropout"):
        with pytest.raises(ValueError, match=f"{name} must be a number, got None"):
            Learning(**{name: None})


@pytest.mark.parametrize("name", ["l1", "cumulative_l1", "mini_sample"])
def test_whole_numbers_beyond_floats(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        Learning(**{name: 10**400})


@looped(
    ("settings", "reason"),
    [
        (
            {"aggressiveness": 0.5},
            "algorithm = 'perceptron' has no such parameter; choose a passive",
        ),
        ({"cumulative_l1": 0.1, "l1": 0.1}, "cannot be combined with l1 or l2: .*set one"),
        ({"cumulative_l1": 0.1, "l2": 0.1}, "cannot be combined with l1 or l2: .*set one"),
        ({"clock": "epochs", "l1": 0.1}, "penalties once an epoch only; choose clock = 'examples'"),
        ({"clock": "epochs", "l2": 0.1}, "penalties once an epoch only; choose clock = 'examples'"),
        ({"clock": "epochs", "cumulative_l1": 0.1}, "penalties once an epoch only; choose"),
    ],
    ids=str,
)
def test_combinations_without_meaning(settings: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        Learning(**settings)


@looped(
    "settings",
    [
        {"l1": 0.1, "l2": 0.1},
        {"algorithm": "pa", "aggressiveness": 1e-9},
        {"algorithm": "pa_ii", "l2": 0.5, "dropout": 0.5, "hidden_dropout": 0.5, "mini_sample": 1},
        {"clock": "epochs", "dropout": 0.5, "mini_sample": 2.5, "algorithm": "pa"},
        {"cumulative_l1": 0.1, "clock": "mistakes"},
    ],
    ids=str,
)
def test_combinations_with_a_meaning(settings: dict[str, Any]) -> None:
    learning = Learning(**settings)
    assert {name: getattr(learning, name) for name in settings} == settings


def test_defaults_are_the_averaged_perceptron() -> None:
    assert Learning().as_dict() == {
        "algorithm": "perceptron",
        "aggressiveness": 1.0,
        "l2": 0.0,
        "l1": 0.0,
        "cumulative_l1": 0.0,
        "dropout": 0.0,
        "hidden_dropout": 0.0,
        "mini_sample": None,
        "clock": "examples",
        "restart": False,
        "prune": 0.0,
        "min_count": 1,
        "precision": 24,
    }
    assert Learning().penalties == {"l1": 0.0, "l2": 0.0, "cumulative_l1": 0.0}
    assert Learning(l1=0.25, l2=0.5).penalties == {"l1": 0.25, "l2": 0.5, "cumulative_l1": 0.0}


def test_whole_numbers_become_real_ones() -> None:
    """Models of l2 = 0 and l2 = 0.0 are the same bytes."""
    learning = Learning(algorithm="pa", aggressiveness=2, l1=1, mini_sample=np.float64(5))
    for name in ("aggressiveness", "l1", "mini_sample"):
        assert type(getattr(learning, name)) is float
    assert repr(learning) == repr(
        Learning(algorithm="pa", aggressiveness=2.0, l1=1.0, mini_sample=5.0)
    )


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Learning().l2 = 0.5  # type: ignore[misc]


small = st.floats(0, 1, exclude_max=True)


@given(
    st.builds(
        Learning,
        algorithm=st.sampled_from(["pa", "pa_i", "pa_ii"]),
        aggressiveness=st.floats(0, 1e9, exclude_min=True),
        l2=small,
        l1=st.floats(0, 1e9),
        dropout=small,
        hidden_dropout=small,
        mini_sample=st.none() | st.floats(1, 999_999),
        clock=st.sampled_from(["examples", "mistakes"]),
    )
    | st.builds(Learning, cumulative_l1=st.floats(0, 1e9), mini_sample=st.floats(1, 999_999))
    | st.builds(Learning, clock=st.just("epochs"), dropout=small)
)
def test_round_trips(learning: Learning) -> None:
    written = learning.as_dict()
    assert Learning.from_dict(written) == learning
    assert Learning.from_dict(json.loads(json.dumps(written))) == learning
    assert Learning.from_dict(msgpack.unpackb(msgpack.packb(written))) == learning
    assert pickle.loads(pickle.dumps(learning)) == learning
    assert hash(Learning.from_dict(written)) == hash(learning)


def test_settings_with_other_names_are_refused() -> None:
    written = Learning().as_dict()
    for change in ({"l3": 0.1}, {7: 0.1}):
        with pytest.raises(
            ValueError, match="settings of learning must be aggressiveness, algorithm"
        ):
            Learning.from_dict({**written, **change})
    del written["clock"]
    with pytest.raises(ValueError, match="settings of learning must be aggressiveness, algorithm"):
        Learning.from_dict(written)
    with pytest.raises(ValueError, match="l2 must be a number, got 'much'"):
        Learning.from_dict({**Learning().as_dict(), "l2": "much"})


# Classes of settings ------------------------------------------------------------------------------


class Wide(Settings):
    beam: int = setting(16, "How many states are kept.", minimum=1, maximum=64)


class Narrow(Wide):
    beam: int = setting(2, "How many states are kept, of few.", minimum=1, maximum=4)


def test_another_default_keeps_the_range_of_the_nearest_base() -> None:
    class Narrowest(Narrow):
        beam: int = 1

    assert Narrowest().beam == 1
    with pytest.raises(ValueError, match="beam must be at least 1 and at most 4, got 5"):
        Narrowest(beam=5)


def test_an_inherited_setting_without_another_default_is_refused() -> None:
    with pytest.raises(TypeError, match=r"Bare\.beam is inherited; give it another default"):

        class Bare(Wide):
            beam: int
