"""Functions as commands: Typer reads their signatures, and their docstrings are the helps."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from inspect import Parameter, Signature, cleandoc, signature
from typing import Any, get_type_hints

import typer

from spacy_structreg.cli.user_errors import user_errors

# The last paragraph of a docstring is for those who call the function from Python.
FOR_PYTHON = re.compile(r"\n\n(?:Returns|Raises) ")


@dataclass(frozen=True)
class Depends:
    """Metadata of a parameter whose argument a function makes of options of its own.

    The parameters of `make` become options of the command in the place of that parameter.
    """

    make: Callable[..., Any]


def as_command(function: Callable[..., Any]) -> Callable[..., None]:
    """Make a callback for Typer of a function whose parameters are annotated for it.

    What the function returns is dropped, and faults of the user's input end the process
    (`user_errors`). The help is the docstring up to what begins with "Returns" or "Raises".
    """

    def callback(**given: Any) -> None:
        with user_errors():
            _call(function, given)

    options = list(_options(function))
    callback.__name__ = function.__name__
    callback.__doc__ = FOR_PYTHON.split(cleandoc(function.__doc__ or ""))[0]
    callback.__annotations__ = {option.name: option.annotation for option in options}
    callback.__signature__ = Signature(options)  # type: ignore[attr-defined]
    return callback


def run(function: Callable[..., Any]) -> None:
    """Run a function as the only command of a script."""
    script = typer.Typer(add_completion=False, rich_markup_mode=None)
    script.command()(as_command(function))
    script()


def _options(function: Callable[..., Any]) -> Iterator[Parameter]:
    for parameter, make in _parameters(function):
        if make is None:
            yield parameter.replace(kind=Parameter.KEYWORD_ONLY)
        else:
            yield from _options(make)


def _call(function: Callable[..., Any], given: dict[str, Any]) -> Any:
    arguments = {
        parameter.name: given[parameter.name] if make is None else _call(make, given)
        for parameter, make in _parameters(function)
    }
    return function(**arguments)


def _parameters(
    function: Callable[..., Any],
) -> Iterator[tuple[Parameter, Callable[..., Any] | None]]:
    """Yield the parameters of a function, and what makes their arguments, if anything does."""
    parameters = signature(function).parameters

    # What it returns may be a type that is imported for type checkers alone.
    def hinted() -> None: ...

    hinted.__annotations__ = {name: each.annotation for name, each in parameters.items()}
    hints = get_type_hints(hinted, vars(sys.modules[function.__module__]), include_extras=True)
    for name, parameter in parameters.items():
        metadata = getattr(hints[name], "__metadata__", ())
        make = next((each.make for each in metadata if isinstance(each, Depends)), None)
        yield parameter.replace(annotation=hints[name]), make
