"""Perceptrons on chains with lists of features, against brute force."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from example_counts import quick_examples
from hypothesis import given, reject
from hypothesis import strategies as st
from learning_twins import PerceptronTwin, Undecided
from log_linear_twin import Sentence, chain_features, random_sentence, with_mask
from looped import looped

from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.search.viterbi import LabelGraph
from spacy_structreg.training.chain import cut

# Label 0 comes first and may come last; 1 is not followed by 0; 2 never follows itself.
HELD = LabelGraph([[1, 1, 1], [0, 1, 1], [1, 1, 0]], [1, 0, 0], [1, 1, 0])
RULES = ["perceptron", "pa", "pa_i"]


def twin_of(
    lists: Sequence[str],
    lengths: Sequence[int],
    learning: Learning,
    *,
    adaptive: bool = False,
    seed: int = 0,
    edges: str = "",
    partial: bool = False,
) -> PerceptronTwin:
    """A perceptron on random sentences of some lengths. partial: only masks of labels are known."""
    features = chain_features(f"u-1u0 | u0 | u+1 | t-1t0{edges}", HELD.n_labels, lists)
    sentences = [
        random_sentence(seed + i, features, HELD, length, real=True)
        for i, length in enumerate(lengths)
    ]
    if partial:
        sentences = [with_mask(sentence, HELD, seed) for sentence in sentences]
    return PerceptronTwin(features, HELD, sentences, learning, adaptive=adaptive, seed=seed)


@quick_examples(80)
@given(
    lists=st.sampled_from([("label",), ("edge",), ("label", "edge")]),
    # Edge features that are n-grams come in place of those of a list.
    edges=st.sampled_from(["", " | t-1t0u0 | t-1t0u-1u0 | t-1t0v+1u+2"]),
    rule=st.sampled_from(RULES),
    penalties=st.sampled_from([{}, {"l2": 0.05}, {"l1": 0.02}, {"cumulative_l1": 0.02}]),
    dropout=st.sampled_from([0.0, 0.3]),
    hidden_dropout=st.sampled_from([0.0, 0.3]),
    mini_sample=st.sampled_from([1.5, 2.5, 10.0]),
    adaptive=st.booleans(),
    partial=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_lists_of_features_are_learned(
    *,
    lists: tuple[str, ...],
    edges: str,
    rule: str,
    penalties: dict[str, float],
    adaptive: bool,
    partial: bool,
    seed: int,
    **options: Any,
) -> None:
    learning = Learning(algorithm=rule, **penalties, **options)  # type: ignore[arg-type]
    lists = tuple(name for name in lists if name == "label" or not edges)
    twin = twin_of(
        lists, (4, 3, 5), learning, adaptive=adaptive, seed=seed, edges=edges, partial=partial
    )
    for epoch in range(2):
        try:
            twin.run(cut([4, 3, 5], learning.mini_sample, seed + epoch), seed + epoch)
        except Undecided:
            reject()
        except AssertionError:
            # Dropout hides all that would tell paths apart: rounding decides between them.
            if twin.ties:
                reject()
            raise


def test_chains_without_labels_are_refused() -> None:
    twin = twin_of(("label",), (3,), Learning())
    sentence = twin.sentences[0]
    unlabeled = Sentence(sentence.symbols, None, sentence.lists, sentence.length)
    chains = [*twin.chains, twin.compile(unlabeled, twin.learner)]
    with pytest.raises(ValueError, match="sequence 1 has no labels"):
        twin.trainer.epoch(chains, [0])


@looped(
    ("listed", "message"),
    [
        (([0, 1, 1], [4], None), "does not fit 3 positions"),
        (([0, 1, 1, 2], [4], None), "does not fit 3 positions"),
        (([0, 1, 0, 1], [4], None), "does not fit 3 positions"),
        (([1, 1, 1, 1], [4], None), "does not fit 3 positions"),
        (([0, 1, 1, 1], [4], [np.nan]), "must be finite"),
        (([0, 1, 1, 1], [4], [1e31]), "must be finite and not too large"),
        (([0, 1, 1, 1], [4], [1.0, 2.0]), "must be finite"),
    ],
)
def test_wrong_lists_are_refused(listed: tuple[Any, Any, Any], message: str) -> None:
    twin = twin_of(("label",), (3,), Learning())
    starts, keys, values = listed
    arrays = (
        np.array(starts),
        np.array(keys, dtype=np.uint64),
        None if values is None else np.array(values),
    )
    before = twin.learner.n_rows()
    sentence = twin.sentences[0]
    with pytest.raises(ValueError, match=message):
        twin.compile(Sentence(sentence.symbols, sentence.labels, (arrays,), 3), twin.learner)
    with pytest.raises(ValueError, match="0 lists of features do not fit"):
        twin.compile(Sentence(sentence.symbols, sentence.labels, (), 3), twin.learner)
    assert twin.learner.n_rows() == before
