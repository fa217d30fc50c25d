"""Colors of drawings, plots and pages, on light and on dark grounds.

On ``ground`` and ``surface``, texts in any other of `COLORS` have a contrast of at least 4.5 to 1;
``line`` has 3 to 1, and ``rule`` only separates rows. The six of `SERIES` can be told
apart by people who do not tell red from green. Labels say the same in words everywhere.
"""

from __future__ import annotations

import re
import zlib
from typing import Any, Final, NamedTuple


class Color(NamedTuple):
    """A color on a light ground and its counterpart on a dark one, both as ``#rrggbb``."""

    light: str
    dark: str


SERIES: Final[dict[str, Color]] = {
    "blue": Color("#1768d8", "#4593f8"),
    "orange": Color("#b35309", "#e0762c"),
    "green": Color("#1b8060", "#79e8a8"),
    "purple": Color("#5b1a8b", "#ccb3ff"),
    "brown": Color("#5c2e08", "#f5cf5c"),
    "rose": Color("#8f2060", "#d0708f"),
}
"""Colors of lines, points and words that are compared, in the order in which they are taken."""

COLORS: Final[dict[str, Color]] = {
    "ground": Color("#ffffff", "#161a20"),
    # Panels, blocks of code, and rows that are pointed at.
    "surface": Color("#f6f7f9", "#20252d"),
    "text": Color("#1c2128", "#e8eaee"),
    "muted": Color("#57606c", "#a3adb9"),
    # Borders of fields and buttons.
    "line": Color("#87909b", "#6f7885"),
    "rule": Color("#d5d9de", "#3a424d"),
    # Links, and what is chosen or in focus.
    "accent": SERIES["blue"],
    # What speaks for a decision, and against it.
    "for": SERIES["green"],
    "against": SERIES["orange"],
    "error": Color("#b3261e", "#ff8a80"),
    **SERIES,
}
"""All colors but those of `FILLS`, by name."""

FILLS: Final[dict[str, Color]] = {
    "red": Color("#ffc9c4", "#663936"),
    "orange": Color("#fad0af", "#613f21"),
    "yellow": Color("#e6d9a9", "#53471a"),
    "lime": Color("#cfe1b3", "#404e25"),
    "green": Color("#b8e6c7", "#285238"),
    "teal": Color("#a9e8df", "#0f534c"),
    "cyan": Color("#a8e5f4", "#0f505d"),
    "blue": Color("#bddcff", "#2f496a"),
    "violet": Color("#dfd0ff", "#4d3f66"),
    "pink": Color("#fac9e3", "#613950"),
}
"""Grounds of bars and marked words. The color ``text`` is read on them at 4.5 to 1 and more."""


DRAWING: Final = "structreg-tree"
"""The class of the drawings of trees."""

IN_DRAWINGS: Final = {"tag": "muted", "phrase": "accent", "relation": "purple"}
"""The colors of texts in drawings, by their classes; other texts have that of their page."""


def fill_of(label: str) -> str:
    """The name of the fill of a label: always the same one; two labels may share it."""
    return [*FILLS][zlib.crc32(label.encode("utf-8", "replace")) % len(FILLS)]


def css(
    scope: str = ":root",
    light: str = ':root[data-theme="light"]',
    dark: str = ':root[data-theme="dark"]',
) -> str:
    """A style sheet: custom properties (``--text``, ``--blue``, ``--fill-red``, …), and drawings.

    Elements with ``data-hue="red"`` have that fill as ``--fill``.

    scope: a selector of the elements that have them. They are dark where readers prefer that.
    light, dark: selectors of such elements where they are light or dark in any case.
    """
    names = {f"--{name}": color for name, color in COLORS.items()}
    names |= {f"--fill-{name}": color for name, color in FILLS.items()}
    of_light, of_dark = (
        f"color-scheme: {scheme};\n"
        + "".join(f"{name}: {getattr(color, scheme)};\n" for name, color in names.items())
        for scheme in Color._fields
    )
    return (
        f"{scope} {{\n{of_light}}}\n"
        f"@media (prefers-color-scheme: dark) {{\n{scope} {{\n{of_dark}}}\n}}\n"
        f"{light} {{\n{of_light}}}\n"
        f"{dark} {{\n{of_dark}}}\n"
        + "".join(
            f'{scope} [data-hue="{name}"] {{ --fill: var(--fill-{name}); }}\n' for name in FILLS
        )
        + "".join(
            f".{DRAWING} .{kind} {{ fill: var(--{name}); }}\n" for kind, name in IN_DRAWINGS.items()
        )
    )


def plot_style() -> dict[str, Any]:
    """Settings of matplotlib (``rcParams``): the palette on a clear ground, small letters.

    `readable_on_dark` makes the SVG of such a plot fit dark pages as well.
    """
    text, muted, rule = (COLORS[name].light for name in ("text", "muted", "rule"))
    return {
        "figure.dpi": 110,
        "figure.facecolor": "none",
        "savefig.facecolor": "none",
        "axes.facecolor": "none",
        "axes.prop_cycle": f"cycler('color', {[color.light for color in SERIES.values()]})",
        "axes.edgecolor": muted,
        "axes.labelcolor": text,
        "axes.labelsize": 9,
        "axes.titlecolor": text,
        "axes.titlesize": 10,
        "axes.titlelocation": "left",
        "axes.spines.right": False,
        "axes.spines.top": False,
        "axes.axisbelow": True,
        "axes.grid": True,
        "grid.color": rule,
        "grid.linewidth": 0.6,
        "text.color": text,
        "xtick.color": muted,
        "ytick.color": muted,
        "xtick.labelcolor": text,
        "ytick.labelcolor": text,
        "xtick.labelsize": 8,
        "ytick.labelsize": 8,
        "legend.fontsize": 8,
        "legend.frameon": False,
        "errorbar.capsize": 2,
        "lines.linewidth": 1.4,
        "lines.markersize": 4,
        # Letters stay letters: the files are a third as large, and their text can be searched.
        "svg.fonttype": "none",
    }


def readable_on_dark(svg: str) -> str:
    """The picture with a style sheet that takes the dark colors where readers prefer those.

    svg: a picture in a file of its own, by matplotlib in light colors of the palette, or a drawing
    of `corpora.drawing`. Raises ValueError if it has no ``svg`` element.
    """
    start = re.search(r"<svg\b[^>]*>", svg)
    if start is None:
        raise ValueError("no <svg> element; give the text of an SVG picture")
    text = COLORS["text"]
    light, dark = f"svg{{color:{text.light}}}", f"svg{{color:{text.dark}}}"
    for kind, name in IN_DRAWINGS.items():
        if f'class="{kind}"' in svg:
            light += f".{kind}{{fill:{COLORS[name].light}}}"
            dark += f".{kind}{{fill:{COLORS[name].dark}}}"
    rules = {
        f'[style*="{name}: {color.light}"]{{{name}:{color.dark}!important}}'
        for color in (*COLORS.values(), *FILLS.values())
        for name in ("fill", "stroke")
        if f"{name}: {color.light}" in svg
    }
    dark += "".join(sorted(rules))
    style = f"<style>{light}@media (prefers-color-scheme:dark){{{dark}}}</style>"
    return svg[: start.end()] + "\n" + style + svg[start.end() :]
