"""Trees on the command line: convert, configs, fit, evaluate, average."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import spacy
from scoring import score
from spacy.tokens import Doc, DocBin
from spacy.util import load_config, load_config_from_str
from spacy.vocab import Vocab

from spacy_structreg.cli.init_config import init_config
from spacy_structreg.cli.options import load_pipeline
from spacy_structreg.cli.training import load_training
from spacy_structreg.corpora.corpus_options import CorpusOptions
from spacy_structreg.corpora.dependencies import ROOT
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.pipeline.gold_docs import read_sentences

Runs = Callable[..., str]
Fails = Callable[..., str]
ReportOf = Callable[..., dict[str, Any]]

# A word, its tag, its head from 1 (0: the root) and its relation.
TREES = [
    "我/PN/2/nsubj 看/VV/0/root 书/NN/2/obj 。/PU/2/punct",
    "他/PN/2/nsubj 写/VV/0/root 字/NN/2/obj 。/PU/2/punct",
    "小/JJ/2/amod 王/NR/3/nsubj 看/VV/0/root 字/NN/3/obj",
    "旧/JJ/2/amod 书/NN/4/nsubj 很/AD/4/advmod 好/VA/0/root ！/PU/4/punct",
    "他/PN/3/nsubj 也/AD/3/advmod 看/VV/0/root 旧/JJ/5/amod 书/NN/3/obj 。/PU/3/punct",
]
EPOCHS = 6

Row = tuple[str, str, int, str]


def rows_of(tree: str) -> list[Row]:
    split = (word.split("/") for word in tree.split())
    return [(form, tag, int(head), relation) for form, tag, head, relation in split]


def conllu(trees: list[str]) -> str:
    blocks = []
    for tree in trees:
        rows = enumerate(rows_of(tree), start=1)
        blocks.append(
            "".join(
                f"{i}\t{form}\t_\t_\t{tag}\t_\t{head}\t{relation}\t_\tSpaceAfter=No\n"
                for i, (form, tag, head, relation) in rows
            )
        )
    return "\n".join(blocks) + "\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the trees as CoNLL-U, four times to train on and once as gold."""
    folder = tmp_path_factory.mktemp("parse")
    (folder / "train.conllu").write_text(conllu(TREES * 4), "utf-8")
    (folder / "gold.conllu").write_text(conllu(TREES), "utf-8")
    return folder


@pytest.fixture
def parsing(folder: Path, runs: Runs) -> Path:
    """The folder of a pipeline that tags and parses given words."""
    output = folder / "parse"
    if output.exists():
        return output
    train, gold = folder / "train.spacy", folder / "gold.spacy"
    tagger = folder / "tag"
    shared = ("--train", train, "--dev", gold)
    settings = ("--training.seed", 3, "--training.max_epochs", EPOCHS)
    for command in (
        ("convert", train.with_suffix(".conllu"), train),
        ("convert", gold.with_suffix(".conllu"), gold),
        ("init-config", folder / "tag.cfg", "--task", "tag", *shared),
        ("fit", folder / "tag.cfg", tagger, *shared, *settings),
        ("init-config", folder / "parse.cfg", "--task", "parse", "--base", tagger, *shared),
        ("fit", folder / "parse.cfg", output, *shared, *settings),
    ):
        runs(*command)
    return output


# Corpora -----------------------------------------------------------------------------------------


def test_several_trees_make_a_doc(tmp_path: Path, runs: Runs) -> None:
    source, output = tmp_path / "trees.conllu", tmp_path / "trees.spacy"
    flat = "我们\t_\t_\tPN\t_\t_\t_\t_\tSpaceAfter=No"
    source.write_text(conllu(TREES[:3]) + f"1\t{flat}\n\n" + conllu(TREES[3:]), encoding="utf8")
    printed = runs("convert", source, output, "-n", 2)
    # Two and one before the sentence without a tree, which stays alone, and two after it.
    assert printed.strip() == f"{output}: 4 Docs, {sum(len(rows_of(t)) for t in TREES) + 1} words"
    docs = list(DocBin().from_disk(output).get_docs(Vocab()))
    assert [len(list(doc.sents)) for doc in docs] == [2, 1, 1, 2]
    trees = [
        [
            (
                word.text,
                word.tag_,
                0 if word.head == word else word.head.i + 1 - sent.start,
                word.dep_,
            )
            for word in sent
        ]
        for doc in docs
        for sent in doc.sents
        if doc.has_annotation("DEP")
    ]
    assert trees == [
        [(*row[:3], row[3] if row[2] else "ROOT") for row in rows_of(each)] for each in TREES
    ]
    again = tmp_path / "again.conllu"
    runs("convert", source, again, "-n", 2)
    words = [[row[0] for row in rows_of(each)] for each in TREES]
    assert [list(each.words) for each in read_sentences(again)] == [
        *words[:3],
        ["我们"],
        *words[3:],
    ]


def test_docs_keep_their_trees(parsing: Path, folder: Path, runs: Runs, tmp_path: Path) -> None:
    sentences = list(read_sentences(folder / "gold.spacy"))
    assert sentences[0] == Sentence(
        words=("我", "看", "书", "。"),
        tags=("PN", "VV", "NN", "PU"),
        heads=(1, ROOT, 1, 1),
        labels=("nsubj", "ROOT", "obj", "punct"),
    )
    back = tmp_path / "back.conllu"
    runs("convert", folder / "gold.spacy", back)
    lines = back.read_text("utf-8").splitlines(keepends=True)
    kept = "".join(line for line in lines if not line.startswith("#"))
    assert kept == (folder / "gold.conllu").read_text("utf-8")


def test_docs_of_several_sentences(tmp_path: Path, runs: Runs) -> None:
    vocab = Vocab()
    doc = Doc(
        vocab,
        words=["我", "看", "\n", "好", "书"],
        spaces=[False] * 5,
        heads=[1, 1, 1, 4, 4],
        deps=["nsubj", "ROOT", "dep", "amod", "ROOT"],
    )
    part = Doc(vocab, words=["我", "看"], spaces=[False] * 2, heads=[1, 1], deps=["nsubj", ""])
    path = tmp_path / "docs.spacy"
    DocBin(docs=[doc, part]).to_disk(path)
    whole, incomplete = read_sentences(path)
    assert (whole.words, whole.heads) == (("我", "看", "好", "书"), (1, ROOT, 3, ROOT))
    assert whole.starts == (True, False, True, False)
    # Trees in part are none.
    assert incomplete.heads == incomplete.labels == ()
    runs("convert", path, tmp_path / "docs.conllu")
    found = list(read_sentences(tmp_path / "docs.conllu", CorpusOptions()))
    assert [sentence.heads for sentence in found] == [(1, ROOT), (1, ROOT), ()]


# Configs and fit ---------------------------------------------------------------------------------


def test_the_config_takes_tokenizer_and_tagger_over(parsing: Path, folder: Path) -> None:
    config = load_config(folder / "parse.cfg")
    assert config["nlp"]["pipeline"] == ["tagger", "parser"]
    assert config["components"]["tagger"] == {"source": str(folder / "tag")}
    assert config["training"]["frozen_components"] == ["tagger"]
    assert config["corpora"]["train"]["gold"] == ["words", "tags"]
    assert config["corpora"]["dev"]["gold"] == ["words"]
    assert config["training"]["score_weights"]["tag_acc"] is None
    # Alone, it needs gold tags for the development corpus, too.
    alone = load_config_from_str(init_config(None, task="parse", lang="en"))
    assert alone["nlp"]["pipeline"] == ["parser"]
    assert alone["corpora"]["dev"]["gold"] == ["words", "tags"]
    assert alone["components"]["parser"]["sentences"] == "doc"


def test_tags_in_training_are_those_of_the_corpus_and_in_evaluation_those_of_the_pipes(
    parsing: Path, folder: Path, tmp_path: Path
) -> None:
    vocab = Vocab()
    words = ["我", "看", "书", "。"]
    tree = {"heads": [1, 1, 1, 1], "deps": ["dep"] * 4}
    odd = Doc(vocab, words=words, spaces=[False] * 4, tags=["X", "Y", "Z", "X"], **tree)
    DocBin(docs=[odd]).to_disk(tmp_path / "odd.spacy")
    training = load_training(folder / "parse.cfg")
    (train,) = training.sentences(tmp_path / "odd.spacy")
    (dev,) = training.sentences(tmp_path / "odd.spacy", "dev")
    assert train.tags == ("X", "Y", "Z", "X")
    assert dev.tags == ("PN", "VV", "NN", "PU")
    overrides = {
        "corpora.train.gold": ["words"],
        "training.annotating_components": ["tagger"],
    }
    training = load_training(folder / "parse.cfg", overrides)
    assert training.sentences(tmp_path / "odd.spacy")[0].tags == dev.tags


def test_behind_a_tokenizer_that_tags(
    parsing: Path, folder: Path, runs: Runs, report_of: ReportOf, tmp_path: Path
) -> None:
    joint, config, output = (tmp_path / name for name in ("joint", "parse.cfg", "parse"))
    corpora = ("--train", folder / "train.spacy", "--dev", folder / "gold.spacy")
    settings = ("--training.max_epochs", EPOCHS)
    for command in (
        ("init-config", tmp_path / "joint.cfg", "--task", "joint", *corpora),
        ("fit", tmp_path / "joint.cfg", joint, *corpora, *settings),
        ("init-config", config, "--task", "parse", "--base", joint, *corpora),
        ("fit", config, output, *corpora, *settings),
    ):
        runs(*command)
    nlp = spacy.load(output)
    # The tokenizer tags raw text; given words need given tags.
    assert nlp.pipe_names == ["parser"]
    assert load_config(config)["corpora"]["dev"]["gold"] == ["words", "tags"]
    doc = nlp("我看书。他写字。")
    assert [token.pos_ for token in doc[:4]] == ["PRON", "VERB", "NOUN", "PUNCT"]
    found = [(token.text, token.tag_, token.head.i, token.dep_) for token in doc]
    expected = [
        (form, tag, first + (head or index + 1) - 1, "ROOT" if relation == "root" else relation)
        for first, tree in ((0, TREES[0]), (4, TREES[1]))
        for index, (form, tag, head, relation) in enumerate(rows_of(tree))
    ]
    assert found == expected
    assert [sentence.text for sentence in doc.sents] == ["我看书。", "他写字。"]
    report = report_of(output, folder / "gold.spacy")
    assert report["las_f"] == report["seg_f"] == 1.0


@pytest.mark.slow
def test_a_treebank_of_universal_tags_alone(
    *, runs: Runs, report_of: ReportOf, fails: Fails, tmp_path: Path
) -> None:
    named = {"PN": "PRON", "VV": "VERB", "NR": "PROPN", "JJ": "ADJ", "AD": "ADV", "VA": "VERB"}
    named |= {"NN": "NOUN", "PU": "PUNCT"}
    text = conllu(TREES * 4)
    for tag, name in named.items():
        text = text.replace(f"\t_\t{tag}\t_", f"\t{name}\t_\t_")
    universal = tmp_path / "universal.spacy"
    universal.with_suffix(".conllu").write_text(text, "utf-8")
    runs("convert", universal.with_suffix(".conllu"), universal)
    tagger, parser, alone = (tmp_path / name for name in ("tagger", "parser", "alone"))
    corpora = ("--train", universal, "--dev", universal)
    for output, *options in (
        (tagger, "--task", "tag"),
        (parser, "--task", "parse", "--base", tagger),
        (alone, "--task", "parse"),
    ):
        config = output.with_suffix(".cfg")
        runs("init-config", config, *options, *corpora)
        made = load_config(config)
        name = made["nlp"]["pipeline"][-1]
        assert made["components"][name]["attribute"] == "pos"
        settings = ("--training.max_epochs", EPOCHS)
        runs("fit", config, output, *corpora, *settings)
    assert load_config(tmp_path / "tagger.cfg")["training"]["score_weights"]["pos_acc"] == 1.0
    assert load_config(tmp_path / "parser.cfg")["nlp"]["pipeline"] == ["tagger", "parser"]
    for pipeline, given in ((parser, "words"), (parser, "words,tags"), (alone, "words,tags")):
        report = report_of(pipeline, universal, "--gold", given)
        assert report["dep_las"] == 1.0
    message = fails("evaluate", alone, universal, "--gold", "words")
    assert message.startswith("no pipe of the pipeline tags given words, so that its parser")


# Evaluate ----------------------------------------------------------------------------------------


def test_trees_of_given_words(
    parsing: Path, folder: Path, report_of: ReportOf, fails: Fails, tmp_path: Path
) -> None:
    gold = folder / "gold.conllu"
    report = report_of(parsing, gold, "--gold", "words,tags")
    assert report["dep_uas"] == report["dep_las"] == report["dep_complete"] == 1.0
    assert report["given"] == "words,tags"
    assert not {"tag_acc", "tag_f", "las_f", "seg_f"} & report.keys()
    # One gold head and one gold label are others, and one gold tag, which the parser is not given.
    changed = tmp_path / "changed.conllu"
    trees = [TREES[0].replace("书/NN/2/obj", "书/M/2/iobj"), TREES[1].replace("字/NN/2", "字/NN/1")]
    changed.write_text(conllu(trees), "utf-8")
    report = report_of(parsing, changed, "--gold", "words")
    assert report["tag_acc"] == report["dep_uas"] == 7 / 8
    assert report["dep_las"] == 6 / 8
    assert report["dep_las_nopunct"] == 4 / 6
    assert report["dep_complete"] == 1 / 2
    assert report["counts"]["dependencies"]["heads"] == 7
    without = tmp_path / "without.txt"
    without.write_text("我 看 书 。\n", "utf-8")
    assert "no tags to give" in fails("evaluate", parsing, without, "--gold", "words,tags")
    message = fails("evaluate", folder / "tag", gold, "--gold", "words,tags")
    assert message.startswith("no pipe of the pipeline parses given words")
    # Without gold trees, tags alone are scored, and without a parser, too.
    tagged = tmp_path / "tagged.txt"
    tagged.write_text("我_PN 看_VV 书_NN 。_PU\n", "utf-8")
    for pipeline, corpus in ((parsing, tagged), (folder / "tag", gold)):
        report = report_of(pipeline, corpus, "--gold", "words")
        assert report["tag_acc"] == 1.0
        assert "dep_las" not in report


def test_a_parser_that_would_see_no_tags_is_not_scored(parsing: Path, folder: Path) -> None:
    nlp = load_pipeline(str(parsing))
    nlp.remove_pipe("tagger")
    gold = folder / "gold.conllu"
    with pytest.raises(ValueError, match="write --gold words,tags, or add a tagger"):
        score(nlp, gold, words=True)
    assert score(nlp, gold, tags=True).figures["dep_las"] == 1.0


def test_trees_of_raw_text(parsing: Path, runs: Runs, report_of: ReportOf, tmp_path: Path) -> None:
    """Behind spaCy's characters, of which the words of these trees are made."""
    gold = tmp_path / "gold.conllu"
    # 看书 is one word here: of 4 predicted words and 3 gold ones, 2 are the same, with their tags.
    gold.write_text(conllu(["我/PN/2/nsubj 看书/VV/0/root 。/PU/2/punct", TREES[1]]), "utf-8")
    report = report_of(parsing, gold)
    assert report["given"] == "text"
    assert (report["seg_p"], report["seg_r"]) == (6 / 8, 6 / 7)
    # The heads of 我 and 。 are not the word that they should be.
    assert report["tag_f"] == 12 / 15
    assert report["uas_f"] == report["las_f"] == 8 / 15
    assert not {"dep_las", "tag_acc", "joint_f"} & report.keys()
    # A sentence in which a word has no head counts for words alone, and so does one without a tag.
    for before, after in (("\t2\tpunct", "\t_\t_"), ("\tPU\t", "\t_\t")):
        gold.write_text(
            conllu(TREES[:2]) + "\n" + conllu([TREES[0]]).replace(before, after), "utf-8"
        )
        report = report_of(parsing, gold)
        assert report["uas_f"] == report["las_f"] == report["tag_f"] == 1.0
        counts = report["counts"]["dependencies"]
        assert (counts["gold"], counts["arc_gold"], counts["left_out"]) == (12, 8, 1)
    printed = runs("evaluate", parsing, gold)
    assert "Not wholly annotated, and counted for words alone: 1 sentence" in printed
    # Where no tree is whole, words with tags are left.
    gold.write_text(conllu([TREES[1]]).replace("\t2\tpunct", "\t_\t_"), "utf-8")
    report = report_of(parsing, gold)
    assert "joint_f" in report
    assert "las_f" not in report


def test_the_tags_that_punctuation_bears(
    parsing: Path, folder: Path, report_of: ReportOf, fails: Fails, tmp_path: Path
) -> None:
    gold, text = folder / "gold.conllu", tmp_path / "gold.conllu"
    n_words = sum(len(tree.split()) for tree in TREES)
    n_marks, n_nouns = (sum(tree.count(tag) for tree in TREES) for tag in ("/PU/", "/NN/"))
    # What the tokenizer finds, as all its words are characters.
    text.write_text(conllu(TREES[:2]), "utf-8")
    for punctuation, n_left, n_of_text in (
        ((), n_words - n_marks, 6),
        (("--punctuation", "NN"), n_words - n_nouns, 6),
        (("--punctuation", "NN PU"), n_words - n_marks - n_nouns, 4),
    ):
        report = report_of(parsing, gold, "--gold", "words,tags", *punctuation)
        counts = report["counts"]["dependencies"]
        assert (counts["words"], counts["words_nopunct"]) == (n_words, n_left)
        report = report_of(parsing, text, *punctuation)
        assert report["counts"]["dependencies"]["arc_gold_nopunct"] == n_of_text
    assert report["punctuation"] == ["NN", "PU"]
    for wrong in ("NN,PU", ""):
        message = fails("evaluate", parsing, gold, "--punctuation", wrong)
        assert message.startswith(f"--punctuation is {wrong!r}, but no word")
