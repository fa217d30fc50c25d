"""Labels and categories on the command line: convert, configs, fit, evaluate, average."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import spacy
from click.testing import Result
from spacy.tokens import Doc, DocBin
from spacy.util import load_config_from_str
from spacy.vocab import Vocab

from spacy_structreg.cli.init_config import init_config
from spacy_structreg.metrics.labeling import score_spans
from spacy_structreg.models.labeling.labelers import DEFAULT_LEARNING, SequenceLabeler
from spacy_structreg.pipeline.gold_docs import read_sentences
from spacy_structreg.pipeline.labeling_documents import spans_of_doc

Invoke = Callable[..., Result]
Runs = Callable[..., str]
Fails = Callable[..., str]
ReportOf = Callable[..., dict[str, Any]]

pytestmark = pytest.mark.usefixtures("extensions")

COLUMNS = """\
Mira NNP B-NP B-PER
Holt NNP I-NP I-PER
sails VBZ B-VP O
to IN B-PP O
Veldau NNP B-NP B-LOC
. . O O

Jonas NNP B-NP B-PER
met VBD B-VP O
Mira NNP B-NP B-PER
. . O O

old JJ B-NP O
ships NNS I-NP O
leave VBP B-VP O
Port NNP B-NP B-LOC
Anselm NNP I-NP I-LOC
. . O O
"""
WORDS = [
    ["Mira", "Holt", "sails", "to", "Veldau", "."],
    ["Jonas", "met", "Mira", "."],
    ["old", "ships", "leave", "Port", "Anselm", "."],
]
ENTITIES = [[(0, 2, "PER"), (4, 5, "LOC")], [(0, 1, "PER"), (2, 3, "PER")], [(3, 5, "LOC")]]
CHUNKS = [
    [(0, 2, "NP"), (2, 3, "VP"), (3, 4, "PP"), (4, 5, "NP")],
    [(0, 1, "NP"), (1, 2, "VP"), (2, 3, "NP")],
    [(0, 2, "NP"), (2, 3, "VP"), (3, 5, "NP")],
]
TEXTS = """\
Two boats left the quay at dawn.	harbour
Gulls follow the boats to the quay.	harbour
Cut the bread and warm the soup.	kitchen
The soup is salty, the bread old.	kitchen
"""
EPOCHS = 8


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sentences in columns, and the texts."""
    folder = tmp_path_factory.mktemp("labels")
    (folder / "corpus.col").write_text(COLUMNS, "utf-8")
    (folder / "texts.tsv").write_text(TEXTS, "utf-8")
    return folder


CONVERTED = {
    "label": ("corpus.col", "--columns", "word,tag,_,label"),
    "chunk": ("corpus.col", "--columns", "word,tag,label,_", "--spans-key", "chunks"),
    "classify": ("texts.tsv", "--columns", "text,category"),
}


def converted(task: str, folder: Path, runs: Runs) -> Path:
    path = folder / f"{task}.spacy"
    if not path.exists():
        source, *options = CONVERTED[task]
        runs("convert", folder / source, path, *options)
    return path


def fitted(task: str, folder: Path, runs: Runs, seed: int = 3) -> Path:
    """The folder of a pipeline that was trained for a task."""
    output = folder / f"{task}{seed}"
    if not output.exists():
        corpus = converted(task, folder, runs)
        config = folder / f"{task}.cfg"
        shared = ("--train", corpus, "--dev", corpus)
        options = ("--training.seed", seed, "--training.max_epochs", EPOCHS)
        for command in (
            ("init-config", config, "--task", task, "--lang", "en", "--force", *shared),
            ("fit", config, output, *shared, *options, "--report", folder / f"{task}.json"),
        ):
            runs(*command)
    return output


def docs_of(path: Path) -> list[Doc]:
    return list(DocBin().from_disk(path).get_docs(Vocab()))


def write(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path


# Convert -----------------------------------------------------------------------------------------


def test_columns_become_entities(folder: Path, runs: Runs) -> None:
    docs = docs_of(converted("label", folder, runs))
    assert [[token.text for token in doc] for doc in docs] == WORDS
    assert [spans_of_doc(doc, "ents") for doc in docs] == ENTITIES
    assert docs[0].text == "Mira Holt sails to Veldau ."
    assert [token.tag_ for token in docs[1]] == ["NNP", "VBD", "NNP", "."]
    for doc in docs:
        assert doc.has_annotation("ENT_IOB", require_complete=True)
        assert not doc.spans
        assert len(list(doc.sents)) == 1


def test_columns_become_spans(folder: Path, runs: Runs) -> None:
    docs = docs_of(converted("chunk", folder, runs))
    assert [spans_of_doc(doc, "spans", "chunks") for doc in docs] == CHUNKS
    assert not any(doc.has_annotation("ENT_IOB") for doc in docs)


def test_schemes_comments_and_spaces(runs: Runs, tmp_path: Path) -> None:
    source, output = tmp_path / "a.col", tmp_path / "a.spacy"
    write(source, "###MEDLINE:1\n\n李 PER\n明 PER\nlikes O\n、 O\nx LOC\n")
    options = ("--columns", "word,label", "--comments", "###MEDLINE:")
    for scheme in ((), ("--scheme", "io")):
        runs("convert", source, output, *options, *scheme, "--force")
        (doc,) = docs_of(output)
        assert doc.text == "李明likes、x"
        assert spans_of_doc(doc, "ents") == [(0, 2, "PER"), (4, 5, "LOC")]


def test_documents_of_several_sentences(folder: Path, runs: Runs, tmp_path: Path) -> None:
    output = tmp_path / "docs.spacy"
    source, *options = CONVERTED["label"]
    printed = runs("convert", folder / source, output, *options, "-n", 2)
    assert printed.strip() == f"{output}: 2 Docs, 16 words"
    first, second = docs_of(output)
    assert [[token.text for token in sentence] for sentence in first.sents] == WORDS[:2]
    assert first.text == "Mira Holt sails to Veldau . Jonas met Mira ."
    assert spans_of_doc(first, "ents") == [*ENTITIES[0], (6, 7, "PER"), (8, 9, "PER")]
    assert [token.tag_ for token in first][6:] == ["NNP", "VBD", "NNP", "."]
    assert spans_of_doc(second, "ents") == ENTITIES[2]


def test_texts_become_docs(folder: Path, runs: Runs, tmp_path: Path) -> None:
    first, *_, last = docs_of(converted("classify", folder, runs))
    assert first.text == "Two boats left the quay at dawn."
    assert (first.cats, last.cats) == ({"harbour": 1.0}, {"kitchen": 1.0})
    lines = [
        dict(zip(("text", "label"), line.split("\t"), strict=True)) for line in TEXTS.splitlines()
    ]
    source = write(tmp_path / "a.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    runs("convert", source, tmp_path / "a.spacy", "--lang", "en")
    docs = docs_of(tmp_path / "a.spacy")
    assert [(doc.text, doc.cats) for doc in docs] == [
        (doc.text, doc.cats) for doc in docs_of(folder / "classify.spacy")
    ]
    # White space within texts is part of them.
    odd = write(tmp_path / "b.jsonl", '{"text": " two  spaces\\n", "category": "x"}\n')
    runs("convert", odd, tmp_path / "b.spacy")
    assert docs_of(tmp_path / "b.spacy")[0].text == " two  spaces\n"


def test_docs_keep_their_labels(folder: Path, runs: Runs, tmp_path: Path) -> None:
    for task in CONVERTED:
        path, again = converted(task, folder, runs), tmp_path / f"{task}.spacy"
        runs("convert", path, again)
        before, after = list(read_sentences(path)), list(read_sentences(again))
        assert before == after
        assert before[0].entities == (ENTITIES[0] if task == "label" else None)
        assert before[0].chunks == (CHUNKS[0] if task == "chunk" else None)
        assert before[0].category == ("harbour" if task == "classify" else None)


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("a O\n", ["--columns", "word,tag,label"], "has 2 cells"),
        ("a x\n", ["--columns", "word,label"], "do not stand for spans"),
        ("a B-X\nb y\n", ["--columns", "word,label"], "name the scheme with --scheme"),
        ("a x\n", ["--columns", "word,label", "--scheme", "bio"], "a.col: 'x' is no label"),
        ("a O\n", ["--columns", "word,label,label"], "--columns is 'word,label,label'"),
        ("a O\n", ["--columns", "label,tag"], "--columns is 'label,tag'"),
        ("a O\n", ["--columns", "word,lemma"], "--columns is 'word,lemma'"),
        ("a O\n", ["--columns", "text,word"], "--columns is 'text,word'"),
        ("a O\n", ["--format", "columns"], "name its columns, as in --columns word,tag,label"),
        ("a b\n", ["--scheme", "bio"], "--scheme bio is for the format columns"),
        ("a b\n", ["--comments", "#"], "--comments is for the format columns"),
        ("a b\n", ["-n", "2"], "--sentences-per-doc is for column files and CoNLL-U"),
        ("a\tb\n", ["--format", "classified", "--lang", "qq"], "spaCy has no language 'qq'"),
        ("a\tb\tc\n", ["--format", "classified"], "3 cells"),
    ],
)
def test_what_cannot_be_converted(
    tmp_path: Path, fails: Fails, content: str, options: list[str], message: str
) -> None:
    source, output = write(tmp_path / "a.col", content), tmp_path / "a.spacy"
    assert message in fails("convert", source, output, *options)
    assert not output.exists()


# Configs -----------------------------------------------------------------------------------------


def test_what_configs_say(folder: Path, runs: Runs, tmp_path: Path) -> None:
    def block(task: str, **options: object) -> dict[str, object]:
        config = load_config_from_str(init_config(None, task=task, **options))
        (name,) = config["nlp"]["pipeline"]
        corpora = config["corpora"]
        return {**config["components"][name], "gold": corpora["train"]["gold"], "corpora": corpora}

    label = block("label", lang="en", train=converted("label", folder, runs))
    assert (label["attribute"], label["gold"]) == ("ents", ["words", "sents"])
    assert label["model"]["templates"] == "ner"
    assert block("label")["model"]["templates"] == "characters"
    chunk = block("chunk", lang="en", train=converted("chunk", folder, runs))
    assert (chunk["attribute"], chunk["spans_key"]) == ("spans", "chunks")
    assert (chunk["gold"], chunk["columns"]) == (["words", "tags", "sents"], {})
    assert chunk["model"]["columns"] == ["w", "tag"]
    # There are universal tags alone.
    source = write(tmp_path / "a.col", "Mira PROPN B-NP\nsails VERB O\nto V O\n")
    options = ("--columns", "word,pos,label", "--spans-key", "chunks")
    assert "1 universal tag left out" in runs("convert", source, tmp_path / "a.spacy", *options)
    chunk = block("chunk", lang="en", train=tmp_path / "a.spacy")
    assert chunk["columns"] == {"tag": "pos"}
    classify = block("classify", lang="en", train=converted("classify", folder, runs))
    assert classify["gold"] == classify["corpora"]["dev"]["gold"] == []
    assert block("classify")["model"]["characters"] == [1, 2]


# Fit ---------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_unlabeled_texts(folder: Path, runs: Runs, fails: Fails, tmp_path: Path) -> None:
    """They count in feature noising as those do that the estimator is given."""
    corpus, output = converted("label", folder, runs), tmp_path / "out"
    fitted("label", folder, runs)
    learning = "--components.sequence_labeler.model.learning"
    options = ("--train", corpus, "--dev", corpus, "--unlabeled", corpus)
    noise = (f"{learning}.noise", "dropout", f"{learning}.noise_level", 0.5)
    epochs = ("--training.max_epochs", 3)
    config = folder / "label.cfg"
    runs("fit", config, output, *options, *noise, *epochs)
    gold = [
        [tuple(line.split()[:1] + line.split()[3:]) for line in sentence.splitlines()]
        for sentence in COLUMNS.split("\n\n")
    ]
    noisy = replace(DEFAULT_LEARNING, noise="dropout", noise_level=0.5)
    by_hand = SequenceLabeler(learning=noisy, epochs=3, patience=5)
    by_hand.fit(gold, gold, unlabeled=WORDS)
    trained = spacy.load(output).get_pipe("sequence_labeler")
    assert trained.to_bytes() == by_hand.to_bytes()
    alone = SequenceLabeler(learning=noisy, epochs=3, patience=5).fit(gold, gold)
    assert alone.to_bytes() != by_hand.to_bytes()
    none = (f"{learning}.noise", "none", f"{learning}.noise_level", 0.0)
    message = fails("fit", config, tmp_path / "none", *options, *none)
    assert "what has no labels counts in the regularizer of feature noising only" in message
    converted("chunk", folder, runs)
    fitted_tagger(folder, runs)
    tags = [folder / "chunk.spacy" if part == corpus else part for part in options]
    message = fails("fit", folder / "tag.cfg", tmp_path / "none", *tags)
    assert "the pipe 'tagger' does not learn from what has no labels" in message


@pytest.mark.slow
def test_tags_by_the_pipes_of_another_pipeline(
    folder: Path, runs: Runs, report_of: ReportOf, tmp_path: Path
) -> None:
    """Chunks are found over tags of a tagger that comes with the tokenizer."""
    corpus = converted("chunk", folder, runs)
    shared = ("--train", corpus, "--dev", corpus)
    tagger = fitted_tagger(folder, runs)
    config, output = tmp_path / "chunk.cfg", tmp_path / "chunk"
    task = ("--task", "chunk", "--lang", "en", "--base", tagger)
    runs("init-config", config, *task, *shared)
    runs("fit", config, output, *shared, "--training.max_epochs", EPOCHS)
    nlp = spacy.load(output)
    assert nlp.pipe_names == ["tagger", "sequence_labeler"]
    doc = nlp("Mira Holt sails to Veldau .")
    assert spans_of_doc(doc, "spans", "chunks") == CHUNKS[0]
    figures = report_of(output, corpus, "--gold", "words")
    assert figures["tag_acc"] == figures["ents_f"] == 1.0
    given = report_of(output, corpus, "--gold", "words,tags")
    assert given["ents_f"] == 1.0
    assert "tag_acc" not in given


def fitted_tagger(folder: Path, runs: Runs) -> Path:
    corpus, output = converted("chunk", folder, runs), folder / "tagger"
    if output.exists():
        return output
    shared = ("--train", corpus, "--dev", corpus)
    config = folder / "tag.cfg"
    for command in (
        ("init-config", config, "--task", "tag", "--lang", "en", *shared),
        ("fit", config, output, *shared, "--training.max_epochs", EPOCHS),
    ):
        runs(*command)
    return output


# Evaluate ----------------------------------------------------------------------------------------


def test_figures_of_entities(folder: Path, runs: Runs, report_of: ReportOf, tmp_path: Path) -> None:
    """On the labels of other sentences, as `score_spans` counts those of the estimator."""
    pipeline = fitted("label", folder, runs)
    gold = write(
        tmp_path / "gold.col", "Mira B-PER\nmet O\nJonas B-PER\nHolt I-PER\n\nVeldau O\nships B-X\n"
    )
    shared = (pipeline, gold, "--columns", "word,label")
    report = report_of(*shared, "--gold", "words")
    estimator = spacy.load(pipeline).get_pipe("sequence_labeler").estimator
    found = estimator.predict_batch([["Mira", "met", "Jonas", "Holt"], ["Veldau", "ships"]])
    scores = score_spans([["B-PER", "O", "B-PER", "I-PER"], ["O", "B-X"]], found)
    assert 0 < scores.ents_f < 1
    for key, figures in (scores.as_dict("ents_p", "ents_r", "ents_f") | scores.per_type()).items():
        assert report[key] == figures
    assert report["counts"]["labeling"]["gold"] == 3
    assert "seg_f" not in report
    # spaCy's tokenizer finds the same words in the texts.
    texts = report_of(*shared)
    assert {key: texts[key] for key in texts if key != "given"} == {
        key: report[key] for key in report if key != "given"
    }
    printed = runs("evaluate", *shared)
    assert f"{100 * scores.ents_f:.2f}" in printed
    assert "PER" in printed


def test_figures_of_categories(
    folder: Path, runs: Runs, report_of: ReportOf, tmp_path: Path
) -> None:
    pipeline = fitted("classify", folder, runs)
    gold = write(
        tmp_path / "gold.tsv", "The quay.\tharbour\nThe soup.\tkitchen\nThe soup.\tother\n"
    )
    report = report_of(pipeline, gold, "--columns", "text,category")
    assert report["cats_acc"] == pytest.approx(2 / 3)
    assert report["cats_f_per_type"]["other"] == {"p": None, "r": 0.0, "f": 0.0}
    assert report["counts"]["classification"] == {"total": 3, "correct": 2}


def test_labels_of_tokens(tmp_path: Path, report_of: ReportOf) -> None:
    nlp = spacy.blank("en")
    model = {"@architectures": "spacy_structreg.SequenceLabeler.v1", "scheme": None, "seed": 1}
    nlp.add_pipe("structreg_sequence_labeler", config={"attribute": "_.kind", "model": model})
    docs = [Doc(nlp.vocab, words=words, spaces=[True] * len(words)) for words in WORDS]
    for doc in docs:
        for token in doc:
            token._.kind = "name" if token.text[0].isupper() else "word"
    path = tmp_path / "gold.spacy"
    DocBin(docs=docs, store_user_data=True).to_disk(path)
    pipe = nlp.get_pipe("structreg_sequence_labeler")
    pipe.estimator.fit([[(token.text, token._.kind) for token in doc] for doc in docs])
    nlp.to_disk(tmp_path / "pipeline")
    figures = report_of(tmp_path / "pipeline", path, "--gold", "words")
    assert figures["label_acc"] == 1.0
