"""The benchmark of labelers from its command line to its report, on sentences of made-up words."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from benchmarks.common.report import Candidate, Result
from benchmarks.common.run import main
from benchmarks.common.worker import Worker
from benchmarks.sequence_labeling.choices import Choices, Rows
from benchmarks.sequence_labeling.systems import CRFSUITE, CrfsuiteLbfgs, SpacyNer
from benchmarks.sequence_labeling.task import LABELING, Labeling, seconds_to
from spacy_structreg.corpora.formats.columns import write_columns
from spacy_structreg.learn.learning_settings import LogLinear
from spacy_structreg.models.labeling.labelers import SequenceLabeler

# Ships are one or two words, the second of which stands in no ship alone; ports are one.
SHIPS = [["Esmeralda"], ["Black", "Gull"], ["Old", "Heron"], ["Windward"]]
PORTS = [["Portree"], ["Oban"], ["Stornoway"]]
OTHERS = ["left", "reached", "at", "dawn", "the", "harbour", "of", "and", "lies"]


def made_up(n_sentences: int, seed: int) -> list[Rows]:
    generator = random.Random(seed)
    sentences = []
    for _ in range(n_sentences):
        rows: Rows = []
        for _ in range(generator.randint(2, 6)):
            label, words = generator.choice(
                [
                    ("SHIP", generator.choice(SHIPS)),
                    ("PORT", generator.choice(PORTS)),
                    ("", [generator.choice(OTHERS)]),
                ]
            )
            for i, word in enumerate(words):
                tag = "NNP" if label else "X"
                rows.append((word, tag, f"{'I' if i else 'B'}-{label}" if label else "O"))
        sentences.append(rows)
    return sentences


@pytest.fixture
def parts(tmp_path: Path) -> dict[str, Path]:
    folder = tmp_path / "harbour"
    folder.mkdir()
    paths = {}
    for seed, (part, size) in enumerate({"train": 80, "dev": 20, "test": 20}.items()):
        paths[part] = folder / f"{part}.tsv"
        LABELING.write(paths[part], made_up(size, seed))
    return paths


def test_what_is_written_is_read_again(parts: dict[str, Path]) -> None:
    assert LABELING.read(parts["dev"]) == made_up(20, 1)


def test_columns_are_found_by_name_and_labels_become_bio(tmp_path: Path) -> None:
    path = tmp_path / "ships.txt"
    sentence = [("S-SHIP", "x", "Oban1"), ("B-SHIP", "x", "Black0"), ("E-SHIP", "y", "Gull1")]
    write_columns(path, [sentence], separator=" ")
    task = Labeling(Choices(columns=("label", "_", "word"), drops_last=True))
    read: list[Rows] = [[("Oban", "B-SHIP"), ("Black", "B-SHIP"), ("Gull", "I-SHIP")]]
    assert task.read(path) == read
    assert task.given(read[0]) == [("Oban",), ("Black",), ("Gull",)]
    tagged = Labeling(Choices(columns=("label", "tag", "word")))
    assert tagged.read(path)[0][2] == ("Gull1", "y", "I-SHIP")


def test_files_that_hold_no_spans_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "ships.txt"
    write_columns(path, [[("Oban", "NNP"), ("lies", "VBZ")]])
    with pytest.raises(ValueError, match=r"ships\.txt: its labels stand for no spans"):
        Labeling(Choices(columns=("word", "label"))).read(path)
    write_columns(path, [[("O", "B-X")]])
    with pytest.raises(ValueError, match=r"--drop-last leaves nothing of a word"):
        Labeling(Choices(columns=("word", "label"), drops_last=True)).read(path)
    with pytest.raises(ValueError, match=r"--columns word,tag: one of them must be 'label'"):
        Choices(columns=("word", "tag"))


@pytest.mark.slow
def test_a_run_scores_and_times_every_system_that_is_installed(
    parts: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [f"--{part}={path}" for part, path in parts.items()]
    settings = ["--quick", "--epochs=4", "--rate=0.5", "--decay=0.1", "--l2", "0.1", "3.0"]
    status = main(LABELING, [*given, *settings, f"--output={tmp_path / 'output'}"])
    path = tmp_path / "output" / "sequence_labeling-harbour.json"
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    results = {result["name"]: result for result in data["results"]}
    assert {name: result["error"] for name, result in results.items()} == dict.fromkeys(
        ("ours", "ours-perceptron", "crfsuite-lbfgs", "crfsuite-ap", "spacy-ner")
    )
    assert status == 0

    # The figures are those of the same trainings without the harness.
    train, dev, test = (made_up(size, seed) for seed, size in enumerate((80, 20, 20)))
    scores = []
    for candidate, l2 in zip(results["ours"]["candidates"], (0.1, 3.0), strict=True):
        setting = {"l2": l2, "rate": 0.5, "decay": 0.1}
        assert candidate["setting"] == setting
        labeler = SequenceLabeler(
            templates="chunking",
            columns=("word", "tag"),
            learning=LogLinear(l2=l2, rate=0.5, decay=0.1),
            epochs=4,
        ).fit(train, dev)
        figures = [done.primary or 0.0 for done in labeler.history]
        assert [figure for _, figure in candidate["curve"]] == figures
        assert candidate["dev_score"] == max(figures)
        scores.append(labeler.evaluate(test).as_dict())
    assert results["ours"]["scores"] == scores[results["ours"]["chosen"]]

    markdown = capsys.readouterr().out
    for system in (CrfsuiteLbfgs, SpacyNer):
        result = results[system.name]
        if system.version() is None:
            assert result["version"] is None
            assert f"| {system.title} | not installed: pip install" in markdown
            continue
        assert len(result["one"]) == 2
        assert not result["differing"]
        assert result["model_bytes"] > 0
    assert ("## Time to the score of" in markdown) == (CrfsuiteLbfgs.version() is not None)


@pytest.mark.skipif(CrfsuiteLbfgs.version() is None, reason="python-crfsuite is not installed")
def test_crfsuite_labels_what_it_has_seen(parts: dict[str, Path], tmp_path: Path) -> None:
    model = tmp_path / "model"
    with Worker(CrfsuiteLbfgs, None, tmp_path, {"choices": Choices()}) as worker:
        worker.train({"c2": 0.01, "max_iterations": 50}, parts["train"], parts["dev"], model)
        assert worker.load(model)
        sentence = [("Black", "NNP"), ("Gull", "NNP"), ("left", "X"), ("Oban", "NNP")]
        for batch in (False, True, True):
            assert worker.predict([sentence], batch=batch) == [["B-SHIP", "I-SHIP", "O", "B-PORT"]]


@pytest.mark.slow
def test_spacy_finds_what_it_has_seen(parts: dict[str, Path], tmp_path: Path) -> None:
    model = tmp_path / "model"
    setting = {"max_steps": 60, "patience": 60, "eval_frequency": 20}
    with Worker(SpacyNer, None, tmp_path, {"choices": Choices()}) as worker:
        trained = worker.train(setting, parts["train"], parts["dev"], model)
        assert [figure for _, figure in trained.training.curve][-1] > 0.8
        assert worker.load(model)
        sentence = [("Black", "NNP"), ("Gull", "NNP"), ("left", "X"), ("Oban", "NNP")]
        for batch in (False, True):
            assert worker.predict([sentence], batch=batch) == [["B-SHIP", "I-SHIP", "O", "B-PORT"]]


def test_the_time_to_a_score_is_of_the_first_training_that_had_it() -> None:
    curve = [(1.0, 0.5), (2.0, 0.7), (3.0, 0.6), (4.0, 0.9)]
    result = Result(
        CRFSUITE,
        "CRFsuite",
        "1",
        candidates=[Candidate({}, 0.9, 5.0, curve=curve), Candidate({}, 0.65, 1.5)],
    )
    times = [seconds_to(result, aim) for aim in (0.5, 0.6, 0.7, 0.75, 0.95)]
    assert times == [1.0, 1.5, 2.0, 4.0, None]
