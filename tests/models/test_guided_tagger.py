"""Taggers with a guide: a tagger of another standard whose tags are features."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from spacy_structreg.about import MODEL_FILE
from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.models.segmentation import CharacterSegmenter
from spacy_structreg.models.tagging import Tagger

TAGGED = [
    [("红", "J"), ("苹果", "N"), ("好吃", "J"), ("。", "P")],
    [("他", "R"), ("在", "P"), ("图书馆", "N"), ("看", "V"), ("书", "N")],
    [("青", "J"), ("苹果", "N"), ("不", "D"), ("好吃", "J")],
    [("图书", "N"), ("很", "D"), ("多", "J"), ("。", "P")],
]
WORDS = [[word for word, _ in sentence] for sentence in TAGGED]
TAGS = [[tag for _, tag in sentence] for sentence in TAGGED]


@pytest.fixture(scope="module")
def guide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tagger of another standard, in a pipeline beside another model."""
    folder = tmp_path_factory.mktemp("pipeline")
    for name in ("tagger", "tokenizer"):
        (folder / name).mkdir()
    other = [[(word, f"{tag}{len(word)}") for word, tag in sentence] for sentence in TAGGED]
    Tagger(epochs=5).fit(other).save(folder / "tagger" / MODEL_FILE)
    CharacterSegmenter(epochs=2).fit(WORDS).save(folder / "tokenizer" / MODEL_FILE)
    return folder


def test_a_tagger_is_stored_with_its_guide(guide: Path, tmp_path: Path) -> None:
    tagger = Tagger(epochs=5, guide=str(guide)).fit(TAGGED)
    sentences = [*WORDS, ["青", "图书"], [], ["书"]]
    expected = tagger.predict_batch(sentences)
    assert expected[: len(TAGS)] == TAGS
    tagger.save(tmp_path / "model.srt")
    loaded = Tagger.load(tmp_path / "model.srt")
    assert loaded.guide == str(guide)
    assert loaded.to_bytes() == tagger.to_bytes()
    assert loaded.predict_batch(sentences * 20, n_threads=3) == expected * 20
    assert pickle.loads(pickle.dumps(loaded)).predict_batch(sentences) == expected
    loaded.partial_fit(TAGGED)
    assert loaded.predict_batch(WORDS) == TAGS


@pytest.mark.parametrize("mini_sample", [None, 1.5])
def test_tags_of_the_guide_are_those_of_the_whole_sentence(
    guide: Path, mini_sample: float | None
) -> None:
    """Templates that see nothing but the guide's tags learn whatever it says of the words."""
    other = Tagger.load(guide / "tagger" / MODEL_FILE)
    gold = [
        [(word, tag[:-1]) for word, tag in zip(words, other.predict(words), strict=True)]
        for words in WORDS
    ]
    learning = Learning(mini_sample=mini_sample)
    tagger = Tagger(epochs=10, templates="tag: guide(w0)", guide=str(guide), learning=learning)
    tagger.fit(gold)
    assert tagger.predict_batch(WORDS) == [[tag for _, tag in sentence] for sentence in gold]


def test_a_given_tag_stays(guide: Path) -> None:
    tagger = Tagger(epochs=5, guide=str(guide)).fit(TAGGED)
    assert tagger.predict(WORDS[0], given=[None, "V", None, None])[1] == "V"
    assert tagger.nbest(WORDS[0], 2)[0][1] == TAGS[0]


def test_what_is_no_guide_is_refused(guide: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="holds no trained models"):
        Tagger(guide=str(tmp_path)).fit(TAGGED)
    with pytest.raises(ValueError, match="it is none"):
        Tagger(guide=str(guide / "tokenizer" / MODEL_FILE)).fit(TAGGED)
    with pytest.raises(OSError, match=r"none\.srt"):
        Tagger(guide=str(tmp_path / "none.srt")).fit(TAGGED)
    with pytest.raises(ValueError, match="need a guide"):
        Tagger(templates="tag: guide(w0)")
    header, arrays = Tagger(epochs=2, guide=str(guide)).fit(TAGGED).contents()
    header["settings"]["guide"] = None
    with pytest.raises(ValueError, match="guide"):
        Tagger.from_contents("model", header, arrays)
