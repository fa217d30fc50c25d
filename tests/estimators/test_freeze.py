"""Frozen models: of every kind, they predict as before, travel as before, and learn no more."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from made_up_corpora import tampered

from spacy_structreg.corpora.formats.brackets import constituency_sentences
from spacy_structreg.estimators.classification.text_classifier import TextClassifier
from spacy_structreg.estimators.constituents.constituency_parser import ConstituencyParser
from spacy_structreg.estimators.dependencies.dependency_parser import DependencyParser
from spacy_structreg.estimators.guided import GuidedJointParser, GuidedJointTagger, GuidedSegmenter
from spacy_structreg.estimators.joint.character_joint_tagger import CharacterJointTagger
from spacy_structreg.estimators.joint.joint_reranker import JointReranker
from spacy_structreg.estimators.joint.word_joint_parser import WordJointParser
from spacy_structreg.estimators.joint.word_joint_tagger import WordJointTagger
from spacy_structreg.estimators.labeling.feature_labeler import FeatureLabeler
from spacy_structreg.estimators.labeling.sequence_labeler import SequenceLabeler
from spacy_structreg.estimators.segmentation.character_segmenter import CharacterSegmenter
from spacy_structreg.estimators.segmentation.word_segmenter import WordSegmenter
from spacy_structreg.estimators.tagging import Tagger
from spacy_structreg.learn.model_file import parse_model

TREES = list(
    constituency_sentences(Path(__file__).parents[2] / "treebank/train/general.bracket", "ctb")
)[:24]
WORDS = [list(tree.words) for tree in TREES]
TAGGED = [list(zip(tree.words, tree.tags, strict=True)) for tree in TREES]
PAIRS = [(tree.words, tree.tags) for tree in TREES]
SHORT: Any = {"epochs": 2, "seed": 3}


def labeled() -> list[list[tuple[str, str, str]]]:
    return [[(word, tag, "B-NP" if tag == "NN" else "O") for word, tag in each] for each in TAGGED]


def of_texts(model: Any) -> list[Any]:
    find = getattr(model, "predict_tagged", model.predict)
    return [find("".join(words)) for words in WORDS]


def of_trees(model: Any) -> list[Any]:
    return [model.nbest(*pair, 2) for pair in PAIRS]


def pair_of(cls: Any, characters: Any, words: Any) -> Any:
    return cls(characters(**SHORT), words(**SHORT), weight=1.0)


Kind = tuple[Callable[[], Any], list[Any], Callable[[Any], list[Any]]]

# How a model is made, its gold sentences, and what is predicted.
KINDS: dict[str, Kind] = {
    "characters": (lambda: CharacterSegmenter(**SHORT), WORDS, of_texts),
    "words": (lambda: WordSegmenter(**SHORT), WORDS, of_texts),
    "guided": (
        lambda: pair_of(GuidedSegmenter, CharacterSegmenter, WordSegmenter),
        WORDS,
        of_texts,
    ),
    "characters, tagged": (lambda: CharacterJointTagger(**SHORT), TAGGED, of_texts),
    "words, tagged": (lambda: WordJointTagger(**SHORT), TAGGED, of_texts),
    "guided, tagged": (
        lambda: pair_of(GuidedJointTagger, CharacterJointTagger, WordJointTagger),
        TAGGED,
        of_texts,
    ),
    "words, tagged and parsed": (
        lambda: WordJointParser(**SHORT),
        [tree.dependencies() for tree in TREES],
        lambda m: [m.predict_trees("".join(words)) for words in WORDS],
    ),
    "guided, parsed": (
        lambda: GuidedJointParser(
            pair_of(GuidedJointTagger, CharacterJointTagger, WordJointTagger),
            Tagger(**SHORT),
            DependencyParser(**SHORT),
            DependencyParser(**SHORT, backward=True),
            WordJointParser(**SHORT),
            weight=1.0,
            n_best=4,
        ),
        [tree.dependencies() for tree in TREES],
        lambda m: [m.predict_trees("".join(words)) for words in WORDS],
    ),
    "reranker": (
        lambda: pair_of(JointReranker, CharacterJointTagger, WordJointTagger),
        TAGGED,
        of_texts,
    ),
    "tagger": (lambda: Tagger(**SHORT), TAGGED, lambda m: [m.nbest(words, 2) for words in WORDS]),
    "dependencies": (
        lambda: DependencyParser(**SHORT),
        [tree.dependencies() for tree in TREES],
        of_trees,
    ),
    "constituents": (lambda: ConstituencyParser(**SHORT), TREES, of_trees),
    "labels": (
        lambda: SequenceLabeler(
            templates="chunking", columns=["word", "tag"], scheme="bio", **SHORT
        ),
        labeled(),
        lambda m: [m.nbest(each, 2) for each in TAGGED],
    ),
    "features": (
        lambda: FeatureLabeler(edges=["w"], **SHORT),
        [[({f"w={word}": 1.0, "n": len(word) / 4}, tag) for word, tag in each] for each in TAGGED],
        lambda m: m.predict_batch(
            [[{f"w={word}": 1.0, "n": len(word) / 4} for word, _ in each] for each in TAGGED]
        ),
    ),
    "texts": (
        lambda: TextClassifier(ngrams=2, characters=[1, 2], **SHORT),
        [(words, "short" if len(words) < 12 else "long") for words in WORDS],
        lambda m: [m.predict_marginals(words) for words in WORDS],
    ),
}


@cache
def trained(kind: str) -> Any:
    make, gold, _ = KINDS[kind]
    return make().fit(gold)


def predicted(kind: str, model: Any) -> list[Any]:
    return KINDS[kind][2](model)


@pytest.mark.parametrize("kind", KINDS)
def test_all_kinds(kind: str, tmp_path: Path) -> None:
    """Unquantized ones say the same, with the same scores; a file of either keeps what it says."""
    model = trained(kind)
    expected = predicted(kind, model)
    before = model.to_bytes()
    frozen = model.freeze(bits=32)
    assert frozen.is_frozen
    assert not model.is_frozen
    assert model.to_bytes() == before
    assert predicted(kind, frozen) == expected
    for bits in (8, 32):
        frozen = model.freeze(bits=bits)
        frozen.save(tmp_path / f"{bits}.srt")
        # Small tables are mostly what arrays are wrapped in, and of that frozen ones have more.
        assert kind == "features" or len(frozen.to_bytes()) < len(before)
        mapped = type(model).load(tmp_path / f"{bits}.srt", mapped=True)
        expected = predicted(kind, frozen)
        for again in (mapped, pickle.loads(pickle.dumps(frozen)), frozen.from_bytes(before)):
            assert again.is_frozen == (again.to_bytes() != before)
        assert predicted(kind, mapped) == expected
        mapped.save(tmp_path / f"{bits}.srt")  # over the file that is mapped
        assert predicted(kind, mapped) == expected
        assert mapped.to_bytes() == frozen.to_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_frozen_models_learn_no_more(kind: str) -> None:
    frozen = trained(kind).freeze()
    gold = KINDS[kind][1]
    data = frozen.to_bytes()
    for act, what in (
        (lambda: frozen.partial_fit(gold), "trained further"),
        (lambda: frozen.correct(gold[:1]), "corrected"),
        (lambda: type(frozen).average([trained(kind), frozen]), "averaged"),
        (frozen.freeze, "frozen again"),
        (lambda: frozen.to_bytes(state="training"), "no training is running"),
    ):
        with pytest.raises(ValueError, match=what):
            act()
    assert frozen.to_bytes() == data


def test_models_that_cannot_be_frozen() -> None:
    with pytest.raises(ValueError, match="not been trained"):
        CharacterSegmenter().freeze()
    model = trained("characters")
    with pytest.raises(ValueError, match="choose from 8, 16 and 32"):
        model.freeze(bits=4)
    with pytest.raises(ValueError, match="give a number from 0"):
        model.freeze(prune=-1.0)
    with pytest.raises(ValueError, match="is not frozen"):
        model.to_bytes(state="frozen")


def test_pruning_makes_models_smaller() -> None:
    sizes = [
        len(trained("dependencies").freeze(bits=8, prune=prune).to_bytes())
        for prune in (0.0, 0.5, 1.0, 1e9)
    ]
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == 4


def test_threads_give_the_same() -> None:
    frozen = trained("characters").freeze()
    texts = ["".join(words) for words in WORDS] * 20
    expected = frozen.predict_batch(texts)
    assert frozen.predict_batch(texts, n_threads=2) == expected
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(frozen.predict, texts)) == expected


@pytest.mark.parametrize("kind", ["tagger", "characters, tagged"])
def test_guides_are_frozen_too(kind: str, tmp_path: Path) -> None:
    """Those of taggers and of segmenters, which are stored within their models."""
    path = tmp_path / "guide.srt"
    trained(kind).save(path)
    model: Any
    if kind == "tagger":
        model = Tagger(guide=str(path), **SHORT).fit(TAGGED)
        expected = predicted(kind, model)
    else:
        model = CharacterSegmenter(guides=[str(path)], **SHORT).fit(WORDS)
        expected = of_texts(model)
    frozen = type(model).from_bytes(model.freeze(bits=32).to_bytes())
    assert (predicted(kind, frozen) if kind == "tagger" else of_texts(frozen)) == expected
    small = model.freeze(bits=8).to_bytes()
    _, arrays = parse_model(small)
    assert not [name for name in arrays if re.search(r"(^|\.)[0-9]+\.keys$", name)]
    assert [name for name in arrays if name.startswith(("guide.", "source0.")) and "cells" in name]
    # A frozen model can be the guide of another one.
    trained(kind).freeze(bits=32).save(path)
    again = type(model)(**{**model.settings.as_dict(), "learning": model.learning}).fit(
        TAGGED if kind == "tagger" else WORDS
    )
    assert (predicted(kind, again) if kind == "tagger" else of_texts(again)) == expected


@pytest.mark.parametrize("array", ["2.layout", "2.directory", "2.cells", "2.levels"])
def test_files_that_lack_an_array(array: str) -> None:
    data = tampered(trained("characters").freeze().to_bytes(), lambda _, arrays: arrays.pop(array))
    with pytest.raises(ValueError, match="table 2 of its weights has the arrays"):
        CharacterSegmenter.from_bytes(data)


@pytest.mark.parametrize("state", ["trained", "training"])
def test_frozen_files_that_say_they_are_not(state: str) -> None:
    data = trained("characters").freeze().to_bytes()
    damaged = tampered(data, lambda header, _: header.update(state=state))
    with pytest.raises(ValueError, match=r"arrays|field"):
        CharacterSegmenter.from_bytes(damaged)
