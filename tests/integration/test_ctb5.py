"""The project `ctb5`, on the treebank of the quickstart laid out as a release of the LDC."""

from __future__ import annotations

from pathlib import Path

import pytest
import spacy
from project_runs import PROJECTS, copy_of, copy_systems, report_of, run, run_project
from test_treebank import TREEBANK, leaves

from spacy_structreg.corpora.dependencies import ROOT, is_projective
from spacy_structreg.corpora.formats.brackets import read_brackets
from spacy_structreg.corpora.formats.conllu import dependency_sentences
from spacy_structreg.corpora.trees import Tree

SCRIPT = PROJECTS / "ctb5/scripts/prepare.py"
# Which sentences of the treebank stand in which article, and where the splits put it.
ARTICLES = {
    1: ("train", slice(0, 80)),
    816: ("train", slice(80, 95)),
    931: ("train", slice(95, 105)),
    1151: ("train", slice(105, 120)),
    301: ("dev", slice(20)),
    271: ("test", slice(20)),
}
SEGMENTATION = {"train": (1, 816, 931, 1151), "dev": (301,), "test": (271,)}
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
    folder = copy_of("ctb5", tmp_path, epochs=2)
    options = ("--vars.release", str(release), "--vars.counts", "any", "--vars.models", "2")
    joint = ("--vars.joint_models", "2")
    small = ("--vars.folds", "2", "--vars.beam", "4")
    for workflow, further in (
        *(("segment", ()), ("joint", joint), ("parse", ()), ("raw", joint)),
        *(("constituents", small), ("constituents-ctb2", small)),
    ):
        run_project(folder, workflow, *options, *further, data=None)
    for part, articles in PARSING.items():
        expected = pairs_of(articles)
        gold = list(dependency_sentences(folder / f"corpus/parsing/{part}.conllu"))
        assert [[*zip(tree.words, tree.tags, strict=True)] for tree in gold] == expected
        docs = spacy.tokens.DocBin().from_disk(folder / f"corpus/parsing/{part}.spacy")
        for tree, doc in zip(gold, docs.get_docs(spacy.Vocab()), strict=True):
            assert tree.heads.count(ROOT) == 1
            assert is_projective(tree.heads)
            heads = (ROOT if token.head == token else token.head.i for token in doc)
            assert tuple(heads) == tree.heads

    tagged = ["tagger", "constituency"]
    for metrics, given, key, pipeline, pipes in (
        ("segment", "text", "seg_f", "segment/model-best", ["tokenizer_trainer"]),
        ("joint", "text", "joint_f", "joint/model-best", ["tokenizer_trainer"]),
        ("parse", "words,tags", "dep_uas", "parse/model-best", ["parser"]),
        ("parse/arc_standard/test", "words,tags", "dep_uas", "parse/arc_standard/model-best",
         ["parser"]),
        ("raw", "text", "uas_f", "raw/model-best", ["parser"]),
        *(
            (f"{name}{path}", given, "brackets_f", f"{name}{path}/model-best", pipes)
            for name in ("constituents", "constituents-ctb2")
            for path, given, pipes in (
                ("", "words,tags", ["constituency"]), ("/tagged", "words", tagged)
            )
        ),
    ):  # fmt: skip
        report = report_of(folder, f"{metrics}.json")
        assert report["given"] == given
        assert 0.2 < report[key] < 1, metrics
        assert spacy.load(folder / "training" / pipeline).pipe_names == pipes, pipeline
    n_words = sum(map(len, pairs_of(SEGMENTATION["test"])))
    assert report_of(folder, "joint.json")["counts"]["joint"]["gold"] == n_words
    n_words = sum(map(len, pairs_of(PARSING["test"])))
    assert report_of(folder, "raw.json")["counts"]["dependencies"]["gold"] == n_words
    # Heads are those of the head rules.
    assert 0 < report_of(folder, "constituents.json")["dep_nonroot_nopunct"] < 1


@pytest.mark.slow
def test_the_systems_of_zhang_and_clark(release: Path, tmp_path: Path) -> None:
    folder = copy_of("ctb5", tmp_path)
    copy_systems(tmp_path, epochs=1)
    run_project(folder, "zc11", "--vars.release", str(release), "--vars.counts", "any", data=None)
    for name, given, figure in (
        *(("segment", "text", "seg_f"), ("joint", "text", "joint_f")),
        *(("parse", "words,tags", "dep_uas"), ("constituents", "words,tags", "brackets_f")),
    ):
        report = report_of(folder, f"zc11/{name}.json")
        assert report["given"] == given
        assert 0.3 < report[figure] < 1
    pipelines = (f"training/zc11/{name}/model-best" for name in ("segment", "joint", "parse"))
    segment, joint, parse = (spacy.load(folder / path) for path in pipelines)
    assert segment.tokenizer.model.settings.characters
    tagger = joint.tokenizer.model
    assert (tagger.KIND, tagger.settings.typed_runs) == ("word_joint_tagger", "latin")
    model = parse.config["components"]["parser"]["model"]
    assert (model["templates"], model["beam"]) == ("zhang_clark_2011", 64)
