"""The relations of dependency trees that come from phrase structure, as data.

A rule is a row `RELATION child parent head`: the relation of a child to the head child of its
parent. `*` stands for anything, and so does what is left out; where names stand together, `IP|CP`,
one of them must fit. The first row that fits gives the relation.

A child is known by its category, `NP`; by each of its function tags, `-SBJ`, and by both together,
`NP-SBJ`; if it is a single word, by its tag, `AD`, and by tag and word, `AD/不`. It is `+` if it is
coordinated with the head child: both are of one kind, and it is followed, on the way to the head
child, by a conjunction or by a mark that stands for one. It is `<DER` behind a word of that tag.

A parent is known by its category, and by the tag of the word that it is a clause of, `<BA`. A head
child is known by its category, by the tag of the word that heads it, `/LB`, and by `/SB` if an SB
makes that word passive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from spacy_structreg.corpora.dependencies import DEPENDENCY
from spacy_structreg.corpora.trees import FUNCTION_TAGS, Tree

ROOT_DEPENDENCY = "root"
"""Relation of the head of a sentence."""

FindHead: TypeAlias = Callable[[str, Sequence[str]], int]

# Names of Chang, Tseng, Jurafsky and Manning 2009, "Discriminative reordering with Chinese
# grammatical relations features", as spaCy's Chinese pipelines write them; where these hang a
# function word on a content word and the head rules of the CTB do the reverse, the names are those
# of the English pipelines (pobj, pcomp), which Chang et al. have, too.
CTB = """
punct              PU
etc                ETC
cc                 CC
discourse          SP|IJ|EM
aux:asp            AS
aux:prtmod         MSP
aux:ba             BA
auxpass            SB|LB
mark               CS|DEC|DER|DEV
case               DEG|LC|P
neg                AD/不|AD/没|AD/没有|AD/未|AD/别|AD/不要|AD/勿|AD/沒|AD/沒有|AD/別
parataxis:prnmod   PRN

dobj               -SBJ  <BA
csubj              IP-SBJ|CP-SBJ|VP-SBJ
nsubjpass          -SBJ  *  /SB|/LB
nsubj              -SBJ
attr               -PRD
ccomp              IP-OBJ|CP-OBJ|VP-OBJ|IP-TPC|CP-TPC
dobj               -OBJ
iobj               -IO
nmod:topic         -TPC
vocative           -VOC
nmod:range         -EXT
acl                IP-APP|CP-APP
appos              -APP
advcl              IP-CND|CP-CND|IP-ADV|CP-ADV|IP-PRP|CP-PRP|IP-TMP|CP-TMP|IP-MNR|CP-MNR

advmod             ADVP|AD              PP|LCP            P|LC
pcomp              IP|CP|VP|ADVP|AD|ADJP|JJ|DVP  PP|LCP|DNP|DVP  P|LC|DEG|DEV
pobj               *                    PP|LCP|DNP|DVP    P|LC|DEG|DEV

advcl              IP|CP                IP|VP             VP
conj               +
conj               *                    UCP
conj               VP                   VP                VP
conj               IP|CP|VP             IP|CP|FRAG|ROOT   IP|CP

nmod:prep          PP
nmod:tmod          -TMP
nmod:tmod          NT                   IP|VP
advmod:dvp         DVP
advmod:loc         LCP                  IP|VP
advmod             ADVP|AD

acl                IP|CP|VP             NP|QP|DP|LCP
nmod:assmod        DNP
det                DP|DT
nummod             QP|CD|OD             NP|QP|DP|CLP|LCP
mark:clf           CLP|M
amod               ADJP|JJ              NP|QP|DP|CLP|ADJP
nmod:poss          PN                   NP
compound:nn        NP|NN|NR|NT|FW       NP|ADJP|QP
nmod               LCP                  NP|QP
advmod             QP                   IP|VP             VP
nmod               NP-LOC|NP-MNR|NP-DIR|NP-PRP|NP-ADV|QP-MNR
nmod:range         QP                   VP

advmod:rcomp       <DER
compound:vc        *                    VCD|VNV|VSB|VCP
compound:vc        VV                   VPT               VA
advmod:rcomp       VV|VA|VC|VE          VRD|VPT
ccomp              IP|CP                VP
xcomp              VP                   VP
"""

# Marks that stand for a conjunction, and categories that are coordinated with one another.
SEPARATORS = frozenset("、，；,;")
KINDS = (
    frozenset(["NP", "NN", "NR", "NT", "PN", "FW", "URL"]),
    frozenset(["IP", "CP", "VP"]),
    frozenset(["CD", "OD"]),
    frozenset(["VV", "VA", "VC", "VE"]),
)


@dataclass(frozen=True, slots=True)
class RelationRules:
    """The rules of a treebank, in order: relation, and names of child, parent and head child.

    No names fit anything.
    """

    rows: tuple[tuple[str, frozenset[str], frozenset[str], frozenset[str]], ...] = ()

    @classmethod
    def from_text(cls, text: str) -> RelationRules:
        """Read rules in the notation of this module, one row a line.

        Raises ValueError, naming the row, for a row without a child or of more than four columns.
        """
        rows = []
        for line in filter(None, map(str.strip, text.splitlines())):
            relation, *columns = line.split()
            if not 1 <= len(columns) <= 3:
                raise ValueError(f"the row {line!r} is not of the form RELATION child parent head")
            names = [frozenset(() if name == "*" else name.split("|")) for name in columns]
            child, parent, head = [*names, frozenset[str](), frozenset[str]()][:3]
            rows.append((relation, child, parent, head))
        return cls(tuple(rows))

    def find(self, child: set[str], parent: set[str], head: set[str]) -> str:
        """The relation of a child, by all that it, its parent and the head child are known by.

        `DEPENDENCY` if no row fits.
        """
        for relation, of_child, of_parent, of_head in self.rows:
            if (
                not (of_child and of_child.isdisjoint(child))
                and not (of_parent and of_parent.isdisjoint(parent))
                and not (of_head and of_head.isdisjoint(head))
            ):
                return relation
        return DEPENDENCY

    def relations(self, tree: Tree, head_of: FindHead, root: str) -> tuple[str, ...]:
        """The relation of each word of a tree to its head: `ROOT_DEPENDENCY` for the root.

        None at all if there are no rules.

        tree: with function tags, without empty terminals. head_of: the index of the head child,
        from the categories of a phrase and of its children. root: the category of nameless phrases.
        """
        if not self.rows:
            return ()
        nodes = [_Node.of(node, root) for node in tree.nodes()]
        # In reversed pre-order, the children of a node are on top of the stack, the first topmost.
        waiting: list[_Node] = []
        for node in reversed(nodes):
            node.children = [waiting.pop() for _ in range(node.n_children)]
            if node.children:
                node.set_head(head_of(node.category, [child.category for child in node.children]))
            waiting.append(node)
        waiting[0].relation = ROOT_DEPENDENCY
        # Of the nodes with one head word, the outermost has a relation, and hands it down to it.
        for node in nodes:
            head = node.children[node.head] if node.children else node
            if node.children:
                head.relation, head.clause_of = node.relation, node.clause_of
            for child, names in node.names_of_children():
                if not head.children:
                    child.clause_of = head.category
                child.relation = self.find(
                    names, {node.category, f"<{node.clause_of}"}, head.as_head
                )
        return tuple(node.relation for node in nodes if not node.n_children)


@dataclass(slots=True, eq=False)
class _Node:
    """A node of a tree, and what the rules ask about it.

    n_words, tag, word: how many words it has, and the tag and text of its head word. is_passive:
    whether an SB stands beside it. clause_of: the tag of the word that it, or a phrase that it is
    the head of, depends on; "" if that is a phrase.
    """

    category: str
    functions: list[str]
    n_children: int
    tag: str
    word: str
    n_words: int = 1
    children: list[_Node] = field(default_factory=list)
    head: int = 0
    is_passive: bool = False
    clause_of: str = ""
    relation: str = DEPENDENCY

    @classmethod
    def of(cls, tree: Tree, root: str) -> _Node:
        category = FUNCTION_TAGS.sub(r"\1", tree.label)
        functions = tree.label[len(category) :].partition("=")[0].split("-")[1:]
        category = category or root
        return cls(category, functions, len(tree.children), category, tree.word or "")

    def set_head(self, head: int) -> None:
        self.head = head
        chosen = self.children[head]
        self.n_words = sum(child.n_words for child in self.children)
        self.tag, self.word = chosen.tag, chosen.word
        self.is_passive = chosen.is_passive or any(
            child is not chosen and child.category == "SB" for child in self.children
        )

    @property
    def as_head(self) -> set[str]:
        return {self.category, f"/{self.tag}"} | ({"/SB"} if self.is_passive else set())

    def names_of_children(self) -> Iterator[tuple[_Node, set[str]]]:
        """Each child but the head, and all that it is known by.

        They come from the head outwards, first those before it, then those behind it.
        """
        for places in (range(self.head)[::-1], range(self.head + 1, len(self.children))):
            # Whether a conjunction or its mark comes next on the way to the head, quotation marks
            # and brackets aside.
            is_separated = False
            for place in places:
                child = self.children[place]
                yield child, self._names_of_child(place, is_separated)
                if child.category == "CC" or (child.category == "PU" and child.word in SEPARATORS):
                    is_separated = True
                elif child.category != "PU":
                    is_separated = False

    def _names_of_child(self, place: int, is_separated: bool) -> set[str]:
        child = self.children[place]
        names = {child.category}
        for function in child.functions:
            names |= {f"-{function}", f"{child.category}-{function}"}
        if child.n_words == 1:
            names |= {child.tag, f"{child.tag}/{child.word}"}
        if place and not self.children[place - 1].children:
            names.add(f"<{self.children[place - 1].category}")
        if is_separated and _of_one_kind(child.category, self.children[self.head].category):
            names.add("+")
        return names


def _of_one_kind(left: str, right: str) -> bool:
    return left == right or any(left in kind and right in kind for kind in KINDS)


NO_RELATIONS = RelationRules()
"""No rules: all relations are `DEPENDENCY`."""
CTB_RELATIONS = RelationRules.from_text(CTB)
"""Rules for the Chinese Treebank."""
