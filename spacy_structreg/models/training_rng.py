"""The random numbers of a training, which its model file can keep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from spacy_structreg.learn.model_file import field
from spacy_structreg.models.model_spec import ModelSpec
from spacy_structreg.models.protocols import Compiled, Trainer


class TrainingRng:
    """The random numbers of one training: the order of examples; cuts and corrupted inputs.

    The two come from generators of their own, so that a setting that draws nothing changes nothing.
    """

    def __init__(self, seed: int) -> None:
        self._order = np.random.default_rng(seed)
        self._noise = np.random.default_rng([seed, 1])

    def epoch(
        self, spec: ModelSpec[Any, Any], trainer: Trainer, examples: Sequence[Compiled]
    ) -> tuple[int, int]:
        """Let a trainer visit all examples once; returns what `Trainer.epoch` does."""
        cuts, noise = map(int, self._noise.integers(1 << 63, size=2))
        pieces = spec.pieces(examples, trainer.learner.settings.mini_sample, cuts)
        return trainer.epoch(examples, pieces[self._order.permutation(len(pieces))], noise)

    def state(self) -> list[dict[str, Any]]:
        """The states of the generators, in what msgpack can hold."""
        return [_generator_state(self._order), _generator_state(self._noise)]

    @classmethod
    def from_state(cls, seed: int, states: list[Any]) -> TrainingRng:
        """The generators that `state` described. Raises ValueError if they cannot be."""
        if len(states) != 2 or not all(isinstance(state, dict) for state in states):
            raise ValueError("the states of its random generators are unusable")
        rng = cls(seed)
        rng._order, rng._noise = map(_generator, states)
        return rng


def _generator_state(generator: np.random.Generator) -> dict[str, Any]:
    # msgpack has no integers of 128 bits.
    state: dict[str, Any] = dict(generator.bit_generator.state)
    return {
        "kind": state["bit_generator"],
        "state": f"{state['state']['state']:x}",
        "inc": f"{state['state']['inc']:x}",
        "has_uint32": state["has_uint32"],
        "uinteger": state["uinteger"],
    }


def _generator(state: dict[str, Any]) -> np.random.Generator:
    bits = np.random.PCG64()
    if field(state, "kind", str) != "PCG64":
        raise ValueError(f"it was trained with the generator {state['kind']!r}, not PCG64")
    if field(state, "has_uint32", int) not in (0, 1):
        raise ValueError("the state of its random generator is unusable")
    numbers = {name: int(field(state, name, str), 16) for name in ("state", "inc")}
    # Of these, numpy before version 2 takes negative ones.
    if min(numbers.values()) < 0:
        raise ValueError(f"the state of its random generator is unusable: {numbers}")
    try:
        bits.state = {
            "bit_generator": "PCG64",
            "state": {"state": numbers["state"], "inc": numbers["inc"]},
            "has_uint32": field(state, "has_uint32", int),
            "uinteger": field(state, "uinteger", int),
        }
    except (OverflowError, TypeError) as error:
        raise ValueError(f"the state of its random generator is unusable: {error}") from error
    return np.random.Generator(bits)
