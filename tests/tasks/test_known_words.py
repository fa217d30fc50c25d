"""Lists of words against dictionaries."""

from __future__ import annotations

from collections import defaultdict

import pytest
from example_counts import quick_examples
from hypothesis import given
from hypothesis import strategies as st

from spacy_structreg.corpora.word_lists import ListedWord
from spacy_structreg.tasks.knowledge import known_words
from spacy_structreg.tasks.knowledge.known_words import KnownWords
from spacy_structreg.tasks.knowledge.lexicon import Lexicon

ENTRIES = st.lists(
    st.builds(
        ListedWord,
        st.text("aＡ A在学\0\U00020001", max_size=4),
        st.lists(st.sampled_from(["n", "v", "n,v"]), max_size=2).map(tuple),
        st.sampled_from([0, 1, 2, 3, 5, 9000, 10**18]),
    ),
    max_size=30,
)


def test_words_with_line_breaks_are_refused() -> None:
    with pytest.raises(ValueError, match="line break"):
        KnownWords.of([ListedWord("a\nb", (), 0)])


@quick_examples(200)
@given(ENTRIES, st.integers(1, 4))
def test_lists_of_words_are_merged(entries: list[ListedWord], portion: int) -> None:
    tags: defaultdict[str, set[str]] = defaultdict(set)
    counts: defaultdict[str, int] = defaultdict(int)
    for entry in entries:
        word = "".join(entry.word.replace("Ａ", "A").split())
        counts[word] += entry.frequency
        tags[word].update(entry.tags)
    counts.pop("", None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(known_words, "_PORTION", portion)
        known = KnownWords.of(entries, lambda text: text.replace("Ａ", "A"))
    named = ("", *known.tag_sets)
    assert {
        word: (named[known.tags[value]], known.frequencies[value])
        for word, value in known.lexicon.items()
    } == {
        word: (",".join(sorted(tags[word])), min(n.bit_length(), 15)) for word, n in counts.items()
    }
    # Kinds are numbered in the order of their names, and words placed in their own.
    kinds = [(named[t], f) for t, f in zip(known.tags, known.frequencies, strict=True)][1:]
    assert kinds == sorted(set(kinds))
    values = [known.lexicon.get(word) for word in sorted(counts)]
    assert known.lexicon.nodes.tolist() == Lexicon(sorted(counts), values).nodes.tolist()
