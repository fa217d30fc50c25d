"""Spaces of hyper-parameters: what is drawn, rounds of halving, and faults."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spacy_structreg.cli.search_space import Range, Space, read_space, rounds_of


def draws(values: Range, n: int = 400) -> list[float]:
    rng = np.random.default_rng(1)
    return [values.draw(rng) for _ in range(n)]


def test_numbers_lie_in_their_range() -> None:
    assert set(draws(Range(5, 30, step=5))) == {5, 10, 15, 20, 25, 30}
    assert set(draws(Range(1, 3))) == {1, 2, 3}
    assert set(draws(Range(0.0, 0.4, step=0.1))) == {0.0, 0.1, 0.2, 0.3, 0.4}
    assert set(draws(Range(7, 7))) == {7}
    assert all(type(number) is int for number in draws(Range(1, 64, log=True)))
    assert {1, 2} < set(draws(Range(1, 64, log=True))) <= set(range(1, 65))
    for values in (Range(0.0, 1.0), Range(1e-6, 1e-2, log=True), Range(0.12345, 0.12346)):
        found = draws(values)
        assert all(values.low <= number <= values.high for number in found)
        assert all(type(number) is float for number in found)
    # As many below the middle as above it: of the numbers, or of their logarithms.
    assert 0.4 < np.mean(np.array(draws(Range(0.0, 1.0))) < 0.5) < 0.6
    assert 0.4 < np.mean(np.array(draws(Range(1e-6, 1e-2, log=True))) < 1e-4) < 0.6


def test_trials_differ_and_depend_on_the_seed_alone() -> None:
    settings: dict[str, Any] = {"a.x": Range(0.0, 1.0), "a.y": [1, None, "pa"]}
    trials = Space(settings, trials=20, seed=3).draw()
    assert len(trials) == len({repr(each) for each in trials}) == 20
    turned = dict(reversed(settings.items()))
    assert Space(turned, trials=20, seed=3).draw() == trials
    assert Space(settings, trials=8, seed=3).draw() == trials[:8]
    assert Space(settings, trials=20, seed=4).draw() != trials
    # There are no more than these.
    few = Space({"a.x": [1, 2], "a.y": Range(1, 3)}, trials=50).draw()
    assert sorted((each["a.x"], each["a.y"]) for each in few) == [
        (x, y) for x in (1, 2) for y in (1, 2, 3)
    ]


def test_settings_may_be_chosen_together() -> None:
    both = [{"a.rule": "perceptron", "a.step": 1.0}, {"a.rule": "pa"}]
    space = Space({"rule": both, "a.x": Range(1, 2)}, trials=50)
    found = space.draw()
    assert len(found) == 4
    assert {tuple(sorted(each)) for each in found} == {
        ("a.rule", "a.step", "a.x"),
        ("a.rule", "a.x"),
    }
    assert all((each["a.rule"] == "perceptron") == ("a.step" in each) for each in found)


@pytest.mark.parametrize(
    ("n", "most", "options", "expected"),
    [
        # 1, 3 and 9 of 9 epochs, as the third part of the trials goes on.
        (27, 9, {}, [(27, 1), (9, 3), (3, 9)]),
        (27, 30, {}, [(27, 1), (9, 3), (3, 10), (1, 30)]),
        (30, 27, {}, [(30, 1), (10, 3), (3, 9), (1, 27)]),
        (30, 27, {"least": 3}, [(30, 3), (10, 9), (3, 27)]),
        (8, 100, {"factor": 2}, [(8, 12), (4, 25), (2, 50), (1, 100)]),
        (2, 100, {}, [(2, 100)]),
        (5, 2, {}, [(5, 2)]),
        (9, 9, {"method": "random"}, [(9, 9)]),
    ],
)
def test_rounds_by_hand(
    n: int, most: int, options: dict[str, Any], expected: list[tuple[int, int]]
) -> None:
    space = Space({"a.b": [1]}, trials=n, **{"method": "halving", **options})
    assert rounds_of(space, n, most) == expected


GOOD = "settings: {a.b: {low: 1, high: 2}}\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there is no block `settings`"),
        ("settings: [1]", "there is no block `settings`"),
        ("settings: {}", "there is nothing to try"),
        ("settings: {a.b: [1, 2]", "no YAML"),
        ("settings: {a.b: [1, 2]}", "a.b: give it low and high"),
        ("settings: {a.b: {low: 1}}", "a.b: give it low and high"),
        ("settings: {a.b: {low: 1, high: 2, base: 2}}", "a.b: give it low and high"),
        ("settings: {a.b: {low: 3, high: 2}}", "a.b: low is 3, which is more than high, 2"),
        ("settings: {a.b: {low: x, high: 2}}", "a.b: low must be a number, got 'x'"),
        ("settings: {a.b: {low: .nan, high: 2}}", "a.b: low must be at least"),
        ("settings: {a.b: {low: 0, high: 2, log: true}}", "a.b: log needs a low above 0"),
        ("settings: {a.b: {low: 1, high: 2, log: 3}}", "a.b: log is 3"),
        ("settings: {a.b: {low: 1, high: 2, step: 0}}", "a.b: step must be above 0"),
        ("settings: {a.b: {choices: []}}", "a.b: choices must be a list"),
        ("settings: {ab: {low: 1, high: 2}}", "ab: name a setting by the dots"),
        ("settings: {ab: {choices: [1]}}", "ab: name a setting by the dots"),
        ("settings: {ab: {choices: [{c: 1}]}}", "ab: c is no setting"),
        ("settings: {a.b: {choices: [1]}, c: {choices: [{a.b: 1}]}}", "a.b is there twice"),
        ("settings: {1: {choices: [1]}}", "1: name a setting by the dots"),
        (GOOD + "trials: 0", "trials must be at least 1"),
        (GOOD + "trials: true", "trials must be an integer"),
        (GOOD + "factor: 1", "factor must be at least 2"),
        (GOOD + "seed: -1", "seed must be at least 0"),
        (GOOD + "method: grid", "method must be one of random, halving, got 'grid'"),
        (GOOD + "method: [random]", "method must be one of random, halving"),
        (GOOD + "resource: time", "resource must be one of epochs, corpus, got 'time'"),
        (GOOD + "metric: 3", "metric is 3"),
        (GOOD + "budget: 3", "there is no 'budget'; choose from settings, trials"),
        ("a: &a [*a]\n" + GOOD, "there is no 'a'"),
    ],
)
def test_faults_name_the_file(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "space.yml"
    path.write_text(text, "utf-8")
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        read_space(path)
    assert str(caught.value).startswith(f"{path}: {message}"), caught.value


def test_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "space.yml"
    path.write_text(
        "settings:\n  a.b: {low: 1e-6, high: 1.0e-2, log: true}\n  a.c: {choices: [null, x]}\n"
        "trials: 4\nmethod: halving\nfactor: 2\nseed: 9\nmetric: seg_r\n"
        "resource: corpus\nleast: 5\n",
        "utf-8",
    )
    assert read_space(path) == Space(
        {"a.b": Range(1e-6, 0.01, log=True), "a.c": [None, "x"]},
        *(4, "halving", 2, "corpus", 5, 9, "seg_r"),
    )
