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


def test_the_table_follows_the_tokenizer(training: tuple[Path, str]) -> None:
    rows = table(training[1])
    assert len(rows) >= 3
    assert rows[0]["SEG_F"] < 97 < rows[-1]["SEG_F"]
    assert rows[0]["LOSS"] > rows[-1]["LOSS"]
    assert {"SEG_P", "SEG_R", "SCORE"} <= set(rows[0])


def test_model_best_is_the_best_of_the_table(training: tuple[Path, str]) -> None:
    output, printed = training
    best = max(row["SEG_F"] for row in table(printed))
    meta = json.loads((output / "model-best" / "meta.json").read_text(encoding="utf-8"))
    assert meta["performance"]["seg_f"] == pytest.approx(best / 100, abs=1e-4)
    # Losses are left out.
    assert set(meta["performance"]) == {"seg_f", "seg_p", "seg_r", "token_acc"}
    nlp = spacy.load(output / "model-best")
    assert nlp.pipe_names == ["tokenizer_trainer"]
    assert [tokens(nlp(text)) for text in TEXTS] == DEV
    assert CharacterSegmenter.load(output / "model-best" / "tokenizer" / "model.srt").is_trained


def test_the_seed_of_the_training_decides(
    training: tuple[Path, str], train: Command, tmp_path: Path
) -> None:
    train(tmp_path / "same")
    train(tmp_path / "other", training__seed=1)
    for name in ("model-best", "model-last"):
        assert weights(tmp_path / "same" / name) == weights(training[0] / name)
    assert weights(tmp_path / "other" / "model-last") != weights(training[0] / "model-last")


def test_text_files_train_as_binary_files_do(
    training: tuple[Path, str], train: Command, tmp_path: Path
) -> None:
    train(tmp_path, suffix=".txt.xz")
    assert weights(tmp_path / "model-last") == weights(training[0] / "model-last")


def test_variants_of_the_text_are_trained_on(
    training: tuple[Path, str], train: Command, corpora: Path, tmp_path: Path
) -> None:
    config = tmp_path / "config.cfg"
    text = (corpora / "config.cfg").read_text(encoding="utf-8")
    config.write_text(text + VARIANTS, encoding="utf-8")
    rows = [
        table(train(tmp_path / name, config=config, training__max_epochs=3).stdout)
        for name in ("one", "two")
    ]
    assert rows[0] == rows[1]
    assert weights(tmp_path / "one/model-last") == weights(tmp_path / "two/model-last")
    # All sentences have full-width marks, and about half of them a variant, so that there are 17
    # steps to an epoch in place of 11.
    epochs = [{row["#"]: row["E"] for row in each}[40] for each in (table(training[1]), rows[0])]
    assert epochs == [3, 2]


VARIANTS = """
[corpora.train.augmenter]
@augmenters = "spacy_structreg.text_variants.v1"
half_width = 0.5
"""


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
    filled = tmp_path / "filled.cfg"
    python("-m", "spacy", "init", "fill-config", corpora / "config.cfg", filled)
    assert 'templates = "zhang2014"' in filled.read_text(encoding="utf-8")
    paths = ["--paths.train", corpora / "train.spacy", "--paths.dev", corpora / "dev.spacy"]
    output = python("-m", "spacy", "debug", "config", filled, *paths).stdout
    assert "Config is valid" in output


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (
            {"nlp__tokenizer__model__templates": "c0|w0"},
            "feature template 'w0' reads the atom 'w', which this model does not have; it has c",
        ),
        ({"nlp__tokenizer__model__templates": "zhang2015"}, "tables of templates are zhang2014"),
        ({"nlp__tokenizer__model__templates": "c0|c-"}, "feature template 'c-'"),
        ({"nlp__tokenizer__model__types": "g11"}, "'g11' is not typing.Literal['g10', 'extended']"),
        ({"corpora__dev__gold": '["words"]'}, "score 1.0 untrained; set gold = []"),
        ({"corpora__dev__gold": '["tags"]'}, "needs 'words' as well"),
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


@pytest.mark.parametrize("which", ["train", "dev"])
def test_an_empty_text_is_an_error(which: str, train: Command, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("\n", encoding="utf-8")
    done = train(tmp_path / "output", fails=True, **{f"paths__{which}": tmp_path / "empty.txt"})
    assert "empty.txt:1: no sentence in the file" in done.stderr.splitlines()[-1]


def test_an_empty_dev_corpus_is_an_error(train: Command, tmp_path: Path) -> None:
    DocBin(docs=[Doc(Vocab())]).to_disk(tmp_path / "empty.spacy")
    done = train(tmp_path / "output", fails=True, paths__dev=tmp_path / "empty.spacy")
    assert "empty.spacy" in done.stderr.splitlines()[-1]


SECOND_STAGE = """
[paths]
base = null
train = null
dev = null

[nlp]
lang = "zh"
pipeline = ["tok2vec", "tagger", "sentencizer"]

[nlp.tokenizer]
@tokenizers = "spacy_structreg.Segmenter.v1"

[nlp.tokenizer.model]
@architectures = "spacy_structreg.CharacterSegmenter.v1"

[components]

[components.sentencizer]
factory = "sentencizer"

[components.tok2vec]
factory = "tok2vec"

[components.tok2vec.model]
@architectures = "spacy.HashEmbedCNN.v2"
width = 16
depth = 1
embed_size = 100
window_size = 1
maxout_pieces = 2
subword_features = false
pretrained_vectors = null

[components.tagger]
factory = "tagger"

[components.tagger.model]
@architectures = "spacy.Tagger.v2"

[components.tagger.model.tok2vec]
@architectures = "spacy.Tok2VecListener.v1"
width = 16

[corpora]

[corpora.train]
@readers = "spacy_structreg.Corpus.v1"
path = ${paths.train}
gold = ["words"]

[corpora.dev]
@readers = "spacy_structreg.Corpus.v1"
path = ${paths.dev}

[training]
seed = 0
gpu_allocator = null
max_steps = 20
eval_frequency = 10

[initialize]

[initialize.before_init]
@callbacks = "spacy.copy_from_base_model.v1"
tokenizer = ${paths.base}
vocab = null
"""


def test_the_tokenizer_is_copied_into_a_second_pipeline(
    model_best: Path, train: Command, tmp_path: Path
) -> None:
    config = tmp_path / "second.cfg"
    config.write_text(SECOND_STAGE, encoding="utf-8")
    train(tmp_path / "output", config=config, paths__base=model_best)
    for name in ("model-best", "model-last"):
        assert weights(tmp_path / "output" / name) == weights(model_best)
    nlp = spacy.load(tmp_path / "output" / "model-best")
    doc = nlp(TEXTS[0])
    assert tokens(doc) == DEV[0]
    assert all(token.tag_ for token in doc)
    assert nlp.pipe_names == ["tok2vec", "tagger", "sentencizer"]


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


def test_a_tokenizer_of_other_settings_is_not_copied(
    model_best: Path, train: Command, tmp_path: Path
) -> None:
    """spaCy sees to this; our settings, the seed included, must be the same in both configs."""
    config = tmp_path / "second.cfg"
    config.write_text(SECOND_STAGE, encoding="utf-8")
    done = train(
        tmp_path / "output",
        config=config,
        fails=True,
        paths__base=model_best,
        nlp__tokenizer__model__types="g10",
    )
    assert "different tokenizer settings" in done.stderr.splitlines()[-1]


def test_the_corpora_of_these_tests_do_not_overlap() -> None:
    assert not {*map(tuple, TRAIN)} & {*map(tuple, DEV)}
