"""The palette: contrast by WCAG 2, and colors as people without red or green cones see them."""

from __future__ import annotations

import re
from itertools import combinations
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from looped import looped
from numpy.typing import NDArray

from spacy_structreg.corpora.palette import (
    COLORS,
    FILLS,
    SERIES,
    Color,
    css,
    fill_of,
    readable_on_dark,
)

Vector = NDArray[np.float64]

SCHEMES = Color._fields


def matrix(rows: str) -> Vector:
    return np.array([row.split() for row in rows.splitlines()], dtype=float)


# Linear sRGB to XYZ, white of D65 (IEC 61966-2-1).
XYZ = matrix("""0.4124564 0.3575761 0.1804375
0.2126729 0.7151522 0.0721750
0.0193339 0.1191920 0.9503041""")
WHITE = XYZ.sum(axis=1)

# Machado, Oliveira and Fernandes 2009, severity 1, on linear sRGB.
SIGHTS = {
    "all cones": np.eye(3),
    "no green cones": matrix("""0.367322 0.860646 -0.227968
0.280085 0.672501 0.047413
-0.011820 0.042940 0.968881"""),
    "no red cones": matrix("""0.152286 1.052583 -0.204868
0.114503 0.786281 0.099216
-0.003882 -0.048116 1.051998"""),
}


def linear(color: str) -> Vector:
    parts = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    dark, light = sorted(float(XYZ[1] @ linear(each)) for each in (one, other))
    return (light + 0.05) / (dark + 0.05)


def lab(rgb: Vector) -> Vector:
    """CIE L*a*b*."""
    ratio = XYZ @ rgb / WHITE
    f = np.where(ratio > 216 / 24389, np.cbrt(ratio), (24389 / 27 * ratio + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def difference(one: str, other: str, sight: str) -> float:
    """Distance in CIE L*a*b*; about 2.3 can just be seen."""
    seen = [lab(np.clip(SIGHTS[sight] @ linear(each), 0, 1)) for each in (one, other)]
    return float(np.linalg.norm(seen[0] - seen[1]))


def test_measures_by_known_values() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    # The gray that WCAG's own examples give for 4.54 to 1 on white.
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.005)
    assert lab(linear("#ff0000")) == pytest.approx([53.24, 80.09, 67.20], abs=0.02)
    # A red and a green that only people with all cones tell apart.
    assert difference("#b35309", "#8f6a00", "all cones") > 25
    assert difference("#b35309", "#8f6a00", "no green cones") < 10


@looped("scheme", SCHEMES)
def test_texts_and_lines_stand_out(scheme: str) -> None:
    colors = {name: getattr(color, scheme) for name, color in COLORS.items()}
    grounds = {colors[name] for name in ("ground", "surface")}
    for name in colors.keys() - {"ground", "surface", "rule"}:
        least = 3 if name == "line" else 4.5
        assert min(contrast(colors[name], ground) for ground in grounds) >= least, name
    for name, fill in FILLS.items():
        assert contrast(colors["text"], getattr(fill, scheme)) >= 4.5, name


@looped("scheme", SCHEMES)
@looped("sight", SIGHTS)
def test_series_can_be_told_apart(scheme: str, sight: str) -> None:
    for (one, first), (other, second) in combinations(SERIES.items(), 2):
        found = difference(getattr(first, scheme), getattr(second, scheme), sight)
        assert found >= 15, (one, other)


def test_light_and_dark_style_sheets_name_the_same_colors() -> None:
    sheet = css("main", "main.light", "main.dark")
    blocks = re.findall(r"(main[.a-z]*) \{([^}]*)\}", sheet)
    assert [selector for selector, _ in blocks] == ["main", "main", "main.light", "main.dark"]
    light, preferred, *chosen = (
        dict(re.findall(r"(--[a-z-]+): (#[0-9a-f]{6});", block)) for _, block in blocks
    )
    assert sheet.index("prefers-color-scheme: dark") > sheet.index(blocks[0][1])
    assert [light, preferred] == chosen
    assert {name: (light[name], preferred[name]) for name in light} == {
        **{f"--{name}": color for name, color in COLORS.items()},
        **{f"--fill-{name}": color for name, color in FILLS.items()},
    }
    by_name = re.findall(r'^main \[data-hue="(\w+)"\] \{ --fill: var\((.*)\); \}$', sheet, re.M)
    assert by_name == [(name, f"--fill-{name}") for name in FILLS]
    # Nothing is colored by a property that there is not.
    assert {*re.findall(r"var\((--[a-z-]+)\)", sheet)} <= light.keys()


def test_fill_of_a_label_stays_the_same() -> None:
    # Names of fills are written into files.
    assert fill_of("NP") == fill_of("NP") in FILLS
    assert len({fill_of(label) for label in ("NP", "VP", "IP", "PP", "QP", "\ud800")}) > 2


def test_pictures_take_dark_colors() -> None:
    blue = SERIES["blue"]
    svg = (
        '<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg">'
        f'<path style="fill: none; stroke: {blue.light}"/><text class="tag">NN</text></svg>'
    )
    root = ET.fromstring(readable_on_dark(svg))
    style = root[0].text or ""
    dark = style.partition("prefers-color-scheme:dark")[2]
    assert f'[style*="stroke: {blue.light}"]{{stroke:{blue.dark}!important}}' in dark
    assert COLORS["text"].dark in dark
    assert f".tag{{fill:{COLORS['muted'].dark}}}" in dark
    assert SERIES["rose"].dark not in style
    assert readable_on_dark(svg).replace(f"\n<style>{style}</style>", "") == svg
    with pytest.raises(ValueError, match="no <svg> element"):
        readable_on_dark("<p>")
