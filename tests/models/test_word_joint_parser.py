"""Words, tags and trees in one search: learning, guides, what is left out, files and averages."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from example_counts import quick_examples
from hypothesis import given
from hypothesis import strategies as st

from spacy_structreg.corpora.formats.brackets import constituency_sentences
from spacy_structreg.corpora.sentence import Sentence, single_trees
from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.models.dependencies import DependencyParser
from spacy_structreg.models.guided import GuidedJointTagger
from spacy_structreg.models.joint.guided_joint_parser import ARC_WEIGHTS, GuidedJointParser
from spacy_structreg.models.joint.joint_taggers import CharacterJointTagger, WordJointTagger
from spacy_structreg.models.joint.parsed_analyses import (
    AnalysisParser,
    AnalysisWeights,
    ArcGuide,
    fitted_weights,
    probabilities,
)
from spacy_structreg.models.joint.word_joint_parser import WordJointParser
from spacy_structreg.models.model_ensemble import WEIGHTS
from spacy_structreg.models.tagging import Tagger, with_found_tags

TREEBANK = Path(__file__).parents[2] / "treebank/train/general.bracket"
TREES = [tree.dependencies() for tree in islice(constituency_sentences(TREEBANK, "ctb"), 40)]
PAIRS = [list(zip(tree.words, tree.tags, strict=True)) for tree in TREES]
TEXTS = ["".join(tree.words) for tree in TREES]
SMALL: Any = {"beam": 8, "sentences": "doc", "seed": 3}


@pytest.fixture(scope="module")
def fitted() -> WordJointParser:
    """A trained one; tests that change weights take their own."""
    return WordJointParser(epochs=15, **SMALL).fit(TREES)


def joined(*parts: Sentence) -> Sentence:
    """Sentences as one text."""
    heads: list[int | None] = []
    for part in parts:
        shift = len(heads)
        heads += [head if head in (None, -1) else shift + (head or 0) for head in part.heads]
    return Sentence(
        sum((part.words for part in parts), ()),
        sum((part.tags for part in parts), ()),
        tuple(heads),
        sum((part.labels for part in parts), ()),
    )


def test_it_learns_its_corpus(fitted: WordJointParser) -> None:
    figures = fitted.evaluate(TREES).as_dict()
    assert figures["seg_f"] > 0.98
    assert figures["las_f"] > 0.9
    right = [fitted.predict_trees(text) == tree for text, tree in zip(TEXTS, TREES, strict=True)]
    assert sum(right) > len(TREES) * 0.6
    assert fitted.predict_trees("") is None
    assert fitted.predict_trees(" \n") is None


def test_parts_of_what_is_found_agree(fitted: WordJointParser) -> None:
    texts = [f" {text[:9]} {text[9:]}" for text in TEXTS[:8]]
    for text, tree, spans in zip(
        texts,
        fitted.predict_trees_stream(texts, n_threads=2),
        fitted.analyze_stream(texts),
        strict=True,
    ):
        assert tree is not None
        assert list(tree.words) == fitted.predict(text)
        assert list(zip(tree.words, tree.tags, strict=True)) == fitted.predict_tagged(text)
        assert tree == fitted.predict_trees(text)
        assert tree.heads.count(-1) == 1
        assert tuple(text[begin:end] for begin, end in spans.spans.tolist()) == tree.words
        assert spans.heads is not None
        assert tuple(spans.heads.tolist()) == tree.heads
        assert spans.labels == tree.labels
        # White space ends words.
        assert not any(" " in word for word in tree.words)


def test_words_of_users_get_trees_too(fitted: WordJointParser) -> None:
    text = TEXTS[0]
    tree = fitted.predict_trees(text, [text[1:4]])
    assert tree is not None
    assert text[1:4] in tree.words
    assert "".join(tree.words) == text


def test_sentences_that_lack_something_are_left_out(caplog: pytest.LogCaptureFixture) -> None:
    words, tags = ("我们", "学习"), ("PN", "VV")
    lacking = [
        Sentence(words, tags, (1, None), ("nsubj", "root")),
        Sentence(words, tags, (1, -1), (None, "root")),
        Sentence(words, ("PN", ""), (1, -1), ("nsubj", "root")),
        Sentence(words, tags, (-1, -1), ("root", "root")),
    ]
    with caplog.at_level(logging.WARNING, "spacy_structreg"):
        model = WordJointParser(epochs=1, **SMALL).fit([*TREES[:3], *lacking])
    assert "4 sentences are left out of training" in caplog.text
    # Words of white space are passed over, trees that are not projective lifted.
    crossing = Sentence(
        ("他", " ", "昨天", "看", "书"),
        ("PN", "_SP", "NT", "VV", "NN"),
        (2, 0, 4, -1, 3),
        ("a",) * 5,
    )
    model.epochs = 10
    model.fit([crossing])
    tree = model.predict_trees("他昨天看书")
    assert tree is not None
    assert tree.words == ("他", "昨天", "看", "书")


def test_ends_of_sentences_are_found() -> None:
    """Of two short sentences without a mark between them, each gets a root."""
    one = Sentence(("我", "爱", "你"), ("N", "V", "N"), (1, -1, 1), ("s", "r", "o"))
    other = Sentence(("天", "下", "雨"), ("N", "V", "N"), (1, -1, 1), ("s", "r", "o"))

    model = WordJointParser(epochs=10, many_roots=True, **SMALL)
    model.fit([joined(one, other), joined(other, one), joined(one, one), one, other] * 3)
    for parts in ((one, other), (other, one), (one,)):
        wanted = joined(*parts)
        assert model.predict_trees("".join(wanted.words)) == wanted


def test_the_default_parts_can_guide() -> None:
    parser = GuidedJointParser(n_best=8)
    assert parser.tagger.settings.beam == 8
    assert parser.backward.settings.backward


# Guides -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def guides() -> tuple[GuidedJointTagger, Tagger, DependencyParser, DependencyParser]:
    """Two taggers and two parsers that have learned too little to be right everywhere."""
    learning: Any = {"epochs": 2, "sentences": "doc"}
    tagger = GuidedJointTagger(
        CharacterJointTagger(**learning, learning=Learning()),
        WordJointTagger(**learning),
        weight=1.0,
        beam=8,
        beam_margin=None,
    )
    forward, backward = DependencyParser(epochs=2), DependencyParser(epochs=1, backward=True)
    retagger = Tagger(epochs=1).fit(PAIRS[:20])
    return tagger.fit(PAIRS), retagger, forward.fit(TREES), backward.fit(TREES)


def guided_by(guides: Sequence[Any], words: WordJointParser, **settings: Any) -> GuidedJointParser:
    """A guided parser of trained models."""
    return GuidedJointParser(*guides, words, **settings)


def test_without_weights_it_is_the_model_of_words(fitted: WordJointParser, guides: Any) -> None:
    without: Any = {"weight": 0.0, "arc_weight": 0.0, "looks_ahead": False, "window": None}
    guided = guided_by(guides, fitted, beam=8, **without)
    for text in TEXTS[:10]:
        assert guided.predict_trees(text) == fitted.predict_trees(text)


def test_a_high_weight_of_arcs_draws_it_to_their_trees(
    fitted: WordJointParser, guides: Any
) -> None:
    """With a parser that hangs all words on the next one, it does the same."""
    chains = [
        replace(tree, heads=(*range(1, len(tree.words)), -1), labels=("next",) * len(tree.words))
        for tree in TREES
    ]
    parsers = [DependencyParser(epochs=3, backward=each).fit(chains) for each in (False, True)]

    def share_of_chained(arc_weight: float) -> float:
        guided = guided_by((*guides[:2], *parsers), fitted, arc_weight=arc_weight)
        trees = [guided.predict_trees(text) for text in TEXTS]
        heads = [(head, number) for tree in trees if tree for number, head in enumerate(tree.heads)]
        return sum(head == number + 1 for head, number in heads) / len(heads)

    assert share_of_chained(0.0) < 0.5
    assert share_of_chained(1e6) > 0.8


def test_arcs_are_those_of_probable_trees(guides: Any) -> None:
    """The scores of arcs to a word, and those of their labels, sum up to the weight."""
    tagger, retagger, *parsers = guides
    labels = parsers[0].labels
    analyses = AnalysisParser(tagger, retagger, parsers, 4)
    guide = ArcGuide(analyses, AnalysisWeights(), labels, 3.0, by_sentence=False)
    for text in TEXTS[:5]:
        of_text = analyses.analyses(text)
        best = [list(zip(*pairs, strict=True)) for _, pairs in tagger.nbest(text, 4)]
        pairs = {(words, tags) for words, tags in best}
        pairs |= {(words, tuple(retagger.predict(words))) for words, _ in best}
        assert {(each.trees[0].words, each.trees[0].tags) for each in of_text} == pairs
        assert len(of_text) == len(pairs)
        shares = probabilities(of_text, AnalysisWeights())
        assert shares.sum() == pytest.approx(1.0)
        arcs, scores = guide(text)
        wanted: dict[tuple[int, int, int], float] = {}
        for share, analysis in zip(shares, of_text, strict=True):
            for tree, parser in zip(analysis.trees, parsers, strict=True):
                assert tree.heads == parser.predict(tree.words, tree.tags).heads
                firsts = [len("".join(tree.words[:i])) for i in range(len(tree.words))]
                for word, head in enumerate(tree.heads):
                    at = -1 if head in (-1, None) else firsts[head or 0]
                    label = tree.labels[word]
                    names = [-1, labels.index(label)] if label in labels else [-1]
                    for name in names:
                        key = firsts[word], at, name
                        wanted[key] = wanted.get(key, 0.0) + 3.0 * share / 2
        found = {tuple(arc): score for arc, score in zip(arcs.tolist(), scores, strict=True)}
        assert found == pytest.approx(wanted)


def test_weights_of_analyses_are_the_most_likely_ones(guides: Any) -> None:
    """No small step from the weights makes the best analyses more probable, less the penalty."""
    analyses = AnalysisParser(*guides[:2], guides[2:], 8, remember=True)
    weights = fitted_weights(analyses, TREES, l2=0.0)

    def likelihood(of: AnalysisWeights) -> float:
        total = 0.0
        for tree in TREES:
            found = analyses.analyses("".join(tree.words))
            figures = [sum(labeled_f(tree, one) for one in each.trees) for each in found]
            best = [figure == max(figures) for figure in figures]
            if not all(best):
                shares = probabilities(found, of)
                total += sum(np.log(shares[best])) / sum(best)
        return total

    highest = likelihood(weights)
    assert highest > likelihood(AnalysisWeights(*[0.0] * len(weights)))
    for place, weight in enumerate(weights):
        for step in (-0.02, 0.02):
            moved = [*weights]
            moved[place] += step * (abs(weight) + 1e-3)
            assert likelihood(AnalysisWeights(*moved)) < highest


def labeled_f(gold: Sentence, found: Sentence) -> float:
    """F of words with head and label, by their characters."""

    def arcs(tree: Sentence) -> set[Any]:
        ends = [0, *accumulate(map(len, tree.words))]
        spans = [*pairwise(ends)]
        return {
            (span, None if head in (-1, None) else spans[head or 0], label)
            for span, head, label in zip(spans, tree.heads, tree.labels, strict=True)
        }

    both = arcs(gold) & arcs(found)
    return 2 * len(both) / (len(arcs(gold)) + len(arcs(found)))


def test_scores_of_characters_are_added_once(fitted: WordJointParser, guides: Any) -> None:
    """The best tree over the same words stays the same: their analyses differ by the chain's."""
    weight, wide = 3.0, {"window": None, "beam": 10_000, "arc_weight": 0.0}
    alone = guided_by(guides, fitted, weight=0.0, looks_ahead=False, **wide)

    @given(st.text("我们大学生在北京。", min_size=1, max_size=2), st.booleans())
    @quick_examples(8)
    def check(text: str, looks_ahead: bool) -> None:
        guided = guided_by(guides, fitted, weight=weight, looks_ahead=looks_ahead, **wide)

        def scores(model: Any) -> dict[Any, float]:
            found: dict[Any, float] = {}
            for score, words in model.nbest(text, 10_000):
                found[tuple(words)] = max(score, found.get(tuple(words), score))
            return found

        of_words, of_characters = scores(alone), scores(guides[0].characters)
        assert scores(guided) == pytest.approx(
            {key: of_words[key] + weight * of_characters[key] for key in of_words}, abs=1e-4
        )

    check()


def test_its_parser_learns_from_tags_that_taggers_of_other_folds_have_found() -> None:
    gap = replace(TREES[5], tags=("", *TREES[5].tags[1:]))
    gold = [*TREES[:5], gap, *TREES[6:21]]
    found, dev = with_found_tags(gold, TREES[30:33], n_folds=2)
    pairs = [*PAIRS[:5], *PAIRS[6:21]]
    first, second = Tagger(epochs=10).fit(pairs[:10]), Tagger(epochs=10).fit(pairs[10:])
    assert found[5] == gap
    for number, sentence in enumerate(gold):
        if number == 5:
            continue
        tagger = second if number < 11 else first
        assert found[number] == replace(sentence, tags=tuple(tagger.predict(sentence.words)))
    assert [tree.tags for tree in found] != [tree.tags for tree in gold]
    of_all = Tagger(epochs=10).fit(pairs)
    assert dev is not None
    assert [tree.tags for tree in dev] == [
        tuple(of_all.predict(tree.words)) for tree in TREES[30:33]
    ]
    # Too few to be parted.
    assert with_found_tags(gold[:3], n_folds=10) == (gold[:3], None)


def test_both_parsers_learn_from_tags_by_taggers_with_the_settings_of_the_retagger() -> None:
    retagger = Tagger(templates=["tag: w0", "tag: t-1"], learning=Learning(dropout=0.2))
    model = GuidedJointParser(retagger=retagger)
    gold, held_out = TREES[:21], TREES[30:33]
    corpora = model._corpora(gold, held_out, 1)
    found = with_found_tags(gold, held_out, settings=retagger.settings)
    assert corpora["parser"] == corpora["backward"] == found
    assert found != with_found_tags(gold, held_out)
    assert corpora["words"] == (gold, held_out)
    of_all = Tagger(templates=["tag: w0", "tag: t-1"], learning=Learning(dropout=0.2), epochs=10)
    of_all.fit(PAIRS[:21])
    assert [tree.tags for tree in found[1] or []] == [
        tuple(of_all.predict(tree.words)) for tree in held_out
    ]


def test_a_guided_parser_learns_and_tunes() -> None:
    tagger = GuidedJointTagger(
        CharacterJointTagger(seed=3, sentences="doc"), WordJointTagger(sentences="doc"), beam=8
    )
    model = GuidedJointParser(tagger, words=WordJointParser(**SMALL))
    model.epochs = 6
    model.fit(TREES, TREES[:10])
    assert model.evaluate(TREES).as_dict()["las_f"] > 0.8
    assert model.tuned_weight in WEIGHTS
    assert model.tuned_arc_weight in ARC_WEIGHTS
    again = GuidedJointParser.from_bytes(model.to_bytes())
    assert again._tuned() == model._tuned()
    # Batches are learned by all models, which may cut them otherwise.
    assert len(again.compile(TREES[:6])) >= 6
    # Weights that are set stay.
    guides = [each for name, each in model.parts.items() if name != "words"]
    fixed = guided_by(guides, model.words, weight=3.0, arc_weight=7.0)
    assert fixed.tune(TREES[:5]) == 3.0
    assert fixed.tuned_arc_weight == 7.0


def test_it_adapts_by_the_characters_of_its_tagger() -> None:
    tagger = GuidedJointTagger(
        CharacterJointTagger(sentences="doc", learning=Learning(), statistics="accessor_variety"),
        WordJointTagger(sentences="doc"),
        beam=8,
    )
    model = GuidedJointParser(tagger, words=WordJointParser(**SMALL))
    model.epochs = 2
    model.fit(TREES)
    assert model.can_adapt
    adapted = model.adapt(TEXTS)
    before, after = model.tagger.characters, adapted.tagger.characters
    assert after.to_bytes() != before.to_bytes()
    assert adapted.parser.to_bytes() == model.parser.to_bytes()
    assert adapted.words.to_bytes() == model.words.to_bytes()
    assert adapted.predict_trees(TEXTS[0]) is not None


@pytest.mark.parametrize("text", ["", " \n", "。", "龘" * 300, "a b\tc"])
def test_any_text_gets_its_characters_back(fitted: WordJointParser, guides: Any, text: str) -> None:
    tree = guided_by(guides, fitted).predict_trees(text)
    assert "".join(tree.words if tree else ()) == "".join(text.split())


def test_several_sentences_are_guided_one_by_one(guides: Any) -> None:
    """Each gets a root, and its arcs from its own analyses."""
    two = [joined(*TREES[i : i + 2]) for i in range(0, len(TREES), 2)]
    assert [single_trees(text) for text in two[:3]] == [[*TREES[i : i + 2]] for i in range(0, 6, 2)]
    words = WordJointParser(epochs=8, many_roots=True, **SMALL).fit([*two, *TREES])
    guided = guided_by(guides, words)
    tree = guided.predict_trees("".join(two[0].words))
    assert tree is not None
    assert tree.heads.count(-1) == 2
    analyses = AnalysisParser(*guides[:2], guides[2:], 4)
    guide = ArcGuide(analyses, AnalysisWeights(), words.arc_labels, 1.0, by_sentence=True)
    text = "我们学习语言。" * 2
    arcs, scores = guide(text)
    first, of_first = guide(text[:7])
    assert {tuple(arc) for arc in arcs.tolist()} >= {tuple(arc) for arc in first.tolist()}
    assert scores.sum() == pytest.approx(2 * of_first.sum())
