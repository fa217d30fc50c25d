"""``spacy train`` and the commands around it, run as users run them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import spacy
from pipeline.made_up import DEV, TEXTS, TRAIN, gold_doc, tokens
from spacy.tokens import Doc, DocBin, Span
from spacy.util import load_config
from spacy.vocab import Vocab

from spacy_structreg.models.segmentation import CharacterSegmenter

Command = Callable[..., "subprocess.CompletedProcess[str]"]


def table(output: str) -> list[dict[str, float]]:
    """The rows of the table that spaCy prints."""
    lines = [line.split() for line in output.splitlines()]
    start = next(i for i, line in enumerate(lines) if line[:2] == ["E", "#"])
    names = [name for name in lines[start] if name not in ("TOKEN...", "LOSS")]
    names.insert(2, "LOSS")
    rows = []
    for line in lines[start + 2 :]:
        if len(line) != len(names):
            break
        rows.append(dict(zip(names, map(float, line), strict=True)))
    return rows


def weights(pipeline: Path) -> bytes:
    return (pipeline / "tokenizer" / "model.srt").read_bytes()


def test_model_best_is_the_best_of_the_table(training: tuple[Path, str]) -> None:
    output, printed = training
    rows = table(printed)
    assert len(rows) >= 3
    assert rows[0]["SEG_F"] < 97 < rows[-1]["SEG_F"]
    assert rows[0]["LOSS"] > rows[-1]["LOSS"]
    best = max(row["SEG_F"] for row in rows)
    meta = json.loads((output / "model-best" / "meta.json").read_text(encoding="utf-8"))
    assert meta["performance"]["seg_f"] == pytest.approx(best / 100, abs=1e-4)
    # Losses are left out.
    assert set(meta["performance"]) == {"seg_f", "seg_p", "seg_r", "token_acc"}
    nlp = spacy.load(output / "model-best")
    assert nlp.pipe_names == ["tokenizer_trainer"]
    assert [tokens(nlp(text)) for text in TEXTS] == DEV
    assert CharacterSegmenter.load(output / "model-best" / "tokenizer" / "model.srt").is_trained


def test_text_files_train_as_binary_files_do(
    training: tuple[Path, str], train: Command, tmp_path: Path
) -> None:
    train(tmp_path, suffix=".txt.xz")
    assert weights(tmp_path / "model-last") == weights(training[0] / "model-last")


def test_a_streamed_corpus(train: Command, tmp_path: Path) -> None:
    output = train(
        tmp_path, suffix=".txt.xz", training__max_epochs=-1, training__max_steps=50
    ).stdout
    rows = table(output)
    assert [row["#"] for row in rows] == [0, 20, 40]
    assert rows[0]["SEG_F"] < rows[-1]["SEG_F"]
    # 50 batches of 10 are several passes over the corpus.
    assert rows[-1]["E"] >= 2
    assert tokens(spacy.load(tmp_path / "model-best")(TEXTS[0])) == DEV[0]


def test_evaluate(model_best: Path, python: Command, corpora: Path, tmp_path: Path) -> None:
    # A corpus that the pipeline gets wrong, to see that the figures move.
    vocab = Vocab()
    hard = [gold_doc(vocab, words) for words in [*DEV, ["老师", "和小", "王"]]]
    DocBin(docs=hard).to_disk(tmp_path / "hard.spacy")
    figures = {}
    for name, corpus in (("dev", corpora / "dev.spacy"), ("hard", tmp_path / "hard.spacy")):
        output = tmp_path / f"{name}.json"
        python("-m", "spacy", "evaluate", model_best, corpus, "--output", output)
        figures[name] = json.loads(output.read_text(encoding="utf-8"))
    assert figures["dev"]["seg_f"] == figures["dev"]["token_f"] == 1.0
    n_words = sum(map(len, DEV))
    predicted = tokens(spacy.load(model_best)("老师和小王"))
    assert predicted == ["老师", "和", "小王"]
    # Of the last sentence, 老师 is right.
    expected = (n_words + 1) / (n_words + 3)
    for key in ("seg_p", "seg_r", "seg_f", "token_f"):
        assert figures["hard"][key] == pytest.approx(expected)


def test_fill_config_and_debug_config(python: Command, corpora: Path, tmp_path: Path) -> None:
    bare, filled = tmp_path / "bare.cfg", tmp_path / "filled.cfg"
    whole = load_config(corpora / "config.cfg", interpolate=False)
    whole["nlp"]["tokenizer"]["model"] = {"@architectures": "spacy_structreg.CharacterSegmenter.v1"}
    del whole["training"]["logger"]
    whole.to_disk(bare)
    python("-m", "spacy", "init", "fill-config", bare, filled)
    assert 'templates = "zhang2014"' in filled.read_text(encoding="utf-8")
    paths = ["--paths.train", corpora / "train.spacy", "--paths.dev", corpora / "dev.spacy"]
    output = python("-m", "spacy", "debug", "config", filled, *paths).stdout
    assert "Config is valid" in output


def test_an_empty_corpus_is_an_error(train: Command, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("\n", encoding="utf-8")
    DocBin(docs=[Doc(Vocab())]).to_disk(tmp_path / "empty.spacy")
    for which, name, message in (
        ("train", "empty.txt", "empty.txt:1: no sentence in the file"),
        ("dev", "empty.txt", "empty.txt:1: no sentence in the file"),
        ("dev", "empty.spacy", "empty.spacy"),
    ):
        done = train(tmp_path / "output", fails=True, **{f"paths__{which}": tmp_path / name})
        assert message in done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (
            {"nlp__tokenizer__model__templates": "c0|w0"},
            "feature template 'w0' reads the atom 'w', which this model does not have; it has c",
        ),
        ({"nlp__tokenizer__model__types": "g11"}, "'g11' is not typing.Literal['g10', 'extended']"),
        ({"corpora__dev__gold": '["words"]'}, "score 1.0 untrained; set gold = []"),
        ({"paths__dev": "null"}, "give --paths.train and --paths.dev to the command"),
        ({"initialize__tokenizer__pkuseg_model": "mixed"}, "remove pkuseg_model"),
    ],
)
def test_a_config_that_cannot_work_says_what_to_do(
    overrides: dict[str, str], message: str, train: Command, tmp_path: Path
) -> None:
    done = train(tmp_path / "output", fails=True, **overrides)
    # spaCy prints what it finds by the types of a registered function, and raises nothing.
    said = done.stderr.splitlines()[-1:] or done.stdout.splitlines()
    assert any(message in line for line in said)
    assert not (tmp_path / "output" / "model-best").exists()


def test_an_entity_recognizer_is_trained_beside_a_trained_tokenizer(
    model_best: Path, train: Command, tmp_path: Path
) -> None:
    """By the config of the trained pipeline, to which a pipe of spaCy's own has been added."""
    nlp = spacy.load(model_best)
    nlp.add_pipe("ner")
    copy = {"@callbacks": "spacy.copy_from_base_model.v1", "tokenizer": str(model_best)}
    config = nlp.config
    config["initialize"]["before_init"] = {**copy, "vocab": None}
    config["training"] |= {"max_steps": 2, "eval_frequency": 1, "score_weights": {"ents_f": 1.0}}
    # Gold words are for the other pipe.
    config["corpora"]["train"]["gold"] = ["words"]
    config.to_disk(tmp_path / "ner.cfg")
    docs = []
    for words in TRAIN[:20]:
        doc = gold_doc(Vocab(), words)
        doc.set_ents([Span(doc, 0, 1, label="X")], default="outside")
        docs.append(doc)
    DocBin(docs=docs).to_disk(tmp_path / "ents.spacy")
    corpora = {f"paths__{part}": tmp_path / "ents.spacy" for part in ("train", "dev")}
    done = train(tmp_path / "output", config=tmp_path / "ner.cfg", **corpora)
    assert done.stderr.count("'tokenizer_trainer' does nothing, as other pipes are trained") == 1
    for name in ("model-best", "model-last"):
        assert weights(tmp_path / "output" / name) == weights(model_best)
    assert "ner" in spacy.load(tmp_path / "output" / "model-best").pipe_names
