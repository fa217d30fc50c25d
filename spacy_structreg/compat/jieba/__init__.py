"""jieba's functions, over a pipeline of ours: ``import spacy_structreg.compat.jieba as jieba``.

Names, parameters and types are those of jieba 0.42; words are those of the pipeline, which is
loaded when it is needed first: ``zh_structreg`` or, without it, ``zh_structreg_fast``, unless the
environment variable `PIPELINE_VARIABLE` or `use` names another.

A listed word is forced, whatever its frequency; one of frequency 0 is never a word. The model finds
new words by itself, so that `HMM` and `use_paddle` change nothing. Words of a dictionary
(`set_dictionary`) join the lexicon of the model. Frequencies, which no model of ours has, are those
of listed words alone.
"""

from __future__ import annotations

import logging
import os
import re
import threading
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from spacy_structreg.corpora.corpus_errors import CorpusError, shown
from spacy_structreg.corpora.tag_maps import LIST_FLAGS, listed_tag
from spacy_structreg.corpora.word_lists import LONGEST_ENTRY_LINE
from spacy_structreg.tasks.segmentation.user_words import MOST_BONUS, UserWords

if TYPE_CHECKING:
    from spacy.language import Language

    from spacy_structreg.pipeline.tokenizer import ModelTokenizer

__all__ = [
    "PIPELINE_VARIABLE",
    "Tokenizer",
    "add_word",
    "cut",
    "cut_for_search",
    "del_word",
    "disable_parallel",
    "dt",
    "enable_paddle",
    "enable_parallel",
    "get_FREQ",
    "initialize",
    "lcut",
    "lcut_for_search",
    "load_userdict",
    "pipeline",
    "setLogLevel",
    "set_dictionary",
    "suggest_freq",
    "tokenize",
    "use",
    "user_word_tag_tab",
]

PIPELINE_VARIABLE: Final = "STRUCTREG_PIPELINE"
"""Environment variable with the name or the path of a pipeline."""

_PACKAGES: Final = ("zh_structreg", "zh_structreg_fast")
# Parts of these that have no counterpart in jieba.
_NOT_NEEDED: Final = ("constituency", "parser")
_MOST_DIGITS: Final = 18
_GAP: Final = re.compile("\r\n|.", re.DOTALL)

_logger: Final = logging.getLogger(__name__)
_lock: Final = threading.RLock()
_loaded: Language | None = None
_threads = 1

Text: TypeAlias = "str | bytes"
"""Types of texts: bytes are UTF-8 or GBK."""
Span: TypeAlias = "tuple[int, int]"


def use(pipeline: str | Path | Language) -> None:
    """Take the words of a pipeline: loaded, or the name of a package or the path of a folder.

    Raises ValueError if its tokenizer has no model of ours, and OSError if it is not there.
    """
    global _loaded
    import spacy

    from spacy_structreg.pipeline.tokenizer import ModelTokenizer

    if isinstance(pipeline, (str, Path)):
        pipeline = spacy.load(pipeline, exclude=_NOT_NEEDED)
    if not isinstance(pipeline.tokenizer, ModelTokenizer):
        raise ValueError(
            f"the tokenizer of the pipeline is a {type(pipeline.tokenizer).__name__}, which has no "
            f"model of {__name__.partition('.')[0]}; use another pipeline, such as zh_structreg"
        )
    with _lock:
        _loaded = pipeline


def pipeline() -> Language:
    """The pipeline whose words are taken; it is loaded at the first call."""
    with _lock:
        if _loaded is None:
            from spacy.util import is_package

            installed = [name for name in _PACKAGES if is_package(name)]
            name = os.environ.get(PIPELINE_VARIABLE) or [*installed, _PACKAGES[0]][0]
            _logger.debug("Loading the pipeline %s ...", name)
            use(name)
            _logger.debug("The pipeline has been loaded.")
        assert _loaded is not None
        return _loaded


def decoded(sentence: Text) -> str:
    """A text as `str`; bytes are UTF-8 or else GBK, as for jieba."""
    if isinstance(sentence, str):
        return sentence
    if not isinstance(sentence, bytes):
        raise TypeError(f"expected a text as str or bytes, got {sentence!r}")
    try:
        return sentence.decode("utf-8")
    except UnicodeDecodeError:
        return sentence.decode("gbk", "ignore")


def gaps(text: str, start: int, end: int) -> Iterator[Span]:
    """The white space between two words as jieba cuts it: one character each, or CR and LF."""
    return (found.span() for found in _GAP.finditer(text, start, end))


class Tokenizer:
    """jieba's tokenizer: words of the pipeline, and listed words of its own.

    dictionary: the path of one in jieba's format, whose words join the lexicon of the model
    (`set_dictionary`). `FREQ` has the frequencies of listed words, `user_word_tag_tab` their flags.
    """

    def __init__(self, dictionary: str | None = None) -> None:
        self.lock = threading.RLock()
        self.dictionary = None if dictionary is None else os.path.abspath(dictionary)
        self.FREQ: dict[str, int] = {}
        self.user_word_tag_tab: dict[str, str] = {}
        self._words = UserWords()
        self._nlp: Language | None = None

    def __repr__(self) -> str:
        return f"<Tokenizer dictionary={self.dictionary!r}>"

    @property
    def initialized(self) -> bool:
        """True if the pipeline has been loaded, and the listed words are ready."""
        return self._nlp is not None

    @property
    def total(self) -> int:
        """The sum of the frequencies of listed words."""
        return sum(self.FREQ.values())

    def initialize(self, dictionary: str | None = None) -> None:
        """Load the pipeline, and a dictionary if one is named; see `set_dictionary`."""
        if dictionary is not None:
            self.set_dictionary(dictionary)
        self.words()

    def set_dictionary(self, dictionary_path: str) -> None:
        """Add a dictionary in jieba's format to the lexicon of the model, which decides as before.

        Raises FileNotFoundError if there is none; when it is read, CorpusError for faulty lines and
        ValueError for a model without a lexicon, such as one that was trained without a word list.
        """
        if not os.path.isfile(dictionary_path):
            raise FileNotFoundError(f"there is no dictionary {dictionary_path}")
        with self.lock:
            self.dictionary = os.path.abspath(dictionary_path)
            self._nlp = None

    def model_tokenizer(self) -> ModelTokenizer[Any]:
        """The tokenizer of the pipeline."""
        nlp: Any = pipeline()
        tokenizer: ModelTokenizer[Any] = nlp.tokenizer
        return tokenizer

    def words(self) -> UserWords:
        """The listed words, those of the pipeline included, as its tokenizer takes them."""
        nlp = pipeline()
        with self.lock:
            if self._nlp is not nlp:
                tokenizer = self.model_tokenizer()
                words = UserWords().from_bytes(tokenizer.user_words.to_bytes())
                if self.dictionary is not None:
                    words.load(self.dictionary, format="jieba", mode="prefer")
                self._words = words
                self._list(self.FREQ, self.user_word_tag_tab)
                # Raises an error if the model has no lexicon.
                tokenizer.model.analyze("", words)
                self._nlp = nlp
            return self._words

    def _list(self, freqs: Mapping[str, int], flags: Mapping[str, str]) -> None:
        """List words by their frequencies and flags. Raises ValueError, and lists none then."""
        tags = self.model_tokenizer().known_tags
        forced: list[tuple[str, str | None]] = []
        never: list[str] = []
        removed: list[str] = []
        for word, freq in freqs.items():
            if freq > 0:
                flag = flags.get(word)
                known = tags and (flag in tags or flag in LIST_FLAGS)
                forced.append((word, listed_tag(flag, tags) if flag and known else None))
            elif len(word) > 1:
                never.append(word)
            elif word in self._words:
                removed.append(word)
        UserWords().update(never)
        self._words.update(forced)
        self._words.update(never, bonus=-MOST_BONUS)
        for word in removed:
            self._words.remove(word)

    def add_word(self, word: Text, freq: int | None = None, tag: str | None = None) -> None:
        """List a word, which is forced then, or is never a word if the frequency is 0.

        Its tag is that of `posseg`, and that of the model if this has such a one. Raises
        ValueError as `UserWords.add`.
        """
        self._add([(decoded(word).strip(), freq, tag)])

    def _add(self, entries: Iterable[tuple[str, int | str | None, str | None]]) -> None:
        self.words()
        with self.lock:
            freqs: dict[str, int] = {}
            flags: dict[str, str] = {}
            for word, freq, tag in entries:
                freqs[word] = self.suggest_freq(word) if freq is None else int(freq)
                if tag:
                    flags[word] = tag
            self._list(freqs, ChainMap(flags, self.user_word_tag_tab))
            self.FREQ.update(freqs)
            self.user_word_tag_tab.update(flags)

    def del_word(self, word: Text) -> None:
        """Say of a word that it is none."""
        self.add_word(word, 0)

    def load_userdict(self, f: Any) -> None:
        """List the words of a dictionary of jieba: its path, or an open file of bytes or text.

        Frequency and tag may be left out, and words may have spaces. Raises CorpusError, which is a
        ValueError, for faulty lines; nothing is listed then.
        """
        if isinstance(f, (str, Path)):
            with open(f, "rb") as stream:
                self.load_userdict(stream)
            return
        name = str(getattr(f, "name", f))
        entries = []
        checked = UserWords()
        for number, line in enumerate(f, 1):
            try:
                entry = line.decode("utf-8") if isinstance(line, bytes) else line
                if entry := entry.strip().lstrip("\ufeff").lstrip():
                    word, freq, tag = _user_entry(entry)
                    checked.add(word)
                    entries.append((word, freq, tag))
            except ValueError as error:
                raise CorpusError(name, number, str(error)) from error
        self._add(entries)

    def suggest_freq(self, segment: Text | Sequence[Text], tune: bool = False) -> int:
        """The frequency that makes a text a word, 1 at least, or parts several words, 0.

        tune: whether it is listed with that frequency.
        """
        if isinstance(segment, (str, bytes)):
            word = decoded(segment)
            freq = max(1, self.FREQ.get(word, 1))
        else:
            word, freq = "".join(map(decoded, segment)), 0
        if tune:
            self.add_word(word, freq)
        return freq

    def cut(
        self, sentence: Text, cut_all: bool = False, HMM: bool = True, use_paddle: bool = False
    ) -> Iterator[str]:
        """Yield the words of a text, and the white space between them.

        cut_all: whether words inside words come as well; a character of a word alone does not.
        """
        text = decoded(sentence)
        if not cut_all:
            yield from (text[start:end] for start, end in self._cut(text))
            return
        reach = 0
        spans = (sorted([word, *inside]) for word, inside in self._with_inner_words(text))
        for start, end in chain.from_iterable(spans):
            if end > start + 1 or start >= reach:
                yield text[start:end]
                reach = end

    def cut_for_search(self, sentence: Text, HMM: bool = True) -> Iterator[str]:
        """Yield the words of a text, each behind the words inside it, short ones first."""
        text = decoded(sentence)
        yield from (text[start:end] for start, end in self._cut_for_search(text))

    def lcut(
        self, sentence: Text, cut_all: bool = False, HMM: bool = True, use_paddle: bool = False
    ) -> list[str]:
        """The list of what `cut` yields."""
        return list(self.cut(sentence, cut_all, HMM, use_paddle))

    def lcut_for_search(self, sentence: Text, HMM: bool = True) -> list[str]:
        """The list of what `cut_for_search` yields."""
        return list(self.cut_for_search(sentence, HMM))

    def tokenize(
        self, unicode_sentence: str, mode: str = "default", HMM: bool = True
    ) -> Iterator[tuple[str, int, int]]:
        """Yield words with their begins and ends, as `cut`, or in another mode as `cut_for_search`.

        Raises ValueError for bytes.
        """
        if not isinstance(unicode_sentence, str):
            raise ValueError(f"expected a text as str, got {unicode_sentence!r}")
        text = unicode_sentence
        spans = self._cut(text) if mode == "default" else self._cut_for_search(text)
        yield from ((text[start:end], start, end) for start, end in spans)

    def _cut(self, text: str) -> Iterator[Span]:
        """Begins and ends of the words of a text, and of the white space between them."""
        model, words = self.model_tokenizer().model, self.words()
        parts = text.splitlines(keepends=True) if _threads > 1 else [text]
        found = model.analyze_stream(parts, n_threads=_threads, user_words=words)
        first = end = 0
        for part, analysis in zip(parts, found, strict=True):
            for start, stop in (analysis.spans + first).tolist():
                yield from gaps(text, end, start)
                yield start, stop
                end = stop
            first += len(part)
        yield from gaps(text, end, len(text))

    def _with_inner_words(self, text: str) -> Iterator[tuple[Span, list[Span]]]:
        """Words and white space, each with the words inside it."""
        found = self.model_tokenizer().model.search_words(text, self.words())
        inside: dict[Span, list[Span]] = {}
        word = (0, 0)
        # Of those that begin at one place, the word has the last end.
        for start, end, _ in sorted(found, key=lambda each: (each.start, -each.end)):
            if start >= word[1]:
                inside.update((gap, []) for gap in gaps(text, word[1], start))
                word = (start, end)
                inside[word] = []
            elif self.FREQ.get(text[start:end]) != 0:
                inside[word].append((start, end))
        inside.update((gap, []) for gap in gaps(text, word[1], len(text)))
        yield from inside.items()

    def _cut_for_search(self, text: str) -> Iterator[Span]:
        for word, inside in self._with_inner_words(text):
            yield from sorted(inside, key=lambda span: (span[1] - span[0], span))
            yield word


def _user_entry(line: str) -> tuple[str, str | None, str | None]:
    """The word, frequency and tag of a line, which has no white space at its ends."""
    if len(line) > LONGEST_ENTRY_LINE:
        raise ValueError(
            f"the line {shown(line)} has {len(line):,} characters; {LONGEST_ENTRY_LINE} are the "
            "most; correct it"
        )
    if "\n" in line:
        raise ValueError(f"the line {shown(line)} has a line break in it; give each line by itself")
    freq = tag = None
    word, _, last = line.rpartition(" ")
    if word and re.fullmatch("[a-z]+", last):
        line, tag = word.rstrip(" "), last
    word, _, last = line.rpartition(" ")
    if word and re.fullmatch("[0-9]+", last):
        if len(last) > _MOST_DIGITS:
            raise ValueError(
                f"the frequency {shown(last)} has more than {_MOST_DIGITS} digits; correct it"
            )
        line, freq = word.rstrip(" "), last
    return line, freq, tag


dt: Final = Tokenizer()
"""The tokenizer that the functions of this module are of."""

add_word: Final = dt.add_word
"""`Tokenizer.add_word` of `dt`."""
cut: Final = dt.cut
"""`Tokenizer.cut` of `dt`."""
cut_for_search: Final = dt.cut_for_search
"""`Tokenizer.cut_for_search` of `dt`."""
del_word: Final = dt.del_word
"""`Tokenizer.del_word` of `dt`."""
initialize: Final = dt.initialize
"""`Tokenizer.initialize` of `dt`."""
lcut: Final = dt.lcut
"""`Tokenizer.lcut` of `dt`."""
lcut_for_search: Final = dt.lcut_for_search
"""`Tokenizer.lcut_for_search` of `dt`."""
load_userdict: Final = dt.load_userdict
"""`Tokenizer.load_userdict` of `dt`."""
set_dictionary: Final = dt.set_dictionary
"""`Tokenizer.set_dictionary` of `dt`."""
suggest_freq: Final = dt.suggest_freq
"""`Tokenizer.suggest_freq` of `dt`."""
tokenize: Final = dt.tokenize
"""`Tokenizer.tokenize` of `dt`."""
user_word_tag_tab: Final = dt.user_word_tag_tab
"""Flags of the words that are listed in `dt`."""


def get_FREQ(k: str, d: int | None = None) -> int | None:
    """The frequency of a listed word, or another value if it is not listed."""
    return dt.FREQ.get(k, d)


def enable_parallel(processnum: int | None = None) -> None:
    """Let `cut` analyze the lines of a text side by side, in so many threads; None: one a core."""
    global _threads
    _threads = processnum or os.cpu_count() or 1


def disable_parallel() -> None:
    """Let `cut` analyze a text as a whole again."""
    global _threads
    _threads = 1


def enable_paddle() -> None:
    """Do nothing, as words are always those of the pipeline."""


def setLogLevel(log_level: int | str) -> None:
    """Set the level of the messages about the pipeline that is loaded."""
    _logger.setLevel(log_level)
