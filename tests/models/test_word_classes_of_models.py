"""Models that know classes of words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from test_scripts_of_models import chain, labeled, of_tagged, of_words, outcome, phrase, tagged

from spacy_structreg.corpora.corpus_errors import CorpusError
from spacy_structreg.models.constituents import ConstituencyParser
from spacy_structreg.models.dependencies import DependencyParser
from spacy_structreg.models.labeling.labelers import SequenceLabeler
from spacy_structreg.models.tagging import Tagger

MODELS: list[tuple[Any, Any, Any, dict[str, Any]]] = [
    (Tagger, tagged, of_words, {}),
    (DependencyParser, chain, of_tagged, {}),
    (DependencyParser, chain, of_tagged, {"system": "arc_standard"}),
    (ConstituencyParser, phrase, of_tagged, {}),
    (SequenceLabeler, labeled, of_words, {}),
]
SENTENCES = [["狗", "看", "猫"], ["猫", "看", "语言"], ["我", "看", "狗"]]
BROWN = "00100\t狗\t5\n00101\t猫\t4\n1100000\t看\t9\n111\t听\t2\n"
PLAIN = "狗\tanimal\n猫\tanimal\n看\tverb\n"


@pytest.fixture(params=[BROWN, PLAIN])
def classes(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    path = tmp_path / "classes.txt"
    path.write_text(request.param, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(("estimator", "gold", "predict", "settings"), MODELS)
def test_classes_are_read_in_training_and_stored(
    estimator: Any, gold: Any, predict: Any, settings: Any, *, classes: str, tmp_path: Path
) -> None:
    corpus = list(map(gold, SENTENCES))
    model = estimator(epochs=3, word_classes=classes, **settings).fit(corpus)
    plain = estimator(epochs=3, **settings).fit(corpus)
    assert any("class" in template for template in model.settings.templates)
    Path(classes).unlink()
    expected = outcome(model, predict, SENTENCES[0])
    model.save(tmp_path / "model.srt")
    loaded = estimator.load(tmp_path / "model.srt")
    assert outcome(loaded, predict, SENTENCES[0]) == expected
    assert loaded.to_bytes() == model.to_bytes()
    loaded.partial_fit(corpus)
    with pytest.raises(ValueError, match="differ in templates"):
        estimator.average([model, plain])
    with pytest.raises(FileNotFoundError):
        estimator(epochs=1, word_classes=classes, **settings).fit(corpus)
    header, arrays = model.contents()
    without = {name: array for name, array in arrays.items() if name != "word_classes.keys"}
    spec = {name: value for name, value in header["spec"].items() if name != "word_classes"}
    for changed, others in ((header, without), ({**header, "spec": spec}, arrays)):
        with pytest.raises(ValueError, match="model cannot be used"):
            estimator.from_contents("file", changed, others)


def test_a_word_is_known_by_its_class(tmp_path: Path) -> None:
    """Words that training has never seen get the tag of their class."""
    path = tmp_path / "classes.txt"
    names = [chr(0x4E00 + i) for i in range(60)]
    verbs = [chr(0x6000 + i) for i in range(60)]
    rows = [f"{word}\tn\n" for word in names] + [f"{word}\tv\n" for word in verbs]
    path.write_text("".join(rows), encoding="utf-8")
    train = [[(names[i], "N"), (verbs[i], "V")] for i in range(40)]
    train += [[(verbs[i], "V"), (names[i], "N")] for i in range(40)]
    test = [[names[i], verbs[i], verbs[i - 1], names[i - 1]] for i in range(45, 60)]
    knowing = Tagger(epochs=5, word_classes=str(path)).fit(train)
    assert knowing.predict_batch(test) == [["N", "V", "V", "N"]] * 15
    labeler = SequenceLabeler(epochs=5, word_classes=str(path), templates=["edge:"], scheme=None)
    assert labeler.fit(train).predict_batch(test) == [["N", "V", "V", "N"]] * 15
    assert "class(w0)=n" in labeler.features([names[0]])[0]
    assert "class(w0)=" in labeler.features(["X"])[0]


def test_user_templates_may_read_classes(classes: str) -> None:
    corpus = list(map(tagged, SENTENCES))
    templates = ["tag: w0 class(w-2)", "tag: w0"]
    Tagger(epochs=1, templates=templates, word_classes=classes).fit(corpus)
    with pytest.raises(ValueError, match="word_classes"):
        Tagger(templates=templates)
    with pytest.raises(ValueError, match="does not have"):
        SequenceLabeler(templates=["label: class(w0)"])


def test_a_column_may_be_called_class_where_there_are_no_classes(classes: str) -> None:
    SequenceLabeler(templates=["label: class(w0)"], columns=["w", "class"], epochs=1).fit(
        [[("狗", "a", "O"), ("看", "b", "B-X")]]
    )
    with pytest.raises(ValueError, match="is taken"):
        SequenceLabeler(columns=["w", "class"], word_classes=classes)


def test_faulty_files_are_named(tmp_path: Path) -> None:
    path = tmp_path / "classes.txt"
    path.write_text("狗 animal\n", encoding="utf-8")
    with pytest.raises(CorpusError, match=r"classes.txt:1: 1 cells"):
        Tagger(word_classes=str(path)).fit(list(map(tagged, SENTENCES)))
