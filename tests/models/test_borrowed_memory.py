"""Pointers of kernels: what they point into lives as long as they do, and is let go afterwards."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from spacy_structreg.corpora.constituents import ConstituencySentence, Constituent
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.learn.learner import Learner
from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.learn.rows import TrainingRows
from spacy_structreg.models.constituents import ConstituencyParser
from spacy_structreg.models.dependencies import SYSTEMS, DependencyParser
from spacy_structreg.models.guided import GuidedSegmenter
from spacy_structreg.models.segmentation import CharacterSegmenter, WordSegmenter
from spacy_structreg.models.tagging import Tagger
from spacy_structreg.tasks import tagging, word_fields
from spacy_structreg.tasks.labeling.label_sequences import LabelDecoder
from spacy_structreg.tasks.segmentation import characters, text
from spacy_structreg.tasks.segmentation.characters import CharacterAtoms
from spacy_structreg.tasks.tagging import TagDecoder
from spacy_structreg.tasks.word_fields import WordFields

WORDS = [["大学", "生活"], ["学生", "活", "。"], ["大学生", "生活"]]
TAGGED = [[("狗", "N"), ("走", "V")], [("大", "A"), ("狗", "N"), ("走", "V")], [("走", "N")]]
TREES = [Sentence(("大", "狗", "走"), ("A", "N", "V"), (1, 2, -1), ("amod", "nsubj", "root"))]
PHRASES = [
    ConstituencySentence(
        ("大", "狗", "走"),
        ("A", "N", "V"),
        (Constituent("IP", 0, 3, 2), Constituent("NP", 0, 2, 1)),
    )
]


# Tables of characters -----------------------------------------------------------------------------


def tag_decoder() -> TagDecoder:
    with Tagger(epochs=1, learning=Learning()).fit(TAGGED)._decoders().borrow() as decoder:
        return TagDecoder(decoder.agenda, decoder.tags)


@pytest.mark.parametrize(
    ("module", "table", "make"),
    [
        (text, "property_table", text.TextDecoder),
        (tagging, "property_table", tag_decoder),
        (word_fields, "normalization_table", WordFields),
        (word_fields, "lower_case_table", WordFields),
        (word_fields, "shape_table", WordFields),
        (characters, "normalization_table", lambda: CharacterAtoms(None, True)),
        (characters, "type_table", lambda: CharacterAtoms("g10")),
    ],
)
def test_tables_live_as_long_as_what_points_into_them(
    module: Any, table: str, make: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever gives out a table may give out another one next, and forget the first."""
    original = getattr(module, table)
    given: list[weakref.ref[np.ndarray]] = []

    def copied(*arguments: Any) -> np.ndarray:
        copy: np.ndarray = original(*arguments).copy()
        given.append(weakref.ref(copy))
        return copy

    monkeypatch.setattr(module, table, copied)
    holder = make()
    gc.collect()
    # What was made last is `holder`; its copy of the table is the last one, too.
    assert given[-1]() is not None
    del holder
    gc.collect()
    assert given[-1]() is None


# Sentences ----------------------------------------------------------------------------------------


def agendas_after_decoding() -> dict[str, Callable[[], Any]]:
    def words() -> Any:
        model = WordSegmenter(epochs=1, learning=Learning()).fit(WORDS)
        with model._decoders().borrow() as decoder:
            decoder.segment(["大学 生活"], [[5]])
            return decoder.agenda

    def guided() -> Any:
        model = GuidedSegmenter(
            CharacterSegmenter(epochs=1, learning=Learning()),
            WordSegmenter(epochs=1, learning=Learning()),
        ).fit(WORDS)
        with model._decoders().borrow() as decoder:
            decoder.nbest("大学 生活", 2)
            return decoder.agenda

    def tags() -> Any:
        decoder = tag_decoder()
        allowed = np.array([[0, 1, 0], [1, 0, 1]], dtype=np.uint8)
        decoder.tag([["狗", "走"]], allowed)
        return decoder.agenda

    def phrases() -> Any:
        model = ConstituencyParser(epochs=1).fit(PHRASES)
        with model._decoders().borrow() as decoder:
            decoder.parse([(["大", "狗"], ["A", "N"])], [[(0, 2, "NP")]])
            return decoder.agenda

    def trees(system: str) -> Callable[[], Any]:
        def make() -> Any:
            model = DependencyParser(system=system, epochs=1).fit(TREES)
            with model._decoders().borrow() as decoder:
                decoder.parse([(["大", "狗"], ["A", "N"])], [([1, None], [None, None])])
                return decoder.agenda

        return make

    def training() -> Any:
        model = Tagger(epochs=1, learning=Learning())
        model.prepare(TAGGED)
        model.learn(model.compile(TAGGED))
        trainer: Any = model._trainer
        return trainer.agenda

    return {
        "words": words,
        "guided": guided,
        "tags": tags,
        "phrases": phrases,
        **{system: trees(system) for system in SYSTEMS},
        "training": training,
    }


@pytest.mark.parametrize("kind", agendas_after_decoding())
def test_nothing_of_a_sentence_is_pointed_to_after_it_was_decoded(kind: str) -> None:
    """Text, constraints, masks and what a guide says belong to others, who may be gone."""
    agenda = agendas_after_decoding()[kind]()
    gc.collect()
    ((_, actions),) = agenda.derivations(1)
    # Of an empty sentence: only segmentation ends with an action of its own.
    assert len(actions) == (kind in ("words", "guided"))


# Lists of others ----------------------------------------------------------------------------------


def test_texts_may_be_added_to_while_they_are_segmented() -> None:
    texts = ["大学生活"]

    class Ends(list[int]):
        """The ends of sentences, and another text while they are read."""

        def __iter__(self) -> Iterator[int]:
            texts.append("学生" * 1000)
            return super().__iter__()

    with CharacterSegmenter(epochs=1).fit(WORDS)._decoders().borrow() as decoder:
        found = decoder.segment(texts, [Ends([4])])
    assert ["".join(words) for words in found] == texts[:1]


def test_words_may_be_added_while_they_are_tagged() -> None:
    class Word(str):
        __slots__ = ()

        def __str__(self) -> str:
            sentence.append("走")
            return "狗"

    sentence = [Word("狗")]
    assert len(tag_decoder().tag([sentence])[0]) == 1


# Making anew --------------------------------------------------------------------------------------


def test_what_holds_pointers_is_not_made_anew() -> None:
    characters = CharacterSegmenter(epochs=1).fit(WORDS)
    spec: Any = characters._fitted_spec()
    tables = characters._decoders().tables
    chain = spec.new_decoder(tables).chain
    guide = spec.new_guide(tables)
    labels = LabelDecoder(chain)
    learner = Learner([TrainingRows(2)], Learning())
    for again in (
        lambda: chain.__init__(chain.features, chain.graph, chain.tables),
        lambda: guide.__init__(guide.decoder, guide.labels),
        lambda: labels.__init__(chain),
        lambda: learner.__init__([TrainingRows(2)], Learning()),
    ):
        with pytest.raises(TypeError, match="initialized twice"):
            again()
