"""Statistics of raw text in models: counted when they are trained, and anew for a new domain."""

from __future__ import annotations

import gzip
import lzma
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.models.guided import GuidedSegmenter
from spacy_structreg.models.joint.joint_taggers import CharacterJointTagger
from spacy_structreg.models.segmentation import CharacterSegmenter, WordSegmenter
from spacy_structreg.tasks.knowledge.ngrams import count_ngrams
from spacy_structreg.tasks.knowledge.statistics_source import StatisticsSource

WORDS = [
    ["红", "苹果", "好吃", "。"],
    ["他", "在", "图书馆", "看", "书"],
    ["青", "苹果", "不", "好吃", "。", "他", "不", "吃", "苹果"],
    ["图书", "很", "多", "。"],
]
TEXTS = ["青苹果很好吃。", "他看图书", "在图书馆吃苹果"]
# Of another domain: 麒麟 stands beside many characters.
RAW = ["这麒麟好", "那麒麟在", "看麒麟。有麒麟吃", "大麒麟书", "麒麟很多"]


def sentences_of(model: Any) -> list[Any]:
    if not issubclass(model, CharacterJointTagger):
        return WORDS
    return [[(word, "N") for word in words] for words in WORDS]


def statistics(model: Any) -> StatisticsSource:
    (source,) = model._fitted_spec().atoms.sources
    assert isinstance(source, StatisticsSource)
    return source


def arrays(source: StatisticsSource) -> dict[str, list[int]]:
    return {name: array.tolist() for name, array in source.contents()[1].items()}


def counted(texts: list[str], *, information: bool = False) -> dict[str, list[int]]:
    return arrays(StatisticsSource.of(count_ngrams(texts), information))


@pytest.mark.parametrize("model", [CharacterSegmenter, CharacterJointTagger])
@pytest.mark.parametrize("kind", ["accessor_variety", "all"])
def test_the_training_text_is_counted(model: Any, kind: Any) -> None:
    trained = model(epochs=3, statistics=kind).fit(sentences_of(model))
    texts = ["".join(words) for words in WORDS]
    assert arrays(statistics(trained)) == counted(texts, information=kind == "all")


def test_further_files_are_counted_with_it(tmp_path: Path) -> None:
    raw = "\n".join(RAW) + "\n"
    (tmp_path / "a.txt").write_text(raw, "utf-8")
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(raw.encode()))
    (tmp_path / "c.txt.xz").write_bytes(lzma.compress(raw.encode()))
    paths = [str(tmp_path / name) for name in ("a.txt", "b.txt.gz", "c.txt.xz")]
    model = CharacterSegmenter(epochs=1, statistics="all", raw_text=paths).fit(WORDS)
    texts = ["".join(words) for words in WORDS]
    assert arrays(statistics(model)) == counted(texts + RAW * 3, information=True)
    for path in paths:
        Path(path).unlink()
    # They are read when a model is trained, and never again.
    assert CharacterSegmenter.from_bytes(model.to_bytes()).predict(TEXTS[0])
    with pytest.raises(OSError, match=r"a\.txt"):
        model.untrained().fit(WORDS)


def test_they_are_off_by_default() -> None:
    plain = CharacterSegmenter(epochs=1).fit(WORDS)
    assert not plain.can_adapt
    assert plain._fitted_spec().contents() == ({}, {})
    for model in (plain, WordSegmenter(epochs=1).fit(WORDS)):
        with pytest.raises(ValueError, match="has no statistics of raw text"):
            model.adapt(RAW)
    with pytest.raises(ValueError, match="not been trained"):
        CharacterSegmenter(statistics="all").adapt(RAW)


@pytest.mark.parametrize("model", [CharacterSegmenter, CharacterJointTagger])
def test_adapted_models_have_the_same_weights_and_other_statistics(model: Any) -> None:
    trained = model(epochs=3, statistics="accessor_variety").fit(sentences_of(model))
    before = trained.to_bytes()
    alone = trained.adapt(RAW, together=False, n_threads=2)
    together = trained.adapt(iter(RAW))
    assert trained.to_bytes() == before
    assert arrays(statistics(alone)) == counted(RAW)
    joined = statistics(trained).joined(StatisticsSource.of(count_ngrams(RAW)))
    assert arrays(statistics(together)) == arrays(joined)
    for adapted in (alone, together):
        for one, other in zip(adapted._decoders().tables, trained._decoders().tables, strict=True):
            assert all(np.array_equal(one.arrays[name], other.arrays[name]) for name in one.arrays)
        assert adapted.settings == trained.settings
        assert adapted.corpus_checksum == trained.corpus_checksum
        assert model.from_bytes(adapted.to_bytes()).predict_batch(RAW) == adapted.predict_batch(RAW)


def test_what_is_a_word_can_be_seen_in_raw_text() -> None:
    """Characters say nothing to this model, so that only the statistics tell words."""
    corpus = [["这", "苹果", "好"], ["那", "苹果", "在"], ["看", "苹果", "吃"], ["苹果", "大"]]
    model = CharacterSegmenter(
        epochs=10, templates="avtwo0", types=None, statistics="accessor_variety",
        learning=Learning(),
    )  # fmt: skip
    model.fit(corpus)
    assert model.predict("有麒麟走") != ["有", "麒麟", "走"]
    assert model.adapt(RAW).predict("有麒麟走") == ["有", "麒麟", "走"]


def test_pairs_of_models_adapt_by_their_characters() -> None:
    pair = GuidedSegmenter(
        characters=CharacterSegmenter(epochs=3, statistics="accessor_variety", learning=Learning()),
        words=WordSegmenter(epochs=3),
    ).fit(WORDS)
    adapted = pair.adapt(RAW)
    assert pair.can_adapt
    assert adapted.characters is not pair.characters
    assert adapted.tuned_weight == pair.tuned_weight
    assert arrays(statistics(adapted.characters)) != arrays(statistics(pair.characters))
    assert not GuidedSegmenter().fit(WORDS).can_adapt


def test_averages_need_the_same_statistics() -> None:
    models = [
        CharacterSegmenter(epochs=2, seed=seed, statistics="all").fit(WORDS) for seed in (1, 2)
    ]
    assert CharacterSegmenter.average(models).can_adapt
    with pytest.raises(ValueError, match="differ in"):
        CharacterSegmenter.average([models[0], models[1].adapt(RAW)])


def test_a_training_goes_on_with_the_statistics_that_there_are() -> None:
    model = CharacterSegmenter(statistics="accessor_variety")
    model.prepare(WORDS)
    model.partial_fit(WORDS[:2])
    assert arrays(statistics(model)) == counted(["".join(words) for words in WORDS])
