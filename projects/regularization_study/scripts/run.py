"""Train and score what a grid asks for, as far as it has not been done: one JSON line a run.

    python scripts/run.py GRID RESULTS

The corpora are looked for in the folder that the environment variable STRUCTREG_DATA names. Stop
it whenever you like: the next call goes on.
"""

from __future__ import annotations

import sys
import time

from corpora import Corpus, read_corpus
from grid import Grid, Unit, segmenter
from results import Result, Results

from spacy_structreg.about import __version__
from spacy_structreg.cli.studies import data_folder, run_command
from spacy_structreg.corpora.checksum import corpus_checksum
from spacy_structreg.estimators.character_segmenter import CharacterSegmenter
from spacy_structreg.learn.averaging import MEANS


def scored(model: CharacterSegmenter, corpus: Corpus, seconds: float, checksum: str) -> Result:
    """The figures of a trained model."""
    dev, test = (
        model.evaluate(part, vocabulary=corpus.vocabulary) for part in (corpus.dev, corpus.test)
    )
    return Result(
        round(dev.seg_f or 0.0, 6),
        round(dev.oov_r or 0.0, 6),
        round(test.seg_f or 0.0, 6),
        round(test.oov_r or 0.0, 6),
        round(seconds, 3),
        checksum,
        __version__,
    )


def run_unit(unit: Unit, grid: Grid, corpus: Corpus, results: Results, checksum: str) -> None:
    """Train the models of a unit that are missing or to be averaged, and score them."""
    averages = [
        (first, last)
        for first, last in unit.averages
        if any(unit.average(first, last, mean) not in results for mean in MEANS)
    ]
    models: dict[int, CharacterSegmenter] = {}
    for seed in range(unit.first, unit.last + 1):
        averaged = any(first <= seed <= last for first, last in averages)
        if unit.single(seed) in results and not averaged:
            continue
        began = time.process_time()
        model = segmenter(grid.settings[unit.setting], unit.epochs, seed).fit(corpus.train)
        seconds = time.process_time() - began
        if unit.single(seed) not in results:
            results.add(unit.single(seed), scored(model, corpus, seconds, checksum))
        if averaged:
            models[seed] = model
    for first, last in averages:
        for mean in MEANS:
            average = CharacterSegmenter.average(
                [models[seed] for seed in range(first, last + 1)], mean
            )
            results.add(unit.average(first, last, mean), scored(average, corpus, 0.0, checksum))


def run(grid: Grid, results: Results) -> None:
    """Run what is missing, with progress on standard error.

    Raises ValueError if there are no corpora, or if they are not those that the results so far
    were made on.
    """
    missing = [unit for unit in grid.units() if any(key not in results for key in unit.lines())]
    if not missing:
        print(f"all {len(results):,} results are there", file=sys.stderr)
        return
    folder = data_folder()
    corpora: dict[str, Corpus] = {}
    checksums: dict[str, str] = {}
    began = time.monotonic()
    for number, unit in enumerate(missing, 1):
        name = unit.corpus
        if name not in corpora:
            corpora[name] = read_corpus(name, grid.corpora[name], folder)
            checksums[name] = corpus_checksum(corpora[name].train)[:12]
            results.check(name, checksums[name])
        run_unit(unit, grid, corpora[name], results, checksums[name])
        spent = time.monotonic() - began
        print(
            f"[{number}/{len(missing)}] {name}, {unit.epochs} epochs, seeds {unit.first} to "
            f"{unit.last}: {unit.setting or 'nothing'} ({spent:.0f} s so far)",
            file=sys.stderr,
        )


if __name__ == "__main__":
    run_command(__doc__, Grid, Results, run)
