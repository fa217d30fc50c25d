"""The state of a training in ``spacy train``, kept after its epochs and taken up again.

Two callbacks for configs, ``spacy_structreg.save_checkpoint.v1`` and
``spacy_structreg.load_checkpoint.v1``. spaCy's loop saves weights to predict with, from which a
training cannot go on as if nothing had happened: sums of averages, clocks and random numbers are
in the folder of the checkpoint.
"""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final
from weakref import WeakKeyDictionary

from spacy.language import Language
from spacy.training import Example

from spacy_structreg.corpora.folders import folder_beside, put_in_place
from spacy_structreg.learn.learning_settings import LogLinear
from spacy_structreg.pipeline.task import TOKENIZER, parts_of

_EPOCHS: Final = re.compile("[0-9]{6}")

# How many epochs a pipeline was trained for before.
_done: WeakKeyDictionary[Language, int] = WeakKeyDictionary()
# Until its corpus is read, the model that its tokenizer had when that began; None for another's.
_resumed: WeakKeyDictionary[Language, Any] = WeakKeyDictionary()


def create_saver(path: str | None) -> Callable[[Language, dict[str, Any]], None]:
    """Make the callback that keeps the state of a training, for ``[training.before_update]``.

    path: of a folder. After each epoch it holds the state of every model of ours that is being
        trained, and none of earlier epochs. None keeps nothing.
    The callback raises OSError, and ends training, if the folder cannot be written, or another
    training is writing it.
    """
    epoch = 0

    def save(nlp: Language, step: dict[str, Any]) -> None:
        nonlocal epoch
        if path is None or step["epoch"] == epoch:
            return
        epoch = step["epoch"]
        folder = Path(path)
        target = folder / f"{_done.get(nlp, 0) + epoch:06}"
        # One name for all epochs: what a killed process has left goes with the next one.
        with folder_beside(folder / "new") as beside:
            new = beside / "whole"
            new.mkdir()
            for place, part in parts_of(nlp):
                if part.estimator.is_training:
                    part.estimator.save(new / f"{place}.srt", state="training")
            put_in_place(new, target)
        for other in _states(folder):
            if other != target:
                shutil.rmtree(other)

    return save


def create_loader(path: str | None) -> Callable[[Language], Language]:
    """Make the callback that takes a training up again, for ``[initialize.after_init]``.

    path: the folder that `create_saver` has written. None begins anew.
    Training goes on after the last whole epoch, up to ``max_epochs`` in all; with
    ``spacy_structreg.Corpus.v1`` as reader and an evaluation an epoch, it visits sentences in the
    order that it would have visited them in, and comes to the same weights. spaCy counts epochs,
    looks for the best model, and waits for a better one, from there on anew.
    The callback raises ValueError if there is no state, or it is that of another pipeline or of
    log-linear models, and if all epochs are done.
    """

    def load(nlp: Language) -> Language:
        if path is None:
            return nlp
        states = _states(Path(path))
        if not states:
            raise ValueError(f"{path}: there is no state of a training to go on from")
        n_epochs = int(states[-1].name)
        parts = dict(parts_of(nlp))
        loaded = {}
        for file in sorted(states[-1].iterdir()):
            if file.stem not in parts:
                raise ValueError(f"{file}: the pipeline has no model of that name to train")
            state = loaded[file.stem] = type(parts[file.stem].estimator).load(file)
            if not state.is_training:
                raise ValueError(f"{file}: it is no state of a training, but a model")
            if isinstance(state.learning, LogLinear):
                raise ValueError(
                    f"{file}: log-linear models weigh the whole corpus from the beginning, and "
                    "cannot go on in spacy train; train with 'python -m spacy structreg fit', "
                    "which can"
                )
        training = nlp.config["training"]
        if training["max_epochs"] > 0:
            if n_epochs >= training["max_epochs"]:
                raise ValueError(f"{path}: {n_epochs} epochs are done; raise training.max_epochs")
            training["max_epochs"] -= n_epochs
        _resumed[nlp] = parts[TOKENIZER].estimator if TOKENIZER in loaded else None
        for place, state in loaded.items():
            parts[place].estimator = state
        _done[nlp] = n_epochs
        return nlp

    return load


def in_order(nlp: Language, examples: Iterable[Example]) -> Iterable[Example]:
    """The examples of a corpus as a training that goes on had them when it began.

    spaCy reads the training corpus once, sorts batches by the tokens that the tokenizer finds then,
    and shuffles the corpus before each epoch: so do those epochs that are done. All other corpora,
    and those of trainings that begin, are as they are.
    """
    if nlp not in _resumed:
        return examples
    tokenizer: Any = nlp.tokenizer
    untrained = _resumed.pop(nlp)
    if untrained is None:
        listed = list(examples)
    else:
        trained, tokenizer.model = tokenizer.model, untrained
        try:
            listed = list(examples)
        finally:
            tokenizer.model = trained
    for _ in range(_done[nlp]):
        random.shuffle(listed)
    return listed


def _states(folder: Path) -> list[Path]:
    """The states in a folder, by the number of their epochs."""
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if _EPOCHS.fullmatch(path.name))
