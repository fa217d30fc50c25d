"""CoNLL-U: hand-worked sentences, faults with their lines, writing, real treebanks."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from looped import looped

from spacy_structreg.corpora.corpus_errors import CorpusError
from spacy_structreg.corpora.formats.conllu import (
    MultiwordToken,
    TreebankSentence,
    Word,
    dependency_sentences,
    read_conllu,
    write_conllu,
)
from spacy_structreg.corpora.sentence import Sentence


def row(identity: str, form: str, head: str = "_", deprel: str = "_", misc: str = "_") -> str:
    return "\t".join([identity, form, "_", "_", "_", "_", head, deprel, "_", misc]) + "\n"


def read(tmp_path: Path, text: str) -> list[TreebankSentence]:
    path = tmp_path / "treebank.conllu"
    path.write_bytes(text.encode())
    return list(read_conllu(path))


# Two multi-word tokens, an empty node, a form with a space, spaces that follow and do not.
ITALIAN = (
    "# newdoc id = lettere\n"
    "# sent_id = l-1\n"
    "# text = Vammi a New York, dillo!\n"
    + row("1-2", "Vammi", misc="Gloss=go")
    + "1\tVa\tandare\tVERB\tV\tMood=Imp|Number=Sing\t0\troot\t0:root\tSpaceAfter=No\n"
    + row("2", "mi", "1", "obj")
    + row("3", "a", "4", "case")
    + "4\tNew York\tNew York\tPROPN\tSP\t_\t1\tobl\t1:obl:a\tGloss=NYC|SpaceAfter=No\n"
    + row("5", ",", "4", "punct")
    + row("5.1", "tu")
    + row("6-7", "dillo", misc="SpaceAfter=No")
    + row("6", "di", "1", "parataxis")
    + row("7", "lo", "6", "obj")
    + row("8", "!", "1", "punct")
    + "\n"
)


class TestReading:
    def test_columns_multiword_tokens_and_comments(self, tmp_path: Path) -> None:
        (sentence,) = read(tmp_path, ITALIAN)
        assert sentence.forms == ["Va", "mi", "a", "New York", ",", "di", "lo", "!"]
        assert sentence.heads == [0, 1, 4, 1, 4, 1, 6, 1]
        assert sentence.deprels[:5] == ["root", "obj", "case", "obl", "punct"]
        assert sentence.deprels[5:] == ["parataxis", "obj", "punct"]
        assert sentence.words[0] == Word(
            form="Va",
            lemma="andare",
            upos="VERB",
            xpos="V",
            feats="Mood=Imp|Number=Sing",
            head=0,
            deprel="root",
            deps="0:root",
            misc="SpaceAfter=No",
        )
        assert [word.space_after for word in sentence.words[2:5]] == [True, False, True]
        assert sentence.multiwords == (
            MultiwordToken(1, 2, "Vammi", "Gloss=go"),
            MultiwordToken(6, 7, "dillo", "SpaceAfter=No"),
        )
        assert sentence.comments[0] == "# newdoc id = lettere"
        assert sentence.sent_id == "l-1"
        assert sentence.text == "Vammi a New York, dillo!"
        assert sentence.comment("newdoc") is None
        assert sentence.raw_text() == "Vammi a New York, dillo!"
        assert sentence.raw_text(spaces=False) == "VammiaNew York,dillo!"

    def test_comments_and_last_blank_line_are_optional(self, tmp_path: Path) -> None:
        text = row("1", "我") + row("2", "来") + "\r\n \n\n" + row("1", "好")
        assert [sentence.forms for sentence in read(tmp_path, text)] == [["我", "来"], ["好"]]
        first, second = read(tmp_path, text)
        assert (first.sent_id, first.text, first.comments) == (None, None, ())
        assert (first.raw_text(), first.raw_text(spaces=False)) == ("我 来", "我来")
        assert second.words == (Word("好"),)
        # An underscore may be a form, and comments need no value.
        (sentence,) = read(tmp_path, "#\n#text=a = b\n# newpar\n" + row("1", "_", "0"))
        assert sentence.forms == ["_"]
        assert sentence.text == "a = b"


@looped(
    ("text", "line", "fault"),
    [
        ("1\t我\n", 1, "2 columns instead of 10"),
        ("1 我 _ _ _ _ _ _ _ _\n", 1, "1 columns instead of 10"),
        (row("1", "我") + row("2", "来").replace("\n", "\t\n"), 2, "11 columns"),
        (row("1", ""), 1, "the column FORM is empty"),
        (row("1", "我", misc=""), 1, "the column MISC is empty"),
        (row("1", "我") + row("3", "来"), 2, "the ID 3 stands where 2 must"),
        (row("0", "我"), 1, "'0' is no ID"),
        (row("01", "我"), 1, "'01' is no ID"),
        (row("١", "我"), 1, "is no ID"),
        (row("1" * 5000, "我"), 1, "is no ID"),
        (row("1", "我") + row("1", "来"), 2, "the ID 1 stands where 2 must; .* a blank line"),
        (row("1", "我", "2") + "\n" + row("1", "来", "0"), 1, "the head 2 is out of range"),
        ("# x\n" + row("1", "我", "0") + row("2", "来", "3") + row("1", "x"), 4, "the ID 1"),
        ("# x\n" + row("1", "我", "0") + row("2", "来", "9"), 3, "head 9 is out of range; .* 2 w"),
        (row("1", "我", "-1"), 1, "the head '-1' is no word"),
        (row("1", "我", "root"), 1, "the head 'root' is no word"),
        (row("1", "我", "1"), 1, "its own head"),
        (row("1", "我") + "# late\n", 2, "a comment inside a sentence"),
        (row("1-2", "我") + "# late\n", 2, "a comment inside a sentence"),
        ("# alone\n\n" + row("1", "我"), 2, "a sentence without words ends here"),
        (row("1", "我") + "\n# alone\n", 3, "a sentence without words ends here"),
        (row("0.1", "我") + "\n", 2, "a sentence without words"),
        (row("1", "我") + row("1-2", "我来") + row("2", "来"), 2, "does not stand right before"),
        (row("1-2", "x") + row("1-1", "y") + row("1", "x") + row("2", "z"), 2, "covers words of"),
        (row("1-2", "x") + row("1", "x") + row("2-3", "z"), 3, "covers words of another"),
        (row("2-1", "x") + row("1", "x"), 1, "the multi-word token 2-1"),
        (row("1-3", "x") + row("1", "x") + row("2", "y"), 1, "1-3 is out of range"),
        (row("1.1", "x"), 1, "the empty node 1.1 stands where 0.1 must"),
        (row("1", "x") + row("1.2", "x"), 2, "the empty node 1.2 stands where 1.1 must"),
        (row("1", "我\r"), 1, "carriage return at offset 3"),
    ],
)
def test_faults_come_with_their_line(tmp_path: Path, text: str, line: int, fault: str) -> None:
    with pytest.raises(CorpusError, match=fault) as caught:
        read(tmp_path, text)
    assert caught.value.line == line
    assert caught.value.file.endswith("treebank.conllu")


def test_a_multiword_token_covers_words() -> None:
    for first, last in [(0, 1), (2, 1), (-1, -1)]:
        with pytest.raises(ValueError, match="cannot cover the words"):
            MultiwordToken(first, last, "x")


def test_a_long_sentence_is_no_burden(tmp_path: Path) -> None:
    text = "".join(row(str(i), "好", str(i - 1)) for i in range(1, 50_001))
    (sentence,) = read(tmp_path, text)
    assert sentence.heads == list(range(50_000))


characters = st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r\0")
columns = st.text(characters, min_size=1, max_size=4)


@st.composite
def sentences(draw: st.DrawFn) -> TreebankSentence:
    n = draw(st.integers(1, 6))
    words = []
    for i in range(1, n + 1):
        head = draw(st.none() | st.integers(0, n).filter(lambda head, i=i: head != i))
        misc = draw(columns | st.sampled_from(["_", "SpaceAfter=No", "A=b|SpaceAfter=No"]))
        rest = [draw(columns) for _ in range(7)]
        words.append(Word(*rest[:5], head, *rest[5:], misc))
    multiwords = []
    first = draw(st.integers(1, 3))
    while first <= n:
        last = draw(st.integers(first, n))
        multiwords.append(MultiwordToken(first, last, draw(columns), draw(columns)))
        first = last + draw(st.integers(1, 3))
    comments = draw(st.lists(st.text(characters | st.just("\t"), max_size=9).map("#{}".format)))
    return TreebankSentence(tuple(words), tuple(multiwords), tuple(comments))


@given(st.lists(sentences(), min_size=1, max_size=4), st.sampled_from(["", ".gz", ".xz"]))
@example([TreebankSentence((Word("\ufeff", "#", " ", "\x85", "\u2028", 0),), (), ("#\ufeff",))], "")
def test_what_is_written_is_read_back(treebank: list[TreebankSentence], suffix: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "treebank.conllu" + suffix)
        assert write_conllu(path, iter(treebank)) == len(treebank)
        assert list(read_conllu(path)) == treebank


def test_written_form(tmp_path: Path) -> None:
    path = tmp_path / "treebank.conllu"
    write_conllu(path, read(tmp_path, ITALIAN))
    # The empty node is not kept, nor are other columns of multi-word tokens.
    assert path.read_text("utf-8") == ITALIAN.replace(row("5.1", "tu"), "")


GOOD = TreebankSentence((Word("我", head=2), Word("来", head=0)))


@looped(
    ("bad", "fault"),
    [
        ([], "there is no sentence to write"),
        ([TreebankSentence(())], "sentence 0 .* without words"),
        ([GOOD, TreebankSentence((Word(""),))], r"sentence 1 .* FORM is empty; .* \(line 1 of the"),
        ([TreebankSentence((Word("a\tb"),))], "11 columns"),
        ([TreebankSentence((Word("a", misc="b\n"),))], "line break"),
        ([TreebankSentence((Word("a", misc="b\r"),))], "line break"),
        ([TreebankSentence((Word("a\0"),))], "NUL"),
        ([TreebankSentence((Word("a\ud800"),))], "surrogate"),
        ([TreebankSentence((Word("a", head=2),))], "head 2 is out of range"),
        ([TreebankSentence((Word("a", head=-1),))], "the head '-1' is no word"),
        ([TreebankSentence((Word("a"),), comments=("text = a",))], "does not start with #"),
        ([TreebankSentence((Word("a"),), comments=("# a\n# b",))], "line break"),
        ([replace(GOOD, multiwords=(MultiwordToken(2, 3, "x"),))], "2-3 is out of range"),
        ([replace(GOOD, multiwords=(MultiwordToken(3, 4, "x"),))], "read back as another"),
        (
            [replace(GOOD, multiwords=(MultiwordToken(2, 2, "x"), MultiwordToken(1, 1, "y")))],
            "read back as another",
        ),
        (
            [replace(GOOD, multiwords=(MultiwordToken(1, 2, "x"), MultiwordToken(2, 2, "y")))],
            "covers words of another",
        ),
    ],
)
def test_what_could_not_be_read_back_is_not_written(
    tmp_path: Path, bad: list[TreebankSentence], fault: str
) -> None:
    path = tmp_path / "treebank.conllu"
    path.write_bytes(b"old")
    with pytest.raises(ValueError, match=fault):
        write_conllu(path, bad)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@given(st.lists(st.sampled_from([*"123456\t\n#_.-我\r \0", row("1", "x"), row("2", "y", "1")])))
def test_any_text_is_read_or_refused(parts: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "treebank.conllu")
        path.write_bytes("".join(parts).encode())
        try:
            treebank = list(read_conllu(path))
        except CorpusError as error:
            line = error.line
        else:
            write_conllu(path, treebank)
            assert list(read_conllu(path)) == treebank
            return
        assert 1 <= line <= "".join(parts).count("\n") + 1


class TestRealTreebanks:
    @looped(
        "file",
        [
            "ud-chinese-gsd-2.17/zh_gsd-ud-dev.conllu.xz",
            "ud-chinese-gsd-2.17/zh_gsd-ud-test.conllu.xz",
            "ud-chinese-gsd-2.17/zh_gsdsimp-ud-dev.conllu.xz",
            "ud-chinese-gsd-2.17/zh_gsdsimp-ud-test.conllu.xz",
            "ud-english-ewt/en_ewt-ud-dev.conllu.xz",
            "ud-english-ewt/en_ewt-ud-test.conllu.xz",
        ],
    )
    def test_raw_text_is_the_text_of_the_comment(self, data_folder: Path, file: str) -> None:
        for sentence in read_conllu(data_folder / file):
            assert sentence.text is not None
            # One English comment has a no-break space, of which the columns know nothing.
            assert sentence.raw_text() == sentence.text.replace("\u00a0", " ")


class TestTags:
    def test_a_word_without_a_tag(self, tmp_path: Path) -> None:
        path = tmp_path / "treebank.conllu"
        fine = TreebankSentence((Word("a", xpos="N"),))
        write_conllu(path, [fine, TreebankSentence((Word("b"),), comments=("# sent_id = s2",))])
        fault = r"treebank\.conllu: the word 'b' of sentence 2 \(s2\) has no XPOS; .* column upos"
        with pytest.raises(ValueError, match=fault):
            list(dependency_sentences(path))
        with pytest.raises(ValueError, match=r"sentence 1 \(without sent_id\) has no UPOS"):
            list(dependency_sentences(path, column="upos"))


class TestTrees:
    def test_multiword_tokens_and_empty_nodes_do_not_count(self, tmp_path: Path) -> None:
        path = tmp_path / "treebank.conllu"
        path.write_text(
            "1-2\tdel\t_\t_\t_\t_\t_\t_\t_\t_\n"
            "1\tdi\t_\tADP\tE\t_\t3\tcase\t_\t_\n"
            "2\til\t_\tDET\tRD\t_\t3\tdet\t_\t_\n"
            "2.1\te\t_\tX\tX\t_\t_\t_\t3:dep\t_\n"
            "3\tmare\t_\tNOUN\tS\t_\t0\troot\t_\t_\n"
            "4\te\t_\tX\tX\t_\t0\troot\t_\t_\n"
            "5\tpoi\t_\tADV\tB\t_\t_\t_\t_\t_\n",
            "utf-8",
        )
        assert list(dependency_sentences(path)) == [
            Sentence(
                ("di", "il", "mare", "e", "poi"),
                ("E", "RD", "S", "X", "B"),
                (2, 2, -1, -1, None),
                ("case", "det", "root", "root", None),
            )
        ]
        assert next(dependency_sentences(path, column="upos")).tags[0] == "ADP"

    def test_heads_in_a_circle_come_with_their_line(self, tmp_path: Path) -> None:
        path = tmp_path / "treebank.conllu"
        word = "{}\t{}\t_\t_\tX\t_\t{}\tdep\t_\t_\n"
        fine = "# sent_id = 1\n" + word.format(1, "a", 0) + "\n"
        circle = [word.format(1, "a", 2), word.format(2, "b", 3), word.format(3, "c", 2)]
        path.write_text(fine + "# sent_id = 2\n" + "".join(circle), "utf-8")
        sentences = dependency_sentences(path)
        assert next(sentences).heads == (-1,)
        with pytest.raises(
            CorpusError, match="the heads of the words 2, 3 go in a circle"
        ) as raised:
            next(sentences)
        assert raised.value.line == 6
        assert str(path) in str(raised.value)
