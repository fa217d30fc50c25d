"""`structreg compress`: a pipeline made small and fast, for prediction only."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from spacy.cli._util import Arg, Opt

from spacy_structreg.cli.evaluate import GivenName, read_gold
from spacy_structreg.cli.options import ANY_CORPUS, CorpusArgument, PipelineArgument, load_pipeline
from spacy_structreg.cli.outputs import ForceOption, check_folder, replace_folder

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

    from spacy_structreg.learn.freezing import Bits
    from spacy_structreg.pipeline.task import ScoreSettings

# Shares of the weights, the smallest ones, that are left out on trial; the most comes first.
SHARES: Final = (0.9, 0.85, 0.8, 0.75, 0.7, 0.6, 0.4, 0.2)


@dataclass(frozen=True)
class Measured:
    """Sizes, figures and speed of a pipeline.

    sizes: bytes of each model. figures: fractions of 1; none without a corpus. rate: characters of
    the corpus that were annotated in a second of processor time.
    """

    sizes: dict[str, int]
    figures: dict[str, float | None]
    rate: float | None


@dataclass(frozen=True)
class Gold:
    """A corpus to measure by, what of it pipelines are given, and which figures may not fall.

    name: of the file. places: of the models that these figures are of.
    """

    name: str
    docs: list[Doc]
    settings: ScoreSettings
    figures: frozenset[str]
    places: frozenset[str]


def compress(
    pipeline: PipelineArgument,
    output: Annotated[Path, Arg(metavar="OUTPUT", help="Folder to write")],
    *,
    corpus: Annotated[
        Path | None,
        Opt("--corpus", "-c", help="Gold corpus, of development, to measure the loss on"),
    ] = None,
    given: Annotated[
        GivenName, Opt("--gold", help="What of the corpus the pipeline is given; as of evaluate")
    ] = GivenName.text,
    bits: Annotated[
        int | None,
        Opt(
            "--bits",
            "-b",
            metavar="[8|16|32]",
            help="Bits of a weight; 32 leaves them as they are. By default 8, or, if the corpus "
            "shows that these are too few, 16",
        ),
    ] = None,
    prune: Annotated[
        float | None,
        Opt(
            "--prune",
            "-p",
            help="Leave out weights of this absolute value or less. By default, with a corpus, as "
            "many as it can do without; without one, none",
        ),
    ] = None,
    max_loss: Annotated[
        float,
        Opt(
            "--max-loss",
            help="Most percentage points that a figure may lose on the corpus, of those that "
            "evaluate --compare compares; if one would lose more, nothing is written",
        ),
    ] = 0.2,
    options: CorpusArgument = ANY_CORPUS,
    force: ForceOption = False,
) -> tuple[Measured, Measured]:
    """Make a pipeline small and fast, for prediction only.

    Models of spacy_structreg are frozen: weights that hardly count are left out, the others get
    few bits, and lie so that they are found at once. They cannot be trained further, corrected or
    averaged; keep the pipeline that they are made of. Everything else is copied.

    Returns what it was before, and what it is. The output appears whole or not at all. Shares of
    the weights (`SHARES`) that are left out are tried for one model after the other, the largest
    first; of models whose loss is not measured nothing is left out.
    Raises ValueError if a figure loses more than `max_loss` whatever is tried, if the output exists
    (unless `force`, and it is a pipeline or empty), the pipeline has no model to freeze, and as
    `evaluate`.
    """
    from spacy_structreg.corpora.any_format import find_format
    from spacy_structreg.learn.freezing import check_freezing
    from spacy_structreg.pipeline.evaluation import choose_tasks, evaluate_docs
    from spacy_structreg.pipeline.task import Given, ScoreSettings

    check_freezing(bits or 8, prune or 0.0)
    if not max_loss >= 0:
        raise ValueError(f"a loss of at most {max_loss} cannot be; give a number from 0")
    check_folder(output, pipeline, corpus, force=force)
    nlp = load_pipeline(pipeline)
    models = models_to_freeze(nlp)
    gold = None
    if corpus is not None:
        options = replace(options, format=find_format(corpus, options).name)
        parts = Given(given is not GivenName.text, given is GivenName.words_and_tags)
        docs, settings = read_gold(nlp, corpus, options), ScoreSettings(parts)
        compared = evaluate_docs(nlp, docs, settings).main
        scored = choose_tasks(nlp, docs, settings.given)
        places = frozenset(place for _, names in scored for place in names)
        gold = Gold(corpus.name, docs, settings, compared, places)
    before = measured(nlp, gold)

    def loss_by(n_bits: Any, limits: Mapping[str, float]) -> tuple[float, str]:
        put_frozen(nlp, models, n_bits, limits)
        after = measured(nlp, gold)
        return largest_loss(before, after, frozenset() if gold is None else gold.figures)

    limits = dict.fromkeys(models, prune or 0.0)
    for n_bits in (8, 16) if gold is not None and bits is None else (bits or 8,):
        loss, worst = loss_by(n_bits, limits)
        if 100 * loss <= max_loss:
            break
    else:
        raise ValueError(
            f"{worst} would lose {100 * loss:.2f} points, more than {max_loss}; raise --bits, "
            "lower --prune, or allow more by --max-loss"
        )
    if gold is not None and prune is None:
        # One model after the other: what one can do without, another may need.
        for place in sorted(gold.places & set(models), key=lambda each: -before.sizes[each]):
            for share in SHARES:
                tried = {**limits, place: weight_of_share(models[place], share)}
                if 100 * loss_by(n_bits, tried)[0] <= max_loss:
                    limits = tried
                    break
    put_frozen(nlp, models, n_bits, limits)
    replace_folder(output, nlp.to_disk, force=force)
    after = measured(nlp, gold)
    print_comparison(before, after)
    if gold is not None:
        typer.echo(measured_on(gold))
    typer.echo(f"Saved the compressed pipeline to {output}")
    return before, after


def models_to_freeze(nlp: Language) -> dict[str, Any]:
    """The models of ours in a pipeline, by the names of their places.

    Raises ValueError, naming the place, if there is none, or one cannot be frozen.
    """
    from spacy_structreg.pipeline.task import parts_of

    models = {place: part.estimator for place, part in parts_of(nlp)}
    if not models:
        raise ValueError("the pipeline has no model of spacy_structreg to freeze")
    for place, model in models.items():
        if not model.is_trained:
            raise ValueError(f"the {place} of the pipeline has not been trained")
        if model.is_frozen:
            raise ValueError(f"the {place} of the pipeline is frozen; use the one it was made of")
    return models


def put_frozen(
    nlp: Language, models: Mapping[str, Any], bits: Bits, prune: Mapping[str, float]
) -> None:
    """Put frozen models into a pipeline in the places of others.

    models: not frozen, by place. prune: of each place (`StoredModel.freeze`). If one of them cannot
    be frozen, ValueError is raised and nothing is changed. Pipes that train a tokenizer are removed
    with that.
    """
    from spacy_structreg.pipeline.task import TOKENIZER, parts_of
    from spacy_structreg.pipeline.tokenizer_trainer import TokenizerTrainer

    frozen = {}
    for place, model in models.items():
        try:
            frozen[place] = model.freeze(bits=bits, prune=prune[place])
        except ValueError as error:
            raise ValueError(f"{place}: {error}") from error
    for place, part in parts_of(nlp):
        if place in frozen:
            part.estimator = frozen[place]
    if TOKENIZER in frozen:
        for name, pipe in nlp.components:
            if isinstance(pipe, TokenizerTrainer):
                nlp.remove_pipe(name)


def weight_of_share(model: Any, share: float) -> float:
    """The absolute weight up to which lies a share, from 0 to 1, of all weights that are not 0."""
    import numpy as np

    _, arrays = model.contents()
    weights = [
        np.abs(array[array != 0]).ravel()
        for name, array in arrays.items()
        if f".{name}".endswith(".values") and array.dtype == np.float32
    ]
    if not share or not sum(map(len, weights)):
        return 0.0
    return float(np.quantile(np.concatenate(weights), share))


def measured(nlp: Language, gold: Gold | None) -> Measured:
    """Measure a pipeline, on a corpus if there is one."""
    from spacy_structreg.pipeline.evaluation import evaluate_docs
    from spacy_structreg.pipeline.task import parts_of

    sizes = {place: len(part.estimator.to_bytes()) for place, part in parts_of(nlp)}
    if gold is None:
        return Measured(sizes, {}, None)
    found = evaluate_docs(nlp, gold.docs, gold.settings)
    return Measured(sizes, found.figures, found.characters / max(found.seconds, 1e-9))


def largest_loss(before: Measured, after: Measured, names: AbstractSet[str]) -> tuple[float, str]:
    """The most that one of some figures has lost, as a fraction of 1, and its name."""
    losses = [
        (figure - (after.figures[key] or 0.0), key)
        for key, figure in before.figures.items()
        if figure is not None and key in names
    ]
    return max(losses, default=(0.0, ""))


def measured_on(gold: Gold) -> str:
    """The corpus that figures and speed are of, and the way that its text went."""
    from spacy_structreg.pipeline.task import TOKENIZER

    if gold.settings.given.words:
        tags = " and tags" if gold.settings.given.tags else ""
        way = f"Docs of its words{tags} by nlp.pipe"
    elif gold.places == {TOKENIZER}:
        way = "raw text to Docs by nlp.tokenizer.pipe"
    else:
        way = "raw text to Docs by nlp.tokenizer.pipe and nlp.pipe"
    return (
        f"Figures in percent and speed are of {gold.name}, {len(gold.docs):,} texts: {way}, in one "
        "thread, without scoring"
    )


def print_comparison(before: Measured, after: Measured) -> None:
    """Print sizes, speed and figures before and after."""
    from wasabi import msg

    sizes = {
        **{f"{place} (MB)": (before.sizes[place], after.sizes[place]) for place in before.sizes},
        "models (MB)": (sum(before.sizes.values()), sum(after.sizes.values())),
    }
    rows = [(key, *(f"{size / 1e6:.2f}" for size in pair)) for key, pair in sizes.items()]
    if before.rate is not None and after.rate is not None:
        rows.append(("characters/CPU s", f"{before.rate:,.0f}", f"{after.rate:,.0f}"))
    for key, figure in before.figures.items():
        pair = (figure, after.figures[key])
        rows.append((key, *("-" if each is None else f"{100 * each:.2f}" for each in pair)))
    msg.table(rows, header=("", "before", "after"), aligns=("l", "r", "r"))
