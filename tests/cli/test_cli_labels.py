"""Labels and categories on the command line: convert, configs, fit, evaluate, average."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import spacy
from click.testing import Result
from spacy.tokens import Doc, DocBin
from spacy.util import load_config_from_str
from spacy.vocab import Vocab

from spacy_structreg.cli.init_config import init_config
from spacy_structreg.corpora.corpus_options import CorpusOptions, Spaces
from spacy_structreg.metrics.labeling import score_spans
from spacy_structreg.models.labeling.labelers import DEFAULT_LEARNING, SequenceLabeler
from spacy_structreg.pipeline.gold_docs import read_sentences
from spacy_structreg.pipeline.labeling_documents import spans_of_doc

Invoke = Callable[..., Result]
Runs = Callable[..., str]
Fails = Callable[..., str]

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


def fitted(task: str, folder: Path, invoke: Invoke, runs: Runs, seed: int = 3) -> Path:
    """The folder of a pipeline that was trained for a task."""
    output = folder / f"{task}{seed}"
    if not output.exists():
        corpus = converted(task, folder, invoke)
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


def report_of(runs: Runs, tmp_path: Path, *arguments: object) -> dict[str, object]:
    output = tmp_path / "report.json"
    runs("evaluate", *arguments, "--output", output)
    return dict(json.loads(output.read_text("utf-8")))


def write(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path


# Convert -----------------------------------------------------------------------------------------


def test_columns_become_entities(folder: Path, invoke: Invoke) -> None:
    docs = docs_of(converted("label", folder, invoke))
    assert [[token.text for token in doc] for doc in docs] == WORDS
    assert [spans_of_doc(doc, "ents") for doc in docs] == ENTITIES
    assert docs[0].text == "Mira Holt sails to Veldau ."
    assert [token.tag_ for token in docs[1]] == ["NNP", "VBD", "NNP", "."]
    for doc in docs:
        assert doc.has_annotation("ENT_IOB", require_complete=True)
        assert not doc.spans
        assert len(list(doc.sents)) == 1


def test_columns_become_spans(folder: Path, invoke: Invoke) -> None:
    docs = docs_of(converted("chunk", folder, invoke))
    assert [spans_of_doc(doc, "spans", "chunks") for doc in docs] == CHUNKS
    assert not any(doc.has_annotation("ENT_IOB") for doc in docs)


@pytest.mark.parametrize(
    ("labels", "options"),
    [
        (["B-A", "E-A", "S-B", "O"], ()),
        (["B-A", "L-A", "U-B", "O"], ()),
        (["I-A", "I-A", "I-B", "O"], ()),
        (["A", "A", "B", "O"], ()),
        (["A", "A", "B", "C"], ("--scheme", "io")),
        (["B-A", "I-A", "B-B", "O"], ("--scheme", "bio")),
    ],
)
def test_schemes(tmp_path: Path, runs: Runs, labels: list[str], options: list[str]) -> None:
    rows = "".join(f"{word} {label}\n" for word, label in zip("wxyz", labels, strict=True))
    source, output = write(tmp_path / "a.col", rows), tmp_path / "a.spacy"
    runs("convert", source, output, "--columns", "word,label", *options)
    expected = [(0, 2, "A"), (2, 3, "B"), *([(3, 4, "C")] if labels[3] == "C" else [])]
    assert spans_of_doc(docs_of(output)[0], "ents") == expected


def test_documents_of_several_sentences(folder: Path, invoke: Invoke, tmp_path: Path) -> None:
    output = tmp_path / "docs.spacy"
    source, *options = CONVERTED["label"]
    result = invoke("convert", folder / source, output, *options, "-n", 2)
    assert result.stdout.strip() == f"{output}: 2 Docs, 16 words"
    first, second = docs_of(output)
    assert [[token.text for token in sentence] for sentence in first.sents] == WORDS[:2]
    assert first.text == "Mira Holt sails to Veldau . Jonas met Mira ."
    assert spans_of_doc(first, "ents") == [*ENTITIES[0], (6, 7, "PER"), (8, 9, "PER")]
    assert [token.tag_ for token in first][6:] == ["NNP", "VBD", "NNP", "."]
    assert spans_of_doc(second, "ents") == ENTITIES[2]


def test_comments_and_spaces(tmp_path: Path, runs: Runs) -> None:
    rows = "###MEDLINE:1\n\n李 B-PER\n明 I-PER\nlikes O\n、 O\nx O\n"
    source = write(tmp_path / "a.col", rows)
    options = ("--columns", "word,label", "--comments", "###MEDLINE:")
    runs("convert", source, tmp_path / "a.spacy", *options)
    assert docs_of(tmp_path / "a.spacy")[0].text == "李明likes、x"
    read = CorpusOptions(columns=("word",), spaces=Spaces.none)
    plain = write(tmp_path / "b.col", "Mira\nsails\n")
    assert [sentence.spaces for sentence in read_sentences(plain, read)] == [()]
    spaced = CorpusOptions(columns=("word",))
    assert [sentence.spaces for sentence in read_sentences(plain, spaced)] == [(True, False)]


def test_universal_tags(tmp_path: Path, invoke: Invoke) -> None:
    source = write(tmp_path / "a.col", "Mira PROPN\nsails V\n")
    result = invoke("convert", source, tmp_path / "a.spacy", "--columns", "word,pos")
    assert "1 universal tag left out" in result.output
    assert [token.pos_ for token in docs_of(tmp_path / "a.spacy")[0]] == ["PROPN", ""]


def test_texts_become_docs(folder: Path, invoke: Invoke, runs: Runs, tmp_path: Path) -> None:
    first, *_, last = docs_of(converted("classify", folder, invoke))
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


def test_docs_keep_their_labels(folder: Path, invoke: Invoke, runs: Runs, tmp_path: Path) -> None:
    for task in CONVERTED:
        path, again = converted(task, folder, invoke), tmp_path / f"{task}.spacy"
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


def test_what_configs_say(folder: Path, invoke: Invoke) -> None:
    def block(task: str, **options: object) -> dict[str, object]:
        config = load_config_from_str(init_config(None, task=task, **options))
        (name,) = config["nlp"]["pipeline"]
        corpora = config["corpora"]
        return {**config["components"][name], "gold": corpora["train"]["gold"], "corpora": corpora}

    label = block("label", lang="en", train=converted("label", folder, invoke))
    assert (label["attribute"], label["gold"]) == ("ents", ["words", "sents"])
    assert label["model"]["templates"] == "ner"
    assert block("label")["model"]["templates"] == "characters"
    chunk = block("chunk", lang="en", train=converted("chunk", folder, invoke))
    assert (chunk["attribute"], chunk["spans_key"]) == ("spans", "chunks")
    assert (chunk["gold"], chunk["columns"]) == (["words", "tags", "sents"], {})
    assert chunk["model"]["columns"] == ["w", "tag"]
    classify = block("classify", lang="en", train=converted("classify", folder, invoke))
    assert classify["gold"] == classify["corpora"]["dev"]["gold"] == []
    assert block("classify")["model"]["characters"] == [1, 2]


def test_universal_tags_of_chunks(tmp_path: Path, runs: Runs) -> None:
    source, train = (
        write(tmp_path / "a.col", "Mira PROPN B-NP\nsails VERB O\n"),
        tmp_path / "a.spacy",
    )
    options = ("--columns", "word,pos,label", "--spans-key", "chunks")
    runs("convert", source, train, *options)
    config = load_config_from_str(init_config(None, task="chunk", lang="en", train=train))
    assert config["components"]["sequence_labeler"]["columns"] == {"tag": "pos"}


def test_what_no_config_can_be_made_for(folder: Path, invoke: Invoke, fails: Fails) -> None:
    label, classify = (converted(task, folder, invoke) for task in ("label", "classify"))
    for task, train, message in [
        ("label", classify, "no sentence has entities that are known, from which"),
        ("chunk", label, "no sentence has spans, from which the config would learn; make the file"),
        ("classify", label, "no sentence has a category"),
    ]:
        output = folder / "none.cfg"
        assert message in fails("init-config", output, "--task", task, "--train", train)
        assert not output.exists()


# Fit ---------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_unlabeled_texts(
    folder: Path, invoke: Invoke, runs: Runs, fails: Fails, tmp_path: Path
) -> None:
    """They count in feature noising as those do that the estimator is given."""
    corpus, output = converted("label", folder, invoke), tmp_path / "out"
    fitted("label", folder, invoke)
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
    converted("chunk", folder, invoke)
    fitted_tagger(folder, invoke)
    tags = [folder / "chunk.spacy" if part == corpus else part for part in options]
    message = fails("fit", folder / "tag.cfg", tmp_path / "none", *tags)
    assert "the pipe 'tagger' does not learn from what has no labels" in message


@pytest.mark.slow
def test_tags_by_the_pipes_of_another_pipeline(
    folder: Path, invoke: Invoke, runs: Runs, tmp_path: Path
) -> None:
    """Chunks are found over tags of a tagger that comes with the tokenizer."""
    corpus = converted("chunk", folder, invoke)
    shared = ("--train", corpus, "--dev", corpus)
    tagger = fitted_tagger(folder, invoke)
    config, output = tmp_path / "chunk.cfg", tmp_path / "chunk"
    task = ("--task", "chunk", "--lang", "en", "--base", tagger)
    runs("init-config", config, *task, *shared)
    runs("fit", config, output, *shared, "--training.max_epochs", EPOCHS)
    nlp = spacy.load(output)
    assert nlp.pipe_names == ["tagger", "sequence_labeler"]
    doc = nlp("Mira Holt sails to Veldau .")
    assert spans_of_doc(doc, "spans", "chunks") == CHUNKS[0]
    figures = report_of(invoke, tmp_path, output, corpus, "--gold", "words")
    assert figures["tag_acc"] == figures["ents_f"] == 1.0
    given = report_of(invoke, tmp_path, output, corpus, "--gold", "words,tags")
    assert given["ents_f"] == 1.0
    assert "tag_acc" not in given


def fitted_tagger(folder: Path, invoke: Invoke, runs: Runs) -> Path:
    corpus, output = converted("chunk", folder, invoke), folder / "tagger"
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


def test_figures_of_entities(folder: Path, invoke: Invoke, runs: Runs, tmp_path: Path) -> None:
    """On the labels of other sentences, as `score_spans` counts those of the estimator."""
    pipeline = fitted("label", folder, invoke)
    gold = write(
        tmp_path / "gold.col", "Mira B-PER\nmet O\nJonas B-PER\nHolt I-PER\n\nVeldau O\nships B-X\n"
    )
    shared = (pipeline, gold, "--columns", "word,label")
    report = report_of(invoke, tmp_path, *shared, "--gold", "words")
    estimator = spacy.load(pipeline).get_pipe("sequence_labeler").estimator
    found = estimator.predict_batch([["Mira", "met", "Jonas", "Holt"], ["Veldau", "ships"]])
    scores = score_spans([["B-PER", "O", "B-PER", "I-PER"], ["O", "B-X"]], found)
    assert 0 < scores.ents_f < 1
    for key, figures in (scores.as_dict("ents_p", "ents_r", "ents_f") | scores.per_type()).items():
        assert report[key] == figures
    assert report["counts"]["labeling"]["gold"] == 3
    assert "seg_f" not in report
    # spaCy's tokenizer finds the same words in the texts.
    texts = report_of(invoke, tmp_path, *shared)
    assert {key: texts[key] for key in texts if key != "given"} == {
        key: report[key] for key in report if key != "given"
    }
    printed = runs("evaluate", *shared)
    assert f"{100 * scores.ents_f:.2f}" in printed
    assert "PER" in printed


def test_figures_of_categories(folder: Path, invoke: Invoke, tmp_path: Path) -> None:
    pipeline = fitted("classify", folder, invoke)
    gold = write(
        tmp_path / "gold.tsv", "The quay.\tharbour\nThe soup.\tkitchen\nThe soup.\tother\n"
    )
    report = report_of(invoke, tmp_path, pipeline, gold, "--columns", "text,category")
    assert report["cats_acc"] == pytest.approx(2 / 3)
    assert report["cats_f_per_type"]["other"] == {"p": None, "r": 0.0, "f": 0.0}
    assert report["counts"]["classification"] == {"total": 3, "correct": 2}


def test_labels_of_tokens(tmp_path: Path, invoke: Invoke) -> None:
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
    figures = report_of(invoke, tmp_path, tmp_path / "pipeline", path, "--gold", "words")
    assert figures["label_acc"] == 1.0


# Average -----------------------------------------------------------------------------------------
