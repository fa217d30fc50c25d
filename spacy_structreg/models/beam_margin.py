"""Models that search by a beam: the margin beyond which states are dropped, and its tuning."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from spacy_structreg.learn.setting_fields import check_float
from spacy_structreg.models.base_model import BaseModel

# Powers of 2 are tried from and to these exponents, then so many times what lies halfway.
_LEAST: Final = -10
_MOST: Final = 20
_REFINEMENTS: Final = 3


class AdaptiveBeam(BaseModel[Any]):
    """The part of a model with the setting `beam_margin` that changes and tunes it."""

    beam_margin: float | None
    # Since it was loaded.
    _has_other_margin = False

    def set_beam_margin(self, margin: float | None) -> None:
        """Change the setting `beam_margin`, for predictions from now on, and for what is saved.

        Raises ValueError for a margin below 0.
        """
        with self._lock:
            self.beam_margin = margin
            self._has_other_margin = True
            self._search_anew()

    def tune_beam_margin(
        self, dev: Iterable[Any], *, max_loss: float = 0.001, n_threads: int = 1
    ) -> float | None:
        """Set the least margin, the fastest, that costs no more than a loss; returns it.

        dev: development sentences. max_loss: of the figure `PRIMARY`, a fraction of 1, against
        that without a margin.
        Returns None, and sets no margin, if all that are tried cost more. Raises ValueError if the
        model is not trained.
        """
        check_float("max_loss", max_loss, 0.0)
        held_out = self.SPEC.check_corpus(dev, "development")

        def figure(margin: float | None) -> float:
            self.set_beam_margin(margin)
            scores = self._score(held_out, self._decoders(), None, n_threads)
            return scores.as_dict()[self.PRIMARY] or 0.0

        with self._lock:
            margin = self.beam_margin
            try:
                margin = _least_margin(figure, max_loss)
            finally:
                self.set_beam_margin(margin)
        return margin

    @property
    def _is_as_loaded(self) -> bool:
        return not self._has_other_margin and super()._is_as_loaded


def _least_margin(figure: Callable[[float | None], float], max_loss: float) -> float | None:
    """The least margin that is tried whose figure loses no more; None if there is none."""
    enough = figure(None) - max_loss
    exponent = 0.0
    if figure(1.0) >= enough:
        while exponent > _LEAST and figure(2.0 ** (exponent - 1)) >= enough:
            exponent -= 1
    else:
        exponent = 1.0
        while figure(2.0**exponent) < enough:
            exponent += 1
            if exponent > _MOST:
                return None
    step = 0.5
    for _ in range(_REFINEMENTS):
        if figure(2.0 ** (exponent - step)) >= enough:
            exponent -= step
        step /= 2
    margin: float = 2.0**exponent
    return margin
