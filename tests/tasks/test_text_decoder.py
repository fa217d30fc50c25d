"""Listed words in texts: always tokens, the best choice where they overlap, and their tags."""

from __future__ import annotations

from functools import cache
from itertools import pairwise, product
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from spacy_structreg.estimators.character_joint_tagger import CharacterJointTagger
from spacy_structreg.estimators.character_segmenter import CharacterSegmenter
from spacy_structreg.estimators.guided import GuidedSegmenter
from spacy_structreg.estimators.word_joint_tagger import WordJointTagger
from spacy_structreg.estimators.word_segmenter import WordSegmenter
from spacy_structreg.tasks.user_words import Cluster, CompiledWords, UserWords

TAGGED = [
    [("大学", "NN"), ("在", "P"), ("北京", "NR"), ("。", "PU")],
    [("学生", "NN"), ("在", "P"), ("大学", "NN"), ("生活", "VV"), ("，", "PU"), ("活", "VV")],
    [("北京", "NR"), ("大学生", "NN"), ("ab", "NN"), ("1", "CD")],
    [("大", "JJ"), ("学生", "NN"), ("生", "VV"), ("在", "P"), ("京", "NR")],
]
SEGMENTED = [[word for word, _ in sentence] for sentence in TAGGED]
TAGS = ["CD", "JJ", "NN", "NR", "P", "PU", "VV"]


@cache
def model(kind: str) -> Any:  # noqa: PLR0911
    """A small trained model; the beam holds all segmentations of seven characters."""
    match kind:
        case "characters":
            return CharacterSegmenter(epochs=2, sentences="doc").fit(SEGMENTED)
        case "words":
            return WordSegmenter(epochs=2, sentences="doc", beam=64, merge=False).fit(SEGMENTED)
        case "narrow":
            return WordSegmenter(epochs=2, beam=1, max_word_length=2).fit(SEGMENTED)
        case "by words":
            return WordSegmenter(epochs=2, beam=2, by_words=True).fit(SEGMENTED)
        case "cut":
            return CharacterSegmenter(epochs=2).fit(SEGMENTED)
        case "guided":
            parts = (CharacterSegmenter(epochs=2), WordSegmenter(epochs=2, beam=4))
            return GuidedSegmenter(*parts, weight=1.0, window=1.0, beam=2).fit(SEGMENTED)
        case "tagged characters":
            return CharacterJointTagger(epochs=2).fit(TAGGED)
        case "tagged words":
            joint = WordJointTagger(epochs=2, beam=4, closed_tags=["P", "PU"], least_begun=1)
            return joint.fit(TAGGED)
    raise AssertionError(kind)


KINDS = ["characters", "words", "narrow", "by words", "cut", "guided"]
TAGGERS = ["tagged characters", "tagged words"]

PIECES = [
    *"大学生在北京ab1，。",
    " ",
    "\n",
    "\u3000",
    "\x1c",
    "\u0301",
    "\u200d",
    "\U0001f1e8",
    "！",
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


@st.composite
def listed(draw: st.DrawFn, texts: st.SearchStrategy[str] = TEXTS) -> tuple[str, list[str]]:
    """A text and listed words, most of which are in it."""
    text = draw(texts)
    words = draw(st.lists(st.text("大学生ab", min_size=1, max_size=3), max_size=1))
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(len(text), start + 5)))
        words.append(text[start:end].strip())
    return text, [word for word in words if word]


def spans_in(text: str, words: list[str]) -> list[tuple[int, int]]:
    """Where words stand that follow one another, with white space between them."""
    spans = []
    position = 0
    for word in words:
        while not text.startswith(word, position):
            assert text[position].isspace()
            position += 1
        spans.append((position, position + len(word)))
        position += len(word)
    assert not text[position:].strip()
    return spans


def settled(spans: set[tuple[int, int]], cluster: Cluster) -> bool:
    """Whether the words of one of the alternatives of a cluster are all tokens."""
    return any(
        all((word.start, word.end) in spans for word in alternative)
        for alternative in cluster.alternatives
    )


# Tokens -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [*KINDS, *TAGGERS])
@given(case=listed())
@settings(max_examples=60)
@example(case=("大 学生", ["大 学"]))
@example(case=("New York在", ["New York"]))
@example(case=("大学\u0301生", ["大学"]))
@example(case=("大\u0301学", ["\u0301学"]))
@example(case=("学。大", ["学。大"]))
@example(case=("大学生活在大学", ["大学", "学生", "生活"]))
@example(case=("\U0001f1e8\U0001f1e8", ["\U0001f1e8"]))
def test_listed_words_are_tokens_and_all_is_covered(kind: str, case: tuple[str, list[str]]) -> None:
    text, words = case
    compiled = UserWords(words).snapshot()
    predicted = model(kind).predict(text, user_words=compiled)
    # Nothing is lost but white space between words; within words it is as in the text.
    spans = spans_in(text, predicted)
    assert model(kind).predict_spans(text, user_words=compiled).tolist() == list(map(list, spans))
    clusters = compiled.clusters(text)
    assert all(settled(set(spans), cluster) for cluster in clusters)
    for start, end in spans:
        inside = any(c.start <= start and end <= c.end for c in clusters)
        assert inside or not any(character.isspace() for character in text[start:end])


@pytest.mark.parametrize("kind", KINDS)
@given(case=listed())
@settings(max_examples=30)
def test_a_word_without_a_rival_is_a_token(kind: str, case: tuple[str, list[str]]) -> None:
    text, words = case
    words = words[-1:]
    compiled = UserWords(words).snapshot()
    places = [i for i in range(len(text)) if words and text.startswith(words[0], i)]
    assume(places and all(b - a >= len(words[0]) for a, b in pairwise(places)))
    spans = model(kind).predict_spans(text, user_words=compiled).tolist()
    for place in places:
        assert [place, place + len(words[0])] in spans


@pytest.mark.parametrize("kind", KINDS)
@given(text=TEXTS)
@settings(max_examples=20)
def test_words_that_are_not_there_change_nothing(kind: str, text: str) -> None:
    plain = model(kind).predict(text)
    for words in ([], ["没有"]):
        assert model(kind).predict(text, user_words=UserWords(words).snapshot()) == plain


@pytest.mark.parametrize("kind", ["characters", "words"])
@given(text=TEXTS)
@settings(max_examples=40)
def test_listing_what_is_predicted_changes_nothing(kind: str, text: str) -> None:
    """What the model says anyhow, said by a list: only where each place of a word is such a one."""
    plain = model(kind).predict(text)
    spans = spans_in(text, plain)
    words = [
        word
        for word in set(plain)
        if all((i, i + len(word)) in spans for i in range(len(text)) if text.startswith(word, i))
    ]
    assume(words)
    # Exact search, or one with room for all: the best of all is the best of those with the words.
    if kind == "words":
        assume(len("".join(text.split())) <= 7)
    predicted = model(kind).predict(text, user_words=UserWords(words).snapshot())
    best = dict(map(flat, model(kind).nbest(text, 64))) if kind == "words" else {}
    assert predicted == plain or best[tuple(predicted)] == best[tuple(plain)]


def flat(found: tuple[float, list[str]]) -> tuple[tuple[str, ...], float]:
    score, words = found
    return tuple(words), score


@pytest.mark.parametrize("kind", KINDS)
def test_batches_and_streams_equal_one_by_one(kind: str) -> None:
    texts = ["大学生活", "", "在 北京大\n学", "北京大学生在大学。生活！学生", "New York大", " "] * 5
    compiled = UserWords(["大学", "学生", "京大", "New York", "学。生"]).snapshot()
    alone = [model(kind).predict(text, compiled) for text in texts]
    assert alone[4] == ["New York", "大"]
    for n_threads in (1, 3):
        batch = model(kind).predict_batch(texts, n_threads=n_threads, user_words=compiled)
        assert batch == alone
        stream = model(kind).predict_stream(iter(texts), n_threads=n_threads, user_words=compiled)
        assert list(stream) == alone


def test_a_listed_word_joins_sentences() -> None:
    compiled = UserWords(["学。生"]).snapshot()
    assert "学。生" in model("cut").predict("大学。生活。", compiled)
    assert "学。生" in model("narrow").predict("大学。生活。", compiled)


# Choices ------------------------------------------------------------------------------------------


def best_choice(kind: str, text: str, compiled: CompiledWords) -> dict[tuple[str, ...], float]:
    """The scores of all segmentations that hold some choice of the words, by brute force."""
    scores = dict(map(flat, model(kind).nbest(text, 64)))
    assert len(scores) == 2 ** (len(text) - 1)
    allowed = {}
    for choice in product(*(cluster.alternatives for cluster in compiled.clusters(text))):
        wanted = {(word.start, word.end) for alternative in choice for word in alternative}
        for words, score in scores.items():
            if wanted <= set(spans_in(text, list(words))):
                allowed[words] = score
    return allowed


@pytest.mark.parametrize("kind", ["characters", "words"])
@given(case=listed(st.text("大学生在京a", min_size=1, max_size=7)))
@settings(max_examples=60)
@example(case=("大学生在", ["大学", "学生", "大学生", "生在"]))
@example(case=("aaaaa", ["aa", "aaa"]))
@example(case=("大学生大学生", ["大学", "学生"]))
def test_the_choice_with_the_best_score_wins(kind: str, case: tuple[str, list[str]]) -> None:
    text, words = case
    compiled = UserWords(words).snapshot()
    allowed = best_choice(kind, text, compiled)
    predicted = tuple(model(kind).predict(text, user_words=compiled))
    assert predicted in allowed
    assert allowed[predicted] == pytest.approx(max(allowed.values()), abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_many_overlaps(kind: str) -> None:
    """More choices than are compared as wholes: from left to right, and each one is settled."""
    compiled = UserWords(["大学", "学生", "大学生", "生大"]).snapshot()
    text = "在".join(["大学生大"] * 30)
    clusters = compiled.clusters(text)
    assert len(clusters) == 30
    spans = model(kind).predict_spans(text, user_words=compiled).tolist()
    assert all(settled({(start, end) for start, end in spans}, each) for each in clusters)
    assert "".join(text[start:end] for start, end in spans) == text


# Tags ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", TAGGERS)
@given(case=listed(), data=st.data())
@settings(max_examples=60)
def test_listed_words_get_their_tags(
    kind: str, case: tuple[str, list[str]], data: st.DataObject
) -> None:
    text, words = case
    chosen = {word: data.draw(st.sampled_from([None, *TAGS])) for word in words}
    compiled = UserWords(chosen.items()).snapshot()
    tagged = model(kind).predict_tagged(text, compiled)
    assert [word for word, _ in tagged] == model(kind).predict(text, compiled)
    assert {tag for _, tag in tagged} <= set(TAGS)
    spans = spans_in(text, [word for word, _ in tagged])
    found = {span: tag for span, (_, tag) in zip(spans, tagged, strict=True)}
    for cluster in compiled.clusters(text):
        assert any(
            all(
                (word.start, word.end) in found
                and (word.tag is None or found[word.start, word.end] == word.tag)
                for word in alternative
            )
            for alternative in cluster.alternatives
        )


@pytest.mark.parametrize("kind", TAGGERS)
@pytest.mark.parametrize("tag", TAGS)
def test_every_tag_can_be_wanted(kind: str, tag: str) -> None:
    """Whatever the training corpus says about characters and words with the tag."""
    compiled = UserWords([("北京大学", tag)]).snapshot()
    assert ("北京大学", tag) in model(kind).predict_tagged("在北京大学生活。", compiled)
    compiled = UserWords([("在", tag)]).snapshot()
    tagged = model(kind).predict_tagged("在大学在北京在", compiled)
    assert [each for word, each in tagged if word == "在"] == [tag] * 3


@pytest.mark.parametrize("kind", TAGGERS)
def test_unknown_tags_are_the_models_choice(kind: str) -> None:
    text = "在北京大学生活。"
    unknown = UserWords([("北京大学", "没有")]).snapshot()
    without = UserWords(["北京大学"]).snapshot()
    assert model(kind).predict_tagged(text, unknown) == model(kind).predict_tagged(text, without)
    assert model(kind).predict_tagged(text, unknown)[1][0] == "北京大学"


@pytest.mark.parametrize("kind", TAGGERS)
def test_streams_of_tags_equal_one_by_one(kind: str) -> None:
    texts = ["大学生活", "", "在 北京大\n学", "北京大学生在大学。生活！学生"] * 4
    compiled = UserWords([("大学", "JJ"), ("学生", "CD"), ("京大", None)]).snapshot()
    alone = [model(kind).predict_tagged(text, compiled) for text in texts]
    found = model(kind).predict_tagged_stream(texts, n_threads=2, user_words=compiled)
    assert list(found) == alone


def test_tags_mean_nothing_to_segmenters() -> None:
    for kind in KINDS:
        with_tags = UserWords([("北京大学", "NN")]).snapshot()
        without = UserWords(["北京大学"]).snapshot()
        text = "在北京大学生活。"
        assert model(kind).predict(text, with_tags) == model(kind).predict(text, without)
