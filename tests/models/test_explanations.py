"""What explanations name, and where it comes from; that they add up is in `tests/contract`."""

from __future__ import annotations

import math
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from labeled import named_sentences, tokens_of
from made_up_corpora import sentences

from spacy_structreg.features.gazetteers import Gazetteers
from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.models.classification import TextClassifier
from spacy_structreg.models.explanation import Decision, Difference, Explanation
from spacy_structreg.models.guided import GuidedSegmenter
from spacy_structreg.models.labeling.labelers import FeatureLabeler, SequenceLabeler
from spacy_structreg.models.segmentation import CharacterSegmenter, WordSegmenter
from spacy_structreg.models.tagging import Tagger
from spacy_structreg.tasks.segmentation.user_words import UserWords

PLAIN = Learning()
TRAIN = sentences(60, seed=21)
TEXT = "他们 去上海大学。老人看图书，工人说话。"
TAGGED = [
    [("大学", "N"), ("在", "P"), ("北京", "N")],
    [("学生", "N"), ("在", "P"), ("大学", "N"), ("生活", "V")],
    [("北京", "N"), ("大学生", "N"), ("活", "V")],
    [("大", "V"), ("学生", "N"), ("生", "V"), ("在", "P"), ("京", "N")],
] * 3


def check(explanation: Explanation, score: float) -> None:
    """Hold an explanation to its score, and decisions to their margins."""
    parts = [each.score for one in explanation.decisions for each in one.contributions]
    assert sum(parts) == pytest.approx(explanation.score, abs=1e-9)
    assert explanation.score == pytest.approx(score, abs=1e-9)
    for one in explanation.decisions:
        if one.runner_up is not None:
            differences = sum(each.score for each in one.differences)
            assert differences == pytest.approx(one.margin, abs=1e-9)


# Words of texts -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def characters() -> CharacterSegmenter:
    return CharacterSegmenter(epochs=2, learning=PLAIN, templates="zhang2014 | c-2c-1c0c+1").fit(
        TRAIN
    )


@pytest.fixture(scope="module")
def words() -> WordSegmenter:
    return WordSegmenter(epochs=2, learning=PLAIN, beam=3).fit(TRAIN)


@pytest.fixture(scope="module")
def listed() -> UserWords:
    """Words with a bonus, one of which is so high that the word is found."""
    listed = UserWords()
    listed.add("海大", bonus=30.0)
    listed.add("他们", bonus=1.5)
    return listed


def test_the_words_of_characters(characters: CharacterSegmenter) -> None:
    found = characters.explain(TEXT)
    check(found, characters.nbest(TEXT, 1)[0][0])
    # What the lead of a boundary is, is known by another way.
    text = TEXT.replace(" ", "")
    margins = [
        margin
        for sentence in next(characters.predict_margins([text]))
        for margin in [math.inf, *np.abs(sentence[1])]
    ]
    together = characters.explain(text)
    assert [one.margin for one in together.decisions] == pytest.approx(margins)
    # The place of the space is no choice.
    assert together.decisions[2].runner_up is not None
    assert found.decisions[2].runner_up is None


def test_six_labels_have_their_names() -> None:
    model = CharacterSegmenter(epochs=2, learning=PLAIN, scheme="six").fit(TRAIN)
    found = model.explain("他们去图书馆吃饭。图书馆")
    check(found, model.nbest("他们去图书馆吃饭。图书馆", 1)[0][0])
    pairs = {
        each.value
        for one in found.decisions
        for each in one.contributions
        if each.template == "t-1t0"
    }
    assert {value for value in pairs if "B2" in value} <= {"B B2", "B2 E", "B2 B3"}


@pytest.mark.parametrize("kind", ["characters", "words"])
def test_bonuses_stand_alone(kind: str, listed: UserWords, request: pytest.FixtureRequest) -> None:
    model = request.getfixturevalue(kind)
    score, found = model.nbest(TEXT, 1, listed)[0]
    assert "海大" in found
    explanation = model.explain(TEXT, listed)
    check(explanation, score)
    bonuses = {
        each.value: each.score
        for one in explanation.decisions
        for each in one.contributions
        if each.source == "user words"
    }
    assert bonuses == {
        word: bonus for word, bonus in [("海大", 30.0), ("他们", 1.5)] if word in found
    }


@pytest.mark.parametrize("adds_scores", [True, False])
def test_guides_stand_alone(
    characters: CharacterSegmenter, words: WordSegmenter, listed: UserWords, adds_scores: bool
) -> None:
    model = GuidedSegmenter(characters, words, weight=0.5, adds_scores=adds_scores)
    for user_words in (None, listed):
        explanation = model.explain(TEXT, user_words)
        check(explanation, model.nbest(TEXT, 1, user_words)[0][0])
        guided = [
            each
            for one in explanation.decisions
            for each in one.contributions
            if each.source == "guide"
        ]
        assert bool(guided) == adds_scores


def test_knowledge_sources_are_named(tmp_path: Path) -> None:
    lexicon = tmp_path / "words.txt"
    lexicon.write_text("上海 30 ns\n大学 20 n\n图书馆 5 n\n", encoding="utf-8")
    common: dict[str, Any] = {"epochs": 2, "learning": PLAIN, "lexicon": str(lexicon)}
    text = "他们 去上海大学看 https://example.com/a 。"
    for model in (
        CharacterSegmenter(statistics="all", typed_runs=True, **common),
        WordSegmenter(typed_runs=True, **common),
    ):
        model.fit([*TRAIN, ["看", "https://example.com/b", "。"], ["https://a.cn/c", "好"]] * 2)
        found = model.explain(text)
        check(found, model.nbest(text, 1)[0][0])
        sources = {each.source for one in found.decisions for each in one.contributions}
        assert {"corpus", "word list", "typed run"} <= sources
        assert ("statistics" in sources) == isinstance(model, CharacterSegmenter)
        runs = {
            each.value
            for one in found.decisions
            for each in one.contributions
            if each.source == "typed run"
        }
        assert any("<url" in value for value in runs)


def test_nothing_to_decide(characters: CharacterSegmenter) -> None:
    for text in ("", " \n"):
        assert characters.explain(text).decisions == ()
    with pytest.raises(ValueError, match="no decision 1; nothing was decided"):
        characters.explain("").decision(1)


# Tags, trees, labels and categories ---------------------------------------------------------------


def test_tags() -> None:
    tagger = Tagger(epochs=5, learning=PLAIN, dictionary=None).fit(TAGGED)
    sentence = ["大学生", " ", "在", "北京", "活"]
    found = tagger.explain(sentence)
    check(found, tagger.nbest(sentence, 1)[0][0])
    assert [one.place for one in found.decisions] == ["大学生", "在", "北京", "活"]
    values = {(each.template, each.value) for each in found.decisions[0].contributions}
    assert {value for template, value in values if template == "tag: w0"} <= {"大学生"}
    # Words that are not of one character have no part in it.
    tagger = Tagger(epochs=5, learning=PLAIN, templates="tag: one(w0) | t-1").fit(TAGGED)
    found = tagger.explain(sentence)
    check(found, tagger.nbest(sentence, 1)[0][0])
    values = {
        one.place: {each.value for each in one.contributions if each.template == "tag: one(w0)"}
        for one in found.decisions
    }
    assert values["大学生"] == values["北京"] == set()
    assert values["在"] == {"在"}


def test_labels() -> None:
    train = named_sentences(40, seed=1)
    templates = (
        "label: w0 | w-1 | w+1 | tag(w-1) tag(w0) | prefix2(w0) | words(+1..+2) | ngrams(w0)\n"
        "label: gazetteers(w0) | shape(w0) words(-2..-1)\n edge: \n edge: w0 | ngrams(w-1)"
    )
    model = SequenceLabeler(
        templates=templates,
        columns=("w", "tag"),
        epochs=3,
        gazetteers=Gazetteers({"name": [train[0][0][0]]}),
    ).fit(train)
    (tokens,) = tokens_of(named_sentences(1, seed=5))
    found = model.explain(tokens)
    check(found, model.nbest(tokens, 1)[0][0])
    assert [one.place for one in found.decisions] == [token[0] for token in tokens]


def test_labels_of_features() -> None:
    items = [[({"speed": 0.5, "on": True}, "run"), ({"speed": -1.5}, "sit")]] * 3
    model = FeatureLabeler(edges=["speed"], epochs=3).fit(items)
    given = [{"speed": 0.25, "on": True}, {"speed": -2.0}, {"other": 1.0}]
    found = model.explain(given)
    check(found, model.nbest(given, 1)[0][0])
    assert {each.number for one in found.decisions for each in one.contributions} >= {0.25, -2.0}


def test_categories() -> None:
    texts = [(["boat", "salt"], "sea"), (["ice", "cold"], "snow"), (["bus"], "town")] * 2
    model = TextClassifier(epochs=5, ngrams=2, values="counts").fit(texts)
    (decision,) = model.explain(["boat", "boat", "ice"]).decisions
    assert decision.chosen == model.predict(["boat", "boat", "ice"])
    best = max(decision.contributions, key=lambda each: each.score)
    assert (best.template, best.value, best.number) == ("w1", "boat", 2.0)
    marginals = model.predict_marginals(["boat", "boat", "ice"])
    assert decision.runner_up is not None
    # The lead of a category is the logarithm of how much more probable it is.
    assert decision.margin == pytest.approx(
        math.log(marginals[decision.chosen] / marginals[decision.runner_up]), abs=1e-6
    )


# By hand ------------------------------------------------------------------------------------------


def test_a_model_of_two_features_by_hand() -> None:
    """Chain: weights are read from the model, and all paths gone through."""
    model = CharacterSegmenter(
        templates="c0 | t-1t0", types=None, epochs=2, learning=PLAIN, sentences="doc"
    ).fit([["大学", "生活"], ["学生", "活", "。"]])
    spec: Any = model._fitted_spec()
    characters, pairs = (
        table if spec.features.tag_bigram == 1 else other
        for table, other in zip(
            model._decoders().tables, reversed(model._decoders().tables), strict=True
        )
    )
    labels = spec.labels
    weights = pairs.weights(0).reshape(4, 4)
    text = "大学活"
    rows = [characters.weights(ord(each)) for each in text]
    legal = spec.scheme.graph.legal
    scores = {
        path: sum(rows[i][y] for i, y in enumerate(path))
        + sum(weights[x, y] for x, y in pairwise(path))
        for path in product(range(4), repeat=3)
        if labels[path[0]] in "BS"
        and labels[path[-1]] in "ES"
        and all(legal[x][y] for x, y in pairwise(path))
    }
    best = max(scores, key=lambda path: scores[path])
    found = model.explain(text)
    assert found.score == pytest.approx(scores[best])
    begins = [label in "BS" for label in labels]
    for i, decision in enumerate(found.decisions):
        expected = {("c0", text[i]): rows[i][best[i]]}
        if i:
            pair = f"{labels[best[i - 1]]} {labels[best[i]]}"
            expected["t-1t0", pair] = weights[best[i - 1], best[i]]
        listed = {(each.template, each.value): each.score for each in decision.contributions}
        assert listed == pytest.approx({key: value for key, value in expected.items() if value})
        others = [score for path, score in scores.items() if begins[path[i]] != begins[best[i]]]
        if others:
            assert decision.runner_up_score == pytest.approx(max(others))
        else:
            assert decision.runner_up is None


def test_what_would_have_to_change_by_hand() -> None:
    def difference(name: str, chosen: float, runner_up: float) -> Difference:
        return Difference("c0", name, "corpus", "", chosen, runner_up)

    differences = (
        difference("a", 3.0, 0.0),
        difference("b", 0.0, 2.0),
        difference("c", 1.0, -0.5),
        difference("d", 1.0, 0.0),
    )
    decision = Decision("here", "yes", 7.0, (), "no", 3.5, differences)
    assert decision.margin == 3.5
    assert [each.value for each in decision.to_change] == ["a", "c"]
    assert Decision("here", "yes", 7.0, (), "no", 7.5, differences).to_change == ()
    assert Decision("here", "yes", 7.0, ()).to_change == ()
