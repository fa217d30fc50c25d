"""Systems that are compared: one or several models, and how they decode."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from itertools import chain
from typing import Any, Final

from corpora import Part
from expected_trees import expected_tree

from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.models.constituents import ConstituencyParser
from spacy_structreg.models.dependencies import DependencyParser
from spacy_structreg.models.guided import (
    GuidedJointTagger,
    GuidedSegmenter,
)
from spacy_structreg.models.joint.guided_joint_parser import GuidedJointParser
from spacy_structreg.models.joint.joint_reranker import JointReranker
from spacy_structreg.models.joint.joint_taggers import CharacterJointTagger, WordJointTagger
from spacy_structreg.models.joint.parsed_analyses import (
    AnalysisParser,
    expected_arcs,
    fitted_weights,
    probabilities,
)
from spacy_structreg.models.joint.word_joint_parser import WordJointParser
from spacy_structreg.models.raw_text import TaggedPredictor
from spacy_structreg.models.segmentation import CharacterSegmenter, WordSegmenter
from spacy_structreg.models.tagging import Tagger

ROLES: Final = ("characters", "words", "tagger", "parser", "backward", "joint")

SCORES: Final = {
    "words": {"f": "seg_f", "oov_r": "oov_r"},
    "tags": {"f": "seg_f", "oov_r": "oov_r", "joint_f": "joint_f"},
    "trees": {"uas": "dep_uas", "las": "dep_las"},
    "constituents": {"f": "brackets_f"},
    "trees_of_texts": {"f": "seg_f", "joint_f": "tag_f", "uas": "uas_f", "las": "las_f"},
}
"""The figures of each kind of annotation: their names here and in the package."""


@dataclass(frozen=True)
class Kind:
    """A kind of model. role: what it can be in a system. finds: what it learns, of `SCORES`.

    found_tags: whether it learns from tags that taggers have found (`with_found_tags`).
    """

    estimator: Callable[..., Any]
    role: str
    finds: str
    found_tags: bool = False


KINDS: Final = {
    "characters": Kind(CharacterSegmenter, "characters", "words"),
    "character_joint": Kind(CharacterJointTagger, "characters", "tags"),
    "words": Kind(WordSegmenter, "words", "words"),
    "word_joint": Kind(WordJointTagger, "words", "tags"),
    "tagger": Kind(Tagger, "tagger", "tags"),
    "parser": Kind(DependencyParser, "parser", "trees"),
    "constituency": Kind(ConstituencyParser, "parser", "constituents"),
    "parser_of_texts": Kind(DependencyParser, "parser", "trees", found_tags=True),
    "backward_parser": Kind(
        partial(DependencyParser, backward=True), "backward", "trees", found_tags=True
    ),
    "joint_parser": Kind(WordJointParser, "joint", "trees_of_texts"),
}

LEARNING: Final = {
    {"algorithm": "rule"}.get(field.name, field.name): field.name for field in fields(Learning)
}
"""The fields of `Learning` by their names in the grid, and in the lines of results."""

SEARCH: Final = frozenset({"beam", "merge", "by_words", "max_word_length"})
GUIDE: Final = frozenset({"weight", "adds_scores", "looks_ahead", "window"})
RERANKER: Final = frozenset({"weight", "n_best"})
"""With `n_best`, a model of words ranks the analyses of one of characters again."""
PARSERS: Final = {"trees": frozenset({"beam", "merge"}), "constituents": frozenset({"beam"})}
"""By what a parser finds, the settings of its decoder."""


@dataclass(frozen=True)
class Search:
    """A way from raw text to trees. parts: its models. needs, may_have: settings of `decode`."""

    parts: frozenset[str]
    needs: frozenset[str] = frozenset()
    may_have: frozenset[str] = frozenset()


OF_TEXTS: Final = frozenset({"characters", "words", "tagger", "parser"})
"""The parts of a pipeline from raw text to trees."""
SEARCHES: Final = {
    "pipeline": Search(OF_TEXTS),
    "reranked": Search(OF_TEXTS | {"backward"}, frozenset({"n_best"}), frozenset({"window"})),
    "expected": Search(OF_TEXTS | {"backward"}, frozenset({"n_best"}), frozenset({"window"})),
    "guided": Search(OF_TEXTS | {"backward", "joint"}, frozenset({"n_best"}), frozenset({"beam"})),
}
"""Ways from raw text to trees, by their names: `decode.search`."""


@dataclass(frozen=True)
class Reader:
    """A system that is ready. read: finds words of texts, with or without tags, or trees of words.

    finds: which of these, of `SCORES`. weight: of the guide, where there is one and it matters.
    """

    read: Callable[[Sequence[Any]], list[Any]]
    finds: str
    weight: float | None = None


def new_model(setting: Mapping[str, Any], seed: int) -> Any:
    """An untrained model of the grid. Raises ValueError for settings that do not exist."""
    given = dict(setting)
    kind = given.pop("kind", None)
    if kind not in KINDS:
        raise ValueError(f"a model is of the kind {kind!r}; choose from {', '.join(KINDS)}")
    learning = Learning(
        **{field: given.pop(name) for name, field in LEARNING.items() if name in given}
    )
    try:
        return KINDS[kind].estimator(learning=learning, seed=seed, **given)
    except TypeError as error:
        raise ValueError(f"a model of the kind {kind!r}: {error}") from error


def fit(
    setting: Mapping[str, Any], seed: int, train: Part, epochs: Collection[int]
) -> Iterator[tuple[int, Any]]:
    """One training of a model of the grid: the trained model after each of some numbers of epochs.

    The models are those of trainings that end there.
    """
    model = new_model(setting, seed)
    gold = gold_of(train, KINDS[setting["kind"]].finds)
    if KINDS[setting["kind"]].found_tags:
        gold = train.with_found_tags
    model.prepare(gold)
    compiled = model.compile(gold)
    for epoch in range(1, max(epochs) + 1):
        model.learn(compiled)
        if epoch in epochs:
            yield epoch, type(model).from_contents(f"epoch {epoch}", *model.contents())


def epochs_of(setting: Mapping[str, Any]) -> int:
    """The epochs of a training of a model of the grid."""
    return int(new_model(setting, 0).epochs)


def gold_of(part: Part, finds: str) -> Any:
    """The gold sentences of a part, as what systems find."""
    if finds == "words":
        return part.words
    if finds == "tags" and part.kind == "trees":
        return [list(zip(tree.words, tree.tags, strict=True)) for tree in part.gold]
    return part.gold


def inputs_of(part: Part, finds: str) -> list[Any]:
    """The input of a system: texts, or the tagged words of trees."""
    if finds in ("words", "tags", "trees_of_texts"):
        return list(part.texts)
    return [(tree.words, tree.tags) for tree in gold_of(part, finds)]


def found_by(kinds: Iterable[str]) -> str:
    """The annotation that models of these kinds make together, a key of `SCORES`."""
    found = {KINDS[kind].finds for kind in kinds}
    if found > {"trees"}:
        return "trees_of_texts"
    return next(finds for finds in reversed(SCORES) if finds in found)


def checked_decoding(kinds: Mapping[str, str], decoding: Mapping[str, Any]) -> None:
    """Raise ValueError for decoding settings that these models, by role, do not have."""
    for role, kind in kinds.items():
        if KINDS[kind].role != role:
            raise ValueError(f"a model of the kind {kind!r} cannot be the part {role!r}")
    if [*kinds] == ["joint"]:
        known = frozenset({"beam"})
    elif "search" in decoding or (
        [*kinds] != ["parser"] and kinds.keys() & {"parser", "backward", "joint"}
    ):
        known = _settings_of_search(kinds, decoding)
    else:
        known = _settings_of_one_layer(kinds, decoding)
    strange = set(decoding) - known
    if strange:
        raise ValueError(
            f"decoding has the setting {sorted(strange)[0]!r}; {' + '.join(kinds)} has "
            f"{', '.join(sorted(known)) or 'none'}"
        )


def _settings_of_search(kinds: Mapping[str, str], decoding: Mapping[str, Any]) -> frozenset[str]:
    """The settings of a way from raw text to trees."""
    name = decoding.get("search")
    if name not in SEARCHES:
        raise ValueError(
            f"{' + '.join(kinds)} needs the setting search, one of {', '.join(SEARCHES)}, not "
            f"{name!r}"
        )
    search = SEARCHES[name]
    if set(kinds) != search.parts:
        raise ValueError(f"search = {name!r} takes the parts {', '.join(sorted(search.parts))}")
    if missing := search.needs - set(decoding):
        raise ValueError(f"search = {name!r} needs the setting {min(missing)!r}")
    if {KINDS[kinds[role]].finds for role in ("characters", "words")} != {"tags"}:
        raise ValueError(f"search = {name!r}: characters and words must find tags, too")
    if KINDS[kinds["parser"]].finds != "trees":
        raise ValueError(f"search = {name!r}: the parser must find dependencies")
    return search.needs | search.may_have | {"search"}


def _settings_of_one_layer(kinds: Mapping[str, str], decoding: Mapping[str, Any]) -> frozenset[str]:
    """The settings of a system that finds words, or tags, or trees of given words."""
    known: frozenset[str] = frozenset()
    if "parser" in kinds:
        return PARSERS[KINDS[kinds["parser"]].finds]
    if "n_best" in decoding:
        if {kinds.get("characters"), kinds.get("words")} != {"character_joint", "word_joint"}:
            raise ValueError("n_best is for a model of characters and one of words, with tags")
        known |= RERANKER
    elif "words" in kinds:
        known |= SEARCH | (GUIDE if "characters" in kinds else frozenset())
    if "tagger" in kinds:
        known |= {"tagger_beam"}
        if len(kinds) == 1:
            raise ValueError("a tagger needs a part that finds words")
    if len({KINDS[kind].finds for role, kind in kinds.items() if role != "tagger"}) > 1:
        raise ValueError("of a model and its guide both must find tags, or neither")
    return known


def decoding(model: Any, changes: Mapping[str, Any]) -> Any:
    """A trained model with other settings for its decoder."""
    if not changes:
        return model
    header, arrays = model.contents()
    settings = {**header["settings"], **changes}
    return type(model).from_contents("a changed model", {**header, "settings": settings}, arrays)


def build(models: Mapping[str, Any], given: Mapping[str, Any], dev: Part) -> Reader:
    """A system of trained models by role; a guide's weight is tuned on `dev` unless it is given."""
    changes = dict(given)
    if "search" in changes or "joint" in models:
        return trees_of_texts(models, changes, dev)
    if "parser" in models:
        parser = decoding(models["parser"], changes)
        finds = next(kind.finds for kind in KINDS.values() if kind.estimator is type(parser))
        return Reader(parser.predict_batch, finds)
    tagger_beam = changes.pop("tagger_beam", None)
    weight = None
    if "n_best" in changes:
        finder: Any = JointReranker(models["characters"], models["words"], **changes)
        weight = finder.tune(dev.gold)
    elif "characters" in models and "words" in models:
        guide = {name: changes.pop(name) for name in GUIDE & changes.keys()}
        beam = changes.pop("beam", models["words"].beam)
        words = decoding(models["words"], changes)
        tagged = isinstance(words, TaggedPredictor)
        guided = GuidedJointTagger if tagged else GuidedSegmenter
        # The study is of beams as wide as they are set.
        finder = guided(models["characters"], words, beam=beam, beam_margin=None, **guide)
        if finder.adds_scores or finder.looks_ahead:
            weight = finder.tune(gold_of(dev, "tags" if tagged else "words"))
    elif "words" in models:
        finder = decoding(models["words"], changes)
    else:
        finder = models["characters"]
    if "tagger" not in models:
        if not isinstance(finder, TaggedPredictor):
            return Reader(finder.predict_batch, "words", weight)
        return Reader(lambda texts: list(finder.predict_tagged_stream(texts)), "tags", weight)
    beam_change = {} if tagger_beam is None else {"decode_beam": tagger_beam}
    tagger = decoding(models["tagger"], beam_change)

    def read(texts: Sequence[str]) -> list[Any]:
        found = finder.predict_batch(texts)
        tags = tagger.predict_batch(found)
        return [list(zip(*pair, strict=True)) for pair in zip(found, tags, strict=True)]

    return Reader(read, "tags", weight)


def trees_of_texts(models: Mapping[str, Any], given: Mapping[str, Any], dev: Part) -> Reader:
    """A system that finds words, tags and trees; what has to be tuned is tuned on `dev`."""
    finds = "trees_of_texts"
    if len(models) == 1:
        alone = decoding(models["joint"], given)
        return Reader(lambda texts: list(alone.predict_trees_stream(texts)), finds)
    changes = dict(given)
    search = changes.pop("search")
    window = {"window": changes.pop("window")} if "window" in changes else {}
    # A beam of four, the default, has too few analyses to choose from.
    beam = max(8, changes.get("n_best", 0))
    tagger = GuidedJointTagger(
        models["characters"], models["words"], beam=beam, beam_margin=None, **window
    )
    tagger.tune(gold_of(dev, "tags"))
    if search == "guided":
        guides = (tagger, models["tagger"], models["parser"], models["backward"])
        guided = GuidedJointParser(*guides, models["joint"], **changes)
        weight = guided.tune(dev.gold)
        return Reader(lambda texts: list(guided.predict_trees_stream(texts)), finds, weight)
    if search == "pipeline":

        def parsed(text: str) -> Sentence:
            words = tagger.predict(text)
            tags = models["tagger"].predict(words)
            tree = models["parser"].predict(words, tags)
            return Sentence(tuple(words), tuple(tags), tree.heads, tree.labels)

        return Reader(lambda texts: list(map(parsed, texts)), finds)
    parsers = (models["parser"], models["backward"])
    analyses = AnalysisParser(tagger, models["tagger"], parsers, **changes)
    weights = fitted_weights(analyses, dev.gold)

    def reranked(text: str) -> Sentence:
        found = analyses.analyses(text)
        shares = probabilities(found, weights)
        tree = found[int(shares.argmax())].trees[0]
        if search == "reranked":
            return tree
        trees = chain.from_iterable(analysis.trees for analysis in found)
        labels = sorted({label or "" for each in trees for label in each.labels})
        arcs = expected_arcs(found, shares, labels)
        return expected_tree(tree.words, tree.tags, arcs, labels)

    return Reader(lambda texts: list(map(reranked, texts)), finds)
