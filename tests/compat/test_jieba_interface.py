"""`compat.jieba`: scripts that run with jieba run with it, and give things of the same kind.

The words differ, as one has a model of a treebank's words, and the other a dictionary.
"""

from __future__ import annotations

import copy
import importlib
import inspect
import io
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import GeneratorType
from typing import Any

import pytest
import spacy
from looped import looped
from pipeline.made_up import JOINT_CONFIG, TEXTS, TRAIN, tagged_doc, trained, trained_joint
from spacy.language import Language
from spacy.tokens import Doc

from spacy_structreg.compat import jieba as ours
from spacy_structreg.compat.jieba import analyse, posseg
from spacy_structreg.corpora.corpus_errors import CorpusError

NAMES = {"jieba": "jieba", "ours": "spacy_structreg.compat.jieba"}
TEXT = " 我们在 图书馆看书。\r\n\n\u3000New York 3.14 C++，「云计算」…😀\t"
SCRIPT = """\
import io
import {jieba} as jieba
import {jieba}.posseg as pseg
import {jieba}.analyse
from {jieba} import lcut

jieba.setLogLevel(60)
jieba.initialize()
default = jieba.cut(text)
full = jieba.cut(text, cut_all=True)
exact = jieba.cut(text, cut_all=False, HMM=False)
listed = lcut(text)
listed_full = jieba.lcut(text, True)
from_bytes = jieba.lcut(text.encode("gb18030") if len(text) < 5 else text.encode())
search = jieba.cut_for_search(text)
listed_search = jieba.lcut_for_search(text, HMM=False)
places = jieba.tokenize(text)
inner_places = list(jieba.tokenize(text, mode="search"))

jieba.add_word("石墨烯")
jieba.add_word("凱特琳", freq=42, tag="nz")
jieba.del_word("自定义词")
userdict = "云计算 5\\n李小福 2 nr\\n\\n创新办 3 star\\neasy_install 3 eng\\n好用 300\\n"
jieba.load_userdict(io.BytesIO(userdict.encode()))
jieba.load_userdict(io.StringIO("台中\\nEdu Trust认证 2000\\n"))
with_words = jieba.lcut("李小福是创新办主任石墨烯凱特琳")
parted = jieba.suggest_freq(("中", "将"), True)
joined = jieba.suggest_freq("台中", tune=True)
only_asked = jieba.suggest_freq("北京大学")
together = jieba.lcut("「台中」正确应该不会被切开", HMM=False)
frequency = jieba.get_FREQ("凱特琳")
no_frequency = jieba.get_FREQ("不在词典里的词", 7)

pairs = pseg.cut(text)
listed_pairs = pseg.lcut(text, HMM=True)
flags = {{pair.word: pair.flag for pair in pseg.cut("李小福在创新办用石墨烯")}}
words_and_flags = [(word, flag) for word, flag in pseg.cut(text)]
printed = str(pseg.lcut("凱特琳")[0]), repr(pseg.lcut("凱特琳")[0])

own = jieba.Tokenizer()
own.add_word("魑魅魍魉术", 9)
own_words = own.lcut("他用魑魅魍魉术"), list(own.cut("他用魑魅魍魉术"))
own_search = own.lcut_for_search("他用魑魅魍魉术")
other_words = jieba.dt.lcut("他用魑魅魍魉术")
tagged = pseg.POSTokenizer(own).lcut("他用魑魅魍魉术")
with_paddle = jieba.lcut(text, use_paddle=True)

keywords = jieba.analyse.extract_tags(text)
weighted = jieba.analyse.tfidf(text, topK=3, withWeight=True)
nouns = jieba.analyse.extract_tags(text, topK=None, allowPOS=("n", "ns", "nr", "v", "eng", "x"))
with_flags = jieba.analyse.extract_tags(text, allowPOS=("n", "v", "r", "eng"), withFlag=True)
both = jieba.analyse.extract_tags(text, 9, True, ("n", "v", "r", "eng"), True)
ranked = jieba.analyse.textrank(text, topK=5)
ranked_weighted = jieba.analyse.textrank(text, withWeight=True, allowPOS=["n", "v", "r", "eng"])
ranked_both = jieba.analyse.textrank(text, 9, True, ["n", "v", "eng"], True)
own_keywords = jieba.analyse.TFIDF().extract_tags(text), jieba.analyse.TextRank().textrank(text)
"""
# jieba leaves the pool of processes; ours has threads.
PARALLEL = """
jieba.enable_parallel(2)
side_by_side = jieba.lcut(text)
jieba.disable_parallel()
"""
# Whose words, one after the other, are the text.
LOSSLESS = ("default", "exact", "listed", "from_bytes", "with_paddle", "side_by_side")


@pytest.fixture(scope="module")
def nlp() -> Language:
    nlp = trained_joint()
    ruler: Any = nlp.add_pipe("entity_ruler")
    ruler.add_patterns(
        [{"label": "ORG", "pattern": "云云"}, {"label": "PERSON", "pattern": "小梅"}]
    )
    return nlp


@pytest.fixture(autouse=True)
def fresh(nlp: Language) -> Iterator[None]:
    """The module as it is when it has just been imported, but with a pipeline."""
    ours.use(nlp)
    ours.dt.FREQ.clear()
    ours.dt.user_word_tag_tab.clear()
    ours.dt.dictionary = ours.dt._nlp = None
    yield
    ours.disable_parallel()


def run(which: str, text: str) -> dict[str, Any]:
    """The names that the script makes; what is made lazily is listed, and marked."""
    names: dict[str, Any] = {"text": text}
    exec(
        SCRIPT.format(jieba=NAMES[which]) + PARALLEL * (which == "ours" or os.name == "posix"),
        names,
    )
    return {
        name: ("lazily", list(value)) if isinstance(value, GeneratorType) else ("", value)
        for name, value in names.items()
        if not name.startswith("__") and not inspect.ismodule(value)
    }


def alike(mine: Any, theirs: Any) -> bool:
    """True if two values are of the same type, and so are all of their parts."""
    if type(mine).__name__ != type(theirs).__name__:
        return False
    if isinstance(mine, tuple):
        return len(mine) == len(theirs) and all(map(alike, mine, theirs))
    if isinstance(mine, list):
        first = [*mine, *theirs][:1]
        return all(alike(first[0], each) for each in [*mine, *theirs])
    if isinstance(mine, dict):
        return alike([*mine.items()], [*theirs.items()])
    return True


# jieba leaves files open.
OPEN_FILES = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)


@OPEN_FILES
@pytest.mark.parametrize("text", [TEXT, TEXTS[0]])
def test_a_script_gives_things_of_the_same_kind(text: str) -> None:
    pytest.importorskip("jieba", reason="jieba itself is not installed")
    mine, theirs = run("ours", text), run("jieba", text)
    assert mine.keys() == theirs.keys()
    for name, value in theirs.items():
        if inspect.isclass(value[1]) or callable(value[1]) or name == "own":
            continue
        assert alike(mine[name], value), name
    for found in (mine, theirs):
        for name in LOSSLESS:
            assert "".join(found[name][1]) == text, name
        for name in ("pairs", "listed_pairs"):
            assert "".join(each.word for each in found[name][1]) == text
        for name in ("places", "inner_places"):
            assert all(text[start:end] == word for word, start, end in found[name][1])
        places = found["places"][1]
        assert [start for _, start, _ in places] == [0, *(end for *_, end in places)][:-1]
        # Words that are listed are found by both, with the flags that they were listed with.
        assert {"李小福", "创新办", "石墨烯", "凱特琳"} <= set(found["with_words"][1])
        assert "台中" in found["together"][1]
        assert found["flags"][1]["李小福"] == "nr"
        assert found["flags"][1]["创新办"] == "star"
        assert found["printed"][1] == ("凱特琳/nz", "pair('凱特琳', 'nz')")
        assert (found["frequency"][1], found["no_frequency"][1]) == (42, 7)
        assert "魑魅魍魉术" in found["own_words"][1][0]
        assert "魑魅魍魉术" not in found["other_words"][1]


@looped(
    "name",
    [
        *("cut", "lcut", "cut_for_search", "lcut_for_search", "tokenize", "add_word", "del_word"),
        *("suggest_freq", "load_userdict", "initialize", "set_dictionary", "get_FREQ"),
        *("enable_parallel", "disable_parallel", "enable_paddle", "setLogLevel"),
        *("posseg.cut", "posseg.lcut", "posseg.POSTokenizer", "posseg.POSTokenizer.cut"),
        *("posseg.pair", "posseg.initialize", "Tokenizer", "analyse.TFIDF", "analyse.TextRank"),
        *("analyse.extract_tags", "analyse.textrank", "analyse.tfidf", "analyse.set_stop_words"),
        *("analyse.set_idf_path",),
    ],
)
def test_signatures_are_those_of_jieba(name: str) -> None:
    pytest.importorskip("jieba.analyse", reason="jieba itself is not installed")
    found = {}
    for which, module in NAMES.items():
        value: Any = importlib.import_module(module)
        for part in name.split("."):
            value = getattr(value, part)
        parameters = inspect.signature(value).parameters.values()
        found[which] = [(each.name, each.default) for each in parameters]
    if name in ("lcut", "lcut_for_search"):
        # Which take anything in jieba, and pass it on.
        passed_to = inspect.signature(getattr(ours, name[1:])).parameters.values()
        found["jieba"] = [(each.name, each.default) for each in passed_to]
    assert found["ours"] == found["jieba"]


def test_full_mode_and_search_have_words_inside_words() -> None:
    ours.add_word("看书去吧")
    # Listed, but for words inside words alone.
    ours.dt.words().update(["看书", "书去"], bonus=0.0)
    text = "他看书去吧。"
    assert ours.lcut(text)[1] == "看书去吧"
    assert ours.lcut(text, cut_all=True) == ["他", "看书", "看书去吧", "书去", "。"]
    assert ours.lcut_for_search(text) == ["他", "看书", "书去", "看书去吧", "。"]
    assert list(ours.tokenize(text, mode="search"))[1:4] == [
        ("看书", 1, 3),
        ("书去", 2, 4),
        ("看书去吧", 1, 5),
    ]
    ours.del_word("书去")
    assert ours.lcut_for_search(text) == ["他", "看书", "看书去吧", "。"]


def test_a_word_that_was_deleted_is_none_until_it_comes_back() -> None:
    text = "我们昨天看书。"
    word = next(word for word in ours.lcut(text) if len(word) > 1)
    ours.del_word(word)
    assert word not in ours.lcut(text)
    assert ours.suggest_freq(word) == 1
    ours.suggest_freq(word, tune=True)
    assert word in ours.lcut(text)
    ours.suggest_freq(list(word), tune=True)
    assert word not in ours.lcut(text)
    # A character has no parts.
    ours.add_word("书")
    ours.del_word("书")
    assert "".join(ours.cut(text)) == text


def test_flags_are_those_of_jieba(nlp: Language) -> None:
    for word in ("3.5", "iPhone"):
        ours.add_word(word)
    found = dict(map(tuple, posseg.cut("小梅和小明昨天看 3.5 iPhone。")))
    assert found["小梅"] == "nr"
    assert found[" "] == found["。"] == "x"
    assert (found["3.5"], found["iPhone"]) == ("m", "eng")
    tags = {"看": "VV", "着": "AS", "了": "AS", "中国": "NR", "地": "DEV", "Ng": "Ng", "也": "RB"}
    doc = Doc(nlp.vocab, [*tags], tags=[*tags.values()], pos=["X"] * 6 + ["ADV"])
    assert list(map(posseg._flag, doc)) == ["v", "uz", "ul", "nz", "uv", "eng", "d"]


def test_flags_need_tags() -> None:
    ours.use(trained(passes=1))
    with pytest.raises(ValueError, match=r"finds words without tags.*use\('zh_structreg'\)"):
        posseg.lcut("我们看书")


def test_tags_of_listed_words_are_those_of_the_model(nlp: Language) -> None:
    ours.add_word("打篮球", tag="v")
    ours.add_word("长颈鹿", tag="动物")
    words = ours.dt.words()
    assert (words.tag("打篮球"), words.tag("长颈鹿")) == ("VV", None)
    assert dict(map(tuple, posseg.cut("长颈鹿打篮球"))) == {"长颈鹿": "动物", "打篮球": "v"}
    # The pipeline itself stays as it is.
    assert not nlp.tokenizer.user_words


def test_words_stay_when_the_pipeline_changes(nlp: Language) -> None:
    ours.add_word("打篮球", tag="v")
    other = trained_joint(1)
    other.tokenizer.user_words.add("长颈鹿")
    ours.use(other)
    assert {*ours.dt.words()} == {"打篮球", "长颈鹿"}


@looped(
    ("line", "fault"),
    [
        (b"\xff\xfe", r":2: 'utf-8' codec"),
        ("词" * 300 + " 5", r":2: the word .*255 are the most"),
        ("词\n3 n", r":2: the line '词\\n3 n' has a line break"),
        ("词" + " " * 100_000 + "!", r":2: the line .* has 100,002 characters; 530 are the most"),
        ("词 1234567890123456789 n", r":2: the frequency .* more than 18 digits"),
        ("创新办 3 i 3 i", r":2: the word .* looks like an entry"),
    ],
)
def test_faulty_lines_are_named_and_nothing_is_listed(line: Any, fault: str) -> None:
    lines = io.BytesIO(b"abc 5\n" + line) if isinstance(line, bytes) else ["长颈鹿 5 n", line]
    with pytest.raises(CorpusError, match=fault):
        ours.load_userdict(lines)
    assert not ours.dt.FREQ
    assert not ours.user_word_tag_tab


def test_lines_are_parted_from_the_right() -> None:
    for line, entry in (
        ("Edu  Trust认证  2000   n", ("Edu  Trust认证", "2000", "n")),
        ("云计算 5", ("云计算", "5", None)),
        ("a 3 4", ("a 3", "4", None)),
        ("a n 4", ("a n", "4", None)),
        ("3 n", ("3", None, "n")),
        ("n", ("n", None, None)),
        ("\ufeff", None),
        ("词" + " " * 500 + "3", ("词", "3", None)),
    ):
        if entry is None:
            ours.load_userdict([line])
            assert not ours.dt.FREQ
        else:
            assert ours._user_entry(line) == entry


@looped(("word", "freq"), [("词" * 300, None), ("词" * 300, 0), ("", None), ("长颈鹿", "much")])
def test_what_cannot_be_listed_leaves_no_trace(word: str, freq: Any) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        ours.add_word(word, freq, "n")
    assert not ours.dt.FREQ
    assert not ours.user_word_tag_tab
    assert not ours.dt.words()


def test_paths_and_byte_order_marks(tmp_path: Path) -> None:
    path = tmp_path / "userdict.txt"
    path.write_text("\ufeff云计算  5   n\r\n\r\n 李小福 nr\n", encoding="utf-8")
    ours.load_userdict(str(path))
    assert ours.dt.FREQ == {"云计算": 5, "李小福": 1}
    assert ours.user_word_tag_tab == {"云计算": "n", "李小福": "nr"}
    ours.load_userdict(path)
    with pytest.raises(FileNotFoundError):
        ours.load_userdict(str(tmp_path / "none.txt"))


def test_a_dictionary_joins_the_lexicon_of_the_model(tmp_path: Path) -> None:
    path = tmp_path / "dict.txt"
    path.write_text("图书馆 100 n\n看书 50 v\n", encoding="utf-8")
    with pytest.raises(FileNotFoundError, match="no dictionary"):
        ours.set_dictionary(str(tmp_path / "none.txt"))
    tokenizer = ours.Tokenizer(str(path))
    with pytest.raises(ValueError, match="lexicon"):
        tokenizer.initialize()
    assert not tokenizer.initialized
    config = copy.deepcopy(JOINT_CONFIG)
    config["nlp"]["tokenizer"]["model"]["lexicon"] = str(path)
    nlp = spacy.blank("zh", config=config)
    docs = [tagged_doc(nlp.vocab, words) for words in TRAIN]
    nlp.tokenizer.model.fit([sent for doc in docs for sent in nlp.tokenizer.gold_sentences(doc)])
    ours.use(nlp)
    ours.set_dictionary(str(path))
    ours.initialize()
    assert {ours.dt.words().entry(word).mode for word in ours.dt.words()} == {"prefer"}
    assert "".join(ours.cut(TEXT)) == TEXT
    path.write_text("图书馆 n 100\n", encoding="utf-8")
    with pytest.raises(CorpusError, match=r"dict\.txt:1: .*no entry such as"):
        ours.Tokenizer(str(path)).initialize()


def test_what_is_no_text_is_refused() -> None:
    for faulty in (None, 3, ["一"]):
        with pytest.raises(TypeError, match="expected a text as str or bytes"):
            ours.lcut(faulty)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="expected a text as str"):
        list(ours.tokenize(b"abc"))  # type: ignore[arg-type]
    assert ours.lcut("中文".encode("gbk")) == ours.lcut("中文")
    assert ours.lcut("") == ours.lcut_for_search("") == posseg.lcut("") == []
    with pytest.raises(ValueError, match="is a ChineseTokenizer, which has no model"):
        ours.use(spacy.blank("zh"))


class FixedWords:
    """A tokenizer that finds words and flags which are written down: `词/n`."""

    def __init__(self, tokenizer: Any) -> None:
        self.words = tokenizer

    def cut(self, sentence: str, HMM: bool = True) -> Iterator[Any]:  # noqa: N803
        parts = (part.rpartition("/") for part in sentence.split())
        return (self.words(word, flag) for word, _, flag in parts)


KEYWORD_TEXT = (
    "自然/n 语言/n 处理/v 是/v 人工智能/n 领域/n 中/f 的/uj 重要/a 方向/n ，/x 语言/n "
    "处理/v 研究/v 自然/n 语言/n 通信/v the/n 的/n 方法/n"
)


@OPEN_FILES
@pytest.mark.parametrize("flags", [(), ("n",), ("n", "v")])
def test_scores_of_keywords_are_those_of_jieba(flags: tuple[str, ...], tmp_path: Path) -> None:
    """Of equal words and frequencies."""
    theirs = pytest.importorskip("jieba.analyse", reason="jieba itself is not installed")
    table = tmp_path / "idf.txt"
    table.write_text("语言 5.5\n处理 2.25\n方法 1\n自然 4\n领域 3.125\n", encoding="utf-8")
    found = []
    pairs = importlib.import_module("jieba.posseg").pair, posseg.pair
    for module, pair in zip((theirs, analyse), pairs, strict=True):
        results: list[Any] = []
        by_frequency, by_rank = module.TFIDF(str(table)), module.TextRank()
        by_frequency.tokenizer = FixedWords(lambda word, _: word)
        by_frequency.postokenizer = by_rank.postokenizer = by_rank.tokenizer = FixedWords(pair)
        for extractor in (by_frequency, by_rank):
            for with_flag in (False, True):
                got = extractor.extract_tags(
                    KEYWORD_TEXT, topK=None, withWeight=True, allowPOS=flags, withFlag=with_flag
                )
                results.append({str(word): score for word, score in got})
        found.append(results)
    for mine, other in zip(*found, strict=True):
        # TextRank of jieba ends after ten rounds.
        assert mine == pytest.approx(other, abs=0.02)
    assert any(found[0][1])


def test_stop_words_and_tables_of_keywords(tmp_path: Path) -> None:
    extractor = analyse.TFIDF()
    extractor.tokenizer = FixedWords(lambda word, _: word)
    assert extractor.extract_tags("语言/n 语言/n 处理/v 的/uj 我们/r", topK=1) == ["语言"]
    path = tmp_path / "words.txt"
    path.write_text("语言\n处理\n", encoding="utf-8")
    extractor.set_stop_words(path)
    assert extractor.extract_tags("语言/n 语言/n 处理/v 我们/r") == ["我们"]
    assert extractor.extract_tags("") == []
    for text, line in (("", 1), ("中国 5\n中国\n", 2), ("中国 5\n中国 高\n", 2)):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(CorpusError, match=rf"words\.txt:{line}: "):
            analyse.TFIDF(path)


def test_nothing_is_loaded_before_it_is_needed(nlp: Language, tmp_path: Path) -> None:
    """The import takes no spaCy; an environment variable names the pipeline."""
    nlp.to_disk(tmp_path / "pipeline")
    code = (
        "import sys; import spacy_structreg.compat.jieba as jieba\n"
        "import spacy_structreg.compat.jieba.posseg as pseg\n"
        "import spacy_structreg.compat.jieba.analyse\n"
        "assert 'spacy' not in sys.modules\n"
        "assert ''.join(jieba.cut('我们看书')) == '我们看书'\n"
    )
    variables = {ours.PIPELINE_VARIABLE: str(tmp_path / "pipeline"), "PYTHONUTF8": "1"}
    command = [sys.executable, "-W", "error", "-c", code]
    subprocess.run(command, env={**os.environ, **variables}, check=True)
