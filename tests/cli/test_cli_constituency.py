"""Constituents on the command line: convert, configs, fit, evaluate, average, jackknife."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import spacy
from click.testing import Result
from scoring import score
from spacy.tokens import Doc, DocBin
from spacy.util import load_config, load_config_from_str, load_model_from_config
from spacy.vocab import Vocab

from spacy_structreg.cli.evaluate import ConventionsName
from spacy_structreg.cli.init_config import init_config
from spacy_structreg.cli.options import load_pipeline
from spacy_structreg.corpora.corpus_options import CorpusOptions, HeadRuleSet
from spacy_structreg.corpora.sentence import Phrase, Sentence
from spacy_structreg.metrics.constituents import CONVENTIONS
from spacy_structreg.pipeline.constituency import CONSTITUENTS
from spacy_structreg.pipeline.constituency_documents import read_phrases, write_phrases
from spacy_structreg.pipeline.gold_docs import read_sentences
from spacy_structreg.pipeline.parser import DEPENDENCIES
from spacy_structreg.pipeline.readers import create_corpus

Invoke = Callable[..., Result]
Fails = Callable[..., str]

TREES = """\
( (IP (NP-SBJ (PN 我)) (VP (VV 看) (NP-OBJ (NN 书))) (PU 。)) )
( (IP (NP-SBJ (PN 他)) (VP (VV 写) (NP-OBJ (NN 字))) (PU 。)) )
( (IP (NP-SBJ (ADJP (JJ 小)) (NP (NR 王))) (VP (VV 看) (NP-OBJ (NN 字)))) )
( (IP (NP-SBJ (ADJP (JJ 旧)) (NP (NN 书))) (VP (ADVP (AD 很)) (VP (VA 好))) (PU ！)) )
( (NP (NP (-NONE- *pro*)) (NN 书) (PU 。)) )
"""
FIRST = [Phrase("IP", 0, 4, 1), Phrase("NP", 0, 1, 0), Phrase("VP", 1, 3, 1), Phrase("NP", 2, 3, 2)]
EPOCHS = 8


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the trees in brackets, four times to train on and once as gold."""
    folder = tmp_path_factory.mktemp("constituency")
    (folder / "train.bracket").write_text(TREES * 4, "utf-8")
    (folder / "gold.bracket").write_text(TREES, "utf-8")
    return folder


@pytest.fixture
def parsing(folder: Path, invoke: Invoke) -> Path:
    """The folder of a pipeline that tags given words and finds constituents."""
    output = folder / "constituency"
    if output.exists():
        return output
    train, gold = folder / "train.spacy", folder / "gold.spacy"
    tagger, config = folder / "tag", folder / "constituency.cfg"
    shared = ("--train", train, "--dev", gold)
    settings = ("--training.seed", 3, "--training.max_epochs", EPOCHS)
    for command in (
        ("convert", train.with_suffix(".bracket"), train, "--head-rules", "ctb"),
        ("convert", gold.with_suffix(".bracket"), gold, "--head-rules", "ctb"),
        ("init-config", folder / "tag.cfg", "--task", "tag", *shared),
        ("fit", folder / "tag.cfg", tagger, *shared, *settings),
        ("init-config", config, "--task", "constituency", "--base", tagger, *shared),
        ("fit", config, output, *shared, *settings, "--report", folder / "fit.json"),
    ):
        result = invoke(*command)
        assert result.exit_code == 0, result.stderr
    return output


def report_of(invoke: Invoke, tmp_path: Path, *arguments: object) -> dict[str, object]:
    output = tmp_path / "report.json"
    result = invoke("evaluate", *arguments, "--output", output)
    assert result.exit_code == 0, result.output
    return dict(json.loads(output.read_text("utf-8")))


# Corpora -----------------------------------------------------------------------------------------


def test_docs_keep_their_trees(parsing: Path, folder: Path, invoke: Invoke, tmp_path: Path) -> None:
    first = Sentence(
        words=("我", "看", "书", "。"),
        tags=("PN", "VV", "NN", "PU"),
        heads=(1, -1, 1, 1),
        labels=("nsubj", "ROOT", "dobj", "punct"),
        constituents=FIRST,
    )
    options = CorpusOptions(head_rules=HeadRuleSet.ctb)
    assert next(read_sentences(folder / "gold.bracket", options)) == first
    sentences = list(read_sentences(folder / "gold.spacy"))
    assert replace(sentences[0], pos=()) == first
    assert sentences[4].constituents == [Phrase("NP", 0, 2, 0)]
    (doc, *_) = DocBin().from_disk(folder / "gold.spacy").get_docs(Vocab())
    assert doc.spans["constituents"].attrs == {"heads": [1, 0, 1, 2]}
    again = tmp_path / "again.spacy"
    assert invoke("convert", folder / "gold.spacy", again).exit_code == 0
    assert list(read_sentences(again)) == sentences


def test_brackets_without_head_rules_are_words_and_tags(folder: Path) -> None:
    sentence = next(read_sentences(folder / "gold.bracket"))
    assert (sentence.heads, sentence.constituents) == ((), None)


def test_entities_are_known_where_a_file_marks_any(tmp_path: Path) -> None:
    path = tmp_path / "trees.bracket"
    flat = "( (FLAT (NP=DATE (NT 2024年) (NT 3月)) (NN 书)))\n"
    path.write_text(TREES, "utf-8")
    assert {sentence.entities is None for sentence in read_sentences(path)} == {True}
    path.write_text(TREES.replace("(NR 王)", "(NR=PERSON 王)") + flat, "utf-8")
    for rules in (None, HeadRuleSet.ctb):
        *trees, last = read_sentences(path, CorpusOptions(head_rules=rules))
        assert [each.entities for each in trees] == [[], [], [(1, 2, "PERSON")], [], []]
        assert trees[2].tags == ("JJ", "NR", "VV", "NN")
        assert all((not each.heads) == (rules is None) for each in trees)
        assert last == Sentence(
            ("2024年", "3月", "书"), ("NT", "NT", "NN"), entities=[(0, 2, "DATE")]
        )


def test_the_sinica_treebank(invoke: Invoke, fails: Fails, tmp_path: Path) -> None:
    source, output = tmp_path / "trees.txt", tmp_path / "trees.spacy"
    source.write_text(
        "#1:1.[0] S(agent:NP(Head:Nhaa:我)|Head:VC2:看|goal:NP(property:VH:舊|Head:Nab:書))#。(P)\n"
        "#2:1.[0] VP(Head:VA:來)#，(COMMACATEGORY)\n",
        "utf-8",
    )
    for format in ((), ("--format", "sinica")):
        assert invoke("convert", source, output, "--force", *format).exit_code == 0
        first, second = read_sentences(output)
        assert first.words == ("我", "看", "舊", "書")
        assert first.tags == ("Nhaa", "VC2", "VH", "Nab")
        assert first.heads == (1, -1, 3, 1)
        assert first.constituents == [
            Phrase("S", 0, 4, 1), Phrase("NP", 0, 1, 0), Phrase("NP", 2, 4, 3)
        ]  # fmt: skip
        assert second.constituents == [Phrase("VP", 0, 1, 0)]
    message = fails("convert", source, output, "--head-rules", "ctb", "--force")
    assert "--head-rules ctb is for the format brackets, but the file is read as sinica" in message


def test_gold_trees_stay_on_their_side(parsing: Path, folder: Path) -> None:
    nlp = spacy.blank("zh")
    examples = list(create_corpus(folder / "gold.spacy", ["words", "tags", "sents"])(nlp))
    for example in examples:
        assert "constituents" not in example.predicted.spans
        assert [token.tag_ for token in example.predicted] == example.get_aligned("TAG", True)
    assert read_phrases(examples[0].reference) == FIRST


# Configs and fit ---------------------------------------------------------------------------------


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_config_without_other_pipes(lang: str) -> None:
    config = load_config_from_str(init_config(None, task="constituency", lang=lang))
    assert config["nlp"]["pipeline"] == ["constituency"]
    sentences = {"zh": "punctuation", "en": "doc"}[lang]
    assert config["components"]["constituency"]["sentences"] == sentences
    for part in ("train", "dev"):
        assert config["corpora"][part]["gold"] == ["words", "tags"]


def test_the_config_takes_tokenizer_and_tagger_over(parsing: Path, folder: Path) -> None:
    config = load_config(folder / "constituency.cfg")
    assert config["nlp"]["pipeline"] == ["tagger", "constituency"]
    assert config["components"]["tagger"] == {"source": str(folder / "tag")}
    assert config["training"]["frozen_components"] == ["tagger"]
    assert config["corpora"]["dev"]["gold"] == ["words"]
    assert config["training"]["score_weights"]["brackets_f"] == 1.0
    assert config["training"]["score_weights"]["tag_acc"] is None


def test_what_no_config_can_be_made_for(parsing: Path, folder: Path, fails: Fails) -> None:
    task = ("init-config", "-", "--task", "constituency")
    assert "no sentence has constituents, from which" in fails(
        *task, "--train", folder / "train.bracket"
    )
    message = fails("init-config", "-", "--task", "segment", "--base", parsing)
    assert message.startswith("--base is for the tasks tag, parse, constituency")


# Evaluate ----------------------------------------------------------------------------------------


def test_trees_of_given_words(
    parsing: Path, folder: Path, invoke: Invoke, fails: Fails, tmp_path: Path
) -> None:
    gold = folder / "gold.spacy"
    report = report_of(invoke, tmp_path, parsing, gold, "--gold", "words,tags")
    assert report["brackets_f"] == report["brackets_complete"] == report["head_acc"] == 1.0
    assert report["brackets_f_40"] == 1.0
    assert report["brackets_crossing"] == 0.0
    assert not {"tag_acc", "dep_uas", "seg_f"} & report.keys()
    counts = report["counts"]
    assert isinstance(counts, dict)
    assert report["conventions"] == "collins"
    assert counts["constituents"]["gold"] == 4 + 4 + 6 + 7 + 1
    # One gold bracket more, and another tag, which the parser is not given.
    changed = tmp_path / "changed.bracket"
    changed.write_text(
        TREES.replace("(NP-SBJ (PN 我))", "(QP (NP (PN 我)))").replace(
            "(NN 书))) (PU", "(M 书))) (PU"
        ),
        "utf-8",
    )
    options = ("--gold", "words", "--head-rules", "ctb", "--train", folder / "train.spacy")
    report = report_of(invoke, tmp_path, parsing, changed, *options)
    assert report["tag_acc"] == pytest.approx(18 / 19)
    assert (report["brackets_p"], report["brackets_r"]) == (1.0, 22 / 23)
    assert report["brackets_complete"] == 4 / 5
    message = fails("evaluate", parsing, changed, "--gold", "words,tags")
    assert message.startswith("no pipe of the pipeline parses given words")
    without = tmp_path / "without.txt"
    without.write_text("我 看 书 。\n", "utf-8")
    assert "no tags to score, and no heads, constituents" in fails(
        "evaluate", parsing, without, "--gold", "words"
    )


def test_trees_that_were_left_in_the_file(
    parsing: Path, folder: Path, invoke: Invoke, fails: Fails
) -> None:
    gold = folder / "gold.bracket"
    result = invoke("evaluate", parsing, gold, "--gold", "words")
    assert result.exit_code == 0, result.stderr
    assert "brackets_f" not in result.stdout
    hint = "Without --head-rules, brackets are words and tags alone"
    assert f"{hint}: add it (ctb or ptb) to score constituency" in result.stdout
    for path, *options in (
        (gold, "--gold", "words", "--head-rules", "ctb"),
        (folder / "gold.spacy", "--gold", "words"),
        # Of texts, no constituents are scored.
        (gold, "--gold", "text"),
    ):
        assert hint not in invoke("evaluate", parsing, path, *options).stdout
    message = fails("evaluate", parsing, gold, "--gold", "words,tags")
    assert "(of trees in brackets, only with --head-rules); train one with 'init-config" in message


def test_conventions(parsing: Path, folder: Path, invoke: Invoke, tmp_path: Path) -> None:
    assert {name.value for name in ConventionsName} == CONVENTIONS.keys()
    changed = tmp_path / "changed.bracket"
    # The full stop has a bracket of its own, in the gold trees alone.
    changed.write_text(TREES.replace("(PU 。)) )", "(PRN (PU 。))) )", 2), "utf-8")
    figures = {}
    for name in CONVENTIONS:
        options = ("--gold", "words,tags", "--head-rules", "ctb", "--conventions", name)
        figures[name] = report_of(invoke, tmp_path, parsing, changed, *options)["brackets_r"]
    assert figures == {"collins": 22 / 24, "plain": 22 / 24, "no_pu": 1.0}


def test_the_table_has_all_figures(parsing: Path, folder: Path, invoke: Invoke) -> None:
    result = invoke("evaluate", parsing, folder / "gold.spacy", "--gold", "words")
    rows = {}
    for line in result.stdout.splitlines():
        if len(columns := line.split()) == 2:
            rows[columns[0]] = columns[1]
    assert rows["brackets_f"] == rows["brackets_no_crossing_40"] == rows["tag_acc"] == "100.00"
    # A number of brackets, not a share.
    assert rows["brackets_crossing"] == "0.00"


def test_heads_are_scored_where_they_are_written(parsing: Path, folder: Path) -> None:
    nlp = load_pipeline(str(parsing))
    assert DEPENDENCIES.parts(nlp) == []
    assert CONSTITUENTS.parts(nlp) == ["constituency"]
    gold = folder / "gold.spacy"
    figures = score(nlp, gold, tags=True).figures
    assert figures["brackets_f"] == 1.0
    assert "dep_uas" not in figures
    nlp.get_pipe("constituency").dependencies = "ctb"
    assert DEPENDENCIES.parts(nlp) == ["constituency"]
    figures = score(nlp, gold, tags=True).figures
    assert figures["dep_uas"] == figures["brackets_f"] == 1.0
    # The trees of a parser have no function tags, and so the arcs no relations.
    assert figures["dep_las"] == pytest.approx(5 / 19)


def with_group(source: Path, output: Path, key: str) -> Path:
    """A corpus with the trees of another one in another span group, its own being empty."""
    docs = list(DocBin().from_disk(source).get_docs(Vocab()))
    for doc in docs:
        write_phrases(doc, read_phrases(doc) or [], key)
        doc.spans["constituents"] = []
    DocBin(docs=docs).to_disk(output)
    return output


def test_another_span_group(
    parsing: Path, folder: Path, invoke: Invoke, fails: Fails, tmp_path: Path
) -> None:
    nlp = spacy.load(parsing, exclude=["constituency"])
    settings = {"spans_key": "trees", "extension_prefix": "tree_"}
    pipe = nlp.add_pipe("structreg_constituency", name="constituency", config=settings)
    pipe.from_bytes(load_pipeline(str(parsing)).get_pipe("constituency").to_bytes())
    nlp.to_disk(tmp_path / "pipeline")
    gold = with_group(folder / "gold.spacy", tmp_path / "gold.spacy", "trees")
    given = ("--gold", "words,tags")
    report = report_of(invoke, tmp_path, tmp_path / "pipeline", gold, *given)
    assert report["brackets_f"] == report["head_acc"] == 1.0
    # What `convert` writes is taken as well.
    report = report_of(invoke, tmp_path, tmp_path / "pipeline", folder / "gold.spacy", *given)
    assert report["brackets_f"] == 1.0
    # But not by a pipeline with the usual group, of which there is one here without spans.
    assert "no pipe of the pipeline parses given words" in fails("evaluate", parsing, gold, *given)
    text = tmp_path / "text.txt"
    text.write_text("我看书。\n", "utf-8")
    tree = tmp_path / "tree.svg"
    assert invoke("draw", text, "--pipeline", tmp_path / "pipeline", "-o", tree).exit_code == 0
    assert ">IP<" in tree.read_text("utf-8")


def test_given_words_come_with_their_sentences(parsing: Path, folder: Path) -> None:
    """Of one Doc with all trees, the parser gets one sentence at a time, and makes no mistake."""
    docs = list(DocBin().from_disk(folder / "gold.spacy").get_docs(Vocab()))
    words = [token.text for doc in docs for token in doc]
    whole = Doc(
        Vocab(),
        words=words,
        spaces=[False] * len(words),
        tags=[token.tag_ for doc in docs for token in doc],
        sent_starts=[token.i == 0 for doc in docs for token in doc],
    )
    start = 0
    phrases = []
    for doc in docs:
        for label, begin, end, head in read_phrases(doc) or []:
            assert head is not None
            phrases.append(Phrase(label, start + begin, start + end, start + head))
        start += len(doc)
    write_phrases(whole, phrases)
    path = parsing.parent / "all.spacy"
    DocBin(docs=[whole]).to_disk(path)
    figures = score(load_pipeline(str(parsing)), path, tags=True).figures
    assert figures["brackets_f"] == figures["brackets_complete"] == 1.0


def test_an_untrained_parser_is_no_parser_to_score(parsing: Path, folder: Path) -> None:
    config = load_config_from_str(init_config(None, task="constituency"))
    untrained = load_model_from_config(config, auto_fill=True)
    with pytest.raises(ValueError, match="gave no constituent to any word; train constituency"):
        score(untrained, folder / "gold.spacy", tags=True)


# Average and jackknife ---------------------------------------------------------------------------


def test_jackknifing_keeps_trees(
    parsing: Path, folder: Path, invoke: Invoke, tmp_path: Path
) -> None:
    output = tmp_path / "tagged.spacy"
    train = folder / "train.spacy"
    assert invoke("jackknife", folder / "tag.cfg", train, output, "--folds", 2).exit_code == 0
    before, after = (list(read_sentences(path)) for path in (train, output))
    assert [each.constituents for each in after] == [each.constituents for each in before]
