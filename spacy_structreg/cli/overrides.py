"""Settings of a config on the command line, as `spacy train` has them."""

from __future__ import annotations

from typing import Annotated, Any, Final, TypeAlias

import typer

from spacy_structreg.cli.commands import Depends

UNKNOWN_OPTIONS: Final = {"allow_extra_args": True, "ignore_unknown_options": True}
"""Settings of the context of a command that takes overrides."""


def parse_overrides(context: typer.Context) -> dict[str, Any]:
    """The settings of a config that a command line names, as `spacy train` reads them.

    Ends the command, with how to use it, for an option that names no setting.
    """
    from spacy.cli._util import parse_config_overrides

    before = ""
    for argument in context.args:
        if argument.startswith("--") and "." in argument:
            before = argument
        elif argument.startswith("--") or (
            argument.startswith("-") and (not before or "=" in before)
        ):
            context.fail(f"No such option: {argument.partition('=')[0]}")
        elif not before or "=" in before:
            context.fail(f"Got unexpected extra argument ({argument})")
        else:
            # Its value.
            before = ""
    return parse_config_overrides(list(context.args))


OverridesArgument: TypeAlias = Annotated[dict[str, Any] | None, Depends(parse_overrides)]
"""Settings of a config that a command line names, by their dotted names."""
