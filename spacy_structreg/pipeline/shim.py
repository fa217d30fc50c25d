"""Estimators as parts of thinc's models, so that spaCy's components can hold them.

spaCy imports this module whenever any pipeline is made, so it imports next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from thinc.api import Model
from thinc.shims import Shim

from spacy_structreg.about import MODEL_FILE

UNTRAINED_MARK: Final = "untrained"


class EstimatorShim(Shim):
    """An estimator in a thinc model. It learns by itself: optimizers and devices mean nothing.

    estimator: any of `spacy_structreg.models`.
    """

    def __init__(self, estimator: Any) -> None:
        super().__init__(estimator)

    @property
    def estimator(self) -> Any:
        return self._model

    @estimator.setter
    def estimator(self, estimator: Any) -> None:
        self._model = estimator

    def finish_update(self, optimizer: Any) -> None:
        """Do nothing: weights have changed in `update`."""

    def to_device(self, device_type: str, device_id: int) -> None:
        """Do nothing: estimators work on the processor."""

    def copy(self) -> EstimatorShim:
        """A shim of an estimator with the same weights, which learns on its own."""
        return EstimatorShim(self.estimator.untrained()).from_bytes(self.to_bytes())

    def to_bytes(self) -> bytes:
        """The model file of the estimator; none if it is untrained."""
        return bytes(self.estimator.to_bytes()) if self.estimator.is_trained else b""

    def from_bytes(self, data: bytes) -> EstimatorShim:
        """Take what `to_bytes` gave, the settings included."""
        cls = type(self.estimator)
        self.estimator = cls.from_bytes(data) if data else self.estimator.untrained()
        return self


def save_estimator(estimator: Any, folder: Path) -> None:
    """Write the model file of an estimator into a folder, or a mark if it is untrained."""
    folder.mkdir(exist_ok=True)
    if estimator.is_trained:
        estimator.save(folder / MODEL_FILE)
        (folder / UNTRAINED_MARK).unlink(missing_ok=True)
    else:
        (folder / UNTRAINED_MARK).touch()
        (folder / MODEL_FILE).unlink(missing_ok=True)


def load_estimator(estimator: Any, folder: Path) -> Any:
    """The estimator that `save_estimator` wrote, of the class of another one.

    An untrained one has the settings of this other one. Raises ValueError if the file is missing,
    though the model was trained, or damaged.
    """
    if (folder / MODEL_FILE).exists():
        return type(estimator).load(folder / MODEL_FILE)
    if (folder / UNTRAINED_MARK).exists():
        return estimator.untrained()
    raise ValueError(f"{folder}: the model file {MODEL_FILE} is missing; copy it again")


def estimator_model(name: str, estimator: Any) -> Model[Any, Any]:
    """A thinc model that is nothing but an estimator."""
    return Model(name, _forward, shims=[EstimatorShim(estimator)])


def shim_of(model: Model[Any, Any], component: str, architecture: str) -> EstimatorShim:
    """The shim of a model of ours.

    component, architecture: for the error. Raises ValueError if the model is another's.
    """
    shims = [shim for shim in model.shims if isinstance(shim, EstimatorShim)]
    if len(shims) != 1:
        raise ValueError(
            f"the model of the pipe {component!r} is {model.name!r}, none of spacy_structreg; set "
            f"[components.{component}.model] @architectures to '{architecture}'"
        )
    return shims[0]


def _forward(
    model: Model[Any, Any], inputs: Any, is_train: bool
) -> tuple[Any, Callable[[Any], list[Any]]]:
    # Components of ours predict and learn by the estimator itself.
    raise TypeError(f"the model {model.name!r} is not called as a layer; use its component")
