"""Guides as knowledge sources: labels of characters by a model of another standard."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.models.joint.joint_taggers import CharacterJointTagger
from spacy_structreg.models.knowledge import contents_of, restored_guide, restored_sources
from spacy_structreg.models.segmentation import CharacterSegmenter, WordSegmenter
from spacy_structreg.models.stored_model import nested
from spacy_structreg.tasks.segmentation.characters import CharacterAtoms

TAGGED = [
    [("红", "J"), ("苹果", "N"), ("好吃", "J"), ("。", "P")],
    [("他", "R"), ("在", "P"), ("图书馆", "N"), ("看", "V"), ("书", "N")],
    [("青", "J"), ("苹果", "N"), ("不", "D"), ("好吃", "J")],
    [("图书", "N"), ("很", "D"), ("多", "J"), ("。", "P")],
]
WORDS = [[word for word, _ in sentence] for sentence in TAGGED]
# Another standard: every character is a word, but of long words.
OTHER = [["红", "苹", "果", "好", "吃", "。"], ["他", "在", "图书馆", "看", "书"]]
TEXTS = ["青苹果很好吃。", "他看图书", "书", "图书馆在多。"]
PLACES = {"B": 0, "M": 1, "E": 2, "S": 3}


def labels(words: list[str]) -> list[str]:
    return [
        label
        for word in words
        for label in ("S" if len(word) == 1 else "B" + "M" * (len(word) - 2) + "E")
    ]


@pytest.mark.parametrize("model", [CharacterSegmenter, WordSegmenter, CharacterJointTagger])
def test_symbols_are_the_labels_of_the_model(model: Any) -> None:
    tagged = model is CharacterJointTagger
    guide = model(epochs=5).fit(TAGGED if tagged else WORDS)
    source = restored_guide("guidea", *guide.contents())
    atoms = CharacterAtoms(sources=[source])
    for text in TEXTS:
        if tagged:
            pairs = guide.predict_tagged(text)
            expected = [
                1 + 4 * guide.tags.index(tag) + PLACES[label]
                for word, tag in pairs
                for label in labels([word])
            ]
        else:
            expected = [1 + PLACES[label] for label in labels(guide.predict(text))]
        symbols = atoms.symbols(text, 2)
        assert symbols[1].tolist() == [0, 0, *expected, 0, 0]
        assert max(expected) < 2 ** atoms.atoms["guidea"]
    assert atoms.symbols("", 1)[1].tolist() == [0, 0]


@pytest.fixture(scope="module")
def guide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("guide") / "guide.srt"
    CharacterSegmenter(epochs=5).fit(OTHER).save(path)
    return path


@pytest.mark.parametrize("model", [CharacterSegmenter, CharacterJointTagger])
def test_a_model_with_a_guide_is_stored_with_it(model: Any, guide: Path, tmp_path: Path) -> None:
    tagged = model is CharacterJointTagger
    trained = model(epochs=5, guides=[str(guide), str(guide)]).fit(TAGGED if tagged else WORDS)
    expected = trained.predict_batch(TEXTS)
    assert trained.predict_batch(WORDS and ["".join(words) for words in WORDS]) == WORDS
    trained.save(tmp_path / "model.srt")
    loaded = model.load(tmp_path / "model.srt")
    assert loaded.guides == (str(guide), str(guide))
    assert loaded.predict_batch(TEXTS) == expected
    assert pickle.loads(pickle.dumps(loaded)).predict_batch(TEXTS, n_threads=2) == expected
    assert loaded.to_bytes() == trained.to_bytes()


def test_labels_of_a_guide_are_learned_from(guide: Path) -> None:
    """Of characters hidden from the model, only the guide's labels say anything."""
    model = CharacterSegmenter(
        epochs=10, templates="guidea0", types=None, guides=[str(guide)], learning=Learning()
    ).fit(OTHER)
    assert model.templates == ("guidea0", *model.templates[1:])
    assert model.predict("红图书馆") == ["红", "图书馆"]


def test_threads_have_guides_of_their_own(guide: Path) -> None:
    model = CharacterSegmenter(epochs=5, guides=[str(guide)]).fit(WORDS)
    pool = model._decoders()
    first, second = pool.new_decoder(), pool.new_decoder()
    assert first.atoms.sources[0] is not second.atoms.sources[0]
    texts = TEXTS * 50
    assert model.predict_batch(texts, n_threads=4) == model.predict_batch(texts)


def test_a_folder_of_a_pipeline_is_a_guide(guide: Path, tmp_path: Path) -> None:
    (tmp_path / "pipeline" / "tokenizer").mkdir(parents=True)
    (tmp_path / "pipeline" / "tokenizer" / "model.srt").write_bytes(guide.read_bytes())
    by_folder = CharacterSegmenter(epochs=2, guides=[str(tmp_path / "pipeline")]).fit(WORDS)
    by_file = CharacterSegmenter(epochs=2, guides=[str(guide)]).fit(WORDS)
    assert by_folder.predict_batch(TEXTS) == by_file.predict_batch(TEXTS)


def test_what_is_no_guide_is_refused(guide: Path, tmp_path: Path) -> None:
    (tmp_path / "text.srt").write_text("no model", encoding="utf-8")
    with pytest.raises(ValueError, match=r"text\.srt"):
        CharacterSegmenter(guides=[str(tmp_path / "text.srt")]).fit(WORDS)
    with pytest.raises(ValueError, match="holds no trained models"):
        CharacterSegmenter(guides=[str(tmp_path)]).fit(WORDS)
    with pytest.raises(OSError, match=r"none\.srt"):
        CharacterSegmenter(guides=[str(tmp_path / "none.srt")]).fit(WORDS)
    with pytest.raises(ValueError, match="8 are the most"):
        CharacterSegmenter(guides=["one"] * 9)
    header, arrays = CharacterSegmenter.load(guide).contents()
    with pytest.raises(ValueError, match="must find words"):
        restored_guide("guidea", {**header, "task": "tagger"}, arrays)


def test_faulty_sources_of_a_file_are_refused(guide: Path) -> None:
    source = restored_guide("guidea", *CharacterSegmenter.load(guide).contents())
    entries, arrays = contents_of(CharacterAtoms(sources=[source]))
    (restored,) = restored_sources(entries, arrays)
    assert restored.atoms == source.atoms
    (entry,) = entries["sources"]
    faulty: list[Any] = [
        {"sources": 3},
        {"sources": [3]},
        {"sources": [{**entry, "source": "none"}]},
        {"sources": [{**entry, "atoms": {}}]},
        {"sources": [{**entry, "atoms": {"guidea": 60}}]},
        {"sources": [{**entry, "atoms": {"c": 3}}]},
        {"sources": [{**entry, "header": {}}]},
        {"sources": [{"source": "guide"}]},
    ]
    for each in faulty:
        with pytest.raises(ValueError, match=r"source|field|atom|guide"):
            restored_sources(each, arrays)
    with pytest.raises(ValueError, match="guide"):
        restored_sources(entries, nested("source0", {"0.keys": np.zeros(3, np.uint64)}))
