"""Pipes that meet other words than they learned from: when they warn, how often, of what."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import spacy
from looped import looped
from pipeline.made_up import TEXTS, TRAIN, gold_doc, trained
from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_structreg.corpora.constituents import ConstituencySentence, Constituent
from spacy_structreg.corpora.dependencies import ROOT
from spacy_structreg.corpora.formats.brackets import read_brackets
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.models.tagging import Tagger
from spacy_structreg.models.word_counts import WordCounts, is_han
from spacy_structreg.pipeline.word_check import WordCheck

TREEBANK = Path(__file__).parents[2] / "treebank" / "train"

HALF = WordCounts(words=1000, annotated=1000, han=800, long=400)
"""Of a model of words."""

NONE = WordCounts(words=1000, annotated=1000, han=800, long=0)
"""Of a model of characters."""


def dependencies(words: list[str]) -> Sentence:
    n = len(words)
    return Sentence(tuple(words), ("T",) * n, (ROOT,) + (0,) * (n - 1), ("d",) * n)


def constituents(words: list[str]) -> ConstituencySentence:
    whole = Constituent("IP", 0, len(words), 0)
    return ConstituencySentence(tuple(words), ("T",) * len(words), (whole,))


# What the model of each factory learns from words.
GOLD: dict[str, Callable[[list[str]], Any]] = {
    "structreg_tagger": lambda words: [(word, "T") for word in words],
    "structreg_parser": dependencies,
    "structreg_constituency": constituents,
    "structreg_sequence_labeler": lambda words: [(word, "O") for word in words],
    "structreg_textcat": lambda words: (words, "c"),
}
TREES = ("structreg_parser", "structreg_constituency")


def characters(words: list[str]) -> list[str]:
    return list("".join(words))


def pipeline(factory: str, split: Callable[[list[str]], list[str]] = list) -> Language:
    """A pipeline of spaCy's tokenizer of characters, and a pipe that has learned something."""
    nlp = spacy.blank("zh")
    estimator = nlp.add_pipe(factory, name="pipe").estimator
    estimator.epochs = 1
    estimator.fit([GOLD[factory](split(words)) for words in TRAIN[:20]])
    return nlp


def warned(nlp: Language, texts: list[Any], **options: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        list(nlp.pipe(texts, **options))
    assert all(warning.category is UserWarning for warning in caught)
    return [str(warning.message) for warning in caught]


def docs(vocab: Vocab, *texts: str, tagged: bool = True) -> list[Doc]:
    """Docs of words that are written with spaces between them."""
    words = [text.split() for text in texts]
    return [gold_doc(vocab, each, tags=["T"] * len(each) if tagged else None) for each in words]


# In pipelines -------------------------------------------------------------------------------------


@pytest.mark.parametrize("factory", GOLD)
def test_a_model_of_words_meets_the_tokenizer_of_characters(factory: str) -> None:
    nlp = pipeline(factory)
    first, *others = warned(nlp, TEXTS)
    assert first.startswith("the pipe 'pipe' learned from words, of which ")
    assert "% have several characters, but is given single characters" in first
    assert "init-config … --base SEGMENTER" in first
    # Trees want tags as well, of which there are none.
    assert len(others) == (factory in TREES)
    # Once is enough.
    assert warned(nlp, TEXTS) == []


@pytest.mark.parametrize("factory", GOLD)
def test_a_model_of_words_that_is_given_words(factory: str) -> None:
    nlp = pipeline(factory)
    nlp.tokenizer = trained().tokenizer
    found = warned(nlp, TEXTS)
    assert len(found) == (factory in TREES)
    # Words have been seen: texts of single characters may come now.
    assert warned(nlp, docs(nlp.vocab, "我 说 你 也 去 他 也 去 我 们 都 不 去")) == []


@pytest.mark.parametrize("factory", GOLD)
def test_a_model_of_characters_that_is_given_words(factory: str) -> None:
    nlp = pipeline(factory, characters)
    found = [each for each in warned(nlp, TEXTS) if "tags" not in each]
    assert found == []
    found = warned(nlp, docs(nlp.vocab, "我 去 图书馆 。", "我 去 公园"))
    assert len(found) == 1
    assert "learned from single characters, but is given words, such as '图书馆'" in found[0]
    assert warned(nlp, docs(nlp.vocab, "我 去 图书馆 。")) == []


@pytest.mark.parametrize("factory", TREES)
@pytest.mark.parametrize("attribute", ["tag", "pos"])
def test_a_parser_that_is_given_no_tags(factory: str, attribute: str) -> None:
    nlp = pipeline(factory)
    pipe = nlp.get_pipe("pipe")
    pipe.attribute = attribute
    tagged = docs(nlp.vocab, "我 去 图书馆 。", " ")
    for doc in tagged:
        for token in doc:
            setattr(token, f"{attribute}_", "NOUN")
    assert warned(nlp, [*tagged, Doc(nlp.vocab), Doc(nlp.vocab, words=[" \n"])]) == []
    (found,) = warned(nlp, docs(nlp.vocab, "我 去 公园", "他 去 公园", tagged=False))
    assert f"learned from words with tags, but token.{attribute}_ is empty in '我去公园'" in found
    assert "init-config … --base TAGGER" in found
    assert warned(nlp, docs(nlp.vocab, "我 去 公园", tagged=False)) == []


def test_a_parser_that_has_learned_without_tags() -> None:
    nlp = pipeline("structreg_parser")
    estimator = nlp.get_pipe("pipe").estimator
    estimator.fit(
        [Sentence(("去", "图书馆"), ("", ""), (ROOT, 0), ("root", "obj")) for _ in range(3)]
    )
    assert warned(nlp, docs(nlp.vocab, "去 图书馆", tagged=False)) == []


def test_warnings_that_are_errors_reach_the_caller() -> None:
    nlp = pipeline("structreg_tagger")
    for _ in range(2):
        with pytest.raises(UserWarning, match="is given single characters"):
            list(nlp.pipe(TEXTS))
    with pytest.raises(UserWarning, match="is given single characters"):
        nlp("".join(TEXTS))


def test_analyze_pipes_finds_no_problem() -> None:
    """The tags that a parser reads may be those of the tokenizer, which spaCy does not ask."""
    nlp = spacy.blank("zh")
    for factory in GOLD:
        nlp.add_pipe(factory)
    assert not any(nlp.analyze_pipes()["problems"].values())


# When ---------------------------------------------------------------------------------------------


def different(n: int) -> str:
    """Different Chinese characters, each a word."""
    return " ".join(chr(0x4E00 + i) for i in range(n))


@looped(
    ("counts", "text", "warns"),
    [
        # 0.5³¹ is little, but so many characters are too few; not Chinese ones do not count.
        (HALF, different(31) + " a b 1 ，", False),
        (HALF, different(31) + " ， 去", True),
        (HALF, different(31) + " 语言 我 去", False),
        # Nor does what comes twice.
        (HALF, "我 去 " * 100, False),
        # 0.8⁶¹ is more than a millionth and 0.8⁶² less.
        (WordCounts(1000, 0, 1000, 200), different(61), False),
        (WordCounts(1000, 0, 1000, 200), different(62), True),
        (NONE, "我 们", False),
        (NONE, "我 ， USB 2024年 们", False),
        (NONE, "我 们 语言", True),
        # Too little has been learned from.
        (WordCounts(50, 0, 19, 0), "语言", False),
        (WordCounts(50, 0, 19, 19), "我 " * 100, False),
        (WordCounts(50, 0, 20, 20), different(32), True),
    ],
)
def test_when_a_warning_is_given(counts: WordCounts, text: str, warns: bool) -> None:
    check = WordCheck("x")
    # In one Doc, and in Docs of a token that comes twice.
    for parts in ([text], [f"{word} {word}" for word in text.split()]):
        found = docs(Vocab(), *parts)
        check = WordCheck("x")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for doc in found:
                check.words([doc], counts)
        assert len(caught) == warns


def test_characters_that_are_looked_up_one_by_one() -> None:
    WordCheck("x").words(docs(Vocab(), *different(300).split()), HALF)


@looped("part", ["chat", "general", "wuxia"])
def test_no_text_of_the_treebank_is_warned_of(part: str) -> None:
    """Whatever sentence of it comes first."""
    trees = read_brackets(TREEBANK / f"{part}.bracket")
    sentences = [[word for word, _ in tree.tagged_words()] for tree in trees]
    vocab = Vocab()
    made = [gold_doc(vocab, words) for words in sentences]
    for first in range(len(made)):
        WordCheck("x").words(made[first : first + 20], HALF)


def test_another_model_is_looked_at_anew() -> None:
    check = WordCheck("x")
    check.words(docs(Vocab(), "我 去 图书馆"), HALF)
    with pytest.warns(UserWarning, match="learned from single characters"):
        check.words(docs(Vocab(), "我 去 图书馆"), NONE)


# What is kept with models -------------------------------------------------------------------------


def test_counts_are_kept_with_the_model(tmp_path: Path) -> None:
    sentences = [
        [("我", "PN"), (" ", ""), ("看", "VV"), ("图书", "NN"), ("USB线", "NN"), ("。", "PU")]
    ]
    tagger = Tagger(epochs=1).fit(sentences * 2)
    counts = WordCounts(words=10, annotated=10, han=6, long=2)
    assert tagger.word_counts == counts
    tagger.save(tmp_path / "model.srt")
    assert Tagger.load(tmp_path / "model.srt").word_counts == counts
    assert pickle.loads(pickle.dumps(tagger)).word_counts == counts
    assert Tagger.average([tagger, tagger]).word_counts == counts + counts
    prepared = Tagger()
    prepared.prepare(sentences * 2)
    assert prepared.word_counts == counts
    # The rest of the corpus comes in portions.
    assert prepared.partial_fit(sentences).word_counts == counts
    assert Tagger().partial_fit(sentences * 2).word_counts == counts


@looped(
    "words",
    [
        {"words": 5, "annotated": 5, "han": 6, "long": 0},
        {"words": 5, "annotated": 6, "han": 5, "long": 0},
        {"words": 5, "annotated": 5, "han": 5, "long": -1},
    ],
)
def test_counts_of_a_file_are_checked(words: Any) -> None:
    header, arrays = Tagger(epochs=1).fit([[("书", "NN")]]).contents()
    assert header["words"] == {"words": 1, "annotated": 1, "han": 1, "long": 0}
    with pytest.raises(ValueError, match=r"^x: the model cannot be used: "):
        Tagger.from_contents("x", {**header, "words": words}, arrays)


def test_chinese_words() -> None:
    assert all(map(is_han, ["我", "图书馆", "〇", "𠮷野家", "圖書"]))
    assert not any(map(is_han, ["", " ", "，", "USB线", "2024年", "かな", "我们 "]))
