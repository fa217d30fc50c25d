"""Draw the pictures of the documentation into a folder: `make pictures`.

    python docs/tools/pictures.py docs/pictures

Nothing is trained: plots are made of the results of benchmarks, as they are committed, and of the
table in the page of the Chinese pipeline; trees are those of a sentence below.
"""

from __future__ import annotations

import json
import sys
import tempfile
from itertools import takewhile
from pathlib import Path
from statistics import median
from types import SimpleNamespace
from typing import Any

from spacy_structreg.corpora.dependencies import ROOT
from spacy_structreg.corpora.drawing import dependency_svg, span_svg, tree_svg
from spacy_structreg.corpora.files import replace_text
from spacy_structreg.corpora.formats.brackets import constituency_sentences
from spacy_structreg.corpora.palette import COLORS, readable_on_dark
from spacy_structreg.corpora.sentence import Sentence

TOP = Path(__file__).resolve().parents[2]
RESULTS = TOP / "benchmarks" / "results"
PIPELINE = TOP / "docs" / "zh_structreg.md"

# What benchmarks and studies draw with lies beside them.
sys.path[:0] = [str(TOP), str(TOP / "projects")]

SERVED = "serving-ready_made"
"""The report on our packages beside systems that bring their models."""

TREE = """\
( (IP (NP (NR 李明)) (VP (NP (NT 昨天)) (PP (P 在) (NP (NR 杭州))) (VP (VV 买) (AS 了) \
(NP (QP (CD 三) (CLP (M 本))) (NP (NN 书))))) (PU 。)) )
"""
# For each of its words, the number of the head, and the relation to it.
HEADS = (4, 4, 4, 2, ROOT, 4, 7, 8, 4, 4)
RELATIONS = (
    *("nsubj", "nmod:tmod", "nmod:prep", "pobj", "root"),
    *("aux:asp", "nummod", "nummod", "dobj", "punct"),
)

# Of what benchmarks, which figure by which name; of several views, which.
BENCHMARKS = {
    "segmentation-ud_chinese": ("Words, UD Chinese", "seg_f", "F", "characters", None),
    "tagging-ud_chinese": ("Tags, UD Chinese", "tag_acc", "accuracy", "words", None),
    "parsing-ud_chinese": (
        *("Dependencies, UD Chinese, automatic tags", "dep_las", "LAS"),
        *("words", {"automatic tags", ""}),
    ),
    "sequence_labeling-resume": ("Entities, Chinese résumés", "ents_f", "F", "characters", None),
}


def results(name: str) -> list[Any]:
    """The systems of a benchmark, with their fields as attributes."""
    found = json.loads((RESULTS / f"{name}.json").read_text("utf-8"))["results"]
    return [SimpleNamespace(**each) for each in found]


def accuracy_and_speed() -> Any:
    """A panel for each task: the score of each system that was trained on the corpus, by speed."""
    from studies.pictures import label_points, panels  # type: ignore[import-not-found]

    figure, places = panels(len(BENCHMARKS), 2, 4.6, 3.3)
    for axes, (name, about) in zip(places, BENCHMARKS.items(), strict=True):
        title, score, said, unit, views = about
        for system in results(name):
            rates = system.batch or system.one
            if not (system.trains and rates) or (views is not None and system.view not in views):
                continue
            color = "C1" if system.name.startswith("ours") else "C0"
            point = (median(rates), 100 * system.scores[score])
            axes.plot(*point, "o", color=color, markersize=6)
            label = system.title.replace("spacy_structreg", "ours")
            label_points(axes, label, [point], COLORS["text"].light, fontsize=7.5)
        axes.set_xscale("log")
        axes.xaxis.set_minor_formatter("")
        axes.margins(x=0.25, y=0.15)
        axes.set(title=title, xlabel=f"{unit} a second (log scale)", ylabel=f"{said}, test, %")
    return figure


def words_and_speed() -> Any:
    """F of words on the blind test by speed: our packages and others, by what they were asked."""
    from matplotlib import pyplot as plt
    from studies.pictures import label_points

    from benchmarks.serving.kinds import FOUND

    marks = dict(zip(FOUND, "sD^o", strict=True))
    figure, axes = plt.subplots(figsize=(7.6, 4.4))
    for system in results(SERVED):
        color = "C1" if system.ours else "C0"
        points = {
            kind: (median(system.rates[kind]), 100 * fit["words"])
            for kind, fit in system.fits.items()
        }
        if points:
            axes.plot(*zip(*points.values(), strict=True), color=color, linewidth=0.7, zorder=1)
            label_points(axes, system.name, points.values(), COLORS["text"].light, fontsize=8)
        for kind, point in points.items():
            axes.plot(*point, marks[kind], color=color, markersize=6)
    for kind, mark in marks.items():
        axes.plot([], [], mark, color=COLORS["text"].light, label=FOUND[kind])
    axes.set_xscale("log")
    axes.margins(x=0.12, y=0.12)
    axes.set(
        title="Words of Chinese raw text",
        xlabel="characters a second, one thread (log scale)",
        ylabel="F of words, blind test, %",
    )
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=4)
    return figure


def registers() -> Any:
    """F of the Chinese pipeline from raw text, register by register."""
    from matplotlib import pyplot as plt

    rows = [
        [cell.strip(" *") for cell in line.strip("|\n ").split("|")]
        for line in PIPELINE.read_text("utf-8").splitlines()
        if line.startswith("| ")
    ]
    start = next(number for number, row in enumerate(rows) if row[:2] == ["text", "sentences"])
    columns = rows[start][2:]
    # After the registers come the same sentences, written otherwise.
    texts = {"all of them", *(path.stem for path in (TOP / "treebank/second/test").iterdir())}
    whole, *parts = [
        (name, [float(cell) for cell in cells])
        for name, _, *cells in takewhile(lambda row: row[0] in texts, rows[start + 2 :])
    ]
    parts.sort(key=lambda part: part[1][0])
    shown = [columns.index(name) for name in ("words", "words with tags", "phrases", "heads")]
    figure, axes = plt.subplots(figsize=(6.6, 4.2))
    names = [name for name, _ in [*parts, whole]]
    for marker, column in zip("os^D", shown, strict=True):
        values = [figures[column] for _, figures in [*parts, whole]]
        axes.plot(values, range(len(names)), marker, label=columns[column], markersize=5)
    axes.axhline(len(parts) - 0.5, color=COLORS["line"].light, linewidth=0.6)
    axes.set_yticks(range(len(names)), names)
    axes.set(title="The Chinese pipeline, from raw text, by register", xlabel="F, test, %")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=4)
    return figure


def compression() -> Any:
    """Size and speed of models as they are trained, and as `structreg compress` makes them."""
    from matplotlib import pyplot as plt

    systems = {each.name: each for each in results("serving-cnc")}
    figure, (sizes, rates) = plt.subplots(1, 2, figsize=(8.4, 2.6), sharey=True)
    models = (
        ("words", "segmenter", "lists", ("tokenizer",)),
        ("words, tags, trees", "raw", "raw", ("tokenizer", "tagger", "parser")),
    )
    points = [
        (f"{title}, {state}", systems[name + suffix], kind, files, color)
        for title, name, kind, files in models
        for state, suffix, color in (("trained", "", "C0"), ("compressed", "-frozen", "C1"))
    ][::-1]
    for place, (_, system, kind, files, color) in enumerate(points):
        for axes, value, form in (
            (sizes, sum(system.files[name] for name in files) / 1e6, "{:.1f} MB"),
            (rates, median(system.rates[kind]) / 1e6, "{:.3g} M"),
        ):
            axes.plot(value, place, "o", color=color, markersize=7)
            axes.annotate(
                *(form.format(value), (value, place)),
                xytext=(7, 0),
                textcoords="offset points",
                va="center",
                fontsize=8,
            )
    for axes, title in ((sizes, "Size of the models"), (rates, "Characters a CPU second")):
        axes.set_title(title)
        axes.set_xscale("log")
        low, high = axes.get_xlim()
        axes.set_xlim(low, high * 3)
        axes.set_ylim(-0.6, len(points) - 0.4)
    sizes.set_yticks(range(len(points)), [point[0] for point in points])
    sizes.set_xlabel("MB (log scale)")
    rates.set_xlabel("millions (log scale)")
    return figure


def trees() -> dict[str, str]:
    """The trees of a sentence, as SVG by their names."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tree.bracket"
        path.write_text(TREE, "utf-8")
        (sentence,) = constituency_sentences(path, "ctb")
    parsed = Sentence(sentence.words, sentence.tags, HEADS, RELATIONS)
    return {
        "tree": tree_svg(sentence),
        "spans": span_svg(sentence),
        "dependencies": dependency_svg(parsed),
    }


def main() -> None:
    """Draw all pictures into the folder that is named on the command line."""
    import matplotlib as mpl

    mpl.use("Agg")
    from studies.pictures import save_pictures

    (folder,) = map(Path, sys.argv[1:])
    plots = {
        "accuracy_and_speed": accuracy_and_speed,
        "words_and_speed": words_and_speed,
        "registers": registers,
        "compression": compression,
    }
    paths = save_pictures(plots, folder, ".svg", "pictures")
    for name, svg in trees().items():
        paths.append(folder / f"{name}.svg")
        with replace_text(paths[-1]) as stream:
            stream.write(readable_on_dark(svg))
    for path in paths:
        print(path.name)


if __name__ == "__main__":
    main()
