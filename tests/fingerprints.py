"""Print checksums of the weights and predictions of small models: equal ones mean equal figures.

    make fingerprints

One model of every estimator, and of its main variants, is trained on the general part of the
treebank with a fixed seed. Compare what is printed before and after a change that is to leave
results as they are. The same machine, compiler and flags are needed; numbers of threads are not.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, Final

from spacy_structreg.corpora.constituents import ConstituencySentence
from spacy_structreg.corpora.formats.brackets import constituency_sentences
from spacy_structreg.learn.learning_settings import Learning, LogLinear
from spacy_structreg.learn.model_file import parse_model
from spacy_structreg.models.classification import TextClassifier
from spacy_structreg.models.constituents import ConstituencyParser
from spacy_structreg.models.dependencies import DependencyParser
from spacy_structreg.models.guided import GuidedJointTagger, GuidedSegmenter
from spacy_structreg.models.joint.joint_reranker import JointReranker
from spacy_structreg.models.joint.joint_taggers import CharacterJointTagger, WordJointTagger
from spacy_structreg.models.labeling.crf import CRF
from spacy_structreg.models.labeling.labelers import FeatureLabeler, SequenceLabeler
from spacy_structreg.models.segmentation import CharacterSegmenter, WordSegmenter
from spacy_structreg.models.tagging import Tagger

TREEBANK: Final = Path(__file__).parents[1] / "treebank"
N_SENTENCES: Final = 120

Result = tuple[Any, Any]
REGULARIZED: Final = Learning("pa_i", l2=1e-4, dropout=0.1, hidden_dropout=0.1, mini_sample=5.5)


def checksum(*parts: bytes) -> str:
    """The beginning of the SHA-256 of all parts."""
    return hashlib.sha256(b"".join(parts)).hexdigest()[:16]


def weights_of(model: Any) -> str:
    """Checksum of the arrays of a model file but for counts of rows, whatever they are called."""
    _, arrays = parse_model(model.to_bytes())
    weights = [array for name, array in arrays.items() if not name.endswith("occurrences")]
    return checksum(*sorted(hashlib.sha256(bytes(array)).digest() for array in weights))


def as_plain(value: Any) -> Any:
    """A prediction as something that JSON can say; numbers to 12 digits."""
    if isinstance(value, (list, tuple)):
        return [as_plain(each) for each in value]
    if isinstance(value, dict):
        return {key: as_plain(each) for key, each in value.items()}
    if isinstance(value, float):
        return f"{value:.12g}"
    if hasattr(value, "tolist"):
        return as_plain(value.tolist())
    if is_dataclass(value):
        return [as_plain(getattr(value, each.name)) for each in fields(value)]
    return value


def models() -> Iterator[tuple[str, Callable[[], Result]]]:  # noqa: PLR0915 - a list
    """Yield the name of each model, and what trains it and predicts by it."""

    def sentences(part: str) -> list[ConstituencySentence]:
        path = TREEBANK / f"{part}/general.bracket"
        return list(constituency_sentences(path, "ctb"))[:N_SENTENCES]

    train, dev = sentences("train"), sentences("dev")
    texts = ["".join(sentence.words) for sentence in dev]
    pairs = [(sentence.words, sentence.tags) for sentence in dev]
    words = [list(sentence.words) for sentence in train]
    tagged = [list(zip(sentence.words, sentence.tags, strict=True)) for sentence in train]
    trees = [sentence.dependencies() for sentence in train]
    labeled = [
        [(word, tag, "B-NP" if tag == "NN" else "O") for word, tag in sentence]
        for sentence in tagged
    ]
    featured = [
        [({f"w={word}": 1.0, "length": len(word) / 4}, tag) for word, tag in sentence]
        for sentence in tagged
    ]
    kinds = [(list(s.words), "short" if len(s.words) < 12 else "long") for s in train]

    def of_texts(model: Any, gold: list[Any]) -> Result:
        model.fit(gold)
        find = getattr(model, "predict_tagged", model.predict)
        return model, [[find(text), model.nbest(text, 3)] for text in texts]

    def joined(model: Any, gold: list[Any]) -> Result:
        model.fit(gold)
        find = getattr(model, "predict_tagged", model.predict)
        return model, [find(text) for text in texts]

    def of_trees(model: Any, gold: list[Any]) -> Result:
        model.fit(gold)
        return model, [[model.predict(*pair), model.nbest(*pair, 3)] for pair in pairs]

    def tags(model: Tagger) -> Result:
        model.fit(tagged)
        found = [[model.predict(s.words), model.nbest(s.words, 3)] for s in dev]
        return model, found

    def labels(model: SequenceLabeler) -> Result:
        model.fit(labeled)
        rows = [list(zip(*pair, strict=True)) for pair in pairs]
        return model, [[model.predict(each), model.nbest(each, 3)] for each in rows]

    def features(model: FeatureLabeler) -> Result:
        model.fit(featured)
        return model, [model.predict([item for item, _ in each]) for each in featured[:20]]

    def classes(model: TextClassifier) -> Result:
        model.fit(kinds)
        return model, [[model.predict(s.words), model.predict_marginals(s.words)] for s in dev]

    def crf() -> Result:
        model = CRF(algorithm="l2sgd", max_iterations=3)
        model.fit(
            [[item for item, _ in each] for each in featured],
            [[label for _, label in each] for each in featured],
        )
        return None, model.predict([[item for item, _ in each] for each in featured[:20]])

    three: Any = {"epochs": 3, "seed": 7}
    short: Any = {"epochs": 2, "seed": 7}
    yield "CharacterSegmenter", lambda: of_texts(CharacterSegmenter(**three), words)
    yield (
        "CharacterSegmenter, regularized",
        lambda: of_texts(CharacterSegmenter(learning=REGULARIZED, **three), words),
    )
    yield (
        "CharacterSegmenter, log-linear",
        lambda: of_texts(CharacterSegmenter(learning=LogLinear(l2=0.1), **short), words),
    )
    yield (
        "CharacterSegmenter, average of three",
        lambda: of_texts(CharacterSegmenter(n_models=3, **short), words),
    )
    yield (
        "CharacterSegmenter, rich edge features",
        lambda: of_texts(CharacterSegmenter(templates="sun2014", **short), words),
    )
    yield "WordSegmenter", lambda: of_texts(WordSegmenter(**three), words)
    yield (
        "WordSegmenter, multiple beams",
        lambda: of_texts(WordSegmenter(by_words=True, beam=2, **short), words),
    )
    yield (
        "WordSegmenter, regularized",
        lambda: of_texts(
            WordSegmenter(learning=REGULARIZED, update="max_violation", **short), words
        ),
    )
    yield (
        "GuidedSegmenter",
        lambda: joined(
            GuidedSegmenter(CharacterSegmenter(**three), WordSegmenter(**three), weight=1.0), words
        ),
    )
    yield "CharacterJointTagger", lambda: of_texts(CharacterJointTagger(**three), tagged)
    yield "WordJointTagger", lambda: of_texts(WordJointTagger(**three), tagged)
    yield (
        "GuidedJointTagger",
        lambda: joined(
            GuidedJointTagger(CharacterJointTagger(**short), WordJointTagger(**short), weight=1.0),
            tagged,
        ),
    )
    yield (
        "JointReranker",
        lambda: joined(
            JointReranker(CharacterJointTagger(**short), WordJointTagger(**short), weight=1.0),
            tagged,
        ),
    )
    yield "Tagger", lambda: tags(Tagger(**three))
    yield (
        "Tagger, regularized",
        lambda: tags(Tagger(learning=REGULARIZED, templates="latin", **short)),
    )
    yield "DependencyParser", lambda: of_trees(DependencyParser(**three), trees)
    yield (
        "DependencyParser, arc-standard",
        lambda: of_trees(DependencyParser(system="arc_standard", beam=4, **short), trees),
    )
    yield (
        "DependencyParser, weights shared by both directions",
        lambda: of_trees(DependencyParser(templates="zhang_clark_2011", beam=4, **short), trees),
    )
    yield (
        "DependencyParser, greedy, features counted",
        lambda: of_trees(DependencyParser(beam=1, learning=Learning(min_count=2), **short), trees),
    )
    yield "ConstituencyParser", lambda: of_trees(ConstituencyParser(**short), train)
    yield (
        "SequenceLabeler",
        lambda: labels(
            SequenceLabeler(templates="chunking", columns=["word", "tag"], scheme="bio", **three)
        ),
    )
    yield (
        "SequenceLabeler, perceptron",
        lambda: labels(
            SequenceLabeler(templates="ner", columns=["word", "tag"], learning=REGULARIZED, **short)
        ),
    )
    yield "FeatureLabeler", lambda: features(FeatureLabeler(edges=["w"], **three))
    yield "TextClassifier", lambda: classes(TextClassifier(ngrams=2, characters=[1, 2], **three))
    yield "CRF", crf


def main() -> None:
    """Train each model, and print its name and the checksums of its weights and predictions."""
    for name, run in models():
        model, predictions = run()
        weights = "-" if model is None else weights_of(model)
        found = checksum(json.dumps(as_plain(predictions), ensure_ascii=False).encode())
        print(f"{weights:16}  {found}  {name}", flush=True)


if __name__ == "__main__":
    main()
