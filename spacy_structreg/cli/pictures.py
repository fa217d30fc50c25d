"""Pictures that commands draw with matplotlib, which is a dependency of the option alone."""

from __future__ import annotations

from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spacy_structreg.cli.outputs import check_file
from spacy_structreg.corpora.palette import COLORS, plot_style, readable_on_dark

if TYPE_CHECKING:
    from spacy_structreg.corpora.corpus_errors import StrPath


def check_picture(path: Path, *inputs: StrPath) -> None:
    """Check that a picture can be drawn and written, before the work for it begins.

    inputs: files that the command reads. Raises ValueError or OSError, naming the file, if it
    cannot be written, or is no picture by its name; ImportError without matplotlib.
    """
    if path.suffix not in (".svg", ".png", ".pdf"):
        raise ValueError(f"{path} is no name of a picture; let it end in .svg, .png or .pdf")
    check_file(path, *inputs)
    try:
        import_module("matplotlib").use("Agg")
    except ImportError as error:
        raise ImportError(
            f"{error}; --plot needs matplotlib: pip install 'spacy_structreg[study]'"
        ) from error


def new_figure(name: str, n_rows: int, n_columns: int, **settings: Any) -> tuple[Any, Any]:
    """A figure of matplotlib and its panels, of shape (n_rows, n_columns).

    name: of what is drawn. The same name and figures give the same bytes of SVG.
    settings: as `matplotlib.pyplot.subplots` has them.
    """
    plt: Any = import_module("matplotlib.pyplot")
    import_module("matplotlib").rcParams.update({"svg.hashsalt": name, **plot_style()})
    figure, axes = plt.subplots(n_rows, n_columns, squeeze=False, **settings)
    return figure, axes


def save_figure(figure: Any, path: Path) -> None:
    """Write a figure in one step, and let go of it. Only SVG fits light and dark pages."""
    from spacy_structreg.corpora.files import replace_bytes

    figure.tight_layout()
    drawn = BytesIO()
    if path.suffix == ".svg":
        figure.savefig(drawn, format="svg", metadata={"Date": None})
    else:
        figure.savefig(drawn, format=path.suffix[1:], facecolor=COLORS["ground"].light)
    picture = drawn.getvalue()
    with replace_bytes(path) as stream:
        stream.write(
            readable_on_dark(picture.decode()).encode() if path.suffix == ".svg" else picture
        )
    import_module("matplotlib.pyplot").close(figure)
