"""spaCy's own components on its default convolutional network, `HashEmbedCNN` of width 96."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.common.systems import Effort, Setting, Training, cpu_seconds
from spacy_structreg.corpora.dependencies import ROOT
from spacy_structreg.corpora.formats.conllu import dependency_sentences

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc
    from spacy.training import Example
    from spacy.vocab import Vocab

__all__ = ["doc_of", "efficient", "examples", "improve", "settings", "train"]

SEED = 0


def settings(effort: Effort) -> list[Setting]:
    """One training, ended by its own patience; "full" is what spaCy does by default.

    A step is a batch of 100 words at first, of 1,000 in the end.
    """
    steps = {
        "full": {"max_steps": 20_000, "patience": 1600, "eval_frequency": 200},
        "capped": {"max_steps": 3000, "patience": 1000, "eval_frequency": 200},
        "quick": {"max_steps": 20, "patience": 20, "eval_frequency": 10},
    }
    return [steps[effort]]


def doc_of(vocab: Vocab, words: Sequence[str]) -> Doc:
    """One sentence, and known to be one, without annotation."""
    from spacy.tokens import Doc

    starts: list[bool | int | None] = [index == 0 for index in range(len(words))]
    return Doc(vocab, words=list(words), sent_starts=starts)


def train(pipe: str, score: str, setting: Setting, files: Sequence[Path], model: Path) -> Training:
    """Train a component from CoNLL-U files by spaCy's loop and default [training] settings.

    pipe: "tagger" or "parser". score: the figure of `Language.evaluate` that chooses. files: of the
    training and the development corpus. The best evaluation is written to the folder `model`.
    """
    import spacy

    def made() -> Language:
        nlp = spacy.blank("xx")
        nlp.add_pipe(pipe)
        return nlp

    return improve(made, examples, score, setting, files=files, model=model)


def efficient(lang: str, *pipes: str) -> Language:
    """The pipeline of `spacy init config --optimize efficiency`: pipes that share one network."""
    from spacy.cli.init_config import init_config
    from spacy.util import load_model_from_config

    config = init_config(lang=lang, pipeline=list(pipes), optimize="efficiency", gpu=False)
    return load_model_from_config(config, auto_fill=True)


def improve(
    made: Callable[[], Language],
    read: Callable[[Language, Path], Iterator[Example]],
    score: str,
    setting: Setting,
    *,
    files: Sequence[Path],
    model: Path,
) -> Training:
    """As `train`, for any pipeline, and examples from any files."""
    from spacy.training.loop import train_while_improving
    from thinc.api import fix_random_seed

    began = cpu_seconds()
    fix_random_seed(SEED)
    nlp = made()
    gold, dev = (list(read(nlp, path)) for path in files)
    optimizer = nlp.initialize(lambda: gold)

    def evaluate() -> tuple[float, dict[str, Any]]:
        scores = nlp.evaluate(dev)
        return scores[score] or 0.0, scores

    steps = train_while_improving(
        nlp,
        optimizer,
        _batches(gold),
        evaluate,
        dropout=0.1,
        accumulate_gradient=1,
        exclude=[],
        annotating_components=[],
        before_update=None,
        max_steps=int(setting["max_steps"]),
        patience=int(setting["patience"]),
        eval_frequency=int(setting["eval_frequency"]),
    )
    kept_after, best, last = 0.0, 0, 0
    curve: list[tuple[float, float]] = []
    best_score = -1.0
    for _, info, is_best in steps:
        last = info["step"]
        if is_best is not None:
            curve.append((cpu_seconds() - began, info["score"]))
        # The loop also calls an evaluation best that is as good as the best.
        if is_best and info["score"] > best_score:
            best, best_score = last, info["score"]
            nlp.to_disk(model)
            kept_after = cpu_seconds() - began
    return Training(
        kept_after,
        cpu_seconds() - began - kept_after,
        f"step {best} of {last}, by its own dev {score}; time to step {best}",
        curve,
    )


def examples(nlp: Language, path: Path) -> Iterator[Example]:
    """Sentences of CoNLL-U with their tags and trees, of which the prediction has the words."""
    from spacy.tokens import Doc
    from spacy.training import Example

    for gold in dependency_sentences(path):
        known = None not in gold.heads and None not in gold.labels
        trees: dict[str, Any] = {}
        if known:
            trees = {
                "heads": [i if head == ROOT else head for i, head in enumerate(gold.heads)],
                "deps": list(gold.labels),
            }
        reference = Doc(nlp.vocab, words=list(gold.words), tags=list(gold.tags), **trees)
        yield Example(doc_of(nlp.vocab, gold.words), reference)


def _batches(gold: list[Example]) -> Iterator[tuple[int, list[Example]]]:
    """Epochs without end, shuffled, in batches of words that grow as they do by default."""
    from spacy.util import registry

    schedule = {"@schedules": "compounding.v1", "start": 100, "stop": 1000, "compound": 1.001}
    batcher = registry.resolve(
        {
            "batcher": {
                "@batchers": "spacy.batch_by_words.v1",
                "size": schedule,
                "discard_oversize": False,
                "tolerance": 0.2,
            }
        }
    )["batcher"]
    generator = random.Random(SEED)
    shuffled = list(gold)
    epoch = 0
    while True:
        generator.shuffle(shuffled)
        for batch in batcher(shuffled):
            yield epoch, list(batch)
        epoch += 1
