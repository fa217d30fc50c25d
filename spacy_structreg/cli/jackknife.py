"""`structreg jackknife`: a corpus with automatic tags, each from a tagger that did not see it."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer

from spacy_structreg.cli.errors import user_errors
from spacy_structreg.cli.fit import SETTINGS, parse_overrides
from spacy_structreg.cli.outputs import check_file

__all__ = ["SETTINGS", "jackknife", "jackknife_command"]

# All that is kept of a gold Doc, besides its words and spaces.
ATTRIBUTES = [
    *("ORTH", "TAG", "POS", "MORPH", "LEMMA", "HEAD", "DEP"),
    *("SENT_START", "ENT_IOB", "ENT_TYPE"),
]


def jackknife_command(
    context: typer.Context,
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="Config with a tagger")],
    corpus: Annotated[Path, typer.Argument(metavar="CORPUS", help="Tagged corpus, .spacy")],
    output: Annotated[Path, typer.Argument(metavar="OUTPUT", help="File to write, .spacy")],
    *,
    folds: Annotated[
        int, typer.Option("--folds", "-k", min=2, help="Parts that the corpus is cut into")
    ] = 10,
    threads: Annotated[
        int, typer.Option("--threads", "-t", min=1, help="Taggers that are trained side by side")
    ] = 2,
) -> None:
    """Tag a corpus by taggers that were trained on the rest of it.

    For each of k parts, the tagger of the config is trained on the other parts, for the epochs of
    [training] or its own, and tags this part. What is trained on the output, such as a parser, sees
    tags as good as those that it will meet. Docs keep their order and all other annotation; the
    result does not depend on the number of threads. Settings are changed as with `spacy train`.
    """
    with user_errors():
        overrides = parse_overrides(context)
        accuracy = jackknife(
            config, corpus, output, n_folds=folds, n_threads=threads, overrides=overrides
        )
        typer.echo(f"{output}: {100 * accuracy:.2f}% of the tags are those of the corpus")


def jackknife(
    config: Path,
    corpus: Path,
    output: Path,
    *,
    n_folds: int = 10,
    n_threads: int = 1,
    overrides: dict[str, Any] | None = None,
) -> float:
    """Write a corpus with automatic tags; returns the share of them that are those of the corpus.

    Folds are runs of Docs (`corpora.splits.fold_bounds`). The output is written in one step. Shows
    a progress bar on standard error, if that is a terminal. Raises ValueError if there are fewer
    Docs than folds or no tagger of ours in the config, and for faulty corpora.
    """
    from concurrent.futures import ThreadPoolExecutor

    from spacy.tokens import DocBin
    from tqdm import tqdm

    from spacy_structreg.cli.training import load_training
    from spacy_structreg.corpora.files import replace_bytes
    from spacy_structreg.corpora.splits import fold_bounds
    from spacy_structreg.pipeline.shim import estimator_model
    from spacy_structreg.pipeline.tagger import StructregTagger

    if output.suffix != ".spacy":
        raise ValueError(f"{output}: name an output that ends in .spacy")
    check_file(output, config, corpus)
    training = load_training(config, overrides)
    tagger = training.pipe
    if not isinstance(tagger, StructregTagger):
        raise ValueError(
            f"{config}: there is no structreg_tagger to train; make a config with "
            "'python -m spacy structreg init-config --task tag'"
        )
    training.apply_settings()
    examples = training.examples(corpus)
    bounds = fold_bounds(len(examples), n_folds)
    gold = [tagger.gold(example)[0] for example in examples]

    def tagger_of(estimator: Any) -> StructregTagger:
        """A tagger like that of the config, which tags words that have tags anew."""
        model = estimator_model("jackknife", estimator)
        return StructregTagger(
            training.nlp.vocab, model, attribute=tagger.attribute, overwrite=True
        )

    def labels_of(bound: tuple[int, int]) -> list[list[str]]:
        """The labels of each Doc of a fold, by a tagger that was trained on the others."""
        begin, end = bound
        rest = list(chain.from_iterable(gold[:begin] + gold[end:]))
        estimator = tagger.estimator.untrained().fit(rest)
        return tagger_of(estimator).predict([each.predicted for each in examples[begin:end]])

    writer = tagger_of(tagger.estimator)
    written = DocBin(attrs=ATTRIBUTES, store_user_data=True)
    n_right = n_words = 0
    progress: Any = {"desc": "jackknife", "unit": " folds", "total": n_folds, "disable": None}
    with ThreadPoolExecutor(n_threads) as threads:
        folds = list(tqdm(threads.map(labels_of, bounds), **progress))
    for example, labels in zip(examples, chain.from_iterable(folds), strict=True):
        doc = example.reference.copy()
        known = [writer._label(token) for token in doc]
        writer.set_annotations([doc], [labels])
        for token, label in zip(doc, known, strict=True):
            if label and not token.is_space:
                n_words += 1
                n_right += writer._label(token) == label
        written.add(doc)
    with replace_bytes(output) as stream:
        stream.write(written.to_bytes())
    return n_right / n_words if n_words else 0.0
