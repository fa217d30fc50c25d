"""Models that see traditional characters as simplified ones."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from looped import looped

from spacy_structreg.corpora.constituents import ConstituencySentence, Constituent
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.models.constituents import ConstituencyParser
from spacy_structreg.models.dependencies import DependencyParser
from spacy_structreg.models.joint.joint_taggers import CharacterJointTagger, WordJointTagger
from spacy_structreg.models.labeling.labelers import SequenceLabeler
from spacy_structreg.models.segmentation import CharacterSegmenter, WordSegmenter
from spacy_structreg.models.tagging import Tagger
from spacy_structreg.tasks.segmentation.user_words import UserWords

LOOKS = {"學": "学", "們": "们", "語": "语", "愛": "爱", "國": "国"}
TO_SIMPLIFIED = str.maketrans(LOOKS)
SENTENCES = [
    ["我们", "爱", "语言"],
    ["我", "学", "语言", "学"],
    ["你们", "学", "语言"],
    ["国", "爱", "我"],
]
TEST = ["我們", "學", "語言", "學"]


@pytest.fixture(autouse=True)
def opencc(monkeypatch: pytest.MonkeyPatch) -> None:
    class Converter:
        def __init__(self, name: str) -> None:
            pass

        def convert(self, text: str) -> str:
            return text.translate(TO_SIMPLIFIED)

    monkeypatch.setitem(sys.modules, "opencc", SimpleNamespace(OpenCC=Converter))


def tagged(words: list[str]) -> list[tuple[str, str]]:
    return [(word, f"T{len(word)}") for word in words]


def chain(words: list[str]) -> Sentence:
    n = len(words)
    tags = tuple(tag for _, tag in tagged(words))
    return Sentence(tuple(words), tags, (*range(1, n), -1), ("dep",) * (n - 1) + ("root",))


def phrase(words: list[str]) -> ConstituencySentence:
    tags = tuple(tag for _, tag in tagged(words))
    return ConstituencySentence(tuple(words), tags, (Constituent("S", 0, len(words), 0),))


def labeled(words: list[str]) -> list[tuple[str, str]]:
    return [(word, "B-L" if word == "语言" else "O") for word in words]


def of_text(model: Any, words: list[str]) -> Any:
    return model.predict("".join(words))


def of_words(model: Any, words: list[str]) -> Any:
    return model.predict(words)


def of_tagged(model: Any, words: list[str]) -> Any:
    return model.predict(words, [tag for _, tag in tagged(words)])


MODELS: list[tuple[Any, Any, Any]] = [
    (CharacterSegmenter, list, of_text),
    (WordSegmenter, list, of_text),
    (CharacterJointTagger, tagged, of_text),
    (WordJointTagger, tagged, of_text),
    (Tagger, tagged, of_words),
    (DependencyParser, chain, of_tagged),
    (ConstituencyParser, phrase, of_tagged),
    (SequenceLabeler, labeled, of_words),
]


def simplified(found: Any) -> Any:
    if isinstance(found, str):
        return found.translate(TO_SIMPLIFIED)
    if isinstance(found, (list, tuple)):
        return [simplified(each) for each in found]
    return found


def outcome(model: Any, predict: Any, words: list[str]) -> Any:
    found = predict(model, words)
    if isinstance(found, ConstituencySentence):
        return found.constituents
    return found


@pytest.mark.parametrize(("estimator", "gold", "predict"), MODELS)
def test_one_model_reads_both_scripts(
    estimator: Any, gold: Any, predict: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = list(map(gold, SENTENCES))
    model = estimator(epochs=4, script="simplified").fit(corpus)
    plain = estimator(epochs=4).fit(corpus)
    in_simplified = simplified(TEST)
    expected = outcome(plain, predict, in_simplified)
    assert outcome(model, predict, in_simplified) == expected
    assert simplified(outcome(model, predict, TEST)) == simplified(expected)
    if predict is of_text:
        assert "".join(predict(model, TEST)) == "".join(TEST)
    # Prediction needs no table but that of the file.
    monkeypatch.setitem(sys.modules, "opencc", None)
    model.save(tmp_path / "model.srt")
    loaded = estimator.load(tmp_path / "model.srt")
    assert simplified(outcome(loaded, predict, TEST)) == simplified(expected)
    assert loaded.to_bytes() == model.to_bytes()
    # Nor does going on with the training.
    loaded.partial_fit(corpus)
    with pytest.raises(ImportError, match=r"spacy_structreg\[scripts\]"):
        estimator(epochs=1, script="simplified").fit(corpus)
    with pytest.raises(ValueError, match="differ in script"):
        estimator.average([model, plain])
    header, arrays = model.contents()
    del arrays["script"]
    with pytest.raises(ValueError, match="script"):
        estimator.from_contents("file", header, arrays)


@looped(("estimator", "gold", "predict"), MODELS[:4])
@looped("word", ["们学", "們學", "們学"])
def test_user_words_hold_in_both_scripts(
    estimator: Any, gold: Any, predict: Any, word: str
) -> None:
    """By force, bonus and preference; at the beginning, the end, and in the middle of a text."""
    corpus = list(map(gold, SENTENCES))
    model = estimator(epochs=4, script="simplified").fit(corpus)
    plain = estimator(epochs=4).fit(corpus)
    texts = ["们学", "我们学语言", "學們學", "我們學語言", "我們學語们学"]
    entries: list[dict[str, Any]] = [{}, {"bonus": 1e5}, {"bonus": -1e5}]
    for settings in entries:
        listed, in_simplified = UserWords(), UserWords()
        listed.add(word, **settings)
        in_simplified.add("们学", **settings)
        for text in texts:
            found = simplified(model.predict(text, listed))
            assert found == simplified(plain.predict(simplified(text), in_simplified))
            assert simplified(model.nbest(text, 3, listed)) == simplified(
                plain.nbest(simplified(text), 3, in_simplified)
            )
            words = [each if isinstance(each, str) else each[0] for each in found]
            assert ("们学" in words) == (settings.get("bonus", 1) > 0)
        # As they stand, for a model that reads one script.
        assert any("们学" not in str(simplified(plain.predict(t, listed))) for t in texts)


def test_tags_of_user_words_hold_in_both_scripts() -> None:
    model = CharacterJointTagger(epochs=4, script="simplified").fit(list(map(tagged, SENTENCES)))
    words = UserWords([("语言", "T1"), ("語言", "T2"), ("們學", "T1")])
    assert model.predict_tagged("我愛語言", words)[-1] == ("語言", "T2")
    assert model.predict_tagged("我爱语言", words)[-1] == ("语言", "T1")
    # Of neither spelling: the first one counts.
    assert model.predict_tagged("我爱语言学", words)[-2:] == [("语言", "T1"), ("学", "T1")]
    assert ("们学", "T1") in model.predict_tagged("我们学", words)
    assert "語言" in [each.text for each in model.search_words("我愛語言", UserWords(["语言"]))]


def test_training_on_the_other_script_is_the_same() -> None:
    model = CharacterSegmenter(epochs=3, script="simplified").fit(SENTENCES)
    traditional = {simple: form for form, simple in LOOKS.items()}
    other = CharacterSegmenter(epochs=3, script="simplified").fit(
        [[word.translate(str.maketrans(traditional)) for word in words] for words in SENTENCES]
    )
    assert other._state("trained")[1].keys() == model._state("trained")[1].keys()
    for name, array in model._state("trained")[1].items():
        assert np.array_equal(array, other._state("trained")[1][name])


def test_gazetteers_are_seen_in_the_same_script() -> None:
    model = SequenceLabeler(
        epochs=3, script="simplified", gazetteers={"langs": ["語 言", "語言"]}
    ).fit(list(map(labeled, SENTENCES)))
    names = model.features(["語言"])
    assert names == model.features(["语言"])
    assert "gazetteers(w0)=B-langs" in names[0]
