"""Train a segmenter, or several and average them, without spaCy's training loop.

`python scripts/fit.py configs/segment.cfg training/x/model-best --train train.spacy --dev
dev.spacy`: the model of the config is trained by its own `fit`, and the epoch that is best on the
dev corpus is kept. With `--models 5`, so many models are trained, with seeds that follow one
another, and averaged. With `--all all.spacy`, the dev corpus only says how many epochs to train
for (the mean of the models' best ones); the pipeline is trained on all.spacy for so many.

Settings of the config can be changed as with `spacy train`:
`--nlp.tokenizer.model.learning.update perceptron`.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from spacy.cli._util import parse_config_overrides
from spacy.language import Language
from spacy.tokens import DocBin
from spacy.util import load_config, load_model_from_config

from spacy_structreg.corpora.files import replace_text
from spacy_structreg.estimators.character_segmenter import CharacterSegmenter, EpochReport
from spacy_structreg.pipeline.documents import gold_words


def read(path: Path, nlp: Language) -> list[list[str]]:
    """The words of each Doc."""
    sentences = [gold_words(doc) for doc in DocBin().from_disk(path).get_docs(nlp.vocab)]
    return [words for words in sentences if words]


def best_epochs(history: list[EpochReport]) -> list[EpochReport]:
    """The epoch of the highest F of each model; the earliest of equal ones."""
    best: dict[int, EpochReport] = {}
    for report in history:
        before = best.get(report.model)
        if before is None or f_of(report) > f_of(before):
            best[report.model] = report
    return [best[model] for model in sorted(best)]


def f_of(report: EpochReport) -> float:
    assert report.dev is not None
    return report.dev.seg_f or 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("config", type=Path)
    parser.add_argument("output", type=Path, help="folder of the pipeline")
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--dev", type=Path, required=True)
    parser.add_argument("--all", type=Path, help="what the pipeline is trained on in the end")
    parser.add_argument("--models", type=int, default=1)
    parser.add_argument("--patience", type=int, default=5, help="epochs without a better F")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--report", type=Path, help="JSON file for epochs and figures on dev")
    arguments, rest = parser.parse_known_args()

    config = load_config(
        arguments.config, overrides=parse_config_overrides(rest), interpolate=False
    )
    settings = config.interpolate()
    nlp = load_model_from_config(config, auto_fill=True)
    segmenter = nlp.tokenizer.model
    assert isinstance(segmenter, CharacterSegmenter)
    segmenter.seed = settings["training"]["seed"]
    segmenter.epochs = settings["training"]["max_epochs"]
    segmenter.patience = arguments.patience
    segmenter.n_models = arguments.models

    train, dev = read(arguments.train, nlp), read(arguments.dev, nlp)
    whole = read(arguments.all, nlp) if arguments.all else None
    began = time.perf_counter()
    segmenter.fit(train, dev, n_threads=arguments.threads, progress=True)
    best = best_epochs(segmenter.history)
    report = {
        "seeds": [segmenter.seed + number for number in range(arguments.models)],
        "dev_epochs": [epoch.epoch for epoch in best],
        "dev_seg_f": [f_of(epoch) for epoch in best],
    }
    if whole is not None:
        segmenter.epochs = round(sum(epoch.epoch for epoch in best) / len(best))
        segmenter.patience = None
        segmenter.fit(whole, n_threads=arguments.threads, progress=True)
        report["epochs_on_all"] = segmenter.epochs
    seconds = time.perf_counter() - began
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    nlp.to_disk(arguments.output)
    for number, epoch in enumerate(best):
        print(f"seed {report['seeds'][number]}: dev F {f_of(epoch):.4f} at epoch {epoch.epoch}")
    print(f"{arguments.output}: trained in {seconds:.1f} seconds")
    if arguments.report:
        arguments.report.parent.mkdir(parents=True, exist_ok=True)
        with replace_text(arguments.report) as stream:
            stream.write(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
