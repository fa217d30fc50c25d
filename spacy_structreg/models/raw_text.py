"""The base of segmenters and joint taggers, which predict from raw text."""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from heapq import nlargest
from itertools import chain, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.corpora.corpus_errors import StrPath
from spacy_structreg.corpora.sentence import Sentences
from spacy_structreg.corpora.sentences import (
    cut_long,
    latin_spaces,
    sentence_ends,
    sentence_ends_of_all,
)
from spacy_structreg.features.typed_runs import CutKind, LatinRuns, TypedRuns
from spacy_structreg.models.base_model import BaseModel
from spacy_structreg.models.decoders import PORTION, DecoderPool, OutputT
from spacy_structreg.models.text_constraints import NO_CONSTRAINTS, check_tag, constrained_text
from spacy_structreg.tasks.segmentation.constraints import Constraints
from spacy_structreg.tasks.segmentation.given_spans import AnySpan
from spacy_structreg.tasks.segmentation.text import TextDecoder, checked_text, text_portions
from spacy_structreg.tasks.segmentation.user_words import AnyWords, CompiledWords, compiled

if TYPE_CHECKING:
    from typing_extensions import Self

    from spacy_structreg.models.explained_texts import AnyScheme
    from spacy_structreg.models.explanation import Explanation
    from spacy_structreg.models.search_words import SearchWord

ItemT = TypeVar("ItemT")


class TextAnalysis(NamedTuple):
    """Analysis of a text, in numbers.

    spans: begins and ends of words, int64 of shape (n_words, 2). ends: of sentences, as
    `RawTextPredictor.sentence_ends` gives them. tags: numbers of `names`, int32 of shape
    (n_words,), or None if words get no tags. heads: numbers of words, -1 for roots, int32 of the
    same shape, or None if there are no trees. labels: of each word's arc, if there are trees.
    """

    spans: NDArray[np.int64]
    ends: Sequence[int]
    tags: NDArray[np.int32] | None = None
    names: tuple[str, ...] = ()
    heads: NDArray[np.int32] | None = None
    labels: tuple[str, ...] = ()


TextDecoderT = TypeVar("TextDecoderT", bound=TextDecoder)


class RawTextPredictor(BaseModel[Any], Generic[TextDecoderT]):
    """Finds words in raw text.

    sentences: ``"punctuation"`` cuts texts into sentences, in training as in prediction, and
    ``"wrapped"`` without line breaks within paragraphs; ``"doc"`` takes every text as one.
    typed_runs, whole_runs: whether URLs, measures and the like are found by their form, and which
    of them are not cut (`features.typed_runs`).
    """

    sentences: Sentences
    typed_runs: bool | Literal["latin"]
    whole_runs: Sequence[CutKind]

    @property
    def runs(self) -> TypedRuns | LatinRuns | None:
        """Finder of typed runs; None if the model looks for none."""
        if self.typed_runs == "latin":
            return LatinRuns()
        return TypedRuns(self.whole_runs) if self.typed_runs else None

    @property
    @abstractmethod
    def can_adapt(self) -> bool:
        """True if it has been trained with statistics of raw text, so that it has `adapt`."""

    @abstractmethod
    def adapt(
        self,
        texts: Iterable[str],
        *,
        counts: Iterable[StrPath] = (),
        together: bool = True,
        n_threads: int = 1,
    ) -> Self:
        """A model of the same weights whose statistics are counted anew, on texts of a new domain.

        Gao, Qiu & Huang 2010, section 6. This model stays as it is. Of a model of several parts,
        the statistics are those of the first.

        texts: raw text, any number, in bounded memory (`tasks.knowledge.ngrams`). Line
            breaks and marks such as 。 end sentences.
        counts: files of text that 'structreg count-ngrams' has counted, which are joined to them.
        together: add the new counts to those of the model (`StatisticsSource.joined`); else
            they replace them, which takes millions of characters.
        n_threads: threads count side by side; the result does not depend on it.
        Raises ValueError if the model has not been trained, or without statistics, and for files
        that are no counts of characters as the model sees them.
        """

    @abstractmethod
    def _decoders(self) -> DecoderPool[TextDecoderT]: ...

    def predict(
        self,
        text: str,
        user_words: AnyWords | None = None,
        *,
        spans: Iterable[AnySpan] = (),
    ) -> list[str]:
        """Return the words of a text, without the white space between them.

        Parameters
        ----------
        text : str
            Of any length.
        user_words : UserWords, CompiledWords or iterable of str, optional
            Words that are tokens wherever they occur (`tasks.segmentation.user_words`); where they
            overlap, the scores decide.
        spans : iterable of tuple, optional
            Spans of the text that must be tokens, be whole or begin and end with tokens, as
            (start, end), (start, end, kind) or (start, end, kind, tag)
            (`tasks.segmentation.given_spans`).

        Returns
        -------
        list of str

        Raises
        ------
        ValueError
            If the model has not been trained, for spans that cannot be, and for words of mode
            ``prefer`` if it has no lexicon.

        Examples
        --------
        >>> from spacy_structreg import CharacterSegmenter
        >>> segmenter = CharacterSegmenter(epochs=5).fit([["北京", "大学"], ["大学", "很", "大"]])
        >>> segmenter.predict("北京大学很大")
        ['北京', '大学', '很', '大']
        >>> segmenter.predict("北京大学很大", ["北京大学"])
        ['北京大学', '很', '大']
        """
        with self._decoders().borrow() as decoder:
            words = compiled(user_words)
            return self._segment(decoder, [checked_text(text)], words, list(spans))[0]

    def predict_batch(
        self,
        texts: Iterable[str],
        *,
        n_threads: int = 1,
        user_words: AnyWords | None = None,
    ) -> list[list[str]]:
        """The words of each text; threads decode side by side. As `predict`."""
        return list(self.predict_stream(texts, n_threads=n_threads, user_words=user_words))

    def predict_stream(
        self,
        texts: Iterable[str],
        *,
        n_threads: int = 1,
        user_words: AnyWords | None = None,
    ) -> Iterator[list[str]]:
        """Yield the words of each text, in their order and in bounded memory.

        Parameters
        ----------
        texts : iterable of str
            Any number; they are read a few ahead of what is asked for.
        n_threads : int, default 1
            How many threads decode side by side; the result does not depend on it.
        user_words
            As of `predict`.

        Yields
        ------
        list of str
            The words of the next text.

        Raises
        ------
        ValueError
            As `predict`.

        Examples
        --------
        >>> from spacy_structreg import CharacterSegmenter
        >>> segmenter = CharacterSegmenter(epochs=5).fit([["北京", "大学"], ["大学", "很", "大"]])
        >>> list(segmenter.predict_stream(["北京很大", "大学"], n_threads=2))
        [['北京', '很', '大'], ['大学']]
        """
        words = compiled(user_words)
        decode = partial(self._segment, user_words=words)
        return stream_texts(texts, self._decoders(), decode, n_threads)

    def predict_spans(
        self,
        text: str,
        user_words: AnyWords | None = None,
        *,
        spans: Iterable[AnySpan] = (),
    ) -> NDArray[np.int64]:
        """Begins and ends of the words of a text: int64 of shape (n_words, 2). As `predict`."""
        return self.analyze(text, user_words, spans=spans).spans

    def analyze(
        self,
        text: str,
        user_words: AnyWords | None = None,
        *,
        spans: Iterable[AnySpan] = (),
    ) -> TextAnalysis:
        """All that the model finds of a text, as arrays. As `predict`."""
        words = compiled(user_words)
        decode = partial(self._analyze, user_words=words, spans=list(spans))
        return self._decoders().run(decode, [checked_text(text)])[0]

    def analyze_stream(
        self,
        texts: Iterable[str],
        *,
        n_threads: int = 1,
        batch_size: int = sys.maxsize,
        user_words: AnyWords | None = None,
    ) -> Iterator[TextAnalysis]:
        """As `analyze`, for any number of texts in bounded memory, in their order.

        batch_size: how many texts are read at most, for each thread twice, before the first
            analysis.
        """
        decode = partial(self._analyze, user_words=compiled(user_words))
        return stream_texts(texts, self._decoders(), decode, n_threads, batch_size)

    def predict_spans_batch(
        self,
        texts: Iterable[str],
        *,
        n_threads: int = 1,
        user_words: AnyWords | None = None,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Begins and ends of the words of texts, and which words are whose; as `predict_spans`.

        The fastest call, as it makes no strings. Returns ``spans``, int64 of shape (n_words, 2),
        and ``starts``, int64 of shape (n_texts + 1,): offsets in text i, of its words, are
        ``spans[starts[i] : starts[i + 1]]``.
        """
        words = compiled(user_words)

        def decode(
            decoder: TextDecoderT, portion: list[str]
        ) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
            return [self._spans(decoder, portion, words)]

        # One item for a portion of the texts.
        portions = list(stream_texts(texts, self._decoders(), decode, n_threads))
        n_words = [np.diff(starts) for _, starts in portions]
        spans = [np.empty((0, 2), dtype=np.int64), *(found for found, _ in portions)]
        starts = np.cumsum(np.concatenate([[0], *n_words]), dtype=np.int64)
        return np.concatenate(spans), starts

    def nbest(
        self,
        text: str,
        n: int,
        user_words: AnyWords | None = None,
        *,
        spans: Iterable[AnySpan] = (),
    ) -> list[tuple[float, list[Any]]]:
        """Return the `n` best analyses with their scores, best first; fewer if there are fewer.

        Parameters
        ----------
        text : str
        n : int
            At least 1.
        user_words, spans
            As of `predict`.

        Returns
        -------
        list of (float, list)
            The score, which is the sum of the weights of all features and of bonuses, and the
            words; of models that tag, pairs of word and tag.

        Raises
        ------
        ValueError
            If n < 1, and as `predict`.

        Examples
        --------
        >>> from spacy_structreg import CharacterSegmenter
        >>> segmenter = CharacterSegmenter(epochs=5).fit([["北京", "大学"], ["大学", "很", "大"]])
        >>> [words for _, words in segmenter.nbest("大学", 2)]
        [['大学'], ['大', '学']]
        """
        text = checked_text(text)
        words = compiled(user_words)
        (ends,), constraints = self._inputs([text], words, list(spans))
        with self._decoders().borrow() as decoder:
            prefer(decoder, words)
            return _join_nbest(
                (
                    decoder.nbest(text[start:end], n, _part(constraints, start, end))
                    for start, end in pairwise([0, *(ends or [0])])
                ),
                n,
            )

    def predict_margins(
        self, texts: Iterable[str], *, n_threads: int = 1
    ) -> Iterator[list[tuple[str, NDArray[np.float64]]]]:
        """Margins of the words of texts: for each text its sentences, without white space.

        With each sentence of n characters come n - 1 numbers, one for each place between two: the
        score of the best analysis in which a word ends there less that of the best in which none
        does; infinite where there is no choice, or, for models of words, where their best 16
        analyses agree. Numbers near 0 are decisions in doubt. Raises ValueError as `predict`.
        """
        return self._scores_of_sentences(texts, lambda decoder: decoder.margins, n_threads)

    def _scores_of_sentences(
        self,
        texts: Iterable[str],
        method: Callable[[TextDecoderT], Callable[..., NDArray[np.float64]]],
        n_threads: int,
    ) -> Iterator[list[tuple[str, NDArray[np.float64]]]]:
        """Scores of a method of decoders for the sentences of each text, without white space."""

        def decode(
            decoder: TextDecoderT, portion: list[str]
        ) -> list[list[tuple[str, NDArray[np.float64]]]]:
            prefer(decoder, None)
            score = method(decoder)
            return [
                [(each, score(each, fixed)) for each, fixed in self._without_spaces(text)]
                for text in portion
            ]

        return stream_texts(texts, self._decoders(), decode, n_threads)

    def explain(self, text: str, user_words: AnyWords | None = None) -> Explanation:
        """Explain the words of a text: the features behind them, and what would change them.

        Time grows with the square of the length of a sentence.

        Parameters
        ----------
        text : str
        user_words
            As of `predict`.

        Returns
        -------
        Explanation
            A decision for each character that is no white space, and in models of words one more at
            the end of each sentence.

        Raises
        ------
        ValueError
            As `predict`.

        Examples
        --------
        >>> from spacy_structreg import CharacterSegmenter
        >>> segmenter = CharacterSegmenter(epochs=5).fit([["北京", "大学"], ["大学", "很", "大"]])
        >>> for decision in segmenter.explain("大学").decisions:
        ...     print(decision.item, decision.chosen)
        0 begins a word
        1 goes on
        """
        from spacy_structreg.models.explained_texts import explained_sentence
        from spacy_structreg.models.explanation import joined

        text = checked_text(text)
        words = compiled(user_words)
        (ends,), constraints = self._inputs([text], words)
        with self._decoders().borrow() as decoder:
            prefer(decoder, words)
            return joined(
                [
                    explained_sentence(
                        decoder,
                        self._character_scheme(),
                        text[start:end],
                        _part(constraints, start, end),
                    )
                    for start, end in pairwise([0, *(ends or [0])])
                ],
                text,
            )

    def _character_scheme(self) -> AnyScheme | None:
        """The scheme of a model that labels characters."""
        return None

    def search_words(
        self, text: str, user_words: AnyWords | None = None, *, n: int = 3
    ) -> list[SearchWord]:
        """The words of a text and the words inside them, for a search index.

        By their begins and then their ends, each as (start, end, text). Inside a word are the words
        of the model's and the user's lists, and parts of two characters or more that the `n` best
        analyses of the word alone find (`models.search_words`); with n = 1, listed words alone.
        user_words: as for `predict`. Raises ValueError if n < 1, and as `predict`.
        """
        from spacy_structreg.models.search_words import (
            SearchWord,
            atoms_of,
            inner_words,
            lexicons_of,
        )

        text = checked_text(text)
        words = compiled(user_words)
        lists = list(lexicons_of(self))
        if words:
            lists.append((words.lexicon, str))
            script = next(atoms_of(self)).script
            if script is not None:
                lists.append((words.normalized_by(script).lexicon, script.normalize))
        if n < 1:
            raise ValueError(f"at least one analysis must be asked for, not {n}")
        nbest = cache(lambda word: self.nbest(word, n))
        found: list[SearchWord] = []
        for start, end in self.predict_spans(text, words).tolist():
            inside = inner_words(text[start:end], nbest, lists)
            bounds = sorted((start + first, start + last) for first, last in inside)
            found += (SearchWord(*each, text[slice(*each)]) for each in [(start, end), *bounds])
        return sorted(found)

    def _without_spaces(self, text: str) -> Iterator[tuple[str, NDArray[np.uint8] | None]]:
        """Yield the sentences of a text without white space, and the boundaries of them."""
        (ends,), constraints = self._inputs([text], None)
        boundaries = None if constraints is None else constraints[0].boundaries
        kept = np.array([not character.isspace() for character in text], dtype=bool)
        for begin, end in pairwise([0, *ends]):
            if sentence := "".join(text[begin:end].split()):
                here = slice(begin, end)
                yield sentence, None if boundaries is None else boundaries[here][kept[here]]

    def _segment(
        self,
        decoder: TextDecoderT,
        texts: list[str],
        user_words: CompiledWords | None = None,
        spans: Sequence[AnySpan] = (),
    ) -> list[list[str]]:
        ends, constraints = self._plain_inputs(texts, user_words, spans)
        prefer(decoder, user_words)
        return decoder.segment(texts, ends, constraints)

    def _spans(
        self,
        decoder: TextDecoderT,
        texts: list[str],
        user_words: CompiledWords | None = None,
        spans: Sequence[AnySpan] = (),
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        ends, constraints = self._plain_inputs(texts, user_words, spans)
        prefer(decoder, user_words)
        return decoder.spans(texts, ends, constraints)

    def _analyze(
        self,
        decoder: TextDecoderT,
        texts: list[str],
        user_words: CompiledWords | None = None,
        spans: Sequence[AnySpan] = (),
    ) -> list[TextAnalysis]:
        sentences = list(map(self.sentence_ends, texts))
        ends, constraints = self._constrained_inputs(texts, sentences, user_words, spans)
        prefer(decoder, user_words)
        return self._analyses(decoder, texts, sentences, ends, constraints)

    def _analyses(
        self,
        decoder: TextDecoderT,
        texts: list[str],
        sentences: list[list[int]],
        ends: list[list[int]],
        constraints: list[Constraints] | None,
    ) -> list[TextAnalysis]:
        """The analyses of texts. sentences: ends of these; ends: those that constraints leave."""
        places, starts = decoder.spans(texts, ends, constraints)
        bounds = starts.tolist()
        return [
            TextAnalysis(places[first:last], of_text)
            for first, last, of_text in zip(bounds, bounds[1:], sentences, strict=False)
        ]

    def _plain_inputs(
        self,
        texts: list[str],
        user_words: CompiledWords | None,
        spans: Sequence[AnySpan],
    ) -> tuple[list[list[int]] | NDArray[np.int64], list[Constraints] | None]:
        """As `_inputs`, but faster for many texts without constraints: ends are offsets in all."""
        is_plain = self.sentences == "punctuation" and not (user_words or spans or self.typed_runs)
        # An array takes longer to make than the list of one text.
        if is_plain and len(texts) > 1:
            return sentence_ends_of_all(texts), None
        return self._inputs(texts, user_words, spans)

    def _inputs(
        self,
        texts: list[str],
        user_words: CompiledWords | None,
        spans: Sequence[AnySpan] = (),
    ) -> tuple[list[list[int]], list[Constraints] | None]:
        """Inputs of decoders: ends of the sentences of texts, and constraints, None for none.

        spans: of the text, if there is but one.
        """
        return self._constrained_inputs(
            texts, list(map(self.sentence_ends, texts)), user_words, spans
        )

    def _constrained_inputs(
        self,
        texts: list[str],
        ends: list[list[int]],
        user_words: CompiledWords | None,
        spans: Sequence[AnySpan],
    ) -> tuple[list[list[int]], list[Constraints] | None]:
        """As `_inputs`. ends: as `sentence_ends` gives them; constraints may change them."""
        runs = self.runs
        if not (user_words or spans or runs):
            return list(ends), None
        user_words = self.normalized_words(user_words) if user_words else None
        known_tags = self.known_tags
        found = [
            constrained_text(text, of_text, user_words, spans, runs=runs, known_tags=known_tags)
            for text, of_text in zip(texts, ends, strict=True)
        ]
        left = [of_text for of_text, _ in found]
        constraints = [each for _, each in found]
        return left, None if all(each is NO_CONSTRAINTS for each in constraints) else constraints

    def normalized_words(self, words: CompiledWords) -> CompiledWords:
        """Listed words as the model sees them: by its script, in both ways of writing.

        Raises ValueError as `check_tags`.
        """
        from spacy_structreg.models.search_words import atoms_of

        self.check_tags(words)
        return words.normalized_by(next(atoms_of(self)).script)

    def check_tags(self, words: CompiledWords) -> None:
        """Raise ValueError if words are listed with tags that the model does not know.

        Models that give no tags, or know none yet, take any.
        """
        unknown = words.model_tags - {*self.known_tags} if self.known_tags else ()
        for tag in sorted(unknown):
            entries = {each for each in words.entries if each.tag == tag and each.mode != "prefer"}
            # A file may have entries that no word has.
            for word in (word for word, entry in words.items() if entry in entries):
                check_tag(f"the word {word!r} is listed with", tag, self.known_tags)

    @property
    def known_tags(self) -> tuple[str, ...]:
        """The tags that the model gives; none if it gives none, or has not learned any yet."""
        tags: tuple[str, ...] = getattr(self, "tags", ())
        return tags

    def _text_of(self, words: Sequence[str]) -> str:
        """The text of words without white space; if runs are looked for, as people write it."""
        if self.typed_runs is not True:
            return "".join(words)
        return "".join(
            word + " " * space for word, space in zip(words, latin_spaces(words), strict=True)
        )

    def sentence_ends(self, text: str) -> list[int]:
        """The ends of the sentences of a text, as the model takes them one by one."""
        if self.sentences == "doc":
            return cut_long(text, [len(text)]) if text else []
        return sentence_ends(text, wrapped=self.sentences == "wrapped")


class TaggedPredictor(RawTextPredictor[TextDecoderT]):
    """Finds words and their tags."""

    @property
    @abstractmethod
    def tags(self) -> tuple[str, ...]:
        """The tags of words, sorted; none as long as they are to be learned from data."""

    def predict_tagged(
        self,
        text: str,
        user_words: AnyWords | None = None,
        *,
        spans: Iterable[AnySpan] = (),
    ) -> list[tuple[str, str]]:
        """The words of a text, as `predict` gives them, with their tags."""
        with self._decoders().borrow() as decoder:
            return self._tag(decoder, [checked_text(text)], compiled(user_words), list(spans))[0]

    def predict_tagged_stream(
        self,
        texts: Iterable[str],
        *,
        n_threads: int = 1,
        user_words: AnyWords | None = None,
    ) -> Iterator[list[tuple[str, str]]]:
        """As `predict_tagged`, for any number of texts in bounded memory, in their order."""
        words = compiled(user_words)
        decode = partial(self._tag, user_words=words)
        return stream_texts(texts, self._decoders(), decode, n_threads)

    def predict_tag_scores(
        self, texts: Iterable[str], *, n_threads: int = 1
    ) -> Iterator[list[tuple[str, NDArray[np.float64]]]]:
        """Scores of the tags of texts: for each text its sentences, without white space.

        With each sentence of n characters comes an array of shape (n, n_tags), with tags as `tags`
        has them: the score of the best analysis in which a character is in a word of this tag; -inf
        if there is none, or, for models of words, none among their best 16. Raises ValueError as
        `predict`.
        """
        return self._scores_of_sentences(texts, lambda decoder: decoder.tag_scores, n_threads)

    def _tag(
        self,
        decoder: TextDecoderT,
        texts: list[str],
        user_words: CompiledWords | None = None,
        spans: Sequence[AnySpan] = (),
    ) -> list[list[tuple[str, str]]]:
        ends, constraints = self._plain_inputs(texts, user_words, spans)
        prefer(decoder, user_words)
        return decoder.tag(texts, ends, constraints)

    def _analyses(
        self,
        decoder: TextDecoderT,
        texts: list[str],
        sentences: list[list[int]],
        ends: list[list[int]],
        constraints: list[Constraints] | None,
    ) -> list[TextAnalysis]:
        places, starts, tags = decoder.tagged_spans(texts, ends, constraints)
        names, bounds = self.known_tags, starts.tolist()
        return [
            TextAnalysis(places[first:last], of_text, tags[first:last], names)
            for first, last, of_text in zip(bounds, bounds[1:], sentences, strict=False)
        ]


def prefer(decoder: TextDecoder, words: CompiledWords | None) -> None:
    """Let the words of mode ``prefer`` join the lexicon of the model.

    Raises ValueError if there are any, and it has none.
    """
    preferred = words if words is not None and "prefer" in words.modes else None
    if not decoder.prefer(preferred) and preferred is not None:
        raise ValueError(
            "words of mode 'prefer' join the lexicon of a model, and this one was trained without: "
            "train it with the setting lexicon, or choose the mode force, or a bonus"
        )


def _part(constraints: list[Constraints] | None, start: int, end: int) -> Constraints | None:
    """Constraints of a part of the only text, beyond which no place goes."""
    return None if constraints is None else constraints[0].part(start, end)


def stream_texts(
    texts: Iterable[str],
    decoders: DecoderPool[TextDecoderT],
    decode: Callable[[TextDecoderT, list[str]], list[OutputT]],
    n_threads: int,
    batch_size: int = sys.maxsize,
) -> Iterator[OutputT]:
    """Yield the output for each text of a stream, in bounded memory; threads decode side by side.

    decode: gives the outputs for the texts of a portion, `batch_size` of them at most. Raises
    TypeError for a single text.
    """
    if isinstance(texts, str):
        raise TypeError("expected an iterable of texts, got str; put it into a list")
    portions = text_portions(texts, PORTION, batch_size)
    return decoders.stream_portions(portions, decode, n_threads=n_threads)


def _join_nbest(
    sentences: Iterable[Sequence[tuple[float, list[ItemT]]]], n: int
) -> list[tuple[float, list[ItemT]]]:
    """The `n` best outputs for a text, best first, from the n best of each of its sentences.

    Scores add up, so that the best of all are sums of the best of each.
    """
    # `steps` keeps, for each sentence, which of the best so far it continues and by which of its
    # own.
    scores = [0.0]
    steps: list[list[tuple[int, list[ItemT]]]] = []
    for sentence in sentences:
        best = nlargest(
            n,
            (
                (score + more, rank, items)
                for rank, score in enumerate(scores)
                for more, items in sentence
            ),
            key=itemgetter(0),
        )
        scores = [score for score, _, _ in best]
        steps.append([(rank, items) for _, rank, items in best])
    outputs = []
    for last, score in enumerate(scores):
        rank = last
        parts = []
        for step in reversed(steps):
            rank, items = step[rank]
            parts.append(items)
        outputs.append((score, list(chain.from_iterable(reversed(parts)))))
    return outputs
