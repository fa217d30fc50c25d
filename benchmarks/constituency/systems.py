"""Constituency parsers, by name."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from benchmarks.common.ours import OurEstimator
from benchmarks.common.systems import (
    Effort,
    Predictor,
    Setting,
    System,
    Training,
    cpu_seconds,
)
from benchmarks.constituency.treebanks import read_treebank
from spacy_structreg.corpora.constituents import ConstituencySentence, Constituent
from spacy_structreg.corpora.trees import Tree

if TYPE_CHECKING:
    from spacy_structreg.models.constituents import ConstituencyParser

__all__ = ["SYSTEMS", "TaggedWords"]

TaggedWords: TypeAlias = "tuple[tuple[str, ...], tuple[str, ...]]"
"""The words of a sentence, and their tags."""


class Ours(OurEstimator[TaggedWords, ConstituencySentence]):
    epochs: ClassVar = {"full": 12, "capped": 6, "quick": 2}
    figure = "F"

    def estimator(self) -> type[ConstituencyParser]:
        from spacy_structreg.models.constituents import ConstituencyParser

        return ConstituencyParser

    def read(self, corpus: Path) -> Iterable[ConstituencySentence]:
        return read_treebank(corpus)

    def one(
        self, predict: Callable[..., ConstituencySentence], sentence: TaggedWords
    ) -> ConstituencySentence:
        return predict(*sentence)


class OursBeam4(Ours):
    name = "ours-4"
    title = "spacy_structreg, beam 4"
    arguments: ClassVar = {"beam": 4}


class OursGreedy(Ours):
    name = "ours-greedy"
    title = "spacy_structreg, greedy"
    arguments: ClassVar = {"beam": 1}


class OursAveraged(Ours):
    name = "ours-averaged"
    title = "spacy_structreg, average of five"
    default = False
    arguments: ClassVar = {"n_models": 5}


class Nltk(System[TaggedWords, ConstituencySentence]):
    """The grammar of a treebank, over tags, and the best derivation by dynamic programming."""

    name = "nltk"
    title = "NLTK's PCFG and ViterbiParser"
    module = "nltk"
    distribution = "nltk"

    def settings(self, effort: Effort) -> list[Setting]:
        # How many sisters the symbols of the binary grammar remember.
        return [{"horizontal": number} for number in ((0,) if effort == "quick" else (0, 1))]

    def train(self, setting: Setting, train: Path, dev: Path, model: Path) -> Training:
        import nltk

        began = cpu_seconds()
        productions = []
        for sentence in read_treebank(train):
            tree = nltk.Tree(_TOP, [_of_tags(sentence.tree())])
            # Long rules as they are take the parser minutes for a sentence.
            tree.chomsky_normal_form(
                factor="right", horzMarkov=int(setting["horizontal"]), childChar=_BEHIND_LABEL
            )
            productions += tree.productions()
        grammar = nltk.induce_pcfg(nltk.Nonterminal(_TOP), productions)
        model.write_bytes(pickle.dumps(grammar))
        return Training(cpu_seconds() - began)

    def load(self, model: Path, scratch: Path) -> Predictor[TaggedWords, ConstituencySentence]:
        import nltk

        # Written by `train` of the same run.
        grammar = pickle.loads(model.read_bytes())
        parser = nltk.ViterbiParser(grammar, max_time=None)
        known = {symbol for rule in grammar.productions() for symbol in rule.rhs()}

        def one(given: TaggedWords) -> ConstituencySentence:
            words, tags = given
            found = None
            if known.issuperset(tags):
                found = next(iter(parser.parse(list(tags))), None)
            if found is None:
                # No derivation: a flat tree.
                phrases = [Constituent("S", 0, len(words), 0)]
            else:
                found.un_chomsky_normal_form(expandUnary=False, childChar=_BEHIND_LABEL)
                phrases = list(_phrases(found))
            return ConstituencySentence(tuple(words), tuple(tags), tuple(phrases))

        return Predictor(one)


_TOP = "TOP"
# Of the symbols that binary rules need; labels of the Penn Treebank have |, which is the default.
_BEHIND_LABEL = "~"


def _of_tags(node: Tree) -> Any:
    """A tree over tags."""
    import nltk

    if node.is_leaf:
        return node.label
    return nltk.Tree(node.label, [_of_tags(child) for child in node.children])


def _phrases(tree: Any) -> Iterator[Constituent]:
    """The phrases of a tree without its root, in pre-order; their first words are their heads."""
    stack = [(tree, 0)]
    while stack:
        node, begin = stack.pop()
        end = begin + len(node.leaves())
        if node is not tree:
            yield Constituent(node.label(), begin, end, begin)
        children = []
        for child in node:
            if isinstance(child, str):
                begin += 1
            else:
                children.append((child, begin))
                begin += len(child.leaves())
        stack += reversed(children)


SYSTEMS: dict[str, type[System[TaggedWords, ConstituencySentence]]] = {
    system.name: system for system in (Ours, OursBeam4, OursGreedy, OursAveraged, Nltk)
}
