"""User words: their places and sets of places against brute force, lists, files and threads."""

from __future__ import annotations

import pickle
import tempfile
import threading
from collections.abc import Iterable, Iterator
from itertools import combinations, pairwise, product
from pathlib import Path

import msgpack
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from spacy_structreg.corpora.errors import CorpusError
from spacy_structreg.corpora.sentences import sentence_ends
from spacy_structreg.tasks.user_words import (
    LONGEST_WORD,
    MOST_ALTERNATIVES,
    Cluster,
    Occurrence,
    UserWords,
    read_user_words,
    whole_ends,
)
from spacy_structreg.tasks.word_trie import WordTrie

Span = tuple[int, int]
Spans = tuple[Span, ...]

word_lists = st.sets(st.text("ab", min_size=1, max_size=4), max_size=7)
texts = st.text("abc", max_size=10)


def places(words: Iterable[str], text: str) -> list[Span]:
    """Where words stand in a text, by start and end."""
    return sorted(
        (start, start + len(word))
        for word in words
        for start in range(len(text))
        if text.startswith(word, start)
    )


def overlap(a: Span, b: Span) -> bool:
    return a[0] < b[1] and b[0] < a[1]


def is_maximal(chosen: Iterable[Span], all_places: Iterable[Span]) -> bool:
    """Whether no two overlap and nothing can be added."""
    chosen = list(chosen)
    if any(overlap(a, b) for a, b in combinations(chosen, 2)):
        return False
    return all(
        place in chosen or any(overlap(place, other) for other in chosen) for place in all_places
    )


def maximal_sets(all_places: list[Span]) -> set[Spans]:
    subsets = (
        tuple(sorted(chosen))
        for size in range(len(all_places) + 1)
        for chosen in combinations(all_places, size)
    )
    return {chosen for chosen in subsets if is_maximal(chosen, all_places)}


def spans_of(alternative: Iterable[Occurrence]) -> Spans:
    return tuple((word.start, word.end) for word in alternative)


def choices(clusters: list[Cluster]) -> Iterator[Spans]:
    """All choices of one alternative from each cluster."""
    for chosen in product(*(cluster.alternatives for cluster in clusters)):
        yield tuple(span for alternative in chosen for span in spans_of(alternative))


def by_the_rule(all_places: list[Span], most: int) -> list[tuple[int, int, list[Spans]]]:
    """Clusters as the docstring of `clusters` defines them, by listing all ways."""
    clusters = []
    rest = sorted(all_places)
    while rest:
        group, end = [], rest[0][1]
        for place in rest:
            if place[0] >= end:
                break
            group.append(place)
            end = max(end, place[1])
        complete: list[Spans] = []
        ways: dict[int, list[Spans]] = {}

        def extend(
            chosen: Spans,
            group: list[Span] = group,
            complete: list[Spans] = complete,
            ways: dict[int, list[Spans]] = ways,
        ) -> None:
            if chosen:
                ways.setdefault(chosen[-1][1], []).append(chosen)
            after = [p for p in group if not chosen or p[0] >= chosen[-1][1]]
            if not after:
                complete.append(chosen)
                return
            for place in after:
                if not any(other[1] <= place[0] for other in after):
                    extend((*chosen, place))

        extend(())
        first = min(ways)
        kept, done, cut = ways[first][:], 0, None
        kept.sort()
        kept, cut_end = kept[:most], first
        for word_end in sorted(ways):
            if len(ways[word_end]) > most:
                cut = cut_end
                break
            kept, cut_end = ways[word_end], word_end
            done += sum(way in complete for way in ways[word_end])
            if done > most:
                cut = cut_end
                break
        if cut is None:
            kept, cut = complete, end
        kept = sorted(kept, key=lambda way: [(a, -b) for a, b in way])
        clusters.append((rest[0][0], cut, kept))
        # A complete cluster ends where the words behind it begin, or before.
        rest = [place for place in rest if place[0] >= cut]
    return clusters


class TestTrie:
    @given(word_lists, texts)
    def test_finds_what_is_there(self, words: set[str], text: str) -> None:
        ordered = sorted(words)
        found = WordTrie(ordered).find(text)
        assert [(start, end) for start, end, _ in found] == places(words, text)
        assert all(ordered[number] == text[start:end] for start, end, number in found)

    @given(st.sets(st.text(min_size=1, max_size=3), max_size=20), st.data())
    def test_any_characters(self, words: set[str], data: st.DataObject) -> None:
        pieces = st.one_of(st.text(max_size=2), st.sampled_from([*sorted(words), ""]))
        text = "".join(data.draw(st.lists(pieces, max_size=8)))
        found = WordTrie(sorted(words)).find(text)
        assert [(start, end) for start, end, _ in found] == places(words, text)

    @given(st.integers(1, 6), st.integers(1, 8))
    def test_the_shortest_and_the_longest_of_a_start(self, n_words: int, most: int) -> None:
        trie = WordTrie("a" * length for length in range(1, n_words + 1))
        lengths = list(range(1, n_words + 1))
        kept = lengths if n_words <= most else [1, *lengths[n_words - most + 1 :]]
        found = trie.find("a" * 6, most)
        assert [triple for triple in found if triple[0] == 0] == [
            (0, length, length - 1) for length in kept
        ]

    @pytest.mark.parametrize(
        ("words", "fault"),
        [
            (["b", "a"], "the word 'a' is empty, or does not follow 'b'"),
            (["a", "a"], "the word 'a' is empty, or does not follow 'a'"),
            (["", "a"], "the word '' is empty"),
            ([b"a"], "b'a' is no string"),
        ],
    )
    def test_words_that_are_refused(self, words: list[str], fault: str) -> None:
        with pytest.raises(ValueError, match=fault):
            WordTrie(words)

    def test_refuses_a_negative_number(self) -> None:
        with pytest.raises(ValueError, match="most is -1"):
            WordTrie(["a"]).find("a", -1)

    def test_is_pickled_by_its_words(self) -> None:
        trie = pickle.loads(pickle.dumps(WordTrie(["a", "ab"])))
        assert trie.words == ("a", "ab")
        assert trie.find("ab") == [(0, 1, 0), (0, 2, 1)]


class TestClusters:
    def test_by_hand(self) -> None:
        words = UserWords(["北京", "北京大学", ("大学", "NN"), "New York", "yo"]).snapshot()
        assert words.find("yo!") == [Occurrence(0, 2, None)]
        # 大学 could be added to 北京 alone, so the two come together.
        assert words.clusters("在北京大学的大学,New Yorker") == [
            Cluster(
                1,
                5,
                (
                    (Occurrence(1, 5, None),),
                    (Occurrence(1, 3, None), Occurrence(3, 5, "NN")),
                ),
            ),
            Cluster(6, 8, ((Occurrence(6, 8, "NN"),),)),
            Cluster(9, 17, ((Occurrence(9, 17, None),),)),
        ]

    def test_words_that_touch_do_not_compete(self) -> None:
        clusters = UserWords(["aa", "bb"]).snapshot().clusters("aabb")
        assert [(c.start, c.end, len(c.alternatives)) for c in clusters] == [(0, 2, 1), (2, 4, 1)]

    @given(word_lists, texts)
    @example({"a", "ab", "ba", "aa", "bab"}, "ababaababa")
    def test_all_maximal_sets_and_nothing_else(self, words: set[str], text: str) -> None:
        all_places = places(words, text)
        assume(len(all_places) <= 14)
        clusters = UserWords(words).snapshot().clusters(text, most=10**6)
        chosen = list(choices(clusters))
        assert len(set(chosen)) == len(chosen)
        assert set(chosen) == maximal_sets(all_places)

    @given(word_lists, st.text("ab", max_size=14), st.integers(1, 4))
    @example({"aa"}, "a" * 14, 2)
    @example({"a", "aa", "aaa", "aaaa"}, "a" * 9, 1)
    @example({"abb", "bb", "b"}, "abbabb", 1)
    def test_the_rule_that_cuts(self, words: set[str], text: str, most: int) -> None:
        clusters = UserWords(words).snapshot().clusters(text, most)
        given_sets = [(c.start, c.end, list(map(spans_of, c.alternatives))) for c in clusters]
        assert given_sets == by_the_rule(places(words, text), most)

    @given(
        st.sets(st.text("ab", min_size=1, max_size=24), max_size=30),
        st.text("ab", max_size=40),
        st.integers(1, 6),
        st.data(),
    )
    @example({"a" * length for length in range(1, 25)}, "a" * 40, 3, None)
    def test_every_choice_is_maximal(
        self, words: set[str], text: str, most: int, data: st.DataObject | None
    ) -> None:
        all_places = places(words, text)
        clusters = UserWords(words).snapshot().clusters(text, most)
        assert all(1 <= len(cluster.alternatives) <= most for cluster in clusters)
        assert all(a.end <= b.start for a, b in pairwise(clusters))
        alternatives = [
            cluster.alternatives[0] if data is None else data.draw(st.sampled_from(cluster[2]))
            for cluster in clusters
        ]
        chosen = [span for alternative in alternatives for span in spans_of(alternative)]
        assert is_maximal(chosen, all_places)
        for cluster in clusters:
            for alternative in map(spans_of, cluster.alternatives):
                assert cluster.start <= alternative[0][0]
                assert alternative[-1][1] <= cluster.end

    @given(word_lists, texts)
    def test_a_word_without_a_rival_is_forced(self, words: set[str], text: str) -> None:
        all_places = places(words, text)
        alone = {p for p in all_places if not any(overlap(p, q) for q in all_places if q != p)}
        clusters = UserWords(words).snapshot().clusters(text)
        assert alone == {
            (c.start, c.end)
            for c in clusters
            if len(c.alternatives) == 1 and (c.start, c.end) in alone
        }

    @given(word_lists, texts)
    def test_the_first_alternative_is_leftmost_longest(self, words: set[str], text: str) -> None:
        expected, start = [], 0
        while start < len(text):
            ends = [end for begin, end in places(words, text) if begin == start]
            if ends:
                expected.append((start, max(ends)))
            start = max(ends, default=start + 1)
        clusters = UserWords(words).snapshot().clusters(text, most=10**6)
        assert [s for c in clusters for s in spans_of(c.alternatives[0])] == expected

    def test_hostile_texts_and_lists(self) -> None:
        """Exponentially many sets, and words nested to the limit, in long texts."""
        text = "a" * 30_000
        for words in (
            ["aa"],
            ["a" * 7, "a" * 11],
            ["a" * length for length in range(1, LONGEST_WORD + 1)],
        ):
            clusters = UserWords(words).snapshot().clusters(text)
            assert all(len(c.alternatives) <= MOST_ALTERNATIVES for c in clusters)
            # No gap can hold the shortest word.
            end = 0
            for cluster in clusters:
                assert cluster.start - end < len(words[0])
                end = cluster.end
            assert len(text) - end < len(words[0])

    def test_no_words_and_no_text(self) -> None:
        assert UserWords().snapshot().clusters("a") == []
        assert UserWords().snapshot().find("a") == []
        assert UserWords(["a"]).snapshot().clusters("") == []

    def test_no_alternatives_at_all_are_refused(self) -> None:
        with pytest.raises(ValueError, match="most is 0"):
            UserWords(["a"]).snapshot().clusters("a", 0)


class TestSentenceEnds:
    @given(word_lists, st.text("ab", max_size=10), st.sets(st.integers(1, 9)))
    def test_words_stay_whole(self, words: set[str], text: str, inner: set[int]) -> None:
        ends = sorted({end for end in inner if end < len(text)} | ({len(text)} - {0}))
        clusters = UserWords(words).snapshot().clusters(text, 2)
        assert whole_ends(ends, clusters) == [
            end for end in ends if not any(c.start < end < c.end for c in clusters)
        ]

    def test_of_real_punctuation(self) -> None:
        text = "上Hello!看。好"
        ends = sentence_ends(text)
        assert ends == [7, 9, 10]
        assert whole_ends(ends, UserWords(["Hello!看"]).snapshot().clusters(text)) == [9, 10]
        assert whole_ends(ends, UserWords(["Hello!"]).snapshot().clusters(text)) == ends


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

    @pytest.mark.parametrize(
        ("entry", "fault"),
        [
            ("", "the word is empty"),
            (" a", "begins or ends with white space"),
            ("a\u3000", "begins or ends with white space"),
            ("\ud800", "lone surrogate at offset 0"),
            ("a" * (LONGEST_WORD + 1), "has 256 characters; 255 are the most"),
            (("a", ""), "the tag is empty"),
            (("a", "N N "), "the tag 'N N ' begins or ends"),
            ((1, None), "the word 1 is no string"),
            (("a", b"N"), "the tag b'N' is no string"),
        ],
    )
    def test_what_is_refused_changes_nothing(self, entry: str, fault: str) -> None:
        words = UserWords(["x"])
        with pytest.raises(ValueError, match=fault):
            words.update(["y", entry])
        assert list(words) == ["x"]
        with pytest.raises(ValueError, match="is one string"):
            words.update("ab")

    def test_any_characters_within(self) -> None:
        listed = ["C++", "New York", "a\tb", "x\ny", "\0", "#话题#", "👩‍💻", "a" * LONGEST_WORD]
        words = UserWords(listed)
        for word in listed:
            (cluster,) = words.snapshot().clusters(f"。{word}。")
            assert spans_of(cluster.alternatives[0]) == ((1, 1 + len(word)),)

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

    def test_threads_see_whole_changes(self) -> None:
        """Two words are always swapped together; nobody may ever see one of each pair."""
        words = UserWords(["aa", "bb"])
        pairs = [["aa", "bb"], ["cc", "dd"]]
        data = [UserWords(pair).to_bytes() for pair in pairs]
        stop = threading.Event()
        seen: list[list[str]] = []

        def decode() -> None:
            while not (seen and stop.is_set()):
                found = words.snapshot().find("aabbccdd")
                seen.append(["aabbccdd"[word.start : word.end] for word in found])

        threads = [threading.Thread(target=decode) for _ in range(3)]
        for thread in threads:
            thread.start()
        for turn in range(300):
            words.from_bytes(data[turn % 2])
        stop.set()
        for thread in threads:
            thread.join()
        assert seen
        assert all(found in pairs for found in seen)

    def test_equality(self) -> None:
        assert UserWords(["a", ("b", "N")]) == UserWords([("b", "N"), "a"])
        assert UserWords(["a"]) != UserWords([("a", "N")])
        assert UserWords() != []
        with pytest.raises(TypeError):
            hash(UserWords())


class TestBytes:
    @given(
        st.dictionaries(
            st.text(min_size=1, max_size=4).filter(lambda word: word == word.strip()),
            st.none() | st.sampled_from(["NN", "v"]),
        )
    )
    def test_round_trip(self, listed: dict[str, str | None]) -> None:
        words = UserWords(listed.items())
        backwards = UserWords(reversed(listed.items()))
        assert words.to_bytes() == backwards.to_bytes()
        copy = UserWords(["gone"])
        assert copy.from_bytes(words.to_bytes()) is copy
        assert copy == words
        assert pickle.loads(pickle.dumps(words)) == words

    @given(st.binary(max_size=40))
    @example(b"")
    @example(msgpack.packb({"format": 2, "words": []}))
    @example(msgpack.packb({"format": 1, "words": {"a": None}}))
    @example(msgpack.packb({"format": 1, "words": [["a"]]}))
    @example(msgpack.packb({"format": 1, "words": [["", None]]}))
    @example(msgpack.packb({"format": 1, "words": [[1, None]]}))
    @example(msgpack.packb({"format": 1}))
    @example(b"\x91" * 2000)
    @example(UserWords(["a"]).to_bytes()[:-1])
    @example(UserWords(["a"]).to_bytes() + b"\0")
    def test_anything_else_is_refused(self, data: bytes) -> None:
        words = UserWords(["kept"])
        with pytest.raises(ValueError, match=r"user words|the word"):
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

    def test_encodings(self, tmp_path: Path) -> None:
        path = tmp_path / "words.txt"
        path.write_bytes("词\n".encode("gb18030"))
        words = UserWords()
        assert words.load(path, encoding="gb18030") == 1
        with pytest.raises(CorpusError, match=r"words\.txt:1: byte"):
            words.load(path)

    @pytest.mark.parametrize(
        ("line", "fault"),
        [
            ("a\tN\tV", "2 tabs"),
            ("\tN", "the word is empty"),
            ("a\t", "the tag is empty"),
            ("a\rb", "carriage return"),
            ("a" * 256, "256 characters"),
            ("a\0b", "NUL"),
        ],
    )
    @pytest.mark.parametrize("replace", [False, True])
    def test_faults_name_their_line_and_change_nothing(
        self, line: str, fault: str, replace: bool, tmp_path: Path
    ) -> None:
        path = tmp_path / "words.txt"
        path.write_bytes(f"fine\n\n{line}\n".encode())
        words = UserWords(["old"])
        with pytest.raises(CorpusError, match=rf"words\.txt:3: .*{fault}"):
            words.load(path, replace=replace)
        assert list(words) == ["old"]

    @given(st.binary(max_size=60))
    def test_any_bytes(self, data: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "words.txt")
            path.write_bytes(data)
            words = UserWords()
            try:
                words.load(path)
            except CorpusError:
                assert not words
            else:
                assert UserWords().from_bytes(words.to_bytes()) == words
