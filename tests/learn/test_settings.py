"""Settings of learning: what is refused, and why; and that they survive being written down."""

from __future__ import annotations

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
        ({"algorithm": ["pa"]}, r"algorithm must be one of .*, got \['pa'\]"),
        ({"clock": "updates"}, "clock must be one of examples, mistakes, epochs.*, got 'updates'"),
        ({"algorithm": "pa", "aggressiveness": 0}, "aggressiveness must be above 0.*, got 0"),
        ({"algorithm": "pa", "aggressiveness": math.nan}, "aggressiveness must be .*, got nan"),
        ({"algorithm": "pa", "aggressiveness": math.inf}, "aggressiveness must be .*, got inf"),
        ({"l2": -1e-9}, "l2 must be at least 0 and below 1, got -1e-09"),
        ({"l2": 1}, "l2 must be at least 0 and below 1, got 1"),
        ({"l1": -0.5}, "l1 must be at least 0.*, got -0.5"),
        ({"l1": math.inf}, "l1 must be .*, got inf"),
        ({"dropout": 1.0}, "dropout must be at least 0 and below 1, got 1.0"),
        ({"hidden_dropout": 1}, "hidden_dropout must be at least 0 and below 1, got 1"),
        ({"mini_sample": 0.5}, "mini_sample must be at least 1.*, got 0.5"),
        ({"mini_sample": 1e6}, "mini_sample must be at least 1 and below 1,000,000"),
        ({"prune": -0.1}, "prune must be at least 0.*, got -0.1"),
        ({"min_count": 0}, "min_count must be at least 1.*, got 0"),
        ({"min_count": 1 << 31}, "min_count must be at least 1 and at most.*, got 2147483648"),
        ({"min_count": 2.0}, "min_count must be an integer, got 2.0"),
        ({"min_count": True}, "min_count must be an integer, got True"),
        ({"mini_sample": 10**400}, "mini_sample"),
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
@looped("value", ["0.1", True, False, [0.1], b"1", 1j, None], ids=repr)
def test_what_is_no_number(name: str, value: object) -> None:
    if name == "mini_sample" and value is None:
        assert Learning(mini_sample=None).mini_sample is None
        return
    with pytest.raises(ValueError, match=f"{name} must be a number, got .*"):
        Learning(**{"algorithm": "pa", name: value})


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


def test_by_default_everything_is_off_but_the_averaged_perceptron() -> None:
    assert {name: value for name, value in Learning().as_dict().items() if value} == {
        "algorithm": "perceptron", "aggressiveness": 1.0, "clock": "examples", "min_count": 1,
        "precision": 24,
    }  # fmt: skip


def test_whole_numbers_become_real_ones() -> None:
    """Models of l2 = 0 and l2 = 0.0 are the same bytes."""
    learning = Learning(algorithm="pa", aggressiveness=2, l1=1, mini_sample=np.float64(5))
    for name in ("aggressiveness", "l1", "mini_sample"):
        assert type(getattr(learning, name)) is float
    assert repr(learning) == repr(
        Learning(algorithm="pa", aggressiveness=2.0, l1=1.0, mini_sample=5.0)
    )


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
