"""The project `ctb5`, on the treebank of the quickstart laid out as a release of the LDC."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
import spacy
from test_projects import PROJECTS, copy_of, copy_systems, run, run_project
from test_treebank import TREEBANK, leaves
from thinc.api import Config

from spacy_structreg.cli.init_config import init_config
from spacy_structreg.corpora.dependencies import ROOT, is_projective
from spacy_structreg.corpora.formats.brackets import constituency_sentences, read_brackets
from spacy_structreg.corpora.formats.conllu import dependency_sentences
from spacy_structreg.corpora.head_rules import head_rules
from spacy_structreg.corpora.trees import Tree
from spacy_structreg.pipeline.constituency_documents import (
    constituency_sentences as of_doc,
)

SCRIPT = PROJECTS / "ctb5/scripts/prepare.py"
# Which sentences of the treebank stand in which article, and where the splits put it.
ARTICLES = {
    1: ("train", slice(0, 100)),
    816: ("train", slice(100, 120)),
    931: ("train", slice(120, 140)),
    1151: ("train", slice(140, None)),
    301: ("dev", slice(None)),
    271: ("test", slice(None)),
}
SEGMENTATION = {"train": (1, 816, 931, 1151), "dev": (301,), "test": (271,)}
STANDARD_FIGURES = "metrics/parse/arc_standard/test.json"
PARSING = {"train": (1, 271, 301), "dev": (931, 1151), "test": (816,)}
CTB2 = {"train": (1,), "dev": (301,), "test": (271,)}
SPLITS = {"segmentation": SEGMENTATION, "parsing": PARSING, "ctb2": CTB2}


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release in GB18030 with mark-up, the text of each sentence in a folder beside."""
    folder = tmp_path_factory.mktemp("release") / "ctb"
    for kind in ("bracketed", "raw"):
        (folder / "data" / kind).mkdir(parents=True)
    for article, (part, where) in ARTICLES.items():
        trees = list(read_brackets(TREEBANK / f"{part}/general.bracket"))[where]
        name = f"chtb_{article:03}"
        (folder / f"data/bracketed/{name}.fid").write_bytes(marked_up(trees).encode("gb18030"))
        raw = "".join("".join(word for word, _ in tree.tagged_words()) for tree in trees)
        (folder / f"data/raw/{name}.raw").write_bytes(raw.encode("gb18030"))
    return folder


def marked_up(trees: list[Tree]) -> str:
    sentences = "".join(
        f"<S ID={number}>\n( {tree.without_root().to_bracket(2)})\n</S>\n"
        for number, tree in enumerate(trees)
    )
    header = "<DOC>\n<HEADER>\n<DATE>\n2026\n</DATE>\n</HEADER>\n<BODY>\n"
    return f"{header}<P>\n{sentences}</P>\n</BODY>\n</DOC>\n"


def pairs_of(articles: tuple[int, ...]) -> list[list[tuple[str, str]]]:
    """The tagged words of articles, read without the package."""
    found = []
    for article in articles:
        part, where = ARTICLES[article]
        found += leaves(part)[where]
    return found


@pytest.mark.parametrize(("split", "parts"), SPLITS.items())
def test_parts_are_those_of_the_splits(
    split: str, parts: dict[str, tuple[int, ...]], release: Path, tmp_path: Path
) -> None:
    result = run(tmp_path, str(SCRIPT), str(release), split, "made", "--counts", "any")
    assert result.returncode == 0, result.stderr
    for part, articles in parts.items():
        trees = list(read_brackets(tmp_path / f"made/{part}.bracket"))
        assert [tree.tagged_words() for tree in trees] == pairs_of(articles)
        for tree in trees:
            for node in tree.nodes():
                assert "-" not in node.label
                child = node.children[0] if len(node.children) == 1 else node
                assert child is node or child.is_leaf or child.label != node.label
        n_words = sum(map(len, pairs_of(articles)))
        assert f"{part}.bracket: {len(trees):,} sentences, {n_words:,} words" in result.stdout


def test_counts_are_those_of_the_papers(release: Path, tmp_path: Path) -> None:
    result = run(tmp_path, str(SCRIPT), str(release), "parsing", "made")
    assert result.returncode == 1
    n_sentences = len(pairs_of(PARSING["train"]))
    assert f"train: {n_sentences} sentences, but articles 1-815, 1001-1136" in result.stderr
    assert "have 16,118" in result.stderr
    assert "--counts any" in result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "made/train.bracket").exists()


def test_a_release_that_lacks_a_part(release: Path, tmp_path: Path) -> None:
    folder = tmp_path / "bracketed"
    folder.mkdir()
    article = release / "data/bracketed/chtb_001.fid"
    (folder / article.name).write_bytes(article.read_bytes())
    for place, fault in ((tmp_path, "no article of the part dev"), ("nowhere", "no file of")):
        result = run(tmp_path, str(SCRIPT), str(place), "parsing", "made", "--counts", "any")
        assert result.returncode == 1
        assert fault in result.stderr
        assert "Traceback" not in result.stderr


@pytest.mark.slow
def test_workflows_on_a_release(release: Path, tmp_path: Path) -> None:
    folder = copy_of("ctb5", tmp_path, epochs=3)
    options = ("--vars.release", str(release), "--vars.counts", "any", "--vars.models", "2")
    run_project(folder, "segment", *options, data=None)
    run_project(folder, "joint", *options, "--vars.joint_models", "2", data=None)
    run_project(folder, "parse", *options, data=None)
    run_project(folder, "raw", *options, "--vars.joint_models", "2", data=None)

    n_test = sum(map(len, pairs_of(SEGMENTATION["test"])))
    for workflow, task, figure in (
        ("segment", "segmentation", "seg_f"),
        ("joint", "joint", "joint_f"),
    ):
        report = json.loads((folder / f"metrics/{workflow}.json").read_text("utf-8"))
        assert report["counts"][task]["gold"] == n_test
        assert 0.7 < report[figure] < 1
        assert (folder / f"training/{workflow}/model-best").is_dir()

    gold = {}
    for part, articles in PARSING.items():
        expected = pairs_of(articles)
        gold[part] = list(dependency_sentences(folder / f"corpus/parsing/{part}.conllu"))
        assert [[*zip(tree.words, tree.tags, strict=True)] for tree in gold[part]] == expected
        docs = spacy.tokens.DocBin().from_disk(folder / f"corpus/parsing/{part}.spacy")
        for tree, doc in zip(gold[part], docs.get_docs(spacy.Vocab()), strict=True):
            assert tree.heads.count(ROOT) == 1
            assert is_projective(tree.heads)
            assert [(token.text, token.tag_) for token in doc] == expected.pop(0)
            assert heads_of(doc) == tree.heads

    n_words = sum(len(tree.words) for tree in gold["test"])
    for pipeline, metrics, system in (
        ("training/parse/model-best", "metrics/parse.json", "arc_eager"),
        ("training/parse/arc_standard/model-best", STANDARD_FIGURES, "arc_standard"),
    ):
        nlp = spacy.load(folder / pipeline)
        assert nlp.config["components"]["parser"]["model"]["system"] == system
        n_right = 0
        for tree in gold["test"]:
            doc = nlp(spacy.tokens.Doc(nlp.vocab, words=tree.words, tags=tree.tags))
            n_right += sum(a == b for a, b in zip(heads_of(doc), tree.heads, strict=True))
        report = json.loads((folder / metrics).read_text("utf-8"))
        assert report["given"] == "words,tags"
        assert report["dep_uas"] == pytest.approx(n_right / n_words)
        assert report["dep_uas"] > 0.5

    nlp = spacy.load(folder / "training/raw/model-best")
    n_found = sum(len(nlp("".join(tree.words))) for tree in gold["test"])
    report = json.loads((folder / "metrics/raw.json").read_text("utf-8"))
    assert report["given"] == "text"
    assert report["counts"]["dependencies"]["gold"] == n_words
    assert report["counts"]["dependencies"]["predicted"] == n_found
    assert 0.3 < report["uas_f"] < report["seg_f"] < 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("workflow", "split"), [("constituents", "parsing"), ("constituents-ctb2", "ctb2")]
)
def test_constituents_and_their_dependencies(
    workflow: str, split: str, release: Path, tmp_path: Path
) -> None:
    folder = copy_of("ctb5", tmp_path, epochs=3)
    options = ("--vars.release", str(release), "--vars.counts", "any", "--vars.folds", "2")
    run_project(folder, workflow, *options, "--vars.beam", "4", data=None)
    gold = list(constituency_sentences(folder / f"corpus/{split}/test.bracket", "ctb"))
    assert [[*zip(tree.words, tree.tags, strict=True)] for tree in gold] == pairs_of(
        SPLITS[split]["test"]
    )
    rules = head_rules("ctb")
    for pipeline, metrics, given, pipes in (
        ("model-best", "", "words,tags", ["constituency"]),
        ("tagged/model-best", "/tagged", "words", ["tagger", "constituency"]),
    ):
        nlp = spacy.load(folder / f"training/{workflow}/{pipeline}")
        assert nlp.pipe_names == pipes
        n_gold = n_found = n_right = n_words = n_heads = 0
        for tree in gold:
            tags = tree.tags if given == "words,tags" else None
            doc = nlp(spacy.tokens.Doc(nlp.vocab, words=tree.words, tags=tags))
            found = [(span.label_, span.start, span.end) for span in doc.spans["constituents"]]
            wanted = [(each.label, each.begin, each.end) for each in tree.constituents]
            n_gold += len(wanted)
            n_found += len(found)
            n_right += (Counter(wanted) & Counter(found)).total()
            # The heads are those of the head rules in the trees that were found.
            ((_, parsed),) = of_doc(doc)
            assert heads_of(doc) == parsed.with_heads(rules).heads()
            n_words += len(doc)
            n_heads += sum(a == b for a, b in zip(heads_of(doc), tree.heads(), strict=True))
        report = json.loads((folder / f"metrics/{workflow}{metrics}.json").read_text("utf-8"))
        assert report["given"] == given
        assert report["brackets_p"] == pytest.approx(n_right / n_found)
        assert report["brackets_r"] == pytest.approx(n_right / n_gold)
        assert report["dep_uas"] == pytest.approx(n_heads / n_words)
        assert report["brackets_f"] > 0.5
        assert 0 < report["dep_root_nopunct"] <= 1
        assert 0 < report["dep_nonroot_nopunct"] < 1


@pytest.mark.slow
def test_the_systems_of_zhang_and_clark(release: Path, tmp_path: Path) -> None:
    folder = copy_of("ctb5", tmp_path, epochs=3)
    copy_systems(tmp_path)
    run_project(folder, "zc11", "--vars.release", str(release), "--vars.counts", "any", data=None)
    reports = {
        name: json.loads((folder / f"metrics/zc11/{name}.json").read_text("utf-8"))
        for name in ("segment", "joint", "parse", "constituents")
    }
    n_words = sum(map(len, pairs_of(SEGMENTATION["test"])))
    assert reports["segment"]["counts"]["segmentation"]["gold"] == n_words
    assert reports["joint"]["counts"]["joint"]["gold"] == n_words
    assert reports["joint"]["joint_f"] < reports["joint"]["seg_f"] < 1
    assert reports["parse"]["given"] == reports["constituents"]["given"] == "words,tags"
    for name, figure in (("parse", "dep_uas"), ("constituents", "brackets_f")):
        assert 0.5 < reports[name][figure] < 1
    pipelines = {name: spacy.load(folder / f"training/zc11/{name}/model-best") for name in reports}
    segmenter, tagger = (pipelines[name].tokenizer.model for name in ("segment", "joint"))
    assert segmenter.settings.characters
    assert (tagger.KIND, tagger.settings.typed_runs) == ("word_joint_tagger", "latin")
    model = pipelines["parse"].config["components"]["parser"]["model"]
    assert (model["templates"], model["beam"]) == ("zhang_clark_2011", 64)
    assert pipelines["constituents"].pipe_names == ["constituency"]


def heads_of(doc: spacy.tokens.Doc) -> tuple[int, ...]:
    return tuple(ROOT if token.head == token else token.head.i for token in doc)


@pytest.mark.parametrize("task", ["segment", "joint", "parse", "tag"])
def test_the_configs_are_what_init_config_gives(task: str) -> None:
    text = init_config(None, task=task, tag_map="ctb" if task == "joint" else None)
    given = Config().from_str(text, interpolate=False)
    kept = Config().from_disk(PROJECTS / f"ctb5/configs/{task}.cfg", interpolate=False)
    # They depend on the number of sentences.
    for config in (given, kept):
        assert config["training"].pop("eval_frequency") > 0
        config["training"].pop("patience")
    assert kept == given, "make the config anew: see the README of the project"
