"""The tokenizer that segments text by a model of ours: ``spacy_structreg.Segmenter.v1``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import tee
from pathlib import Path
from typing import Any, Final
from weakref import WeakKeyDictionary

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_structreg.estimators.protocols import Compiled, TokenizerModel
from spacy_structreg.pipeline.documents import gold_words
from spacy_structreg.pipeline.scorers import score_segmentation

MODEL_FILE: Final = "model.srt"
UNTRAINED_MARK: Final = "untrained"

_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def create_segmenter(model: TokenizerModel) -> Callable[[Language], Segmenter]:
    """Make the factory of a `Segmenter`, as ``[nlp.tokenizer]`` of a config asks for it.

    model: the segmenter, from an architecture such as ``spacy_structreg.CharacterSegmenter.v1``.
    """

    def make(nlp: Language) -> Segmenter:
        return Segmenter(nlp.vocab, model)

    return make


class Segmenter:
    """A tokenizer whose tokens are the words of a model, and the white space between them.

    vocab: of the pipeline. model: the segmenter. Until it is trained, every character is a token.

    ``doc.text`` equals the text for all that UTF-8 can encode. Whatever the model sees of a text,
    the tokens hold the text itself.
    """

    def __init__(self, vocab: Vocab, model: TokenizerModel) -> None:
        self.vocab = vocab
        self.model = model
        # Training Docs live as long as spaCy keeps its corpus; what was compiled goes with them.
        self._compiled: WeakKeyDictionary[Doc, list[Compiled]] = WeakKeyDictionary()

    def __call__(self, text: str) -> Doc:
        """Segment a text. Raises ValueError for lone surrogates, which no Doc can hold."""
        if self.model.is_trained:
            return self._doc(text, self.model.predict(text))
        return self._doc(text, [character for character in text if not character.isspace()])

    def pipe(self, texts: Iterable[str], *, n_threads: int = 1) -> Iterator[Doc]:
        """Segment a stream of texts, in their order; threads decode side by side.

        ``nlp.pipe`` takes these Docs as well as texts: ``nlp.pipe(nlp.tokenizer.pipe(texts))``.
        """
        if not self.model.is_trained:
            yield from map(self, texts)
            return
        texts, copies = tee(texts)
        segmented = self.model.predict_stream(copies, n_threads=n_threads)
        for text, words in zip(texts, segmented, strict=True):
            yield self._doc(text, words)

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]] | None = None,
        *,
        nlp: Language | None = None,
        pkuseg_model: str | None = None,
        pkuseg_user_dict: str | None = "default",
    ) -> None:
        """Let the model see the labels of gold Docs, if it takes labels from data.

        Weights are learnt by ``structreg_tokenizer_trainer``, and kept.

        pkuseg_model, pkuseg_user_dict: spaCy's config of Chinese names these two for every
            tokenizer. Raises ValueError if a pkuseg model is asked for.
        """
        if pkuseg_model is not None:
            raise ValueError(
                f"[initialize.tokenizer] asks for the pkuseg model {pkuseg_model!r}, but the "
                "tokenizer is spacy_structreg.Segmenter.v1; remove pkuseg_model, or choose "
                "spacy.zh.ChineseTokenizer"
            )
        if get_examples is not None:
            self.model.prepare(self.gold(example.reference) for example in get_examples())

    def update(self, docs: Sequence[Doc]) -> int:
        """Learn from gold Docs, in one pass; returns how many labels were to be corrected.

        Raises ValueError if updates are counted by epochs: spaCy hands over batches.
        """
        if self.model.learning.clock == "epochs":
            raise ValueError(
                "clock = 'epochs' of the model's learning cannot be had in spacy train, which "
                "hands over batches; choose 'examples' or 'mistakes', or train with fit"
            )
        examples: list[Compiled] = []
        for doc in docs:
            compiled = self._compiled.get(doc)
            if compiled is None or not self.model.owns(compiled):
                compiled = self._compiled[doc] = self.model.compile([self.gold(doc)])
            examples += compiled
        return self.model.learn(examples)[1]

    @staticmethod
    def gold(doc: Doc) -> Sequence[Any]:
        """What the model learns from a gold Doc: its words."""
        return gold_words(doc)

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Score the words, by spaCy's figures and by those of the bakeoffs."""
        return score_segmentation(examples)

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The model, as bytes; none if it is untrained."""
        return self.model.to_bytes() if self.model.is_trained else b""

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> Segmenter:
        """Take the model that `to_bytes` gave, its settings included."""
        self.model = type(self.model).from_bytes(data) if data else self.model.untrained()
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write the model file into the folder `path`."""
        folder = Path(path)
        folder.mkdir(exist_ok=True)
        if self.model.is_trained:
            self.model.save(folder / MODEL_FILE)
            (folder / UNTRAINED_MARK).unlink(missing_ok=True)
        else:
            (folder / UNTRAINED_MARK).touch()
            (folder / MODEL_FILE).unlink(missing_ok=True)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> Segmenter:
        """Map the model file in the folder `path`, and take its settings.

        Raises ValueError if the file is missing, though the model was trained, or damaged.
        """
        folder = Path(path)
        if (folder / MODEL_FILE).exists():
            self.model = type(self.model).load(folder / MODEL_FILE)
        elif (folder / UNTRAINED_MARK).exists():
            self.model = self.model.untrained()
        else:
            raise ValueError(f"{folder}: the model file {MODEL_FILE} is missing; copy it again")
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return Segmenter, (self.vocab, self.model)

    def _doc(self, text: str, words: list[str]) -> Doc:
        """A Doc of a text: its words, and what stands between them as spaCy's tokenizers have it.

        One space after a token belongs to the token; all other white space becomes tokens.
        """
        tokens = words
        spaces = [False] * len(words)
        if sum(map(len, words)) != len(text):
            tokens, spaces = _with_white_space(text, words)
        try:
            return Doc(self.vocab, words=tokens, spaces=spaces)
        except UnicodeEncodeError as error:
            found = _SURROGATE.search(text)
            offset = found.start() if found else 0
            raise ValueError(
                f"the text has a lone surrogate, U+{ord(text[offset]):04X}, at offset {offset}, "
                "which no Doc can hold; decode the text with errors='replace'"
            ) from error


def _with_white_space(text: str, words: list[str]) -> tuple[list[str], list[bool]]:
    tokens: list[str] = []
    spaces: list[bool] = []
    end = 0
    for word in [*words, ""]:
        # Only white space lies between words, and there is none in them.
        start = text.index(word, end) if word else len(text)
        if start > end:
            if tokens and text[end] == " ":
                spaces[-1] = True
                end += 1
            if start > end:
                tokens.append(text[end:start])
                spaces.append(False)
        if word:
            tokens.append(word)
            spaces.append(False)
        end = start + len(word)
    return tokens, spaces
