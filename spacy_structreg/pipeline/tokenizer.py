"""Base class of the tokenizers of ours, which have a model and listed words."""

from __future__ import annotations

import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from itertools import chain, islice, tee
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, TypeVar
from weakref import WeakKeyDictionary

# Not srsly's: that makes arrays of some mappings, and leaves Python's collector off after an error.
import msgpack
import numpy as np
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_structreg.corpora.corpus_errors import StrPath
from spacy_structreg.corpora.dependencies import DEPENDENCY, ROOT
from spacy_structreg.learn.setting_fields import defaults_of, described, hints_of
from spacy_structreg.models.gold import TaggedSchema
from spacy_structreg.models.protocols import Compiled
from spacy_structreg.models.raw_text import RawTextPredictor, TextAnalysis
from spacy_structreg.models.tree_parser import heads_of_all
from spacy_structreg.pipeline.analyses import (
    AnalysesMixin,
    VisibleText,
    calibrations_as_bytes,
    calibrations_of_bytes,
    joined_margins,
    keep,
    load_calibrations,
    save_calibrations,
)
from spacy_structreg.pipeline.component import (
    HasSettings,
    TokenizerSettings,
    check_learns_from_batches,
)
from spacy_structreg.pipeline.doc_tokens import WordHashes
from spacy_structreg.pipeline.documents import (
    gold_pairs,
    gold_trees,
    gold_words,
    partial_sentence,
    unknown_stretches,
    visible_tokens,
)
from spacy_structreg.pipeline.noun_chunks import give_noun_chunks
from spacy_structreg.pipeline.shim import load_estimator, save_estimator
from spacy_structreg.pipeline.spacy_glossary import extend_glossary
from spacy_structreg.pipeline.tree_pipe import ROOT_LABEL, write_heads
from spacy_structreg.tasks.segmentation.given_spans import AnySpan, span_limits
from spacy_structreg.tasks.segmentation.user_words import (
    AnyWords,
    CompiledWords,
    UserWords,
    compiled,
    leftmost_longest,
)

if TYPE_CHECKING:
    from typing_extensions import Self

    from spacy_structreg.models.calibration import Calibration
    from spacy_structreg.models.corrections import Corrections
    from spacy_structreg.models.explanation import Explanation
    from spacy_structreg.models.search_words import SearchWord

__all__ = ["WORDS_FILE", "ModelTokenizer", "UserWords"]

WORDS_FILE: Final = "user_words"
"""Name of the file of user words in the folder of a tokenizer."""

_VISIBLE: Final = re.compile(r"\S")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_STAND_IN: Final = ["x", "y", "z"]

# The lists that tokenizers use in the current context, in place of their own; the last one counts.
_IN_USE: Final[ContextVar[tuple[tuple[Any, AnyWords], ...]]] = ContextVar("user_words", default=())

ModelT = TypeVar("ModelT", bound=RawTextPredictor[Any])


class ModelTokenizer(HasSettings, AnalysesMixin, ABC, Generic[ModelT]):
    """A tokenizer whose tokens are the words of a model, and the white space between them.

    vocab: of the pipeline. model: finds the words. Until it is trained, every character is a token.
    user_words: words that are to be tokens, always or rather than the model says
        (`tasks.segmentation.user_words`). The list may be changed, or another one put in its place,
        while other threads use the tokenizer: a text is read by the list as it is when its turn
        comes, a stream by the list that it began with. See `using` for a list for some calls only.
    calibrations: of margins. settings: those of `TokenizerSettings`, by their names.

    ``doc.text`` equals the text for all that UTF-8 can encode. Whatever the model sees of a text,
    the tokens hold the text itself. The sentences of the Doc are those that the punctuation gives,
    with the setting `sentences` of a trained model; the model may join some, where runs or listed
    words go on.
    """

    NAME: ClassVar[str]
    """Under which it is registered."""
    TASK: ClassVar[str]
    """The stem of the task (`pipeline.task`)."""
    SETTINGS = TokenizerSettings
    NEEDS: ClassVar[Any] = RawTextPredictor
    """The kind of model that it needs."""
    WRONG_MODEL: ClassVar[str] = ""
    """The error for another kind."""
    ALTERNATIVES = "words"
    WRITES: ClassVar[tuple[str, ...]] = ("sentences",)
    """The annotation that it writes, besides words, by the names of `written_annotation`."""

    def __init__(
        self,
        vocab: Vocab,
        model: ModelT,
        user_words: UserWords | None = None,
        *,
        calibrations: Mapping[str, Calibration] | None = None,
        **settings: Any,
    ) -> None:
        extend_glossary()
        # Pipes of trees may be copied from other pipelines, and are not made for this one then.
        give_noun_chunks(vocab)
        self.settings = self.SETTINGS(**settings)
        self.vocab = vocab
        self.model = model
        self.user_words = UserWords() if user_words is None else user_words
        self.keep_analyses(**self.kept_settings)
        self.calibrations = dict(calibrations or {})
        # Training Docs live as long as spaCy keeps its corpus; what was compiled goes with them.
        self._compiled: WeakKeyDictionary[Doc, list[Compiled]] = WeakKeyDictionary()
        self._hashes = WordHashes(vocab.strings)

    @property
    def user_words(self) -> UserWords:
        """The listed words. A tag that the model does not know is refused when it is added."""
        return self._user_words

    @user_words.setter
    def user_words(self, user_words: UserWords) -> None:
        if (before := getattr(self, "_user_words", None)) is not None:
            before.users.discard(self)
        self._user_words = user_words
        user_words.users.add(self)

    @property
    def known_tags(self) -> tuple[str, ...]:
        """Tags that the model gives; none if it gives none, or has not learned any yet."""
        return self.model.known_tags

    def check_tags(self, words: CompiledWords) -> None:
        """Raise ValueError if words are listed with tags that the model does not know."""
        self.model.check_tags(words)

    @property
    def estimator(self) -> Any:
        """The model, by the name that components have for it."""
        return self.model

    @estimator.setter
    def estimator(self, estimator: Any) -> None:
        self.model = estimator

    def with_estimator(self, estimator: Any) -> Self:
        """A tokenizer of the same listed words that has another model."""
        return type(self)(self.vocab, estimator, self.user_words, **vars(self.settings))

    # Hooks ---------------------------------------------------------------------------------------

    @property
    def _tag_map(self) -> Mapping[str, str] | None:
        """From tags to universal ones, which are written too."""
        return None

    def _untrained(self, text: str, words: TextAnalysis, listed: CompiledWords) -> TextAnalysis:
        """The words of a text as long as there is no model, with their tags if they get any."""
        return words

    @abstractmethod
    def _score(self, examples: list[Example]) -> dict[str, Any]:
        """The figures of what was found."""

    # Prediction ----------------------------------------------------------------------------------

    def __call__(
        self, text: str, *, user_words: AnyWords | None = None, spans: Iterable[AnySpan] = ()
    ) -> Doc:
        """Make the Doc of a text.

        user_words: a `UserWords`, or words that are forced, in place of the listed ones.
        spans: spans of the text that must be tokens, be whole, or begin and end with tokens, as
            (start, end), (start, end, kind) or (start, end, kind, tag)
            (`tasks.segmentation.given_spans`).
        Raises ValueError for lone surrogates, which no Doc can hold, and for spans that cannot be.
        """
        listed = self._listed(user_words)
        spans = list(spans)
        if self.model.is_trained:
            doc = self._doc(text, self.model.analyze(text, listed, spans=spans))
            return self._keep_analyses(doc, listed, spans) if self.keeps_analyses else doc
        return self._doc(text, self._untrained(text, _characters(text, listed, spans), listed))

    def _doc(self, text: str, words: TextAnalysis) -> Doc:
        """A Doc of a text: its words, and what stands between them as spaCy's tokenizers have it.

        One space after a token belongs to the token; all other white space becomes tokens. Raises
        ValueError for lone surrogates.
        """
        if (
            self._hashes.strings is not self.vocab.strings
            or self._hashes.tag_map is not self._tag_map
        ):
            self._hashes = WordHashes(self.vocab.strings, tag_map=self._tag_map)
        hashes = self._hashes
        has_heads = words.heads is not None and "heads" in self.WRITES
        tags = words.tags if "tags" in self.WRITES else None
        ends = words.ends if not has_heads and self.model.sentences != "doc" else ()
        arguments = (text, words.spans, tags, words.names, ends or None)
        try:
            tokens: Any
            attributes: Any
            tokens, spaces, attributes, values = hashes.parts(*arguments)
            try:
                doc = Doc(self.vocab, words=tokens, spaces=spaces)
            except KeyError:
                # A memory zone has ended.
                hashes.clear()
                tokens, spaces, attributes, values = hashes.parts(*arguments)
                doc = Doc(self.vocab, words=tokens, spaces=spaces)
        except UnicodeEncodeError as error:
            found = _SURROGATE.search(text)
            offset = found.start() if found else 0
            raise ValueError(
                f"the text has a lone surrogate, U+{ord(text[offset]):04X}, at offset {offset}, "
                "which no Doc can hold; decode the text with errors='replace'"
            ) from error
        if attributes:
            doc.from_array(attributes, values)
        if words.heads is not None and has_heads and len(doc):
            _write_trees(doc, words.spans, words.heads, words.labels)
        return doc

    @contextmanager
    def using(self, user_words: AnyWords) -> Iterator[UserWords | CompiledWords]:
        """Use another list of words within a ``with`` block, in this thread only.

        user_words: a `UserWords`, which may be changed within the block, or words that are forced.
        Other threads, and processes of ``nlp.pipe``, keep to the listed words.
        """
        words = user_words
        if not isinstance(words, (UserWords, CompiledWords)):
            words = UserWords(words)
        token = _IN_USE.set((*_IN_USE.get(), (self, words)))
        try:
            yield words
        finally:
            _IN_USE.reset(token)

    def _listed(self, given: AnyWords | None = None) -> CompiledWords:
        """The list that counts now."""
        words = given
        if words is None:
            words = self.user_words
            for tokenizer, in_use in _IN_USE.get():
                if tokenizer is self:
                    words = in_use
        listed = compiled(words)
        assert listed is not None
        return listed

    def pipe(
        self, texts: Iterable[str], batch_size: int = 1000, *, n_threads: int | None = None
    ) -> Iterator[Doc]:
        """Make the Docs of a stream of texts, in their order; threads decode side by side.

        batch_size: how many texts are read at most, for each thread twice, before the first Doc.
        n_threads: None for as many as the tokenizer has.
        """
        if not self.model.is_trained:
            yield from map(self, texts)
            return
        texts, copies = tee(texts)
        listed = self._listed()
        found = self.model.analyze_stream(
            copies,
            n_threads=self._threads(n_threads),
            batch_size=batch_size,
            user_words=listed,
        )
        for text, words in zip(texts, found, strict=True):
            doc = self._doc(text, words)
            yield self._keep_analyses(doc, listed) if self.keeps_analyses else doc

    def explain(self, text: str, *, user_words: AnyWords | None = None) -> Explanation:
        """The features behind the words of a text, and what would have changed them.

        user_words: as of a call. Raises ValueError if the model has not been trained.
        """
        return self.model.explain(text, self._listed(user_words))

    def words(self, texts: Iterable[str], *, n_threads: int | None = None) -> Iterator[list[str]]:
        """The words of a stream of texts, without white space, and without making Docs.

        n_threads: as of `pipe`. Raises ValueError if the model has not been trained.
        """
        return self.model.predict_stream(
            texts, n_threads=self._threads(n_threads), user_words=self._listed()
        )

    def _threads(self, n_threads: int | None) -> int:
        return self.settings.n_threads if n_threads is None else n_threads

    def search_words(self, text: str, *, n: int = 3) -> list[SearchWord]:
        """The words of a text and the words inside them, as (start, end, text), by their begins.

        For a search index: of 中华人民共和国 also 中华, 人民 and 共和国. Inside words are the
        listed ones, those of the model's own lists, and parts that the `n` best analyses of the
        word alone find (`models.raw_text.RawTextPredictor.search_words`).
        Raises ValueError if n < 1, or the model has not been trained.
        """
        return self.model.search_words(text, self._listed(), n=n)

    def _keep_analyses(self, doc: Doc, listed: CompiledWords, spans: Sequence[AnySpan] = ()) -> Doc:
        """Write alternatives and confidence of a Doc, as `keep_analyses` has set; returns it."""
        from spacy_structreg.models.margins import word_margins

        if self.alternatives:
            found = self.model.nbest(doc.text, self.alternatives, listed, spans=spans)
            listing = [[score, 0, len(doc), list(items)] for score, items in found]
            keep(doc, "alternatives", "words", [listing])
        if self.confidence:
            visible = VisibleText.of(doc)
            margins = joined_margins(next(self.model.predict_margins([doc.text])))
            ends = visible.ends
            decided = ~visible.touches
            if listed or spans:
                decided |= (margins > 0) != ends
            margins = np.where(decided, np.where(ends, np.inf, -np.inf), margins)
            of_text = np.full(max(0, len(doc.text) - 1), np.inf)
            of_text[visible.places[:-1][visible.touches]] = margins[visible.touches]
            self._keep_margins(doc, "boundaries", of_text)
            self._keep_margins(
                doc, "words", visible.spread(doc, word_margins(margins, visible.bounds))
            )
            self._keep_tags(doc, visible, listed)
        return doc

    def _keep_tags(self, doc: Doc, visible: VisibleText, listed: CompiledWords) -> None:
        """Write the margins of tags, if the tokenizer finds any."""

    def adapted(
        self,
        texts: Iterable[str | Doc] = (),
        *,
        counts: Iterable[StrPath] = (),
        together: bool = True,
        n_threads: int = 1,
    ) -> Self:
        """A tokenizer of the same weights whose statistics of raw text are counted anew.

        ``nlp.tokenizer = nlp.tokenizer.adapted(texts)`` puts it into the pipeline in one step, so
        that other threads may go on; the listed words stay the same. texts: strings or Docs.
        counts, together, n_threads, and errors: as `models.raw_text.RawTextPredictor.adapt`.
        """
        raw = (text.text if isinstance(text, Doc) else text for text in texts)
        model = self.model.adapt(raw, counts=counts, together=together, n_threads=n_threads)
        return self.with_estimator(model)

    # Training ------------------------------------------------------------------------------------

    @property
    def is_trained(self) -> bool:
        """True if the model has learned anything, so that it finds words."""
        return self.model.is_trained

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]] | None = None,
        *,
        nlp: Language | None = None,
        user_words: str | None = None,
        pkuseg_model: str | None = None,
        pkuseg_user_dict: str | None = "default",
    ) -> None:
        """List the words of a file, and let the model see the labels of gold Docs.

        Weights are learned by ``structreg_tokenizer_trainer``, and kept.

        user_words: a file of one word a line, or of a word, a tab and its tag, or a compiled one
            (`structreg compile-words`); they take the place of the words that are listed. A
            pipeline that has got its list keeps it where the file is not at hand.
        pkuseg_model, pkuseg_user_dict: spaCy's config of Chinese names these two for every
            tokenizer.
        Raises ValueError if a pkuseg model is asked for, for a faulty file, and for gold Docs
        without tags if the model tags; OSError if the file cannot be read.
        """
        # spaCy reads these annotations where it knows the names of builtins alone.
        if pkuseg_model is not None:
            raise ValueError(
                f"[initialize.tokenizer] asks for the pkuseg model {pkuseg_model!r}, but the "
                f"tokenizer is {self.NAME}; remove pkuseg_model, or choose "
                "spacy.zh.ChineseTokenizer"
            )
        # Whoever initializes a packaged pipeline anew has not got the files it was made from.
        if user_words is not None and (Path(user_words).exists() or not self.user_words):
            self.user_words.load(user_words, replace=True)
        if get_examples is not None and not self.model.is_trained:
            references: Iterator[Doc] = (example.reference for example in get_examples())
            first = list(islice(references, 2))
            if _is_stand_in(first):
                return
            references = chain(first, references)
            self.model.prepare(chain.from_iterable(map(self.gold_sentences, references)))
            self.model.check_tags(self.user_words.snapshot())

    def update(self, docs: Sequence[Doc]) -> int:
        """Learn from gold Docs, in one pass; returns how many labels were to be corrected.

        Raises ValueError as `check_learns_from_batches`.
        """
        check_learns_from_batches(self.model.learning)
        examples: list[Compiled] = []
        for doc in docs:
            compiled = self._compiled.get(doc)
            if compiled is None or not self.model.owns(compiled):
                compiled = self._compiled[doc] = self.model.compile(self.gold_sentences(doc))
            examples += compiled
        # Curves of the margins that were.
        self.calibrations = {}
        return self.model.learn(examples)[1]

    def correct(self, docs: Sequence[Doc], *, sample: Iterable[Doc] = ()) -> Corrections:
        """Change the weights as little as makes the words of gold Docs come out right, at once.

        What is not known of a Doc (tags, trees, where words end in the spans of the group
        ``unknown_words``) is taken from the best analysis that has all that is known.
        sample: Docs as the tokenizer makes them; what occurs in them often takes less of a change
            (`BaseModel.correct`). Listed words play no part.
        Raises ValueError if the model is untrained.
        """
        if not self.model.is_trained:
            raise ValueError("the tokenizer has not been trained, so that it cannot be corrected")
        self.calibrations = {}
        gold, kept = (
            [each for doc in listed for each in self.gold_sentences(self.completed(doc))]
            for listed in (docs, sample)
        )
        return self.model.correct(gold, sample=kept)

    def completed(self, doc: Doc, user_words: AnyWords | None = ()) -> Doc:
        """A gold Doc, or another one with what is not known of it as the model finds it.

        user_words: as of a call. The other one has words, and what the tokenizer writes, alone.
        """
        from spacy_structreg.models.joint.word_joint_parser import ParsedSchema

        words, unknown = visible_tokens(doc), unknown_stretches(doc)
        is_parsed = issubclass(self.model.SPEC, ParsedSchema)
        lacks_tags = issubclass(self.model.SPEC, TaggedSchema) and not all(
            word.tag for word in words
        )
        if doc.has_annotation("DEP") if is_parsed else not (unknown or lacks_tags):
            return doc
        pieces = {i for begin, end in unknown for i in range(begin, end)}
        # The model cannot be made to find a tag that it does not know, and is to say so.
        known = {tag: tag for tag in getattr(self.model, "tags", ())}
        spans: list[AnySpan] = [
            (word.idx, word.idx + len(word), "whole")
            if i in pieces
            else (word.idx, word.idx + len(word), "token", known.get(word.tag_))
            for i, word in enumerate(words)
        ]
        spans += [
            (words[begin].idx, words[end - 1].idx + len(words[end - 1]), "edges")
            for begin, end in unknown
        ]
        completed = self(doc.text, user_words=user_words, spans=spans)
        tags = {word.idx: word.tag_ for i, word in enumerate(words) if i not in pieces}
        for token in completed:
            token.tag_ = tags.get(token.idx) or token.tag_
        return completed

    def gold_sentences(self, doc: Doc) -> list[Any]:
        """The gold sentences of a gold Doc: one of its words, with their tags if the model learns
        tags; the trees of its sentences if the model learns trees.

        What is known in part is a `PartialSentence`. Raises ValueError for Docs without any tag, if
        the model learns tags and all words are known, and for Docs without any head, if it learns
        trees.
        """
        from spacy_structreg.models.joint.word_joint_parser import ParsedSchema

        if issubclass(self.model.SPEC, ParsedSchema):
            model: Any = self.model
            return gold_trees(doc, many_roots=model.many_roots)
        tagged = issubclass(self.model.SPEC, TaggedSchema)
        partial = partial_sentence(doc)
        if partial is not None and (tagged or not partial.has_words):
            return [partial]
        return [gold_pairs(doc) if tagged else gold_words(doc)]

    def gold(self, example: Example) -> tuple[list[Any], int]:
        """The gold sentences of an Example, and that no others are left out; as of components."""
        return self.gold_sentences(example.reference), 0

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """The figures that spaCy asks for, and the table of them that ``spacy evaluate`` prints."""
        from spacy_structreg.pipeline.score_table import with_table

        examples = list(examples)
        return with_table(self._score(examples), examples)

    # Saving --------------------------------------------------------------------------------------

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The model, if it is trained, and the listed words, as bytes."""
        content = {
            "model": self.model.to_bytes() if self.model.is_trained else b"",
            "user_words": self.user_words.to_bytes() if self.user_words else b"",
            "calibration": calibrations_as_bytes(self.calibrations),
        }
        packed: bytes = msgpack.packb(content)
        return packed

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> Self:
        """Take the model that `to_bytes` gave, its settings included, and the listed words.

        Raises ValueError for anything else, and changes nothing then.
        """
        try:
            content = msgpack.unpackb(data)
        except (ValueError, msgpack.exceptions.UnpackException, RecursionError) as error:
            raise ValueError(
                f"the model and words of a tokenizer cannot be read ({error})"
            ) from error
        if (
            not isinstance(content, dict)
            or content.keys() != {"model", "user_words", "calibration"}
            or not all(isinstance(part, bytes) for part in content.values())
        ):
            raise ValueError("these are no model and words of a tokenizer; write them anew")
        model, words = content["model"], content["user_words"]
        user_words = UserWords().from_bytes(words) if words else UserWords()
        calibrations = calibrations_of_bytes(content["calibration"])
        self.model = type(self.model).from_bytes(model) if model else self.model.untrained()
        self.user_words = user_words
        self.calibrations = calibrations
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write the model file, and that of the listed words if there are any, into a folder."""
        from spacy_structreg.corpora.files import replace_bytes

        folder = Path(path)
        save_estimator(self.model, folder)
        save_calibrations(self.calibrations, folder)
        if words := self.user_words.to_bytes() if self.user_words else b"":
            with replace_bytes(folder / WORDS_FILE) as stream:
                stream.write(words)
        else:
            (folder / WORDS_FILE).unlink(missing_ok=True)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> Self:
        """Map the model file in a folder, and take its settings and the listed words.

        Raises ValueError if a file is damaged, or that of the model is missing, though it was
        trained; nothing is changed then.
        """
        folder = Path(path)
        user_words = UserWords()
        if (folder / WORDS_FILE).exists():
            try:
                user_words.read(folder / WORDS_FILE)
            except ValueError as error:
                raise ValueError(f"{folder / WORDS_FILE}: {error}") from error
        calibrations = load_calibrations(folder)
        self.model = load_estimator(self.model, folder)
        self.user_words = user_words
        self.calibrations = calibrations
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        make = partial(type(self), calibrations=self.calibrations, **vars(self.settings))
        return make, (self.vocab, self.model, self.user_words)


def _characters(text: str, listed: CompiledWords, spans: Sequence[AnySpan] = ()) -> TextAnalysis:
    """The characters of a text; but tokens given and forced words as wholes.

    Of forced words, the leftmost longest are taken.
    """
    places = listed.places(text)
    chosen: list[tuple[int, int]] = []
    if spans:
        limits = span_limits(text, spans)
        chosen = limits.wholes()
        places = places[limits.without_rivals(places)]
        free = [
            not any(first < end and start < last for first, last in chosen)
            for start, end, _ in places.tolist()
        ]
        places = places[np.array(free, dtype=bool)]
    words: list[tuple[int, int]] = []
    end = 0
    n = len(text)
    for first, last in [*sorted([*chosen, *leftmost_longest(places)]), (n, n)]:
        words += (each.span() for each in _VISIBLE.finditer(text, end, first))
        words.append((first, last))
        end = last
    return TextAnalysis(np.array(words[:-1], dtype=np.int64).reshape(-1, 2), ())


def _write_trees(
    doc: Doc, spans: NDArray[np.int64], heads: NDArray[np.int32], labels: Sequence[str]
) -> None:
    """Write the trees of words to their tokens; white space hangs on the token before it.

    White space at the beginning hangs on the first word.
    """
    places = np.searchsorted(doc.to_array("IDX"), spans[:, 0]).tolist()
    above = heads_of_all(heads.tolist(), places, len(doc))
    of_words = dict(zip(places, labels, strict=True))
    names = [
        of_words.get(i) or (ROOT_LABEL if head == ROOT else DEPENDENCY)
        for i, head in enumerate(above)
    ]
    write_heads(doc, above, names)


def _is_stand_in(references: Sequence[Doc]) -> bool:
    """True if ``nlp.initialize`` has made these up, where it has got no examples."""
    if len(references) != 1:
        return False
    (doc,) = references
    return [token.text for token in doc] == _STAND_IN and not doc.has_annotation("TAG")


def tokenizer_factory(
    tokenizer: type[ModelTokenizer[Any]],
) -> Callable[..., Callable[[Language], ModelTokenizer[Any]]]:
    """Make what ``[nlp.tokenizer]`` of a config asks for: a function of a model and settings.

    That raises ValueError for a model of another kind than `ModelTokenizer.NEEDS`.
    """
    settings = tokenizer.SETTINGS
    hints, defaults = hints_of(settings), defaults_of(settings)

    def create(
        model: RawTextPredictor[Any], **values: Any
    ) -> Callable[[Language], ModelTokenizer[Any]]:
        if not isinstance(model, tokenizer.NEEDS):
            raise ValueError(tokenizer.WRONG_MODEL)
        return lambda nlp: tokenizer(nlp.vocab, model, **values)

    made: Any = create
    about = "\n".join(f"{name}: {each.doc}" for name, each in described(settings))
    made.__doc__ = f"Make a `{tokenizer.__name__}`.\n\nmodel: from an architecture.\n{about}"
    keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD
    made.__signature__ = inspect.Signature(
        [
            inspect.Parameter("model", keyword, annotation=RawTextPredictor),
            *(
                inspect.Parameter(name, keyword, default=default, annotation=hints[name])
                for name, default in defaults.items()
            ),
        ]
    )
    return create
