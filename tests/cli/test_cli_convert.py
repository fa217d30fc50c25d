"""`structreg convert`, and how corpora of any format are told apart and read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sighan_release import ENCODINGS, SENTENCES, write_archive, write_release
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_structreg.cli.convert import convert, parse_percent
from spacy_structreg.corpora.corpus_options import CorpusOptions, parse_days
from spacy_structreg.corpora.formats import conllu
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.pipeline.gold_docs import read_sentences

TREES = """\
<S ID=1>
( (IP (NP-SBJ (NR 小王)) (VP (VV 看) (NP-OBJ (NN 书) (-NONE- *T*-1))) (PU 。)) )
</S>
(IP (NP (NN 老师)
        (NN 们))
    (VP (VV 来) (AS 了)))
"""
TAGGED = [
    [("小王", "NR"), ("看", "VV"), ("书", "NN"), ("。", "PU")],
    [("老师", "NN"), ("们", "NN"), ("来", "VV"), ("了", "AS")],
]


Runs = Callable[..., str]
Fails = Callable[..., str]


def docs_of(path: Path) -> list[Doc]:
    return list(DocBin().from_disk(path).get_docs(Vocab()))


def words_of(docs: list[Doc]) -> list[list[str]]:
    return [[token.text for token in doc] for doc in docs]


def write(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(text.encode(encoding))
    return path


# ---- what is written ----


def test_segmented_text_becomes_docs(
    tmp_path: Path, runs: Runs, text: str, sentences: list[list[str]]
) -> None:
    source, output = write(tmp_path / "corpus.txt", text), tmp_path / "deep" / "er" / "corpus.spacy"
    assert "5 sentences, 38 words" in runs("convert", source, output)
    docs = docs_of(output)
    assert words_of(docs) == sentences
    for doc, words in zip(docs, sentences, strict=True):
        assert doc.text == "".join(words)
        assert [token.is_sent_start for token in doc] == [True] + [False] * (len(words) - 1)
        assert not doc.has_unknown_spaces
        assert not doc.has_annotation("TAG")


def test_brackets_become_docs(tmp_path: Path, runs: Runs) -> None:
    source, output = write(tmp_path / "trees.mrg", TREES), tmp_path / "trees.spacy"
    runs("convert", source, output)
    docs = docs_of(output)
    assert [[(token.text, token.tag_) for token in doc] for doc in docs] == TAGGED
    assert [doc.text for doc in docs] == ["小王看书。", "老师们来了"]
    assert [len(list(doc.sents)) for doc in docs] == [1, 1]
    runs("convert", source, output, "--head-rules", "ctb", "--force")
    first, second = docs_of(output)
    assert [token.head.i for token in first] == [1, 1, 1, 1]
    assert [token.dep_ for token in first] == ["nsubj", "ROOT", "dobj", "punct"]
    assert [token.tag_ for token in first] == ["NR", "VV", "NN", "PU"]
    assert [token.head.i for token in second] == [1, 2, 2, 2]
    # Without function tags, it is not known what a phrase is to a verb.
    assert [token.dep_ for token in second] == ["compound:nn", "dep", "ROOT", "aux:asp"]


def test_sentences_without_a_tree_are_counted(tmp_path: Path, runs: Runs) -> None:
    trees = tmp_path / "trees.bracket"
    trees.write_text(
        "( (IP (NP (PN 他)) (VP (VV 来))))\n( (FLAT (PN 他) (VV 来)))\n", encoding="utf-8"
    )
    for rules, said in ((("--head-rules", "ctb"), "; without a tree: 1 sentence"), ((), "")):
        printed = runs("convert", trees, tmp_path / "o.spacy", "--force", *rules)
        assert printed.strip().endswith(f"2 sentences, 4 words{said}")


def test_conllu(tmp_path: Path, runs: Runs) -> None:
    source, output = write(tmp_path / "trees.mrg", TREES), tmp_path / "trees.conllu.gz"
    runs("convert", source, output, "--head-rules", "ctb")
    first, second = conllu.dependency_sentences(output)
    assert [*zip(first.words, first.tags, strict=True)] == TAGGED[0]
    assert first.heads == (1, -1, 1, 1)
    assert first.labels == ("nsubj", "root", "dobj", "punct")
    assert second.heads == (1, 2, -1, 2)
    assert [sentence.raw_text() for sentence in conllu.read_conllu(output)] == [
        "小王看书。",
        "老师们来了",
    ]
    # Words alone, and back again.
    again = tmp_path / "again.conllu"
    runs("convert", write(tmp_path / "text.txt", "小王 看 书\n"), again)
    assert [word.head for word in next(conllu.read_conllu(again)).words] == [None] * 3
    runs("convert", output, tmp_path / "back.spacy")
    assert words_of(docs_of(tmp_path / "back.spacy")) == [[w for w, _ in s] for s in TAGGED]


def test_conllu_keeps_spaces_and_parts_paragraphs(tmp_path: Path, runs: Runs) -> None:
    output = tmp_path / "out.conllu"
    english = write(
        tmp_path / "in.conllu",
        "1\tIt\t_\tPRON\t_\t_\t2\tnsubj\t_\tSpaceAfter=No\n"
        "2\t's\t_\tAUX\t_\t_\t0\troot\t_\t_\n3\tme\t_\tPRON\t_\t_\t2\tobj\t_\t_\n",
    )
    runs("convert", english, output)
    (sentence,) = conllu.read_conllu(output)
    assert sentence.raw_text() == "It's me"
    assert [word.upos for word in sentence.words] == ["PRON", "AUX", "PRON"]
    assert sentence.heads == [2, 0, 2]
    people = write(tmp_path / "p.txt", "19980101-01-001-001/m  来/v  。/w  走/v  。/w\n")
    runs("convert", people, output, "--format", "pfr", "--force")
    assert [found.forms for found in conllu.read_conllu(output)] == [["来", "。"], ["走", "。"]]


def test_same_input_same_bytes(tmp_path: Path, text: str) -> None:
    source = write(tmp_path / "corpus.txt", text)
    first, second = tmp_path / "1.spacy", tmp_path / "2.spacy"
    convert([source], first)
    convert([source], second)
    assert first.read_bytes() == second.read_bytes()


# Whatever white space is to str.split but not to segmented text belongs to a word, and is left out
# when Docs are read: it has no place in this comparison.
words = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"], exclude_characters="\ufeff()"),
    min_size=1,
    max_size=4,
)
corpora = st.lists(st.lists(words, min_size=1, max_size=6), min_size=1, max_size=5)


@given(corpora)
def test_converting_keeps_the_words(
    tmp_path_factory: pytest.TempPathFactory, corpus: list[list[str]]
) -> None:
    folder = tmp_path_factory.mktemp("convert")
    lines = write(folder / "a.txt", "".join(" ".join(line) + "\n" for line in corpus))
    # A leaf for each word; the tag is its number, to be told from all others.
    trees = write(
        folder / "a.mrg",
        "".join(
            f"(IP {' '.join(f'(T{i} {word})' for i, word in enumerate(line))})\n" for line in corpus
        ),
    )
    for source, as_text in ((lines, folder / "b.txt"), (trees, folder / "c.txt")):
        binary = as_text.with_suffix(".spacy")
        for output in (binary, as_text):
            options = CorpusOptions("segmented" if source is lines else "brackets")
            assert convert([source], output, options=options)[:2] == (
                len(corpus),
                sum(map(len, corpus)),
            )
            as_written = "segmented" if output is as_text else "spacy"
            written = read_sentences(output, CorpusOptions(as_written))
            assert [list(sentence.words) for sentence in written] == corpus
        assert words_of(docs_of(binary)) == corpus
    tags = [[token.tag_ for token in doc] for doc in docs_of(folder / "c.spacy")]
    assert tags == [[f"T{i}" for i in range(len(line))] for line in corpus]


# ---- what is refused ----

UNSEGMENTED = "老师和学生昨天一起去了河边的公园。\n" * 20


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        (b"\xff\xfe\n", [], "bad.txt:1: byte 0xff at byte offset 0 of the line is not utf-8"),
        ("书 好\n书\0好\n".encode(), [], "bad.txt:2: NUL character"),
        (UNSEGMENTED.encode(), [], "bad.txt:1: the format cannot be told"),
        (UNSEGMENTED.encode(), ["--format", "segmented"], "bad.txt:1: the text is not segmented"),
        (b"", [], "bad.txt:1: no text"),
        (b"", ["--format", "segmented"], "bad.txt:1: no sentence"),
        ("书 好\n".encode(), ["--days", "1-24"], "bad.txt: --days is for the format pfr"),
        ("书 好\n".encode(), ["--compounds", "merged"], "--compounds merged is for the format pfr"),
        ("书 好\n".encode(), ["--part", "pku/test"], "--part is for the format sighan"),
        ("书 好\n".encode(), ["--spaces", "file"], "--spaces file is for the format conllu"),
        ("书/n 好/a\n".encode(), ["--days", "1"], "bad.txt:1: the paragraph has no id"),
        (
            "小王 看 书\n".encode(),
            ["--head-rules", "ctb"],
            "--head-rules ctb is for the format",
        ),
        (
            "书 好\n".encode(),
            ["--columns", "word,label", "--format", "segmented"],
            "--columns is for the formats classified and columns",
        ),
        ("书_NN 好\n".encode(), ["--format", "tagged"], "bad.txt:1: '好' has no tag"),
        (b"(IP (NN \xe4\xb9\xa6)\n", [], "bad.txt:1: the file ends inside the tree"),
        ("书 好\n".encode(), ["--format", "brackets"], "bad.txt:1: '书' stands outside"),
        ("书 好\n".encode(), ["--encoding", "klingon"], "'klingon' is not an encoding"),
        ("书 好\n".encode(), ["--encoding", "utf-16"], "'utf-16' is not an encoding"),
    ],
)
def test_faulty_input_leaves_the_old_output(
    *,
    tmp_path: Path,
    fails: Fails,
    monkeypatch: pytest.MonkeyPatch,
    content: bytes,
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("good.txt").write_text("学生 来 了\n", "utf-8")
    Path("bad.txt").write_bytes(content)
    output = Path("output.spacy")
    output.write_bytes(b"old")
    # A good file first, so that there is something to write before the fault.
    inputs = ["bad.txt"] if arguments else ["good.txt", "bad.txt"]
    assert message in fails("convert", *inputs, output, "--force", *arguments)
    assert output.read_bytes() == b"old"
    assert {path.name for path in tmp_path.iterdir()} == {"good.txt", "bad.txt", output.name}


def test_docs_without_white_space_words_or_sense(tmp_path: Path) -> None:
    vocab, path = Vocab(), tmp_path / "corpus.spacy"
    docs = [
        Doc(vocab, words=["iPhone", "14\xa0Pro", "\n", "好"], spaces=[True, False, False, True]),
        Doc(vocab, words=["\n"], spaces=[False]),
        Doc(vocab),
    ]
    DocBin(docs=docs).to_disk(path)
    assert list(read_sentences(path)) == [Sentence(("iPhone", "14Pro", "好"))]
    DocBin(docs=[Doc(vocab)]).to_disk(path)
    with pytest.raises(ValueError, match=r"corpus\.spacy: no Doc of the file has a word"):
        list(read_sentences(path))
    for content in (b"", b"x", b"not zlib at all" * 9, b"x\x9c\x03\x00\x00\x00"):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"corpus\.spacy: not a corpus in spaCy's binary fo"):
            list(read_sentences(path))


# ---- treebanks ----

# Our own sentences. The second has two roots, the third a cycle and a tag that UD does not have.
HEADS = [[2, 0, 2, 2], [0, 0, 2], [2, 3, 1, 0]]
WORDS = [["老师", "看", "书", "。"], ["学生", "来", "了"], ["我们", "明天", "去", "杭州"]]
UPOS = [["NOUN", "VERB", "NOUN", "PUNCT"], ["NOUN", "VERB", "_"], ["PRON", "NT", "VERB", "PROPN"]]


def treebank(misc: str = "_", *, last: str | None = None) -> str:
    """The sentences as CoNLL-U; `last` is the MISC of each third word."""
    lines = []
    for words, heads, tags in zip(WORDS, HEADS, UPOS, strict=True):
        for i, (word, head, tag) in enumerate(zip(words, heads, tags, strict=True), start=1):
            column = last if i == 3 and last is not None else misc
            relation = "root" if head == 0 else "dep"
            xpos = "_" if tag == "_" else f"X{i}"
            lines.append(f"{i}\t{word}\t_\t{tag}\t{xpos}\t_\t{head}\t{relation}\t_\t{column}")
        lines.append("")
    return "\n".join(lines) + "\n"


def test_treebanks(tmp_path: Path, runs: Runs) -> None:
    source, output = write(tmp_path / "a.conllu", treebank()), tmp_path / "a.spacy"
    printed = runs("convert", source, output)
    assert "3 sentences, 11 words; heads left out, as they are no tree: 2 sentences; " in printed
    assert "1 universal tag left out: UD has no such name" in printed
    docs = docs_of(output)
    assert words_of(docs) == WORDS
    assert [[token.head.i for token in doc] for doc in docs] == [
        [1, 1, 1, 1],
        [0, 1, 2],
        [*range(4)],
    ]
    assert [token.dep_ for token in docs[0]] == ["dep", "ROOT", "dep", "dep"]
    assert [doc.has_annotation("DEP") for doc in docs] == [True, False, False]
    assert [[token.tag_ for token in doc] for doc in docs[:2]] == [
        ["X1", "X2", "X3", "X4"],
        ["X1", "X2", ""],
    ]
    assert [token.pos_ for token in docs[2]] == ["PRON", "", "VERB", "PROPN"]
    assert [len(list(doc.sents)) for doc in docs] == [1, 1, 1]


JOINED = ["老师看书。", "学生来了", "我们明天去杭州"]


@pytest.mark.parametrize(
    ("misc", "last", "spaces", "texts"),
    [
        # It never says SpaceAfter=No, as in UD 1.
        ("_", None, "auto", JOINED),
        ("_", None, "none", JOINED),
        ("_", None, "file", None),
        # It always does, as in UD 2.
        ("SpaceAfter=No", None, "auto", JOINED),
        ("SpaceAfter=No", None, "file", JOINED),
        # It is wrong now and then.
        ("_", "SpaceAfter=No", "auto", None),
        ("_", "SpaceAfter=No", "none", JOINED),
        # Spaces that belong to the text.
        ("SpaceAfter=No", "Gloss=x", "auto", ["老师看书 。", "学生来了", "我们明天去 杭州"]),
        ("SpaceAfter=No", "Gloss=x", "none", JOINED),
    ],
)
def test_spaces_of_treebanks(
    *,
    tmp_path: Path,
    runs: Runs,
    fails: Fails,
    misc: str,
    last: str | None,
    spaces: str,
    texts: list[str] | None,
) -> None:
    # Two sentences without a space between Han characters for each that has one, so that a space
    # in one of them may be taken for one of the text.
    plain = "1\t我们\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n2\t走\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    more = plain * 6 if last == "Gloss=x" else ""
    source, output = (
        write(tmp_path / "a.conllu", treebank(misc, last=last) + more),
        tmp_path / "a.spacy",
    )
    if texts is None:
        message = fails("convert", source, output, "--spaces", spaces)
        assert "a.conllu: by SpaceAfter, the text has a space between Han words" in message
        assert "--spaces none" in message
        assert not output.exists()
        return
    runs("convert", source, output, "--spaces", spaces)
    docs = docs_of(output)
    assert [doc.text for doc in docs[:3]] == texts
    assert words_of(docs[:3]) == WORDS


def test_spaces_of_other_languages_are_kept(tmp_path: Path, runs: Runs) -> None:
    lines = [
        "1\tWe\t_\tPRON\tPRP\t_\t2\tnsubj\t_\t_",
        "2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\t_",
        "2\tdo\t_\tAUX\tVBP\t_\t0\troot\t_\tSpaceAfter=No",
        "3\tn't\t_\tPART\tRB\t_\t2\tadvmod\t_\tSpaceAfter=No",
        "4\tknow\t_\tVERB\tVB\t_\t2\tdep\t_\t_",
    ]
    source, output = write(tmp_path / "a.conllu", "\n".join(lines)), tmp_path / "a.spacy"
    runs("convert", source, output)
    assert [doc.text for doc in docs_of(output)] == ["We don't know"]


@st.composite
def head_columns(draw: st.DrawFn) -> list[int | None]:
    n = draw(st.integers(1, 6))
    heads = st.one_of(st.integers(0, n), st.none()) if draw(st.booleans()) else st.integers(0, n)
    return [
        draw(heads.filter(lambda head, here=i: head != here))
        for i in range(1, n + 1)  # type: ignore[misc]
    ]


@given(head_columns())
def test_a_tree_is_what_leads_to_one_root(column: list[int | None]) -> None:
    def leads_to_root(word: int) -> bool:
        for _ in column:
            head = column[word - 1]
            if head is None:
                return False
            if head == 0:
                return True
            word = head
        return False

    sentence = conllu.TreebankSentence(
        tuple(conllu.Word("x", head=head, deprel="d") for head in column)
    )
    is_tree = column.count(0) == 1 and all(map(leads_to_root, range(1, len(column) + 1)))
    expected = tuple((head or 0) - 1 for head in column)
    assert conllu.tree_heads(sentence) == (expected if is_tree else None)
    if is_tree:
        heads = [i if head == -1 else head for i, head in enumerate(expected)]
        doc = Doc(Vocab(), ["x"] * len(column), heads=heads, deps=["d"] * len(column))
        assert len(list(doc.sents)) == 1


# ---- PFR, SIGHAN ----

PFR = """\
19980101-01-001-001/m  [临江/ns  大学/n]nt  在/p  招生/vn  。/w  学生/n  来/v  了/y  。/w

19980102-01-001-001/m  天气/n  好/a
19980131-01-001-001/m  图书馆/n  开放/v
"""


def test_paragraphs(tmp_path: Path, runs: Runs, fails: Fails) -> None:
    source, output = write(tmp_path / "199801.txt", PFR), tmp_path / "a.spacy"
    assert "3 sentences, 13 words" in runs("convert", source, output)
    first = docs_of(output)[0]
    assert [token.tag_ for token in first] == ["ns", "n", "p", "vn", "w", "n", "v", "y", "w"]
    assert [sentence.text for sentence in first.sents] == ["临江大学在招生。", "学生来了。"]
    options = ("--compounds", "merged", "--days", "1,28-31", "--force")
    runs("convert", source, output, *options)
    first, second = docs_of(output)
    assert [(token.text, token.tag_) for token in first][:2] == [("临江大学", "nt"), ("在", "p")]
    assert len(list(first.sents)) == 2
    assert second[0].text == "图书馆"
    message = fails("convert", source, output, "--days", "5-9", "--force")
    assert "no paragraph of the days asked for" in message
    assert parse_days("1-3,2,9") == {1, 2, 3, 9}
    for days in ("", "0", "32", "9-5", "1-", "-3", "1,,2", "a", "１", "1-40", "1 - 2"):
        with pytest.raises(ValueError, match="is no choice of days"):
            parse_days(days)


def test_a_release(tmp_path: Path, runs: Runs, fails: Fails) -> None:
    folder, archive = write_release(tmp_path), write_archive(tmp_path / "icwb2-data.zip")
    output = tmp_path / "a.spacy"
    for corpus, (training, test) in SENTENCES.items():
        suffix = ".b5" if corpus == "as" else ".txt"
        file = folder / "training" / f"{corpus}_training{suffix}"
        for source, part, expected in (
            (folder, "training", training),
            (archive, "test", test),
            # A file of it, by its name.
            (file, None, training),
        ):
            named = ["--part", f"{corpus}/{part}"] if part else []
            runs("convert", source, output, "--force", *named, "--encoding", ENCODINGS[corpus])
            assert words_of(docs_of(output)) == [list(sentence) for sentence in expected]
    runs("convert", archive, output, "--force", "--part", "pku/test")
    assert words_of(docs_of(output)) == [list(sentence) for sentence in SENTENCES["pku"][1]]
    for part, message in (
        ([], "in it are as/training, as/test, cityu"),
        (["--part", "ctb/test"], "'ctb' is no corpus"),
        (["--part", "pku/dev"], "'dev' is no part"),
        (["--part", "pku/test_raw"], "is not segmented"),
        (["--part", "pku"], "write corpus and part"),
    ):
        assert message in fails("convert", folder, output, "--force", *part)
    raw = folder / "testing" / "pku_test.utf8"
    assert "does not seem to be segmented" in fails("convert", raw, output, "--force")


# ---- shares ----


def test_shares_of_two_inputs_in_their_order(tmp_path: Path, runs: Runs, fails: Fails) -> None:
    first = write(tmp_path / "a.txt", "".join(f"第 {i} 句\r\n\r\n" for i in range(10)))
    second = write(
        tmp_path / "b.mrg", "".join(f"(NP (OD 第) (CD {i}) (M 句))\n" for i in range(10, 15))
    )
    output = tmp_path / "c.txt"
    for begin, end, taken in (
        *((0, 90, range(13)), (90, 100, range(13, 15))),
        *((0, 100, range(15)), (20, 40, range(3, 6))),
    ):
        given = (first, second, output, "--percent", f"{begin}:{end}", "--force")
        assert f"{len(taken)} sentences, {3 * len(taken)} words" in runs("convert", *given)
        assert output.read_text("utf-8") == "".join(f"第 {i} 句\n" for i in taken)
    one = write(tmp_path / "one.txt", "好 书\n")
    assert "none is between" in fails("convert", one, tmp_path / "o.spacy", "--percent", "0:90")


@given(st.integers(0, 101), st.integers(0, 101))
def test_shares_are_named_in_percent(begin: int, end: int) -> None:
    if begin < end <= 100:
        assert parse_percent(f"{begin}:{end}") == (begin, end)
    else:
        with pytest.raises(ValueError, match="--percent"):
            parse_percent(f"{begin}:{end}")
    for percent in ("", "90", "-1:5", "０:9"):
        with pytest.raises(ValueError, match="--percent"):
            parse_percent(percent)
