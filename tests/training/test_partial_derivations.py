"""Derivations that are known in part: against all derivations of short inputs, one by one."""

from __future__ import annotations

import numpy as np
import pytest
from example_counts import quick_examples
from hypothesis import given
from hypothesis import strategies as st
from looped import looped

from spacy_structreg.features.state_templates import parse_state_templates
from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.learn.perceptron import Perceptron
from spacy_structreg.search.agenda import Agenda
from spacy_structreg.search.scorer import StateScorer, new_learner
from spacy_structreg.tasks.segmentation.characters import CharacterAtoms
from spacy_structreg.tasks.segmentation.words import WordTransitions
from spacy_structreg.tasks.tagging import TAGGING_ATOMS, TAGGING_EVENTS, TagTransitions
from spacy_structreg.tasks.word_fields import WordFields
from spacy_structreg.training.agenda import AgendaTrainer
from spacy_structreg.training.pieces import cut_units

WORDS = "separate: w-1 | end(w-1) c0\nappend: c-1 c0\nboundary: first c0\ntag: t-1 | w-1 t-1 | c0"
TAGS = "tag: w0 | t-1 | t-1 t-2 | w+1"
SENTENCE = st.text("人大京", min_size=1, max_size=3)


def randomize(learner: Perceptron, seed: int) -> None:
    random = np.random.default_rng(seed)
    for table in learner.tables:
        for row in range(len(table)):
            for column in range(table.n_columns):
                table.add([(row, column, float(random.normal()))], learner.clock + 1)


class Words:
    """Words of two tags, all of whose derivations are tried."""

    def __init__(self) -> None:
        self.system = WordTransitions(CharacterAtoms(), 2)
        self.templates = parse_state_templates([WORDS], self.system.events, self.system.atoms, {})

    def outputs(self, text: str):
        if not text:
            yield []
        for end in range(1, len(text) + 1):
            for tag in (0, 1):
                for rest in self.outputs(text[end:]):
                    yield [(text[:end], tag), *rest]

    def compile(self, output, learner):
        return self.system.compile([w for w, _ in output], [t for _, t in output], learner)

    def actions(self, output) -> list[int]:
        found = [0 if i else 1 + tag for word, tag in output for i in range(len(word))]
        return [*found, 3]

    def draw_known(self, text: str, data):
        """What is known, how it is compiled, and what goes with it."""
        n = len(text)
        known = data.draw(
            st.lists(st.sampled_from([None, True, False]), min_size=n - 1, max_size=n - 1)
        )
        ends = [i for i in range(1, n) if known[i - 1] is True]
        tags = [
            (begin, end, data.draw(st.integers(0, 1)))
            for begin, end in zip([0, *ends], [*ends, n], strict=True)
            if not any(known[i] is None for i in range(begin, end - 1)) and data.draw(st.booleans())
        ]

        def goes(output) -> bool:
            spans, first = [], 0
            for word, tag in output:
                spans.append((first, first + len(word), tag))
                first += len(word)
            cuts = {begin for begin, _, _ in spans}
            return all(known[i - 1] in (None, i in cuts) for i in range(1, n)) and all(
                tag in spans for tag in tags
            )

        def compile(learner):
            return self.system.compile_partial(text, known, tags, learner)

        return compile, goes

    def load(self, text: str) -> None:
        self.system.load_text(text)


class Tags:
    """Tags of given words, all of whose sequences are tried."""

    def __init__(self) -> None:
        self.templates = parse_state_templates([TAGS], TAGGING_EVENTS, TAGGING_ATOMS, {})
        atoms = [atom for template in self.templates for atom in template.atoms]
        self.system = TagTransitions(WordFields(), 3, atoms)

    def outputs(self, text: str):
        if not text:
            yield []
            return
        for rest in self.outputs(text[1:]):
            for tag in range(3):
                yield [(text[0], tag), *rest]

    def compile(self, output, learner):
        return self.system.compile([w for w, _ in output], [t for _, t in output], learner)

    def actions(self, output) -> list[int]:
        return [tag for _, tag in output]

    def draw_known(self, text: str, data):
        tags = [data.draw(st.sampled_from([None, 0, 1, 2])) for _ in text]

        def goes(output) -> bool:
            return all(known in (None, tag) for known, (_, tag) in zip(tags, output, strict=True))

        def compile(learner):
            return self.system.compile(list(text), tags, learner)

        return compile, goes

    def load(self, text: str) -> None:
        self.system.load_words(list(text))


class Prepared:
    """A trainer with random weights for features of all outputs."""

    def __init__(self, task, outputs, algorithm: str, seed: int) -> None:
        self.learner = new_learner(task.system, Learning(algorithm=algorithm))
        # No output of a text of the tests falls off this beam.
        self.trainer = AgendaTrainer(
            task.system.copy(), task.templates, self.learner, 4000, "plain"
        )
        self.trainer.epoch(
            [task.compile(output, self.learner) for output in outputs], range(len(outputs))
        )
        randomize(self.learner, seed)

    def visit(self, derivation) -> list[np.ndarray]:
        """The weights after a visit."""
        self.trainer.epoch([derivation], [0])
        return [table.state()["values"] for table in self.learner.tables]


@pytest.mark.parametrize("kind", [Words, Tags])
@pytest.mark.parametrize("algorithm", ["perceptron", "pa"])
@quick_examples(25)
@given(SENTENCE, st.integers(0, 10_000), st.data())
def test_a_visit_learns_the_best_derivation_that_goes_with_what_is_known(
    kind, algorithm: str, text: str, seed: int, data
) -> None:
    task = kind()
    outputs = list(task.outputs(text))
    compile_partial, goes = task.draw_known(text, data)
    partial, whole = (Prepared(task, outputs, algorithm, seed) for _ in range(2))
    agenda = Agenda(StateScorer(task.system, task.templates, whole.learner.tables), 1)
    task.load(text)
    scores = [agenda.score(task.actions(output)) for output in outputs]
    ranked = [output for _, output in sorted(zip(scores, outputs, strict=True), reverse=True)]
    gold = next(output for output in ranked if goes(output))
    derivation = compile_partial(partial.learner)
    before = [table.state()["values"] for table in whole.learner.tables]
    found = partial.visit(derivation)
    expected = whole.visit(task.compile(gold, whole.learner))
    others = [output for output in ranked if not goes(output)]
    if derivation.is_partial and goes(ranked[0]):
        gap = max(scores) - scores[outputs.index(others[0])] if others else 1.0
        if algorithm == "pa" and gap < 1:
            assert any((one != other).any() for one, other in zip(found, before, strict=True))
            return
        # What goes with all that is known is right.
        expected = before
    for one, other in zip(found, expected, strict=True):
        assert (one == other).all()


@looped("update", ["early", "max_violation", "plain"])
@looped("by_words", [False, True])
def test_pieces_of_partial_sentences_are_trained(update: str, by_words: bool) -> None:
    """The beam is narrow, and the pieces end where a word is known to end."""
    system = WordTransitions(CharacterAtoms(), 1, by_words, 3)
    templates = parse_state_templates(
        ["separate: w-1 | end(w-1) c0\nappend: c-1 c0"], system.events, system.atoms, {}
    )
    learner = new_learner(system, Learning(dropout=0.1))
    trainer = AgendaTrainer(system.copy(), templates, learner, 2, update)
    known = [None, True, False, True, None, None, True, None, False]
    derivation = system.compile_partial("一二三四五六七八九十", known, (), learner)
    assert derivation.units.tolist() == [0, 2, 4, 7, 10]
    for epoch in range(20):
        trainer.epoch([derivation], cut_units([derivation.units], 2, epoch), epoch)
    agenda = Agenda(StateScorer(system, templates, learner.tables), 16)
    system.load_text("一二三四五六七八九十")
    ((_, actions),) = agenda.derivations(1)
    assert [bool(actions[i + 1]) for i in (1, 2, 3, 6, 8)] == [True, False, True, True, False]


def test_what_cannot_be_is_passed_over() -> None:
    """No word is as long as the one that is known."""
    system = WordTransitions(CharacterAtoms(), 2, max_word_length=2)
    templates = parse_state_templates([WORDS], system.events, system.atoms, {})
    learner = new_learner(system)
    trainer = AgendaTrainer(system.copy(), templates, learner, 4, "early")
    derivation = system.compile_partial("人大京人", [False, None, None], [], learner)
    with pytest.raises(ValueError, match="unknown tag 2"):
        system.compile_partial("人大", [False], [(0, 2, 2)], learner)
    trainer.epoch([derivation], [0])
    assert learner.clock == 1


def test_features_are_counted_in_whole_sentences() -> None:
    system = WordTransitions(CharacterAtoms(), 1)
    templates = parse_state_templates(["separate: w-1"], system.events, system.atoms, {})
    learner = new_learner(system)
    trainer = AgendaTrainer(system.copy(), templates, learner, 4, "early")
    whole = system.compile(["人", "大"], None, learner)
    partial = system.compile_partial("京京京", [None, True], [], learner)
    trainer.restrict([partial, whole], 1)
    rows = learner.n_rows()
    assert rows > 0
    trainer.epoch([partial, whole], [0, 1, 0, 1])
    assert learner.n_rows() == rows
