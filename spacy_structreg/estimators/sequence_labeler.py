"""Labels of tokens: names, phrases, or any attribute, by a chain over features of words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final

from spacy_structreg.corpora.label_schemes import Scheme
from spacy_structreg.estimators.base import Estimator
from spacy_structreg.estimators.gold import LABELLED, LabelledTokens
from spacy_structreg.estimators.label_chain import Labeler, Split
from spacy_structreg.estimators.settings import strings
from spacy_structreg.features.gazetteers import Gazetteers
from spacy_structreg.learn.averaging import Mean
from spacy_structreg.learn.model_file import field
from spacy_structreg.learn.settings import AnyLearning, LogLinear
from spacy_structreg.tasks.tokens import TokenFeatures

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["DEFAULT_LEARNING", "SequenceLabeler"]

DEFAULT_LEARNING: Final = LogLinear(l2=0.0, noise="dropout", noise_level=0.3)
"""How a model is trained, chosen on the development sets of the corpora in `projects`. Without
noise, ``LogLinear()``, training takes half as long, and is worse by some tenths of a point."""


class SequenceLabeler(Labeler[LabelledTokens]):
    """Labels the tokens of sentences: names, phrases, or anything that tokens have one of.

    templates: the name of a table of `features.labelling_tables`, templates parted by ``|``, or a
        list of these. Atoms are those of `tasks.tokens`.
    columns: the names of what is known of a token; the first is its word.
    scheme: ``"bio"``, ``"bioes"`` or ``"io"``, in which a chain of labels stands for spans: gold
        labels and predictions are in BIO, whatever it is, and predictions always stand for spans.
        None for labels that may follow one another freely.
    gazetteers: lists of phrases by name, or `features.gazetteers.Gazetteers`; without them,
        templates that read them do nothing.
    learning: `Learning` for a structured perceptron, `LogLinear` for a conditional random field;
        None for `DEFAULT_LEARNING`.
    epochs, patience, n_models, mean, seed: see `base.Estimator`.

    Gold sentences are lists of rows: the columns of a token, and its label. What is predicted from
    are lists of rows without labels, or of words if there is no other column. Raises ValueError
    for settings that do not exist or contradict each other.
    """

    TASK = "sequence_labeler"
    GOLD = LABELLED
    GIVEN_WORDS = True
    MUST_AGREE = ("templates", "columns", "scheme", "gazetteers", "labels")
    SETTINGS: ClassVar = {
        "templates": (list,),
        "columns": (list,),
        "scheme": (str, type(None)),
        "gazetteers": (dict, type(None)),
        **Estimator.SETTINGS,
    }

    def __init__(
        self,
        *,
        templates: str | Sequence[str] = "ner",
        columns: Sequence[str] = ("w",),
        scheme: Scheme | None = "bioes",
        gazetteers: Gazetteers | Mapping[str, Iterable[str]] | None = None,
        learning: AnyLearning | None = None,
        epochs: int = 15,
        patience: int | None = None,
        n_models: int = 1,
        mean: Mean = "nonzero",
        seed: int | None = 0,
    ) -> None:
        self._take_scheme(scheme)
        if gazetteers is not None and not isinstance(gazetteers, Gazetteers):
            gazetteers = Gazetteers(gazetteers)
        self._seen: TokenFeatures = TokenFeatures(
            [templates] if isinstance(templates, str) else templates, columns, gazetteers
        )
        self.templates = tuple(map(str, self._seen.all_templates))
        self.columns = self._seen.columns
        self.gazetteers = gazetteers
        super().__init__(
            learning=DEFAULT_LEARNING if learning is None else learning,
            epochs=epochs,
            patience=patience,
            n_models=n_models,
            mean=mean,
            seed=seed,
        )

    def features(self, items: Iterable[Any]) -> list[list[str]]:
        """The names of the features of each token, for inspection and for other programs."""
        return self._seen.names(self._items(items))

    def with_gazetteers(self, gazetteers: Gazetteers) -> Self:
        """An untrained labeller of the same settings, but with other gazetteers.

        Raises ValueError if no template reads them.
        """
        if not self._seen.reads_gazetteers():
            raise ValueError(
                "no feature template reads gazetteers; add 'label: gazetteers(w0)' to the "
                "templates, or leave the gazetteers out"
            )
        arguments = self._arguments(self._settings())
        return type(self)(**{**arguments, "gazetteers": gazetteers})

    # Hooks of the base classes -------------------------------------------------------------------

    @staticmethod
    def _split(sentence: LabelledTokens) -> Split:
        return [tuple(row[:-1]) for row in sentence], [row[-1] for row in sentence]

    def _items(self, given: Any) -> Sequence[Any]:
        if isinstance(given, str):
            raise ValueError(f"{given!r:.60} is a text; give a list of tokens")
        rows = list(given)
        if len(self.columns) == 1:
            return [(row,) if isinstance(row, str) else row for row in rows]
        return rows

    def _settings(self) -> dict[str, Any]:
        return {
            "templates": list(self.templates),
            "columns": list(self.columns),
            "scheme": self.scheme,
            "gazetteers": None if self.gazetteers is None else dict(self.gazetteers.to_lists()),
            **super()._settings(),
        }

    @classmethod
    def _arguments(cls, settings: dict[str, Any]) -> dict[str, Any]:
        arguments = super()._arguments(settings)
        lists = settings["gazetteers"]
        if lists is not None:
            if set(lists) != {"lists", "lower", "characters"}:
                raise ValueError("its gazetteers are not of the form that there is")
            field(lists, "lower", bool)
            field(lists, "characters", bool)
            arguments["gazetteers"] = Gazetteers(**lists)
        arguments["columns"] = strings("columns", settings["columns"])
        return arguments
