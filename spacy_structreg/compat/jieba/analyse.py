"""jieba's keywords, over a pipeline of ours: ``import spacy_structreg.compat.jieba.analyse``.

Scores are those of jieba's formulas; the words are those of the pipeline, and how rare they are
tells the table of `models.keywords`, unless `set_idf_path` names another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

from spacy_structreg.compat import jieba
from spacy_structreg.compat.jieba import posseg
from spacy_structreg.corpora.corpus_errors import CorpusError, StrPath, shown
from spacy_structreg.corpora.files import read_lines
from spacy_structreg.models.keywords import background_idf, count_neighbors, text_rank, tf_idf

__all__ = [
    "TFIDF",
    "KeywordExtractor",
    "TextRank",
    "default_textrank",
    "default_tfidf",
    "extract_tags",
    "set_idf_path",
    "set_stop_words",
    "textrank",
    "tfidf",
]


class KeywordExtractor:
    """Base of those that choose keywords: words of two characters or more, without stop words."""

    STOP_WORDS = frozenset(
        (
            *("the", "of", "is", "and", "to", "in", "that", "we", "for", "an", "are", "by", "be"),
            *("as", "on", "with", "can", "if", "from", "which", "you", "it", "this", "then", "at"),
            *("have", "all", "not", "one", "has", "or"),
        )
    )
    """Those of jieba: Chinese ones are frequent, and so have low scores."""

    def __init__(self) -> None:
        self.tokenizer = jieba.dt
        self.postokenizer = posseg.dt
        self.stop_words = set(self.STOP_WORDS)

    def set_stop_words(self, stop_words_path: StrPath) -> None:
        """Add the stop words of a file, one a line. Raises OSError if it cannot be read."""
        self.stop_words.update(line.strip() for _, line in read_lines(stop_words_path))

    def _may_be(self, word: str) -> bool:
        return len(word.strip()) > 1 and word.lower() not in self.stop_words

    @staticmethod
    def _best(
        scores: Mapping[str, float],
        flags: Mapping[str, str],
        n: int | None,
        with_weight: bool,
    ) -> list[Any]:
        """The n best words, with their flags if they have any, and with their scores if wanted."""
        best = sorted(scores.items(), key=itemgetter(1), reverse=True)[: n or None]
        found = [(posseg.pair(word, flags[word]) if flags else word, score) for word, score in best]
        return found if with_weight else [word for word, _ in found]


class TFIDF(KeywordExtractor):
    """Keywords by the frequency in a text, times the inverse document frequency.

    idf_path: as of `set_idf_path`.
    """

    def __init__(self, idf_path: StrPath | None = None) -> None:
        super().__init__()
        self._idf: Callable[[str], float] = background_idf
        if idf_path is not None:
            self.set_idf_path(idf_path)

    def set_idf_path(self, idf_path: StrPath) -> None:
        """Take the inverse document frequencies of a file, a word, a space and a number a line.

        Words that it lacks have the median. Raises CorpusError for faulty lines.
        """
        table: dict[str, float] = {}
        for number, line in read_lines(idf_path):
            word, _, value = line.strip().rpartition(" ")
            try:
                table[word] = float(value)
            except ValueError as error:
                fault = f"the line {shown(line)} is no word, space and number, as `中国 5.5`"
                raise CorpusError(idf_path, number, fault) from error
        if not table:
            raise CorpusError(idf_path, 1, "no words in the file; write one a line, with a number")
        median = sorted(table.values())[len(table) // 2]
        self._idf = lambda word: table.get(word, median)

    def extract_tags(
        self,
        sentence: jieba.Text,
        topK: int | None = 20,
        withWeight: bool = False,
        allowPOS: Sequence[str] = (),
        withFlag: bool = False,
    ) -> list[Any]:
        """The keywords of a text, best first.

        topK: how many; None for all. withWeight: whether to give pairs of word and score.
        allowPOS: flags of words that may be keywords; none for all. withFlag: whether words come
        with their flags, as of `posseg.cut`, if flags are asked for.
        """
        flags: dict[str, str] = {}
        if allowPOS:
            found = [each for each in self.postokenizer.cut(sentence) if each.flag in allowPOS]
            flags = {each.word: each.flag for each in reversed(found)}
            words: Iterable[str] = [each.word for each in found]
        else:
            words = self.tokenizer.cut(sentence)
        scores = tf_idf(Counter(filter(self._may_be, words)), self._idf)
        return self._best(scores, flags if withFlag else {}, topK, withWeight)


class TextRank(KeywordExtractor):
    """Keywords by their rank among the words around them; `span` is how far that is, in words."""

    def __init__(self) -> None:
        super().__init__()
        self.span = 5

    def textrank(
        self,
        sentence: jieba.Text,
        topK: int | None = 20,
        withWeight: bool = False,
        allowPOS: Sequence[str] = ("ns", "n", "vn", "v"),
        withFlag: bool = False,
    ) -> list[Any]:
        """The keywords of a text, best first; parameters are as of `TFIDF.extract_tags`."""
        pairs = list(self.postokenizer.cut(sentence))
        words = [
            each.word if each.flag in allowPOS and self._may_be(each.word) else None
            for each in pairs
        ]
        flags = {each.word: each.flag for each in reversed(pairs) if each.flag in allowPOS}
        scores = text_rank(count_neighbors(words, self.span))
        return self._best(scores, flags if withFlag else {}, topK, withWeight)

    extract_tags = textrank


default_tfidf: Final = TFIDF()
"""The extractor that `extract_tags` is of."""
default_textrank: Final = TextRank()
"""The extractor that `textrank` is of."""

extract_tags: Final = default_tfidf.extract_tags
"""`TFIDF.extract_tags` of `default_tfidf`."""
tfidf: Final = default_tfidf.extract_tags
"""`TFIDF.extract_tags` of `default_tfidf`."""
set_idf_path: Final = default_tfidf.set_idf_path
"""`TFIDF.set_idf_path` of `default_tfidf`."""
textrank: Final = default_textrank.extract_tags
"""`TextRank.extract_tags` of `default_textrank`."""


def set_stop_words(stop_words_path: StrPath) -> None:
    """Add the stop words of a file, one a line, to those of both functions."""
    default_tfidf.set_stop_words(stop_words_path)
    default_textrank.set_stop_words(stop_words_path)
