"""Alternatives and confidence on Docs: ``doc._.structreg``.

What is found is kept in ``doc.user_data`` as plain lists and arrays, so that Docs are copied and
stored with it. spaCy imports this module whenever any pipeline is made, so it imports next to
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc

from spacy_structreg.learn.setting_fields import Settings, setting

if TYPE_CHECKING:
    from spacy_structreg.models.calibration import Calibration

ATTRIBUTE: Final = "structreg"
"""The name of the extension attribute, after the prefix."""

USER_DATA: Final = "spacy_structreg"
"""The key of ``doc.user_data`` under which all is kept."""

N_OF_MARGINS: Final = 16
"""The number of best analyses that margins of components are found from."""

KINDS: Final = ("boundaries", "words", "tags", "heads")
"""The kinds of decisions that have margins and probabilities."""

# Model files begin otherwise.
_CALIBRATED: Final = b"calibrated\n"

CALIBRATION_FILE: Final = "calibration.json"


class Alternative(NamedTuple):
    """One of the best analyses of a Doc, or of a sentence of it.

    score: the sum of the weights of all features. start, end: the first token of the sentence and
    the first after it. of: a list of what was found. Of ``"words"``, words, or (word, tag) pairs;
    of ``"tags"``, one label a token; of ``"heads"``, a (head, label) pair a token, the head as its
    place in the Doc, the token itself for a root; of ``"constituents"``, (label, start, end)
    triples of tokens.
    """

    score: float
    start: int
    end: int
    of: list[Any]


class Confidence(NamedTuple):
    """Margins and probabilities of the decisions of one kind.

    margins: float64 of shape (n,), in units of the model's scores; infinite where it has no other
    choice. probabilities: of the same shape, between 0 and 1; None if the pipeline is not
    calibrated.
    """

    margins: NDArray[np.float64]
    probabilities: NDArray[np.float64] | None


@dataclass(frozen=True)
class Analyses:
    """Alternatives and confidence of a Doc.

    alternatives: by ``"words"``, ``"tags"``, ``"heads"`` or ``"constituents"``, for each sentence
        its best analyses, best first. Words are of the whole text.
    confidence: by ``"boundaries"``, one for each place between two characters of the text, of a
        word ending there; by ``"words"``, ``"tags"`` and ``"heads"``, one for each token.
    Only what pipes were set to keep is there.
    """

    alternatives: dict[str, list[list[Alternative]]] = field(default_factory=dict)
    confidence: dict[str, Confidence] = field(default_factory=dict)


def register_analyses(prefix: str = "") -> None:
    """Register ``doc._.structreg``; once more does nothing.

    Tokenizers and components do so when they are set to keep alternatives or confidence. Call it
    for Docs that come from elsewhere, a DocBin for example.
    prefix: of the name. Raises ValueError if there is another attribute of this name.
    """
    name = f"{prefix}{ATTRIBUTE}"
    if not Doc.has_extension(name):
        Doc.set_extension(name, getter=analyses_of)
    elif Doc.get_extension(name)[2] is not analyses_of:
        raise ValueError(
            f"Doc._.{name} is taken by another extension; set extension_prefix of the component or "
            "tokenizer, such as 'my_', or give register_analyses a prefix"
        )


def analyses_of(doc: Doc) -> Analyses:
    """Alternatives and confidence of a Doc, as they were kept; empty if none were.

    What is of tokens is left out once tokens have been merged or split.
    """
    return Analyses(
        {
            kind: [[_alternative(kind, *each) for each in of_sentence] for of_sentence in listed]
            for kind, listed in _kept(doc, "alternatives", of_text="words")
        },
        confidence_of(doc),
    )


def confidence_of(doc: Doc) -> dict[str, Confidence]:
    """The confidence alone, as of `analyses_of`."""
    return {
        kind: Confidence(*arrays) for kind, arrays in _kept(doc, "confidence", of_text="boundaries")
    }


def _kept(doc: Doc, part: str, *, of_text: str) -> Iterator[tuple[str, list[Any]]]:
    """The kept analyses of each kind that still hold. of_text: the kind that knows no tokens."""
    for kind, (n_tokens, content) in doc.user_data.get(USER_DATA, {}).get(part, {}).items():
        if n_tokens == len(doc) or kind == of_text:
            yield kind, content


def _alternative(kind: str, score: float, start: int, end: int, of: Sequence[Any]) -> Alternative:
    # Stored Docs have lists for tuples.
    items = [item if isinstance(item, str) else tuple(item) for item in of]
    return Alternative(score, start, end, items)


class AlternativeSettings(Settings):
    """Settings of what keeps the best analyses on Docs."""

    alternatives: int = setting(
        0, "How many of the best analyses doc._.structreg keeps, which takes time; 0 for none."
    )
    extension_prefix: str = setting(
        "",
        'What the names of extension attributes begin with: with "my_", doc._.structreg is '
        "doc._.my_structreg.",
    )


class AnalysisSettings(AlternativeSettings):
    """Settings of what keeps margins as well."""

    confidence: bool = setting(
        False,
        "Whether doc._.structreg keeps margins, and probabilities once the pipeline is calibrated; "
        "that takes time.",
    )


class AnalysesMixin:
    """The part of a tokenizer or component that keeps alternatives and confidence on Docs.

    MARGINS: the kinds of decisions that it has margins of, of `KINDS`. ALTERNATIVES: what it
        has best analyses of, as of `Analyses.alternatives`; None if it has none.
    calibrations: by kind, from margins to probabilities.
    """

    MARGINS: ClassVar[tuple[str, ...]] = ()
    ALTERNATIVES: ClassVar[str | None] = None

    alternatives: int = 0
    confidence: bool = False
    extension_prefix: str = ""
    calibrations: dict[str, Calibration]

    def keep_analyses(
        self, *, alternatives: int = 0, confidence: bool = False, extension_prefix: str = ""
    ) -> None:
        """Set what is kept on Docs, from the next one on, and register ``doc._.structreg``.

        alternatives: how many of the best analyses; 0 for none. confidence: margins, and
        probabilities if the pipeline is calibrated. extension_prefix: of the attribute's name.
        They are not saved with a pipeline; those of its config are.
        Raises ValueError for what is no whole number from 0, for what a component does not have,
        and if the name is taken.
        """
        if not isinstance(alternatives, int) or isinstance(alternatives, bool) or alternatives < 0:
            raise ValueError(
                f"alternatives is {alternatives!r}; give a whole number, or 0 for none"
            )
        if alternatives and not self.ALTERNATIVES:
            raise ValueError(f"a {type(self).__name__} has no alternatives to keep")
        if confidence and not self.MARGINS:
            raise ValueError(f"a {type(self).__name__} has no margins, so no confidence to keep")
        if alternatives or confidence:
            register_analyses(extension_prefix)
        self.alternatives = alternatives
        self.confidence = confidence
        self.extension_prefix = extension_prefix

    @property
    def keeps_analyses(self) -> bool:
        """True if anything is kept."""
        return self.alternatives > 0 or self.confidence

    @property
    def kept_settings(self) -> dict[str, Any]:
        """The settings of `keep_analyses`."""
        return {
            "alternatives": self.alternatives,
            "confidence": self.confidence,
            "extension_prefix": self.extension_prefix,
        }

    @property
    def n_asked(self) -> int:
        """The number of best analyses that are needed for what is kept."""
        return max(self.alternatives, N_OF_MARGINS if self.confidence else 1)

    def _keep_parts(
        self,
        doc: Doc,
        kind: str,
        parts: Sequence[tuple[int, int, Sequence[tuple[float, list[Any]]], Sequence[Any] | None]],
        decision: Callable[[Any], Any] = lambda item: item,
    ) -> None:
        """Write the best analyses of the sentences of a Doc, and the margins of what was decided.

        parts: of each sentence the first token, the first after it, its best analyses, one item a
        token with a score for all, and what was decided of each token. decision: that in an item.
        """
        if self.alternatives:
            listed = [
                [[score, start, end, items] for score, items in found[: self.alternatives]]
                for start, end, found, _ in parts
            ]
            keep(doc, "alternatives", kind, listed)
        if self.confidence and kind in self.MARGINS:
            from spacy_structreg.models.margins import agreement_margins

            margins = np.full(len(doc), np.inf)
            for start, end, found, decided in parts:
                decisions = [(score, list(map(decision, items))) for score, items in found]
                margins[start:end] = agreement_margins(decisions, decided or ())
            self._keep_margins(doc, kind, margins)

    def _keep_margins(self, doc: Doc, kind: str, margins: NDArray[np.float64]) -> None:
        """Write the margins of one kind, and their probabilities if that is calibrated."""
        calibration = self.calibrations.get(kind)
        probabilities = None if calibration is None else calibration(margins)
        keep(doc, "confidence", kind, [margins, probabilities])


def keep(doc: Doc, part: str, kind: str, content: list[Any]) -> None:
    """Write what was found to ``doc.user_data``. part: ``"alternatives"`` or ``"confidence"``."""
    doc.user_data.setdefault(USER_DATA, {}).setdefault(part, {})[kind] = [len(doc), content]


def packed_parts(model: bytes, calibration: bytes) -> bytes:
    """The bytes of a model, or of a model and its calibrations; `unpacked_parts` parts them."""
    if not calibration:
        return model
    return _CALIBRATED + len(model).to_bytes(8, "little") + model + calibration


def unpacked_parts(data: bytes) -> tuple[bytes, bytes]:
    """The two parts that `packed_parts` packed. Raises ValueError for bytes that are too short."""
    if not data.startswith(_CALIBRATED):
        return data, b""
    start = len(_CALIBRATED) + 8
    end = start + int.from_bytes(data[start - 8 : start], "little")
    if end > len(data):
        raise ValueError("these are no model and calibration of a component; write them anew")
    return data[start:end], data[end:]


# Calibrations in files --------------------------------------------------------------------------


def calibrations_as_bytes(calibrations: Mapping[str, Calibration]) -> bytes:
    """Calibrations as a file of JSON has them; empty if there are none."""
    if not calibrations:
        return b""
    from spacy_structreg.models.calibration import calibrations_to_json

    return calibrations_to_json(calibrations)


def calibrations_of_bytes(data: bytes) -> dict[str, Calibration]:
    """The calibrations that `calibrations_as_bytes` wrote. Raises ValueError for anything else."""
    if not data:
        return {}
    from spacy_structreg.models.calibration import calibrations_from_json

    return calibrations_from_json(data, KINDS)


def save_calibrations(calibrations: Mapping[str, Calibration], folder: Path) -> None:
    """Write calibrations into the folder of a model, if there are any."""
    path = folder / CALIBRATION_FILE
    if data := calibrations_as_bytes(calibrations):
        from spacy_structreg.corpora.files import replace_bytes

        with replace_bytes(path) as stream:
            stream.write(data)
    else:
        path.unlink(missing_ok=True)


def load_calibrations(folder: Path) -> dict[str, Calibration]:
    """The calibrations in the folder of a model; none if there is no file of them.

    Raises ValueError, naming the file, if it is damaged.
    """
    path = folder / CALIBRATION_FILE
    if not path.exists():
        return {}
    try:
        return calibrations_of_bytes(path.read_bytes())
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


# Places of words in texts ------------------------------------------------------------------------


@dataclass(frozen=True)
class VisibleText:
    """A Doc's text without white space, as models see it.

    places: of its characters in the text. tokens: of the tokens that are more than white space,
    their places in the Doc. bounds: of these, in the text without white space.
    """

    places: NDArray[np.int64]
    tokens: list[int]
    bounds: list[tuple[int, int]]

    @classmethod
    def of(cls, doc: Doc) -> VisibleText:
        visible = [not character.isspace() for character in doc.text]
        before = list(accumulate(visible, initial=0))
        bounds = [(before[token.idx], before[token.idx + len(token)]) for token in doc]
        tokens = [i for i, (start, end) in enumerate(bounds) if start < end]
        return cls(np.flatnonzero(visible), tokens, [bounds[i] for i in tokens])

    @property
    def ends(self) -> NDArray[np.bool_]:
        """For each place between two of the characters, True if a token ends there."""
        ends = np.zeros(len(self.places) + 1, dtype=bool)
        ends[[end for _, end in self.bounds]] = True
        return ends[1:-1]

    @property
    def touches(self) -> NDArray[np.bool_]:
        """For each place between two of the characters, True if no white space is there."""
        touching: NDArray[np.bool_] = np.diff(self.places) == 1
        return touching

    def spread(self, doc: Doc, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values of the visible tokens as those of all tokens; inf for white space."""
        spread = np.full(len(doc), np.inf)
        spread[self.tokens] = values
        return spread


def joined_margins(sentences: Iterable[tuple[str, NDArray[np.float64]]]) -> NDArray[np.float64]:
    """The margins of the sentences of a text as those of one; between two, a word ends."""
    parts: list[Any] = []
    for _, margins in sentences:
        parts += [margins, [np.inf]]
    return np.concatenate(parts[:-1]) if parts else np.empty(0)
