"""Passive-aggressive updates: worked steps, the constraint they meet, the outputs they oppose."""

from __future__ import annotations

import numpy as np
import pytest
from learning_twins import CharacterTwin, SplitMix64, labeled_model
from looped import looped
from twins import legal_paths, rows_by_key

from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.tasks.segmentation.bmes import bmes
from spacy_structreg.training.chain import ChainTrainer

TEMPLATES = "c-1 | c0 | c+1 | c-1c0 | c0c+1 | t-1t0"
SENTENCES = [["我们", "在"], ["北京", "大", "学"], ["学生"], ["大学生", "在"], ["京", "生", "北"]]
RULES = ("pa", "pa_i", "pa_ii")


def whole(twin: CharacterTwin, number: int) -> np.ndarray:
    return np.array([[number, 0, len(twin.texts[number])]])


class Kernel:
    """The kernel alone, on words whose characters are the only features."""

    def __init__(
        self, sentences: list[list[str]], learning: Learning, templates: str = "c0"
    ) -> None:
        model = labeled_model(templates)
        self.learner = model.features.new_learner(learning)
        self.trainer = ChainTrainer(model.features, model.graph, self.learner)
        self.chains = [
            model.atoms.compile(words, bmes(), model.features, self.learner) for words in sentences
        ]

    def epoch(self, order: list[int]) -> tuple[int, int]:
        return self.trainer.epoch(self.chains, order)

    def row(self, character: str) -> list[float]:
        """The weights of a character with B, E, M and S."""
        return rows_by_key(self.learner.tables[0])[ord(character)].tolist()


# Steps by hand ------------------------------------------------------------------------------------


def test_changes_that_cancel() -> None:
    """人 人人 (S B E) against 人人 人 (B E S): only pairs of labels differ."""
    kernel = Kernel([["人", "人人"]], Learning(algorithm="pa", clock="mistakes"), "c0 | t-1t0")
    characters, bigrams = (kernel.learner.tables[i] for i in (1, 0))
    bigrams.add([(0, 0 * 4 + 1, 5.0), (0, 1 * 4 + 3, 7.0), (0, 3 * 4 + 0, 7.0)], 1)
    # B E, E S and S B are dear: B E S and S B E score the same, all other outputs less.
    assert kernel.epoch([0]) == (1, 3)
    assert kernel.learner.clock == 1
    # Only E S and S B changed: ‖ΔΦ‖² = 2, loss 1.
    assert bigrams.weights(0)[[1, 7, 12]].tolist() == [5, 6.5, 7.5]
    assert not characters.weights(0).any()


def test_a_step_of_nothing_is_no_mistake() -> None:
    kernel = Kernel([["人", "人人"]], Learning(algorithm="pa", clock="mistakes"))
    row = kernel.learner.tables[0].row(ord("人"))
    kernel.learner.tables[0].add([(row, y, w) for y, w in ((0, 2.0), (1, 2.0), (3, 2.5))], 1)
    # S S S scores 7.5 and is the other output; then B E S and S B E at 6.5.
    assert kernel.epoch([0]) == (1, 2)
    assert kernel.learner.clock == 1
    # loss 1 + 7.5 - 6.5 = 2; ΔΦ: B +1, E +1, S -2, so 6: the step is 1/3.
    step = 1 / 3
    assert kernel.row("人") == pytest.approx([2 + step, 2 + step, 0, 2.5 - 2 * step])
    # Now S S S at 5.5 lies behind B E S at 6.5, which differs from the gold S B E by no weight.
    assert kernel.epoch([0]) == (1, 3)
    assert kernel.learner.clock == 1


@looped(
    ("rule", "aggressiveness", "step"),
    [
        ("pa", 0.1, 0.1),
        ("pa", 10.0, 0.25),
        # S S costs 2: the loss is 2, so that the step is 2/4 at most.
        ("pa_i", 0.1, 0.1),
        ("pa_i", 10.0, 0.5),
        ("pa_ii", 0.1, 2 / (4 + 1 / 0.2)),
        ("pa_ii", 10.0, 2 / (4 + 1 / 20)),
    ],
)
def test_steps_of_every_rule_by_hand(rule: str, aggressiveness: float, step: float) -> None:
    """All scores are 0: the other output of 我们, which is one word, is S S, at a margin of 0.

    The loss of Gao et al. 2010 is 1; four weights change by 1 each, so that the step is 1/4.
    """
    kernel = Kernel([["我们"]], Learning(algorithm=rule, aggressiveness=aggressiveness))
    assert kernel.epoch([0]) == (1, 2)
    assert kernel.row("我") == pytest.approx([step, 0, 0, -step], rel=1e-15)
    assert kernel.row("们") == pytest.approx([0, step, 0, -step], rel=1e-15)
    if (rule, step) == ("pa", 0.25):
        # The margin is now 1: nothing more to do.
        assert kernel.epoch([0]) == (0, 0)
        assert kernel.row("我") == [0.25, 0, 0, -0.25]


@looped("rule", RULES)
def test_only_one_output_is_possible(rule: str) -> None:
    """A sentence of one character is one word whatever the weights are."""
    kernel = Kernel([["人"]], Learning(algorithm=rule))
    assert kernel.epoch([0, 0]) == (0, 0)
    assert not any(kernel.row("人"))
    assert kernel.learner.clock == 2


# Against the twin ---------------------------------------------------------------------------------


@looped("rule", RULES)
def test_no_smaller_change_would_do(rule: str) -> None:
    """The step solves the problem that defines the rule, found by trying many steps."""
    for seed in range(10):
        learning = Learning(algorithm=rule, aggressiveness=0.2)
        twin = CharacterTwin(TEMPLATES, SENTENCES, learning, seed=seed)
        twin.run(whole(twin, seed % 5))
        visit = twin.visits[-1]
        squared, loss = visit["squared"], visit["loss"]
        if not visit["step"]:
            continue

        def objective(step: float, rule=rule, squared=squared, loss=loss) -> float:
            slack = max(0.0, loss - step * squared)
            penalty = slack**2 if rule == "pa_ii" else slack
            return 0.5 * step**2 * squared + 0.2 * penalty

        best = objective(visit["step"])
        assert all(best <= objective(step) + 1e-12 for step in np.linspace(0, 2, 2001))


@looped("seed", range(5))
@looped("labels", ["bmes", "six"])
def test_the_other_output_is_the_best_that_is_not_gold(labels: str, seed: int) -> None:
    """By trying all of them, also where the best output of all is the gold one."""
    twin = CharacterTwin(TEMPLATES, SENTENCES, Learning(algorithm="pa"), labels=labels, seed=seed)
    right_but_close = 0
    for _ in range(3):
        for number in range(len(SENTENCES)):
            twin.run(whole(twin, number))
            loss = twin.visits[-1]["loss"]
            right_but_close += 0 < loss < 1
    assert right_but_close > 0


def test_pieces_are_opposed_by_pieces() -> None:
    """At a cut any label may stand, so that outputs like M M oppose the gold ones."""
    twin = CharacterTwin(TEMPLATES, [["大学生", "在"]], Learning(algorithm="pa"), seed=3)
    opposed = set()
    for seed in range(12):
        twin = CharacterTwin(TEMPLATES, [["大学生", "在"]], Learning(algorithm="pa"), seed=seed)
        twin.run(np.array([[0, 1, 2]]))
        opposed.add(tuple(twin.visits[0]["path"]))
    assert all(twin.graph.legal[a, b] for a, b in opposed)
    assert opposed - set(legal_paths(twin.graph, 2))


def test_the_twin_draws_as_the_paper_of_splitmix_says() -> None:
    """The first words of the generator for the seed 1234567, as its authors' code prints them."""
    generator = SplitMix64(1234567)
    assert [generator.word() for _ in range(3)] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
    ]


# The norm of changes ------------------------------------------------------------------------------

# Characters that recur, so that most weights change more than once, and some come to nothing.
RECURRING = [["人" * 3, "人", "人" * 2], ["中人", "人中", "中"], ["人", "中中", "人"]]
SETS = ["c0", "c-1 | c0 | c+1", "t-1t0", "c-1 | c0 | c0c+1 | t-1t0", "c-2 | c+2 | c-1c+1"]


@looped("update", ["pa", "pa_i", "pa_ii"])
@looped("templates", SETS)
def test_changes_of_one_weight_add_up(templates: str, update: str) -> None:
    """The step depends on the norm of their sums, which the twin takes from a dictionary."""
    learning = Learning(algorithm=update, aggressiveness=100.0)
    merged = 0
    for seed in range(6):
        twin = CharacterTwin(templates, RECURRING, learning, seed=seed)
        for number, text in enumerate(twin.texts):
            twin.run(np.array([[number, 0, len(text)]]))
        merged += sum(0 < visit["squared"] != visit["fired"] for visit in twin.visits)
    assert merged > 2


def test_a_long_sentence() -> None:
    """Thousands of changes of a few weights: 0.5 n of S against B and E, in a row of one character.

    With weights of 0 the output opposed is the best by cost: all of B E, at a cost of n. ΔΦ is
    (-n/2, -n/2, n) on B, E and S.
    """
    for n in (2, 8, 5_000):
        twin = CharacterTwin(
            "c0", [["人"]], Learning(algorithm="pa_i", aggressiveness=10.0), seed=None
        )
        chain = twin.model.atoms.compile(["人"] * n, twin.scheme, twin.model.features, twin.learner)
        assert twin.trainer.epoch([chain], [0]) == (1, n)
        step = n / (1.5 * n**2)
        weights = twin.learner.tables[0].weights(0)
        assert weights[3] == pytest.approx(step * n, rel=1e-12)
        assert weights[:2] == pytest.approx([-step * n / 2] * 2, rel=1e-12)
