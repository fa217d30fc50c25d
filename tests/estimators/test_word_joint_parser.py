"""Words, tags and trees in one search: learning, guides, what is left out, files and averages."""

from __future__ import annotations

import logging
import pickle
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from example_counts import quick_examples
from hypothesis import given
from hypothesis import strategies as st

from spacy_structreg.corpora.constituents import constituency_sentences
from spacy_structreg.corpora.dependencies import DependencySentence
from spacy_structreg.estimators.guided import GuidedJointParser
from spacy_structreg.estimators.joint.character_joint_tagger import CharacterJointTagger
from spacy_structreg.estimators.joint.word_joint_parser import WordJointParser
from spacy_structreg.learn.learning_settings import Learning

TREEBANK = Path(__file__).parents[2] / "treebank/train/general.bracket"
TREES = [tree.dependencies() for tree in islice(constituency_sentences(TREEBANK, "ctb"), 40)]
PAIRS = [list(zip(tree.words, tree.tags, strict=True)) for tree in TREES]
TEXTS = ["".join(tree.words) for tree in TREES]
SMALL: Any = {"beam": 8, "sentences": "doc", "seed": 3}


@pytest.fixture(scope="module")
def fitted() -> WordJointParser:
    """A trained one; tests that change weights take their own."""
    return WordJointParser(epochs=15, **SMALL).fit(TREES)


@pytest.fixture(scope="module")
def characters() -> CharacterJointTagger:
    return CharacterJointTagger(epochs=2, sentences="doc", learning=Learning()).fit(PAIRS)


def test_it_learns_its_corpus(fitted: WordJointParser) -> None:
    figures = fitted.evaluate(TREES).as_dict()
    assert figures["seg_f"] > 0.98
    assert figures["las_f"] > 0.9
    right = [fitted.predict_trees(text) == tree for text, tree in zip(TEXTS, TREES, strict=True)]
    assert sum(right) > len(TREES) * 0.6
    assert fitted.predict_trees("") is None
    assert fitted.predict_trees(" \n") is None


def test_parts_of_what_is_found_agree(fitted: WordJointParser) -> None:
    texts = [f" {text[:9]} {text[9:]}" for text in TEXTS[:8]]
    for text, tree, spans in zip(
        texts,
        fitted.predict_trees_stream(texts, n_threads=2),
        fitted.predict_tree_spans_stream(texts),
        strict=True,
    ):
        assert tree is not None
        assert list(tree.words) == fitted.predict(text)
        assert list(zip(tree.words, tree.tags, strict=True)) == fitted.predict_tagged(text)
        assert tree == fitted.predict_trees(text)
        assert tree.heads.count(-1) == 1
        assert tuple(text[begin:end] for begin, end in spans.spans.tolist()) == tree.words
        assert tuple(spans.heads.tolist()) == tree.heads
        assert spans.labels == tree.labels
        # White space ends words.
        assert not any(" " in word for word in tree.words)


def test_words_of_users_get_trees_too(fitted: WordJointParser) -> None:
    text = TEXTS[0]
    tree = fitted.predict_trees(text, [text[1:4]])
    assert tree is not None
    assert text[1:4] in tree.words
    assert "".join(tree.words) == text


def test_files_and_copies_predict_alike(fitted: WordJointParser, tmp_path: Path) -> None:
    found = [fitted.predict_trees(text) for text in TEXTS[:8]]
    fitted.save(tmp_path / "model.srt")
    for again in (
        WordJointParser.load(tmp_path / "model.srt"),
        pickle.loads(pickle.dumps(fitted)),
        fitted.freeze(bits=32),
    ):
        assert [again.predict_trees(text) for text in TEXTS[:8]] == found
    assert fitted.labels == tuple(sorted({tag for tree in TREES for tag in tree.tags}))


def test_averages_and_further_training(fitted: WordJointParser) -> None:
    other = WordJointParser(**{**SMALL, "seed": 9}, epochs=2).fit(TREES)
    average = WordJointParser.average([fitted, other])
    assert average.evaluate(TREES).as_dict()["las_f"] > 0.8
    before = average.to_bytes()
    average.partial_fit(TREES[:5])
    assert average.to_bytes() != before
    with pytest.raises(ValueError, match="none of those that the training began with"):
        average.partial_fit([replace(TREES[0], labels=("new",) * len(TREES[0].words))])


def test_sentences_that_lack_something_are_left_out(caplog: pytest.LogCaptureFixture) -> None:
    words, tags = ("我们", "学习"), ("PN", "VV")
    lacking = [
        DependencySentence(words, tags, (1, None), ("nsubj", "root")),
        DependencySentence(words, tags, (1, -1), (None, "root")),
        DependencySentence(words, ("PN", ""), (1, -1), ("nsubj", "root")),
        DependencySentence(words, tags, (-1, -1), ("root", "root")),
    ]
    with caplog.at_level(logging.WARNING, "spacy_structreg"):
        model = WordJointParser(epochs=1, **SMALL).fit([*TREES[:3], *lacking])
    assert "4 sentences are left out of training" in caplog.text
    # Words of white space are passed over, trees that are not projective lifted.
    crossing = DependencySentence(
        ("他", " ", "昨天", "看", "书"),
        ("PN", "_SP", "NT", "VV", "NN"),
        (2, 0, 4, -1, 3),
        ("a",) * 5,
    )
    model.epochs = 10
    model.fit([crossing])
    tree = model.predict_trees("他昨天看书")
    assert tree is not None
    assert tree.words == ("他", "昨天", "看", "书")


def test_ends_of_sentences_are_found() -> None:
    """Of two short sentences without a mark between them, each gets a root."""
    one = DependencySentence(("我", "爱", "你"), ("N", "V", "N"), (1, -1, 1), ("s", "r", "o"))
    other = DependencySentence(("天", "下", "雨"), ("N", "V", "N"), (1, -1, 1), ("s", "r", "o"))

    def joined(*parts: DependencySentence) -> DependencySentence:
        heads: list[int | None] = []
        for part in parts:
            shift = len(heads)
            heads += [head if head in (None, -1) else shift + (head or 0) for head in part.heads]
        return DependencySentence(
            sum((part.words for part in parts), ()),
            sum((part.tags for part in parts), ()),
            tuple(heads),
            sum((part.labels for part in parts), ()),
        )

    model = WordJointParser(epochs=10, many_roots=True, **SMALL)
    model.fit([joined(one, other), joined(other, one), joined(one, one), one, other] * 3)
    for parts in ((one, other), (other, one), (one,)):
        wanted = joined(*parts)
        assert model.predict_trees("".join(wanted.words)) == wanted


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"by_words": True}, "by_words"),
        ({"learning": Learning(mini_sample=5.0)}, "cannot be cut"),
        ({"typed_runs": "latin"}, "typed_runs"),
        ({"templates": ["arc: S9w"]}, "S9w"),
        ({"templates": ["action: S0w"]}, "action"),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        WordJointParser(**settings)


# Guides -------------------------------------------------------------------------------------------


def test_without_weight_it_is_the_model_of_words(
    fitted: WordJointParser, characters: CharacterJointTagger
) -> None:
    guided = GuidedJointParser(
        characters, fitted, weight=0.0, looks_ahead=False, window=None, beam=8, beam_margin=None
    )
    for text in TEXTS[:10]:
        assert guided.predict_trees(text) == fitted.predict_trees(text)


def test_scores_of_characters_are_added_once(
    fitted: WordJointParser, characters: CharacterJointTagger
) -> None:
    """The best tree over the same words stays the same: their analyses differ by the chain's."""
    weight, wide = 3.0, {"window": None, "beam": 10_000, "beam_margin": None}
    alone = GuidedJointParser(characters, fitted, weight=0.0, looks_ahead=False, **wide)

    @given(st.text("我们大学生在北京。", min_size=1, max_size=2), st.booleans())
    @quick_examples(8)
    def check(text: str, looks_ahead: bool) -> None:
        guided = GuidedJointParser(
            characters, fitted, weight=weight, looks_ahead=looks_ahead, **wide
        )

        def scores(model: Any) -> dict[Any, float]:
            found: dict[Any, float] = {}
            for score, words in model.nbest(text, 10_000):
                found[tuple(words)] = max(score, found.get(tuple(words), score))
            return found

        of_words, of_characters = scores(alone), scores(characters)
        assert scores(guided) == pytest.approx(
            {key: of_words[key] + weight * of_characters[key] for key in of_words}, abs=1e-4
        )

    check()


def test_a_guided_parser_learns_tunes_and_travels(tmp_path: Path) -> None:
    model = GuidedJointParser(
        CharacterJointTagger(seed=3, sentences="doc"),
        WordJointParser(**SMALL),
    )
    model.epochs = 8
    model.fit(TREES, TREES[:10])
    assert model.evaluate(TREES).as_dict()["las_f"] > 0.8
    found = [model.predict_trees(text) for text in TEXTS[:8]]
    model.save(tmp_path / "model.srt")
    again = GuidedJointParser.load(tmp_path / "model.srt")
    assert again.tuned_weight == model.tuned_weight
    assert [again.predict_trees(text) for text in TEXTS[:8]] == found
    # Batches are learned by both models, which may cut them otherwise.
    again.partial_fit(TREES[:6])
    assert len(again.compile(TREES[:6])) >= 6
    assert not again.correct(TREES[:2]).wrong
