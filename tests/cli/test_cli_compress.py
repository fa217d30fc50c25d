"""`structreg compress`: a small pipeline for prediction only, written if it loses little."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import spacy

from spacy_structreg.cli.compress import SHARES, compress, weight_of_share

Command = Callable[..., "subprocess.CompletedProcess[bytes]"]
Fails = Callable[..., str]
Runs = Callable[..., str]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory, text: str) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "words.txt"
    path.write_text(text, encoding="utf-8")
    return path


def model_size(folder: str | Path) -> int:
    return (Path(folder) / "tokenizer" / "model.srt").stat().st_size


@pytest.mark.slow
def test_for_real(pipeline: str, corpus: Path, command: Command, tmp_path: Path) -> None:
    done = command("structreg", "compress", pipeline, "deep/small", "--corpus", str(corpus))
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"Saved the compressed pipeline to " in done.stdout
    for named in (b"tokenizer (MB)", b"characters/CPU s", b"seg_f", b"nlp.tokenizer.pipe"):
        assert named in done.stdout
    written = tmp_path / "deep" / "small"
    assert model_size(written) < model_size(pipeline)
    segmented = command("structreg", "segment", str(written), input="老师在公园。\n".encode())
    assert segmented.stdout.decode().split() == ["老师", "在", "公园", "。"]
    info = command("structreg", "info", str(written))
    assert b"frozen, of 8 bits" in info.stdout


def test_unquantized_loses_nothing(pipeline: str, corpus: Path, tmp_path: Path) -> None:
    before, after = compress(
        pipeline, tmp_path / "a", corpus=corpus, bits=32, prune=0.0, max_loss=0.0
    )
    assert after.figures == before.figures
    frozen, model = (spacy.load(each).tokenizer.model for each in (tmp_path / "a", pipeline))
    assert frozen.is_frozen
    assert frozen.nbest("老师在图书馆看书。", 5) == model.nbest("老师在图书馆看书。", 5)


def test_all_else_is_copied(pipeline: str, runs: Runs, tmp_path: Path) -> None:
    runs("compress", pipeline, tmp_path / "a")
    names = {
        str(path.relative_to(folder))
        for folder in (tmp_path / "a", Path(pipeline))
        for path in folder.rglob("*")
        if path.is_file()
    }
    for name in names - {"tokenizer/model.srt"}:
        assert (tmp_path / "a" / name).read_bytes() == (Path(pipeline) / name).read_bytes()


def test_the_more_may_be_lost_the_smaller(pipeline: str, corpus: Path, tmp_path: Path) -> None:
    for loss in (0.0, 100.0):
        before, after = compress(pipeline, tmp_path / str(loss), corpus=corpus, max_loss=loss)
        lost = 100 * ((before.figures["seg_f"] or 0.0) - (after.figures["seg_f"] or 0.0))
        assert lost <= loss
    assert model_size(tmp_path / "100.0") <= model_size(tmp_path / "0.0") < model_size(pipeline)
    # The most of what is tried.
    model = spacy.load(pipeline).tokenizer.model
    smallest = model.freeze(bits=8, prune=weight_of_share(model, SHARES[0])).to_bytes()
    assert spacy.load(tmp_path / "100.0").tokenizer.model.to_bytes() == smallest


def test_a_loss_is_refused(pipeline: str, corpus: Path, fails: Fails, tmp_path: Path) -> None:
    message = fails("compress", pipeline, tmp_path / "a", "--corpus", corpus, "--prune", "1e9")
    assert "would lose" in message
    assert "raise --bits, lower --prune, or allow more by --max-loss" in message
    assert not list(tmp_path.iterdir())


def test_nothing_to_freeze(untrained: str, characters: str, fails: Fails, tmp_path: Path) -> None:
    assert "has not been trained" in fails("compress", untrained, tmp_path / "a")
    assert "no model of spacy_structreg" in fails("compress", characters, tmp_path / "a")
    assert not list(tmp_path.iterdir())
