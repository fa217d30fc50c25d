"""Made-up accelerometers on a body, and the decoder that nothing can beat on them.

`python scripts/sensors.py FOLDER`: draw a world, and from it the sequences of FOLDER/train.npz,
dev.npz and test.npz.

A world is a Markov chain of activities, one a window of time, each of which goes on for a while.
During an activity every sensor has a pose, drawn anew for each window around that of the activity
(`poses`, `drifts`), and the samples of a window lie around the pose of the window, their three axes
correlated as the activity moves them (`motions`):

    pose of the window ~ N(poses[a, s], drifts[a, s])
    sample ~ N(pose of the window, motions[a, s])

As all of this is known, so is the probability of each activity at each window of a sequence: that
of the samples of a window by `log_likelihoods`, in closed form, and that of the sequence by the
forward-backward algorithm (Rabiner 1989, "A tutorial on hidden Markov models", section III). The
activity that is most probable at each window is right, in the mean, at least as often as that of
any other decoder.
"""

from __future__ import annotations

import argparse
import sys
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.corpora.files import replace_bytes

ACTIVITIES = (
    "sitting",
    "standing",
    "lying",
    "walking",
    "running",
    "cycling",
    "climbing",
    "sweeping",
    "scrubbing",
    "reading",
    "typing",
    "eating",
)
SENSORS = ("wrist", "arm", "hip", "thigh", "ankle")
AXES = ("x", "y", "z")
PARTS = ("train", "dev", "test")

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class World:
    """What sequences are drawn from: A activities, S sensors, d axes.

    start: (A,), the probability of each activity in the first window. follows: (A, A), that of the
    activity of the next window (columns) given the one of this window (rows).
    poses: (A, S, d), mean accelerations. drifts, motions: (A, S, d, d), covariances of the pose
    from window to window, and of the samples within one.
    """

    start: Floats
    follows: Floats
    poses: Floats
    drifts: Floats
    motions: Floats


@dataclass(frozen=True)
class Recording:
    """Sequences of windows: signals (sequences, windows, samples, sensors, axes), and activities
    (sequences, windows) by number."""

    signals: NDArray[np.float32]
    activities: NDArray[np.uint8]

    def save(self, path: Path) -> None:
        """Write to a file of numpy's."""
        with replace_bytes(path) as stream:
            np.savez_compressed(stream, signals=self.signals, activities=self.activities)

    @classmethod
    def load(cls, path: Path) -> Recording:
        """Raises ValueError for anything but what `save` writes."""
        try:
            with path.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
                recording = cls(arrays["signals"], arrays["activities"])
        except (
            KeyError,
            EOFError,
            TypeError,
            AttributeError,
            ValueError,
            zipfile.BadZipFile,
            zlib.error,
        ) as error:
            raise ValueError(f"{path} holds no recording ({error}); generate it again") from error
        signals, activities = recording.signals, recording.activities
        if (
            signals.dtype != np.float32
            or activities.dtype != np.uint8
            or signals.shape[3:] != (len(SENSORS), len(AXES))
            or signals.shape[:2] != activities.shape
            or 0 in signals.shape
            or not np.isfinite(signals).all()
            or activities.max() >= len(ACTIVITIES)
        ):
            raise ValueError(f"{path} holds another recording than this world's; generate it again")
        return recording


def draw_world(rng: np.random.Generator, *, contrast: float = 0.08) -> World:
    """A world; the higher the contrast, the more activities differ.

    Activities go on for 4 to 16 windows in the mean, and are followed by some others more often
    than by the rest. Poses differ by `contrast` of the deviation from window to window, motions by
    `contrast` in the logarithm of their size, and by how their axes are turned.
    """
    n, n_sensors, n_axes = len(ACTIVITIES), len(SENSORS), len(AXES)
    stay = 1.0 - 1.0 / rng.uniform(4.0, 16.0, n)
    follows = rng.dirichlet(np.full(n - 1, 0.5), n)
    chain = np.diag(stay)
    chain[~np.eye(n, dtype=bool)] = (follows * (1.0 - stay)[:, None]).ravel()
    shape = (n, n_sensors, n_axes)
    poses = rng.normal(size=shape[1:]) + contrast * rng.normal(size=shape)
    size = np.exp(contrast * rng.normal(size=shape))
    turned = np.eye(n_axes) + contrast * rng.normal(size=(*shape, n_axes))
    motions = turned @ (0.25 * size[..., None] * np.eye(n_axes)) @ np.swapaxes(turned, -1, -2)
    wander = np.eye(n_axes) + contrast * rng.normal(size=(*shape, n_axes))
    drifts = wander @ np.swapaxes(wander, -1, -2)
    # The chain is as if it had been running for long.
    start = np.linalg.matrix_power(chain, 1 << 12)[0]
    return World(start / start.sum(), chain, poses, drifts, motions)


def draw(
    world: World, rng: np.random.Generator, *, n_sequences: int, n_windows: int, n_samples: int
) -> Recording:
    """Sequences of so many windows with so many samples."""
    n, n_sensors, n_axes = world.poses.shape
    activities = np.empty((n_sequences, n_windows), np.uint8)
    activities[:, 0] = rng.choice(n, n_sequences, p=world.start)
    bounds = world.follows.cumsum(axis=1)
    for t in range(1, n_windows):
        drawn = rng.random(n_sequences)[:, None]
        later = (drawn > bounds[activities[:, t - 1]]).sum(axis=1)
        activities[:, t] = np.minimum(later, n - 1)
    drift_roots, motion_roots = (np.linalg.cholesky(c) for c in (world.drifts, world.motions))
    where = (n_sequences, n_windows)
    drift = rng.normal(size=(*where, n_sensors, n_axes))
    pose = world.poses[activities] + np.einsum("qtsij,qtsj->qtsi", drift_roots[activities], drift)
    noise = rng.normal(size=(*where, n_samples, n_sensors, n_axes))
    moved = np.einsum("qtsij,qtnsj->qtnsi", motion_roots[activities], noise)
    return Recording((pose[:, :, None] + moved).astype(np.float32), activities)


def log_likelihoods(world: World, signals: NDArray[Any]) -> Floats:
    """log p(samples | activity) of the windows of a sequence: (T, n, S, d) gives (T, A).

    The mean of the n samples of a sensor is N(poses, drifts + motions / n), and, independently,
    their scatter around it has the density of the motions alone.
    """
    n_samples, n_axes = signals.shape[1], signals.shape[3]
    samples = signals.astype(np.float64)
    means = samples.mean(axis=1)
    deviations = samples - means[:, None]
    scatter = np.einsum("tnsi,tnsj->tsij", deviations, deviations)
    spread = world.drifts + world.motions / n_samples
    away = means[:, None] - world.poses
    log_means = -0.5 * (
        _log_determinant(spread)
        + np.einsum("tasi,asij,tasj->tas", away, np.linalg.inv(spread), away)
    )
    log_scatter = -0.5 * (
        (n_samples - 1) * _log_determinant(world.motions)
        + n_axes * np.log(n_samples)
        + np.einsum("asij,tsji->tas", np.linalg.inv(world.motions), scatter)
    )
    total: Floats = (log_means + log_scatter).sum(axis=2)
    return total


def _log_determinant(covariances: Floats) -> Floats:
    """log |2π C|."""
    logs: Floats = np.linalg.slogdet(2.0 * np.pi * covariances)[1]
    return logs


def posteriors(world: World, signals: NDArray[Any]) -> Floats:
    """The probability of each activity at each window of a sequence, given all of it: (T, A)."""
    logs = log_likelihoods(world, signals)
    emitted = np.exp(logs - logs.max(axis=1, keepdims=True))
    n_windows = len(emitted)
    forward, backward = np.empty_like(emitted), np.ones_like(emitted)
    forward[0] = world.start * emitted[0]
    forward[0] /= forward[0].sum()
    for t in range(1, n_windows):
        forward[t] = (forward[t - 1] @ world.follows) * emitted[t]
        forward[t] /= forward[t].sum()
    for t in range(n_windows - 2, -1, -1):
        backward[t] = world.follows @ (emitted[t + 1] * backward[t + 1])
        backward[t] /= backward[t].sum()
    both = forward * backward
    total: Floats = both / both.sum(axis=1, keepdims=True)
    return total


def window_posteriors(world: World, signals: NDArray[Any]) -> Floats:
    """The same given that window alone."""
    logs = log_likelihoods(world, signals) + np.log(world.start)
    probabilities = np.exp(logs - logs.max(axis=1, keepdims=True))
    total: Floats = probabilities / probabilities.sum(axis=1, keepdims=True)
    return total


def drawn_world(seed: int) -> tuple[World, list[np.random.SeedSequence]]:
    """The world of a seed, and the seeds of its parts."""
    first, *parts = np.random.SeedSequence(seed).spawn(1 + len(PARTS))
    return draw_world(np.random.default_rng(first)), parts


def main(arguments: list[str] | None = None) -> int:
    """0 if all went well, else 1."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=0, help="of all that is drawn")
    for part, default in zip(PARTS, (100, 50, 100), strict=True):
        parser.add_argument(f"--{part}", type=int, default=default, help="sequences")
    parser.add_argument("--windows", type=int, default=100, help="of each sequence")
    parser.add_argument("--samples", type=int, default=8, help="of each window")
    given = parser.parse_args(arguments)
    sizes = {part: getattr(given, part) for part in PARTS}
    if given.seed < 0 or min(*sizes.values(), given.windows) < 1 or given.samples < 2:
        print(
            "the seed must be 0 or more, and there must be a sequence, a window and two samples",
            file=sys.stderr,
        )
        return 1
    world, part_seeds = drawn_world(given.seed)
    try:
        given.folder.mkdir(parents=True, exist_ok=True)
        for part, seed in zip(PARTS, part_seeds, strict=True):
            recording = draw(
                world,
                np.random.default_rng(seed),
                n_sequences=sizes[part],
                n_windows=given.windows,
                n_samples=given.samples,
            )
            recording.save(given.folder / f"{part}.npz")
            print(f"{given.folder / part}.npz: {sizes[part]:,} sequences")
    except OSError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
