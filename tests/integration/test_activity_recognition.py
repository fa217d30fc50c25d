"""The project `activity_recognition`: its exact decoder against brute force, and its workflow."""

from __future__ import annotations

import sys
from itertools import pairwise, product
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from project_runs import PROJECTS, copy_of, report_of, run_project

SCRIPTS = PROJECTS / "activity_recognition/scripts"
MODULES = ("sensors", "recognize")


@pytest.fixture(scope="module")
def scripts() -> dict[str, ModuleType]:
    """The modules of the project, which belong to no package."""
    sys.path.insert(0, str(SCRIPTS))
    try:
        return {name: __import__(name) for name in MODULES}
    finally:
        sys.path.remove(str(SCRIPTS))
        for name in MODULES:
            sys.modules.pop(name, None)


@pytest.fixture
def world(scripts):
    """Three activities, two sensors of two axes."""
    rng = np.random.default_rng(5)
    n, n_sensors, n_axes = 3, 2, 2
    roots = rng.normal(size=(2, n, n_sensors, n_axes, n_axes)) + 2 * np.eye(n_axes)
    drifts, motions = roots @ np.swapaxes(roots, -1, -2)
    return scripts["sensors"].World(
        start=np.array([0.5, 0.3, 0.2]),
        follows=rng.dirichlet(np.ones(n), n),
        poses=rng.normal(size=(n, n_sensors, n_axes)),
        drifts=drifts,
        motions=motions,
    )


def log_density(samples, pose, drift, motion):
    """Of the samples (n, d) of a window, as one Gaussian of n x d numbers."""
    n = len(samples)
    covariance = np.kron(np.eye(n), motion) + np.kron(np.ones((n, n)), drift)
    away = (samples - pose).ravel()
    log_determinant = np.linalg.slogdet(2 * np.pi * covariance)[1]
    return -0.5 * (log_determinant + away @ np.linalg.solve(covariance, away))


def test_posteriors_are_those_of_all_sequences(scripts, world):
    sensors = scripts["sensors"]
    signals = np.random.default_rng(1).normal(size=(4, 3, 2, 2), scale=2).astype(np.float32)
    logs = np.array(
        [
            [
                sum(
                    log_density(
                        window[:, s].astype(float),
                        world.poses[a, s],
                        world.drifts[a, s],
                        world.motions[a, s],
                    )
                    for s in range(2)
                )
                for a in range(3)
            ]
            for window in signals
        ]
    )
    assert sensors.log_likelihoods(world, signals) == pytest.approx(logs)

    expected = np.zeros((4, 3))
    for path in product(range(3), repeat=4):
        weight = world.start[path[0]] * np.exp(sum(logs[t, a] for t, a in enumerate(path)))
        for before, after in pairwise(path):
            weight *= world.follows[before, after]
        expected[range(4), path] += weight
    expected /= expected.sum(axis=1, keepdims=True)
    assert sensors.posteriors(world, signals) == pytest.approx(expected)

    alone = world.start * np.exp(logs)
    alone /= alone.sum(axis=1, keepdims=True)
    assert sensors.window_posteriors(world, signals) == pytest.approx(alone)


def test_what_is_drawn_has_the_moments_of_the_world(scripts):
    sensors = scripts["sensors"]
    world = sensors.draw_world(np.random.default_rng(0), contrast=0.5)
    assert world.follows.sum(axis=1) == pytest.approx(np.ones(12))
    assert world.start @ world.follows == pytest.approx(world.start, abs=1e-9)
    drawn = sensors.draw(
        world, np.random.default_rng(1), n_sequences=400, n_windows=60, n_samples=4
    )
    counts = np.zeros((12, 12))
    np.add.at(counts, (drawn.activities[:, :-1], drawn.activities[:, 1:]), 1)
    often = counts.sum(axis=1)
    deviations = np.sqrt(world.follows * (1 - world.follows) / often[:, None]) + 1e-3
    assert (abs(counts / often[:, None] - world.follows) < 4 * deviations).all()
    first = np.bincount(drawn.activities[:, 0], minlength=12) / 400
    assert first == pytest.approx(world.start, abs=0.06)
    a = int(often.argmax())
    windows = drawn.signals[drawn.activities == a].astype(float)
    means = windows.mean(axis=1)
    assert means.mean(axis=0) == pytest.approx(world.poses[a], abs=0.2)
    samples = windows - means[:, None]
    motion = np.einsum("wnsi,wnsj->sij", samples, samples) / (3 * len(windows))
    assert motion == pytest.approx(world.motions[a], abs=0.1)
    away = means - world.poses[a]
    spread = np.einsum("wsi,wsj->sij", away, away) / len(windows)
    assert spread == pytest.approx(world.drifts[a] + world.motions[a] / 4, abs=0.3)


def test_features_are_what_their_names_say(scripts):
    recognize = scripts["recognize"]
    signals = np.random.default_rng(2).normal(size=(2, 6, 5, 3)).astype(np.float32)
    hip = signals[1, :, 2].astype(float)
    of_papers = recognize.statistics(signals)
    assert len(of_papers) == 5 * 12
    assert of_papers["mean:hip.y"][1] == pytest.approx(hip[:, 1].mean())
    assert of_papers["deviation:hip.y"][1] == pytest.approx(hip[:, 1].std())
    assert of_papers["energy:hip.z"][1] == pytest.approx((hip[:, 2] ** 2).mean())
    expected = np.corrcoef(hip[:, 0], hip[:, 2])[0, 1]
    assert of_papers["correlation:hip.xz"][1] == pytest.approx(expected)
    sufficient = recognize.moments(signals)
    assert len(sufficient) == 5 * 15
    assert sufficient["product:hip.xy"][1] == pytest.approx(hip[:, 0].mean() * hip[:, 1].mean())
    expected = np.cov(hip[:, 0], hip[:, 1], bias=True)[0, 1]
    assert sufficient["covariance:hip.xy"][1] == pytest.approx(expected)


def test_features_are_scaled_by_the_training_set(scripts):
    sensors, recognize = (scripts[name] for name in MODULES)
    world, _ = sensors.drawn_world(3)
    rng = np.random.default_rng(0)
    train, test = (
        sensors.draw(world, rng, n_sequences=n, n_windows=10, n_samples=4) for n in (6, 2)
    )
    features = recognize.Features(recognize.moments, train)
    rows = [row for sequence in features.sequences(train) for row, _ in sequence]
    values = np.array([list(row.values()) for row in rows])
    assert values.mean(axis=0) == pytest.approx([1, *[0] * 75], abs=1e-9)
    assert values.std(axis=0) == pytest.approx([0, *[1] * 75])
    raw = np.concatenate([recognize.moments(signals)["mean:arm.x"] for signals in train.signals])
    value = recognize.moments(test.signals[1])["mean:arm.x"][4]
    row, label = features.sequences(test)[1][4]
    assert row["mean:arm.x"] == pytest.approx((value - raw.mean()) / raw.std())
    assert label == sensors.ACTIVITIES[test.activities[1, 4]]


@pytest.mark.parametrize("damage", ["empty", "other", "half"])
def test_what_is_no_recording(scripts, damage: str, tmp_path: Path):
    sensors = scripts["sensors"]
    path = tmp_path / "train.npz"
    world, _ = sensors.drawn_world(0)
    drawn = sensors.draw(world, np.random.default_rng(0), n_sequences=1, n_windows=3, n_samples=2)
    drawn.save(path)
    again = sensors.Recording.load(path)
    assert (again.signals == drawn.signals).all()
    assert (again.activities == drawn.activities).all()
    if damage == "empty":
        path.write_bytes(b"")
    elif damage == "half":
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    else:
        sensors.Recording(drawn.signals, drawn.activities + 100).save(path)
    with pytest.raises(ValueError, match=r"train\.npz holds .*generate it again"):
        sensors.Recording.load(path)


@pytest.mark.slow
def test_label_comes_near_the_best_decoder(scripts, tmp_path: Path):
    folder = copy_of("activity_recognition", tmp_path)
    few = ("--vars.train", "50", "--vars.dev", "8", "--vars.test", "8")
    run_project(folder, "all", *few, data=None)
    report, variants = report_of(folder, "label.json"), report_of(folder, "label/dev.json")
    figures = {name: each["label_acc"] for name, each in variants["variants"].items()}
    assert report["variant"] == variants["chosen"] == max(figures, key=lambda name: figures[name])
    test = scripts["sensors"].Recording.load(folder / "corpus/test.npz")
    assert test.signals.shape == (8, 100, 8, 5, 3)
    assert report["windows"] == 800
    assert report["best_acc_of_single_windows"] < report["label_acc"] < report["best_acc"] < 1
    assert report["label_acc"] > report["best_acc"] - 0.15
