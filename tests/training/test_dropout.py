"""Input and hidden dropout: what is left out, how often, and that both sides agree on it."""

from __future__ import annotations

import numpy as np
import pytest
from learning_twins import LearningTwin, is_dropped, same_rows

from spacy_structreg.learn.learning_settings import Learning

TEMPLATES = "c-1 | c0 | c-1c0 | c0c+1 | type-1type0type+1 | t-1t0"
SENTENCES = [["我们", "在"], ["北京", "大", "学"], ["学生"], ["大学生", "在"], ["2年", "京", "北"]]
WHOLE = np.arange(len(SENTENCES))


def trained(learning: Learning, noises: list[int]) -> LearningTwin:
    """A kernel that has visited all sentences once for each noise."""
    twin = LearningTwin(TEMPLATES, SENTENCES, learning)
    for noise in noises:
        twin.trainer.epoch(twin.chains, WHOLE, noise)
    return twin


def same(first: LearningTwin, second: LearningTwin) -> bool:
    pairs = zip(first.learner.average(), second.learner.average(), strict=True)
    return first.learner.clock == second.learner.clock and all(same_rows(*pair) for pair in pairs)


@pytest.mark.parametrize("update", ["perceptron", "pa", "pa_i"])
def test_without_dropout_noise_changes_nothing(update: str) -> None:
    plain = trained(Learning(algorithm=update), [0, 0, 0])
    assert same(trained(Learning(algorithm=update, dropout=0.0), [5, 6, 7]), plain)
    assert same(trained(Learning(algorithm=update, hidden_dropout=0.0), [5, 6, 7]), plain)


@pytest.mark.parametrize("noise", ["dropout", "hidden_dropout"])
def test_the_same_noise_gives_the_same_bytes(noise: str) -> None:
    learning = Learning(**{noise: 0.3})
    assert same(trained(learning, [1, 2]), trained(learning, [1, 2]))
    assert not all(same(trained(learning, [1, 2]), trained(learning, [1, k])) for k in range(9))


@pytest.mark.parametrize("adaptive", [False, True])
@pytest.mark.parametrize("dropout", [0.05, 0.5, 0.95])
def test_input_dropout_equals_the_twin(dropout: float, adaptive: bool) -> None:
    """Features with a hidden character do not fire, in decoding and in the update."""
    twin = LearningTwin(TEMPLATES, SENTENCES, Learning(dropout=dropout), adaptive=adaptive)
    for noise in range(6):
        twin.run(twin_order(noise), noise * 2**61)


@pytest.mark.parametrize("adaptive", [False, True])
@pytest.mark.parametrize("hidden_dropout", [0.05, 0.5, 0.95])
def test_hidden_dropout_equals_the_twin(hidden_dropout: float, adaptive: bool) -> None:
    """Each weight is in or out for a visit, the pairs of labels included."""
    learning = Learning(hidden_dropout=hidden_dropout)
    twin = LearningTwin(TEMPLATES, SENTENCES, learning, adaptive=adaptive)
    for noise in range(6):
        twin.run(twin_order(noise), noise * 2**61)


def twin_order(seed: int) -> np.ndarray:
    order = np.random.default_rng(seed).permutation(len(SENTENCES))
    lengths = np.array([len("".join(words)) for words in SENTENCES])
    return np.stack((order, np.zeros_like(order), lengths[order]), axis=1)


def changed(dropout: dict[str, float], visits: int) -> tuple[np.ndarray, np.ndarray]:
    """How often the character feature of each of a hundred wrong labels was changed.

    A sentence of a hundred words of one character each, all of them different; the weights say
    that each is a word of one character with its neighbor. Only features of one character exist.
    """
    text = [chr(0x4E00 + i) for i in range(100)]
    counts = np.zeros(100)
    sizes = np.zeros(visits)
    # The twin tries all label sequences, which is out of the question here; its kernel serves.
    for visit in range(visits):
        twin = LearningTwin("c0", [text], Learning(**dropout), seed=None)
        table = twin.learner.tables[0]
        rows = [table.row(ord(character)) for character in text]
        for i, row in enumerate(rows):
            table.add([(row, i % 2, 1.0)], 1)  # B E B E ...
        before = np.array([table.weights(row) for row in rows])
        twin.trainer.epoch(twin.chains, [0], noise=visit * 977 + 1)
        after = np.array([table.weights(row) for row in rows])
        counts += after[:, 3] != before[:, 3]
        sizes[visit] = (after[:, 3] != before[:, 3]).sum()
    return counts / visits, sizes


def test_how_often_characters_are_hidden() -> None:
    """A character that is hidden changes nothing; the others were wrong, and change."""
    share, sizes = changed({"dropout": 0.3}, 150)
    # With a character hidden its neighbor may still pull both to B E: all that is seen is wrong.
    assert share.mean() == pytest.approx(0.7, abs=0.03)
    assert share.min() > 0.5
    assert share.max() < 0.9
    assert sizes.std() == pytest.approx(np.sqrt(100 * 0.3 * 0.7), rel=0.35)


@pytest.mark.parametrize("probability", [0.01, 0.1, 0.5, 0.9])
def test_how_often_weights_are_dropped(probability: float) -> None:
    """The twin's hash, which the kernel shares, over tables, rows, columns and draws."""
    random = np.random.default_rng(4)
    for draw in random.integers(2**63, size=4).tolist():
        by_row = np.array([is_dropped(draw, row, 3, probability) for row in range(10_000)])
        by_column = np.array([is_dropped(draw, 5, column, probability) for column in range(10_000)])
        by_draw = np.array([is_dropped(draw + k, 5, 3, probability) for k in range(10_000)])
        for drops in (by_row, by_column, by_draw):
            spread = np.sqrt(probability * (1 - probability) / len(drops))
            assert abs(drops.mean() - probability) < 5 * spread
            both = (drops[1:] & drops[:-1]).mean()
            assert abs(both - probability**2) < 6 * spread


@pytest.mark.parametrize("noise", ["dropout", "hidden_dropout"])
def test_nearly_everything_may_be_left_out(noise: str) -> None:
    learning = Learning(**{noise: 1 - 2.0**-53})
    twin = LearningTwin(TEMPLATES, SENTENCES, learning)
    before = twin.learner.average()
    twin.run(twin_order(1), 3)
    if noise == "hidden_dropout":
        for first, second in zip(before, twin.learner.average(), strict=True):
            assert same_rows(first, second)


@pytest.mark.parametrize("noise", [1, 5, 2**63, 2**64 - 1])
def test_hidden_characters_lie_in_the_window_of_a_piece(noise: int) -> None:
    """Features look beyond a piece: what they see there may be hidden as well."""
    templates = "c-2c-1 | c0 | c+1c+2 | t-1t0"
    learning = Learning(dropout=0.4)
    twin = LearningTwin(templates, [["大学生", "在", "北京"]], learning)
    twin.run(np.array([[0, 2, 2], [0, 0, 2], [0, 4, 2], [0, 1, 4]]), noise)
