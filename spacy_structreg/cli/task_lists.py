"""Helps of commands with what there is for them, which is read when help is asked for."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand


class WithTemplates(TyperCommand):
    """A command whose help lists what configs can be made for."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the list."""
        from spacy_structreg.cli.init_config import config_templates

        with formatter.section("Tasks"):
            formatter.write_dl([(each.name, each.summary) for each in config_templates().values()])


class WithFormats(TyperCommand):
    """A command whose help lists the formats of corpora, the usual ones first."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the list."""
        from spacy_structreg.corpora.any_format import all_formats

        with formatter.section("Formats"):
            formats = [*all_formats().values()][::-1]
            formatter.write_dl([(each.name, each.summary) for each in formats])


class WithStyles(WithFormats):
    """A command whose help lists the styles of pictures, and the formats of corpora."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the list."""
        from spacy_structreg.pipeline.display import drawn_styles

        with formatter.section("Styles"):
            drawing = drawn_styles().items()
            formatter.write_dl([(name, task.styles[name].summary) for name, task in drawing])
        super().format_epilog(ctx, formatter)
