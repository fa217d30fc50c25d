"""Settings as frozen dataclasses; fields declare type, range, default and documentation.

A setting is one line: ``beam: int = setting(16, "How many states are kept.", minimum=1)``. All else
follows from it: the checks, constructors (`from_settings`), headers of model files (`as_dict`,
`from_dict`), and in `pipeline` the registered functions, the blocks of configs and the tables of
the reference page.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from functools import cache, wraps
from math import inf
from operator import attrgetter, index
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Concatenate,
    Final,
    Literal,
    ParamSpec,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

if TYPE_CHECKING:
    from typing_extensions import Self
    from typing_extensions import dataclass_transform as _dataclass_transform
else:

    def _dataclass_transform(**_):
        return lambda cls: cls


MAX_INT: Final = 2**63 - 1

T = TypeVar("T")
P = ParamSpec("P")
SettingsT = TypeVar("SettingsT", bound="Settings")

_KEY: Final = "setting"


# Checks of single values --------------------------------------------------------------------------


def check_int(name: str, value: Any, minimum: int, maximum: int = MAX_INT) -> int:
    """Return an integer from `minimum` to `maximum`; raise ValueError for anything else."""
    try:
        if isinstance(value, bool):
            raise TypeError("bool")
        number = int(index(value))
    except TypeError as error:
        raise ValueError(f"{name} must be an integer, got {value!r}") from error
    if not minimum <= number <= maximum:
        raise ValueError(f"{name} must be at least {minimum} and at most {maximum:,}, got {number}")
    return number


def check_float(
    name: str, value: Any, minimum: float, below: float = inf, *, above: bool = False
) -> float:
    """Return a finite float in [minimum, below), or in (minimum, below) if `above` is set.

    Raises ValueError for anything else.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{name} must be a number, got {value!r}")
    if value in (inf, -inf):
        raise ValueError(f"{name} must be finite, got {value}")
    if not (minimum < value if above else minimum <= value) or not value < below:
        bound = "above" if above else "at least"
        limit = "" if below == inf else f" and below {below:,.12g}"
        raise ValueError(f"{name} must be {bound} {minimum:g}{limit}, got {value}")
    try:
        return float(value)
    except OverflowError as error:
        raise ValueError(f"{name} is too large for a float") from error


def check_choice(name: str, value: Any, choices: Iterable[Any]) -> None:
    """Raise ValueError if a value is not one of the choices."""
    choices = list(choices)
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, got {value!r}")


def check_strings(name: str, values: Any) -> tuple[str, ...]:
    """Return a list of strings as a tuple; raise ValueError for anything else, or for one str."""
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise ValueError(f"{name} must be a list of strings, got {values!r:.60}")
    listed = tuple(values)
    if not all(isinstance(value, str) for value in listed):
        raise ValueError(f"{name} must be a list of strings, got {values!r:.60}")
    return listed


# Fields -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Setting:
    """Metadata of a setting: range, documentation and use; the field has name, type and default.

    doc: one line. choices: of a string. minimum, maximum: of whole numbers, both allowed; of real
    numbers `minimum` is allowed unless `open_below`, and `below` is not.
    restore: the value from what a model file has for it. in_config: whether configs have it.
    config_default: its default there, if that is another.
    """

    doc: str
    choices: tuple[str, ...] = ()
    minimum: float = 0
    maximum: int = MAX_INT
    below: float = inf
    open_below: bool = False
    restore: Callable[[Any], Any] | None = None
    in_config: bool = True
    config_default: Any = ...


def setting(
    default: T,
    doc: str,
    *,
    choices: Iterable[str] = (),
    minimum: float = 0,
    maximum: int = MAX_INT,
    below: float = inf,
    open_below: bool = False,
    restore: Callable[[Any], Any] | None = None,
    in_config: bool = True,
    config_default: Any = ...,
) -> T:
    """A field of a `Settings` class; see `Setting`."""
    about = Setting(
        doc,
        tuple(choices),
        minimum,
        maximum,
        below,
        open_below,
        restore,
        in_config,
        config_default,
    )
    made: T = field(default=default, metadata={_KEY: about})
    return made


class _SignatureOfFields:
    """The signature of a class of settings, made when it is asked for."""

    def __get__(self, _: object, cls: type[Settings]) -> inspect.Signature:
        return _signature_of(cls)


@_dataclass_transform(frozen_default=True, kw_only_default=True)
class Settings:
    """Base of all settings: checks every value, of types and ranges, when it is made.

    Subclasses are frozen dataclasses without a decorator, whose fields are given by name; with
    ``kw_only=False`` behind their bases, by place as well. What `dataclass` would generate for each
    of them is here for all, so that they cost next to nothing when a pipeline is loaded.
    A subclass that only gives an inherited setting another default writes ``epochs: int = 20``.
    What settings must have in common is checked by overriding `_check`.
    """

    WHAT: ClassVar[str] = "the model"
    """Name of the owner of the settings, for error messages."""

    if TYPE_CHECKING:
        __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    __signature__ = _SignatureOfFields()

    def __init_subclass__(cls, *, kw_only: bool = True, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        # Of several bases that have it, the nearest counts.
        bases = reversed(cls.__mro__[1:])
        inherited = {each.name: each for base in bases for each in _own_fields(base)}
        for name in inspect.get_annotations(cls):
            if name not in inherited:
                continue
            if name not in cls.__dict__:
                raise TypeError(f"{cls.__name__}.{name} is inherited; give it another default")
            value = cls.__dict__[name]
            if not isinstance(value, Field):
                setattr(cls, name, field(default=value, metadata=inherited[name].metadata))
        dataclass(init=False, repr=False, eq=False, kw_only=kw_only)(cls)

    def __init__(self, *args: Any, **values: Any) -> None:
        given = _signature_of(type(self)).bind(*args, **values)
        given.apply_defaults()
        self.__dict__.update(given.arguments)
        self.__post_init__()

    def __setattr__(self, name: str, value: object) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def __eq__(self, other: object) -> bool:
        return vars(self) == vars(other) if type(self) is type(other) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(vars(self).values()))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__qualname__}({shown})"

    def __post_init__(self) -> None:
        hints = hints_of(type(self))
        for name, about in described(type(self)):
            object.__setattr__(self, name, _checked(name, getattr(self, name), hints[name], about))
        self._check()

    def _check(self) -> None:
        """Raise ValueError for settings that contradict each other."""

    def as_dict(self) -> dict[str, Any]:
        """Return the settings by name, as values for msgpack and JSON; inverse of `from_dict`."""
        return {each.name: plain(getattr(self, each.name)) for each in fields(self)}

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any]) -> Self:
        """Make settings from the output of `as_dict`; raise ValueError for anything else."""
        names = [name for name, _ in described(cls)]
        if not isinstance(settings, Mapping) or set(settings) != set(names):
            given = settings if isinstance(settings, Mapping) else [settings]
            raise ValueError(
                f"settings of {cls.WHAT} must be {', '.join(sorted(names))}, "
                f"got {', '.join(sorted(map(str, given)))}"
            )
        return cls(
            **{
                name: settings[name] if about.restore is None else about.restore(settings[name])
                for name, about in described(cls)
            }
        )


def _made_signature(cls: type[Settings]) -> inspect.Signature:
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    parameters = [
        inspect.Parameter(
            each.name,
            kinds[bool(each.kw_only)],
            default=inspect.Parameter.empty if each.default is MISSING else each.default,
            annotation=each.type,
        )
        for each in fields(cls)
    ]
    return inspect.Signature(sorted(parameters, key=lambda each: each.kind))


def _own_fields(cls: type) -> Iterable[Field[Any]]:
    found: Mapping[str, Field[Any]] = cls.__dict__.get("__dataclass_fields__", {})
    return found.values()


def plain(value: Any) -> Any:
    """Convert the value of a setting to one for msgpack, JSON and configs."""
    if isinstance(value, tuple):
        return list(value)
    # Of a model within another, its settings.
    value = getattr(value, "settings", value)
    as_dict = getattr(value, "as_dict", None)
    return value if as_dict is None else as_dict()


def _described(cls: type[Any]) -> tuple[tuple[str, Setting], ...]:
    """Return the settings of a class by name: its own, then those of its bases, left to right.

    One that is only given another default stands where it was first described.
    """
    found: dict[str, Setting] = {}
    origin = {name: base for base in cls.__mro__ for name in inspect.get_annotations(base)}
    for base in cls.__mro__:
        for each in fields(cls):
            if origin[each.name] is base:
                found[each.name] = each.metadata[_KEY]
    return tuple(found.items())


_once: Any = cache
described: Callable[[type[Settings]], tuple[tuple[str, Setting], ...]] = _once(_described)
_signature_of: Callable[[type[Settings]], inspect.Signature] = _once(_made_signature)
hints_of: Callable[[type[Settings]], dict[str, Any]] = _once(get_type_hints)
"""Return the types of the settings of a class by name."""


def defaults_of(cls: type[Settings], *, in_config: bool = False) -> dict[str, Any]:
    """Return the defaults of settings by name. in_config: only those of configs."""
    by_name = {each.name: each.default for each in fields(cls)}
    return {
        name: by_name[name]
        if not in_config or about.config_default is ...
        else about.config_default
        for name, about in described(cls)
        if about.in_config or not in_config
    }


def members_of(hint: Any) -> tuple[Any, ...]:
    """Return the members of a union type, or the single type."""
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def literals_of(kinds: Iterable[Any]) -> list[str]:
    """Return the strings of the `Literal` types."""
    return [value for kind in kinds if get_origin(kind) is Literal for value in get_args(kind)]


def _checked(name: str, value: Any, hint: Any, about: Setting) -> Any:
    """Return the value of a setting in its type; raise ValueError for a wrong type or range."""
    kinds = members_of(hint)
    if value is None and NoneType in kinds:
        return None
    if isinstance(value, bool) and bool in kinds:
        return value
    if literals := literals_of(kinds):
        check_choice(name, value, literals)
    elif int in kinds:
        return check_int(name, value, int(about.minimum), about.maximum)
    elif float in kinds:
        return check_float(name, value, about.minimum, about.below, above=about.open_below)
    elif str in kinds and isinstance(value, str):
        if about.choices:
            check_choice(name, value, about.choices)
    else:
        return _checked_object(name, value, kinds, about)
    return value


def _checked_object(name: str, value: Any, kinds: tuple[Any, ...], about: Setting) -> Any:
    """The same for what is neither a number nor one string."""
    # In Python 3.10, Sequence[str] is an instance of type.
    classes = tuple(
        kind
        for kind in kinds
        if isinstance(kind, type) and get_origin(kind) is None and kind is not NoneType
    )
    if classes and isinstance(value, classes):
        return value
    generic = {get_origin(kind): get_args(kind) for kind in kinds if get_args(kind)}
    if items := generic.get(Sequence) or generic.get(Collection):
        if int in items:
            return _checked_ints(name, value, about)
        # A subclass of tuple says more than what it holds.
        listed = check_strings(name, value)
        for each in listed if (choices := literals_of(items)) else ():
            check_choice(name, each, choices)
        return value if isinstance(value, tuple) else listed
    if generic and isinstance(value, tuple(generic)):
        return value
    known = {bool: "true or false", str: "a string"}
    kinds_known = " or ".join(known.get(kind, kind.__name__) for kind in (*classes, *generic))
    raise ValueError(f"{name} must be {kinds_known}, got {value!r:.60}")


def _checked_ints(name: str, value: Any, about: Setting) -> tuple[int, ...]:
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise ValueError(f"{name} must be a list of integers, got {value!r:.60}")
    return tuple(check_int(name, each, int(about.minimum), about.maximum) for each in value)


# Constructors -------------------------------------------------------------------------------------


def from_settings(
    settings: Callable[P, SettingsT],
) -> Callable[[Callable[[T, SettingsT], None]], Callable[Concatenate[T, P], None]]:
    """Make a constructor that takes a settings object take its fields as keyword arguments.

    settings: the class; type checkers see its keywords, and `inspect.signature` shows them.
    """
    cls: Any = settings

    def decorate(init: Callable[[T, SettingsT], None]) -> Callable[Concatenate[T, P], None]:
        @wraps(init)
        def constructor(self: T, *args: P.args, **keywords: P.kwargs) -> None:
            init(self, settings(*args, **keywords))

        parameters = inspect.signature(settings).parameters
        itself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        names = [name for name, _ in described(cls)]
        ordered = [each for each in parameters.values() if each.kind is not each.KEYWORD_ONLY]
        ordered += [parameters[name] for name in names if parameters[name] not in ordered]
        made: Any = constructor
        made.__signature__ = inspect.Signature([itself, *ordered])
        made.__doc__ = "\n".join(f"{name}: {about.doc}" for name, about in described(cls))
        decorated: Callable[Concatenate[T, P], None] = made
        return decorated

    return decorate


def attributes(cls: type[Settings]) -> Iterator[tuple[str, property]]:
    """Add a property for each setting to a class with the attribute `settings`."""
    for name, about in described(cls):
        yield name, _attribute(name, about.doc)


def _attribute(name: str, doc: str) -> property:
    def change(model: Any, value: Any) -> None:
        model.settings = type(model.settings)(**{**vars(model.settings), name: value})

    return property(attrgetter(f"settings.{name}"), change, doc=doc)
