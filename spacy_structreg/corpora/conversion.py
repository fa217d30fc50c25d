"""Phrase structure trees made into dependency trees by head rules.

The head of a phrase is the head word of one of its children, which head rules choose; the head
words of the other children depend on it. So the trees have one root and are projective.
"""

from __future__ import annotations

from collections.abc import Iterator

from spacy_structreg.corpora.brackets import Tree, read_brackets
from spacy_structreg.corpora.dependencies import ROOT, DependencySentence
from spacy_structreg.corpora.errors import CorpusError, StrPath
from spacy_structreg.corpora.head_rules import HeadRuleName, HeadRules, head_rules

__all__ = ["DEPENDENCY", "ROOT_DEPENDENCY", "dependency_sentences", "to_dependencies"]

# The labels: head rules give none.
DEPENDENCY = "dep"
ROOT_DEPENDENCY = "root"

# What head rules call the nameless root of a tree, if it has several children.
ROOT_CATEGORY = "ROOT"


def to_dependencies(tree: Tree, rules: HeadRules) -> DependencySentence | None:
    """The dependency tree of a phrase structure tree; None if the tree has no word.

    Empty terminals and phrases of nothing else are removed before, and function tags cut. The label
    of the root is `root`, that of all other words `dep`.
    """
    cleaned = tree.remove_empties()
    if cleaned is None:
        return None
    cleaned = cleaned.without_function_tags().without_root()
    leaves = cleaned.leaves()
    heads = [ROOT] * len(leaves)
    # In reversed pre-order, leaves come from right to left, and the head words of the children of
    # a node are on top of the stack, the first topmost.
    head_words: list[int] = []
    index = len(leaves)
    for node in reversed(list(cleaned.nodes())):
        if node.is_leaf:
            index -= 1
            head_words.append(index)
            continue
        below = [head_words.pop() for _ in node.children]
        categories = [child.label for child in node.children]
        head = below[rules.head(node.label or ROOT_CATEGORY, categories)]
        for word in below:
            if word != head:
                heads[word] = head
        head_words.append(head)
    return DependencySentence(
        tuple(leaf.word or "" for leaf in leaves),
        tuple(leaf.label for leaf in leaves),
        tuple(heads),
        tuple(ROOT_DEPENDENCY if head == ROOT else DEPENDENCY for head in heads),
    )


def dependency_sentences(
    path: StrPath, rules: HeadRules | HeadRuleName, *, encoding: str = "utf-8"
) -> Iterator[DependencySentence]:
    """Yield the dependency tree of each tree of a file in bracket notation.

    rules: or the name of those of a treebank. Trees of empty terminals alone are left out. Raises
    ValueError for another name; CorpusError as `read_brackets`, and when no tree has a word.
    """
    chosen = rules if isinstance(rules, HeadRules) else head_rules(rules)
    any_word = False
    for tree in read_brackets(path, encoding=encoding):
        sentence = to_dependencies(tree, chosen)
        if sentence is not None:
            any_word = True
            yield sentence
    if not any_word:
        raise CorpusError(path, 1, "no tree of the file has a word; all terminals are empty ones")
