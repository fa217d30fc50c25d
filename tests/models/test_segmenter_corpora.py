"""Figures on a real corpus, as the note of the prototype gives them."""

from __future__ import annotations

from pathlib import Path
from statistics import mean

import pytest
from made_up_corpora import f_score

from spacy_structreg.corpora.formats.conllu import read_conllu
from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.models.segmentation import CharacterSegmenter

Corpus = list[list[str]]
SEEDS = (1, 2, 3)


@pytest.fixture(scope="module")
def treebank(data_folder: Path) -> tuple[Corpus, Corpus]:
    """Training and test sentences of UD Chinese GSD, simplified; counts are those of its note."""
    folder = data_folder / "ud-chinese-gsd-simplified"
    corpora = [
        [sentence.forms for sentence in read_conllu(folder / name)]
        for name in ("train.conll.xz", "test.conll")
    ]
    assert [len(corpus) for corpus in corpora] == [3_997, 500]
    assert [sum(map(len, corpus)) for corpus in corpora] == [98_608, 12_012]
    return corpora[0], corpora[1]


@pytest.mark.parametrize(
    ("types", "floor"), [(None, 0.922), ("extended", 0.928)], ids=["plain", "types"]
)
def test_ud_chinese(types: str | None, floor: float, treebank: tuple[Corpus, Corpus]) -> None:
    train, test = treebank
    figures = []
    for seed in SEEDS:
        segmenter = CharacterSegmenter(
            templates="zhang2014",
            types=types,
            half_width=types is not None,
            learning=Learning(),
            epochs=10,
            seed=seed,
        ).fit(train)
        scores = segmenter.evaluate(test, n_threads=2)
        assert scores.seg_f == pytest.approx(f_score(segmenter, test))
        figures.append(scores.seg_f)
    assert len(set(figures)) == len(SEEDS)
    assert mean(figures) >= floor
    # Far above is as suspicious as below.
    assert mean(figures) < floor + 0.015


def test_defaults_on_ud_chinese(treebank: tuple[Corpus, Corpus]) -> None:
    """One model, and the average of three."""
    train, test = treebank
    single = [CharacterSegmenter(seed=seed).fit(train) for seed in (0, 1, 2)]
    figures = [model.evaluate(test, n_threads=2).seg_f or 0.0 for model in single]
    assert 0.934 <= mean(figures) < 0.95
    apart = CharacterSegmenter.average(single).evaluate(test, n_threads=2).seg_f
    assert apart is not None
    assert 0.937 <= apart < 0.95
