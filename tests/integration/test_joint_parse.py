"""Tokenizers that parse under the commands, ours and spaCy's.

The corpora are slices of the general part of the treebank.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_structreg.pipeline.parser import score_texts

Command = Callable[..., "subprocess.CompletedProcess[str]"]

TREEBANK = Path(__file__).parents[2] / "treebank"
OURS = ("-m", "spacy", "structreg")


def tree(doc: Doc) -> list[tuple[str, str, int, str]]:
    return [(token.text, token.tag_, token.head.i, token.dep_) for token in doc]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, python: Command) -> Path:
    """A folder with train.spacy, dev.spacy, a config and the pipeline of `structreg fit`."""
    folder = tmp_path_factory.mktemp("joint_parse")
    for name, part in (("train", "0:30"), ("dev", "0:50")):
        source, output = TREEBANK / f"{name}/general.bracket", folder / f"{name}.spacy"
        given = ("--percent", part, "--head-rules", "ctb")
        python(*OURS, "convert", source, output, *given)
    corpora = ("--train", folder / "train.spacy", "--dev", folder / "dev.spacy")
    config = folder / "config.cfg"
    python(*OURS, "init-config", config, "--task", "joint-parse", *corpora)
    quick = ("--training.max_epochs", 2, "--nlp.tokenizer.model.beam", 4)
    python(*OURS, "fit", config, folder / "fitted", *corpora, *quick)
    return folder


@pytest.fixture(scope="module")
def gold(folder: Path) -> list[Doc]:
    return list(DocBin().from_disk(folder / "dev.spacy").get_docs(Vocab()))


def test_text_becomes_trees(folder: Path, gold: list[Doc]) -> None:
    nlp = spacy.load(folder / "fitted")
    assert nlp.pipe_names == ["tokenizer_trainer"]
    texts = [doc.text for doc in gold]
    alone = [tree(nlp(text)) for text in texts]
    docs = list(nlp.pipe(texts, n_process=2, batch_size=8))
    assert list(map(tree, docs)) == alone
    for doc in docs:
        assert doc.has_annotation("DEP", require_complete=True)
        assert doc.has_annotation("TAG", require_complete=True)
        assert doc.has_annotation("POS", require_complete=True)
        assert all(token.head in token.sent for token in doc)


def test_evaluate_scores_words_tags_and_trees(
    folder: Path, gold: list[Doc], python: Command
) -> None:
    output = folder / "report.json"
    printed = python(
        *OURS, "evaluate", folder / "fitted", folder / "dev.spacy", "--output", output
    ).stdout
    figures = json.loads(output.read_text("utf-8"))
    nlp = spacy.load(folder / "fitted")
    expected = score_texts([(doc, nlp(doc.text)) for doc in gold]).as_dict()
    for key in ("seg_f", "tag_f", "uas_f", "las_f"):
        assert figures[key] == pytest.approx(expected[key])
    assert 0.05 < figures["las_f"] < figures["uas_f"] < figures["tag_f"] < figures["seg_f"]
    assert f"{100 * figures['las_f']:.2f}" in printed
    done = python(
        *OURS, "evaluate", folder / "fitted", folder / "dev.spacy", "--gold", "words", fails=True
    )
    assert "a tokenizer tags the words that it finds itself" in done.stderr


def test_spacys_train_keeps_the_best_by_trees(folder: Path, python: Command) -> None:
    output = folder / "trained"
    quick = ("--training.max_epochs", 2, "--nlp.tokenizer.model.beam", 2)
    log = python("-m", "spacy", "train", folder / "config.cfg", "--output", output, *quick).stdout
    rows = [line.split() for line in log.splitlines()]
    column = next(row for row in rows if "LAS_F" in row).index("LAS_F")
    # The column LOSS has the name of the pipe behind it, which makes one word more.
    figures = [float(row[column - 1]) for row in rows if len(row) > column and row[0].isdigit()]
    performance = json.loads((output / "model-best/meta.json").read_text("utf-8"))["performance"]
    assert performance["las_f"] == pytest.approx(max(figures) / 100, abs=1e-4)


def test_info_and_drawings(folder: Path, gold: list[Doc], python: Command) -> None:
    done = python(*OURS, "info", folder / "fitted", "--json").stdout
    described = json.loads(done)["parts"]["tokenizer"]
    assert (described["task"], described["model"]["class"]) == ("dependencies", "WordJointParser")
    text, output = folder / "text.txt", folder / "trees.html"
    text.write_text("\n".join(doc.text for doc in gold[:3]) + "\n", encoding="utf-8")
    python(*OURS, "draw", text, "--pipeline", folder / "fitted", "--output", output)
    nlp = spacy.load(folder / "fitted")
    n_sentences = sum(len(list(nlp(doc.text).sents)) for doc in gold[:3])
    assert output.read_text("utf-8").count("<svg") == n_sentences
