"""Classes of words from segmented text: vectors of words, clusters of them, and a tree of these.

The vectors are gensim's by word2vec (Mikolov et al. 2013), or those that singular values give of
how often words stand beside others (Levy, Goldberg & Dagan 2015), which can be counted in parts of
the text and added up. The clusters scikit-learn's mini-batch k-means
(Sculley 2010). The centers of the clusters are joined two by two, the closest first (Ward 1963), so
that a class has a path of bits from the root, as in Brown clustering, whose beginnings are coarser
classes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from itertools import islice
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.tasks.knowledge.word_classes import MAX_CLASSES

CONTEXTS: Final = 1000
"""So many of the most frequent words are contexts."""

SMOOTHING: Final = 0.75
"""The power of the counts of contexts, by which rare ones weigh less (section 3.2)."""

_SENTENCES: Final = 10_000
# A word that is not counted.
_OTHER: Final = -1


def cluster_words(
    sentences: Iterable[Sequence[str]],
    n_classes: int = 500,
    *,
    dimensions: int = 100,
    window: int = 3,
    min_count: int = 5,
    epochs: int = 5,
    seed: int = 0,
) -> list[tuple[str, str, int]]:
    """Classes of the words of a text: (path of bits, word, count) each, by path and count.

    sentences: lists of words; gone through several times.
    dimensions, window, epochs: of word2vec, with skip-grams. min_count: rarer words get no class.
    seed: of all that is drawn; a seed gives one result.
    Raises ValueError for too few words, or classes beyond `MAX_CLASSES`; ImportError if gensim,
    scikit-learn or SciPy is missing.
    """
    check_packages("gensim.models")
    from gensim.models import Word2Vec

    # One thread: more would draw in another order each time.
    model = Word2Vec(
        vector_size=dimensions,
        window=window,
        min_count=min_count,
        sg=1,
        epochs=epochs,
        seed=seed,
        workers=1,
    )
    model.build_vocab(sentences)
    words: list[str] = model.wv.index_to_key
    _check(words, n_classes)
    model.train(sentences, total_examples=model.corpus_count, epochs=epochs)
    counts = [int(model.wv.get_vecattr(word, "count")) for word in words]
    return cluster_vectors(words, model.wv.vectors, n_classes, counts=counts, seed=seed)


def cluster_counted_words(
    sentences: Iterable[Sequence[str]],
    n_classes: int = 500,
    *,
    dimensions: int = 100,
    window: int = 1,
    min_count: int = 5,
    n_contexts: int = CONTEXTS,
    seed: int = 0,
) -> list[tuple[str, str, int]]:
    """Classes of the words of a text, by how often they stand beside others: as `cluster_words`.

    sentences: lists of words; gone through twice. The counts of parts of a text can be added up, as
        `cluster.word_shards` does with the same result.
    window: words on each side, of which each place is a context of its own. n_contexts: so many of
        the most frequent words are contexts.
    Raises as `cluster_words`; it needs no gensim.
    """
    check_packages()
    counts = count_words(sentences)
    words = frequent_words(counts, min_count)
    _check(words, n_classes)
    contexts = count_contexts(sentences, words, window, n_contexts)
    return cluster_contexts(counts, words, contexts, n_classes, dimensions=dimensions, seed=seed)


def cluster_contexts(
    counts: Mapping[str, int],
    words: Sequence[str],
    contexts: Any,
    n_classes: int,
    *,
    dimensions: int,
    seed: int,
) -> list[tuple[str, str, int]]:
    """Classes of words that were counted. words, contexts: of `count_contexts`; else as above."""
    _check(words, n_classes)
    vectors = context_vectors(contexts, dimensions, seed)
    of_words = [counts[word] for word in words]
    return cluster_vectors(words, vectors, n_classes, counts=of_words, seed=seed)


def count_words(sentences: Iterable[Sequence[str]]) -> Counter[str]:
    """The frequency of each word. Counts of parts of a text are added up to those of the text."""
    counts: Counter[str] = Counter()
    for sentence in sentences:
        counts.update(sentence)
    return counts


def frequent_words(counts: Mapping[str, int], min_count: int) -> list[str]:
    """The words that occur so often, the most frequent first, then by their characters."""
    kept = [word for word, count in counts.items() if count >= min_count]
    return sorted(kept, key=lambda word: (-counts[word], word))


def count_contexts(
    sentences: Iterable[Sequence[str]], words: Sequence[str], window: int, n_contexts: int
) -> Any:
    """The counts of words beside frequent ones: SciPy's sparse rows, int64.

    words: `frequent_words`, of which the first `n_contexts` are contexts. window: words on each
        side. Shape (n_words, 2 * window * n_contexts): a column for each place beside a word, the
        one before it first, then the one behind it, and for each context.
    Counts of parts of a text, cut between sentences, are added up to those of the text.
    """
    from scipy.sparse import csr_array

    n_contexts = min(n_contexts, len(words))
    numbers = {word: number for number, word in enumerate(words)}
    shape = (len(words), 2 * window * n_contexts)
    total = csr_array(shape, dtype=np.int64)
    every = iter(sentences)
    while portion := list(islice(every, _SENTENCES)):
        # Sentences have so much between them that no window reaches over.
        found: list[int] = []
        for sentence in portion:
            found += [numbers.get(word, _OTHER) for word in sentence]
            found += [_OTHER] * window
        places = np.array(found, np.int64)
        rows: list[NDArray[np.int64]] = []
        columns: list[NDArray[np.int64]] = []
        for distance in range(1, window + 1):
            first, second = places[:-distance], places[distance:]
            for side, (word, context) in enumerate(((second, first), (first, second))):
                known = (word != _OTHER) & (context != _OTHER) & (context < n_contexts)
                rows.append(word[known])
                columns.append(context[known] + (2 * (distance - 1) + side) * n_contexts)
        pairs = (np.concatenate(rows), np.concatenate(columns))
        total += csr_array((np.ones(len(pairs[0]), np.int64), pairs), shape=shape)
    total.sum_duplicates()
    return total


def context_vectors(contexts: Any, dimensions: int, seed: int = 0) -> NDArray[np.float64]:
    """Vectors of words from `count_contexts`: floats of shape (n_words, dimensions), or fewer.

    Positive pointwise mutual information, of which the largest singular values are taken, and their
    square roots as weights (section 3.3).
    """
    from scipy.sparse import csr_array
    from sklearn.utils.extmath import randomized_svd

    counted = contexts.tocoo()
    of_word = contexts.sum(axis=1).astype(np.float64)
    of_context = contexts.sum(axis=0).astype(np.float64) ** SMOOTHING
    row, column = counted.coords
    information = np.log(counted.data * of_context.sum() / (of_word[row] * of_context[column]))
    kept = information > 0
    matrix = csr_array((information[kept], (row[kept], column[kept])), shape=contexts.shape)
    n = min(dimensions, min(contexts.shape) - 1)
    left, values, _ = randomized_svd(matrix, n, random_state=seed)
    vectors: NDArray[np.float64] = left * np.sqrt(values)
    return vectors


def cluster_vectors(
    words: Sequence[str],
    vectors: NDArray[Any],
    n_classes: int = 500,
    *,
    counts: Sequence[int] | None = None,
    seed: int = 0,
) -> list[tuple[str, str, int]]:
    """Classes of words by their vectors: as `cluster_words`.

    vectors: floats of shape (n_words, n_dimensions), of which only the directions count.
    counts: of the words; 0 without. Raises as `cluster_words`.
    """
    check_packages()
    from scipy.cluster.hierarchy import linkage
    from sklearn.cluster import MiniBatchKMeans

    _check(words, n_classes)
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(norms).all():
        raise ValueError("a vector of a word is not finite")
    directions = vectors / np.where(norms > 0, norms, 1.0)
    found = MiniBatchKMeans(n_classes, random_state=seed, batch_size=4096, n_init=3)
    labels = found.fit_predict(directions)
    used = np.unique(labels)
    centers = np.asarray(found.cluster_centers_, dtype=np.float64)[used]
    tree = linkage(centers, "ward") if len(used) > 1 else np.zeros((0, 4))
    path = dict(zip(used.tolist(), _paths(tree, len(used)), strict=True))
    rows = zip(words, counts or [0] * len(words), labels.tolist(), strict=True)
    classes = [(path[label], word, count) for word, count, label in rows]
    return sorted(classes, key=lambda row: (row[0], -row[2], row[1]))


def check_packages(*names: str) -> None:
    """Raise ImportError if a package is missing. All at once: counting and training are long."""
    for name in ("scipy.cluster.hierarchy", "sklearn.cluster", *names):
        try:
            import_module(name)
        except ImportError as error:
            raise ImportError(
                "word classes need scikit-learn, SciPy and, by word2vec, gensim, which are not all "
                f'installed ({error}); install "spacy_structreg[classes]"'
            ) from error


def _check(words: Sequence[str], n_classes: int) -> None:
    if not 2 <= n_classes <= MAX_CLASSES:
        raise ValueError(f"there cannot be {n_classes:,} classes; choose 2 to {MAX_CLASSES:,}")
    if len(words) < n_classes:
        raise ValueError(
            f"{len(words):,} words are frequent enough, too few for {n_classes:,} classes; give "
            "more text, or ask for fewer classes"
        )


def _paths(tree: NDArray[np.float64], n: int) -> list[str]:
    """The path of each of n leaves of a tree of merges, as `scipy.cluster.hierarchy` has it."""
    paths = [""] * (2 * n - 1)
    for merge in range(len(tree) - 1, -1, -1):
        for bit, child in zip("01", tree[merge, :2].astype(int).tolist(), strict=True):
            paths[child] = paths[n + merge] + bit
    # A single leaf has a path, too.
    return ["0"] if n == 1 else paths[:n]
