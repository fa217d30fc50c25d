"""Formats told from the beginnings of files, and texts that give word boundaries away."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import pytest
from looped import looped
from sighan_release import write_archive, write_release

from spacy_structreg.corpora import formats
from spacy_structreg.corpora.any_format import all_formats, find_format, write_sentences
from spacy_structreg.corpora.corpus_errors import CorpusError
from spacy_structreg.corpora.corpus_options import CorpusOptions, parse_columns
from spacy_structreg.corpora.files import replace_text
from spacy_structreg.corpora.formats.columns import read_columns
from spacy_structreg.corpora.formats.conllu import read_conllu
from spacy_structreg.corpora.formats.segmented import check_raw_lines
from spacy_structreg.corpora.formats.sighan import find_sighan
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.pipeline.gold_docs import read_sentences

CONLLU_ROW = "{}\t我们\t_\tPRON\tPN\t_\t{}\tnsubj\t_\t_\n"
SEGMENTED = "我们 昨天 去 了 学校 。\n"
RAW = "我们昨天去了学校，没有见到老师。\n"


def guess(tmp_path: Path, text: str) -> str:
    # The name says nothing.
    path = tmp_path / "corpus.pdf"
    path.write_bytes(text.encode())
    return find_format(path).name


@looped(
    ("text", "expected"),
    [
        (SEGMENTED, "segmented"),
        (SEGMENTED.replace(" ", "\u3000"), "segmented"),
        ("好 。\n对\n\n" + SEGMENTED, "segmented"),
        (SEGMENTED + RAW, "segmented"),
        # Only the beginning counts.
        (SEGMENTED * 200 + RAW * 1000 + "\0", "segmented"),
        ("We went to school .\nYes\n", "segmented"),
        ("( 新华社 北京 电 ) 我们 去 。\n", "segmented"),
        ("（ 一 ） 我们 去 1/2 次 和/或 不 去 。\n", "segmented"),
        ("# 我们 去 。\n", "segmented"),
        ("( (IP (NP (PN 我们)) (VP (VV 去))) )\n", "brackets"),
        ("<DOC>\n<S ID=1>\n(IP\n  (NP (PN 我们))\n  (VP (VV 去)))\n</S>\n", "brackets"),
        ("<DATE>\n2026\n</DATE>\n<S ID=1>\n(IP\n  (NP (PN 我们))\n  (VP (VV 去)))\n", "brackets"),
        ("(NN 书)\n", "brackets"),
        ("#1:1.[0] S(agent:NP(Head:Nhaa:我)|Head:VA:來)#。(PERIODCATEGORY)\n", "sinica"),
        ("#1:1.[0] S(Head:VA:來)#，\n" * 9 + "#2:1.[0] #，\n", "sinica"),
        ("#1:1.[0] 我们 去 # 学校 。\n#[ 他们 ] 来 。\n", "segmented"),
        (CONLLU_ROW.format(1, 0), "conllu"),
        ("# sent_id = 1\n" * 300 + CONLLU_ROW.format(1, 0), None),
        ("# text = x\n# x y\n" + CONLLU_ROW.format("1-2", "_") + "\n\n", "conllu"),
        (CONLLU_ROW.format("1.1", "_") + CONLLU_ROW.format(1, 0) + "1\tfaulty\n", "conllu"),
        ("20010305-02-003-001/m  他/r  在/p  [北方/f  大学/n]nt  。/w  \n\n", "pfr"),
        ("他/PN 来/VV-SHORT ]/PU\n", "pfr"),
        ("他/r 来/v " * 9 + "错\n", "pfr"),
        ("他_PN 来_VV 了_AS\n", "tagged"),
        ("a_b/n c_d/n\n", "pfr"),
        ("他_PN 来_VV 1/2_CD\n", "tagged"),
        ("我 用 a/b 和 c_d\n", "segmented"),
    ],
)
def test_formats(tmp_path: Path, text: str, expected: str | None) -> None:
    if expected is None:
        with pytest.raises(CorpusError):
            guess(tmp_path, text)
    else:
        assert guess(tmp_path, text) == expected


LISPED = """
from spacy_structreg.corpora.corpus_format import Format
from spacy_structreg.corpora.sentence import Sentence

def read(path, options):
    for line in path.read_text("utf-8").splitlines():
        yield Sentence(tuple(line.split("~")))

def write(path, sentences):
    path.write_text("".join("~".join(each.words) + "\\n" for each in sentences), "utf-8")

FORMAT = Format(
    "lisped", "words between tildes", 5, read, lambda lines: all("~" in each for each in lines),
    written_suffix=".lisp", write=write,
)
"""


def test_a_format_is_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lisped_format.py").write_text(LISPED, "utf-8")
    monkeypatch.setattr(formats, "__path__", [*formats.__path__, str(tmp_path)])
    all_formats.cache_clear()
    try:
        write_sentences(tmp_path / "a.lisp", [Sentence(("我们", "来"), ("PN", "VV"))])
        assert find_format(tmp_path / "a.lisp").name == "lisped"
        assert list(read_sentences(tmp_path / "a.lisp")) == [Sentence(("我们", "来"))]
        with pytest.raises(ValueError, match=r"--days is for the format pfr, .* read as lisped"):
            find_format(tmp_path / "a.lisp", CorpusOptions(days=frozenset({1})))
    finally:
        all_formats.cache_clear()
        sys.modules.pop("spacy_structreg.corpora.formats.lisped_format", None)


def test_the_manual_has_all_formats() -> None:
    manual = (Path(__file__).parents[2] / "docs/formats.md").read_text("utf-8")
    assert [name for name in all_formats() if f"| `{name}` |" not in manual] == []


@looped("suffix", [".conllu", ".CoNLLU", ".conllu.gz", ".conllu.xz", ".mrg"])
@looped(
    ("text", "line", "fault"),
    [
        (SEGMENTED, 1, "1 columns instead of 10"),
        ("# a\n1\t我们\n2\t来\n", 2, "2 columns instead of 10"),
        ("1\t我们\tPN\n2\t来\tVV\n", 1, "3 columns instead of 10"),
        (CONLLU_ROW.format("１", 0), 1, "'１' is no ID"),
        (CONLLU_ROW.format(1, 0) + CONLLU_ROW.format("٢", 1), 2, "'٢' is no ID"),
        (CONLLU_ROW.format(1, "０"), 1, "the head '０' is no word"),
        ("", 1, "no sentence in the file"),
    ],
)
def test_the_extension_says_what_the_content_must_be(
    tmp_path: Path, text: str, suffix: str, line: int, fault: str
) -> None:
    path = tmp_path / ("corpus" + suffix)
    with replace_text(path) as stream:
        stream.write(text)
    is_tree = suffix == ".mrg"
    assert find_format(path).name == ("brackets" if is_tree else "conllu")
    with pytest.raises(CorpusError, match="stands outside|no tree" if is_tree else fault) as caught:
        list(read_sentences(path))
    assert (caught.value.file, caught.value.line) == (str(path), 1 if is_tree else line)


@looped(
    ("text", "columns", "warning"),
    [
        ("我们\n来\n", None, "no line has white space"),
        ("我们 来\n走\n", None, ""),
        ("我1 们2\n来3 去4 了5\n", None, "every one of the 5 words ends in a digit"),
        ("我1 们2\n来3 去4 了\n", None, ""),
        ("我1 们2\n来3 去4\n", None, ""),
        ("1\t我\tN\n2\t去\tV\n\n" * 3, "word,_,tag", "every one of the 6 words ends"),
        ("１\t我\tN\n２\t去\tV\n\n" * 3, "word,_,tag", "every one of the 6 words ends"),
        ("1\t我\tN\n2\t去\tV\n\n" * 3, "_,word,tag", ""),
    ],
)
def test_what_is_hardly_words_is_warned_of_once(
    tmp_path: Path,
    text: str,
    columns: str | None,
    warning: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    path = tmp_path / "corpus.txt"
    path.write_text(text, "utf-8")
    caplog.clear()
    format = "segmented" if columns is None else "columns"
    list(read_sentences(path, CorpusOptions(format, columns=parse_columns(columns))))
    messages = [record.getMessage() for record in caplog.records]
    assert [message.partition(f"{path}: ")[2][: len(warning)] for message in messages] == (
        [warning] if warning else []
    )


@looped(
    ("text", "line", "fault"),
    [
        ("", 1, "no text in the file"),
        ("\n \n\u3000\n", 3, "no text in the file"),
        ("\n\n" + RAW, 3, "the text does not seem to be segmented"),
        (RAW * 500, 1, "cannot be told .*; if it is a corpus, name its format"),
        ("学校\n图书馆\n", 1, "does not seem to be segmented"),
        (RAW * 2 + SEGMENTED, 1, "does not seem to be segmented"),
        ("one\ntwo\nthree\nfour five\n", 1, "most lines have no white space"),
        ("我 B-PER\n们 I-PER\n去 O\n了 O\n\n我 S\n", 1, "one word with its label"),
        ("EU\tNNP\tO\n" * 5, 1, "one word with its label"),
        ("我\tPN\t2\n去\tVV\t0\n" * 3, 1, "one word with its label"),
        ("好 \0\n", 1, "NUL character"),
        ("1\t我们\n2\t来\n", 1, "numbered, but have no ten columns"),
        ("# a\n\n1\t我们\tPN\n2\t来\tVV\n", 1, "numbered, but have no ten columns"),
        ("１\t我们 来\n２\t他 走\n", 1, "numbered, but have no ten columns"),
        (CONLLU_ROW.format("١", 0) + CONLLU_ROW.format("٢", 1), 1, "numbered, but have no ten"),
    ],
)
def test_what_cannot_be_told(tmp_path: Path, text: str, line: int, fault: str) -> None:
    with pytest.raises(CorpusError, match=fault) as caught:
        guess(tmp_path, text)
    assert caught.value.line == line


@looped(
    "text",
    [
        "(" + " " * 90_000 + "x",
        "(" + "x " * 45_000,
        "<" + "> " * 45_000 + "x",
        "[" * 90_000,
        "/" * 90_000 + " " + "/a" * 45_000 + "]",
        "a_" * 45_000 + "!",
        "我 " * 45_000,
        "1\t" * 45_000,
    ],
)
def test_long_lines_are_no_burden(tmp_path: Path, text: str) -> None:
    # A pattern that takes quadratic time would not end here.
    path = tmp_path / "corpus"
    path.write_text((text + "\n") * 3, "utf-8")
    try:
        guessed = find_format(path).name
    except CorpusError:
        guessed = "none"
    assert guessed in ("none", "segmented", "pfr")


@looped("name", ["words.conllu", "words.tagged"])
def test_names_of_brackets_are_brackets(tmp_path: Path, name: str) -> None:
    """Whole words alone: other words are as they stand."""
    words = ["-LRB-", "-RRB-", "-LSB-", "-RSB-", "-LCB-", "-RCB-", "x-LRB-", r"1\/2"]
    path = tmp_path / name
    if name.endswith("conllu"):
        rows = [f"{i}\t{w}\t_\t_\tPU" + "\t_" * 5 for i, w in enumerate(words, 1)]
        path.write_text("\n".join(rows) + "\n\n", "utf-8")
        format = "conllu"
    else:
        path.write_text(" ".join(f"{w}_PU" for w in words) + "\n", "utf-8")
        format = "tagged"
    found = [each.pairs() for each in read_sentences(path, CorpusOptions(format))]
    expected = [*"()[]{}", "x-LRB-", r"1\/2"]
    assert found == [[(word, "PU") for word in expected]]
    path.write_text("\n".join(f"{w}\tPU" for w in words) + "\n", "utf-8")
    assert list(read_columns(path, ("word", "label"))) == found


def test_compressed_and_encoded_files(tmp_path: Path) -> None:
    path = tmp_path / "corpus.gz"
    path.write_bytes(gzip.compress(SEGMENTED.encode("gb18030"), mtime=0))
    assert find_format(path, CorpusOptions(encoding="gb18030")).name == "segmented"
    with pytest.raises(FileNotFoundError):
        find_format(tmp_path / "missing")


def test_the_release_of_sighan(tmp_path: Path) -> None:
    assert find_format(write_release(tmp_path)).name == "sighan"
    assert find_format(tmp_path).name == "sighan"
    assert find_format(write_archive(tmp_path / "x.zip")).name == "sighan"
    for source in (Path(__file__).parent, write_archive(tmp_path / "y.zip", {"README": b""})):
        with pytest.raises(ValueError, match=r"SIGHAN 2005 release .* the format brackets"):
            find_format(source)


HEADING = "第一章 回到 学校\n"


class TestRawText:
    @looped(
        "text",
        [
            "",
            RAW * 10,
            SEGMENTED,  # a single line may be natural
            HEADING + RAW * 9,
            (HEADING + RAW * 9) * 10,
            HEADING * 2 + RAW * 9,
            "我用 Python 写 1 2 3 。\n" * 9,
            "no Han here\n" * 9,
            "好 。 ！ 是\n" * 9,
        ],
    )
    def test_passes(self, text: str) -> None:
        check_raw_lines(text.splitlines(), "raw.txt")

    @looped(
        ("text", "line", "share"),
        [
            (SEGMENTED * 2, 1, "2 of 2"),
            (RAW + SEGMENTED.replace(" ", "\u3000") * 3, 2, "3 of 4"),
            ("\n" + "我 A\n" * 50 + SEGMENTED * 9 + RAW, 52, "9 of 10"),
            (RAW * 8 + HEADING * 2, 9, "2 of 10"),
        ],
    )
    def test_is_refused(self, text: str, line: int, share: str) -> None:
        fault = f"here and in {share} lines gives word boundaries away; remove it, or name"
        with pytest.raises(CorpusError, match=fault) as caught:
            check_raw_lines(iter(text.split("\n")), "x")
        assert (caught.value.file, caught.value.line) == ("x", line)

    def test_long_runs_of_white_space_are_no_burden(self) -> None:
        check_raw_lines(["我" + " " * 100_000 + "a"] * 5 + ["我 " * 100_000], "x")


class TestRealFiles:
    @looped("corpus", ["as", "cityu", "msr"])
    def test_raw_and_gold(self, data_folder: Path, corpus: str) -> None:
        source = data_folder / "sighan2005"
        raw, gold = (find_sighan(source, corpus, part) for part in ("test_raw", "test"))
        check_raw_lines((line for _, line in raw.lines()), "raw")
        with pytest.raises(CorpusError, match="gives word boundaries away"):
            check_raw_lines((line for _, line in gold.lines()), "gold")
        with pytest.raises(CorpusError, match="does not seem to be segmented"):
            find_format(raw.path)

    def test_text_of_treebanks(self, data_folder: Path) -> None:
        new = read_conllu(data_folder / "ud-chinese-gsd-2.17/zh_gsd-ud-dev.conllu.xz")
        check_raw_lines((sentence.raw_text() for sentence in new), "new")
        old = list(read_conllu(data_folder / "ud-chinese-gsd-1.4/zh-ud-dev.conllu"))
        check_raw_lines((sentence.raw_text(spaces=False) for sentence in old), "old")
        with pytest.raises(CorpusError, match="gives word boundaries away"):
            check_raw_lines((sentence.raw_text() for sentence in old), "old")
