"""Models that live in files: saved, loaded, mapped, and pickled by bytes or by path."""

from __future__ import annotations

import inspect
import re
import threading
from abc import ABC, abstractmethod
from collections.abc import Collection
from multiprocessing.context import get_spawning_popen
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from spacy_structreg.about import MODEL_FILE, __version__
from spacy_structreg.corpora.corpus_errors import StrPath
from spacy_structreg.learn.model_file import (
    STATES,
    Arrays,
    SourceFile,
    State,
    field,
    model_bytes,
    model_checksum,
    parse_model,
    write_model,
)
from spacy_structreg.learn.setting_fields import Settings, attributes

if TYPE_CHECKING:
    from typing_extensions import Self

    from spacy_structreg.learn.freezing import Bits

# In the docstring of each model, before its examples.
_PARAMETERS: Final = """\
Parameters
----------
**settings
    The fields of `{settings}`.

Raises
------
ValueError
    For settings that do not exist or contradict each other.

"""
_OF_TABLE: Final = re.compile(r"(0|[1-9][0-9]{0,3})\.([a-z]+)")


class StoredModel(ABC):
    """A model with a file of its own; what is in it is left to the subclass.

    KIND: the name of its class of models, which headers of files have as "task". NOUN: what errors
    call the model. SETTINGS: the class of its settings, which its constructor takes as keywords,
    and which are attributes of the model: as they were given, with what stood for None.
    FEATURES: raised when the same templates give other features, so that older models are refused.
    """

    KIND: ClassVar[str]
    FEATURES: ClassVar[int] = 1
    NOUN: ClassVar[str] = "model"
    SETTINGS: ClassVar[type[Settings]]

    # The mapped file that arrays lie in; that of an ensemble, for one of its models, too.
    _mapped: SourceFile | None = None

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if "SETTINGS" in vars(cls):
            for name, attribute in attributes(cls.SETTINGS):
                setattr(cls, name, attribute)
            if cls.__doc__:
                text, heading, examples = inspect.cleandoc(cls.__doc__).partition("Examples\n")
                parameters = _PARAMETERS.format(settings=cls.SETTINGS.__name__)
                cls.__doc__ = f"{text}{parameters}{heading}{examples}"

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        # Held while weights change or are averaged; decoding works on weights that never change.
        self._lock = threading.RLock()
        # The file that the weights are those of, which other processes can read for themselves.
        self._source: SourceFile | None = None

    # What a subclass gives -----------------------------------------------------------------------

    @property
    @abstractmethod
    def is_trained(self) -> bool:
        """True if there are weights to predict with."""

    @property
    @abstractmethod
    def is_frozen(self) -> bool:
        """True if it is for prediction only (`freeze`)."""

    @abstractmethod
    def freeze(self, *, bits: Bits = 8, prune: float = 0.0) -> Self:
        """Return a model for prediction only: its file is many times smaller, and it is faster.

        This model stays as it is; the frozen one cannot be trained further, corrected or averaged.
        Its file is mapped and used where it lies.

        Parameters
        ----------
        bits : {8, 16, 32}
            Bits of a weight. With 32 and nothing pruned, predictions stay the same to the last bit;
            16 lose next to nothing, 8 little (`learn.freezing.frozen_rows`).
        prune : float, default 0.0
            Weights of this absolute value or less are left out. That saves more than few bits do,
            but costs accuracy: try it on development data, as `structreg compress` does.

        Returns
        -------
        Self
            A new model of the same settings.

        Raises
        ------
        ValueError
            If the model has not been trained, or is frozen.

        Examples
        --------
        >>> from spacy_structreg import CharacterSegmenter
        >>> segmenter = CharacterSegmenter(epochs=5).fit([["北京", "大学"], ["大学", "很", "大"]])
        >>> frozen = segmenter.freeze(bits=16)
        >>> frozen.is_frozen, frozen.predict("北京很大")
        (True, ['北京', '很', '大'])
        """

    @abstractmethod
    def _state(self, state: State) -> tuple[dict[str, Any], Arrays]:
        """The header, after package, version, state and task, and the arrays.

        ``"settings"`` must be among the entries. Raises ValueError if the model cannot be saved in
        this state.
        """

    @abstractmethod
    def _restore(self, header: dict[str, Any], arrays: Arrays) -> None:
        """Take what `_state` gave, on a model that was just made of its settings.

        Raises ValueError for anything that `_state` would not have given: files may be hostile.
        """

    @abstractmethod
    def _copy_to_memory(self) -> None:
        """Let go of the mapped file: copy its arrays. Raises ValueError as `_check_source`."""

    @property
    def _is_as_loaded(self) -> bool:
        """True if weights are still those of the file that they were read from."""
        return self._source is not None

    # What it gets --------------------------------------------------------------------------------

    def _check_not_frozen(self, what: str) -> None:
        """Raise ValueError if the model is frozen. what: was to be done to it."""
        if self.is_frozen:
            raise ValueError(
                f"a frozen {self.NOUN} is for prediction only and cannot be {what}; use the model "
                "that it was made of"
            )

    def untrained(self) -> Self:
        """A model of the same settings that has learned nothing."""
        return self.of(self.settings)

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """An untrained model of settings of the class `SETTINGS`."""
        return cls(**vars(settings))

    def to_bytes(self, *, state: State = "trained") -> bytes:
        """The contents of the file that `save` writes. Raises ValueError as `save`."""
        return model_bytes(*self.contents(state))

    def save(self, path: StrPath, *, state: State = "trained") -> None:
        """Write the model file, in one step.

        Parameters
        ----------
        path : path
            The file; an existing one is replaced.
        state : {"trained", "training"}
            ``"trained"``, the averaged weights; or ``"training"``, all that a training needs to go
            on as if it had not been interrupted. A frozen model is always written as such, in the
            state ``"frozen"``.

        Raises
        ------
        ValueError
            If the model has not been trained; for ``"training"``, if no training is running; and
            for ``"frozen"``, if it is not frozen.
        OSError
            If the file cannot be written.

        Examples
        --------
        >>> import tempfile
        >>> from spacy_structreg import CharacterSegmenter
        >>> segmenter = CharacterSegmenter(epochs=5).fit([["北京", "大学"], ["大学", "很", "大"]])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     segmenter.save(f"{folder}/model.srt")
        ...     CharacterSegmenter.load(f"{folder}/model.srt").predict("北京很大")
        ['北京', '很', '大']
        """
        with self._lock:
            target = Path(path).absolute()
            for source in (self._mapped, self._source):
                if source is not None and target.exists() and target.samefile(source.path):
                    # A mapped file cannot be replaced everywhere: work on a copy from here on.
                    self._copy_to_memory()
                    self._source = None
            write_model(path, *self.contents(state))

    @classmethod
    def load(cls, path: StrPath, *, verify: bool = True, mapped: bool | None = None) -> Self:
        """Read a model file.

        Parameters
        ----------
        path : path
            A file that `save` wrote.
        verify : bool, default True
            Check the checksums of the weights, about 1 ms a MB.
        mapped : bool, optional
            Leave the weights in the file, which is mapped into memory and shared by all processes
            that do so, rather than copy them; by default, if it is longer than 32 MiB
            (`learn.model_file.COPIED_UP_TO`). A mapped file may be replaced or removed, but never
            written to: predicting raises ValueError then, and where it happens meanwhile, the
            system ends the process.

        Returns
        -------
        Self
            The model of the file; see the example of `save`.

        Raises
        ------
        ValueError
            If the file, which the message names, is not a whole and sound model file of this task.
        OSError
            If it cannot be read.
        """
        source = SourceFile(path, mapped=mapped)
        return cls.from_source(source, *parse_model(source.data, name=str(path), verify=verify))

    @classmethod
    def from_bytes(cls, data: bytes, *, name: str = "model") -> Self:
        """The model that `to_bytes` wrote. Raises ValueError as `load`."""
        return cls.from_contents(name, *parse_model(data, name=name))

    def contents(self, state: State = "trained") -> tuple[dict[str, Any], Arrays]:
        """The header and the arrays of the model's file. Raises ValueError as `save`."""
        if state not in STATES:
            raise ValueError(f"there is no state {state!r}; choose 'trained' or 'training'")
        with self._lock:
            if self.is_frozen and state == "trained":
                state = "frozen"
            elif state == "frozen" and not self.is_frozen:
                raise ValueError(f"the {self.NOUN} is not frozen; save what its freeze() returns")
            entries, arrays = self._state(state)
            header = {
                "package": "spacy_structreg",
                "version": __version__,
                "state": state,
                "task": self.KIND,
                **({"features": self.FEATURES} if self.FEATURES > 1 else {}),
                **entries,
            }
        return header, arrays

    @classmethod
    def from_contents(cls, name: str, header: dict[str, Any], arrays: Arrays) -> Self:
        """The model of a header and arrays. name: of the file, for errors. Raises as `load`."""
        try:
            if field(header, "task", str) != cls.KIND:
                raise ValueError(f"it is a model of the kind {header['task']!r}, not {cls.KIND!r}")
            if (version := header.get("features", 1)) != cls.FEATURES:
                raise ValueError(
                    f"its features are of version {version!r:.20}, those of this package of "
                    f"version {cls.FEATURES}; train it again"
                )
            settings = field(header, "settings", dict)
            model = cls.of(cls.SETTINGS.from_dict(settings))
            for key, value in model.settings.as_dict().items():
                # Whatever stands for something else when a model is made is no setting of one.
                if value != settings[key]:
                    raise ValueError(f"its setting {key} is {settings[key]!r:.60}")
            if field(header, "state", str) not in STATES:
                raise ValueError(f"it is in the state {header['state']!r}, which is unknown")
            model._restore(header, arrays)
        except (ValueError, OverflowError) as error:
            other = _other_version(header)
            raise ValueError(f"{name}: the model cannot be used: {error}{other}") from error
        return model

    @classmethod
    def from_source(cls, source: SourceFile, header: dict[str, Any], arrays: Arrays) -> Self:
        """The model of a file, of which header and arrays have been parsed. Raises as `load`."""
        model = cls.from_contents(str(source.path), header, arrays)
        if header["state"] != "training":
            model._source = source
            if source.is_mapped:
                model._mapped = source
        return model

    def _check_source(self) -> None:
        """Raise ValueError if arrays lie in a file that was written to."""
        mapped = self._mapped
        if mapped is not None:
            mapped.check()

    def __reduce__(self) -> tuple[Any, ...]:
        # Weights and settings travel, a running training does not.
        # A child process on this machine can read the file that this process has read.
        if get_spawning_popen() is not None and self._source is not None and self._is_as_loaded:
            source = self._source
            try:
                if model_checksum(source.path) == source.checksum:
                    return _load_checked, (
                        type(self),
                        source.path,
                        source.checksum,
                        source.is_mapped,
                    )
            except (OSError, ValueError):
                pass  # The file is gone or another one; the weights travel instead.
        if not self.is_trained:
            return _untrained, (type(self), self.settings.as_dict())
        return type(self).from_bytes, (self.to_bytes(),)


def read_model(path: StrPath, tasks: Collection[str]) -> tuple[str, dict[str, Any], Arrays]:
    """Read a trained model of one of some tasks: its name, header and arrays.

    path: of a model file, or the folder of a pipeline with one such model.
    Raises ValueError if it is no such model, or the folder holds none or several; OSError if a file
    cannot be read.
    """
    folder = Path(path)
    files = sorted(folder.glob(f"*/{MODEL_FILE}")) if folder.is_dir() else [folder]
    found = [(str(file), *parse_model(SourceFile(file).data, name=str(file))) for file in files]
    fitting = [
        each
        for each in found
        if each[1].get("task") in tasks and each[1].get("state") in ("trained", "frozen")
    ]
    if len(fitting) != 1:
        holds = f"{len(fitting) or 'no'} trained models of these tasks"
        raise ValueError(
            f"{path}: {f'the folder holds {holds}' if folder.is_dir() else 'it is none'}; name a "
            f"model file, or the folder of a pipeline with one model, of {' or '.join(tasks)}"
        )
    return fitting[0]


def nested(prefix: str, arrays: Arrays) -> Arrays:
    """The arrays of a model within another one, under names that begin with `prefix` and a dot."""
    return {f"{prefix}.{name}": array for name, array in arrays.items()}


def unnested(prefix: str, arrays: Arrays) -> Arrays:
    """Those of some arrays that `nested` has named, under the names that they had before."""
    start = f"{prefix}."
    return {name[len(start) :]: array for name, array in arrays.items() if name.startswith(start)}


def numbered(tables: list[Arrays]) -> Arrays:
    """The arrays of all tables of weights in one; `by_table` parts them again."""
    return {
        f"{number}.{name}": array
        for number, table in enumerate(tables)
        for name, array in table.items()
    }


def by_table(arrays: Arrays, n_tables: int, state: str, *, debts: bool) -> list[Arrays]:
    """The arrays of each table of weights, from those of a file; others are left out.

    debts: whether tables in training hold the debts of a cumulative penalty.
    Raises ValueError if a table lacks an array or has one too many, or does not exist.
    """
    tables: list[Arrays] = [{} for _ in range(n_tables)]
    for key, array in arrays.items():
        if named := _OF_TABLE.fullmatch(key):
            if int(named[1]) >= n_tables:
                raise ValueError(f"it has an array {key!r} that belongs to nothing")
            tables[int(named[1])][named[2]] = array
    for number, table in enumerate(tables):
        expected = {"keys", "values"}
        if state == "frozen":
            expected = {"layout", "directory", "cells", "levels"}
        elif "columns" in table:
            expected |= {"starts", "columns"}
        if state == "training":
            expected |= {"stamps", "sums", *(["debts"] if debts else [])}
        optional = {"frozen": set(), "training": {"occurrences", "rates"}}.get(
            state, {"occurrences"}
        )
        if set(table) - optional != expected:
            raise ValueError(f"table {number} of its weights has the arrays {sorted(table)}")
    return tables


def besides_tables(arrays: Arrays) -> Arrays:
    """The arrays of a file that belong to no table of weights."""
    return {key: array for key, array in arrays.items() if not _OF_TABLE.fullmatch(key)}


def _other_version(header: dict[str, Any]) -> str:
    """End of the error for a model file, if another version has written it; else empty."""
    version = header.get("version")
    if not isinstance(version, str) or version == __version__:
        return ""
    return (
        f"; it was written by spacy_structreg {version:.20}, this is {__version__}: use that "
        "version, or train again"
    )


def _load_checked(cls: type[StoredModel], path: Path, checksum: int, mapped: bool) -> StoredModel:
    """Load a model file that must still be the one that the parent process has loaded."""
    if model_checksum(path) != checksum:
        raise ValueError(f"{path}: the model file changed while a process was being started")
    return cls.load(path, mapped=mapped)


def _untrained(cls: type[StoredModel], settings: dict[str, Any]) -> StoredModel:
    return cls.of(cls.SETTINGS.from_dict(settings))
