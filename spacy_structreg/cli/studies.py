"""What the studies in `projects` share: corpora, results, tables, pictures and command lines.

A study trains and scores what a grid asks for, and files each run as a JSON line under a key, so
that it can be stopped and taken up again; its report is made of the grid and the lines alone.

Its scripts have the command lines of this module. Each is given the description of the script, what
reads a grid and results from paths, and what to do with them; ValueError and OSError end it with
their message.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields
from importlib import import_module
from itertools import pairwise, product
from pathlib import Path
from typing import Any, ClassVar, Final, Generic, Protocol, TypeVar

from spacy_structreg.corpora.files import replace_text
from spacy_structreg.metrics.summary import Summary

__all__ = [
    "ResultFile",
    "data_folder",
    "interval",
    "label_points",
    "plot_command",
    "report_command",
    "run_command",
    "save_pictures",
    "shown",
    "table",
]

VARIABLE: Final = "STRUCTREG_DATA"


def data_folder() -> Path:
    """The folder of corpora. Raises ValueError, with what to do, if none is named."""
    named = os.environ.get(VARIABLE)
    if not named:
        raise ValueError(
            f"no corpora: set the environment variable {VARIABLE} to the folder that holds those "
            "that the grid names (see the project's README.md)"
        )
    folder = Path(named)
    if not folder.is_dir():
        raise ValueError(f"{VARIABLE} names a folder that does not exist: {folder}")
    return folder


class Keyed(Protocol):
    """The key of a line: a frozen data class of plain values, of which one is the corpus."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def corpus(self) -> str: ...


class Checked(Protocol):
    """What a line says: a data class; `checksum` is that of the corpus that it was made on."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def checksum(self) -> str: ...


KeyT = TypeVar("KeyT", bound=Keyed)
ResultT = TypeVar("ResultT", bound=Checked)
GridT = TypeVar("GridT")
ResultsT = TypeVar("ResultsT")
T = TypeVar("T")


class ResultFile(Generic[KeyT, ResultT]):
    """Results by key: one JSON line for each run, only ever added to.

    path: of the file, which need not exist yet. key, result: data classes that share no field.
    A last line that was not finished, as after a crash, is dropped. Raises ValueError, naming file
    and line, for any other line that is not a result; OSError if the file cannot be read.
    """

    def __init__(self, path: Path, key: type[KeyT], result: type[ResultT]) -> None:
        self.path = path
        self._result = result
        self._results: dict[KeyT, ResultT] = {}
        names = {field.name for field in fields(key)}
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        whole = text[: text.rfind("\n") + 1]
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                given = json.loads(line)
                found = key(**{name: given.pop(name) for name in names})
                self._results[found] = self.read(given)
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise ValueError(
                    f"{path}:{number}: not a result of this study ({error!r}); remove the line, "
                    "or the file to run everything anew"
                ) from error
        if whole != text:
            path.write_text(whole, encoding="utf-8", newline="\n")

    def read(self, given: dict[str, Any]) -> ResultT:
        """The result of a line, without its key. Raises ValueError or TypeError if it is none."""
        return self._result(**given)

    def fields(self, result: ResultT) -> dict[str, Any]:
        """What stands in the line of a result, besides its key."""
        return asdict(result)

    def __contains__(self, key: KeyT) -> bool:
        return key in self._results

    def __getitem__(self, key: KeyT) -> ResultT:
        try:
            return self._results[key]
        except KeyError:
            told = ", ".join(f"{name} {value}" for name, value in asdict(key).items() if value)
            raise ValueError(f"{self.path}: no result of {told}; run the grid first") from None

    def __len__(self) -> int:
        return len(self._results)

    def get(self, key: KeyT, figure: Callable[[ResultT], T]) -> T | None:
        """A figure of a result; None if there is no such result."""
        return figure(self._results[key]) if key in self._results else None

    def items(self) -> list[tuple[KeyT, ResultT]]:
        """All results, in the order of the file."""
        return list(self._results.items())

    def check(self, corpus: str, checksum: str) -> None:
        """Raise ValueError if there are results on another version of the corpus."""
        others = {each.checksum for key, each in self._results.items() if key.corpus == corpus}
        if others - {checksum}:
            raise ValueError(
                f"{self.path}: has results on another training corpus {corpus}; remove the file "
                "to run everything anew"
            )

    def add(self, key: KeyT, result: ResultT) -> None:
        """Keep a result, in the file too; one that is there already stays."""
        if key in self._results:
            return
        line: dict[str, Any] = asdict(key) | self.fields(result)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8", newline="\n") as stream:
            stream.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")
        self._results[key] = result


def shown(s: Summary, digits: int = 2) -> str:
    """A mean and its standard deviation."""
    return f"{s.mean:.{digits}f}" + ("" if s.sd is None else f" ± {s.sd:.{digits}f}")


def interval(s: Summary, digits: int = 2) -> str:
    """The 95 % interval of a mean; nothing for a single number."""
    if s.half is None:
        return ""
    return f"{s.mean - s.half:.{digits}f} to {s.mean + s.half:.{digits}f}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]], n_text: int = 1) -> str:
    """A table in Markdown: the first `n_text` columns are text, the others are figures."""
    lines = [header, ["---"] * n_text + ["---:"] * (len(header) - n_text), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


# Pictures -----------------------------------------------------------------------------------------

STYLE: Final = {
    "figure.dpi": 110,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.grid": True,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.labelsize": 9,
    "grid.alpha": 0.25,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "errorbar.capsize": 2,
    "lines.linewidth": 1.4,
    "lines.markersize": 4,
    # Letters stay letters: the files are a third as large, and their text can be searched.
    "svg.fonttype": "none",
}

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
    mpl.rcParams.update(STYLE)
    written = []
    for name, draw in pictures.items():
        figure = draw()
        figure.tight_layout()
        for axes in figure.axes:
            _place_labels(axes)
        path = folder / f"{name}{suffix}"
        figure.savefig(path, metadata={"Date": None} if suffix == ".svg" else None)
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


# Command lines ------------------------------------------------------------------------------------


def run_command(
    description: str | None,
    read_grid: Callable[[Path], GridT],
    read_results: Callable[[Path], ResultsT],
    run: Callable[[GridT, ResultsT], None],
) -> None:
    """``GRID RESULTS``. run: makes the runs that are missing."""
    arguments = _parser(description).parse_args()
    with _faults():
        run(read_grid(arguments.grid), read_results(arguments.results))


def plot_command(
    description: str | None,
    read_grid: Callable[[Path], GridT],
    read_results: Callable[[Path], ResultsT],
    plot: Callable[[GridT, ResultsT, Path, str], Iterable[Path]],
) -> None:
    """``GRID RESULTS FOLDER [--suffix .svg]``. plot: as `save_pictures`, from folder on."""
    parser = _parser(description)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--suffix", default=".svg", choices=[".svg", ".png"])
    arguments = parser.parse_args()
    with _faults():
        grid, results = read_grid(arguments.grid), read_results(arguments.results)
        for path in plot(grid, results, arguments.folder, arguments.suffix):
            print(path.name, file=sys.stderr)


def report_command(
    description: str | None,
    read_grid: Callable[[Path], GridT],
    read_results: Callable[[Path], ResultsT],
    report: Callable[[GridT, ResultsT, str, str], str],
) -> None:
    """``GRID RESULTS REPORT [--findings FILE] [--plots .svg]``.

    report: the text, from the findings in words and how the names of pictures end.
    """
    parser = _parser(description)
    parser.add_argument("report", type=Path)
    parser.add_argument("--findings", type=Path)
    parser.add_argument("--plots", default=".svg", help="how the names of plots end")
    arguments = parser.parse_args()
    with _faults():
        findings = ""
        if arguments.findings is not None and arguments.findings.exists():
            findings = arguments.findings.read_text(encoding="utf-8")
        elif arguments.findings is not None:
            print(f"no findings in words: there is no {arguments.findings}", file=sys.stderr)
        grid, results = read_grid(arguments.grid), read_results(arguments.results)
        text = report(grid, results, findings, arguments.plots)
        arguments.report.parent.mkdir(parents=True, exist_ok=True)
        with replace_text(arguments.report) as stream:
            stream.write(text)


def _parser(description: str | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("grid", type=Path)
    parser.add_argument("results", type=Path)
    return parser


@contextmanager
def _faults() -> Iterator[None]:
    """End the program with the message of what went wrong."""
    try:
        yield
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")
