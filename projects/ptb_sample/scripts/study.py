"""Train and score a parser of constituents on each of the ten folds, and average the figures.

`python scripts/study.py TREES CONFIG CORPUS TRAINING METRICS`: for each fold K, which is made as
`sample.py` does, CORPUS/K has the parts, TRAINING/K the pipeline of CONFIG, with the epoch that is
best on the development set, and METRICS/K.json its figures on the test set, with gold tags.
METRICS.json has the mean of each figure over the folds, its standard deviation, and each fold's.

Folds whose figures are there are not run again: remove METRICS after a change of the settings.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path
from typing import Any

from sample import N_FOLDS, write_fold

from spacy_structreg.cli.evaluate import GivenName, evaluate
from spacy_structreg.cli.fit import fit
from spacy_structreg.corpora.files import replace_text

FIRST, LAST = "brackets_", "head_acc"


def run_fold(
    fold: int, given: argparse.Namespace, corpus: Path, pipeline: Path, metrics: Path
) -> None:
    """Train and score on one fold."""
    write_fold(given.trees, corpus, fold)
    trained = fit(
        given.config,
        pipeline,
        train=corpus / "train.spacy",
        dev=corpus / "dev.spacy",
        n_models=given.models,
        n_threads=given.threads,
        overrides={"training.max_epochs": given.epochs},
        force=True,
    )
    report = evaluate(str(pipeline), corpus / "test.spacy", given=GivenName.words_and_tags)
    with replace_text(metrics) as stream:
        stream.write(json.dumps({**trained, **report}, indent=2) + "\n")


def summary(reports: dict[int, dict[str, Any]]) -> dict[str, Any]:
    """Mean and standard deviation (n - 1 in the denominator) of the figures of trees."""
    names = [name for name in reports[1] if name.startswith(FIRST) or name == LAST]
    figures = {name: [report[name] for report in reports.values()] for name in names}
    return {
        "mean": {name: statistics.mean(values) for name, values in figures.items()},
        "sd": {name: statistics.stdev(values) for name, values in figures.items()},
        "folds": {
            fold: {name: report[name] for name in ("dev_epochs", "dev_brackets_f", *names)}
            for fold, report in reports.items()
        },
    }


def main(arguments: list[str] | None = None) -> int:
    """0 if all went well, else 1."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    for name in ("trees", "config", "corpus", "training", "metrics"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--models", type=int, default=1, help="parsers to average in each fold")
    parser.add_argument("--epochs", type=int, default=12, help="most epochs of a training")
    parser.add_argument("--threads", type=int, default=1, help="threads that train side by side")
    given = parser.parse_args(arguments)
    reports = {}
    try:
        given.metrics.mkdir(parents=True, exist_ok=True)
        for fold in range(1, N_FOLDS + 1):
            metrics = given.metrics / f"{fold}.json"
            if not metrics.is_file():
                run_fold(fold, given, given.corpus / str(fold), given.training / str(fold), metrics)
            reports[fold] = json.loads(metrics.read_text(encoding="utf-8"))
            print(f"fold {fold}: F {100 * reports[fold]['brackets_f']:.2f}", flush=True)
        summarized = summary(reports)
        with replace_text(given.metrics.with_suffix(".json")) as stream:
            stream.write(json.dumps(summarized, indent=2) + "\n")
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"mean of {N_FOLDS} folds: F {100 * summarized['mean']['brackets_f']:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
