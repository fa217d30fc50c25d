"""`structreg draw`: which trees are drawn, into which files, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from pathlib import Path
from xml.etree import ElementTree

import pytest
import spacy
from click.testing import Result
from spacy.tokens import Doc, DocBin, Span
from spacy.vocab import Vocab

from spacy_structreg.corpora.drawing import tree_svg
from spacy_structreg.corpora.formats.brackets import constituency_sentences
from spacy_structreg.corpora.palette import readable_on_dark
from spacy_structreg.corpora.sentence import Sentence

Invoke = Callable[..., Result]
Runs = Callable[..., str]
Fails = Callable[..., str]

pytestmark = pytest.mark.usefixtures("extensions")

TREES = """\
( (IP (NP-SBJ (PN 我)) (VP (VV 看) (NP-OBJ (NN 书))) (PU 。)) )
( (IP (NP-SBJ (NP (-NONE- *pro*))) (VP (VA 好)) (PU <&>)) )
( (NN 字) )
"""


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "trees.bracket"
    path.write_text(TREES, "utf-8")
    return path


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pipeline that tags single characters, and finds constituents: from 我看书。"""
    folder = tmp_path_factory.mktemp("draw")
    (folder / "train.bracket").write_text(TREES, "utf-8")
    gold = list(constituency_sentences(folder / "train.bracket", "ctb"))[:1]
    nlp = spacy.blank("zh")
    tagger = nlp.add_pipe("structreg_tagger", name="tagger", config={"model": {"seed": 1}})
    pairs = list(zip(gold[0].words, gold[0].tags, strict=True))
    # Also twice in a Doc, as in the texts.
    tagger.estimator.fit([pairs, pairs * 2])
    config = {"sentences": "punctuation", "model": {"seed": 1}}
    pipe = nlp.add_pipe("structreg_constituency", name="constituency", config=config)
    pipe.estimator.fit(gold)
    nlp.to_disk(folder / "pipeline")
    return folder / "pipeline"


def texts(path: Path) -> list[str]:
    """What stands in a picture, which must be XML."""
    root = ElementTree.fromstring(path.read_text("utf-8"))
    assert root.tag.endswith("}svg")
    return sorted(each.text or "" for each in root.iter() if each.tag.endswith("}text"))


def test_a_folder_gets_a_picture_of_each_tree(corpus: Path, runs: Runs, tmp_path: Path) -> None:
    output = tmp_path / "new" / "pictures"
    assert runs("draw", corpus, "--output", output) == f"{output}: 3 pictures\n"
    assert sorted(path.name for path in output.iterdir()) == ["1.svg", "2.svg", "3.svg"]
    words = ["我", "看", "书", "。"]
    assert texts(output / "1.svg") == sorted(
        ["IP", "NP", "NP", "VP", "PN", "VV", "NN", "PU", *words]
    )
    # Empty elements and function tags are no part of it; words are escaped.
    assert texts(output / "2.svg") == sorted(["IP", "VP", "VA", "PU", "好", "<&>"])
    assert texts(output / "3.svg") == ["NN", "字"]


def test_names_sort_as_the_trees_stand(corpus: Path, runs: Runs, tmp_path: Path) -> None:
    corpus.write_text(TREES * 4, "utf-8")
    runs("draw", corpus, "-o", tmp_path / "pictures")
    names = sorted(path.name for path in (tmp_path / "pictures").iterdir())
    assert names == [f"{number:02}.svg" for number in range(1, 13)]
    assert texts(tmp_path / "pictures" / names[11]) == ["NN", "字"]


def test_one_tree_as_a_file(corpus: Path, runs: Runs, fails: Fails, tmp_path: Path) -> None:
    output = tmp_path / "tree.svg"
    assert "an .svg file holds one tree, and there are more" in fails("draw", corpus, "-o", output)
    assert not output.exists()
    assert runs("draw", corpus, "-o", output, "--limit", 1) == f"{output}: 1 picture\n"
    (tree, *_) = constituency_sentences(corpus, "ctb")
    assert output.read_text("utf-8") == readable_on_dark(tree_svg(tree))
    options = ("--limit", 1, "--heads", "--head-rules", "ctb")
    runs("draw", corpus, "-o", output, *options)
    assert output.read_text("utf-8") == readable_on_dark(tree_svg(tree, heads=True))
    assert "name --head-rules" in fails("draw", corpus, "-o", output, "--heads", "-n", 1)


def test_a_page(corpus: Path, runs: Runs, tmp_path: Path) -> None:
    output = tmp_path / "trees.html"
    assert runs("draw", corpus, "--output", output) == f"{output}: 3 pictures\n"
    page = output.read_text("utf-8")
    assert page.count("<svg ") == 3
    assert '<meta charset="utf-8">' in page
    assert "<title>trees.bracket</title>" in page
    assert "&lt;&amp;&gt;" in page


def test_spans(corpus: Path, runs: Runs, fails: Fails, tmp_path: Path) -> None:
    output = tmp_path / "trees.html"
    # A bare word has no span.
    assert runs("draw", corpus, "-o", output, "--style", "span") == f"{output}: 2 pictures\n"
    page = output.read_text("utf-8")
    assert page.count("<svg ") == 2
    folder = tmp_path / "pictures"
    runs("draw", corpus, "-o", folder, "--style", "span")
    assert sorted(path.name for path in folder.iterdir()) == ["1.svg", "2.svg"]
    assert texts(folder / "1.svg") == sorted(["IP", "NP", "NP", "VP", "我", "看", "书", "。"])
    message = fails("draw", corpus, "-o", output, "--style", "span", "--heads")
    assert "--heads is of --style tree, not of span" in message


CONLLU = """\
1\t我\t_\tPRON\tPN\t_\t2\tnsubj:a_long_subtype\t_\t_
2\t看\t_\tVERB\tVV\t_\t0\troot\t_\t_
3\t<书>\t_\tNOUN\tNN\t_\t2\tobj&\t_\t_

1\t好\t_\tADJ\tVA\t_\t_\t_\t_\tSpaceAfter=No

1\t看\t_\tVERB\tVV\t_\t0\troot\t_\t_

"""
ARCS = ["ROOT", "nsubj:a_long_subtype", "obj&", "PN", "VV", "NN", "我", "看", "<书>"]


def test_dependency_trees(corpus: Path, runs: Runs, fails: Fails, tmp_path: Path) -> None:
    path = tmp_path / "trees.conllu"
    path.write_text(CONLLU, "utf-8")
    output = tmp_path / "pictures"
    # The second sentence has no tree.
    assert runs("draw", path, "-o", output) == f"{output}: 2 pictures\n"
    assert texts(output / "1.svg") == sorted(ARCS)
    assert texts(output / "2.svg") == sorted(["ROOT", "看", "VV"])
    page = tmp_path / "trees.html"
    assert runs("draw", path, "-o", page, "--style", "dep") == f"{page}: 2 pictures\n"
    assert "<书>" not in page.read_text("utf-8")
    assert "no sentence has a tree to draw" in fails("draw", path, "-o", page, "--style", "tree")
    assert "--heads is of --style tree" in fails("draw", path, "-o", page, "-s", "dep", "--heads")
    # Of Docs with both, the phrases are drawn, unless arcs are asked for.
    docs = tmp_path / "docs.spacy"
    runs("convert", corpus, docs, "--head-rules", "ctb")
    both = {name: tmp_path / name for name in ("any", "dep")}
    runs("draw", docs, "-o", both["any"])
    runs("draw", docs, "-o", both["dep"], "--style", "dep")
    assert "IP" in texts(both["any"] / "1.svg")
    assert texts(both["dep"] / "1.svg").count("ROOT") == 1
    assert "IP" not in texts(both["dep"] / "1.svg")
    # Trees in brackets have heads by rules alone.
    again = tmp_path / "again"
    assert "name --head-rules" in fails("draw", corpus, "-o", again, "--style", "dep")
    options = ("--style", "dep", "--head-rules", "ctb")
    runs("draw", corpus, "-o", again, *options)
    assert (again / "1.svg").read_bytes() == (both["dep"] / "1.svg").read_bytes()


def test_a_parser_of_a_pipeline(runs: Runs, fails: Fails, tmp_path: Path) -> None:
    nlp = spacy.blank("zh")
    parser = nlp.add_pipe("structreg_parser", name="parser")
    nlp.to_disk(tmp_path / "untrained")
    words = ("我", "看", "书")
    gold = Sentence(words, ("", "", ""), (1, -1, 1), ("nsubj", "ROOT", "obj"))
    parser.estimator.fit([gold])
    nlp.to_disk(tmp_path / "parser")
    output = tmp_path / "tree.svg"
    arguments = ("-", "-o", output, "--pipeline")
    runs("draw", *arguments, tmp_path / "parser", stdin="我看书".encode())
    assert texts(output) == sorted([*words, "nsubj", "ROOT", "obj"])
    message = fails("draw", *arguments, tmp_path / "untrained", stdin="我看书".encode())
    assert message.startswith("the pipe 'parser' of the pipeline")
    message = fails("draw", *arguments, tmp_path / "parser", "--style", "span")
    assert message.endswith("finds constituents; train one with 'init-config --task constituency'")


@pytest.mark.parametrize("style", ["span", "tree"])
def test_no_markup_of_a_corpus_reaches_a_page(style: str, runs: Runs, tmp_path: Path) -> None:
    path = tmp_path / "<i>.bracket"
    path.write_text("( (IP (<script> (NN <b>) (NN 书)) (VP (VA &好))) )\n", "utf-8")
    output = tmp_path / "trees.html"
    assert runs("draw", path, "-o", output, "--style", style) == f"{output}: 1 picture\n"
    page = output.read_text("utf-8")
    for markup in ("<script>", "<b>", "<i>", "&好"):
        assert markup not in page
        assert escape(markup) in page


def test_docs(runs: Runs, fails: Fails, tmp_path: Path) -> None:
    vocab = Vocab()
    words = ["我", "看", "\n", "好", "书"]
    doc = Doc(vocab, words=words, spaces=[False] * 5, tags=["PN", "VV", "_SP", "VA", "NN"])
    doc.spans["constituents"] = [Span(doc, 0, 2, label="IP"), Span(doc, 3, 5, label="NP")]
    path = tmp_path / "docs.spacy"
    DocBin(docs=[doc]).to_disk(path)
    output = tmp_path / "pictures"
    # Without heads, for which nobody has asked.
    assert runs("draw", path, "-o", output) == f"{output}: 2 pictures\n"
    assert texts(output / "2.svg") == sorted(["NP", "VA", "NN", "好", "书"])
    assert "has no head" in fails("draw", path, "-o", output, "--heads")
    doc.spans.clear()
    DocBin(docs=[doc]).to_disk(path)
    assert fails("draw", path, "-o", output) == f"{path}: no sentence has a tree to draw"


def test_texts(pipeline: Path, characters: str, runs: Runs, fails: Fails, tmp_path: Path) -> None:
    output = tmp_path / "pictures"
    text = "我看书。我看书。\n\n我看书。".encode()
    printed = runs("draw", "-", "--pipeline", pipeline, "-o", output, stdin=text)
    assert printed == f"{output}: 3 pictures\n"
    path = tmp_path / "text.txt"
    path.write_bytes(text)
    runs("draw", path, "-p", pipeline, "-o", tmp_path / "again", "-n", 2)
    found = [texts(file) for file in (*output.iterdir(), *(tmp_path / "again").iterdir())]
    assert found == [found[0]] * 5
    assert found[0].count("IP") == 1
    message = fails("draw", path, "-p", characters, "-o", output)
    assert "finds constituents or heads; train one with 'init-config --task" in message
    message = fails("draw", path, "-p", characters, "-o", output, "--style", "dep")
    assert message.endswith("finds heads; train one with 'init-config --task parse'")
    nlp = spacy.load(pipeline)
    nlp.remove_pipe("constituency")
    nlp.add_pipe("structreg_constituency", name="constituency")
    nlp.to_disk(tmp_path / "untrained")
    message = fails("draw", path, "-p", tmp_path / "untrained", "-o", output)
    assert message.startswith("the pipe 'constituency' of the pipeline")
    assert message.endswith("has not been trained")
    path.write_text(" \n", "utf-8")
    assert "no sentence has a tree to draw" in fails("draw", path, "-p", pipeline, "-o", output)


def test_corpora_without_trees(fails: Fails, text: str, tmp_path: Path) -> None:
    path = tmp_path / "corpus.txt"
    path.write_text(text, "utf-8")
    assert "no sentence has a tree to draw" in fails("draw", path, "-o", tmp_path / "pictures")
    assert not (tmp_path / "pictures").exists()
