"""Constituents on the command line: convert, configs, fit, evaluate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
import spacy
from scoring import score
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_structreg.cli.evaluate import ConventionsName
from spacy_structreg.cli.options import load_pipeline
from spacy_structreg.corpora.corpus_options import CorpusOptions, HeadRuleSet
from spacy_structreg.corpora.sentence import Phrase, Sentence
from spacy_structreg.metrics.constituents import CONVENTIONS
from spacy_structreg.pipeline.constituency import CONSTITUENTS
from spacy_structreg.pipeline.constituency_documents import read_phrases, write_phrases
from spacy_structreg.pipeline.gold_docs import read_sentences
from spacy_structreg.pipeline.parser import DEPENDENCIES

Runs = Callable[..., str]
Fails = Callable[..., str]
ReportOf = Callable[..., dict[str, Any]]

pytestmark = pytest.mark.usefixtures("extensions")

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
def parsing(folder: Path, runs: Runs) -> Path:
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
        runs(*command)
    return output


# Corpora -----------------------------------------------------------------------------------------


def test_docs_keep_their_trees(parsing: Path, folder: Path, runs: Runs, tmp_path: Path) -> None:
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
    runs("convert", folder / "gold.spacy", again)
    assert list(read_sentences(again)) == sentences


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


# Evaluate ----------------------------------------------------------------------------------------


def test_trees_of_given_words(
    parsing: Path, folder: Path, report_of: ReportOf, fails: Fails, tmp_path: Path
) -> None:
    gold = folder / "gold.spacy"
    report = report_of(parsing, gold, "--gold", "words,tags")
    assert report["brackets_f"] == report["brackets_complete"] == report["head_acc"] == 1.0
    assert report["brackets_f_40"] == 1.0
    assert report["brackets_crossing"] == 0.0
    assert not {"tag_acc", "dep_uas", "seg_f"} & report.keys()
    assert report["conventions"] == "collins"
    assert report["counts"]["constituents"]["gold"] == 4 + 4 + 6 + 7 + 1
    # One gold bracket more, and another tag, which the parser is not given.
    changed = tmp_path / "changed.bracket"
    text = TREES.replace("(NP-SBJ (PN 我))", "(QP (NP (PN 我)))")
    changed.write_text(text.replace("(NN 书))) (PU", "(M 书))) (PU"), "utf-8")
    options = ("--gold", "words", "--head-rules", "ctb", "--train", folder / "train.spacy")
    report = report_of(parsing, changed, *options)
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
    parsing: Path, folder: Path, runs: Runs, fails: Fails
) -> None:
    gold = folder / "gold.bracket"
    printed = runs("evaluate", parsing, gold, "--gold", "words")
    assert "brackets_f" not in printed
    hint = "Without --head-rules, brackets are words and tags alone"
    assert f"{hint}: add it (ctb or ptb) to score constituency" in printed
    for path, *options in (
        (gold, "--gold", "words", "--head-rules", "ctb"),
        (folder / "gold.spacy", "--gold", "words"),
        # Of texts, no constituents are scored.
        (gold, "--gold", "text"),
    ):
        assert hint not in runs("evaluate", parsing, path, *options)
    message = fails("evaluate", parsing, gold, "--gold", "words,tags")
    assert "(of trees in brackets, only with --head-rules); train one with 'init-config" in message


def test_conventions(parsing: Path, report_of: ReportOf, tmp_path: Path) -> None:
    assert {name.value for name in ConventionsName} == CONVENTIONS.keys()
    changed = tmp_path / "changed.bracket"
    # The full stop has a bracket of its own, in the gold trees alone.
    changed.write_text(TREES.replace("(PU 。)) )", "(PRN (PU 。))) )", 2), "utf-8")
    figures = {}
    for name in CONVENTIONS:
        options = ("--gold", "words,tags", "--head-rules", "ctb", "--conventions", name)
        figures[name] = report_of(parsing, changed, *options)["brackets_r"]
    assert figures == {"collins": 22 / 24, "plain": 22 / 24, "no_pu": 1.0}


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


def test_another_span_group(
    *, parsing: Path, folder: Path, runs: Runs, report_of: ReportOf, fails: Fails, tmp_path: Path
) -> None:
    nlp = spacy.load(parsing, exclude=["constituency"])
    settings = {"spans_key": "trees", "extension_prefix": "tree_"}
    pipe = nlp.add_pipe("structreg_constituency", name="constituency", config=settings)
    pipe.from_bytes(load_pipeline(str(parsing)).get_pipe("constituency").to_bytes())
    nlp.to_disk(tmp_path / "pipeline")
    # The trees lie in the other group, the usual one is empty.
    docs = list(DocBin().from_disk(folder / "gold.spacy").get_docs(Vocab()))
    for doc in docs:
        write_phrases(doc, read_phrases(doc) or [], "trees")
        doc.spans["constituents"] = []
    DocBin(docs=docs).to_disk(tmp_path / "gold.spacy")
    given = ("--gold", "words,tags")
    # What `convert` writes is taken as well.
    for gold in (tmp_path / "gold.spacy", folder / "gold.spacy"):
        report = report_of(tmp_path / "pipeline", gold, *given)
        assert report["brackets_f"] == report["head_acc"] == 1.0
    # But not by a pipeline with the usual group, of which there is one here without spans.
    message = fails("evaluate", parsing, tmp_path / "gold.spacy", *given)
    assert "no pipe of the pipeline parses given words" in message
    text, tree = tmp_path / "text.txt", tmp_path / "tree.svg"
    text.write_text("我看书。\n", "utf-8")
    runs("draw", text, "--pipeline", tmp_path / "pipeline", "-o", tree)
    assert ">IP<" in tree.read_text("utf-8")


def test_given_words_come_with_their_sentences(parsing: Path, folder: Path, tmp_path: Path) -> None:
    """Of one Doc with all trees, the parser gets one sentence at a time, and makes no mistake."""
    docs = list(DocBin().from_disk(folder / "gold.spacy").get_docs(Vocab()))
    whole = Doc.from_docs(docs)
    starts = accumulate(map(len, docs), initial=0)
    write_phrases(
        whole,
        [
            Phrase(label, start + begin, start + end, start + head)
            for start, doc in zip(starts, docs, strict=False)
            for label, begin, end, head in read_phrases(doc)
        ],
    )
    DocBin(docs=[whole]).to_disk(tmp_path / "all.spacy")
    figures = score(load_pipeline(str(parsing)), tmp_path / "all.spacy", tags=True).figures
    assert figures["brackets_f"] == figures["brackets_complete"] == 1.0
