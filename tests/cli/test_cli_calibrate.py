"""`structreg calibrate`: figures, pictures, and the pipeline that is written."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.tokens.underscore import Underscore

from spacy_structreg.models.calibration import Calibration

# Words that the pipeline was not trained on, so that it errs.
DEV = """\
小王 在 公园 看 老师 。
学生 的 图书 在 那里 。
我们 一起 看书 ！
明天 老师 和 小王 去 公园 吗 ？
"""


@pytest.fixture
def dev(tmp_path: Path) -> Path:
    path = tmp_path / "dev.txt"
    path.write_text(DEV, "utf-8")
    return path


@pytest.mark.parametrize("method", ["isotonic", "temperature"])
def test_a_pipeline_with_probabilities(
    method: str, pipeline: str, dev: Path, command, tmp_path: Path
) -> None:
    output = tmp_path / "calibrated"
    result = command(
        "structreg", "calibrate", pipeline, dev, "--output", output, "--method", method
    )
    assert (result.returncode, result.stderr) == (0, b"")
    printed = result.stdout.decode()
    n_places = sum(len("".join(line.split())) - 1 for line in DEV.splitlines())
    (n,) = re.findall(r"^boundaries +tokenizer +(\d+) ", printed, re.MULTILINE)
    assert int(n) == n_places
    assert "Reliability of words" in printed
    nlp = spacy.load(output)
    curve = nlp.tokenizer.calibrations["boundaries"]
    assert (curve.temperature is None) == (method == "isotonic")
    before = Underscore.get_state()
    nlp.tokenizer.keep_analyses(confidence=True)
    boundaries = nlp("小王在公园看书。")._.structreg.confidence["boundaries"]
    Underscore.load_state(before)
    assert isinstance(curve, Calibration)
    np.testing.assert_array_equal(boundaries.probabilities, curve(boundaries.margins))


def test_figures_alone_and_a_picture(
    pipeline: str, dev: Path, invoke, runs, tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")
    before = {path: path.read_bytes() for path in Path(pipeline).rglob("*") if path.is_file()}
    pictures = []
    for name in ("one.svg", "two.svg"):
        runs("calibrate", pipeline, dev, "--plot", tmp_path / name)
        pictures.append((tmp_path / name).read_text("utf-8"))
    assert pictures[0] == pictures[1]
    for text in ("boundaries", "words", "calibration error", "share that came true"):
        assert text in pictures[0]
    assert {path: path.read_bytes() for path in before} == before


def test_pipelines_without_margins(pipeline, characters, untrained, dev: Path, fails) -> None:
    assert "decides anything that the gold corpus knows" in fails("calibrate", characters, dev)
    assert "has not been trained" in fails("calibrate", untrained, dev)
    message = fails("calibrate", pipeline, dev, "--gold", "words")
    assert "decides anything that the gold corpus knows" in message
