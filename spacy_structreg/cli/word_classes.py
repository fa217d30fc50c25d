"""`structreg word-classes`: segmented text in, classes of its words out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from spacy.cli._util import Arg, Opt

from spacy_structreg.cli.options import SchedulerOption, load_pipeline
from spacy_structreg.cli.outputs import ForceOption, check_file

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Method(str, Enum):
    """Ways to vectors of words."""

    word2vec = "word2vec"
    counts = "counts"


def word_classes(
    inputs: Annotated[
        list[str],
        Arg(metavar="FILE...", help="Segmented text, words parted by spaces, or .spacy files"),
    ],
    output: Annotated[Path, Arg(help="File to write, in the format of Brown clustering")],
    *,
    vectors: Annotated[
        bool,
        Opt(
            "--vectors",
            help="The input is one pipeline with word vectors, or a file of word2vec's text format",
        ),
    ] = False,
    method: Annotated[
        Method,
        Opt(
            "--method",
            "-m",
            help="word2vec, one pass after the other; or counts of the words beside a word, many "
            "times as fast, which can be made on all cores or a cluster",
        ),
    ] = Method.word2vec,
    n_classes: Annotated[int, Opt("--classes", "-n", min=2, help="How many classes")] = 500,
    dimensions: Annotated[int, Opt("--dimensions", min=2, help="Dimensions of vectors")] = 100,
    window: Annotated[
        int | None,
        Opt("--window", min=1, help="Words of context on both sides; 3, and 1 of counts"),
    ] = None,
    min_count: Annotated[int, Opt("--min-count", min=1, help="Rarer words get no class")] = 5,
    epochs: Annotated[int, Opt("--epochs", min=1, help="Passes of word2vec over the text")] = 5,
    seed: Annotated[int, Opt("--seed", min=0, max=2**32 - 1, help="Of all that is drawn")] = 0,
    scheduler: SchedulerOption = None,
    n_workers: Annotated[
        int | None,
        Opt("--workers", min=1, help="Count in so many processes of this machine"),
    ] = None,
    force: ForceOption = False,
) -> None:
    """Make classes of words for the setting word_classes, of text or of word vectors.

    Words that occur in like contexts are of one class: vectors by word2vec (gensim) or of counts,
    clustered by k-means (scikit-learn), and the clusters joined to a tree. 'structreg segment'
    segments text. With --workers or --scheduler, the text is in .txt, .jsonl (also .gz, .xz, .zst)
    or .parquet, and the classes are the same.

    Raises ValueError for faulty input, with file and line, and if the output exists (unless
    `force`); OSError for files that cannot be read or written; ImportError for packages that are
    missing.
    """
    from spacy_structreg.corpora.word_classes import write_word_classes
    from spacy_structreg.models import word_clustering

    check_file(output, *inputs, force=force)
    settings: dict[str, Any] = {"dimensions": dimensions, "min_count": min_count, "seed": seed}
    if window is not None:
        settings["window"] = window
    if vectors:
        if len(inputs) > 1:
            raise ValueError(f"word vectors are read from one place, and here are {len(inputs)}")
        rows = word_clustering.cluster_vectors(*read_vectors(inputs[0]), n_classes, seed=seed)
    elif n_workers is not None or scheduler is not None:
        if method is not Method.counts:
            raise ValueError(
                "word2vec goes through the text in one process; choose --method counts, or leave "
                "--workers and --scheduler out"
            )
        from spacy_structreg.cluster.engines import connect
        from spacy_structreg.cluster.extra_packages import need_packages

        need_packages("distributed", "pyarrow", "fsspec")
        from spacy_structreg.cluster.records import plan_units
        from spacy_structreg.cluster.word_shards import cluster_words_of_units

        units = plan_units(inputs)
        with connect(scheduler, n_workers=n_workers) as client:
            rows = cluster_words_of_units(client, units, n_classes, **settings)
    elif method is Method.counts:
        sentences = SegmentedFiles(inputs)
        rows = word_clustering.cluster_counted_words(sentences, n_classes, **settings)
    else:
        sentences = SegmentedFiles(inputs)
        rows = word_clustering.cluster_words(sentences, n_classes, epochs=epochs, **settings)
    write_word_classes(output, rows)


class SegmentedFiles:
    """The sentences of files, which are read anew at every pass."""

    def __init__(self, files: Sequence[str]) -> None:
        self._files = files

    def __iter__(self) -> Iterator[list[str]]:
        from spacy_structreg.corpora.files import read_lines

        for file in self._files:
            if file.endswith(".spacy"):
                yield from words_of_docs(file)
            else:
                for _, line in read_lines(file):
                    if words := line.split():
                        yield words


def words_of_docs(file: str) -> Iterator[list[str]]:
    """The words of each Doc of a file. Raises ValueError if it is no file of Docs."""
    import spacy
    from spacy.tokens import DocBin

    try:
        docs = DocBin().from_disk(file)
    except OSError:
        raise
    except Exception as error:
        raise ValueError(f"{file}: this is no file of Docs ({error})") from error
    for doc in docs.get_docs(spacy.blank("xx").vocab):
        # White space within a word would part it in the file of classes.
        yield [token.text for token in doc if len(token.text.split()) == 1]


def read_vectors(source: str) -> tuple[list[str], NDArray[Any]]:
    """The words and vectors of a pipeline, or of a file in word2vec's text format."""
    import numpy as np

    if Path(source).is_dir():
        vocab = load_pipeline(source).vocab
        strings = [vocab.strings[key] for key in vocab.vectors]
        words = [word for word in strings if word.split() == [word]]
        if not words:
            raise ValueError(f"{source}: the pipeline has no word vectors")
        return words, np.array([vocab.vectors[word] for word in words], dtype=np.float32)
    from spacy_structreg.corpora.corpus_errors import CorpusError, shown
    from spacy_structreg.corpora.files import read_lines

    words = []
    rows: list[NDArray[Any]] = []
    for number, line in read_lines(source):
        word, *values = line.rstrip(" ").split(" ")
        if number == 1 and len(values) == 1 and word.isdecimal():
            continue
        try:
            row = np.array(values, dtype=np.float32)
            if word.split() != [word] or not values or (rows and len(row) != len(rows[0])):
                raise ValueError
        except ValueError as error:
            raise CorpusError(
                source,
                number,
                f"{shown(line)} is not a word and as many numbers as on the line before; give "
                "word vectors in word2vec's text format",
            ) from error
        words.append(word)
        rows.append(row)
    if not rows:
        raise CorpusError(source, 1, "no word vector in the file")
    return words, np.stack(rows)
