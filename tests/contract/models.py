"""Every kind of model: how it is made, a tiny corpus, and its inputs.

A new model takes a line in `KINDS`, and is held to all that `test_models.py` asks of models.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from spacy_structreg.corpora.constituents import ConstituencySentence, Constituent
from spacy_structreg.corpora.formats.brackets import constituency_sentences
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.features.gazetteers import Gazetteers
from spacy_structreg.learn.learning_settings import Learning, LogLinear
from spacy_structreg.models.classification import TextClassifier
from spacy_structreg.models.constituents import ConstituencyParser
from spacy_structreg.models.dependencies import DependencyParser
from spacy_structreg.models.guided import GuidedJointTagger, GuidedSegmenter
from spacy_structreg.models.joint.guided_joint_parser import GuidedJointParser
from spacy_structreg.models.joint.joint_reranker import JointReranker
from spacy_structreg.models.joint.joint_taggers import CharacterJointTagger, WordJointTagger
from spacy_structreg.models.joint.word_joint_parser import WordJointParser
from spacy_structreg.models.labeling.labelers import FeatureLabeler, SequenceLabeler
from spacy_structreg.models.segmentation import CharacterSegmenter, WordSegmenter
from spacy_structreg.models.tagging import Tagger

_TREEBANK = Path(__file__).parents[2] / "treebank/train/general.bracket"
TREES = [tree for tree in constituency_sentences(_TREEBANK, "ctb") if 3 <= len(tree.words) <= 9][:6]
WORDS = [list(tree.words) for tree in TREES]
TEXTS = ["".join(words) for words in WORDS]
TAGGED = [list(zip(tree.words, tree.tags, strict=True)) for tree in TREES]
PAIRS = [(tree.words, tree.tags) for tree in TREES]
ARCS = [tree.dependencies() for tree in TREES]
LABELED = [[(word, tag, "B-NP" if tag == "NN" else "O") for word, tag in each] for each in TAGGED]
ITEMS = [[{f"w={word}": 1.0, "n": len(word) / 4} for word, _ in each] for each in TAGGED]
FEATURED = [
    list(zip(items, [tag for _, tag in each], strict=True))
    for items, each in zip(ITEMS, TAGGED, strict=True)
]
TOPICS = [(words, "short" if len(words) < 8 else "long") for words in WORDS]
NOISY = Learning(dropout=0.1, hidden_dropout=0.1)
_NO_TREE: list[Any] = [["the", "dog"], [("the", "D")], None, "the dog"]
# What is no gold sentence, beside the corpora of those that are.
NO_GOLD: list[tuple[list[Any], list[Any]]] = [
    (WORDS, ["一句话", "", ["一", 3], ["一", None], [b"a"], b"ab", [["一"]], None, 3]),
    (
        TAGGED,
        ["ab", ["a", "b"], [("a", "D"), ("b",)], [("a", 1)], [("a", " ")], [("a", "")], None, 1],
    ),
    (ARCS, _NO_TREE),
    (TREES, _NO_TREE),
    (LABELED, ["ab", 7, ["ab"], [("a",)], [("a", 7)], [("a", "")], [("a", "B-\udfff")]]),
    (
        FEATURED,
        [
            "ab", [({"a": 1},)], [({"a": 1}, 1)], [({"a": 1}, " ")], [({"a": None}, "NN")],
            [({"a": float("nan")}, "NN")], [("text", "NN")],
        ],
    ),
    (TOPICS, ["ab", (["a"],), ("a", "X"), (["a"], None), (["a"], " "), ([1], "X")]),
]  # fmt: skip

# A gold sentence with a label that those corpora have not.
NEW_LABEL: list[tuple[list[Any], Any]] = [
    (TAGGED, [("新", "NEW")]),
    (ARCS, Sentence(("我", "看"), ("NN", "VV"), (1, -1), ("NEW", "root"))),
    (TREES, ConstituencySentence(("我", "看"), ("NN", "VV"), (Constituent("NEW", 0, 2, 1),))),
    (LABELED, [("新", "NN", "B-NEW")]),
    (FEATURED, [({"a": 1}, "NEW")]),
    (TOPICS, (["a"], "NEW")),
]
# Invalid inputs of models of texts, of words, and of words with tags, and the errors.
NO_TEXT = [((None,), "expected a text as str, got NoneType"), ((3,), "got int")]
_NO_LIST = "is not a list of words|is a text|expected the features of a position|not iterable"
_NO_ITEM = (
    "expected a word as str|is not a list of words|is not a row of 2 strings"
    "|expected the features of a position|feature names must be strings|must be finite numbers"
)
NO_WORDS = [
    *(((given,), _NO_LIST) for given in ("text", None, 5)),
    *(
        (([item],), _NO_ITEM)
        for item in (1, None, b"a", b"ab", ("a", 1), ("a", None), {"a": math.nan}, {1: 2, "b": 1})
    ),
]
# What is an item to a model of features alone.
NO_ROWS = [(([item],), _NO_ITEM) for item in ((), [], ("a",), {"a": 1, "b": 2}, {"a", "b"})]
NO_PAIR = [
    (([], []), "a sentence without words has no tree"),
    ((["a"], []), "0 tags are given for 1 words"),
    ((["a"], ["N", "N"]), "2 tags are given for 1 words"),
    (("a b", ["N", "N"]), "is not a list of words and a list of tags"),
    ((["a", "b"], "NN"), "is not a list of words and a list of tags"),
    ((["a", None], ["N", "N"]), "word 1 is None; give a string"),
    ((["a"], [3]), "tag 0 is 3; give a string"),
]

# Keyword arguments of models.
Settings = dict[str, Any]


@dataclass(frozen=True)
class Kind:
    """A kind of model.

    make: an untrained one of some settings. gold: its sentences. inputs: the arguments of several
    calls of `predict`. others: further settings, which every way of saving keeps. incompatible:
    settings of models that cannot be averaged with the default one, and the attribute that the
    error names. batch: the arguments of `predict` as an item of a batch. nbest: the n best outputs.
    settings: of all models of the kind. has_pieces: whether it learns from mini-samples.
    """

    make: Callable[..., Any]
    gold: list[Any]
    inputs: list[tuple[Any, ...]]
    others: Sequence[Settings] = ()
    incompatible: Sequence[tuple[Settings, str]] = ()
    batch: Callable[[tuple[Any, ...]], Any] = lambda args: args[0]
    nbest: Callable[[Any, tuple[Any, ...], int], list[tuple[float, Any]]] | None = (
        lambda model, args, n: model.nbest(*args, n)
    )
    settings: Settings = field(default_factory=dict)
    has_pieces: bool = True

    @property
    def no_gold(self) -> list[Any]:
        """What is no gold sentence of the kind."""
        return next(wrong for gold, wrong in NO_GOLD if gold is self.gold)

    @property
    def new_label(self) -> Any:
        """A gold sentence with a label that the corpus has not; None if nothing has labels."""
        return next((new for gold, new in NEW_LABEL if gold is self.gold), None)

    @property
    def invalid_inputs(self) -> list[tuple[tuple[Any, ...], str]]:
        """Arguments of `predict` that are refused, and why."""
        if len(self.inputs[0]) == 2:
            return NO_PAIR
        if isinstance(self.inputs[0][0], str):
            return NO_TEXT
        return NO_WORDS if self.make is FeatureLabeler else NO_WORDS + NO_ROWS

    @property
    def is_ensemble(self) -> bool:
        """True if it is made of models that are trained apart."""
        return hasattr(self.make(), "parts")

    def new(self, **changes: Any) -> Any:
        """An untrained model of few epochs."""
        return self.make(**{"epochs": 2, "seed": 3, **self.settings, **changes})


def _pair(cls: type[Any], characters: type[Any], words: type[Any]) -> Callable[..., Any]:
    def make(
        *,
        weight: float | None = 1.0,
        n_best: int | None = None,
        statistics: str | None = None,
        **settings: Any,
    ) -> Any:
        own = {} if n_best is None else {"n_best": n_best}
        # Words see no statistics of characters.
        of_characters = characters(**settings, **({"statistics": statistics} if statistics else {}))
        return cls(of_characters, words(**settings), weight=weight, **own)

    return make


def _guided_parser(**settings: Any) -> Any:
    return GuidedJointParser(
        _pair(GuidedJointTagger, CharacterJointTagger, WordJointTagger)(**settings),
        Tagger(**settings),
        DependencyParser(**settings, beam=2),
        DependencyParser(**settings, beam=2, backward=True),
        WordJointParser(**settings, beam=2),
        weight=1.0,
        n_best=4,
    )


_OF_TEXTS = [(text,) for text in TEXTS]
_WIDTHS: list[tuple[Settings, str]] = [
    ({"half_width": False}, "half_width"),
    ({"sentences": "doc"}, "sentences"),
]
_OF_CHARACTERS: list[tuple[Settings, str]] = [
    ({"templates": "c0 | t-1t0"}, "templates"),
    ({"types": None}, "types|templates"),
    *_WIDTHS,
]
# Several at once, as each costs trainings in many tests; of texts, and with a search besides.
_PLAIN: Settings = {"types": None, "half_width": False, "sentences": "doc", "seed": 5}
_SEVERAL: Settings = {"learning": NOISY, "n_models": 2, "mean": "nonzero", "patience": 3}
_RUNS: Settings = {"typed_runs": True, "whole_runs": ["price"]}
_NARROW: Settings = {**_PLAIN, "beam": 1}
_EARLY: Settings = {**_SEVERAL, "beam": 3, "update": "early"}

KINDS: dict[str, Kind] = {
    "characters": Kind(
        CharacterSegmenter,
        WORDS,
        _OF_TEXTS,
        [
            _PLAIN,
            {**_SEVERAL, "templates": ["zhang2014", "c-2c+2"]},
            {**_RUNS, "learning": Learning("pa_i", l2=1e-4)},
            {"learning": LogLinear(l2=0.1)},
        ],
        [*_OF_CHARACTERS, ({"scheme": "six"}, "templates|labels")],
    ),
    "characters, edges": Kind(
        CharacterSegmenter,
        WORDS,
        _OF_TEXTS,
        [{"statistics": "all"}, {"skip_bigram": True, "statistics": "accessor_variety"}],
        settings={"templates": "sun2014"},
    ),
    "words": Kind(
        WordSegmenter,
        WORDS,
        _OF_TEXTS,
        [
            _NARROW,
            _EARLY,
            {**_RUNS, "by_words": True, "beam": 2, "learning": Learning(min_count=2)},
        ],
        [({"types": None}, "types|templates"), *_WIDTHS],
    ),
    "guided": Kind(
        _pair(GuidedSegmenter, CharacterSegmenter, WordSegmenter),
        WORDS,
        _OF_TEXTS,
        [{"half_width": False, "weight": 0.5, "statistics": "all"}],
        [({"half_width": False}, "half_width")],
    ),
    "characters, tagged": Kind(
        CharacterJointTagger,
        TAGGED,
        _OF_TEXTS,
        [{**_SEVERAL, **_RUNS}, {**_PLAIN, "statistics": "all"}],
        _OF_CHARACTERS,
    ),
    "words, tagged": Kind(
        WordJointTagger,
        TAGGED,
        _OF_TEXTS,
        [_NARROW, {**_EARLY, **_RUNS, "growing_records": True}],
        [({"types": None}, "types|templates"), *_WIDTHS],
    ),
    "guided, tagged": Kind(
        _pair(GuidedJointTagger, CharacterJointTagger, WordJointTagger),
        TAGGED,
        _OF_TEXTS,
        [{"half_width": False, "weight": 0.5, "statistics": "all"}],
        [({"half_width": False}, "half_width")],
    ),
    "words, parsed": Kind(
        WordJointParser,
        ARCS,
        _OF_TEXTS,
        [_NARROW, _EARLY],
        [({"types": None}, "types|templates"), *_WIDTHS],
        settings={"beam": 2},
        has_pieces=False,
    ),
    "guided, parsed": Kind(_guided_parser, ARCS, _OF_TEXTS, [{"half_width": False}]),
    "reranker": Kind(
        _pair(JointReranker, CharacterJointTagger, WordJointTagger),
        TAGGED,
        _OF_TEXTS,
        [{"weight": 0.5, "n_best": 3}],
        [({"half_width": False}, "half_width")],
    ),
    "tagger": Kind(
        Tagger,
        TAGGED,
        [(words,) for words in WORDS],
        [
            {"learning": NOISY, "half_width": False},
            {"templates": "latin", "beam": 2, "learning": Learning(cumulative_l1=0.01)},
        ],
        [({"templates": "latin"}, "templates"), ({"half_width": False}, "half_width")],
    ),
    "dependencies": Kind(
        DependencyParser,
        ARCS,
        PAIRS,
        [
            {"system": "arc_standard", "merge": False, "half_width": False},
            {"templates": "left: S0w N0w | action: S0t N0t", "beam": 1, "labeled": False},
            {"update": "early", "beam": 3, "learning": NOISY, "backward": True},
        ],
        [
            ({"system": "arc_standard"}, "system"),
            ({"templates": "rich"}, "templates"),
            ({"half_width": False}, "half_width"),
            ({"backward": True}, "backward"),
        ],
        batch=lambda args: args,
        settings={"beam": 4},
        has_pieces=False,
    ),
    "dependencies, arc-standard": Kind(
        DependencyParser,
        ARCS,
        PAIRS,
        [{"merge": False}],
        [({"system": "arc_eager"}, "system")],
        batch=lambda args: args,
        settings={"beam": 4, "system": "arc_standard"},
        has_pieces=False,
    ),
    "constituents": Kind(
        ConstituencyParser,
        TREES,
        PAIRS,
        [{"half_width": False, "beam": 2}, {"update": "early", "learning": NOISY}],
        [({"templates": "action: S0t S1t"}, "templates"), ({"half_width": False}, "half_width")],
        batch=lambda args: args,
        settings={"beam": 4},
        has_pieces=False,
    ),
    "constituents, known heads": Kind(
        ConstituencyParser,
        TREES,
        PAIRS,
        incompatible=[({"known_heads": False}, "known_heads|heads")],
        batch=lambda args: args,
        settings={"beam": 4, "known_heads": True},
        has_pieces=False,
    ),
    "labels": Kind(
        SequenceLabeler,
        LABELED,
        [(rows,) for rows in TAGGED],
        [
            {"learning": NOISY, "gazetteers": None, "templates": "chunking"},
            {"learning": LogLinear(optimizer="sgd", l1=0.01), "scheme": "bioes"},
            {"learning": LogLinear(optimizer="adf")},
        ],
        [
            ({"templates": "label: gazetteers(w0)"}, "templates"),
            ({"scheme": "bioes"}, "scheme|labels"),
            ({"gazetteers": Gazetteers({"place": ["上海"]})}, "gazetteers"),
        ],
        settings={
            "templates": "label: w0 | tag(w-1) | gazetteers(w0) | ngrams(w0) \n edge: \n edge: w0",
            "columns": ["word", "tag"],
            "scheme": "bio",
            "gazetteers": Gazetteers({"place": ["北京"], "other": ["我"]}, lower=True),
        },
    ),
    "features": Kind(
        FeatureLabeler,
        FEATURED,
        [(items,) for items in ITEMS],
        [{"edges": [], "learning": NOISY}],
        [({"edges": []}, "edges")],
        settings={"edges": ["w"]},
    ),
    "texts": Kind(
        TextClassifier,
        TOPICS,
        [(words,) for words in WORDS],
        [{"values": "log", "normalize": True, "lower": True}, {"learning": Learning()}],
        [({"ngrams": 1}, "ngrams"), ({"characters": []}, "characters")],
        nbest=None,
        settings={"ngrams": 2, "characters": [1, 2]},
        has_pieces=False,
    ),
}
# Models that are no kind of their own.
NO_KINDS = {
    "CRF": "it is scikit-learn's view of a FeatureLabeler, whose interface test_crf.py holds",
}
TRAINED_APART = [name for name, kind in KINDS.items() if kind.is_ensemble]


@cache
def trained(name: str, seed: int = 3) -> Any:
    """A model that is trained once a process, and not to be changed."""
    return KINDS[name].new(seed=seed).fit(KINDS[name].gold)


@cache
def data_of(name: str) -> bytes:
    """The file of that model."""
    data: bytes = trained(name).to_bytes()
    return data


@cache
def running_data(name: str) -> bytes:
    """The file of a training that is running."""
    data: bytes = KINDS[name].new().partial_fit(KINDS[name].gold).to_bytes(state="training")
    return data


def again(name: str) -> Any:
    """A model like `trained`, which may be changed."""
    return type(trained(name)).from_bytes(data_of(name))


def answers(name: str, model: Any, inputs: Iterable[tuple[Any, ...]] | None = None) -> list[Any]:
    """All outputs of a model for inputs: labels or words, and the n best."""
    kind = KINDS[name]
    found: list[Any] = []
    for args in kind.inputs if inputs is None else inputs:
        found.append(model.predict(*args))
        for more in ("predict_tagged", "predict_trees"):
            if hasattr(model, more):
                found.append(getattr(model, more)(*args))
        if kind.nbest is not None and not isinstance(model, GuidedJointParser):
            found.append(kind.nbest(model, args, 3))
        elif kind.nbest is None:
            found.append(model.predict_marginals(*args) if can_say_probabilities(model) else None)
    return found


def can_say_probabilities(model: Any) -> bool:
    """True if its learning is log-linear."""
    return isinstance(model.learning, LogLinear)
