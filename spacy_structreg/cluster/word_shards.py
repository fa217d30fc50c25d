"""Classes of words over shards of segmented text: what can be counted is counted by workers.

Word2vec goes through a text step by step, so that no part of it can be done elsewhere. How often
words occur, and stand beside others, adds up over shards: the classes are those of
`word_clustering.cluster_counted_words` on the whole text, whatever the units and the workers are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial, reduce
from operator import add
from typing import TYPE_CHECKING, Any, Final

from spacy_structreg.cluster.records import Unit, read_records, refuse
from spacy_structreg.cluster.shard_results import results_of, tried
from spacy_structreg.models.word_clustering import (
    CONTEXTS,
    check_packages,
    cluster_contexts,
    count_contexts,
    count_words,
    frequent_words,
)

if TYPE_CHECKING:
    from distributed import Client, Future

# So many results are added up by a task.
_SUMMANDS: Final = 8


def sentences_of(unit: Unit, text_column: str) -> Iterator[list[str]]:
    """Yield the words of each line of the texts of a unit.

    Raises ValueError for a record that cannot be read.
    """
    for record in read_records(unit, text_column=text_column, on_bad=refuse):
        for line in record.text.split("\n"):
            if words := line.split():
                yield words


def words_of_unit(unit: Unit, text_column: str) -> Counter[str]:
    """The frequency of each word of a unit."""
    return count_words(sentences_of(unit, text_column))


def contexts_of_unit(
    unit: Unit, words: Sequence[str], text_column: str, window: int, n_contexts: int
) -> Any:
    """The counts of words beside others in a unit, as `count_contexts`."""
    return count_contexts(sentences_of(unit, text_column), words, window, n_contexts)


def total(summands: Sequence[Any]) -> Any:
    """The sum of some counts. Raises the first error among them, as of `tried`."""
    for each in summands:
        if isinstance(each, Exception):
            raise each
    return reduce(add, summands)


def cluster_words_of_units(
    client: Client,
    units: Sequence[Unit],
    n_classes: int = 500,
    *,
    text_column: str = "text",
    dimensions: int = 100,
    window: int = 1,
    min_count: int = 5,
    n_contexts: int = CONTEXTS,
    seed: int = 0,
) -> list[tuple[str, str, int]]:
    """Classes of the words of all units: as `word_clustering.cluster_counted_words` of their lines.

    The vocabulary has to fit into the memory of each worker, and the counts of contexts into that
    of one and of this process. Raises as that, and ValueError for records that cannot be read.
    """
    check_packages()
    counts = summed(
        client,
        client.map(partial(tried, words_of_unit), units, text_column=text_column, pure=False),
    )
    words = frequent_words(counts, min_count)
    # A task, not data that is sent: what a task gives is made anew if its worker dies.
    known = client.submit(list, words, pure=False)
    settings: dict[str, Any] = {
        "words": known,
        "text_column": text_column,
        "window": window,
        "n_contexts": n_contexts,
    }
    contexts = summed(
        client, client.map(partial(tried, contexts_of_unit), units, pure=False, **settings)
    )
    return cluster_contexts(counts, words, contexts, n_classes, dimensions=dimensions, seed=seed)


def summed(client: Client, futures: list[Future[Any]]) -> Any:
    """The sum of the results of tasks, of which each sums up a few."""
    while len(futures) > 1:
        parts = [futures[i : i + _SUMMANDS] for i in range(0, len(futures), _SUMMANDS)]
        futures = client.map(partial(tried, total), parts, pure=False)
    (result,) = results_of(client, futures)
    return result
