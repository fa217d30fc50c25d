"""Models of characters with rich edge features: trained, stored, frozen, explained, corrected."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_up_corpora import sentences

from spacy_structreg.learn.learning_settings import AnyLearning, Learning, LogLinear
from spacy_structreg.models.joint.joint_reranker import JointReranker
from spacy_structreg.models.joint.joint_taggers import CharacterJointTagger, WordJointTagger
from spacy_structreg.models.labeling.labelers import FeatureLabeler
from spacy_structreg.models.segmentation import CharacterSegmenter
from spacy_structreg.tasks.segmentation.constraints import Constraints

TRAIN = sentences(60, seed=21)
TEXTS = ["".join(words) for words in sentences(20, seed=22)]
TAGGED = [[(word, "ABC"[min(len(word), 3) - 1]) for word in words] for words in TRAIN]


@pytest.fixture(scope="module")
def segmenter() -> CharacterSegmenter:
    return CharacterSegmenter(
        epochs=3, learning=Learning(mini_sample=5.5), templates="sun2014"
    ).fit(TRAIN)


@pytest.mark.parametrize("learning", [Learning(dropout=0.01), Learning("pa"), LogLinear(l2=0.001)])
def test_what_edges_alone_can_say_is_learned(learning: Any) -> None:
    """Of four characters, each says nothing, nor does a pair of labels: only two characters do."""
    gold = [["甲乙"], ["丙丁"], ["甲", "丁"], ["丙", "乙"]] * 4
    for templates, learned in (("c0 | t-1t0", False), ("c0 | t-1t0c-1c0", True)):
        model = CharacterSegmenter(
            templates=templates, types=None, epochs=30, learning=learning, sentences="doc"
        ).fit(gold)
        assert all(model.predict("".join(words)) == words for words in gold) == learned


def test_averages_unite_the_features_of_both(segmenter: CharacterSegmenter) -> None:
    other = CharacterSegmenter(epochs=3, seed=1, learning=Learning(), templates="sun2014")
    other.fit(sentences(60, seed=23))
    both = CharacterSegmenter.average([segmenter, other], mean="plain")
    text = TEXTS[1]
    words = both.predict(text)
    # The score of one analysis is the mean of those that both give it.
    listed = [both.nbest(text, 400), segmenter.nbest(text, 4000), other.nbest(text, 4000)]
    of_words = [{tuple(found): score for score, found in each} for each in listed]
    mean = np.mean([each[tuple(words)] for each in of_words[1:]])
    assert of_words[0][tuple(words)] == pytest.approx(mean, abs=1e-5)


def test_joint_models() -> None:
    characters = CharacterJointTagger(epochs=4, learning=Learning(), templates="c0 | t-1t0c-1c0")
    characters.fit(TAGGED)
    assert (
        sum(
            characters.predict_tagged("".join(words)) == gold
            for words, gold in zip(TRAIN, TAGGED, strict=True)
        )
        > 50
    )
    text = TEXTS[0]
    found = characters.explain(text)
    parts = [each.score for one in found.decisions for each in one.contributions]
    # Two labels, and the two characters that they are of.
    edges = [
        each.value.split()
        for one in found.decisions
        for each in one.contributions
        if each.template == "t-1t0c-1c0"
    ]
    assert edges
    assert all(first + second in text for *_, first, second in edges)
    ((score, best),) = characters.nbest(text, 1)
    assert sum(parts) == pytest.approx(score)
    reranker = JointReranker(characters=characters, words=WordJointTagger(epochs=1), weight=1e6)
    reranker.words.fit(TAGGED[:20])
    assert reranker.predict_tagged(text) == best


# Long sentences ----------------------------------------------------------------------------------
# The scores of all pairs of 256 labels take half a megabyte a character.


@pytest.fixture(scope="module")
def many_tags() -> CharacterJointTagger:
    gold = [[(chr(0x4E00 + number % 8), f"T{number:02}")] for number in range(64)]
    return CharacterJointTagger(epochs=1, templates="c0 | t-1t0 | t-1t0c0").fit(gold)


@pytest.fixture(scope="module")
def many_labels() -> FeatureLabeler:
    gold = [[({"w": str(number % 8)}, f"T{number:03}") for number in range(256)]]
    learning = LogLinear(mini_sample=5)
    return FeatureLabeler(edges=["w"], epochs=1, learning=learning).fit(gold)


@contextmanager
def memory(more: int) -> Iterator[None]:
    """Let the process take no more than so many further bytes."""
    resource = pytest.importorskip("resource")
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limits = resource.getrlimit(resource.RLIMIT_AS)
    most = pages * resource.getpagesize() + more
    resource.setrlimit(resource.RLIMIT_AS, (most, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere, memory cannot be limited")
def test_long_sentences_take_little_memory(
    many_tags: CharacterJointTagger, many_labels: FeatureLabeler
) -> None:
    text = "一丁七万" * 400
    places = np.array([[1000, 1003, 0]], dtype=np.int32)
    worth = Constraints(bonus_words=places, bonuses=np.array([100.0]), tags=("T05",))
    with many_tags._decoders().borrow() as decoder, memory(250_000_000):
        assert "".join(word for word, _ in many_tags.predict_tagged(text)) == text
        _, _, labels = decoder.best_labels(text, worth)
        margins = decoder.margins(text)
        predicted = many_labels.predict([{"w": str(number % 8)} for number in range(1600)])
    names = [many_tags.labels[label] for label in labels[1000:1003]]
    assert names == ["B-T05", "M-T05", "E-T05"]
    assert len(margins) == len(text) - 1
    assert len(predicted) == len(text)


def test_what_needs_all_scores_at_once_is_refused(
    many_tags: CharacterJointTagger, many_labels: FeatureLabeler
) -> None:
    text = "一丁七万" * 1025
    expected = "4,100 characters or words with 256 labels take 2,149,580,800 bytes"
    with pytest.raises(ValueError, match=f"{expected}.* give shorter sentences"):
        many_tags.nbest(text, 2)
    items = [{"w": "1"}] * 4100
    with pytest.raises(ValueError, match=expected):
        many_labels.nbest(items, 2)
    with pytest.raises(ValueError, match=r"2,050 characters or words .* take 2,149,580,800 bytes"):
        many_labels.predict_marginals(items[:2050])


def test_memory_for_all_scores_is_given_back(many_tags: CharacterJointTagger) -> None:
    pool = many_tags._decoders()
    many_tags.nbest("一丁七万", 2)
    assert pool.idle
    many_tags.nbest("一丁七万" * 75, 2)
    assert not pool.idle


@pytest.mark.parametrize(
    ("learning", "edges", "n"),
    [
        (Learning(), ["w"], 4100),
        (LogLinear(), ["w"], 1025),
        (LogLinear(noise="dropout", noise_level=0.3), [], 2050),
    ],
)
def test_training_on_long_sentences(
    learning: AnyLearning, edges: list[str], n: int, many_labels: FeatureLabeler
) -> None:
    gold = [list(zip([{"w": "1"}] * n, (many_labels.labels * 17)[:n], strict=True))]
    model = FeatureLabeler(edges=edges, epochs=1, learning=learning)
    with pytest.raises(ValueError, match=f"{n:,} characters or words .* take 2,149,580,800 bytes"):
        model.fit(gold)


def test_training_on_pieces_of_them(many_labels: FeatureLabeler) -> None:
    gold = [list(zip([{"w": "1"}] * 4100, (many_labels.labels * 17)[:4100], strict=True))]
    learning = Learning(mini_sample=4.0)
    assert FeatureLabeler(edges=["w"], epochs=1, learning=learning).fit(gold).is_trained


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere, memory cannot be limited")
def test_weights_of_log_linear_models_that_do_not_fit(many_labels: FeatureLabeler) -> None:
    """They are refused before anything is trained, or as soon as there are too many."""
    n = 10_000
    items = [{"w": str(number)} for number in range(n)]
    gold = [list(zip(items, (many_labels.labels * 40)[:n], strict=True))]
    # A weight and its part of the gradient: of features with pairs and labels, and of pairs alone.
    n_bytes = 16 * (n * 256**2 + n * 256 + 256**2)
    model = FeatureLabeler(edges=["w"], learning=LogLinear(mini_sample=5), epochs=1)
    expected = f"all 256 labels, .*: {n_bytes:,} bytes, .* Most are those of the edge features"
    with memory(300_000_000):
        with pytest.raises(ValueError, match=expected):
            model.fit(gold)
        with pytest.raises(ValueError, match="Most are those of the edge features"):
            model.compile(gold)
        characters = [chr(0x4E00 + number) for number in range(5000)]
        tagged = [[(character, f"T{ord(character) % 64}") for character in characters]]
        tagger = CharacterJointTagger(templates="c0 | t-1t0c-1c0", learning=LogLinear(), epochs=1)
        with pytest.raises(ValueError, match="those of t-1t0c-1c0: leave some out"):
            tagger.fit(tagged)
