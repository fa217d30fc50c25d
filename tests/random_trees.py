"""Random phrase structure trees with heads, for tests that hypothesis drives."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from spacy_structreg.corpora.constituents import ConstituencySentence, Constituent

LABELS = ("S", "NP", "VP", "ADVP", "PRT")
TAGS = ("NN", "VB", ",", ".", "")
LONGEST_CHAIN = 3


@st.composite
def sentences_with_trees(
    draw: st.DrawFn,
    words: Sequence[str] | None = None,
    *,
    labels: Sequence[str] = LABELS,
    tags: Sequence[str] = TAGS,
    longest: int = 7,
) -> ConstituencySentence:
    """A tree over the words, or over up to `longest` ones, with chains of phrases over the same."""
    if words is None:
        words = draw(st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=longest))
    found: list[Constituent] = []

    def phrase(begin: int, end: int, chain: int) -> int:
        """Add a random phrase, or nothing for a bare word; its head."""
        whole = end - begin == len(words) > 1 and not found
        if end - begin == 1 and not whole and (chain == LONGEST_CHAIN or draw(st.booleans())):
            return begin
        place = len(found)
        label = draw(st.sampled_from(labels))
        found.append(Constituent(label, begin, end, begin))
        least = 0 if chain < LONGEST_CHAIN else 1
        cuts = (
            draw(st.sets(st.integers(begin + 1, end - 1), min_size=least))
            if end - begin > 1
            else set()
        )
        ends = [*sorted(cuts), end]
        heads = [
            phrase(left, right, chain + 1 if not cuts else 0)
            for left, right in zip([begin, *ends], ends, strict=False)
        ]
        head = draw(st.sampled_from(heads))
        found[place] = Constituent(label, begin, end, head)
        return head

    phrase(0, len(words), 0)
    return ConstituencySentence(
        tuple(words),
        tuple(draw(st.lists(st.sampled_from(tags), min_size=len(words), max_size=len(words)))),
        tuple(found),
    )
