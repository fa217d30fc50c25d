"""Check the treebank: tags and phrases of the Penn Chinese Treebank, entities, conventions.

`python treebank/check.py` checks all files of the treebank together and prints a table of counts;
`python treebank/check.py FILE ...` only some. Faults go to standard error as
`file:line: what is wrong` (the line is the one on which the tree begins), and the exit code is 1.
`README.md` explains the conventions; the files of `exceptions` list the words that may have several
tags, and neighbors that are one word elsewhere.
"""

from __future__ import annotations

import argparse
import re
import sys
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from spacy_structreg.corpora.corpus_errors import CorpusError
from spacy_structreg.corpora.formats.brackets import read_brackets
from spacy_structreg.corpora.trees import EMPTY_TAG, FLAT, Tree


def names(text: str) -> frozenset[str]:
    return frozenset(text.split())


FOLDER = Path(__file__).resolve().parent
EXCEPTIONS = FOLDER / "exceptions"
PARTS = ("train", "dev", "test", "second/train", "second/dev", "second/test")

# The inventories of the guidelines (Xia 2000; Xue and Xia 2000), and of the later web releases the
# tags of addresses and of emoticons.
TAGS = names(
    "AD AS BA CC CD CS DEC DEG DER DEV DT EM ETC FW IJ JJ LB LC M MSP NN NR NT OD ON P PN PU SB SP "
    "URL VA VC VE VV"
)
PHRASES = names(
    "ADJP ADVP CLP CP DNP DP DVP FRAG IP LCP LST NP PP PRN QP UCP VP "
    "VCD VCP VNV VPT VRD VSB WHNP WHPP"
)
FUNCTIONS = names(
    "ADV APP BNF CND DIR EXT FOC HLN IJ IMP INV IO LGS LOC MNR OBJ PN PRD PRP Q SBJ SHORT TMP TPC "
    "TTL VOC WH"
)
ROOTS = frozenset({"CP", "FRAG", "FLAT", "IP", "NP"})
# The types of OntoNotes 5.0; `(NP-PN-SBJ=PERSON (NR 张晓梅))`, `(NR=GPE 北京)`.
ENTITIES = names(
    "CARDINAL DATE EVENT FAC GPE LANGUAGE LAW LOC MONEY NORP ORDINAL ORG PERCENT PERSON PRODUCT "
    "QUANTITY TIME WORK_OF_ART"
)
EMPTY_CATEGORY = re.compile(r"\*pro\*|\*PRO\*|\*OP\*|\*(?:T\*|RNR\*)?-([0-9]+)")
INDEX = re.compile(r"-([0-9]+)$")

VERBS = frozenset({"VA", "VC", "VE", "VV"})
VERB_COMPOUNDS = frozenset({"VCD", "VCP", "VNV", "VPT", "VRD", "VSB"})
ADJUNCTS = frozenset({"ADVP", "DP", "DVP", "LCP", "NP", "PP", "QP"})
ARGUMENTS = frozenset({"EXT", "IO", "OBJ", "PRD", "SBJ"})
WH_WORDS = names("什么 几 几点 哪 哪儿 哪里 多久 多少 怎么 怎样 为何 为什么 何 咋 啥 谁")
# What may be a direct child, for phrases whose children are of few kinds (PU is always allowed).
CHILDREN = {
    "ADJP": names("AD ADJP ADVP CC JJ"),
    "ADVP": names("AD ADVP CC CS"),
    "CLP": names("ADJP CLP M"),
    "DNP": names("ADJP DEG LCP NP PP QP"),
    "DP": names("CLP DP DT OD QP"),
    "DVP": names("ADVP DEV NP VP"),
    "LCP": names("CP IP LC LCP NP PP QP"),
    "NP": names("ADJP CC CP DNP DP EM ETC FW IP LCP NN NP NR NT PN PP PRN QP URL -NONE-"),
    "PP": names("CP IP LCP NP P PP QP URL"),
    "QP": names("ADJP ADVP CC CD CLP DP OD ON QP"),
}
# The word that closes or opens its phrase: (position of the child, its tag).
MARKED_PHRASES = {"DNP": (-1, "DEG"), "DVP": (-1, "DEV"), "LCP": (-1, "LC")}
MARKERS = {"BA": "VP", "DEG": "DNP", "DEV": "DVP", "LB": "VP", "LC": "LCP", "P": "PP", "SB": "VP"}

NUMBER = r"[0-9０-９零〇一二三四五六七八九十百千万亿两半几数.．,，]+"
CARDINAL = re.compile(rf"{NUMBER}[多余]?[%％]?|百分之{NUMBER}|{NUMBER}分之{NUMBER}|[0-9]+比[0-9]+")
ORDINAL = re.compile(rf"第{NUMBER}|首")
DATE = re.compile(rf"{NUMBER}(?:年|月|日|时|分|点|点半|世纪)")
# Words of the form of numbers and times that are others, too: a little, very, slightly; by all
# means, in case, to count; names of days, roads and firms; the plant 三七.
NO_DATES = names("一点 十分 三分 千万 万一 数 五一 五四 六一 七一 七七 八一 三八 三七 三九")


@dataclass(frozen=True)
class Located:
    """A tree with the file and the line where it begins."""

    file: Path
    line: int
    tree: Tree

    @property
    def words(self) -> list[tuple[str, str]]:
        return [(word, tag.partition("=")[0]) for word, tag in self.tree.tagged_words()]

    @property
    def text(self) -> str:
        return "".join(word for word, _ in self.words)

    def fault(self, message: str) -> str:
        return f"{self.file}:{self.line}: {message}"


def tree_lines(file: Path) -> Iterator[int]:
    """The line on which each tree of a file begins; the reader has checked the brackets."""
    depth = 0
    with file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            for character in line:
                if character == "(":
                    if depth == 0:
                        yield number
                    depth += 1
                elif character == ")":
                    depth -= 1


def category(node: Tree) -> str:
    """The label without functional tags, index and entity."""
    return node.label if node.label == EMPTY_TAG else node.label.partition("=")[0].split("-")[0]


def functions(node: Tree) -> list[str]:
    """The functional tags of a label, without its index."""
    return [part for part in node.label.partition("=")[0].split("-")[1:] if not part.isdigit()]


def entity(node: Tree) -> str:
    """The type of the entity that a node is; empty if it is none."""
    return node.label.partition("=")[2]


def sign_tags(word: str) -> frozenset[str]:
    """The tags that a word may have for being made of signs alone; empty if it is not."""
    if not all(unicodedata.category(c)[0] in "PSM" or c in "\u200d\ufe0f" for c in word):
        return frozenset()
    return frozenset({"M"}) if word in "￥¥$€£℃°" else frozenset({"EM", "PU"})


def label_faults(tree: Tree) -> Iterator[str]:
    """Labels, tags and empty categories that the guidelines do not have."""
    for node in tree.nodes():
        if node.is_leaf and node.label == EMPTY_TAG:
            if not EMPTY_CATEGORY.fullmatch(node.word or ""):
                yield f"{node.word!r} is no empty category of the guidelines"
        elif node.is_leaf:
            tag, signs = category(node), sign_tags(node.word or "")
            if tag not in TAGS:
                yield f"{node.label!r} ({node.word}) is no tag of the guidelines"
            if (tag not in signs) if signs else tag == "PU":
                yield f"{node.word} is tagged {tag}; PU goes with punctuation marks alone"
        elif node is not tree:
            if category(node) not in PHRASES and node is not tree.without_root():
                yield f"{node.label!r} is no phrase label of the guidelines"
            for function in functions(node):
                if function not in FUNCTIONS:
                    yield f"{function!r} in {node.label!r} is no functional tag of the guidelines"


def root_faults(tree: Tree) -> Iterator[str]:
    """A root that is no clause or fragment, and questions that are not marked as such."""
    top = tree.without_root()
    if tree.label or top is tree:
        yield "a tree is one clause or fragment in brackets without a label: ( (IP …))"
    elif category(top) not in ROOTS:
        yield f"the root is {top.label}; expected one of {', '.join(sorted(ROOTS))}"
    words = tree.tagged_words()
    if words and words[-1][0] == "？" and "Q" not in functions(top):
        yield f"a sentence that ends in ？ is -Q, not {top.label}"


def entity_faults(tree: Tree) -> Iterator[str]:
    """Unknown types, entities without words, and entities inside others."""
    stack = [(tree, "")]
    while stack:
        node, outer = stack.pop()
        kind = entity(node)
        if kind:
            if kind not in ENTITIES:
                yield f"{kind} is no type of entity of OntoNotes"
            if outer:
                yield f"{node.label} is an entity inside of another, {outer}"
            if not node.tagged_words():
                yield f"{node.label} has no words"
        stack.extend((child, kind or outer) for child in node.children)


def flat_faults(tree: Tree) -> Iterator[str]:
    """What a sentence without phrase structure may hold: words, and entities of several words."""
    for child in tree.children:
        if not child.is_leaf:
            if not entity(child) or len(child.children) < 2:
                yield f"{child.label} in {FLAT}; only entities of two words or more are phrases"
            if not all(below.is_leaf for below in child.children):
                yield f"{child.label} in {FLAT} has phrases in it"
    if any(leaf.label == EMPTY_TAG for leaf in tree.leaves()):
        yield f"{FLAT} has empty categories"


def trace_faults(tree: Tree) -> Iterator[str]:
    """Traces without an antecedent, antecedents without a trace, an index given twice."""
    antecedents = Counter(
        match[1]
        for node in tree.nodes()
        if not node.is_leaf and (match := INDEX.search(node.label.partition("=")[0]))
    )
    traces = {
        match[1]
        for leaf in tree.leaves()
        if leaf.label == EMPTY_TAG
        and (match := EMPTY_CATEGORY.fullmatch(leaf.word or ""))
        and match[1]
    }
    for index in sorted(antecedents.keys() ^ traces):
        yield f"index {index} is on {'a trace' if index in traces else 'an antecedent'} only"
    for index, count in antecedents.items():
        if count > 1:
            yield f"index {index} is on {count} antecedents"


def structure_faults(tree: Tree) -> Iterator[str]:
    """What the conventions say of a node and its children."""
    for node in tree.nodes():
        if node.is_leaf or node.label == "":
            continue
        name = category(node)
        children = [category(child) for child in node.children]
        plain = [child for child in children if child != "PU"]
        allowed = CHILDREN.get(name)
        if allowed is not None:
            for child in plain:
                if child not in allowed:
                    yield f"{name} has {child} as a child ({' '.join(children)})"
        position, marker = MARKED_PHRASES.get(name, (0, ""))
        if marker and children[position] != marker:
            yield f"{name} does not end in {marker} ({' '.join(children)})"
        for child in plain:
            if MARKERS.get(child, name) != name:
                yield f"{child} is a child of {name}; expected {MARKERS[child]}"
        if name == children[0] and len(children) == 1 and name in {"NP", "VP", "IP", "QP"}:
            yield f"{node.label} over {node.children[0].label} alone"
        yield from clause_faults(node, name, plain)
        yield from verb_faults(node, name, plain)
        yield from noun_faults(node, name, plain)


def clause_faults(node: Tree, name: str, plain: Sequence[str]) -> Iterator[str]:
    if name == "IP" and "VP" in plain:
        subjects = sum("SBJ" in functions(child) for child in node.children)
        if plain.count("VP") != 1 or subjects != 1:
            yield "IP with a VP has one subject (SBJ, perhaps empty) and one VP"
        yield from empty_subject_faults(node)
    if "DEC" in plain:
        if name != "CP" or plain != ["IP", "DEC"]:
            yield f"DEC closes (CP (IP …) (DEC 的)), not {name} ({' '.join(plain)})"
    elif "SP" in plain and (name != "CP" or not {"IP", "CP"} & set(plain)):
        yield f"SP closes (CP (IP …) (SP …)), not {name} ({' '.join(plain)})"
    if name == "WHNP" and plain != [EMPTY_TAG]:
        yield "WHNP holds the empty operator of a relative clause"
    for child in node.children:
        grandchildren = [category(grandchild) for grandchild in child.children]
        if grandchildren[-1:] == ["DEC"]:
            relative = name == "CP" and plain == ["WHNP", "CP"]
            if not relative and "APP" not in functions(child):
                yield "a clause with DEC is (CP (WHNP …) (CP (IP …) (DEC 的))) or CP-APP"


def empty_subject_faults(node: Tree) -> Iterator[str]:
    """Adverbials beside an empty subject stand in the VP, unless a comma parts them."""
    siblings = node.children
    for before, after in pairwise(siblings):
        for subject, other in ((before, after), (after, before)):
            if (
                "SBJ" in functions(subject)
                and not subject.tagged_words()
                and category(other) in ADJUNCTS
                and not {"TPC", "VOC"} & set(functions(other))
            ):
                yield f"{other.label} stands beside an empty subject; its place is in the VP"


def verb_faults(node: Tree, name: str, plain: Sequence[str]) -> Iterator[str]:
    if name == "VP":
        for marker, complement in (("BA", "IP"), ("LB", "IP"), ("SB", "VP")):
            if marker in plain and plain != [marker, complement]:
                yield f"{marker} takes one {complement}: (VP ({marker} …) ({complement} …))"
        heads = sum(child in VERBS or child in VERB_COMPOUNDS for child in plain)
        if heads > 1:
            yield f"VP with {heads} verbs; compounds and coordinations have labels of their own"
        if is_adjunction(node) and is_adjunction(node.children[-1]):
            yield "the adjuncts of a VP are sisters: (VP adjunct adjunct (VP …))"
    elif VERBS & set(plain) and name not in VERB_COMPOUNDS:
        yield f"a verb is a child of {name}; expected VP"
    if name == "VRD":
        words = [word for word, _ in node.tagged_words()]
        if [len(word) for word in words] == [1, 1]:
            yield f"{''.join(words)}: a resultative of two characters is one VV"
    if name == "VPT" and (len(plain) != 3 or not {"AD", "DER"} & {plain[1]}):
        yield "VPT is a verb, 得 or 不, and its result"
    # The subject of a passive leaves a trace, unless another object keeps the place.
    if {"SB", "LB"} & set(plain) and not any(
        "OBJ" in functions(below) and category(below) in {"NP", "QP"} for below in node.nodes()
    ):
        yield "the verb of a passive has an object: the trace of the subject"


def is_adjunction(node: Tree) -> bool:
    """Whether a node is a VP of adjuncts and a VP."""
    return (
        len(node.children) > 1
        and category(node) == "VP"
        and category(node.children[-1]) == "VP"
        and all(
            category(child) in ADJUNCTS and not ARGUMENTS & set(functions(child))
            for child in node.children[:-1]
        )
    )


def noun_faults(node: Tree, name: str, plain: Sequence[str]) -> Iterator[str]:
    tags = functions(node)
    if name == "NP" and "NR" in plain and "PN" not in tags:
        yield f"{node.label} over NR; expected NP-PN"
    if "PN" in tags and not {"NR", "NN"} & set(plain):
        yield f"{node.label} without a name"
    if name == "NP" and {"NN", "NT"} <= set(plain):
        yield "NT and NN side by side; a temporal modifier is an NP of its own"
    conjuncts = [child for child in node.children if category(child) not in {"PU", "CC", "ETC"}]
    if (
        name == "NP"
        and "CC" in plain
        and all(
            child.label == "NP" and len(child.children) == 1 and child.children[0].label == "NN"
            for child in conjuncts
        )
    ):
        yield "single nouns are coordinated without phrases: (NP (NN …) (CC 和) (NN …))"
    words = {word for word, _ in node.tagged_words()}
    if "WH" in tags and not WH_WORDS & words:
        yield f"{node.label} without an interrogative"
    if name == "ADVP" and "WH" not in tags and WH_WORDS & words:
        yield f"{node.label} over an interrogative; expected ADVP-WH"


def word_faults(words: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Tags that the form of a word rules out."""
    for word, tag in words:
        if word in NO_DATES:
            continue
        # 首 and 两 are measures, too: 一首歌, 三两茶.
        measures = {"M"} if word in {"首", "两"} else set()
        for form, expected in (
            (DATE, {"NT"}),
            (CARDINAL, {"CD"} | measures),
            (ORDINAL, {"OD"} | measures),
        ):
            if form.fullmatch(word) and not sign_tags(word):
                if tag not in expected:
                    yield f"{word} is tagged {tag}; expected {' or '.join(sorted(expected))}"
                break
        else:
            if word.endswith("们") and tag not in {"NN", "PN"}:
                yield f"{word} is tagged {tag}; expected NN or PN"


def read_exceptions(folder: Path) -> tuple[dict[str, frozenset[str]], frozenset[tuple[str, ...]]]:
    """Words that may have several tags, and neighbors that are one word elsewhere.

    A line is `WORD TAG TAG ...`, or `WORD + WORD`; what follows # is a remark.
    """
    tags: dict[str, frozenset[str]] = {}
    neighbors = set()
    files = sorted(folder.glob("*.txt"))
    for line in "\n".join(path.read_text(encoding="utf-8") for path in files).splitlines():
        word, *others = line.partition("  #")[0].split() or [""]
        if others[:1] == ["+"]:
            neighbors.add((word, *others[1:]))
        elif word:
            tags[word] = tags.get(word, frozenset()) | frozenset(others)
    return tags, frozenset(neighbors)


def corpus_faults(trees: Sequence[Located]) -> Iterator[str]:
    """What only the whole treebank shows: repeated sentences, words treated in two ways."""
    ambiguous, neighbors = read_exceptions(EXCEPTIONS)
    first: dict[str, Located] = {}
    tags: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for tree in trees:
        for word, tag in tree.words:
            tags[word][tag] += 1
    for tree in trees:
        before = first.setdefault(tree.text, tree)
        if before is not tree:
            yield tree.fault(f"the sentence of {before.file}:{before.line} again: {tree.text}")
        words = tree.words
        for word, tag in words:
            if len(tags[word]) > 1 and tag not in ambiguous.get(word, ()):
                counts = " ".join(f"{each} {n}" for each, n in tags[word].most_common())
                yield tree.fault(
                    f"{word} is tagged {tag} here; everywhere: {counts}; correct one, or add them "
                    "to exceptions"
                )
        for (word, _), (following, _) in pairwise(words):
            if word + following in tags and (word, following) not in neighbors:
                yield tree.fault(
                    f"{word} {following} is one word elsewhere; correct one, or add "
                    f"'{word} + {following}' to exceptions"
                )


def tree_faults(tree: Tree) -> Iterator[str]:
    """All faults that one tree shows by itself."""
    if not tree.tagged_words():
        yield "a tree without words"
    yield from label_faults(tree)
    yield from entity_faults(tree)
    yield from word_faults((word, tag.partition("=")[0]) for word, tag in tree.tagged_words())
    if tree.is_flat:
        yield from flat_faults(tree.without_root())
        return
    yield from root_faults(tree)
    yield from trace_faults(tree)
    yield from structure_faults(tree)


def print_counts(trees: Sequence[Located]) -> None:
    """Print a table in Markdown: a row for each file, each part and the whole."""
    print("| file | sentences | trees | words | characters | word types | entities |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for form in ("`{part}/{name}`", "all of {part}", "all"):
        rows: defaultdict[str, list[Located]] = defaultdict(list)
        for tree in trees:
            folder = tree.file.resolve().parent
            known = folder.is_relative_to(FOLDER)
            part = folder.relative_to(FOLDER).as_posix() if known else folder.name
            rows[form.format(part=part, name=tree.file.name)].append(tree)
        for name, group in rows.items():
            words = [word for tree in group for word, _ in tree.words]
            counts = (
                len(group),
                sum(not each.tree.is_flat for each in group),
                len(words),
                sum(map(len, words)),
                len(set(words)),
                sum(bool(entity(node)) for each in group for node in each.tree.nodes()),
            )
            print(f"| {name} | " + " | ".join(f"{count:,}" for count in counts) + " |")


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the files; 0 if they are without fault, else 1."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("files", nargs="*", type=Path, help="bracket files (default: all)")
    files: list[Path] = parser.parse_args(arguments).files or [
        file for part in PARTS for file in sorted((FOLDER / part).glob("*.bracket"))
    ]
    trees: list[Located] = []
    faults: list[str] = []
    for file in files:
        try:
            read = list(read_brackets(file))
        except (CorpusError, OSError) as error:
            faults.append(str(error))
            continue
        located = [
            Located(file, line, tree) for line, tree in zip(tree_lines(file), read, strict=True)
        ]
        for item in located:
            faults.extend(item.fault(message) for message in tree_faults(item.tree))
        trees.extend(located)
    faults.extend(corpus_faults(trees))
    if faults:
        print("\n".join(faults), file=sys.stderr)
        print(f"{len(faults)} faults", file=sys.stderr)
        return 1
    print_counts(trees)
    return 0


if __name__ == "__main__":
    sys.exit(main())
