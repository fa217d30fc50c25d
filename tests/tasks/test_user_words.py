"""User words: their places against brute force, lists, files and threads."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from looped import looped

from spacy_structreg.corpora.corpus_errors import CorpusError
from spacy_structreg.corpora.sentences import sentence_ends
from spacy_structreg.features.scripts import Script
from spacy_structreg.tasks.segmentation.constraints import Constraints
from spacy_structreg.tasks.segmentation.user_words import (
    LONGEST_WORD,
    CompiledWords,
    Occurrence,
    UserWords,
    WordEntry,
    leftmost_longest,
    read_user_words,
    whole_ends,
)

word_lists = st.sets(st.text("ab", min_size=1, max_size=4), max_size=7)
texts = st.text("abc", max_size=10)


def places(words: Iterable[str], text: str) -> list[tuple[int, int]]:
    """Where words stand in a text, by start and end."""
    return sorted(
        (start, start + len(word))
        for word in words
        for start in range(len(text))
        if text.startswith(word, start)
    )


class TestPlaces:
    def test_by_hand(self) -> None:
        listed = ["北京", ("北京大学", "NR"), ("大学", "NN"), "New York", "yo"]
        words = UserWords(listed).snapshot()
        assert words.tags == ("NN", "NR")
        text = "在北京大学的大学,New Yorker"
        assert words.places(text).tolist() == [
            [1, 3, -1],
            [1, 5, 1],
            [3, 5, 0],
            [6, 8, 0],
            [9, 17, -1],
        ]
        assert words.find(text)[1:3] == [Occurrence(1, 5, "NR"), Occurrence(3, 5, "NN")]
        assert leftmost_longest(words.places(text)) == [(1, 5), (6, 8), (9, 17)]

    @given(word_lists, texts)
    def test_leftmost_longest(self, words: set[str], text: str) -> None:
        expected, start = [], 0
        while start < len(text):
            ends = [end for begin, end in places(words, text) if begin == start]
            if ends:
                expected.append((start, max(ends)))
            start = max(ends, default=start + 1)
        assert leftmost_longest(UserWords(words).snapshot().places(text)) == expected

    def test_words_nested_to_the_limit(self) -> None:
        """As many places as the docstring says, which are all there can be."""
        nested = ["a" * length for length in range(1, LONGEST_WORD + 1)]
        found = UserWords(nested).snapshot().places("a" * 1_000)
        assert len(found) == sum(min(LONGEST_WORD, 1_000 - i) for i in range(1_000))


class TestSentenceEnds:
    @given(word_lists, st.text("ab", max_size=10), st.sets(st.integers(1, 9)))
    def test_words_stay_whole(self, words: set[str], text: str, inner: set[int]) -> None:
        ends = sorted({end for end in inner if end < len(text)} | ({len(text)} - {0}))
        assert whole_ends(ends, UserWords(words).snapshot().places(text)) == [
            end for end in ends if not any(a < end < b for a, b in places(words, text))
        ]

    def test_of_real_punctuation(self) -> None:
        text = "上Hello!看。好"
        ends = sentence_ends(text)
        assert ends == [7, 9, 10]
        assert whole_ends(ends, UserWords(["Hello!看"]).snapshot().places(text)) == [9, 10]
        assert whole_ends(ends, UserWords(["Hello!"]).snapshot().places(text)) == ends


class TestList:
    def test_add_change_and_remove(self) -> None:
        words = UserWords(["b", ("a", "NN")])
        assert (len(words), list(words), "a" in words, "c" in words) == (2, ["a", "b"], True, False)
        assert (words.tag("a"), words.tag("b")) == ("NN", None)
        words.add("b", "VV")
        words.add("a")
        assert (words.tag("a"), words.tag("b")) == (None, "VV")
        words.remove("a")
        assert list(words) == ["b"]
        words.clear()
        assert not words
        for method in (words.remove, words.tag):
            with pytest.raises(ValueError, match="the word 'b' is not listed"):
                method("b")

    @looped(
        ("entry", "fault"),
        [
            ("", "the word is empty"),
            (" a", "begins or ends with white space"),
            ("a\u3000", "begins or ends with white space"),
            ("\ud800", "lone surrogate at offset 0"),
            ("a" * (LONGEST_WORD + 1), "has 256 characters; 255 are the most"),
            (("a", ""), "the tag is empty"),
            (("a", "N N "), "the tag 'N N ' begins or ends"),
            ((1, None), "expected a word as str, got 1"),
            (("a", b"N"), "expected a tag as str, got b'N'"),
        ],
    )
    def test_what_is_refused_changes_nothing(self, entry: str, fault: str) -> None:
        words = UserWords(["x"])
        with pytest.raises(ValueError, match=fault):
            words.update(["y", entry])
        assert list(words) == ["x"]
        with pytest.raises(ValueError, match="got the string"):
            words.update("ab")

    def test_any_characters_within(self) -> None:
        listed = ["C++", "New York", "a\tb", "x\ny", "\0", "#话题#", "👩‍💻", "a" * LONGEST_WORD]
        words = UserWords(listed)
        for word in listed:
            found = words.snapshot().find(f"。{word}。")
            assert found == [Occurrence(1, 1 + len(word), None)]

    def test_a_snapshot_does_not_change(self) -> None:
        words = UserWords(["a"])
        before = words.snapshot()
        assert words.snapshot() is before
        words.add("b", "NN")
        words.remove("a")
        assert before.find("ab") == [Occurrence(0, 1, None)]
        assert words.snapshot().find("ab") == [Occurrence(1, 2, "NN")]
        with pytest.raises(TypeError):
            before.words["c"] = None  # type: ignore[index]
        copy = pickle.loads(pickle.dumps(before))
        assert copy.find("ab") == before.find("ab")
        assert len(copy) == 1

    def test_equality(self) -> None:
        assert UserWords(["a", ("b", "N")]) == UserWords([("b", "N"), "a"])
        assert UserWords(["a"]) != UserWords([("a", "N")])
        assert UserWords() != []
        with pytest.raises(TypeError):
            hash(UserWords())


class TestBytes:
    @given(st.binary(max_size=40))
    @example(b"")
    @example(UserWords(["a"]).to_bytes()[:-1])
    @example(UserWords(["a"]).to_bytes() + b"\0")
    def test_anything_else_is_refused(self, data: bytes) -> None:
        words = UserWords(["kept"])
        with pytest.raises(ValueError, match=r"user words|the word|a word"):
            words.from_bytes(data)
        assert list(words) == ["kept"]


class TestFiles:
    def test_words_tags_and_blanks(self, tmp_path: Path) -> None:
        path = tmp_path / "words.txt"
        path.write_bytes("\ufeff 北京大学\tNT\r\n\r\nNew York \t NR\n#话题#\n \u3000\nC++".encode())
        listed = [("北京大学", "NT"), ("New York", "NR"), ("#话题#", None), ("C++", None)]
        assert list(read_user_words(path)) == listed
        words = UserWords(["old"])
        assert words.load(path) == 4
        assert words == UserWords([*listed, "old"])
        assert words.load(path, replace=True) == 4
        assert words == UserWords(listed)

    def test_the_last_line_of_a_word_counts(self, tmp_path: Path) -> None:
        path = tmp_path / "words.txt"
        path.write_text("a\tN\nb\na\tV\n")
        words = UserWords()
        assert words.load(path) == 2
        assert words.tag("a") == "V"

    @looped(
        ("line", "fault"),
        [
            ("a\tN\tV", "the frequency 'V' is no whole number"),
            ("a\tN,V", "2 tags; give it one"),
            ("\tN", "no word before the tab"),
            ("a\rb", "carriage return"),
            ("a" * 256, "256 characters"),
        ],
    )
    @looped("replace", [False, True])
    def test_faults_name_their_line_and_change_nothing(
        self, line: str, fault: str, replace: bool, tmp_path: Path
    ) -> None:
        path = tmp_path / "words.txt"
        path.write_bytes(f"fine\n\n{line}\n".encode())
        words = UserWords(["old"])
        with pytest.raises(CorpusError, match=rf"words\.txt:3: .*{fault}"):
            words.load(path, replace=replace)
        assert list(words) == ["old"]


# Changes of long lists ---------------------------------------------------------------------------

LOOKS = Script(np.array([[0x5B78, 0x5B66], [0x8A9E, 0x8BED]], np.uint32))
"""學 looks like 学, and 語 like 语."""

CHANGED_ENTRIES = st.one_of(
    st.none(),
    st.builds(
        WordEntry,
        st.sampled_from([None, "NN", "VV"]),
        st.sampled_from(["force", "prefer"]),
        st.just(0.0),
    ),
    st.builds(lambda bonus: WordEntry(None, "bonus", bonus), st.sampled_from([1.0, 2.0])),
)


def twin_places(words: dict[str, WordEntry], text: str, script: Script | None) -> set[Any]:
    """What stands where, looked up at every place; a word as it is listed counts first."""
    see = (lambda word: word) if script is None else script.normalize
    by_look: dict[str, WordEntry] = {}
    for word in sorted(words):
        by_look.setdefault(see(word), words[word])
    found = set()
    for start, end in combinations(range(len(text) + 1), 2):
        entry = words.get(text[start:end]) or by_look.get(see(text[start:end]))
        if entry is not None and entry.mode != "prefer":
            found.add((start, end, entry.mode, entry.tag, entry.bonus))
    return found


def places_of(found: Constraints, tags: Sequence[str]) -> list[Any]:
    forced = [
        (start, end, "force", None if tag < 0 else tags[tag], 0.0)
        for start, end, tag in found.words.tolist()
    ]
    return forced + [
        (start, end, "bonus", None if tag < 0 else tags[tag], bonus)
        for (start, end, tag), bonus in zip(
            found.bonus_words.tolist(), found.bonuses.tolist(), strict=True
        )
    ]


@given(
    st.lists(st.tuples(st.text("学學语語a", min_size=1, max_size=3), CHANGED_ENTRIES), max_size=12),
    st.text("学學语語a", max_size=8),
    st.integers(0, 12),
)
def test_changes_are_found_as_in_a_list_that_is_compiled_anew(
    changes: list[tuple[str, WordEntry | None]], text: str, n_compiled: int
) -> None:
    words, listed = UserWords(), dict[str, WordEntry]()
    for i, (word, entry) in enumerate(changes):
        if entry is not None:
            bonus = entry.bonus if entry.mode == "bonus" else None
            words.add(word, entry.tag, mode=entry.mode, bonus=bonus)
            listed[word] = entry
        elif listed.pop(word, None) is not None:
            words.remove(word)
        if i == n_compiled:
            words.snapshot()
    snapshot = words.snapshot()
    anew = CompiledWords(listed)
    for script in (None, LOOKS):
        seen = snapshot.normalized_by(script)
        found = seen.look_up(text)
        places = places_of(found, seen.tags)
        assert len(places) == len(set(places))
        assert set(places) == twin_places(listed, text, script)
        for rows in (found.words, found.bonus_words):
            assert rows[:, :2].tolist() == sorted(rows[:, :2].tolist())
    assert (len(snapshot), snapshot.tags, snapshot.modes) == (len(anew), anew.tags, anew.modes)
    assert snapshot.model_tags == anew.model_tags
    assert all((word in snapshot) == (word in listed) for word, _ in changes)
    assert all(snapshot.entry(word) == listed.get(word) for word, _ in changes)
    assert snapshot == anew
    assert snapshot.to_bytes() == anew.to_bytes()
    assert pickle.loads(pickle.dumps(snapshot)) == anew


def test_a_few_changes_do_not_compile_a_long_list_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    words = UserWords(f"w{i}" for i in range(3_000))
    words.snapshot()
    sizes = []
    make = CompiledWords.__init__

    def count(self: CompiledWords, said: Mapping[str, Any], further: Any = ()) -> None:
        sizes.append(len(said))
        make(self, said, further)

    monkeypatch.setattr(CompiledWords, "__init__", count)
    for i in range(1_500):
        words.add(f"v{i}")
        assert Occurrence(0, len(f"v{i}"), None) in words.snapshot().find(f"v{i} w7")
    assert len(words) == 4_500
    assert sum(size > 1_000 for size in sizes) == 2
