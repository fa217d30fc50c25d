"""Head rules: which child of a phrase bears its head, as data.

A rule is a row `LABEL steps`. A step is a side, `l` or `r`, and categories in order of priority: of
the first category that some child bears, the first such child from that side is the head. Where
categories stand together, `NN|NNS`, the first child with any of them is. The next step is taken if
no child has a category of the step; a side without categories is the outermost child there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

from spacy_structreg.corpora.dependency_relations import CTB_RELATIONS, NO_RELATIONS, RelationRules

HeadRuleName: TypeAlias = Literal["ctb", "ptb"]
"""Names of rules: of the Chinese and the Penn Treebank."""

# Zhang and Clark 2008, "A tale of two parsers", the Chinese Treebank; but ROOT, which is a nameless
# root of several children, such as a clause and a full stop; and but that punctuation heads nothing
# else: there, PRN is headed by its bracket.
CTB = """
ROOT r IP CP VP NP; r
ADJP r ADJP JJ AD; r
ADVP r ADVP AD CS JJ NP PP P VA VV; r
CLP  r CLP M NN NP; r
CP   r CP IP VP; r
DNP  r DEG DNP DEC QP; r
DP   r M; l DP DT OD; l
DVP  r DEV AD VP; r
FRAG r VV NR NN NT; r
IP   r VP IP NP; r
LCP  r LCP LC; r
LST  r CD NP QP; r
NP   r NP NN IP NR NT; r
NN   r NP NN IP NR NT; r
PP   l P PP; l
PRN  l
QP   r QP CLP CD; r
UCP  l IP NP VP; l
VCD  l VV VA VE; l
VP   l VE VC VV VNV VPT VRD VSB VCD VP; l
VPT  l VA VV; l
VRD  l VV VA; l
VSB  r VV VE; r
"""

# Yamada and Matsumoto 2003, "Statistical dependency analysis with support vector machines", as the
# converter Penn2Malt has them; checked against the dependency trees that NLTK gives out with its
# sample of the Penn Treebank.
PTB = """
ADJP   r NNS QP NN $ ADVP JJ VBN VBG ADJP JJR NP JJS DT FW RBR RBS SBAR RB; r
ADVP   l RB RBR RBS FW ADVP TO CD JJR JJ IN NP JJS NN; l
CONJP  l CC RB IN; l
FRAG   l
INTJ   r
LST    l LS :; l
NAC    r NN|NNS|NNP|NNPS NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP FW; r
NP     r POS|NN|NNP|NNPS|NNS NX JJR CD JJ JJS RB QP NP; r
NX     r POS|NN|NNP|NNPS|NNS NX JJR CD JJ JJS RB QP NP; r
PP     l IN TO VBG VBN RP FW; l
PRN    r
PRT    l RP; l
QP     r $ IN NNS NN JJ RB DT CD NCD QP JJR JJS; r
RRC    l VP NP ADVP ADJP PP; l
S      r TO IN VP S SBAR ADJP UCP NP; r
SBAR   r WHNP WHPP WHADVP WHADJP IN DT S SQ SINV SBAR FRAG; r
SBARQ  r SQ S SINV SBARQ FRAG; r
SINV   r VBZ VBD VBP VB MD VP S SINV ADJP NP; r
SQ     r VBZ VBD VBP VB MD VP SQ; r
UCP    l
VP     l VBD VBN MD VBZ VB VBG VBP VP ADJP NN NNS NP; l
WHADJP r CC WRB JJ ADJP; r
WHADVP l CC WRB; l
WHNP   r WDT WP WP$ WHADJP WHPP WHNP; r
WHPP   l IN TO FW; l
X      r
"""
CTB_PUNCTUATION = ("PU",)
PTB_PUNCTUATION = ("``", "''", ",", ".", ":", "-LRB-", "-RRB-")


@dataclass(frozen=True, slots=True)
class Step:
    """A place to look for the head.

    from_right: from which side. categories: sets in order of priority; none for any child.
    """

    from_right: bool
    categories: tuple[frozenset[str], ...]

    def find(self, children: Sequence[str]) -> int | None:
        """The index of the head among the categories of the children, if the step finds it."""
        order = range(len(children))
        if self.from_right:
            order = order[::-1]
        if not self.categories:
            return order[0]
        for wanted in self.categories:
            for index in order:
                if children[index] in wanted:
                    return index
        return None


@dataclass(frozen=True, slots=True)
class HeadRules:
    """The rules of a treebank, by the category of the phrase.

    Other phrases, and those whose steps find nothing, are headed by the rightmost child.
    punctuation: tags of children that are no heads unless all children are punctuation.
    relations: rules for the labels of the dependency trees that follow.
    """

    steps: Mapping[str, tuple[Step, ...]]
    punctuation: AbstractSet[str] = frozenset()
    relations: RelationRules = NO_RELATIONS

    @classmethod
    def from_text(
        cls,
        text: str,
        *,
        punctuation: Iterable[str] = (),
        relations: RelationRules = NO_RELATIONS,
    ) -> HeadRules:
        """Read rules in the notation of this module, one row a phrase.

        Raises ValueError, naming the row, for a row without a step, for a side that is neither `l`
        nor `r`, and for a second row of a phrase.
        """
        rules: dict[str, tuple[Step, ...]] = {}
        for row in filter(None, map(str.strip, text.splitlines())):
            label, _, written = row.partition(" ")
            if label in rules:
                raise ValueError(f"a second row for {label}: {row!r}; write its steps in one")
            steps = []
            for step in written.split(";"):
                side, *categories = step.split() or [""]
                if side not in ("l", "r"):
                    raise ValueError(
                        f"the step {step.strip()!r} of the row {row!r} begins with no side; write "
                        "l or r, then categories"
                    )
                sets = tuple(frozenset(category.split("|")) for category in categories)
                steps.append(Step(side == "r", sets))
            rules[label] = tuple(steps)
        return cls(MappingProxyType(rules), frozenset(punctuation), relations)

    def head(self, label: str, children: Sequence[str]) -> int:
        """The index of the head child.

        label, children: the categories of a phrase and of its children (at least one), without
        function tags. Of a category of two, such as `PRT|ADVP`, the first counts.
        """
        places = [at for at, child in enumerate(children) if child not in self.punctuation]
        places = places or list(range(len(children)))
        among = [children[at].partition("|")[0] or children[at] for at in places]
        for step in self.steps.get(label.partition("|")[0], ()):
            if (found := step.find(among)) is not None:
                return places[found]
        return places[-1]


HEAD_RULES: Mapping[HeadRuleName, HeadRules] = MappingProxyType(
    {
        "ctb": HeadRules.from_text(CTB, punctuation=CTB_PUNCTUATION, relations=CTB_RELATIONS),
        "ptb": HeadRules.from_text(PTB, punctuation=PTB_PUNCTUATION),
    }
)
"""Rules by the name of their treebank."""


def head_rules(name: str) -> HeadRules:
    """The rules of that name: `ctb` (Chinese Treebank) or `ptb` (Penn Treebank).

    Raises ValueError for another name.
    """
    for known, rules in HEAD_RULES.items():
        if name == known:
            return rules
    raise ValueError(f"there are no head rules {name!r}; take {' or '.join(HEAD_RULES)}")
