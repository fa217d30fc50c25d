"""Real corpora: their formats are told, and what is read has the counts of their sources."""

from __future__ import annotations

from pathlib import Path

from looped import looped

from spacy_structreg.corpora.any_format import find_format, read_sentences


@looped(
    "corpus",
    [
        ("ud-chinese-gsd-simplified/train.conll.xz", "conllu", 3997, 98_608, 156_360, 42),
        ("ud-chinese-gsd-simplified/dev.conll", "conllu", 500, 12_663, 20_014, None),
        ("ud-chinese-gsd-simplified/test.conll", "conllu", 500, 12_012, 19_212, None),
        ("ud-chinese-gsd-1.4/zh-ud-train.conllu.xz", "conllu", 3997, 98_608, 156_309, None),
        ("ud-chinese-gsd-2.17/zh_gsd-ud-dev.conllu.xz", "conllu", 500, 12_665, 20_000, None),
        ("ud-chinese-gsd-2.17/zh_gsdsimp-ud-test.conllu.xz", "conllu", 500, 12_012, 19_206, None),
        ("ud-english-ewt/en_ewt-ud-dev.conllu.xz", "conllu", 2001, 25_147, 103_757, None),
        ("ud-english-ewt/en_ewt-ud-test.conllu.xz", "conllu", 2077, 25_094, 103_163, None),
        ("pfr-199801/199801.txt.xz", "pfr", 19_484, 1_121_447, 1_841_657, 44),
        ("zhuxian/train.wordpos", "tagged", 2373, 67_648, 96_934, 32),
        ("zhuxian/dev.wordpos", "tagged", 788, 20_393, 28_309, None),
        ("zhuxian/test.wordpos", "tagged", 1394, 34_355, 48_075, None),
        ("ptb-sample/combined.mrg.xz", "brackets", 3914, 94_084, None, 45),
        ("sighan2005/as_test_gold.utf8", "segmented", 14_429, 122_610, 197_681, 0),
        ("sighan2005/cityu_test_gold.utf8", "segmented", 1492, 40_936, 67_689, 0),
        ("sighan2005/msr_test_gold.utf8", "segmented", 3985, 106_873, 184_355, 0),
    ],
)
def test_counts(
    data_folder: Path, corpus: tuple[str, str, int, int, int | None, int | None]
) -> None:
    """Sentences, words, characters and tags."""
    file, format, n_sentences, n_words, n_characters, n_tags = corpus
    path = data_folder / file
    assert find_format(path).name == format
    sentences = list(read_sentences(path))
    assert len(sentences) == n_sentences
    assert sum(len(each.words) for each in sentences) == n_words
    assert n_characters in (None, sum(len(word) for each in sentences for word in each.words))
    assert n_tags in (None, len({tag for each in sentences for tag in each.tags}))
