"""`structreg uncertain`: pick the decisions of a pipeline that are worth asking about."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import typer
from spacy.cli._util import Arg, Opt

from spacy_structreg.cli.options import PipelineArgument, load_pipeline
from spacy_structreg.cli.outputs import ForceOption, check_file, number_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from spacy_structreg.corpora.partial_sentence import PartialSentence

Sure: TypeAlias = "tuple[str, NDArray[np.float64]]"
"""A sentence without white space, and its margins, as `predict_margins` gives them."""

MOST = 1_000
# Of a text that is short.
DEFAULT_SHARE = 0.1

CONTEXT: Final = 2
"""Number of characters to either side that make two decisions the same question."""

SPARE: Final = 10_000


def uncertain(
    pipeline: PipelineArgument,
    text: Annotated[Path, Arg(metavar="TEXT", help="Raw text")],
    output: Annotated[Path, Arg(metavar="OUTPUT", help="File to write, such as questions.partial")],
    *,
    n: Annotated[
        int | None,
        Opt(
            "--n",
            "-n",
            min=1,
            help=f"Ask for so many decisions; by default {MOST:,}, of a short text a tenth",
        ),
    ] = None,
    share: Annotated[
        float | None,
        Opt("--share", help="Ask for this share of all decisions instead, such as 0.05"),
    ] = None,
    n_threads: Annotated[
        int, Opt("--threads", "-t", min=1, help="Threads that segment side by side")
    ] = 1,
    encoding: Annotated[
        str, Opt("--encoding", "-e", help="Encoding of the text; the output is in UTF-8")
    ] = "utf-8",
    force: ForceOption = False,
) -> tuple[int, int]:
    """Pick the decisions that a pipeline is least sure of, to be answered by hand.

    Decisions are whether a word ends between two characters; of those between the same two
    characters to either side, one is asked for. OUTPUT has the sentences, one a line, with a ? at
    each question: replace it by | if a word ends there, by - if none does. Unanswered questions,
    and spaces, mean that nothing is known. 'convert' makes a corpus to train on of the answers.

    Returns the numbers of questions and of their sentences. Memory grows with their number, and the
    text is read twice for a share. The output is written in one step. Raises ValueError if the
    output exists (unless `force`), for faulty settings and input, if nothing is in doubt, and for a
    pipeline whose tokenizer has no model of ours; OSError for files that cannot be read or written.
    """
    from spacy_structreg.corpora.files import read_lines
    from spacy_structreg.corpora.formats.partial import write_partial
    from spacy_structreg.models.raw_text import RawTextPredictor

    if share is not None and (n is not None or not 0 < share <= 1):
        raise ValueError("give --n, or --share above 0 and at most 1")
    check_file(output, pipeline, text, force=force)
    model = getattr(load_pipeline(pipeline).tokenizer, "estimator", None)
    if not isinstance(model, RawTextPredictor):
        raise ValueError(
            f"the tokenizer of the pipeline {pipeline} has no model that could be unsure; train "
            "one with 'init-config' and 'fit'"
        )

    def lines() -> Iterator[str]:
        for _, line in read_lines(text, encoding=encoding):
            yield line

    if n is None:
        lengths = (len("".join(line.split())) for line in lines())
        # A long text is not counted to its end for the number that is asked for by default.
        enough = math.inf if share is not None else MOST / DEFAULT_SHARE
        n_characters = 0
        for length in lengths:
            n_characters += length
            if n_characters >= enough:
                break
        n = max(1, round((share or DEFAULT_SHARE) * min(n_characters, enough)))
    found = least_certain(
        chain.from_iterable(model.predict_margins(lines(), n_threads=n_threads)), n
    )
    if not found:
        raise ValueError(f"{text}: there is no decision in the text that is in doubt")
    write_partial(output, found)
    n_asked = sum(len(places) for _, places in found)
    typer.echo(f"{output}: {number_of(n_asked, 'question')} in {number_of(len(found), 'sentence')}")
    return n_asked, len(found)


def least_certain(sentences: Iterable[Sure], n: int) -> list[tuple[PartialSentence, list[int]]]:
    """The sentences of the `n` decisions of the least margins, with the places of these.

    Of decisions between the same `CONTEXT` characters to either side, only the least certain one
    is asked for. Places where the margin is infinite are never. Sentences come in their order;
    nothing of them is known. Memory grows with `n`, not with the text. Raises ValueError if n < 1.
    """
    import numpy as np

    from spacy_structreg.corpora.partial_sentence import PartialSentence

    if n < 1:
        raise ValueError(f"{n} decisions cannot be asked for; 1 is the least")
    # By contexts: margin, number of the sentence, place; and the sentences.
    asked: dict[str, tuple[float, int, int]] = {}
    texts: dict[int, str] = {}
    for number, (text, margins) in enumerate(sentences):
        for place, margin in enumerate(np.abs(margins).tolist()):
            context = context_of(text, place)
            found = (margin, number, place)
            if margin < np.inf and (context not in asked or found < asked[context]):
                asked[context] = found
                texts[number] = text
        if len(asked) > 2 * n + SPARE:
            asked, texts = kept(asked, texts, n)
    asked, texts = kept(asked, texts, n)
    places: dict[int, list[int]] = {}
    for _, number, place in asked.values():
        places.setdefault(number, []).append(place)
    return [
        (
            PartialSentence(texts[number], (None,) * (len(texts[number]) - 1)),
            sorted(places[number]),
        )
        for number in sorted(places)
    ]


def context_of(text: str, place: int) -> str:
    """The characters around a decision."""
    # Beyond the ends of a sentence stands white space, which is in none.
    padded = " " * CONTEXT + text[max(0, place + 1 - CONTEXT) : place + 1]
    return padded[-CONTEXT:] + text[place + 1 : place + 1 + CONTEXT]


def kept(
    asked: dict[str, tuple[float, int, int]], texts: dict[int, str], n: int
) -> tuple[dict[str, tuple[float, int, int]], dict[int, str]]:
    """The `n` least margins, and the sentences that they are of.

    What is left out now is not among the least in the end, unless it comes again with less.
    """
    least = sorted(asked.items(), key=lambda item: item[1])[:n]
    return dict(least), {number: texts[number] for _, (_, number, _) in least}
