"""Pictures of studies, by matplotlib."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from itertools import pairwise, product
from pathlib import Path
from typing import Any, Final

from spacy_structreg.corpora.palette import COLORS, plot_style, readable_on_dark

# Lines further back than this are there for comparison, and labels may lie on them.
BACKGROUND: Final = 1

# Where a label may go, in points from what it is about: near places first.
DISTANCES: Final = (5, 9, 14, 20, 28, 38)
DIRECTIONS: Final = tuple((math.cos(a), math.sin(a)) for a in (math.pi * k / 8 for k in range(16)))


def label_points(
    axes: Any, text: str, points: Iterable[tuple[float, float]], color: Any, **style: Any
) -> None:
    """Write a text beside one of some points of a plot; `save_pictures` finds where there is room.

    points: in the units of the axes. style: of the text, as matplotlib has it.
    """
    places = list(points)
    line = {"arrowstyle": "-", "color": color, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 2}
    label = axes.annotate(
        *(text, places[0]),
        xytext=(0, 0),
        textcoords="offset points",
        ha="center",
        va="center",
        color=color,
        arrowprops=line,
        **style,
    )
    label.places = places


def save_pictures(
    pictures: Mapping[str, Callable[[], Any]], folder: Path, suffix: str, salt: str
) -> list[Path]:
    """Draw pictures of matplotlib into files; returns their paths.

    pictures: what makes a figure, by the name of its file. suffix: how these end, which says their
    format. salt: of the names within SVG files; any text, always the same one.
    """
    # A user installs it for the studies alone.
    mpl: Any = import_module("matplotlib")
    plt: Any = import_module("matplotlib.pyplot")
    folder.mkdir(parents=True, exist_ok=True)
    # The same figures give the same bytes: neither a date nor random names within the file.
    mpl.rcParams["svg.hashsalt"] = salt
    mpl.rcParams.update(plot_style())
    written = []
    for name, draw in pictures.items():
        figure = draw()
        figure.tight_layout()
        for axes in figure.axes:
            _place_labels(axes)
        path = folder / f"{name}{suffix}"
        if suffix == ".svg":
            figure.savefig(path, metadata={"Date": None})
            path.write_text(readable_on_dark(path.read_text("utf-8")), "utf-8")
        else:
            figure.savefig(path, facecolor=COLORS["ground"].light)
        plt.close(figure)
        written.append(path)
    return written


def _place_labels(axes: Any) -> None:
    """Move the labels of a plot to where they cover neither one another nor points nor lines."""
    labels = [label for label in axes.texts if hasattr(label, "places")]
    if not labels:
        return
    text: Any = import_module("matplotlib.text").Text
    renderer = axes.figure.canvas.get_renderer()
    points = axes.figure.dpi / 72
    obstacles, weights = _obstacles(axes, points)
    room = axes.get_window_extent(renderer)
    taken: list[tuple[float, float, float, float]] = []
    for label in labels:
        # Without its line.
        extent = text.get_window_extent(label, renderer)
        # With a margin, as another program may have another font.
        half_width, half_height = 0.54 * extent.width + points, 0.6 * extent.height + points / 2
        best = None
        for place in label.places:
            x, y = axes.transData.transform(place)
            for distance, (right, up) in product(DISTANCES, DIRECTIONS):
                # The distance is that of the nearest edge of the text.
                at_x = x + right * (distance * points + half_width)
                at_y = y + up * (distance * points + half_height)
                box = (at_x - half_width, at_y - half_height, at_x + half_width, at_y + half_height)
                cost = 0.04 * distance + 100 * sum(_overlap(box, other) for other in taken)
                cost += 100 * (
                    max(0, room.x0 - box[0], box[2] - room.x1) / half_width
                    + max(0, room.y0 - box[1], box[3] - room.y1) / half_height
                )
                inside = (abs(obstacles[:, 0] - at_x) < half_width) & (
                    abs(obstacles[:, 1] - at_y) < half_height
                )
                cost += float(weights[inside].sum())
                if best is None or cost < best[0]:
                    best = cost, place, box, distance, (at_x - x, at_y - y)
        assert best is not None
        _, label.xy, box, distance, offset = best
        label.set_position((offset[0] / points, offset[1] / points))
        label.arrow_patch.set_visible(distance > DISTANCES[1])
        taken.append(box)


def _obstacles(axes: Any, points: float) -> tuple[Any, Any]:
    """Places of a plot, in pixels, that labels are not to cover, and how bad it is if they do."""
    np: Any = import_module("numpy")
    places, weights = [np.empty((0, 2))], [np.empty(0)]

    def add(found: Any, weight: float) -> None:
        places.append(found)
        weights.append(np.full(len(found), weight))

    for line in axes.lines:
        ends = line.get_transform().transform(line.get_xydata())
        ends = ends[np.isfinite(ends).all(axis=1)]
        weight = 1.0 if line.get_zorder() > BACKGROUND else 0.05
        if line.get_marker() not in (None, "None", ""):
            add(ends, 6 * weight)
        if line.get_linestyle() not in ("None", ""):
            for one, other in pairwise(ends):
                n_steps = 2 + int(min(5000, np.abs(other - one).max()) / (3 * points))
                add(one + np.linspace(0, 1, n_steps)[:, None] * (other - one), weight / 2)
    for bars in axes.collections:
        for ends in bars.get_segments():
            steps = np.linspace(0, 1, 20)[:, None]
            one, other = bars.get_transform().transform(ends)
            add(one + steps * (other - one), 0.5 if bars.get_zorder() > BACKGROUND else 0.02)
    return np.concatenate(places), np.concatenate(weights)


def _overlap(one: Sequence[float], other: Sequence[float]) -> float:
    """The share of a box that another one covers; boxes are left, bottom, right, top."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    area = (one[2] - one[0]) * (one[3] - one[1])
    return max(0.0, width) * max(0.0, height) / area


def panels(n: int, n_columns: int, width: float, height: float) -> tuple[Any, list[Any]]:
    """A figure and so many of its panels, row by row; width, height: of each, in inches."""
    plt: Any = import_module("matplotlib.pyplot")
    n_columns = min(n_columns, n)
    n_rows = -(-n // n_columns)
    figure, places = plt.subplots(
        n_rows, n_columns, figsize=(width * n_columns, height * n_rows), squeeze=False
    )
    for axes in places.flat[n:]:
        axes.set_visible(False)
    return figure, list(places.flat[:n])
