"""Tagged text: paragraphs of the PFR corpus by hand, faults with their lines."""

from __future__ import annotations

import datetime
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from looped import looped

from spacy_structreg.corpora.any_format import read_sentences
from spacy_structreg.corpora.corpus_errors import CorpusError
from spacy_structreg.corpora.corpus_options import Compounds, CorpusOptions
from spacy_structreg.corpora.formats.pfr import Compound, Paragraph, read_pfr
from spacy_structreg.corpora.formats.tagged import read_tagged

# Days of the month of the usual split of January 1998.
DAYS = {"train": range(1, 25), "dev": range(25, 28), "test": range(28, 32)}

# Two compounds, one of a single word; the separators that the corpus has, and a blank line.
TEXT = (
    "20010305-02-003-001/m  [北方/f  广播/vn   学校/n]nt 的/u  [天山/ns]nz 分校/n  \r\n"
    "\r\n"
    "20010331-11-012-013/m  今天/t  开学/v  。/w\r\n"
)
FIRST = Paragraph(
    (("北方", "f"), ("广播", "vn"), ("学校", "n"), ("的", "u"), ("天山", "ns"), ("分校", "n")),
    (Compound(0, 3, "nt"), Compound(4, 5, "nz")),
    "20010305-02-003-001",
)
SECOND = Paragraph((("今天", "t"), ("开学", "v"), ("。", "w")), (), "20010331-11-012-013")


def read(tmp_path: Path, text: str) -> list[Paragraph]:
    path = tmp_path / "corpus.txt"
    path.write_bytes(text.encode())
    return list(read_pfr(path))


class TestReading:
    def test_words_tags_compounds_and_ids(self, tmp_path: Path) -> None:
        assert read(tmp_path, TEXT) == [FIRST, SECOND]
        # Compounds both ways.
        assert FIRST.words() == ["北方", "广播", "学校", "的", "天山", "分校"]
        assert FIRST.tagged_words() == list(FIRST.tokens)
        assert FIRST.tagged_words(merge=True) == [
            ("北方广播学校", "nt"),
            ("的", "u"),
            ("天山", "nz"),
            ("分校", "n"),
        ]
        assert FIRST.words(merge=True) == ["北方广播学校", "的", "天山", "分校"]
        assert SECOND.tagged_words(merge=True) == list(SECOND.tokens)

    def test_days(self, tmp_path: Path) -> None:
        assert FIRST.date == datetime.date(2001, 3, 5)
        assert Paragraph((("来", "v"),)).date is None
        read(tmp_path, TEXT)
        path = tmp_path / "corpus.txt"
        assert list(read_pfr(path, days=DAYS["train"])) == [FIRST]
        assert list(read_pfr(path, days=DAYS["dev"])) == []
        assert list(read_pfr(path, days=DAYS["test"])) == [SECOND]
        for options, expected in (
            ({"days": frozenset({5})}, [[*FIRST.tokens]]),
            ({"compounds": Compounds.merged}, [FIRST.tagged_words(merge=True), [*SECOND.tokens]]),
        ):
            found = read_sentences(path, CorpusOptions(**options))  # type: ignore[arg-type]
            assert [each.pairs() for each in found] == expected
        with pytest.raises(ValueError, match="no paragraph of the days"):
            list(read_sentences(path, CorpusOptions(days=frozenset({7}))))
        # They need ids.
        path.write_text(TEXT + "好/a\n", "utf-8")
        with pytest.raises(CorpusError, match=r":4: the paragraph has no id") as caught:
            list(read_pfr(path, days=[1]))
        assert caught.value.line == 4
        assert len(list(read_pfr(path))) == 3

    @looped(
        ("line", "tokens"),
        [
            ("好/a", [("好", "a")]),
            ("１/２/m //w http://a.b/nx", [("１/２", "m"), ("/", "w"), ("http://a.b", "nx")]),
            ("[/w 好/a ]/w", [("[", "w"), ("好", "a"), ("]", "w")]),
            ("他/r\u3000来/v\t了/u", [("他", "r"), ("来", "v"), ("了", "u")]),
            ("为{wei4}/p 什么{shen2me5}/r", [("为", "p"), ("什么", "r")]),
            (
                "{wei4}/n {/w a{B}/n a{}/n",
                [("{wei4}", "n"), ("{", "w"), ("a{B}", "n"), ("a{}", "n")],
            ),
            ("2001-01-01-01/m 20010101-1-1-1/n", [("2001-01-01-01", "m"), ("20010101-1-1-1", "n")]),
            ("好/a 20010101-1-1-1/m", [("好", "a"), ("20010101-1-1-1", "m")]),
        ],
    )
    def test_tokens_without_compounds(
        self, tmp_path: Path, line: str, tokens: list[tuple[str, str]]
    ) -> None:
        assert read(tmp_path, line) == [Paragraph(tuple(tokens))]

    @looped(
        ("line", "words", "compound"),
        [
            ("[北/f 大/a]/nt", ["北", "大"], Compound(0, 2, "nt")),
            ("[//w ]/w 大/a]nt", ["/", "]", "大"], Compound(0, 3, "nt")),
            ("[[/w ]/w]nt", ["[", "]"], Compound(0, 2, "nt")),
            ("[]/w]nt [/w", ["]", "["], Compound(0, 1, "nt")),
            ("好/a [上{shang4}/f 海{h}/n]ns", ["好", "上", "海"], Compound(1, 3, "ns")),
        ],
    )
    def test_compounds(
        self, tmp_path: Path, line: str, words: list[str], compound: Compound
    ) -> None:
        (paragraph,) = read(tmp_path, line)
        assert paragraph.compounds == (compound,)
        assert paragraph.words() == words


@looped(
    ("line", "fault"),
    [
        ("好", "'好' has no tag; each word is written 词/tag"),
        ("好/", "'好/' has no tag"),
        ("/", "'/' has no tag"),
        ("/n", "'/n' has no word"),
        ("好" * 1000, "'好{40}…' has no tag"),
        ("[北/f 大/a", "the compound that opens at the word '北' is not closed"),
        ("北/f 大/a]nt", "a compound closes at '大/a]nt' that has not been opened"),
        ("[北/f 大/a]nt 人/n]nt", "a compound closes at '人/n]nt'"),
        ("[北/f [大/a]nt 人/n]nt", r"opens at '\[大/a\]nt' inside another one"),
        ("[[北/f 大/a]nt", r"opens at '\[\[北/f' inside another one"),
        ("[北/f 大/a]", "the brackets of '大/a]' are out of place"),
        ("[北/f 大/a][", "out of place"),
        ("[北/f 大/a]n]nt", "out of place"),
        ("[北/f 大/]nt", "'大/' has no tag"),
        ("[北/f 大]nt", "has no tag"),
        ("20010230-01-001-001/m 好/a", r"20010230-01-001-001 begins with no date .* yyyymmdd"),
        ("00000101-01-001-001/m 好/a", "begins with no date"),
        ("20010201-01-001-001/m", "a paragraph id without words"),
        ("他/r\r来/v", "carriage return at offset 3"),
    ],
)
def test_faults_come_with_their_line(tmp_path: Path, line: str, fault: str) -> None:
    with pytest.raises(CorpusError, match=fault) as caught:
        read(tmp_path, f"好/a\n\n{line}\n")
    assert caught.value.line == 3


# Words that cannot be taken for mark-up, and all that cells may hold.
plain = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters=" \t\u3000\n\r\0\ufeff[]{}/_"),
    min_size=1,
    max_size=4,
)
cells = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters=" \t\u3000\n\r\0\ufeff"),
    min_size=1,
    max_size=4,
)


@st.composite
def paragraphs(draw: st.DrawFn) -> Paragraph:
    words = plain | st.sampled_from(["/", "[", "]", "１/２", "a{", "{a}"])
    tokens = draw(st.lists(st.tuples(words, plain), min_size=1, max_size=8))
    bounds = sorted(draw(st.sets(st.integers(0, len(tokens)), max_size=6)))
    compounds = [
        Compound(start, stop, draw(plain))
        for start, stop in zip(bounds[::2], bounds[1::2], strict=False)
    ]
    date = draw(st.none() | st.dates())
    identity = None if date is None else f"{date:%Y%m%d}".zfill(8) + "-02-003-1"
    return Paragraph(tuple(tokens), tuple(compounds), identity)


def line_of(paragraph: Paragraph) -> str:
    parts = [f"{word}/{tag}" for word, tag in paragraph.tokens]
    for compound in paragraph.compounds:
        parts[compound.start] = "[" + parts[compound.start]
        parts[compound.stop - 1] += "]" + compound.tag
    return "  ".join([f"{paragraph.id}/m"] * (paragraph.id is not None) + parts) + "\n"


@given(st.lists(paragraphs(), min_size=1, max_size=4))
@example([Paragraph((("]", "w"), ("/", "w")), (Compound(0, 1, "x"), Compound(1, 2, "y")))])
def test_paragraphs_are_read_as_they_are(corpus: list[Paragraph]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "corpus.txt")
        path.write_text("".join(map(line_of, corpus)), "utf-8")
        assert list(read_pfr(path)) == corpus


class TestTagged:
    def test_reading(self, tmp_path: Path) -> None:
        path = tmp_path / "corpus.wordpos"
        path.write_text("他_PN 来_VV\n\n a_b_NN  __PU [x_X ]/y_Z\n", "utf-8")
        assert list(read_tagged(path)) == [
            [("他", "PN"), ("来", "VV")],
            [("a_b", "NN"), ("_", "PU"), ("[x", "X"), ("]/y", "Z")],
        ]
        with pytest.raises(CorpusError, match=r":1: '他_PN' has no tag; each word is written 词/t"):
            list(read_tagged(path, separator="/"))

    @looped("separator", ["", " ", "\u3000", "\n", "//", "\ufeff", "\ud800"])
    def test_separators_that_are_none(self, tmp_path: Path, separator: str) -> None:
        with pytest.raises(ValueError, match="cannot separate words from tags; use / or _"):
            list(read_tagged(tmp_path, separator=separator))

    @given(
        st.lists(st.lists(st.tuples(cells, plain), min_size=1, max_size=4), min_size=1, max_size=4),
        st.sampled_from("/_"),
    )
    def test_sentences_are_read_as_they_are(
        self, corpus: list[list[tuple[str, str]]], separator: str
    ) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "corpus")
            lines = (" ".join(separator.join(token) for token in each) + "\n" for each in corpus)
            path.write_text("".join(lines), "utf-8")
            assert list(read_tagged(path, separator=separator)) == corpus


class TestRealCorpora:
    def test_peoples_daily(self, data_folder: Path) -> None:
        corpus = list(read_pfr(data_folder / "pfr-199801/199801.txt.xz"))
        assert len(corpus) == 19_484
        assert sum(len(paragraph.tokens) for paragraph in corpus) == 1_121_447
        assert sum(len(word) for p in corpus for word in p.words()) == 1_841_657
        assert sum(len(paragraph.compounds) for paragraph in corpus) == 9_238
        tags = Counter(tag for paragraph in corpus for _, tag in paragraph.tokens)
        assert len(tags) == 44
        assert [tags[tag] for tag in ("vvn", "na", "Yg")] == [1, 1, 1]
        sizes = {}
        for name, days in DAYS.items():
            part = [p for p in corpus if p.date is not None and p.date.day in days]
            sizes[name] = (len(part), sum(len(p.tokens) for p in part))
        assert sizes == {"train": (15_767, 922_906), "dev": (2640, 142_504), "test": (1077, 56_037)}
