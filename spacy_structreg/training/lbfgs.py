"""L-BFGS: log-linear models trained on the whole corpus at once, by SciPy's minimizer."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.training.log_linear import LogLinearTrainer

PERIOD: Final = 10
"""Over how many iterations progress is measured, as CRFsuite does: single ones may all but stand
still long before the minimum, most of all where features have values of different sizes."""


def minimize(
    trainer: LogLinearTrainer,
    chains: Sequence[Any],
    max_iterations: int,
    on_iteration: Callable[[], bool],
) -> None:
    """Find the weights that minimize the objective with its penalties, from those there are.

    With `noise_start` the minimum without noise is found first, and not told of.

    L2 is part of what is minimized. For L1 each weight is the difference of two that are not
    negative, so that its penalty is linear (Andrew & Gao 2007, section 2), and the minimizer is
    L-BFGS-B.
    on_iteration: called after each iteration, when the learner has its weights; false ends.
    Iterations end when the last `PERIOD` have changed the objective by less than the tolerance of
    the settings, on average.
    Raises ImportError if SciPy is missing.
    """
    try:
        from scipy.optimize import minimize
    except ImportError as error:
        raise ImportError(
            "optimizer = 'lbfgs' needs SciPy, which is not installed; "
            "install \"spacy_structreg[lbfgs]\", or choose optimizer = 'sgd'"
        ) from error
    learner = trainer.learner
    settings = learner.settings
    n = sum(each.size for each in learner.weights())
    parts = settings.l1 > 0

    def whole(found: NDArray[np.float64]) -> NDArray[np.float64]:
        return found[:n] - found[n:] if parts else found

    def descend(l2: float, go_on: Callable[[], bool], *, noisy: bool) -> None:
        """Minimize from the weights of the learner."""

        def value_and_gradient(
            weights: NDArray[np.float64],
        ) -> tuple[float, NDArray[np.float64]]:
            learner.set_weights(weights)
            loss, gradients = trainer.objective(chains, noisy)
            gradient = np.concatenate([each.reshape(-1) for each in gradients] or [np.zeros(0)])
            gradient += 2.0 * l2 * weights
            return loss + l2 * float(weights @ weights), gradient

        def of_parts(found: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            value, gradient = value_and_gradient(whole(found))
            value += settings.l1 * float(found.sum())
            return value, np.concatenate((gradient + settings.l1, settings.l1 - gradient))

        objectives: deque[float] = deque(maxlen=PERIOD + 1)

        def after(intermediate_result: Any) -> None:
            learner.set_weights(whole(intermediate_result.x))
            learner.objective = intermediate_result.fun
            objectives.append(learner.objective)
            change = abs(objectives[0] - learner.objective)
            least = PERIOD * settings.tolerance * abs(learner.objective)
            learner.converged = len(objectives) > PERIOD and change < least
            if not go_on() or learner.converged:
                raise StopIteration

        weights = [each.reshape(-1) for each in learner.weights()]
        start = np.concatenate(weights or [np.zeros(0)])
        found = minimize(
            of_parts if parts else value_and_gradient,
            np.concatenate((np.maximum(start, 0.0), np.maximum(-start, 0.0))) if parts else start,
            method="L-BFGS-B",
            jac=True,
            bounds=[(0.0, None)] * (2 * n) if parts else None,
            callback=after,
            # Whether to go on is decided above.
            options={
                "maxiter": max_iterations,
                "maxfun": 10 * max_iterations,
                "ftol": 0,
                "gtol": 0,
            },
        )
        if found.status in (0, 2):
            # SciPy has ended by itself: the gradient is zero, or no step makes anything better.
            learner.converged = True
        learner.set_weights(whole(found.x))

    if settings.noise_start is not None:
        descend(settings.noise_start, lambda: True, noisy=False)
        learner.converged = False
    descend(settings.l2, on_iteration, noisy=True)
