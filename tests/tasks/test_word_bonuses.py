"""Words with a bonus: against all segmentations, each with the bonuses of its tokens."""

from __future__ import annotations

from functools import cache

import pytest
from example_counts import quick_examples
from hypothesis import assume, example, given
from hypothesis import strategies as st
from looped import looped
from tasks.test_joint_decoder import ALPHABET, MODELS, analyses, analyses_with
from tasks.test_joint_decoder import TAGS as CHAIN_TAGS
from tasks.test_joint_decoder import Model as Chain
from tasks.test_text_decoder import TEXTS, choice_of, flat, model, spans_in

from spacy_structreg.models.joint.joint_reranker import JointReranker
from spacy_structreg.tasks.segmentation.user_words import CompiledWords, UserWords, WordEntry

EXACT = ["characters", "words", "guided and wide"]
ALL = ["characters", "words", "narrow", "by words", "cut", "guided", "guided and narrow"]

BONUSES = st.floats(-8, 8).map(lambda x: round(x, 2)) | st.sampled_from([-100.0, 0.0, 100.0])


@st.composite
def favored(draw: st.DrawFn, texts: st.SearchStrategy[str]) -> tuple[str, dict[str, WordEntry]]:
    """A text, and words with a bonus, or forced, most of which are in it."""
    text = draw(texts)
    words = {}
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(len(text), start + 5)))
        if word := text[start:end].strip():
            is_forced = draw(st.integers(0, 3)) == 0
            words[word] = WordEntry() if is_forced else WordEntry(mode="bonus", bonus=draw(BONUSES))
    return text, words


def bonus_of(words: dict[str, WordEntry], tokens: tuple[str, ...]) -> float:
    return sum(words[token].bonus for token in tokens if token in words)


@pytest.mark.parametrize("kind", EXACT)
@given(case=favored(st.text("大学生在京a", min_size=1, max_size=7)), k=st.sampled_from([1, 5, 64]))
@quick_examples(60)
@example(case=("大学生在", {"大学生": WordEntry("x", "bonus", 50.0)}), k=64)
@example(case=("aaaaa", {w: WordEntry(None, "bonus", -9.0) for w in ("a", "aa", "aaa")}), k=64)
@example(
    case=(
        "大学生大学生",
        {"大学": WordEntry(), "学生": WordEntry(), "生大": WordEntry(None, "bonus", 70.0)},
    ),
    k=64,
)
@example(case=("大学生在京", {"学生在": WordEntry(), "大": WordEntry(None, "bonus", -70.0)}), k=64)
def test_scores_are_those_of_the_model_and_the_bonuses(
    kind: str, case: tuple[str, dict[str, WordEntry]], k: int
) -> None:
    text, said = case
    words = CompiledWords(said)
    plain = dict(map(flat, model(kind).nbest(text, 64)))
    assert len(plain) == 2 ** (len(text) - 1)
    expected = {
        tokens: score + bonus_of(said, tokens)
        for tokens, score in plain.items()
        if choice_of(set(spans_in(text, list(tokens))), text, words)
    }
    found = dict(map(flat, model(kind).nbest(text, k, words)))
    assert len(found) == min(k, len(expected))
    assert found == pytest.approx({tokens: expected[tokens] for tokens in found}, abs=1e-6)
    best = sorted(expected.values(), reverse=True)
    assert sorted(found.values(), reverse=True) == pytest.approx(best[:k], abs=1e-6)
    predicted = tuple(model(kind).predict(text, words))
    assert expected[predicted] == pytest.approx(best[0], abs=1e-6)


@given(
    chain=st.sampled_from(MODELS),
    text=st.text(ALPHABET[:3], min_size=1, max_size=5),
    said=st.dictionaries(
        st.text(ALPHABET[:3], min_size=1, max_size=4),
        st.tuples(st.sampled_from([None, *CHAIN_TAGS]), st.just("bonus"), BONUSES)
        | st.tuples(st.sampled_from([None, *CHAIN_TAGS])),
        min_size=1,
        max_size=5,
    ),
)
@quick_examples(60)
@example(MODELS[0], "我们我", {"我们": WordEntry("NN", "bonus", 9.0)})
@example(
    MODELS[3],
    "我们我们",
    {"我们": WordEntry("NN", "bonus", 9.0), "我": WordEntry("AD", "bonus", -3.0)},
)
@example(
    MODELS[1],
    "我们在们我",
    {"我们": WordEntry("NN"), "们在": WordEntry("AD", "bonus", 30.0), "在们": WordEntry()},
)
def test_bonuses_of_words_with_tags(chain: Chain, text: str, said: dict[str, tuple]) -> None:
    said = {word: WordEntry(*entry) for word, entry in said.items()}
    words = CompiledWords(said)
    found = words.look_up(text)
    forced = CompiledWords({w: e.tag for w, e in said.items() if e.mode == "force"})
    assume(len(found.words) <= 7)
    expected = {}
    for cut in map(tuple, analyses_with(text, forced)):
        score = chain.score(list(cut))
        for token, tag in cut:
            entry = said.get(token, WordEntry())
            score += entry.bonus if entry.tag in (None, tag) else 0.0
        expected[cut] = score
    (tagged,) = chain.decoder.tag([text], [[len(text)]], [found])
    best = sorted(expected.values(), reverse=True)
    assert expected[tuple(tagged)] == pytest.approx(best[0], abs=1e-4)
    ranked = chain.decoder.nbest(text, 10_000, found)
    assert [score for score, _ in ranked] == pytest.approx(best, abs=1e-4)
    assert {tuple(cut) for _, cut in ranked} == set(expected)


@pytest.mark.parametrize("bonus", [-3.0, 0.0, 2.5])
def test_white_space_within_a_word_with_a_bonus(bonus: float) -> None:
    """The analyses with the word are those of the text without the space in which it is one."""
    chain = MODELS[0]
    words = CompiledWords({"我 们": WordEntry("NN", "bonus", bonus)})
    ranked = chain.decoder.nbest("在我 们我", 10_000, words.look_up("在我 们我"))
    expected = {tuple(cut): chain.score(list(cut)) for cut in analyses("在我 们我")}
    for cut in analyses("在我们我"):
        if ("我们", "NN") in cut:
            joined = tuple((t if t != "我们" else "我 们", tag) for t, tag in cut)
            expected[joined] = chain.score(list(cut)) + bonus
    assert {tuple(cut): score for score, cut in ranked} == pytest.approx(expected, abs=1e-4)


@looped("kind", [*ALL, "tagged characters", "tagged words"])
@given(case=favored(TEXTS))
@quick_examples(30)
@example(case=("大\u0301学", {"大": WordEntry(None, "bonus", 100.0)}))
@example(case=("New York在", {"New York": WordEntry(None, "bonus", 1000.0)}))
@example(case=("大学 生大学", {"大": WordEntry(), "学 生大": WordEntry(None, "bonus", 100.0)}))
def test_nothing_is_lost(kind: str, case: tuple[str, dict[str, WordEntry]]) -> None:
    text, said = case
    words = CompiledWords(said)
    predicted = model(kind).predict(text, words)
    spans = spans_in(text, predicted)
    assert choice_of(set(spans), text, words)
    for start, end in spans:
        assert text[start:end] in said or not any(map(str.isspace, text[start:end]))
    assert model(kind).predict_spans(text, words).tolist() == list(map(list, spans))


@looped("kind", [*ALL, "tagged characters", "tagged words"])
def test_a_great_bonus_makes_a_token_and_a_great_loss_none(kind: str) -> None:
    """Beyond what the settings of a model let words be: their length, their tags."""
    for text, word in (
        ("在北京大学生活。", "京大学生"),
        ("在New York大学", "New York"),
        ("大学生", "大学生"),
        ("在大学在", "在大学在"),
    ):
        assert word in model(kind).predict(text, UserWords([word], bonus=1e5))
    if kind == "guided and narrow":
        return  # Its words have one character.
    text = "大学生在大学"
    token = model(kind).predict(text)[0]
    assert token not in model(kind).predict(text, UserWords([token], bonus=-1e5))


def test_tags_of_bonuses() -> None:
    for kind in ("tagged characters", "tagged words"):
        for tag in ("CD", "P", "NR"):
            words = UserWords([("北京大学", tag)], bonus=1e5)
            assert ("北京大学", tag) in model(kind).predict_tagged("在北京大学生活。", words)


def test_bonuses_are_added_once_where_analyses_are_ranked_again() -> None:
    tagged = [[("大学", "NN"), ("在", "P")], [("学生", "NN"), ("大", "JJ"), ("生", "NN")]]
    pair = JointReranker(weight=0.5, n_best=1000)
    pair.fit(tagged)
    text = "大学生在"
    plain = {tuple(cut): score for score, cut in pair.nbest(text, 1000)}
    words = UserWords([("学生", "NN"), "大"], bonus=3.5)
    found = pair.nbest(text, 1000, words)
    assert len(found) == len(plain)
    for score, cut in found:
        n = sum(token == "大" or (token, tag) == ("学生", "NN") for token, tag in cut)
        assert score == pytest.approx(plain[tuple(cut)] + 3.5 * n)
    assert pair.predict_tagged(text, words) == found[0][1]


@cache
def nested() -> UserWords:
    return UserWords(["生" * length for length in range(1, 20)], bonus=0.5)


@pytest.mark.parametrize("kind", ["characters", "words"])
def test_the_work_is_linear_in_the_text(kind: str) -> None:
    words = nested().snapshot()
    done = []
    for n in (200, 400, 800):
        text = "生" * n
        with model(kind)._decoders().borrow() as decoder:
            decoder.spans([text], [[n]], [words.look_up(text)])
            done.append(
                decoder.lattice.n_columns if kind == "characters" else decoder.agenda.n_items
            )
    assert done[2] - done[1] == 2 * (done[1] - done[0])
