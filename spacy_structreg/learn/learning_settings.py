"""Settings of learning: the algorithms of the papers and their regularization."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal, TypeAlias, get_args

from spacy_structreg.learn.setting_fields import Settings, setting

Algorithm: TypeAlias = Literal["perceptron", "pa", "pa_i", "pa_ii"]
Clock: TypeAlias = Literal["examples", "mistakes", "epochs"]
Mean: TypeAlias = Literal["nonzero", "plain"]
Optimizer: TypeAlias = Literal["sgd", "adf", "lbfgs"]
Noise: TypeAlias = Literal["none", "dropout", "multiplicative", "additive", "gaussian_dropout"]

NOISES: Final = tuple(noise for noise in get_args(Noise) if noise != "none")
"""All kinds of noise."""

DROPOUT: Final = ("dropout", "gaussian_dropout")
"""Kinds of noise that leave features out, at a rate."""

LEAST_PRUNED: Final = 50_000
"""Fewest features of a table of weights from which small ones are dropped."""

MAX_MINI_SAMPLE: Final = 1e6
"""Mini-samples are shorter than this, on average."""

MAX_COUNT: Final = 1_000_000
"""The highest count that may be asked of features."""

FULL_PRECISION: Final = 24
"""Significant bits of a 32-bit floating-point number."""

MAX_WINDOWS: Final = 1_000_000
"""The most windows of an epoch, after each of which rates decay."""

MAX_NOISE_WINDOW: Final = 1_000_000
"""Widest window of feature noising."""


@dataclass(frozen=True)
class UpdateRule:
    """A learning rule: the output compared with gold, and the step size.

    cost: what each wrong label adds to the score of an output when the best one is looked for.
    margin: the lead that the gold output must have over the best other one; with 0, it only has to
        be the best.
    passive: whether a step is loss / (‖ΔΦ‖² + ``slack``), at most ``longest``, where the loss is by
        how much cost or margin are not met; else every step is 1.
    """

    cost: float = 0.0
    margin: float = 0.0
    passive: bool = False
    longest: float = math.inf
    slack: float = 0.0


class SampleSettings(Settings):
    """Settings of all kinds of learning."""

    mini_sample: float | None = setting(
        None,
        "Structure regularization (Sun 2014): the mean length, in characters or words, of the "
        "pieces that training sentences are cut into; null leaves them whole.",
        minimum=1,
        below=MAX_MINI_SAMPLE,
    )


class Learning(SampleSettings, kw_only=False):
    """Settings of a structured perceptron or passive-aggressive learner and its regularizers.

    The algorithms are those of Collins 2002 (perceptron), of Gao, Qiu & Huang 2010 (pa), against
    the best wrong output with a margin of 1, and of Crammer et al. 2006 (pa_i and pa_ii) with the
    Hamming cost: against the output that is best when each wrong label counts 1. Penalties and
    dropout are those of Zhang, Su & Zhou 2014 (equations 10 and 12 to 17, section 5). Penalties
    count updates: the more examples a corpus has, and the shorter mini-samples are, the smaller
    they must be.

    A step of the perceptron changes a weight by 1, so that one touched once, in the first fifth of
    a training, is above 0.8. If several models are averaged, only their mean is pruned. Tables of
    fewer than `LEAST_PRUNED` features are kept whole: a short training touches most weights once,
    and there is little to gain.

    Raises ValueError for values out of range and for combinations without a meaning.
    """

    WHAT: ClassVar[str] = "learning"

    algorithm: Algorithm = setting(
        "perceptron",
        '"perceptron", or a passive-aggressive update, "pa", "pa_i" or "pa_ii"; the latter are '
        "better for one model, the perceptron for models that are averaged.",
    )
    aggressiveness: float = setting(
        1.0,
        "C of the passive-aggressive updates; the perceptron has none and leaves it at 1.",
        open_below=True,
    )
    l2: float = setting(
        0.0,
        "Penalty that makes all weights smaller by this share of themselves at every update; "
        "0.00001 is a start.",
        below=1.0,
    )
    l1: float = setting(
        0.0, "Penalty that makes all weights smaller by this amount at every update."
    )
    cumulative_l1: float = setting(
        0.0,
        "L1 that is owed while a weight rests, and paid when it is next met; not together with l1 "
        "or l2.",
    )
    dropout: float = setting(
        0.0, "Probability that a character or word is hidden in training.", below=1.0
    )
    hidden_dropout: float = setting(
        0.0, "Probability that a feature is left out in training.", below=1.0
    )
    clock: Clock = setting(
        "examples",
        'What counts as one update for averages and penalties: "examples", each visit of an '
        'example; "mistakes", each that changed weights; "epochs", their ends (Gao et al. 2010).',
    )
    restart: bool = setting(
        False,
        "Begin each epoch from nothing again, so that the mean is that of separate passes, as Gao "
        'et al. 2010 have it; with clock = "epochs" only.',
    )
    prune: float = setting(
        0.0,
        "Averaged weights of this size or less are dropped, which makes the model smaller; 0 keeps "
        "all.",
    )
    min_count: int = setting(
        1,
        "Features that gold outputs have fewer times get no weights; 1 for all features. Above 1 "
        "for parsers, taggers of words and models of whole words only.",
        minimum=1,
        maximum=MAX_COUNT,
    )
    precision: int = setting(
        FULL_PRECISION,
        "Significant bits that averaged weights keep, of 24: with 10, an archive of the model, "
        "such as a wheel, is up to a third smaller.",
        minimum=2,
        maximum=FULL_PRECISION,
    )

    def _check(self) -> None:
        if self.aggressiveness != 1.0 and self.algorithm == "perceptron":
            raise ValueError(
                f"aggressiveness is {self.aggressiveness}, but algorithm = 'perceptron' has no "
                "such parameter; choose a passive-aggressive algorithm, or leave it at 1"
            )
        if self.cumulative_l1 > 0 and (self.l1 > 0 or self.l2 > 0):
            raise ValueError(
                "cumulative_l1 cannot be combined with l1 or l2: it is counted from the "
                "first update on, whatever other penalties have taken; set one of them to 0"
            )
        if self.restart and self.clock != "epochs":
            raise ValueError(
                f"restart = true begins each epoch from nothing, but clock = {self.clock!r} "
                'averages over what lies within epochs; choose clock = "epochs"'
            )
        if self.clock == "epochs" and self.penalties["l1"] + self.l2 + self.cumulative_l1 > 0:
            raise ValueError(
                "clock = 'epochs' would apply penalties once an epoch only; choose "
                "clock = 'examples' or 'mistakes' with l1, l2 or cumulative_l1"
            )

    @property
    def rule(self) -> UpdateRule:
        """The update rule of the algorithm."""
        c = self.aggressiveness
        return {
            "perceptron": UpdateRule(),
            "pa": UpdateRule(margin=1.0, passive=True, longest=c),
            "pa_i": UpdateRule(cost=1.0, passive=True, longest=c),
            "pa_ii": UpdateRule(cost=1.0, passive=True, slack=0.5 / c),
        }[self.algorithm]

    def prune_of(self, n_rows: int) -> float:
        """Pruning threshold for a table of so many rows."""
        return self.prune if n_rows >= LEAST_PRUNED else 0.0

    needs_whole_corpus: ClassVar[bool] = False
    needs_classes: ClassVar[bool] = False
    gives_probabilities: ClassVar[bool] = False
    learns_from_unlabeled: ClassVar[bool] = False

    @property
    def penalties(self) -> dict[str, float]:
        """The strengths of the penalties by name."""
        return {"l1": self.l1, "l2": self.l2, "cumulative_l1": self.cumulative_l1}


def gao_2010(aggressiveness: float = 1.0) -> Learning:
    """The learning of Gao, Qiu & Huang 2010, as their Algorithm 1 is printed.

    Each sentence is opposed by the best labeling other than the gold one; each epoch begins from
    nothing, and the model is the mean of the weights at the ends of the epochs. Their labels are
    the scheme ``"six"``. aggressiveness: their C, which they do not give.
    Raises ValueError for one that is not above 0.
    """
    return Learning("pa", aggressiveness, clock="epochs", restart=True)


class LogLinear(SampleSettings, kw_only=False):
    """Settings of a log-linear model: of a conditional random field, or of logistic regression.

    What is minimized is the sum over all examples of -log p(y | x) and of the noising regularizer,
    plus ``l2`` ‖w‖² + ``l1`` ‖w‖₁: strengths do not depend on how sequences are cut. The step of
    gradient descent is in units of what it changes the score of a label by, so that it does not
    depend on how many features a position has, or how large they are: it is divided by the mean
    over positions of the sum of their squares. Noising is that of Wang et al. 2013.

    Frequency-adaptive rates, ``"adf"``, are those of Sun, Wang & Li 2012, "Fast Online Training
    with Frequency-Adaptive Learning Rates for Chinese Word Segmentation and New Word Detection":
    all begin at ``rate``, and at the end of each window that of a feature is multiplied by
    α - u (α - β), where u is the part of the window's examples that have the feature.

    Raises ValueError for values out of range and for combinations without a meaning.
    """

    WHAT: ClassVar[str] = "learning"

    optimizer: Optimizer = setting(
        "sgd",
        '"sgd", stochastic gradient descent (Sun 2014); "adf", with a rate for each feature, which '
        "decays the faster, the more often the feature is met (Sun, Wang & Li 2012): fewer epochs "
        'to the best figure; or "lbfgs", which sees the whole corpus at once, one epoch an '
        "iteration: with structreg fit only.",
    )
    rate: float = setting(0.5, "The step of gradient descent at its beginning.", open_below=True)
    decay: float = setting(
        0.1, 'With "sgd": after e epochs, the step of gradient descent is divided by 1 + decay e.'
    )
    decay_upper: float = setting(
        0.995,
        'With "adf": a window of examples multiplies the rate of a feature that is in none of them '
        "by this, α of the paper.",
        open_below=True,
        below=1.0,
    )
    decay_lower: float = setting(
        0.6,
        'With "adf": a window multiplies the rate of a feature that is in all of its examples by '
        "this, β of the paper, and of others by what lies between, in proportion to how many have "
        "it.",
        open_below=True,
        below=1.0,
    )
    decay_windows: int = setting(
        10,
        'With "adf": how many windows an epoch has, n / q of the paper. Penalties are applied at '
        "their ends.",
        minimum=1,
        maximum=MAX_WINDOWS,
    )
    l2: float = setting(0.1, "Penalty on the squares of weights, as c2 of CRFsuite.")
    l1: float = setting(0.0, "Penalty on the sizes of weights, as c1 of CRFsuite.")
    noise: Noise = setting(
        "none",
        'Feature noising (Wang et al. 2013): "dropout", "multiplicative" or "additive" Gaussian '
        'noise, or "none". The additive one falls on all features at every position, so that each '
        'step takes the time of all weights. "gaussian_dropout" (Wang & Manning 2013) takes the '
        "score under dropout as normally distributed: for texts of two categories alone.",
    )
    noise_level: float = setting(
        0.0, "The rate of dropout, below 1, or the standard deviation of other noise."
    )
    noise_window: int | None = setting(
        None,
        "How many tokens away the uncertainty of labels counts in the gradient of noising; null "
        "for the exact one.",
        maximum=MAX_NOISE_WINDOW,
    )
    noise_clip: float | None = setting(
        None,
        "In gradient descent, the gradient of noise that goes through the probabilities moves the "
        "score of a label, or pair of labels, by this times the step at most, 1 being what its "
        "likelihood can; null for no limit, as L-BFGS has none. The other part, which pulls "
        "weights towards 0 as a penalty on squares does, has no limit.",
        open_below=True,
    )
    noise_start: float | None = setting(
        None,
        'With "lbfgs" and noise: begin at the minimum without noise that this penalty on squares '
        "has, instead of with no weights. With noise the objective is not convex, so that it "
        "matters where one begins.",
    )
    unlabeled_weight: float = setting(
        1.0, "How much an example without labels counts in the regularizer of noising."
    )
    tolerance: float = setting(
        1e-4,
        "With structreg fit, training ends when an epoch changes what is minimized by less than "
        "this share, with L-BFGS the mean of ten; 0 for never.",
    )

    def _check(self) -> None:
        if self.noise in DROPOUT and self.noise_level >= 1:
            raise ValueError(f"noise_level must be at least 0 and below 1, got {self.noise_level}")
        if self.mini_sample is not None and self.optimizer == "lbfgs":
            raise ValueError(
                "mini_sample cuts sequences anew in each epoch, which L-BFGS cannot follow; "
                "choose optimizer = 'sgd', or leave it at None"
            )
        if self.decay_lower > self.decay_upper:
            raise ValueError(
                f"decay_lower must be at most decay_upper, "
                f"{self.decay_upper}, got {self.decay_lower}"
            )
        if self.noise == "additive" and self.optimizer == "adf":
            raise ValueError(
                "additive noise moves all features at every step, so that optimizer = 'adf' would "
                "give them one rate; choose optimizer = 'sgd'"
            )
        if self.noise_start is not None and (self.optimizer != "lbfgs" or self.noise == "none"):
            raise ValueError(
                "noise_start says where L-BFGS begins before there is noise; choose "
                "optimizer = 'lbfgs' and a noise, or leave it at None"
            )
        if self.noise_level > 0 and self.noise == "none":
            raise ValueError(
                f"noise_level is {self.noise_level}, but noise is 'none'; choose one of "
                f"{', '.join(NOISES)}, or leave it at 0"
            )

    @property
    def penalties(self) -> dict[str, float]:
        """The penalties that weight rows apply by themselves: none."""
        return {"l1": 0.0, "l2": 0.0, "cumulative_l1": 0.0}

    @property
    def min_count(self) -> int:
        """Minimum count of a feature: 1, no selection."""
        return 1

    @property
    def precision(self) -> int:
        """Significant bits of a weight: all."""
        return FULL_PRECISION

    def prune_of(self, n_rows: int) -> float:
        """Pruning threshold: 0, as L1 makes weights sparse."""
        return 0.0

    gives_probabilities: ClassVar[bool] = True

    @property
    def needs_whole_corpus(self) -> bool:
        """True for batch optimizers, which need the whole corpus and have no `update`."""
        return self.optimizer == "lbfgs"

    @property
    def needs_classes(self) -> bool:
        """True if only classifiers, with one label per input, can use it."""
        return self.noise == "gaussian_dropout"

    @property
    def learns_from_unlabeled(self) -> bool:
        """True if unlabeled examples are used, by the regularizer of feature noising."""
        return self.variance > 0

    @property
    def variance(self) -> float:
        """The variance of a feature of value 1 under the noise; 0 without noise."""
        if self.noise in DROPOUT:
            return self.noise_level / (1.0 - self.noise_level)
        return self.noise_level**2


AnyLearning: TypeAlias = Learning | LogLinear


def learning_from_dict(settings: Mapping[str, Any]) -> AnyLearning:
    """The settings that `as_dict` of either kind gave. Raises ValueError for any others."""
    log_linear = isinstance(settings, Mapping) and "optimizer" in settings
    return (LogLinear if log_linear else Learning).from_dict(settings)
