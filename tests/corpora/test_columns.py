"""Column files: what is read is what stands there, or the error says where and why not."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from looped import looped

from spacy_structreg.corpora.corpus_errors import CorpusError
from spacy_structreg.corpora.formats.columns import Separator, read_columns, write_columns
from spacy_structreg.corpora.labeling import Scheme, convert, detect_scheme, spans_of

PAIR = ("word", "label")
THREE = ("word", "tag", "label")

Sentences = list[list[tuple[str, ...]]]


def read(folder: Path, text: str, columns: tuple[str, ...] = PAIR, **settings: object) -> Sentences:
    path = folder / "corpus"
    path.write_bytes(text.encode())
    return list(read_columns(path, columns, **settings))  # type: ignore[arg-type]


class TestReading:
    def test_worked_by_hand(self, tmp_path: Path) -> None:
        text = "我们 PN B-PER\n去 VV O\n\n\n上海   NR \t B-LOC \n"
        sentences = [
            [("我们", "PN", "B-PER"), ("去", "VV", "O")],
            [("上海", "NR", "B-LOC")],
        ]
        assert read(tmp_path, text, THREE) == sentences
        assert read(tmp_path, "\n \t\n" + text + "\n\n", THREE) == sentences
        assert read(tmp_path, "\ufeff" + text.replace("\n", "\r\n"), THREE) == sentences
        pairs = [[(word, label) for word, _, label in sentence] for sentence in sentences]
        assert read(tmp_path, text, ("word", "_", "label")) == pairs
        assert read(tmp_path, text, ("_", "_", "label")) == [[("B-PER",), ("O",)], [("B-LOC",)]]
        turned = "1\tB-X\tgo\n2\tO\tback\n"
        assert read(tmp_path, turned, ("_", "label", "word")) == [[("B-X", "go"), ("O", "back")]]

    def test_only_spaces_and_tabs_separate(self, tmp_path: Path) -> None:
        """No-break and ideographic spaces, U+2028, U+0085, a form feed: characters of words."""
        odd = "a\u00a0b\u3000c\u2028d\u0085e\x0cf\x1cg"
        for separator in "\t", " ":
            assert read(tmp_path, f"{odd}{separator}O\n") == [[(odd, "O")]]
        assert read(tmp_path, "\u00a0\tO\n\u00a0\tO\n") == [[("\u00a0", "O")] * 2]
        assert read(tmp_path, "\u00a0\n", ("word",)) == [[("\u00a0",)]]

    def test_cells_between_tabs_are_kept_as_they_are(self, tmp_path: Path) -> None:
        text = "New York\t\tB-LOC\n \tNN\tO\n\t\t\n \t \nby\t \tO\n"
        assert read(tmp_path, text, THREE) == [
            [("New York", "", "B-LOC"), (" ", "NN", "O")],
            [("by", " ", "O")],
        ]

    def test_which_separator(self, tmp_path: Path) -> None:
        # Tabs in two places, but two columns: tabs and spaces align the columns.
        assert read(tmp_path, "go\t\tO\nback  \t O\n") == [[("go", "O"), ("back", "O")]]
        # One that says nothing about columns.
        assert read(tmp_path, "-DOCSTART- -X- O\n\na b\tO\n") == [[("a b", "O")]]
        assert read(tmp_path, "a b\tO\n", THREE, separator=" ") == [[("a", "b", "O")]]
        with pytest.raises(CorpusError, match=r":1: 'a b\\tO' has 2 cells between tabs, .* 3 col"):
            read(tmp_path, "a b\tO\n", THREE, separator="\t")
        assert read(tmp_path, "a b\n", ("word",), separator="\t") == [[("a b",)]]

    def test_documents(self, tmp_path: Path) -> None:
        text = "-DOCSTART-\nat O\n-DOCSTART- -X- O\nlast O\n\n-DOCSTART- O\n"
        assert read(tmp_path, text) == [[("at", "O")], [("last", "O")]]
        assert read(tmp_path, "-DOCSTART- O\nat O\n", document_start=None) == [
            [("-DOCSTART-", "O"), ("at", "O")]
        ]
        assert read(tmp_path, "%%\nat O\n", document_start="%%") == [[("at", "O")]]

    def test_comments(self, tmp_path: Path) -> None:
        text = "# id = 1\n# text\n#\tO\tX\n1\tO\tX\n#\tO\tX\n\n# id = 2\n\n# id = 3\nyes\tO\tX\n"
        assert read(tmp_path, text, THREE, comments="# ") == [
            [("#", "O", "X"), ("1", "O", "X"), ("#", "O", "X")],
            [("yes", "O", "X")],
        ]
        with pytest.raises(CorpusError, match=r":3: '#\\tO\\tX' begins as a comment and has the"):
            read(tmp_path, text, THREE, comments="#")
        with pytest.raises(CorpusError, match=r":1: .* or say how comments begin"):
            read(tmp_path, "#id\nyes O\n")
        assert read(tmp_path, "-DOCSTART-\n#1\nyes O\n", comments="#") == [[("yes", "O")]]

    @looped(
        ("text", "fault"),
        [
            ("\n \t\n-DOCSTART- O\n", ":3: no token in the file"),
            ("go O\nback\n", ":2: 'back' has 1 cell between white space, but there are 2 columns"),
            ("go O\n O\n", ":2: ' O' has 1 cell"),
            ("go O\nback a O\n", ":2: 'back a O' has 3 cells .* name each column"),
            ("go O\ncome back\tO\n", ":2: .* has 3 cells .* choose a tab as the separator"),
            ("go\tO\nback O\n", ":2: .* has 1 cell between tabs.* choose a space as the separator"),
            ("go\tO\nback\tO\t\n", ":2: .* has 3 cells"),
            ("go\tO\nback\t\n", r":2: the column 'label' of 'back\\t' is empty; fill it"),
            ("go\tO\n\tO\n", r":2: the column 'word' of '\\tO' is empty"),
            ("go O\rback O\r", ":1: carriage return at offset 4"),
            ("x" * 200, f":1: '{'x' * 40}…' has 1 cell"),
        ],
    )
    def test_faults_are_named(self, tmp_path: Path, text: str, fault: str) -> None:
        with pytest.raises(CorpusError, match="corpus" + fault):
            read(tmp_path, text)

    @looped(
        ("settings", "fault"),
        [
            ({"columns": ()}, "cannot be told apart"),
            ({"columns": ("_", "_")}, "which cannot be all"),
            ({"columns": ("word", "word")}, "the columns 'word', 'word' cannot be told apart"),
            ({"columns": ("word", "")}, "give each its own name"),
            ({"columns": "word"}, "'word' is one string; give a list"),
            ({"separator": ","}, "',' cannot separate columns; choose a tab or a space"),
            ({"comments": " "}, "comments cannot begin with ' '"),
        ],
    )
    def test_settings_that_are_refused(
        self, tmp_path: Path, settings: dict[str, Any], fault: str
    ) -> None:
        with pytest.raises(ValueError, match=fault):
            read(tmp_path, "go O\n", **settings)


CELLS = st.text("a#_-\u00a0\u3000好\U0001f600\ufeff\u2028 ", max_size=3)
TABLES = st.integers(1, 3).flatmap(
    lambda width: st.lists(
        st.lists(st.tuples(*[CELLS] * width), min_size=1, max_size=4), min_size=1, max_size=3
    )
)


class TestWriting:
    def test_form(self, tmp_path: Path) -> None:
        path = tmp_path / "corpus"
        sentences = [[("go", "O"), ("New York", "B-LOC")], [("#", "O")]]
        assert write_columns(path, sentences) == 2
        assert path.read_bytes() == b"go\tO\nNew York\tB-LOC\n\n#\tO\n\n"
        assert write_columns(path, [[["go", "O"]]], separator=" ") == 1
        assert path.read_bytes() == b"go O\n\n"

    @given(TABLES, st.sampled_from(["\t", " "]), st.sampled_from(["", ".xz"]))
    def test_there_and_back(
        self,
        tmp_path_factory: pytest.TempPathFactory,
        sentences: Sentences,
        separator: Separator,
        suffix: str,
    ) -> None:
        """What is written is read back equal; what is refused has a reason."""
        path = tmp_path_factory.mktemp("back") / f"corpus{suffix}"
        rows = [row for sentence in sentences for row in sentence]
        refused = sentences[0][0][0].startswith("\ufeff") or any(
            not "".join(row).strip(" ") or (separator == " " and ("" in row or " " in "".join(row)))
            for row in rows
        )
        if refused:
            with pytest.raises(ValueError, match=r"sentence \d"):
                write_columns(path, sentences, separator=separator)
            assert not path.exists()
            return
        assert write_columns(path, sentences, separator=separator) == len(sentences)
        names = [f"c{i}" for i in range(len(rows[0]))]
        assert list(read_columns(path, names, separator=separator)) == sentences

    @looped(
        ("sentences", "separator", "fault"),
        [
            ([], "\t", "there is no sentence to write"),
            ([[("a",)], []], "\t", "sentence 1 has no tokens"),
            ([[()]], "\t", "sentence 0 cannot be written: the token .* not a list of as many"),
            ([["ab"]], "\t", "sentence 0 cannot be written: the token 'ab' is not a list"),
            ([[("a", "O")], [("a",)]], "\t", "sentence 1 .* as the first token has .2."),
            ([[("a\tb", "O")]], "\t", r"the cell 'a\\tb' holds white space"),
            ([[("a\nb", "O")]], "\t", r"the cell 'a\\nb' holds"),
            ([[("a\r", "O")]], "\t", r"the cell 'a\\r' holds"),
            ([[("a\0", "O")]], "\t", "the cell .* holds"),
            ([[("a\udfff", "O")]], "\t", "lone surrogate"),
            ([[("a b", "O")]], " ", "the cell 'a b' holds white space"),
            ([[("a", "")]], " ", "or is empty"),
            ([[(" ", "")]], "\t", "would be blank"),
            ([[("-DOCSTART-", "O")]], "\t", "begins as the start of a document"),
            ([[("\ufeffa", "O")]], "\t", "byte order mark"),
            ([[("a", "O")]], ",", "',' cannot separate columns"),
            ([[("a", "O")]], None, "choose a tab or a space"),
        ],
    )
    def test_what_could_not_be_read_back_is_not_written(
        self, tmp_path: Path, sentences: Sentences, separator: Separator, fault: str
    ) -> None:
        with pytest.raises(ValueError, match=fault):
            write_columns(tmp_path / "corpus", sentences, separator=separator)
        assert not list(tmp_path.iterdir())


# File, columns, sentences, tokens, scheme, labels that begin a span, labels that go on with none.
CORPORA = [
    ("conll2000/test.txt", THREE, 2012, 47_377, "bio", 23_852, 0),
    ("conll2002/esp.testa", THREE, 1915, 52_923, "bio", 4351, 1),
    ("conll2002/esp.testb", THREE, 1517, 51_533, "bio", 3558, 1),
    ("conll2002/ned.testa", THREE, 2895, 37_687, "bio", 2616, 0),
    ("conll2002/ned.testb", THREE, 5195, 68_875, "bio", 3941, 0),
    ("jnlpba/devel.tsv", PAIR, 1739, 47_461, "bio", 4551, 0),
    ("jnlpba/test.iob2", PAIR, 3856, 101_039, "bio", 8662, 0),
    ("bc2gm/devel.tsv", PAIR, 2519, 71_042, "bio", 3061, 0),
    ("ncbi-disease/devel.tsv", PAIR, 923, 23_969, "bio", 787, 0),
    ("ncbi-disease/test.tsv", PAIR, 940, 24_497, "bio", 960, 0),
    ("wnut17/wnut17train.conll", PAIR, 3394, 62_730, "bio", 1975, 0),
    ("wnut17/emerging.dev.conll", PAIR, 1009, 15_733, "bio", 836, 0),
    ("wnut17/emerging.test.annotated", PAIR, 1287, 23_394, "bio", 1079, 0),
    ("resume-ner/dev.char.bmes", PAIR, 463, 13_890, "bioes", 1497, 0),
    ("resume-ner/test.char.bmes", PAIR, 477, 15_100, "bioes", 1630, 0),
    ("weibo-ner/weiboNER.conll.dev", PAIR, 270, 14_509, "bio", 301, 4),
    ("weibo-ner/weiboNER.conll.test", PAIR, 270, 14_844, "bio", 310, 10),
    ("weibo-ner/weiboNER_2nd_conll.train", PAIR, 1350, 73_778, "bio", 1885, 10),
    ("weibo-ner/weiboNER_2nd_conll.dev", PAIR, 270, 14_509, "bio", 389, 0),
    ("weibo-ner/weiboNER_2nd_conll.test", PAIR, 270, 14_842, "bio", 414, 4),
]


@looped("corpus", CORPORA, ids=lambda corpus: corpus[0])
def test_real_corpora(
    data_folder: Path, corpus: tuple[str, tuple[str, ...], int, int, Scheme, int, int]
) -> None:
    """The counts are those of the corpora's own tables, which count labels that begin spans."""
    name, columns, n_sentences, n_tokens, scheme, n_begun, n_strayed = corpus
    # Identifiers of abstracts stand alone, as sentences of one cell.
    comments = "###MEDLINE:" if name.startswith("jnlpba") else None
    sentences = list(read_columns(data_folder / name, columns, comments=comments))
    assert (len(sentences), sum(map(len, sentences))) == (n_sentences, n_tokens)
    assert all(word for sentence in sentences for word, *_ in sentence)
    labels = [[row[-1] for row in sentence] for sentence in sentences]
    assert detect_scheme(labels) == scheme
    prefixes = Counter(label[0] for sentence in labels for label in sentence)
    assert prefixes["B"] + prefixes["S"] == n_begun
    spans = [spans_of(sentence, scheme) for sentence in labels]
    assert sum(map(len, spans)) == n_begun + n_strayed
    mended = [convert(sentence, scheme, "bio") for sentence in labels]
    assert Counter(label[0] for sentence in mended for label in sentence)["B"] == sum(
        map(len, spans)
    )
    assert (mended == labels) == (scheme == "bio" and not n_strayed)
