"""Word lists: their formats and faults."""

from __future__ import annotations

from pathlib import Path

import pytest
from looped import looped

from spacy_structreg.corpora.corpus_errors import CorpusError
from spacy_structreg.corpora.tag_glossary import TAG_GLOSSARY
from spacy_structreg.corpora.tag_maps import FLAGS_OF_CTB, LIST_FLAGS, listed_tag
from spacy_structreg.corpora.word_lists import (
    LONGEST_ENTRY,
    ListedWord,
    WordListFormat,
    read_word_list,
)
from spacy_structreg.tasks.segmentation.user_words import (
    UserWords,
    read_user_words,
)

CEDICT = """# CC-CEDICT
#! version=1
中國 中国 [Zhong1 guo2] /China/
一 一 [yi1] /one/a/
AA制 AA制 [A A zhi4] /to go Dutch/
"""
JIEBA = """中国 34488 ns
一 217830 m

云计算 5
"""
WORDS = """#话题#
New York\tNR,NN
 北京 \tNR \t 120
苹果\t\t3
上海\t
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "words.txt"
    path.write_text(text, encoding="utf-8")
    return path


@looped(
    ("text", "expected", "format"),
    [
        (
            CEDICT,
            [("中國", (), 0), ("中国", (), 0), ("一", (), 0), ("AA制", (), 0)],
            "cedict",
        ),
        ("中國 中国 [Zhong1 guo2] /China/\n", [("中國", (), 0), ("中国", (), 0)], "cedict"),
        (JIEBA, [("中国", ("ns",), 34488), ("一", ("m",), 217830), ("云计算", (), 5)], "jieba"),
        (
            WORDS,
            [
                ("#话题#", (), 0),
                ("New York", ("NR", "NN"), 0),
                ("北京", ("NR",), 120),
                ("苹果", (), 3),
                ("上海", (), 0),
            ],
            "words",
        ),
    ],
)
def test_formats_are_told_apart(
    tmp_path: Path,
    text: str,
    expected: list[tuple[str, tuple[str, ...], int]],
    format: WordListFormat,
) -> None:
    path = written(tmp_path, text)
    assert list(read_word_list(path)) == [ListedWord(*entry) for entry in expected]
    assert list(read_word_list(path, format=format)) == list(read_word_list(path))


@looped(
    ("text", "line", "fault"),
    [
        (CEDICT + "中國 中国\n", 6, "no entry such as `中國"),
        (JIEBA * 20 + "中国 ns 34488\n", 81, "no entry such as `中国 34488 ns`"),
        ("词\tN\t3\t4\n", 1, "3 tabs"),
        ("词\tN\t-3\n", 1, "no whole number"),
        ("词\tN\t" + "9" * 5000 + "\n", 1, "no whole number"),
        ("词\tN,,V\n", 1, "an empty tag"),
        ("\tN\n", 1, "no word before the tab"),
        ("词" * (LONGEST_ENTRY + 1), 1, "255 are the most"),
        ("词\t" + "N" * (LONGEST_ENTRY + 1), 1, "255 are the most"),
        ("词\r词\n", 1, "carriage return"),
        ("# CC-CEDICT\n#! version=1\n", 1, "no word in the list"),
    ],
)
def test_faults_are_named_with_their_line(tmp_path: Path, text: str, line: int, fault: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(CorpusError, match=fault) as caught:
        list(read_word_list(path))
    assert (caught.value.file, caught.value.line) == (str(path), line)


def test_a_format_must_exist(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="unknown format 'xml'"):
        list(read_word_list(written(tmp_path, WORDS), format="xml"))  # type: ignore[arg-type]


# As jieba's own page has it, and others of its kind.
USER_DICTIONARIES = [
    "云计算 5\n李小福 2 nr\n创新办 3 i\neasy_install 3 eng\n好用 300\n台中\nEdu Trust认证 2000\n"
    "凱特琳 nz\n",
    "词 100 n\n",
    "詞 100\n",
    "云计算 5\n大数据 10\n北京\n",
    "台中 ns\n凱特琳 nz \n",
    "\n\n云计算  5\n",
]
WORDS_WITH_SPACES = [
    "New York\n纽约 大学\nWindows 10\n",
    "卡拉 OK\n卡拉 ok\n",
    "Windows 10\niPhone 15\n",
    "麦当劳\tNR\n奔驰 600\tNR\n",
    "3,000元\n赵,钱\nC++,Java\n",
]


@looped("text", USER_DICTIONARIES)
def test_user_dictionaries_of_jieba_are_known(tmp_path: Path, text: str) -> None:
    path = written(tmp_path, text)
    words = [entry.word for entry in read_word_list(path)]
    lines = [line.split("  ")[0] for line in text.split("\n") if line.strip()]
    assert words == ["Edu Trust认证" if "Trust" in line else line.split()[0] for line in lines]
    listed = UserWords()
    assert listed.load(path) == len(words)
    assert sorted(listed) == sorted(words)
    assert not listed.snapshot().tags


HANLP = """攻城狮 nz 6
李云 nr 2 v 3

川普
码农\tnnt\t1
"""


def test_dictionaries_of_hanlp_are_known(tmp_path: Path) -> None:
    path = written(tmp_path, HANLP)
    assert list(read_word_list(path)) == [
        ("攻城狮", ("nz",), 6),
        ("李云", ("nr", "v"), 5),
        ("川普", (), 0),
        ("码农", ("nnt",), 1),
    ]
    for line in ("中国 34488 ns", "中国 ns", "中国 ns 3 nr", "中国 ns -3", "中国 ns ３"):
        with pytest.raises(CorpusError, match=r":6: .*no entry such as `中国 ns 34488`"):
            list(read_word_list(written(tmp_path, HANLP + line)))


CTB = tuple(TAG_GLOSSARY["CTB"])


@looped(
    ("text", "tags", "expected"),
    [
        (HANLP, CTB, ["NR", None, None, "NN"]),
        ("李小福 2 nr\n创新办 3 i\n中国 ns\n跑 v\n云 5\n", CTB, ["NR", None, "NR", "VV", None]),
        # pkuseg's, whose users put a tab before a tag.
        ("云计算\tn\n北京\tNR\n上海\n", CTB, ["NN", "NR", None]),
        (HANLP, ("n", "nr", "nz", "nnt", "v"), ["nz", None, None, "nnt"]),
        # Of Universal Dependencies, to which no table leads.
        (HANLP, ("NN", "NNP", "VV"), [None] * 4),
        (HANLP, None, [None] * 4),
        ("云计算\tn\n", None, ["n"]),
    ],
)
def test_tags_of_dictionaries_are_mapped(
    text: str, tags: tuple[str, ...] | None, expected: list[str | None], tmp_path: Path
) -> None:
    path = written(tmp_path, text)
    assert [tag for _, tag in read_user_words(path, tags=tags)] == expected


@looped("line", ["易烊千玺 5 star\n云计算 5 n", "易烊千玺 star 5\n云计算 n 5", "易烊千玺\tstar"])
def test_an_unknown_tag_is_refused_with_its_line(line: str, tmp_path: Path) -> None:
    with pytest.raises(
        CorpusError, match=r":1: the model has no tag 'star'.*write one of"
    ) as caught:
        list(read_user_words(written(tmp_path, line), tags=CTB))
    assert "NN" in str(caught.value)


def test_flags_and_tags_have_meanings() -> None:
    """Tags that are mapped exist on both sides; of PFR's own, none has been forgotten."""
    assert {listed_tag(flag, CTB) for flag in LIST_FLAGS} <= {*CTB, None}
    assert {tag.lower() for tag in TAG_GLOSSARY["PFR"]} <= LIST_FLAGS
    assert FLAGS_OF_CTB.keys() == {*CTB}
    assert {*FLAGS_OF_CTB.values()} <= LIST_FLAGS


@looped("text", WORDS_WITH_SPACES)
def test_words_with_spaces_are_none_of_jieba(tmp_path: Path, text: str) -> None:
    path = written(tmp_path, text)
    expected = [line.split("\t")[0] for line in text.splitlines()]
    assert [word for word, _ in read_user_words(path)] == expected
    assert [entry.word for entry in read_word_list(path)] == expected


def test_entries_of_jieba_are_no_words(tmp_path: Path) -> None:
    """Neither one by one nor behind many lines; what has no tag may be a word."""
    words = UserWords()
    for entry in ("词 100 n", "詞 1 nr"):
        with pytest.raises(ValueError, match="looks like an entry of a dictionary of jieba"):
            words.add(entry)
        text = "北京\n" * 30 + entry
        formats: tuple[WordListFormat | None, ...] = (None, "words")
        for format in formats:
            with pytest.raises(CorpusError, match=r":31: the word .* looks like an entry"):
                words.load(written(tmp_path, text), format=format)
    for entry in (
        "云计算 5",
        "台中 ns",
        "石墨烯 NN",
        "easy_install 3 eng",
        "奔驰 600",
        "王 5 star",
        "创新办,3,i",
        "创新办,,nr",
        "北京,NR",
    ):
        with pytest.raises(ValueError, match="put a tab before the tag"):
            words.add(entry)
        for lines in ("北京\n" * 30 + entry, "卡拉 OK\n上海\n" * 2 + entry):
            path = written(tmp_path, lines)
            for read in (words.load, lambda path: list(read_word_list(path))):
                with pytest.raises(CorpusError, match="put a tab before the tag"):
                    read(path)
    # Commas of numbers and of phrases.
    for word in ("大5,000", "大5,", "好,好"):
        words.add(word)
        words.remove(word)
    words.add("奔驰 600", "NR")
    words.remove("奔驰 600")
    words.load(written(tmp_path, "奔驰 600\n"), format="words")
    assert UserWords().from_bytes(words.to_bytes()) == words
    assert list(words) == ["奔驰 600"]
    with pytest.raises(ValueError, match="unknown format 'x' of word lists"):
        words.load(written(tmp_path, text), format="x")  # type: ignore[arg-type]
