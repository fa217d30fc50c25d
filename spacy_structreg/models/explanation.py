"""The features behind the decisions of a model, and what would have changed them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

# Sums of the same numbers in another order differ by rounding.
_ROUNDING: Final = 1e-9


@dataclass(frozen=True)
class Contribution:
    """A feature, and what it adds to the score of a decision.

    template: in its notation. value: the values of its atoms, parted by spaces. source: what it
    speaks of: a feature of the training corpus, a word list, …. weight: what the model has
    learned.
    number: the real value of the feature, by which its weight is multiplied.
    """

    template: str
    value: str
    source: str
    weight: float
    number: float = 1.0

    @property
    def score(self) -> float:
        """The part of the score that the feature is."""
        return self.weight * self.number


@dataclass(frozen=True)
class Difference:
    """A feature that tells a decision from its runner-up.

    template, value, source: as of a `Contribution`. place: where it fires, "" for the place of the
    decision. chosen, runner_up: what it adds to the scores of both; 0 where it does not fire.
    """

    template: str
    value: str
    source: str
    place: str
    chosen: float
    runner_up: float

    @property
    def score(self) -> float:
        """The part of the margin that the feature is; negative if it speaks for the runner-up."""
        return self.chosen - self.runner_up


@dataclass(frozen=True)
class Decision:
    """A decision of a model, and the next best one.

    place: where in the input. chosen, runner_up: what was decided, and what would have been; None
        if there was no other choice.
    score, runner_up_score: what was compared: the scores of whole sequences of labels, in models of
        chains, those of two actions in one state, in models of states.
    contributions: the features of the decision itself, strongest first.
    differences: the features that tell the two apart, strongest first.
    item: the number of the character or word that it is about, from 0, white space left out; None
        if it is about none, or several.
    """

    place: str
    chosen: str
    score: float
    contributions: tuple[Contribution, ...]
    runner_up: str | None = None
    runner_up_score: float | None = None
    differences: tuple[Difference, ...] = ()
    item: int | None = None

    @property
    def margin(self) -> float:
        """The lead of the decision; infinite if there was no other choice.

        It may be negative in models of states, where a beam has looked further ahead.
        """
        if self.runner_up_score is None:
            return math.inf
        return self.score - self.runner_up_score

    @property
    def to_change(self) -> tuple[Difference, ...]:
        """The fewest features without which the runner-up would score as much, or more.

        They speak for the decision, the strongest first. None are needed where the margin is not
        above 0, and there are none if there is no runner-up.
        """
        if self.runner_up_score is None:
            return ()
        left = self.margin
        needed = []
        # The strongest come first: no other choice could be smaller.
        for difference in self.differences:
            if left <= _ROUNDING * (1.0 + abs(self.score)):
                break
            if difference.score > 0.0:
                needed.append(difference)
                left -= difference.score
        return tuple(needed)


@dataclass(frozen=True)
class Explanation:
    """The decisions of a model about an input.

    text: the input. analysis: what was found. score: of what was found, as `nbest` gives it: the
    sum of the scores of the contributions of all decisions. n_items: how many characters or words
    there are, white space left out.
    """

    text: str
    analysis: str
    score: float
    decisions: tuple[Decision, ...]
    n_items: int = 0

    def about_items(self, n: int) -> Explanation:
        """The explanation of n items, with a decision about each, in their order.

        What there is of further decisions is about none.
        """
        about = (replace(each, item=i) for i, each in enumerate(self.decisions[:n]))
        return replace(self, decisions=(*about, *self.decisions[n:]), n_items=n)

    def decision(self, number: int) -> Decision:
        """A decision by its number, from 1 on. Raises ValueError if there is none."""
        if not 1 <= number <= len(self.decisions):
            there_are = (
                f"the decisions are numbered from 1 to {len(self.decisions):,}"
                if self.decisions
                else "nothing was decided"
            )
            raise ValueError(f"there is no decision {number:,}; {there_are}")
        return self.decisions[number - 1]


def joined(parts: Sequence[Explanation], text: str | None = None) -> Explanation:
    """The explanations of the sentences of a text as one; text: None for theirs, one a line."""
    decisions = []
    before = 0
    for part in parts:
        for each in part.decisions:
            item = None if each.item is None else before + each.item
            decisions.append(replace(each, item=item))
        before += part.n_items
    return Explanation(
        "\n".join(part.text for part in parts) if text is None else text,
        "\n".join(part.analysis for part in parts if part.analysis),
        sum(part.score for part in parts),
        tuple(decisions),
        before,
    )


Placed: TypeAlias = tuple[str, Contribution]
"""The place where a feature fires, and what it adds; "" for the place of the decision."""


def placed(place: str, distance: int) -> str:
    """A place with its distance from the decision, as two may look alike; "" for its own place."""
    return f"{place} ({distance:+d})" if distance else ""


def decision_of(
    place: str,
    chosen: str,
    contributions: Iterable[Contribution],
    score: float,
    rival: tuple[str, Iterable[Placed], Iterable[Placed]] | None = None,
) -> Decision:
    """A decision whose features are sorted and compared.

    contributions: of the decision; those that add nothing are left out.
    rival: the runner-up, the features of what was decided, and those of what would have been, as
        far as these may differ; None if there is none.
    """
    decision = Decision(
        place,
        chosen,
        score,
        tuple(sorted((each for each in contributions if each.score), key=_strength, reverse=True)),
    )
    if rival is None:
        return decision
    runner_up, ours, theirs = rival
    differences = _differences(ours, theirs)
    margin = math.fsum(difference.score for difference in differences)
    return replace(
        decision, runner_up=runner_up, runner_up_score=score - margin, differences=differences
    )


def _differences(ours: Iterable[Placed], theirs: Iterable[Placed]) -> tuple[Difference, ...]:
    sums: dict[tuple[str, str, str, str], list[float]] = {}
    for side, placed in enumerate((ours, theirs)):
        for where, each in placed:
            key = (each.template, each.value, each.source, where)
            sums.setdefault(key, [0.0, 0.0])[side] += each.score
    found = [Difference(*key, *scores) for key, scores in sums.items()]
    return tuple(sorted((each for each in found if each.score), key=_strength, reverse=True))


def _strength(each: Contribution | Difference) -> float:
    return abs(each.score)


def shown(value: str) -> str:
    """The value of an atom as it is read: white space, and nothing, in quotes."""
    return value if value and not value.isspace() else repr(value)


def around(items: Sequence[str], i: int, width: int = 3) -> str:
    """The place before an item, among its neighbors, marked by ``|``."""
    return f"{''.join(items[max(0, i - width) : i])}|{''.join(items[i : i + width])}"


def named(names: Mapping[int, str] | Sequence[str], number: int) -> str:
    """A name by its number; the number itself if it has none."""
    try:
        return names[number] if number >= 0 else str(number)
    except (IndexError, KeyError):
        return str(number)
