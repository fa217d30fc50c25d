"""Releases of the Chinese Treebank, laid out by the tests with trees of our own."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from studies import ctb
from studies.ctb import (
    CTB_SPLITS,
    CtbPart,
    article_encoding,
    check_counts,
    list_articles,
    read_articles,
)

from spacy_structreg.corpora.corpus_errors import CorpusError
from spacy_structreg.corpora.formats.brackets import read_brackets
from spacy_structreg.corpora.trees import Tree

TREEBANK = Path(__file__).parents[2] / "treebank"


@pytest.fixture(scope="module")
def trees() -> list[Tree]:
    return list(read_brackets(TREEBANK / "dev/general.bracket"))


def marked_up(trees: list[Tree], article: int) -> str:
    """An article as release 5 has it."""
    sentences = "".join(
        f"<S ID={number}>\n( {tree.without_root().to_bracket(1)} )\n</S>\n"
        for number, tree in enumerate(trees, start=1)
    )
    return (
        f"<DOC>\n<DOCID> A{article} </DOCID>\n<HEADER>\n<DATE>\n2026-11-21\n</DATE>\n</HEADER>\n"
        f"<BODY>\n<HEADLINE>\n{sentences}</HEADLINE>\n</BODY>\n</DOC>\n"
    )


def plain(trees: list[Tree]) -> str:
    return "\n\n".join(tree.to_bracket(2) for tree in trees)


def test_release_5(tmp_path: Path, trees: list[Tree]) -> None:
    release = tmp_path / "ctb5" / "data"
    for folder in ("bracketed", "postagged", "raw"):
        (release / folder).mkdir(parents=True)
    for article, part in ((1, trees[:20]), (301, trees[20:30]), (1151, trees[30:])):
        path = release / "bracketed" / f"chtb_{article:03}.fid"
        path.write_bytes(marked_up(part, article).encode("gb18030"))
        (release / "postagged" / f"chtb_{article:03}.pos").write_text("书_NN")
    (release / "bracketed" / "readme.txt").write_text("no article")

    files = list_articles(tmp_path / "ctb5")
    assert list(files) == [1, 301, 1151]
    assert list_articles(release / "bracketed") == files
    assert article_encoding(files[1]) == "gb18030"
    assert list(read_articles(files, [301, 302, 1151])) == trees[20:]
    train = CTB_SPLITS["segmentation"]["train"]
    assert list(read_articles(files, train.numbers())) == trees[:20] + trees[30:]


def test_later_releases(tmp_path: Path, trees: list[Tree]) -> None:
    folder = tmp_path / "bracketed"
    folder.mkdir()
    (folder / "chtb_0001.nw").write_text(plain(trees[:5]), "utf-8")
    (folder / "chtb_2946.bn").write_bytes(b"\xef\xbb\xbf" + plain(trees[5:9]).encode())
    with gzip.open(folder / "chtb_1001.mz.gz", "wt", encoding="utf-8") as stream:
        stream.write(marked_up(trees[9:], 1001))
    files = list_articles(tmp_path)
    assert list(files) == [1, 1001, 2946]
    assert {article_encoding(path) for path in files.values()} == {"utf-8"}
    assert list(read_articles(files, [1, 2946, 1001])) == trees


def test_the_encoding_is_told_from_the_beginning_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ctb, "LONGEST_LINE", 10)
    path = tmp_path / "chtb_001.fid"
    for encoding, text in (("utf-8", "书书书书"), ("gb18030", "书 书书书书")):
        path.write_bytes(text.encode(encoding) + b"\xff")
        assert article_encoding(path) == encoding


def test_folders_that_are_no_release(tmp_path: Path, trees: list[Tree]) -> None:
    with pytest.raises(ValueError, match="no file of the Chinese Treebank"):
        list_articles(tmp_path / "nowhere")
    (tmp_path / "chtb_001.pos").write_text("书_NN")
    with pytest.raises(ValueError, match=r"no file of .* name the folder of the release"):
        list_articles(tmp_path)
    for folder in ("gb/bracketed", "utf-8/bracketed"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "chtb_0001.fid").write_text(plain(trees), "utf-8")
    with pytest.raises(ValueError, match=r"several folders hold the trees .* name one of them"):
        list_articles(tmp_path)
    assert list(list_articles(tmp_path / "utf-8")) == [1]
    (tmp_path / "gb/bracketed/chtb_001.fid").write_text(plain(trees), "utf-8")
    with pytest.raises(ValueError, match="are both article 1; remove one of them"):
        list_articles(tmp_path / "gb")


def test_faults_come_with_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "chtb_001.fid"
    path.write_bytes("<S ID=1>\n(NN 书)\n</S>\n<S ID=2>\n(NP (NN 笔)\n</S>\n".encode("gb18030"))
    with pytest.raises(CorpusError, match="mark-up inside the tree") as raised:
        list(read_articles(list_articles(tmp_path), [1]))
    assert raised.value.line == 6
    path.write_bytes(b"(NN \xff\xff)")
    with pytest.raises(CorpusError, match="is not gb18030"):
        list(read_articles({1: path}, [1]))
    damaged = tmp_path / "chtb_002.fid.gz"
    damaged.write_bytes(gzip.compress(b"(NN a)")[:-9])
    with pytest.raises(CorpusError, match="damaged or truncated"):
        list(read_articles({2: damaged}, [2]))


def test_counts_may_differ_a_little() -> None:
    part = CtbPart((range(1, 4), range(7, 8)), 200, 3000)
    check_counts("dev", part, 202, 2970)
    with pytest.raises(ValueError, match=r"dev: 203 sentences, but articles 1-3, 7-7 .* have 200"):
        check_counts("dev", part, 203, 3000)
    with pytest.raises(ValueError, match=r"2,969 words, .* see that all files"):
        check_counts("dev", part, 200, 2969)
