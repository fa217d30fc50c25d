"""Classes of words from segmented text: vectors by word2vec, clusters of them, and a tree of these.

The vectors are gensim's (Mikolov et al. 2013), the clusters scikit-learn's mini-batch k-means
(Sculley 2010). The centres of the clusters are joined two by two, the closest first (Ward 1963), so
that a class has a path of bits from the root, as in Brown clustering, whose beginnings are coarser
classes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.tasks.knowledge.word_classes import MAX_CLASSES


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
    word2vec, _, _ = _packages()
    # One thread: more would draw in another order each time.
    model = word2vec(
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
    _, k_means, linkage = _packages()
    _check(words, n_classes)
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(norms).all():
        raise ValueError("a vector of a word is not finite")
    directions = vectors / np.where(norms > 0, norms, 1.0)
    found = k_means(n_classes, random_state=seed, batch_size=4096, n_init=3)
    labels = found.fit_predict(directions)
    used = np.unique(labels)
    centers = np.asarray(found.cluster_centers_, dtype=np.float64)[used]
    tree = linkage(centers, "ward") if len(used) > 1 else np.zeros((0, 4))
    path = dict(zip(used.tolist(), _paths(tree, len(used)), strict=True))
    rows = zip(words, counts or [0] * len(words), labels.tolist(), strict=True)
    classes = [(path[label], word, count) for word, count, label in rows]
    return sorted(classes, key=lambda row: (row[0], -row[2], row[1]))


def _packages() -> tuple[Any, Any, Any]:
    """Word2Vec, MiniBatchKMeans and linkage. All at once: training is long."""
    try:
        from gensim.models import Word2Vec
        from scipy.cluster.hierarchy import linkage
        from sklearn.cluster import MiniBatchKMeans
    except ImportError as error:
        raise ImportError(
            "word classes need gensim, scikit-learn and SciPy, which are not all installed "
            f'({error}); install "spacy_structreg[classes]"'
        ) from error
    return Word2Vec, MiniBatchKMeans, linkage


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
