"""Words guided by characters: sums of scores, look-ahead and window by brute force, and files."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from itertools import pairwise, product
from random import Random
from typing import Any

import numpy as np
import pytest
from crafted import Change, tampered
from example_counts import quick_examples
from hypothesis import given
from hypothesis import strategies as st
from looped import looped
from made_up_corpora import arrays_of, f_score, sentences, text_of

from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.learn.model_file import model_bytes, parse_model
from spacy_structreg.models.guided import GuidedJointTagger, GuidedSegmenter
from spacy_structreg.models.joint.joint_taggers import CharacterJointTagger, WordJointTagger
from spacy_structreg.models.segmentation import CharacterSegmenter, WordSegmenter
from spacy_structreg.tasks.segmentation.guide import ChainGuide

PLAIN = Learning()
TRAIN = sentences(60, seed=21)
DEV = sentences(25, seed=22)
TEXTS = [text_of(words) for words in DEV]
LABELS = "BEMS"
WEIGHTS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
SHORT = st.text("大学生会人们上海家里。", min_size=1, max_size=6)

TAGGED = [
    [("大学", "N"), ("在", "P"), ("北京", "N")],
    [("学生", "N"), ("在", "P"), ("大学", "N"), ("生活", "V")],
    [("北京", "N"), ("大学生", "N"), ("活", "V")],
    [("大", "V"), ("学生", "N"), ("生", "V"), ("在", "P"), ("京", "N")],
] * 3


def parts(**chosen: Any) -> tuple[CharacterSegmenter, WordSegmenter]:
    common = {"epochs": 2, "learning": PLAIN, **chosen}
    return CharacterSegmenter(**common), WordSegmenter(beam=3, **common)


def made(**chosen: Any) -> GuidedSegmenter:
    """An untrained one with small parts."""
    return GuidedSegmenter(*parts(), **chosen)


@pytest.fixture(scope="module")
def characters() -> CharacterSegmenter:
    return CharacterSegmenter(epochs=2, learning=PLAIN, sentences="doc").fit(TRAIN)


@pytest.fixture(scope="module")
def words() -> WordSegmenter:
    """The beam holds all segmentations of seven characters."""
    chosen = {"beam": 64, "merge": False, "epochs": 2, "sentences": "doc", "learning": PLAIN}
    return WordSegmenter(**chosen).fit(TRAIN)


@pytest.fixture(scope="module")
def fitted() -> GuidedSegmenter:
    """A trained segmenter; tests that change weights take their own."""
    return made(weight=0.5).fit(TRAIN)


def scores_of(model: Any, text: str) -> dict[tuple[Any, ...], float]:
    """The scores of all analyses of a short text."""
    return {tuple(words): score for score, words in model.nbest(text, 64)}


def labels_of(words: Sequence[str]) -> str:
    return "".join("S" if len(word) == 1 else "B" + "M" * (len(word) - 2) + "E" for word in words)


# Scores -------------------------------------------------------------------------------------------


@looped("beam", [1, 3, 64])
def test_without_weight_it_is_the_model_of_words(
    beam: int, characters: CharacterSegmenter, words: WordSegmenter
) -> None:
    chosen = {"weight": 0.0, "looks_ahead": False, "window": None, "beam": beam}
    guided = GuidedSegmenter(characters, words, **chosen)
    change = setting("beam", beam)
    alone = WordSegmenter.from_bytes(tampered(words.to_bytes(), change))
    for text in TEXTS:
        assert guided.predict(text) == alone.predict(text)
        assert guided.nbest(text, 3) == alone.nbest(text, 3)


@looped("looks_ahead", [False, True])
@looped("weight", [0.0, 0.5, 3.0])
def test_scores_are_those_of_words_and_weighted_characters(
    weight: float, looks_ahead: bool, characters: CharacterSegmenter, words: WordSegmenter
) -> None:
    guided = GuidedSegmenter(
        characters,
        words,
        weight=weight,
        looks_ahead=looks_ahead,
        window=None,
        beam=64,
        beam_margin=None,
    )

    @given(SHORT)
    @quick_examples(15)
    def check(text: str) -> None:
        of_words, of_characters = scores_of(words, text), scores_of(characters, text)
        expected = {key: of_words[key] + weight * of_characters[key] for key in of_words}
        assert len(expected) == 2 ** (len(text) - 1)
        assert scores_of(guided, text) == pytest.approx(expected, abs=1e-6)
        best = expected[tuple(guided.predict(text))]
        assert best == pytest.approx(max(expected.values()), abs=1e-6)

    check()


def test_scores_that_are_not_added(characters: CharacterSegmenter, words: WordSegmenter) -> None:
    """The characters only rank and shut out."""
    guided = GuidedSegmenter(
        characters, words, weight=2.0, adds_scores=False, window=None, beam=64, beam_margin=None
    )
    for text in TEXTS:
        short = text[:6]
        assert scores_of(guided, short) == pytest.approx(scores_of(words, short), abs=1e-6)


@looped("beam", [1, 2, 4])
@looped("window", [None, 0.0, 2.0])
def test_ranks_are_no_scores(
    beam: int, window: float | None, characters: CharacterSegmenter, words: WordSegmenter
) -> None:
    """However narrow the search, what is found has the score that it has."""
    guided = GuidedSegmenter(characters, words, weight=1.5, beam=beam, window=window)
    for text in TEXTS:
        short = text[:6]
        of_words, of_characters = scores_of(words, short), scores_of(characters, short)
        for score, found in guided.nbest(short, 2):
            key = tuple(found)
            assert score == pytest.approx(of_words[key] + 1.5 * of_characters[key], abs=1e-6)


def test_look_ahead_alone_finds_the_best_of_characters(
    characters: CharacterSegmenter, words: WordSegmenter
) -> None:
    """With a weight that leaves words no say, one state is enough: its rank is the best score."""
    guided = GuidedSegmenter(characters, words, weight=1e6, window=None, beam=1)
    for text in TEXTS:
        found = guided.predict(text)
        best = characters.nbest(text, 2)
        if len(best) < 2 or best[0][0] - best[1][0] > 1e-3:
            assert found == characters.predict(text)


# The window ---------------------------------------------------------------------------------------


@looped("beam", [1, 4])
def test_an_infinite_window_is_none(
    beam: int, characters: CharacterSegmenter, words: WordSegmenter
) -> None:
    wide = GuidedSegmenter(characters, words, weight=0.5, window=1e12, beam=beam)
    none = GuidedSegmenter(characters, words, weight=0.5, window=None, beam=beam)
    for text in TEXTS:
        assert wide.nbest(text, 3) == none.nbest(text, 3)


@looped("window", [0.0, 1.0, 5.0])
def test_labels_beyond_the_window_are_shut_out(
    window: float, characters: CharacterSegmenter, words: WordSegmenter
) -> None:
    chosen = {"weight": 0.0, "looks_ahead": False, "window": window, "beam": 64}
    guided = GuidedSegmenter(characters, words, **chosen)
    narrowed = 0
    for text in (text[:6] for text in TEXTS):
        of_words, of_characters = scores_of(words, text), scores_of(characters, text)
        least = max(of_characters.values()) - window - 1e-6
        within = {
            (i, label)
            for key, score in of_characters.items()
            if score >= least
            for i, label in enumerate(labels_of(key))
        }
        allowed = [key for key in of_words if set(enumerate(labels_of(key))) <= within]
        narrowed += len(allowed) < len(of_words)
        found = scores_of(guided, text)
        assert set(found) == set(allowed)
        assert found == pytest.approx({key: of_words[key] for key in allowed}, abs=1e-6)
    assert narrowed


# Tables -------------------------------------------------------------------------------------------


def suffixes(first: str, n: int) -> Iterator[str]:
    """All legal labels of the last n characters of a sentence, by their first label."""
    follows = {"B": "ME", "M": "ME", "E": "BS", "S": "BS"}
    for rest in product(LABELS, repeat=n - 1):
        path = first + "".join(rest)
        if path[-1] in "ES" and all(b in follows[a] for a, b in pairwise(path)):
            yield path


@given(text=SHORT, window=st.sampled_from([0.0, 0.5, 3.0, 20.0]))
@quick_examples(15)
def test_tables_equal_brute_force(characters: CharacterSegmenter, text: str, window: float) -> None:
    spec: Any = characters._fitted_spec()
    tables = characters._decoders().tables
    guide = spec.new_guide(tables, (), window=window)
    transitions = tables[spec.features.tag_bigram].weights(0).reshape(4, 4)
    emissions, heuristic, allowed = guide.tables(text)
    n = len(text)
    assert emissions.shape == heuristic.shape == allowed.shape == (n, 4)

    def score(path: str, begin: int) -> float:
        numbers = [LABELS.index(label) for label in path]
        seen = sum(emissions[begin + i, y] for i, y in enumerate(numbers))
        return float(seen + sum(transitions[a, b] for a, b in pairwise(numbers)))

    analyses = scores_of(characters, text)
    assert {key: score(labels_of(key), 0) for key in analyses} == pytest.approx(analyses, abs=1e-6)
    best = max(analyses.values())
    for i in range(n):
        for y, label in enumerate(LABELS):
            ahead = [score(path, i) for path in suffixes(label, n - i)]
            assert heuristic[i, y] == pytest.approx(max(ahead, default=-np.inf), abs=1e-6)
            through = [s for key, s in analyses.items() if labels_of(key)[i] == label]
            margin = best - window - max(through, default=-np.inf)
            if abs(margin) > 1e-6 or window == 0.0:
                assert allowed[i, y] == (margin <= 1e-6)


def test_tables_of_nothing(characters: CharacterSegmenter) -> None:
    spec: Any = characters._fitted_spec()
    guide = spec.new_guide(characters._decoders().tables)
    assert [table.shape for table in guide.tables("")] == [(0, 4)] * 3
    # Without a window nothing is shut out.
    assert guide.tables("大学")[2].all()
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(guide)


@looped(
    ("chosen", "complaint"),
    [
        ({"weight": -1.0}, "the weight of a guide must be finite and at least 0, got -1"),
        ({"weight": np.inf}, "the weight of a guide must be finite"),
        ({"weight": np.nan}, "the weight of a guide must be finite"),
        ({"window": -1.0}, "the window of a guide must be at least 0, got -1"),
        ({"window": np.nan}, "the window of a guide must be at least 0"),
        ({"tags": ("N",)}, "the scheme 'bmes', and no tags"),
        ({"labels": [[0, 1, 2, 3]] * 2}, "tags of the guide share a label"),
        ({"labels": [[0, 1, 2, 2]]}, "tags of the guide share a label"),
        ({"labels": [[0, 1, 2, 4]]}, "a label of the guide is out of range"),
        ({"labels": [[0, 1, 2, -1]]}, "a label of the guide is out of range"),
        ({"labels": [0, 1, 2, 3]}, "labels must have the shape"),
    ],
)
def test_guides_that_cannot_be(
    chosen: dict[str, Any], complaint: str, characters: CharacterSegmenter
) -> None:
    spec: Any = characters._fitted_spec()
    tables = characters._decoders().tables
    decoder = spec.new_guide(tables).decoder
    with pytest.raises(ValueError, match=complaint):
        ChainGuide(decoder, **chosen) if "labels" in chosen else spec.new_guide(tables, **chosen)


# Settings and training ----------------------------------------------------------------------------


def test_parts_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="the same setting sentences"):
        GuidedSegmenter(CharacterSegmenter(sentences="doc"), WordSegmenter())
    six = CharacterSegmenter(epochs=1, scheme="six")
    guided = GuidedSegmenter(six, parts()[1]).fit(TRAIN[:5])
    with pytest.raises(ValueError, match="scheme 'bmes'"):
        guided.predict("大学")


def test_it_is_what_its_parts_are_alone(fitted: GuidedSegmenter) -> None:
    assert made().fit(TRAIN).is_trained
    of_characters, of_words = parts()
    assert arrays_of(of_characters.fit(TRAIN)) == arrays_of(fitted.characters)
    assert arrays_of(of_words.fit(TRAIN)) == arrays_of(fitted.words)  # type: ignore[arg-type]
    assert not made().is_trained
    with pytest.raises(ValueError, match="not been trained"):
        made().predict("大学")
    assert f_score(fitted, TRAIN) > 0.9  # type: ignore[arg-type]
    found = fitted.evaluate(DEV).as_dict()["seg_f"]
    assert found == pytest.approx(f_score(fitted, DEV))  # type: ignore[arg-type]


def test_the_best_weight_is_tuned() -> None:
    guided = made().fit(TRAIN, DEV)
    figures = {}
    for weight in WEIGHTS:
        fixed = GuidedSegmenter(guided.characters, guided.words, weight=weight)
        figures[weight] = fixed.evaluate(DEV).as_dict()["seg_f"]
    best = [weight for weight in WEIGHTS if figures[weight] == max(figures.values())]
    assert guided.tuned_weight == best[len(best) // 2]
    assert guided.weight is None
    assert guided.evaluate(DEV).as_dict()["seg_f"] == max(figures.values())
    # On other sentences it may be another one; these have no word that more weight would change.
    chosen = guided.tune([["大"]])
    assert chosen == WEIGHTS[len(WEIGHTS) // 2]


def test_a_fixed_weight_is_not_tuned() -> None:
    guided = made(weight=0.125).fit(TRAIN[:20], DEV)
    assert guided.tune(DEV) == guided.tuned_weight == 0.125
    with pytest.raises(ValueError, match="no word"):
        guided.tune([])


def test_a_changed_weight_is_decoded_with(fitted: GuidedSegmenter) -> None:
    guided = pickle.loads(pickle.dumps(fitted))
    before = guided.nbest(TEXTS[0], 1)[0][0]
    guided.tuned_weight = 7.0
    assert guided.nbest(TEXTS[0], 1)[0][0] != before
    guided.tuned_weight = fitted.tuned_weight
    assert guided.nbest(TEXTS[0], 1)[0][0] == before


# Files --------------------------------------------------------------------------------------------


def small(state: Any = "trained") -> bytes:
    learning = {"learning": PLAIN, "types": None, "epochs": 1}
    of_characters = CharacterSegmenter(templates="c0 | t-1t0", **learning)
    of_words = WordSegmenter(templates="separate: w-1 | append: c-1 c0", beam=2, **learning)
    guided = GuidedSegmenter(of_characters, of_words, weight=0.5)
    guided.partial_fit([["大学", "生活"], ["学生", "活", "。"]])
    return guided.to_bytes(state=state)


def refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"^some\.srm: "):
        GuidedSegmenter.from_bytes(data, name="some.srm")


def setting(name: str, value: Any) -> Change:
    return lambda header, arrays: header["settings"].__setitem__(name, value)


def test_states_that_differ() -> None:
    """One part trained, the other one running: a guided model is saved as a whole."""
    headers, arrays = {}, {}
    for state in ("trained", "training"):
        headers[state], arrays[state] = parse_model(small(state))
    for whole, of_characters, of_words in product(headers, repeat=3):
        states = {"characters": of_characters, "words": of_words}
        header = {
            **headers[whole],
            "models": {name: headers[state]["models"][name] for name, state in states.items()},
        }
        mixed = {
            key: array
            for name, state in states.items()
            for key, array in arrays[state].items()
            if key.startswith(f"{name}.")
        }
        data = model_bytes(header, mixed)
        if whole == of_characters == of_words:
            assert GuidedSegmenter.from_bytes(data).to_bytes(state=whole) == small(whole)  # type: ignore[arg-type]
        else:
            refused(data)


# With tags ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tag_parts() -> tuple[CharacterJointTagger, WordJointTagger]:
    """Nothing is pruned, and the beam holds all analyses of three characters."""
    common = {"epochs": 2, "sentences": "doc", "learning": PLAIN}
    free = {"lengths": False, "dictionary": False, "least_begun": None}
    of_words = WordJointTagger(beam=64, merge=False, **free, **common)
    return CharacterJointTagger(prune=None, **common).fit(TAGGED), of_words.fit(TAGGED)


@looped("weight", [0.0, 0.5])
@looped("looks_ahead", [False, True])
@looped("by_words", [False, True])
def test_tagged_scores_are_sums(
    weight: float, looks_ahead: bool, by_words: bool, tag_parts: Any
) -> None:
    of_characters, of_words = tag_parts
    header, arrays = of_words.contents()
    header["settings"] |= {"by_words": by_words}
    of_words = WordJointTagger.from_contents("of words", header, arrays)
    guided = GuidedJointTagger(
        of_characters,
        of_words,
        weight=weight,
        looks_ahead=looks_ahead,
        window=None,
        beam=64,
        beam_margin=None,
    )
    assert guided.tags == ("N", "P", "V")
    for text in ("大", "在京", "大学生", "活在大", "没有过"):
        first, second = scores_of(of_words, text), scores_of(of_characters, text)
        assert len(first) == 3 * 4 ** (len(text) - 1)
        expected = {key: score + weight * second[key] for key, score in first.items()}
        assert scores_of(guided, text) == pytest.approx(expected, abs=1e-6)
        best = expected[tuple(guided.predict_tagged(text))]
        assert best == pytest.approx(max(expected.values()), abs=1e-6)


def test_tagged_windows(tag_parts: Any) -> None:
    of_characters, of_words = tag_parts
    chosen = {"weight": 0.0, "looks_ahead": False, "window": 4.0, "beam": 64}
    guided = GuidedJointTagger(*tag_parts, **chosen)
    for text in ("在京", "大学生", "活在大", "没有过"):
        first, second = scores_of(of_words, text), scores_of(of_characters, text)

        def labels(key: Any) -> set[tuple[int, str]]:
            places = labels_of([word for word, _ in key])
            tags = [tag for word, tag in key for _ in word]
            return {
                (i, place + tag) for i, (place, tag) in enumerate(zip(places, tags, strict=True))
            }

        least = max(second.values()) - 4.0 - 1e-6
        within = set().union(*(labels(key) for key, score in second.items() if score >= least))
        assert set(scores_of(guided, text)) == {key for key in first if labels(key) <= within}


def test_tags_must_be_the_same() -> None:
    """Two taggers of other corpora do not decode together."""
    common = {"epochs": 1, "learning": PLAIN}
    of_characters = CharacterJointTagger(**common).fit([[("大学", "N"), ("在", "P")]])
    of_words = WordJointTagger(**common).fit([[("大学", "N"), ("在", "V")]])
    with pytest.raises(ValueError, match="these tags"):
        GuidedJointTagger(of_characters, of_words).predict("大学")


# Where there is no choice -------------------------------------------------------------------------


def ambiguous_sentences(n: int, seed: int) -> list[list[tuple[str, str]]]:
    """Tagged sentences of few characters, whose words overlap and have up to three tags."""
    choose = Random(seed)
    lexicon = Random(4)
    words = ["".join(lexicon.choices("大学生会人们上海家里", k=1 + i % 3)) for i in range(40)]
    tags = [lexicon.sample("NVAP", 1 + i % 3) for i in range(40)]
    numbers = [choose.choices(range(40), k=choose.randint(1, 14)) for _ in range(n)]
    return [[(words[i], choose.choice(tags[i])) for i in sentence] for sentence in numbers]


@pytest.fixture(scope="module")
def ambiguous_parts() -> tuple[CharacterJointTagger, WordJointTagger]:
    common = {"epochs": 3, "sentences": "doc", "learning": PLAIN}
    gold = ambiguous_sentences(150, 1)
    return CharacterJointTagger(**common).fit(gold), WordJointTagger(beam=4, **common).fit(gold)


@looped("beam_margin", [None, 4.0])
@looped("window", [None, 0.0, 1.5, 6.0])
@looped(
    ("beam", "looks_ahead", "adds_scores"),
    [(1, True, True), (2, False, True), (4, True, True), (4, True, False), (65, True, True)],
)
def test_what_is_left_unscored_changes_no_analysis(  # noqa: PLR0917 - all of them matter
    beam: int,
    looks_ahead: bool,
    adds_scores: bool,
    window: float | None,
    beam_margin: float | None,
    ambiguous_parts: Any,
) -> None:
    """A list of one analysis comes with its score, so that all of it is scored."""
    guided = GuidedJointTagger(
        *ambiguous_parts,
        weight=0.5,
        beam=beam,
        looks_ahead=looks_ahead,
        adds_scores=adds_scores,
        window=window,
        beam_margin=beam_margin,
    )
    for sentence in ambiguous_sentences(40, 2):
        text = "".join(word for word, _ in sentence)
        for each in (text, f"{text[:3]} {text[3:]}"):
            ((_, analysis),) = guided.nbest(each, 1)
            assert guided.predict_tagged(each) == analysis


def test_what_is_left_unscored_without_a_guide(ambiguous_parts: Any) -> None:
    for sentence in ambiguous_sentences(40, 3):
        text = "".join(word for word, _ in sentence)
        ((_, analysis),) = ambiguous_parts[1].nbest(text, 1)
        assert ambiguous_parts[1].predict_tagged(text) == analysis
