"""Listed words: one token each, in every way that Docs are made and pipelines are kept."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from looped import looped
from pipeline.made_up import DEV, TEXTS, tokens
from pipeline.made_up import trained as make_trained
from pipeline.made_up import untrained as make_untrained
from spacy.language import Language

from spacy_structreg.pipeline.tokenizer import WORDS_FILE, ModelTokenizer
from spacy_structreg.tasks.segmentation.user_words import UserWords

TRAINED = make_trained()
TEXT = "昨天，我们去New York买了iPhone 15。老师 说：“好。”"
LISTED = ["New York", "iPhone 15", "我们去", "。老师"]


@pytest.fixture
def nlp() -> Language:
    return make_trained()


@pytest.mark.parametrize("make", [make_trained, make_untrained])
def test_listed_words_are_tokens_and_the_text_stays(make: Callable[[], Language]) -> None:
    nlp = make()
    without = tokens(nlp(TEXT))
    assert not set(LISTED) & set(without)
    nlp.tokenizer.user_words.update(LISTED)
    for doc in (nlp(TEXT), *nlp.tokenizer.pipe([TEXT]), *nlp.pipe([TEXT], n_process=1)):
        assert doc.text == TEXT
        assert [token for token in tokens(doc) if token in LISTED] == [
            "我们去",
            "New York",
            "iPhone 15",
            "。老师",
        ]
    for word in LISTED:
        nlp.tokenizer.user_words.remove(word)
    assert tokens(nlp(TEXT)) == without


@given(
    st.lists(st.text("老师 ab\n", min_size=1, max_size=3).filter(lambda w: w == w.strip())),
    st.text("老师 ab\n。", max_size=30),
    st.lists(st.tuples(st.integers(0, 29), st.integers(1, 30)), max_size=3),
    st.booleans(),
)
def test_any_words_and_spans_of_any_text(
    words: list[str], text: str, given_spans: list[tuple[int, int]], is_trained: bool
) -> None:
    tokenizer = type(TRAINED.tokenizer)(
        TRAINED.vocab,
        TRAINED.tokenizer.model if is_trained else TRAINED.tokenizer.model.untrained(),
        # With tags, as 师 a without one is refused.
        UserWords((word, "NN") for word in words),
    )
    doc = tokenizer(text)
    assert doc.text == text
    assert [tokens(streamed) for streamed in tokenizer.pipe([text])] == [tokens(doc)]
    # Each place where a listed word stands is a token, or overlaps with one that is.
    spans = {(token.idx, token.idx + len(token)) for token in doc if token.text in words}
    for word in words:
        for found in re.finditer(f"(?={re.escape(word)})", text):
            start, end = found.start(), found.start() + len(word)
            assert any(first < end and start < last for first, last in spans)
    try:
        doc = tokenizer(text, spans=given_spans)
    except ValueError:
        return
    assert doc.text == text
    for start, end in given_spans:
        stripped = text[start:end].strip()
        begin = text.index(stripped, start)
        assert (begin, stripped) in {(token.idx, token.text) for token in doc}


# Damage ------------------------------------------------------------------------------------------


@looped("data", [b"", b"\x80", b"\x93123", b"\x81" * 2000, b"\xc6\xff\xff\xff\xff"])
def test_a_damaged_list_is_named(nlp: Language, data: bytes, tmp_path: Path) -> None:
    nlp.tokenizer.user_words.add("我们去")
    nlp.to_disk(tmp_path)
    file = tmp_path / "tokenizer" / WORDS_FILE
    file.write_bytes(data)
    with pytest.raises(ValueError, match=f"^{re.escape(str(file))}: .*list of user words"):
        nlp.tokenizer.from_disk(tmp_path / "tokenizer")
    assert list(nlp.tokenizer.user_words) == ["我们去"]


@looped("data", [b"", b"\x80", b"\xc1", b"\x82\xa5model\xa0\xaauser_words\xa0"])
def test_damaged_bytes_change_nothing(nlp: Language, data: bytes) -> None:
    nlp.tokenizer.user_words.add("我们去")
    before = nlp.tokenizer.to_bytes()
    with pytest.raises(ValueError, match="model and words of a tokenizer"):
        nlp.tokenizer.from_bytes(data)
    assert nlp.tokenizer.to_bytes() == before


# Lists from files --------------------------------------------------------------------------------


def initialized(nlp: Language, path: Path) -> ModelTokenizer:
    nlp.config["initialize"]["tokenizer"]["user_words"] = str(path)
    nlp.initialize()
    return nlp.tokenizer


def test_initialize_lists_the_words_of_a_file(nlp: Language, tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("New York\tNR\n我们去\n", encoding="utf-8")
    nlp.tokenizer.user_words.add("以前")
    words = initialized(nlp, path).user_words
    assert list(words) == ["New York", "我们去"]
    assert words.tag("New York") == "NR"
    compiled = UserWords(["New York"], bonus=1e4)
    compiled.snapshot().write(tmp_path / "o.words")
    assert initialized(nlp, tmp_path / "o.words").user_words == compiled
    path.write_text("我们去\nNew\tYork\tNR\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"words\.txt:2: the frequency"):
        initialized(nlp, path)


def test_a_packaged_list_does_not_need_its_file(nlp: Language, tmp_path: Path) -> None:
    nlp.tokenizer.user_words.add("我们去")
    assert list(initialized(nlp, tmp_path / "gone.txt").user_words) == ["我们去"]
    nlp.tokenizer.user_words.clear()
    with pytest.raises(FileNotFoundError):
        nlp.initialize()


# Threads -----------------------------------------------------------------------------------------


def test_lists_are_swapped_while_threads_decode(nlp: Language) -> None:
    """Each Doc is one of those that the lists give, never a mixture."""
    texts = [TEXT, *TEXTS[:5]]
    lists = [UserWords(), UserWords(LISTED), UserWords(["New York", "图书", "去N"])]
    allowed = []
    for words in lists:
        nlp.tokenizer.user_words = words
        allowed.append([tokens(nlp(text)) for text in texts])
    assert allowed[0][1:] == DEV[:5]
    stop = threading.Event()
    wrong: list[object] = []

    def decode(by_stream: bool) -> None:
        try:
            while not stop.is_set():
                if by_stream:
                    if [tokens(doc) for doc in nlp.tokenizer.pipe(texts)] not in allowed:
                        wrong.append("stream")
                else:
                    for number, text in enumerate(texts):
                        found = tokens(nlp.tokenizer(text))
                        if found not in [each[number] for each in allowed]:
                            wrong.append(found)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=decode, args=(i % 2 == 0,)) for i in range(4)]
    for thread in threads:
        thread.start()
    shared = UserWords(LISTED)
    for round_ in range(60):
        nlp.tokenizer.user_words = lists[round_ % 3]
        nlp.tokenizer(TEXT)
        nlp.tokenizer.user_words = shared
        # Words come and go all at once.
        shared.clear()
        nlp.tokenizer(TEXT)
        shared.update(LISTED)
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong


# Modes, calls and spans --------------------------------------------------------------------------


@pytest.mark.parametrize("make", [make_trained, make_untrained])
def test_a_list_for_one_call(make: Callable[[], Language]) -> None:
    nlp = make()
    nlp.tokenizer.user_words.add("。老师")
    without = tokens(nlp(TEXT))
    for words in (["New York"], UserWords(["New York"]), UserWords(["New York"]).snapshot()):
        found = tokens(nlp.tokenizer(TEXT, user_words=words))
        assert "New York" in found
        assert "。老师" not in found
        with nlp.tokenizer.using(words) as inner:
            assert list(inner if isinstance(inner, UserWords) else inner.words) == ["New York"]
            assert tokens(nlp(TEXT)) == found
            assert [tokens(doc) for doc in nlp.pipe([TEXT])] == [found]
            assert [tokens(doc) for doc in nlp.tokenizer.pipe([TEXT])] == [found]
            with nlp.tokenizer.using([]):
                assert "New York" not in tokens(nlp(TEXT))
            assert tokens(nlp(TEXT)) == found
        assert tokens(nlp(TEXT)) == without
    with pytest.raises(KeyError), nlp.tokenizer.using(["New York"]):
        raise KeyError
    assert tokens(nlp(TEXT)) == without


def test_a_list_for_a_block_is_of_one_thread_and_one_tokenizer(nlp: Language) -> None:
    other = make_trained()
    plain = tokens(nlp(TEXT))
    found: list[list[str]] = []
    with nlp.tokenizer.using(["New York"]):
        thread = threading.Thread(target=lambda: found.append(tokens(nlp(TEXT))))
        thread.start()
        thread.join()
        found.append(tokens(other(TEXT)))
        assert "New York" in tokens(nlp(TEXT))
    assert found == [plain, plain]


@pytest.mark.parametrize("make", [make_trained, make_untrained])
def test_spans_of_a_call(make: Callable[[], Language]) -> None:
    nlp = make()
    nlp.tokenizer.user_words.update(["15。老师", "我们去N"])
    start = TEXT.index("New York")
    doc = nlp.tokenizer(
        TEXT, spans=[(start, start + 8), (TEXT.index("15"), -1 + len(TEXT), "edges")]
    )
    assert doc.text == TEXT
    assert "New York" in tokens(doc)
    assert "15。老师" in tokens(doc)
    assert "我们去N" not in tokens(doc)
    # What an entity ruler has found is cut where it begins and ends.
    span = doc.char_span(TEXT.index("15"), len(TEXT) - 1)
    assert span is not None
    with pytest.raises(ValueError, match="would be cut"):
        nlp.tokenizer(TEXT, spans=[(0, 4), (1, 2)])


@pytest.mark.parametrize(("sentences", "n"), [("wrapped", 3), ("punctuation", 4), ("doc", 1)])
def test_sentences_are_those_of_the_setting(nlp: Language, sentences: str, n: int) -> None:
    """Two on a line, of which the second goes on in the next line, and a paragraph."""
    nlp.tokenizer.model.sentences = sentences
    doc = nlp("我们去上海。老师\n看书。\n\n学生看书。")
    starts = [token for token in doc if token.is_sent_start]
    assert len(starts) == n
    assert doc.has_annotation("SENT_START") == (sentences != "doc")
