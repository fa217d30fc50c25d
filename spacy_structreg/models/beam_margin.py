"""Models that search by a beam: the margin beyond which states are dropped, and its tuning."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Final

from spacy_structreg.learn.setting_fields import check_float
from spacy_structreg.models.decoders import DecoderPool

# Powers of 2 are tried from and to these exponents, then so many times what lies halfway.
_LEAST: Final = -10
_MOST: Final = 20
_REFINEMENTS: Final = 3


class AdaptiveBeam:
    """The part of a model with the setting `beam_margin` that changes and tunes it."""

    # Since it was loaded.
    _has_other_margin = False

    def set_beam_margin(self, margin: float | None) -> None:
        """Change the setting `beam_margin`, for predictions from now on, and for what is saved.

        Raises ValueError for a margin below 0.
        """
        model: Any = self
        with model._lock:
            model.beam_margin = margin
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
        model: Any = self
        check_float("max_loss", max_loss, 0.0)
        held_out = model.SPEC.check_corpus(dev, "development")

        def figure(margin: float | None) -> float:
            self.set_beam_margin(margin)
            scores = model._score(held_out, model._decoders(), None, n_threads)
            found: float = scores.as_dict()[model.PRIMARY] or 0.0
            return found

        with model._lock:
            margin = model.settings.beam_margin
            try:
                margin = _least_margin(figure, max_loss)
            finally:
                self.set_beam_margin(margin)
        return margin

    def _search_anew(self) -> None:
        """Predict by the settings as they are now."""
        model: Any = self
        if model._spec is None:
            return
        spec: Any = replace(model._spec, settings=model.settings)
        model._spec = spec
        if model._trained is not None:
            model._trained = DecoderPool(model._trained.tables, spec.new_decoder)

    @property
    def _is_as_loaded(self) -> bool:
        inherited: Any = super()
        return not self._has_other_margin and bool(inherited._is_as_loaded)


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
