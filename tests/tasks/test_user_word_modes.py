"""Modes of user words, and compiled lists: what is stored comes back, and nothing else is read."""

from __future__ import annotations

import math
import pickle
import threading
from pathlib import Path

import pytest
from example_counts import quick_examples
from hypothesis import given
from hypothesis import strategies as st
from tasks.test_text_decoder import model, spans_in

from spacy_structreg.learn.model_file import SourceFile, model_bytes, parse_model
from spacy_structreg.tasks.segmentation.user_words import CompiledWords, UserWords, WordEntry

ENTRIES = st.one_of(
    st.tuples(st.none() | st.sampled_from(["NN", "v"]), st.sampled_from(["force", "prefer"])),
    st.tuples(
        st.none() | st.sampled_from(["NN", "v"]),
        st.just("bonus"),
        st.sampled_from([0.0, -1.5, 2.0, 1e6]),
    ),
).map(lambda entry: WordEntry(*entry))
WORDS = st.text("ab 京\n😀", min_size=1, max_size=4).filter(lambda word: word == word.strip())
LISTS = st.dictionaries(WORDS, ENTRIES, max_size=6)


def list_of(said: dict[str, WordEntry]) -> UserWords:
    words = UserWords()
    for word, (tag, mode, bonus) in said.items():
        words.add(word, tag, mode=mode, bonus=bonus if mode == "bonus" else None)
    return words


@given(LISTS, st.text("ab 京\n😀", max_size=12))
def test_places_by_mode(said: dict[str, WordEntry], text: str) -> None:
    words = list_of(said).snapshot()
    found = words.look_up(text)
    places = sorted(
        (start, start + len(word), word)
        for word in said
        for start in range(len(text))
        if text.startswith(word, start)
    )
    number = {tag: i for i, tag in enumerate(words.tags)}
    for mode, array in (("force", found.words), ("bonus", found.bonus_words)):
        assert array.tolist() == [
            [start, end, number.get(said[word].tag, -1)]
            for start, end, word in places
            if said[word].mode == mode
        ]
    assert found.bonuses.tolist() == [
        said[word].bonus for _, _, word in places if said[word].mode == "bonus"
    ]


@given(LISTS)
def test_lists_are_kept(said: dict[str, WordEntry]) -> None:
    words = list_of(said)
    backwards = list_of(dict(reversed(said.items())))
    assert words.to_bytes() == backwards.to_bytes()
    for copy in (
        UserWords(["gone"]).from_bytes(words.to_bytes()),
        pickle.loads(pickle.dumps(words)),
        UserWords().from_bytes(words.snapshot().to_bytes()),
    ):
        assert copy == words
        assert dict(copy.snapshot().items()) == said
        assert (len(copy), list(copy)) == (len(said), sorted(said))
        # It can be changed, whatever it came from.
        copy.add("new", "T", bonus=1.0)
        assert copy.entry("new") == WordEntry("T", "bonus", 1.0)
        copy.remove("new")
        assert dict(copy.snapshot().items()) == said
    copy = pickle.loads(pickle.dumps(words.snapshot()))
    assert copy == words.snapshot()
    assert copy.words == {word: entry.tag for word, entry in said.items()}


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ({"mode": "nope"}, "unknown mode 'nope'; choose force, prefer or bonus"),
        ({"mode": "bonus"}, "needs a bonus: a number"),
        ({"mode": "force", "bonus": 1.0}, "words of mode 'force' have no bonus"),
        ({"mode": "prefer", "bonus": 1.0}, "words of mode 'prefer' have no bonus"),
        ({"bonus": math.nan}, "must be a finite number"),
        ({"bonus": True}, "must be a finite number"),
        ({"bonus": "1"}, "must be a finite number"),
        ({"bonus": 1e7}, "bonus must be between"),
    ],
)
def test_modes_that_do_not_exist(arguments: dict, fault: str, tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("b\n")
    words = UserWords(["a"])
    for call in (
        lambda: words.add("b", **arguments),
        lambda: words.update(["b"], **arguments),
        lambda: words.load(tmp_path / "words.txt", **arguments),
        lambda: UserWords([], **arguments),
    ):
        with pytest.raises(ValueError, match=fault):
            call()
    assert list(words) == ["a"]


def test_too_many_different_bonuses() -> None:
    words = UserWords()
    words.update(["a"], bonus=1.0)
    said = {f"{i}": WordEntry(None, "bonus", i / 8) for i in range(65_536)}
    with pytest.raises(ValueError, match=r"65,536 different combinations .* round the bonuses"):
        CompiledWords(said)


def test_a_mapped_list(tmp_path: Path) -> None:
    path = tmp_path / "o.words"
    said = {"大学": WordEntry("NN"), "北京": WordEntry(None, "bonus", 2.0)}
    CompiledWords(said).write(path)
    words = UserWords()
    assert words.load(path) == 2
    assert "大学" in words
    assert "大" not in words
    assert (words.tag("大学"), words.entry("北京").bonus) == ("NN", 2.0)
    with pytest.raises(ValueError, match="the word '大' is not listed"):
        words.entry("大")
    # Added to what is listed, it does not take its place.
    other = UserWords(["京"])
    other.load(path)
    assert list(other) == ["京", "北京", "大学"]
    other.load(path, replace=True)
    assert other == words
    with pytest.raises(ValueError, match=r"o\.words: a compiled list has its modes"):
        other.load(path, mode="force")


def test_a_compiled_list_that_was_written_to_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "o.words"
    UserWords(["大学"], bonus=1.0).snapshot().write(path)
    words = CompiledWords.read(path)
    words._source = SourceFile(path, mapped=True)
    assert len(words.look_up("大学").bonus_words) == 1
    with path.open("ab") as stream:
        stream.write(b"more")
    with pytest.raises(ValueError, match="was written to while it was in use"):
        words.look_up("大学")


# Hostile files -----------------------------------------------------------------------------------

GOOD = UserWords(["北京", "大学", "北京大学"], bonus=2.0).snapshot()


@given(st.data())
@quick_examples(300)
def test_any_change_of_a_file_is_an_error_or_harmless(data: st.DataObject) -> None:
    """Whatever is read, places lie in the text, and decoders can use them."""
    changed = bytearray(GOOD.to_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(changed) - 1))
        changed[place] = data.draw(st.integers(0, 255))
    changed = changed[: data.draw(st.sampled_from([len(changed)] * 5 + [len(changed) // 2]))]
    check(bytes(changed))


@given(st.data())
@quick_examples(300)
def test_any_nodes(data: st.DataObject) -> None:
    """A file of good checksums whose automaton or table is made up."""
    header, arrays = parse_model(GOOD.to_bytes())
    nodes = arrays["nodes"].copy()
    for _ in range(data.draw(st.integers(0, 6))):
        place = data.draw(st.integers(0, len(nodes) - 1))
        node = int(nodes[place])
        character = data.draw(st.sampled_from([*map(ord, "北京大学 \n"), (node & 0x1FFFFF) - 1]))
        prefix = data.draw(st.integers(0, len(nodes)) | st.just(node >> 21 & 0x7FFFFFF))
        value = data.draw(st.integers(0, 3))
        nodes[place] = (character + 1) % (1 << 21) | prefix << 21 | value << 48
    count = int((nodes >> 48 != 0).sum())
    header["lexicon"] = {**header["lexicon"], "n_words": count}
    header["lexicon"]["longest"] = data.draw(st.sampled_from([4, 0, 255, 256, -1]))
    bad = [["NN", "bonus", 1.0], [None, "force", 0.0], [1, "force", 0.0], ["", "bonus", 1.0]]
    bad += [[None, "nope", 0.0], [None, "force", 1.0], [None], [[], "force", 0.0], 3]
    header["entries"] += data.draw(st.lists(st.sampled_from(bad), max_size=2))
    check(model_bytes(header, {"nodes": nodes}))


def check(content: bytes) -> None:
    words = UserWords(["kept"])
    try:
        words.from_bytes(content)
    except ValueError:
        assert list(words) == ["kept"]
        return
    for text in ("在北京大学 学。", "北 京", " 大学 "):
        found = words.snapshot().look_up(text)
        for start, end, tag in [*found.words.tolist(), *found.bonus_words.tolist()]:
            assert 0 <= start < end <= len(text)
            assert -1 <= tag < len(words.snapshot().tags)
        for kind in ("characters", "narrow"):
            spans_in(text, model(kind).predict(text, words))
    len(words), list(words), words.to_bytes()


def test_other_model_files_are_no_lists(tmp_path: Path) -> None:
    path = tmp_path / "m.srt"
    path.write_bytes(model_bytes({"task": "segmenter"}, {}))
    with pytest.raises(ValueError, match=r"m\.srt: not a list of user words"):
        UserWords().load(path)


# Threads -----------------------------------------------------------------------------------------


def test_modes_are_swapped_as_a_whole() -> None:
    """Of two words, one is forced and one has a bonus, now the one, now the other."""
    lists = [
        CompiledWords({"a": WordEntry(), "b": WordEntry(None, "bonus", 1.0)}).to_bytes(),
        CompiledWords({"b": WordEntry(), "a": WordEntry(None, "bonus", 2.0)}).to_bytes(),
    ]
    words = UserWords().from_bytes(lists[0])
    stop = threading.Event()
    wrong: list[object] = []

    def look() -> None:
        while not stop.is_set():
            found = words.snapshot().look_up("ab")
            seen = (found.words.tolist(), found.bonus_words.tolist(), found.bonuses.tolist())
            if seen not in (
                ([[0, 1, -1]], [[1, 2, -1]], [1.0]),
                ([[1, 2, -1]], [[0, 1, -1]], [2.0]),
            ):
                wrong.append(seen)

    threads = [threading.Thread(target=look) for _ in range(3)]
    for thread in threads:
        thread.start()
    for turn in range(300):
        words.from_bytes(lists[turn % 2])
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong
