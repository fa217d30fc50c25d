"""Listed words in texts: always tokens, the best choice where they overlap, and their tags."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from example_counts import quick_examples
from hypothesis import example, given
from hypothesis import strategies as st
from looped import looped
from twins import is_maximal

from spacy_structreg.models.guided import GuidedSegmenter
from spacy_structreg.models.joint.joint_taggers import CharacterJointTagger, WordJointTagger
from spacy_structreg.models.segmentation import CharacterSegmenter, WordSegmenter
from spacy_structreg.tasks.segmentation.constraints import Constraints
from spacy_structreg.tasks.segmentation.user_words import CompiledWords, UserWords

TAGGED = [
    [("大学", "NN"), ("在", "P"), ("北京", "NR"), ("。", "PU")],
    [("学生", "NN"), ("在", "P"), ("大学", "NN"), ("生活", "VV"), ("，", "PU"), ("活", "VV")],
    [("北京", "NR"), ("大学生", "NN"), ("ab", "NN"), ("1", "CD")],
    [("大", "JJ"), ("学生", "NN"), ("生", "VV"), ("在", "P"), ("京", "NR")],
]
SEGMENTED = [[word for word, _ in sentence] for sentence in TAGGED]
SEGMENTED_RUNS = [
    *SEGMENTED,
    ["在", "www.a.cn", "生活"],
    ["大学", "😂😂", "。"],
    ["b@c.cn", "在", "大学"],
]
TAGS = ["CD", "JJ", "NN", "NR", "P", "PU", "VV"]


def pair(second: dict[str, Any], **first: Any) -> tuple[CharacterSegmenter, WordSegmenter]:
    return CharacterSegmenter(epochs=2, **first), WordSegmenter(epochs=2, **second)


FREE = {"lengths": False, "dictionary": False, "least_begun": None}
# Untrained models. The widest beams hold all segmentations of seven characters.
UNTRAINED: dict[str, Any] = {
    "characters": CharacterSegmenter(epochs=2, sentences="doc"),
    "words": WordSegmenter(epochs=2, sentences="doc", beam=64, merge=False),
    "narrow": WordSegmenter(epochs=2, beam=1, max_word_length=2),
    "by words": WordSegmenter(epochs=2, beam=2, by_words=True),
    "cut": CharacterSegmenter(epochs=2),
    "guided": GuidedSegmenter(*pair({"beam": 4}), weight=1.0, window=1.0, beam=2),
    # The window and the longest word contradict each other.
    "guided and narrow": GuidedSegmenter(
        *pair({"max_word_length": 1}), weight=1.0, window=0.0, beam=1
    ),
    "guided and wide": GuidedSegmenter(
        *pair({"sentences": "doc"}, sentences="doc"),
        weight=0.5,
        window=None,
        beam=64,
        beam_margin=None,
    ),
    "characters with runs": CharacterSegmenter(epochs=2, typed_runs=True),
    "words with runs": WordSegmenter(epochs=2, beam=4, typed_runs=True),
    "tagged characters": CharacterJointTagger(epochs=2),
    "tagged words": WordJointTagger(epochs=2, beam=4, closed_tags=["P", "PU"], least_begun=1),
    "tagged words of a wide beam": WordJointTagger(epochs=2, beam=800, sentences="doc", **FREE),
}


@cache
def model(kind: str) -> Any:
    """A small trained model."""
    if kind == "tagged words of a wide beam":
        gold: Any = [[(word, tag[0]) for word, tag in sentence] for sentence in TAGGED]
    elif kind.startswith("tagged"):
        gold = TAGGED
    else:
        gold = SEGMENTED_RUNS if kind.endswith("runs") else SEGMENTED
    return UNTRAINED[kind].fit(gold)


KINDS = ["characters", "words", "narrow", "by words", "cut", "guided", "guided and narrow"]
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
    return text, [word for word in words if word and not looks_like_an_entry(word)]


def looks_like_an_entry(word: str) -> bool:
    """True for words like ``大学 1``, which lists of users refuse without a tag."""
    first, *others = word.split(" ")
    return not first.isascii() and any(map(str.isascii, others))


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


def choice_of(spans: set[tuple[int, int]], text: str, words: CompiledWords) -> bool:
    """Whether the listed words among the tokens of a text are a maximal choice."""
    places = [(word.start, word.end) for word in words.find(text)]
    return is_maximal(spans & set(places), places)


# Tokens -------------------------------------------------------------------------------------------


@looped("kind", [*KINDS, *TAGGERS])
@given(case=listed())
@quick_examples(60)
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
    assert choice_of(set(spans), text, compiled)
    for start, end in spans:
        assert text[start:end] in words or not any(map(str.isspace, text[start:end]))


@looped("kind", KINDS)
@given(text=TEXTS)
@quick_examples(20)
def test_words_that_are_not_there_change_nothing(kind: str, text: str) -> None:
    plain = model(kind).predict(text)
    for words in ([], ["没有"]):
        assert model(kind).predict(text, user_words=UserWords(words).snapshot()) == plain


def flat(found: tuple[float, list[str]]) -> tuple[tuple[str, ...], float]:
    score, words = found
    return tuple(words), score


@looped("kind", [*KINDS, *TAGGERS])
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
    if kind in TAGGERS:
        with_tags = UserWords([("大学", "JJ"), ("学生", "CD"), ("京大", None)]).snapshot()
        tagged = [model(kind).predict_tagged(text, with_tags) for text in texts]
        stream = model(kind).predict_tagged_stream(texts, n_threads=2, user_words=with_tags)
        assert list(stream) == tagged


def test_a_listed_word_joins_sentences() -> None:
    compiled = UserWords(["学。生"]).snapshot()
    assert "学。生" in model("cut").predict("大学。生活。", compiled)
    assert "学。生" in model("narrow").predict("大学。生活。", compiled)


# Choices ------------------------------------------------------------------------------------------


def choices(kind: str, text: str, compiled: CompiledWords) -> dict[tuple[str, ...], float]:
    """The scores of all segmentations that hold a maximal choice of the words, by brute force."""
    scores = dict(map(flat, model(kind).nbest(text, 64)))
    assert len(scores) == 2 ** (len(text) - 1)
    return {
        words: score
        for words, score in scores.items()
        if choice_of(set(spans_in(text, list(words))), text, compiled)
    }


EXACT = ["characters", "words", "guided and wide"]


@pytest.mark.parametrize("kind", EXACT)
@given(case=listed(st.text("大学生在京a", min_size=1, max_size=7)), k=st.integers(1, 64))
@quick_examples(60)
@example(case=("大学生在", ["大学", "学生", "大学生", "生在"]), k=3)
@example(case=("aaaaa", ["aa", "aaa"]), k=64)
@example(case=("aaaaaaa", ["a", "aaaa", "aa"]), k=2)
@example(case=("大学生大学生", ["大学", "学生"]), k=64)
@example(case=("在大学生在京", ["在大学生", "学生在京", "生"]), k=64)
def test_the_best_choices_win(kind: str, case: tuple[str, list[str]], k: int) -> None:
    text, words = case
    compiled = UserWords(words).snapshot()
    allowed = choices(kind, text, compiled)
    best = sorted(allowed.values(), reverse=True)
    predicted = tuple(model(kind).predict(text, user_words=compiled))
    assert allowed[predicted] == pytest.approx(best[0], abs=1e-9)
    found = dict(map(flat, model(kind).nbest(text, k, compiled)))
    assert len(found) == min(k, len(allowed))
    assert found == pytest.approx({words: allowed[words] for words in found}, abs=1e-9)
    assert sorted(found.values(), reverse=True) == pytest.approx(best[:k], abs=1e-9)


@given(
    case=listed(st.text("大学生在", min_size=1, max_size=3)),
    tags=st.lists(st.sampled_from([None, "N", "V"]), min_size=5, max_size=5),
)
@quick_examples(40)
@example(case=("大学生", ["大学", "学生", "大", "大学生"]), tags=["N", "V", "V", "C", None])
@example(case=("大 学生", ["大 学", "学生", "大"]), tags=["N", "V", "C", None, None])
@example(case=("大 学生", ["大 学生", "生"]), tags=[None] * 5)
def test_the_best_choices_of_words_with_tags_win(
    case: tuple[str, list[str]], tags: list[str | None]
) -> None:
    """An agenda without limits: five tags leave some hundreds of analyses of three characters."""
    text, words = case
    joint = model("tagged words of a wide beam")
    compiled = UserWords(zip(words, tags, strict=False)).snapshot()
    places = compiled.find(text)
    allowed = {}
    # Where white space stands in a listed word, the analyses without it are those with it.
    for score, tagged in joint.nbest(text.replace(" ", ""), 800):
        spans, position = {}, 0
        for word, tag in tagged:
            position += text[position] == " "
            end = position + len(word) + (" " in text[position : position + len(word)])
            spans[position, end] = tag
            position = end
        chosen = [
            (word.start, word.end)
            for word in places
            if word.tag in (None, spans.get((word.start, word.end), 0))
            and (word.start, word.end) in spans
        ]
        parted = all(" " not in text[start:end] or (start, end) in chosen for start, end in spans)
        if parted and is_maximal(chosen, [(word.start, word.end) for word in places]):
            allowed[tuple((text[a:b], tag) for (a, b), tag in spans.items())] = score
    best = sorted(allowed.values(), reverse=True)
    predicted = tuple(joint.predict_tagged(text, compiled))
    assert allowed[predicted] == pytest.approx(best[0], abs=1e-9)
    found = [score for score, _ in joint.nbest(text, 800, compiled)]
    assert found == pytest.approx(best, abs=1e-9)


def test_places_that_do_not_fit_their_text() -> None:
    with model("characters")._decoders().borrow() as decoder:
        for places in ([[0, 3, -1]], [[-1, 1, -1]], [[1, 1, -1]], [[1, 2, -1], [0, 1, -1]]):
            with pytest.raises(ValueError, match="do not fit the text"):
                decoder.spans(["大学"], [[2]], [Constraints(words=np.array(places))])
        for tag in (-2, 1):
            with pytest.raises(ValueError, match="do not fit the text"):
                decoder.spans(
                    ["大学"], [[2]], [Constraints(words=np.array([[0, 1, tag]]), tags=("NN",))]
                )
        with pytest.raises(ValueError, match="goes beyond its sentence"):
            decoder.spans(["大学"], [[1, 2]], [Constraints(words=np.array([[0, 2, -1]]))])


# Work ---------------------------------------------------------------------------------------------

LISTS = {
    "four": ["大学", "学生", "大学生", "生大"],
    "run": ["生生"],
    "nested": ["生" * length for length in range(1, 16)],
    "long": ["生" * 40],
}


@looped("words", LISTS.values(), ids=LISTS)
@looped("kind", ["characters", "words"])
def test_the_work_is_linear_in_the_text(kind: str, words: list[str]) -> None:
    """Counted: the items of the agenda, and the columns of the lattice, of one decoding."""
    compiled = UserWords(words).snapshot()
    piece = "大学生大" if words == LISTS["four"] else "生生生生"
    done = []
    for n in (200, 400, 800):
        text = piece * (n // len(piece))
        with model(kind)._decoders().borrow() as decoder:
            spans = decoder.spans([text], [[n]], [compiled.look_up(text)])[0].tolist()
            done.append(
                decoder.lattice.n_columns if kind == "characters" else decoder.agenda.n_items
            )
        assert choice_of(set(map(tuple, spans)), text, compiled)
    width = 2 * max(map(len, words)) + 2 if kind == "characters" else 65
    assert done[0] <= 200 * width
    assert done[2] - done[1] == 2 * (done[1] - done[0])


# Tags ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", TAGGERS)
@given(case=listed(), data=st.data())
@quick_examples(60)
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
    places = compiled.find(text)
    chosen = [
        (word.start, word.end)
        for word in places
        if (word.start, word.end) in found and word.tag in (None, found[word.start, word.end])
    ]
    assert is_maximal(chosen, [(word.start, word.end) for word in places])


@pytest.mark.parametrize("kind", TAGGERS)
def test_unknown_tags_are_refused(kind: str) -> None:
    unknown = UserWords([("北京大学", "没有")]).snapshot()
    with pytest.raises(ValueError, match="'北京大学' is listed with the tag '没有'"):
        model(kind).predict_tagged("在北京大学生活。", unknown)


def test_tags_mean_nothing_to_segmenters() -> None:
    for kind in KINDS:
        with_tags = UserWords([("北京大学", "NN")]).snapshot()
        without = UserWords(["北京大学"]).snapshot()
        text = "在北京大学生活。"
        assert model(kind).predict(text, with_tags) == model(kind).predict(text, without)
