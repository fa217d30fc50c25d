"""The benchmark of labelers from its command line to its report, on sentences of made-up words."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from benchmarks.common.report import Candidate, Result
from benchmarks.common.run import main
from benchmarks.sequence_labeling.choices import Rows
from benchmarks.sequence_labeling.systems import CRFSUITE, CrfsuiteLbfgs, SpacyNer
from benchmarks.sequence_labeling.task import LABELING, seconds_to
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
