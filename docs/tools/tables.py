"""Write the tables of the documentation that show results of benchmarks: `make tables`.

    python docs/tools/tables.py

Nothing is measured: figures are those of the reports in benchmarks/results. In a page, a table
stands between `<!-- table NAME, made by docs/tools/tables.py -->` and `<!-- end of table -->`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Final

from pictures import SERVED, TOP, results

from benchmarks.common.report import markdown_table
from benchmarks.serving.kinds import FOUND
from spacy_structreg.corpora.files import replace_text

TABLE: Final = re.compile(
    r"(?<=<!-- table )(\w+)(, made by docs/tools/tables\.py -->\n).*?(?=<!-- end of table -->)",
    re.DOTALL,
)
CALLS: Final = {
    "raw": "`nlp.pipe(texts)`",
    "tokenizer_pipe": "`nlp.tokenizer.pipe(texts)`",
    "tagged_lists": "`nlp.tokenizer.tagged_words(texts)`",
    "lists": "`nlp.tokenizer.words(texts)`",
}
"""Calls of users of our packages, by the kind of work."""


def percent(share: float | None, digits: int = 1) -> str:
    """A fraction of 1 in percent; empty for none."""
    return "" if share is None else f"{100 * share:.{digits}f}"


def speed(rates: Sequence[float]) -> str:
    """The median of rates in thousands, or from a million on in millions, to two digits."""
    rate = median(rates)
    unit, name = (1e6, "M") if rate >= 999_500 else (1e3, "k")
    digits = 1 if rate < 9.95 * unit else 0
    return f"{rate / unit:.{digits}f} {name}"


def packages() -> str:
    """A row for each call of each of our packages: F, and the speed of the same call."""
    rows = [
        [
            f"[`{system.name}`]({system.name}.md)",
            CALLS[kind],
            percent(fit["words"]),
            percent(fit["tagged"]),
            speed(system.rates[kind]),
        ]
        for system in results(SERVED)
        if system.ours
        for kind, fit in system.fits.items()
    ]
    head = ("package", "call", "F of words", "with tags", "characters a CPU second")
    return markdown_table(head, rows)


def speeds(head: Sequence[str] = ("package", "F of words", "with universal tags")) -> str:
    """A row for each of our packages: F of its pipeline, and the speed of each call.

    head: of the columns before the calls.
    """
    rows = [
        [
            f"[`{system.name}`]({system.name}.md)",
            percent(system.fits["raw"]["words"]),
            percent(system.fits["raw"]["tagged"]),
            *(speed(system.rates[kind]) if kind in system.fits else "" for kind in CALLS),
        ]
        for system in results(SERVED)
        if system.ours and "raw" in system.fits
    ]
    return markdown_table((*head, *CALLS.values()), rows)


def systems() -> str:
    """All systems: F, lowest register, crossed words, and speed of the same call."""
    rows = [
        [
            f"`{system.name}`" if system.ours else system.name,
            CALLS[kind] if system.ours else FOUND[kind],
            percent(fit["words"]),
            percent(fit["tagged"]),
            f"{percent(fit['lowest'])} ({fit['register']})",
            f"{percent(fit['crossed'], 2)} %",
            speed(system.rates[kind]),
        ]
        for system in results(SERVED)
        for kind, fit in system.fits.items()
    ]
    head = (
        *("system", "call", "words", "with tags", "lowest register, words"),
        *("gold words crossed", "characters a CPU second"),
    )
    return markdown_table(head, rows)


TABLES: Final[Mapping[str, Callable[[], str]]] = {
    "packages": packages,
    "speeds": speeds,
    "speeds_zh": lambda: speeds(("管线", "分词 F 值", "分词加通用词性")),
    "systems": systems,
}


def with_tables(page: str, folder: str = "") -> str:
    """A page with its tables made anew. folder: of the pages that tables link to, from the page."""

    def made(found: re.Match[str]) -> str:
        name, rest = found.groups()
        text = TABLES[name]().replace("](", f"]({folder}")
        return f"{name}{rest}\n{text}\n\n"

    return TABLE.sub(made, page)


def pages() -> dict[Path, str]:
    """The pages that may have tables, and the folder of the documentation as they see it."""
    return {
        **dict.fromkeys(TOP.glob("README*.md"), "docs/"),
        **dict.fromkeys((TOP / "docs").glob("*.md"), ""),
        **dict.fromkeys((TOP / "docs/zh").glob("*.md"), "../"),
    }


def main() -> None:
    """Write the tables of all pages."""
    for path, folder in pages().items():
        before = path.read_text("utf-8")
        after = with_tables(before, folder)
        if after != before:
            with replace_text(path) as stream:
                stream.write(after)
            print(path.relative_to(TOP))


if __name__ == "__main__":
    main()
