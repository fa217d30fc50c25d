"""A stand-in for `sklearn_crfsuite.CRF`: its methods, and those of its settings that we have."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from importlib import import_module
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final, Literal

from spacy_structreg.corpora.corpus_errors import StrPath
from spacy_structreg.learn.learning_settings import Algorithm, AnyLearning, Learning, LogLinear
from spacy_structreg.learn.setting_fields import check_choice, check_float, check_int
from spacy_structreg.models.label_chain import SpanScheme
from spacy_structreg.models.labeling.labelers import FeatureLabeler
from spacy_structreg.models.reports import EpochReport

if TYPE_CHECKING:
    from typing_extensions import Self

_ALGORITHMS: Final = ("lbfgs", "l2sgd", "ap", "pa")
# The settings that each algorithm reads besides `max_iterations`, and what CRFsuite sets them to.
_READ: Final[Mapping[str, Mapping[str, float]]] = {
    "lbfgs": {"c1": 0.0, "c2": 1.0, "delta": 1e-5, "period": 10},
    "l2sgd": {"c1": 0.0, "c2": 1.0, "delta": 1e-6, "period": 10},
    "ap": {},
    "pa": {"c": 1.0, "pa_type": 1},
}
_MOST_ITERATIONS: Final = {"lbfgs": 1000, "l2sgd": 1000, "ap": 100, "pa": 100}
_PA_TYPES: Final[Sequence[Algorithm]] = ("pa", "pa_i", "pa_ii")
# Settings of `sklearn_crfsuite.CRF` that there is nothing like here, and what may be said instead.
_WITHOUT: Final[Mapping[str, str]] = {
    "min_freq": "all features are kept; leave rare ones out of X",
    "num_memories": "SciPy chooses how much of the past L-BFGS remembers",
    "epsilon": "training ends by delta and max_iterations",
    "linesearch": "SciPy chooses how a line is searched",
    "max_linesearch": "SciPy chooses how a line is searched",
    **dict.fromkeys(
        (
            "calibration_eta",
            "calibration_rate",
            "calibration_samples",
            "calibration_candidates",
            "calibration_max_trials",
        ),
        "the step of gradient descent is learning = LogLinear(rate=…)",
    ),
    "error_sensitive": "the cost is the number of wrong labels",
    "variance": "it belongs to AROW, which there is not",
    "gamma": "it belongs to AROW, which there is not",
    "model_filename": "call save",
    "keep_tempfiles": "there are no temporary files",
    "trainer_cls": "FeatureLabeler takes callbacks",
}


class CRF:
    """A conditional random field over feature dictionaries, after `sklearn_crfsuite.CRF`.

    A setting of None stands for the default of CRFsuite. Features have the forms of
    `tasks.feature_dictionaries`; labels are strings. scikit-learn can clone it and search its
    settings. Differences: every pair of labels, and every feature with every label, has a weight,
    seen or not; with a development corpus the best iteration is kept.

    Parameters
    ----------
    algorithm : {"lbfgs", "l2sgd", "ap", "pa"}
        ``"lbfgs"`` (with SciPy) or ``"l2sgd"``, for a conditional random field; ``"ap"``, the
        averaged perceptron, or ``"pa"``, passive-aggressive, for scores without probabilities.
    c1, c2 : float
        The strengths of L1 and L2 (lbfgs, l2sgd).
    max_iterations : int
        Passes over the corpus at most.
    delta, period : float, int
        Stop when an iteration improves what is minimized by less than delta / period of it
        (l2sgd), or ten do on average (lbfgs).
    c, pa_type : float, {0, 1, 2}
        The aggressiveness of pa, and its slack: 0 without, 1 and 2 as PA-I and PA-II.
    all_possible_states, all_possible_transitions, averaging : bool
        Always so here; None or true.
    verbose : bool
        Print a line after each iteration.
    edges, scheme
        As for `FeatureLabeler`.
    seed : int
        Of all that training draws.
    learning
        How to train in place of algorithm and its settings, for all that the package can do.

    Raises
    ------
    ValueError
        For values that do not exist, and for settings that cannot be honored.

    Examples
    --------
    >>> from spacy_structreg import CRF
    >>> X = [[{"speed": 0.2, "indoors": True}, {"speed": 2.9}], [{"speed": 3.1}]]
    >>> CRF(algorithm="l2sgd", c2=0.1).fit(X, [["rest", "run"], ["run"]]).predict(X)
    [['rest', 'run'], ['run']]
    """

    def __init__(
        self,
        algorithm: Literal["lbfgs", "l2sgd", "ap", "pa"] = "lbfgs",
        *,
        c1: float | None = None,
        c2: float | None = None,
        max_iterations: int | None = None,
        delta: float | None = None,
        period: int | None = None,
        c: float | None = None,
        pa_type: int | None = None,
        all_possible_states: bool | None = None,
        all_possible_transitions: bool | None = None,
        averaging: bool | None = None,
        verbose: bool = False,
        edges: Collection[str] = (),
        scheme: SpanScheme | None = None,
        seed: int | None = 0,
        learning: AnyLearning | None = None,
        **others: Any,
    ) -> None:
        for name, value in others.items():
            if name not in _WITHOUT:
                raise TypeError(f"there is no setting {name!r}")
            if value is not None:
                raise ValueError(f"{name} cannot be set: {_WITHOUT[name]}")
        self.algorithm = algorithm
        self.c1 = c1
        self.c2 = c2
        self.max_iterations = max_iterations
        self.delta = delta
        self.period = period
        self.c = c
        self.pa_type = pa_type
        self.all_possible_states = all_possible_states
        self.all_possible_transitions = all_possible_transitions
        self.averaging = averaging
        self.verbose = verbose
        self.edges = edges
        self.scheme: SpanScheme | None = scheme
        self.seed = seed
        self.learning = learning
        self._model = self._new_model()

    # Settings, as scikit-learn has them ----------------------------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings by name. deep: there is nothing deeper."""
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    def set_params(self, **params: Any) -> Self:
        """Change settings; what was learned is forgotten. Raises as the class, changing nothing."""
        vars(self).update(vars(type(self)(**{**self.get_params(), **params})))
        return self

    def __sklearn_tags__(self) -> Any:
        """The tags of scikit-learn, by which it can search settings."""
        utils: Any = import_module("sklearn.utils")
        # No classifier: that would be one label an input, and folds of as many of each.
        return utils.Tags(estimator_type=None, target_tags=utils.TargetTags(required=True))

    def __repr__(self) -> str:
        default = type(self)().get_params()
        changed = [f"{k}={v!r}" for k, v in self.get_params().items() if v != default[k]]
        return f"CRF({', '.join(changed)})"

    # Training ------------------------------------------------------------------------------------

    def fit(
        self,
        X: Iterable[Iterable[Any]],  # noqa: N803
        y: Iterable[Iterable[str]],
        X_dev: Iterable[Iterable[Any]] | None = None,  # noqa: N803
        y_dev: Iterable[Iterable[str]] | None = None,
    ) -> Self:
        """Train from nothing.

        X: of each sequence the features of its items. y: of each sequence the labels of its items.
        X_dev, y_dev: a development corpus; the iteration with most labels right there, or with the
            highest F if there is a scheme, is kept.
        Raises ValueError if X and y do not fit each other, or there is nothing to learn from;
        ImportError for lbfgs without SciPy.
        """
        if (X_dev is None) != (y_dev is None):
            raise ValueError("a development corpus has features and labels; give X_dev and y_dev")
        model = self._new_model()
        dev = None if X_dev is None or y_dev is None else _pairs(X_dev, y_dev)
        model.fit(_pairs(X, y), dev, on_epoch=_print if self.verbose else None)
        self._model = model
        return self

    # Prediction ----------------------------------------------------------------------------------

    def predict(self, X: Iterable[Iterable[Any]]) -> list[list[str]]:  # noqa: N803
        """The labels of each sequence. Raises ValueError if nothing has been learned."""
        return self._model.predict_batch(X)

    def predict_single(self, xseq: Iterable[Any]) -> list[str]:
        """The labels of one sequence."""
        return self._model.predict(xseq)

    def predict_marginals(self, X: Iterable[Iterable[Any]]) -> list[list[dict[str, float]]]:  # noqa: N803
        """Of each sequence, for each item, the probability of each label.

        Raises ValueError as `predict`, and after training by ap or pa.
        """
        return [self.predict_marginals_single(xseq) for xseq in X]

    def predict_marginals_single(self, xseq: Iterable[Any]) -> list[dict[str, float]]:
        """`predict_marginals` of one sequence."""
        return [
            dict(zip(self.classes_, row, strict=True))
            for row in self._model.predict_marginals(xseq).tolist()
        ]

    def score(self, X: Iterable[Iterable[Any]], y: Iterable[Iterable[str]]) -> float:  # noqa: N803
        """The share of items whose label is right. Raises ValueError if there are none."""
        return self._model.evaluate(_pairs(X, y)).label_acc or 0.0

    @property
    def classes_(self) -> list[str]:
        """The labels, sorted; in the spelling of the scheme, if there is one."""
        return list(self._model.labels)

    @property
    def transition_features_(self) -> dict[tuple[str, str], float]:
        """The weights of pairs of labels, where they are not 0.

        Other weights cannot be listed: of the names of features a model keeps but hashes.
        """
        return self._model.transition_weights()

    # Files ---------------------------------------------------------------------------------------

    def save(self, path: StrPath) -> None:
        """Write the model file, which `FeatureLabeler` reads, too."""
        self._model.save(path)

    @classmethod
    def load(cls, path: StrPath) -> CRF:
        """The model of a file that `save`, or `FeatureLabeler.save`, wrote.

        Its `learning` says how it was trained. Raises as `StoredModel.load`.
        """
        model = FeatureLabeler.load(path)
        crf = cls(
            max_iterations=model.epochs,
            edges=model.settings.edges,
            scheme=model.settings.scheme,
            seed=model.seed,
            learning=model.learning,
        )
        crf._model = model
        return crf

    # Hooks ---------------------------------------------------------------------------------------

    def _new_model(self) -> FeatureLabeler:
        """An untrained model of the settings. Raises ValueError for those that cannot be."""
        check_choice("algorithm", self.algorithm, _ALGORITHMS)
        for name in ("all_possible_states", "all_possible_transitions", "averaging"):
            if getattr(self, name) not in (None, True):
                raise ValueError(
                    f"{name} is {getattr(self, name)!r}, but there is no other way here than true; "
                    "leave it out"
                )
        most = _MOST_ITERATIONS[self.algorithm]
        if self.max_iterations is not None:
            most = check_int("max_iterations", self.max_iterations, 1)
        return FeatureLabeler(
            edges=self.edges,
            scheme=self.scheme,
            learning=self._learning(),
            epochs=most,
            seed=self.seed,
        )

    def _learning(self) -> AnyLearning:
        read = {} if self.learning is not None else _READ[self.algorithm]
        values = dict(read)
        for name in ("c1", "c2", "delta", "period", "c", "pa_type"):
            value = getattr(self, name)
            if value is None:
                continue
            if name not in read:
                raise ValueError(
                    f"{name} is {value!r}, but "
                    + (
                        f"algorithm = {self.algorithm!r} has no such setting"
                        if self.learning is None
                        else "learning says how to train"
                    )
                    + "; leave it out"
                )
            values[name] = value
        if self.learning is not None:
            return self.learning
        if self.algorithm == "ap":
            return Learning()
        if self.algorithm == "pa":
            slack = check_int("pa_type", values["pa_type"], 0)
            if slack >= len(_PA_TYPES):
                raise ValueError(f"pa_type is {slack}; choose 0, 1 or 2")
            c = check_float("c", values["c"], 0.0)
            return Learning(algorithm=_PA_TYPES[slack], aggressiveness=c)
        period = check_int("period", values["period"], 1)
        return LogLinear(
            optimizer="lbfgs" if self.algorithm == "lbfgs" else "sgd",
            l1=check_float("c1", values["c1"], 0.0),
            l2=check_float("c2", values["c2"], 0.0),
            tolerance=check_float("delta", values["delta"], 0.0) / period,
        )


def _pairs(
    features: Iterable[Iterable[Any]], labels: Iterable[Iterable[str]]
) -> list[list[tuple[Any, str]]]:
    """Gold sequences of `FeatureLabeler`. Raises ValueError if X and y do not fit each other."""
    pairs = []
    end: Any = object()
    for i, (xseq, yseq) in enumerate(zip_longest(features, labels, fillvalue=end)):
        if xseq is end or yseq is end:
            more, fewer = ("y", "X") if xseq is end else ("X", "y")
            raise ValueError(f"{fewer} has {i} sequences, and {more} has more")
        items, given = list(xseq), list(yseq)
        if len(items) != len(given):
            raise ValueError(f"sequence {i} has {len(items)} items, but {len(given)} labels")
        pairs.append(list(zip(items, given, strict=True)))
    return pairs


def _print(report: EpochReport) -> None:
    dev = "" if report.primary is None else f", dev {100 * report.primary:.2f}"
    print(f"iteration {report.epoch}: {report.seconds:.2f} s{dev}")
