"""Labels of tokens: names, phrases, or any attribute, by a chain over features of words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final

from spacy_structreg.features.gazetteers import Gazetteers
from spacy_structreg.learn.learning_settings import LogLinear
from spacy_structreg.learn.model_file import Arrays, field
from spacy_structreg.learn.setting_fields import from_settings, setting
from spacy_structreg.models.label_chain import (
    LabelChainSpec,
    Labeler,
    LabelerSettings,
    SpanScheme,
    Split,
)
from spacy_structreg.models.labeling.labeled_schema import LABELED, LabeledTokens
from spacy_structreg.models.settings import CompleteTemplates, WordSettings, complete, joined
from spacy_structreg.models.word_knowledge import WordKnowledge, further_tables
from spacy_structreg.tasks.tokens import TokenFeatures

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["DEFAULT_LEARNING", "SequenceLabeler"]

DEFAULT_LEARNING: Final = LogLinear(l2=0.0, noise="dropout", noise_level=0.3)
"""Default learning, chosen on the development sets of the corpora in `projects`. Without
noise, ``LogLinear()``, training takes half as long, and is worse by some tenths of a point."""


def _restored_gazetteers(stored: Any) -> Gazetteers | None:
    if stored is None:
        return None
    if not isinstance(stored, Mapping) or set(stored) != {"lists", "lower", "characters"}:
        raise ValueError("its gazetteers are not of the form that there is")
    field(stored, "lower", bool)
    field(stored, "characters", bool)
    return Gazetteers(**stored)


@dataclass(frozen=True, kw_only=True)
class SequenceLabelerSettings(WordSettings, LabelerSettings):
    """Settings of a `SequenceLabeler`."""

    DEFAULT_LEARNING: ClassVar[LogLinear] = DEFAULT_LEARNING

    templates: str | Sequence[str] = setting(
        "ner",
        'The features: a table, "ner", "bio", "chunking", "chunking-rich", "characters", "pos" or '
        '"pos-rich", or one of these with "+edges" behind it; or templates of one\'s own, such as '
        '"label: w-1 w0".',
        restore=CompleteTemplates.checked,
    )
    columns: Sequence[str] = setting(
        ("w",), "What templates see of a token, by name; the first is its word."
    )
    scheme: SpanScheme | None = "bioes"
    gazetteers: Gazetteers | Mapping[str, Iterable[str]] | None = setting(
        None,
        "Lists of phrases by name; without them, templates that read them do nothing.",
        restore=_restored_gazetteers,
        in_config=False,
    )


class SequenceLabeler(Labeler[LabeledTokens]):
    """Labels the tokens of sentences: names, phrases, or anything that tokens have one of.

    Gold sentences are lists of rows: the columns of a token, and its label. What is predicted from
    are lists of rows without labels, or of words if there is no other column. Raises ValueError
    for settings that do not exist or contradict each other.
    """

    TASK = "sequence_labeler"
    SCHEMA = LABELED
    GIVEN_WORDS = True
    MUST_AGREE = ("templates", "columns", "scheme", "gazetteers", "labels", "script")
    SETTINGS = SequenceLabelerSettings
    settings: SequenceLabelerSettings

    @from_settings(SequenceLabelerSettings)
    def __init__(self, settings: SequenceLabelerSettings) -> None:
        gazetteers = settings.gazetteers
        if gazetteers is not None and not isinstance(gazetteers, Gazetteers):
            gazetteers = Gazetteers(gazetteers)
        self._seen: TokenFeatures = TokenFeatures(
            joined(settings.templates, *further_tables(settings)),
            settings.columns,
            gazetteers,
            classes=WordKnowledge.unread(settings).word_classes,
        )
        templates = complete(self._seen.all_templates)
        super().__init__(replace(settings, templates=templates, gazetteers=gazetteers))

    def features(self, items: Iterable[Any]) -> list[list[str]]:
        """The names of the features of each token, for inspection and for other programs."""
        seen = self._spec.seen if isinstance(self._spec, LabelChainSpec) else self._seen
        assert isinstance(seen, TokenFeatures)
        return seen.names(self._items(items))

    def with_gazetteers(self, gazetteers: Gazetteers) -> Self:
        """An untrained labeler of the same settings, but with other gazetteers.

        Raises ValueError if no template reads them.
        """
        if not self._seen.reads_gazetteers():
            raise ValueError(
                "no feature template reads gazetteers; add 'label: gazetteers(w0)' to the "
                "templates, or leave the gazetteers out"
            )
        return self.of(replace(self.settings, gazetteers=gazetteers))

    # Hooks of the base classes -------------------------------------------------------------------

    def _new_features(self) -> tuple[TokenFeatures, dict[str, Any], Arrays]:
        return self._knowing(WordKnowledge.read(self.settings))

    def _stored_features(
        self, entries: dict[str, Any], arrays: Arrays
    ) -> tuple[TokenFeatures, dict[str, Any], Arrays]:
        return self._knowing(WordKnowledge.stored(self.settings, entries, arrays))

    def _knowing(self, known: WordKnowledge) -> tuple[TokenFeatures, dict[str, Any], Arrays]:
        if known.script is None and known.word_classes is None:
            return self._seen, {}, {}
        return self._seen.knowing(known.script, known.word_classes), *known.contents()

    @staticmethod
    def _split(sentence: LabeledTokens) -> Split:
        return [tuple(row[:-1]) for row in sentence], [row[-1] for row in sentence]

    def _items(self, given: Any) -> Sequence[Any]:
        if isinstance(given, str):
            raise ValueError(f"{given!r:.60} is a text; give a list of tokens")
        rows = list(given)
        if len(self.settings.columns) == 1:
            return [(row,) if isinstance(row, str) else row for row in rows]
        return rows

    @staticmethod
    def _places(items: Sequence[Any]) -> list[str]:
        return [row[0] for row in items]
