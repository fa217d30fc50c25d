"""Phrase structure trees as lists of constituents with head words.

A *constituent* is a phrase: a label, the words that it covers, and the one that is its head. In a
tree they stand in pre-order, parents before children and from left to right, so that of several
over the same words the outermost comes first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from spacy_structreg.corpora.dependencies import DEPENDENCY, ROOT
from spacy_structreg.corpora.sentence import Phrase, Sentence

if TYPE_CHECKING:
    from spacy_structreg.corpora.head_rules import HeadRules
    from spacy_structreg.corpora.trees import Tree


ROOT_CATEGORY = "ROOT"
"""Name that the nameless root of a tree gets, if it has several children."""

T = TypeVar("T")


class Constituent(NamedTuple):
    """A phrase over the words from `begin` to before `end`, whose head is the word `head`."""

    label: str
    begin: int
    end: int
    head: int


@dataclass(frozen=True, slots=True)
class ConstituencySentence:
    """A tagged sentence with its phrase structure tree.

    words, tags: one tag a word; a tag may be empty where there is none.
    constituents: the phrases of the tree, in pre-order. The first covers all words; a sentence of
        one word, white space aside, may have none.
    relations: of each word to its head, by `HeadRules.relations`; none if they are not known.

    Raises ValueError, naming the sentence, for a sentence without words, for empty words, for
    numbers of words, tags and relations that differ, for constituents without label or words, with
    a head outside of them, or that make no tree, or whose heads are not those of one of their
    parts; and for a string instead of words or tags.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    constituents: tuple[Constituent, ...]
    relations: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.words, str) or isinstance(self.tags, str):
            raise ValueError(
                f"words are {self.words!r:.60} and tags {self.tags!r:.60}; give a tuple of words "
                "and a tuple of tags, not a string"
            )
        n_words = len(self.words)
        if not n_words:
            raise ValueError("a sentence without words; leave it out")
        if len(self.tags) != n_words:
            raise ValueError(
                f"{self._name()}: {len(self.tags)} tags for {n_words} words; give one for each"
            )
        if self.relations and len(self.relations) != n_words:
            raise ValueError(
                f"{self._name()}: {len(self.relations)} relations for {n_words} words; give one "
                "for each, or none"
            )
        if "" in self.words:
            raise ValueError(f"{self._name()}: word {self.words.index('')} is empty; leave it out")
        if not self.constituents and sum(1 for word in self.words if word.strip()) > 1:
            raise ValueError(f"{self._name()}: no constituent covers all of its {n_words} words")
        for constituent, parent in zip(self.constituents, self.parents(), strict=True):
            self._check(constituent, None if parent is None else self.constituents[parent])

    @classmethod
    def built(
        cls, words: tuple[str, ...], tags: tuple[str, ...], constituents: tuple[Constituent, ...]
    ) -> ConstituencySentence:
        """A tree that a parser has built, which is not checked again."""
        tree = object.__new__(cls)
        for name, value in (
            ("words", words),
            ("tags", tags),
            ("constituents", constituents),
            ("relations", ()),
        ):
            object.__setattr__(tree, name, value)
        return tree

    def _check(self, constituent: Constituent, above: Constituent | None) -> None:
        """Check that a constituent lies within its parent, or covers the sentence without one."""
        if not constituent.label:
            raise ValueError(f"{self._name()}: a constituent has no label")
        if not 0 <= constituent.begin <= constituent.head < constituent.end:
            raise ValueError(
                f"{self._name()}: {constituent.label} over the words {constituent.begin} to before "
                f"{constituent.end} cannot be headed by word {constituent.head}"
            )
        if above is None:
            if (constituent.begin, constituent.end) == (0, len(self.words)):
                return
            raise ValueError(
                f"{self._name()}: {_shown(constituent)} lies in no other; the first constituent "
                f"must cover all {len(self.words)} words, and hold the others"
            )
        if not above.begin <= constituent.begin < constituent.end <= above.end:
            raise ValueError(
                f"{self._name()}: {_shown(constituent)} and {_shown(above)} overlap, or do not "
                "stand in pre-order"
            )
        if constituent.begin <= above.head < constituent.end and above.head != constituent.head:
            raise ValueError(
                f"{self._name()}: {_shown(above)} is headed by word {above.head}, which is not the "
                f"head of its part {_shown(constituent)}"
            )

    def _name(self) -> str:
        return f"sentence {' '.join(self.words)[:40]!r}"

    def parents(self) -> list[int | None]:
        """Return the parent number of each constituent; None for the first."""
        found: list[int | None] = []
        opened: list[int] = []
        for number, constituent in enumerate(self.constituents):
            while opened and self.constituents[opened[-1]].end <= constituent.begin:
                opened.pop()
            found.append(opened[-1] if opened else None)
            opened.append(number)
        return found

    def tree(self) -> Tree:
        """The tree with its words and tags, without heads.

        Without constituents it is a leaf: the word, or the first of white space alone.
        """
        from spacy_structreg.corpora.trees import Tree

        leaves = [Tree(tag, word=word) for word, tag in zip(self.words, self.tags, strict=True)]
        return self.fold(leaves, lambda phrase, parts: Tree(phrase.label, tuple(parts)))

    def heads(self) -> tuple[int, ...]:
        """The head of each word by those of the constituents: `ROOT` for that of the sentence."""
        word = len(self.words)
        if not self.constituents:
            # White space hangs on the word.
            root = next((at for at, each in enumerate(self.words) if each.strip()), 0)
            return tuple(ROOT if at == root else root for at in range(word))
        heads = [ROOT] * word
        # As `fold` has it, with the heads of parts for their values.
        waiting: list[int] = []
        for _, begin, end, head in reversed(self.constituents):
            while word > begin:
                word -= 1
                waiting.append(word)
            while waiting and waiting[-1] < end:
                part = waiting.pop()
                if part != head:
                    heads[part] = head
            waiting.append(head)
        return tuple(heads)

    def with_heads(self, rules: HeadRules) -> ConstituencySentence:
        """The tree with heads by rules, without relations."""
        found: list[Constituent] = []

        def headed(phrase: Constituent, parts: list[tuple[str, int]]) -> tuple[str, int]:
            _, head = parts[rules.head(phrase.label, [label for label, _ in parts])]
            found.append(phrase._replace(head=head))
            return phrase.label, head

        self.fold([(tag, word) for word, tag in enumerate(self.tags)], headed)
        return replace(self, constituents=tuple(reversed(found)), relations=())

    def fold(self, leaves: Sequence[T], make: Callable[[Constituent, list[T]], T]) -> T:
        """The value of the tree.

        leaves: what each word comes to. make: what a constituent does, by what its parts do, from
        left to right.
        """
        # In reversed pre-order, parts come before what they are parts of, and from right to left:
        # what waits for a constituent, with the word where it begins, is on top of the stack.
        waiting: list[tuple[int, T]] = []
        word = len(self.words)
        for constituent in reversed(self.constituents):
            while word > constituent.begin:
                word -= 1
                waiting.append((word, leaves[word]))
            parts: list[T] = []
            while waiting and waiting[-1][0] < constituent.end:
                parts.append(waiting.pop()[1])
            waiting.append((constituent.begin, make(constituent, parts)))
        if waiting:
            return waiting[0][1]
        # No constituents: one word, white space aside.
        return leaves[next((at for at, word in enumerate(self.words) if word.strip()), 0)]

    def dependencies(self) -> Sentence:
        """The dependency tree that the heads give.

        Labels are the relations; if they are not known, `root` and, else, `dep`.
        """
        from spacy_structreg.corpora.dependency_relations import ROOT_DEPENDENCY

        heads = self.heads()
        relations = self.relations or tuple(
            ROOT_DEPENDENCY if head == ROOT else DEPENDENCY for head in heads
        )
        return Sentence(self.words, self.tags, heads, relations)


def _shown(constituent: Constituent) -> str:
    return f"{constituent.label} over the words {constituent.begin} to {constituent.end - 1}"


def constituency_sentence(tree: Tree, rules: HeadRules) -> ConstituencySentence | None:
    """A tree as a list of constituents, with heads and relations by rules.

    None if it has no word or is flat.

    As the literature prepares treebanks: empty terminals and phrases of nothing else are removed,
    function tags cut, phrases that are the only child of one of the same label taken off, and the
    root that is nameless or called ROOT or TOP, too; one of several children stays, as
    `ROOT_CATEGORY`.
    """
    cleaned = tree.remove_empties()
    if cleaned is None or cleaned.is_flat:
        return None
    relations = rules.relations.relations(cleaned, rules.head, ROOT_CATEGORY)
    cleaned = cleaned.without_function_tags().collapse_unaries().without_root()
    leaves = cleaned.leaves()
    found: list[Constituent] = []
    # In reversed pre-order leaves come from right to left, and what the children of a node came to
    # is on top of the stack, the first topmost: where each ends, and its head.
    parts: list[tuple[int, int]] = []
    begin = len(leaves)
    for node in reversed(list(cleaned.nodes())):
        if node.is_leaf:
            begin -= 1
            parts.append((begin + 1, begin))
            continue
        below = [parts.pop() for _ in node.children]
        label = node.label or ROOT_CATEGORY
        head = below[rules.head(label, [child.label for child in node.children])][1]
        end = below[-1][0]
        found.append(Constituent(label, begin, end, head))
        parts.append((end, head))
    return ConstituencySentence(
        tuple(leaf.word or "" for leaf in leaves),
        tuple(leaf.label for leaf in leaves),
        tuple(reversed(found)),
        relations,
    )


def sentence_of_tree(tree: ConstituencySentence) -> Sentence:
    """A phrase structure tree, with the dependency tree that its heads make.

    Labels are those of `ConstituencySentence.dependencies`, but for "ROOT", as spaCy calls it.
    """
    found = tree.dependencies()
    return replace(
        found,
        labels=tuple(
            "ROOT" if head == ROOT else label
            for head, label in zip(found.heads, found.labels, strict=True)
        ),
        constituents=[
            Phrase(each.label, each.begin, each.end, each.head) for each in tree.constituents
        ],
    )
