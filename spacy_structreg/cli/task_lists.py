"""Helps of commands with what there is for them, which is read when help is asked for."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

__all__ = ["WithStyles", "WithTemplates"]


class WithTemplates(TyperCommand):
    """A command whose help lists what configs can be made for."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the list."""
        from spacy_structreg.cli.init_config import config_templates

        with formatter.section("Tasks"):
            formatter.write_dl([(each.name, each.summary) for each in config_templates().values()])


class WithStyles(TyperCommand):
    """A command whose help lists the styles of pictures."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the list."""
        from spacy_structreg.cli.draw import styles

        with formatter.section("Styles"):
            formatter.write_dl([(name, of.styles[name].summary) for name, of in styles().items()])
