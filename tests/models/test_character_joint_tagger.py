"""The character-based joint tagger: what it learns, says, forces, stores and refuses."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up_corpora import sentences as segmented

from spacy_structreg.corpora.formats.conllu import read_conllu
from spacy_structreg.models.joint.joint_taggers import CharacterJointTagger
from spacy_structreg.tasks.segmentation.user_words import CompiledWords

Tagged = list[tuple[str, str]]


def tag_of(word: str, before: str) -> str:
    """A tag by the word, and for some words by the one before it."""
    if word[-1] in "。！？…，":
        return "PU"
    if word in ("工作", "说", "学", "说话"):
        return "VV" if before in ("我", "你", "他们", "老师", "不") else "NN"
    return "NR" if word[0] in "上北中" else "NN"


def sentences(n: int, seed: int) -> list[Tagged]:
    return [
        [(word, tag_of(word, before)) for before, word in zip(["", *words], words, strict=False)]
        for words in segmented(n, seed)
    ]


def text_of(sentence: Tagged) -> str:
    return "".join(word for word, _ in sentence)


TRAIN, DEV = sentences(150, 1), sentences(60, 2)
TRAINED = CharacterJointTagger(epochs=4).fit(TRAIN)
TEXTS = st.text(
    st.sampled_from("我他们学生大上海。！，工作说话 \t\u3000\u0301A１ \x00𠀀🇨🇳"), max_size=25
)


def figures(model: CharacterJointTagger, gold: list[Tagged]) -> tuple[float, float]:
    """The F of words and of words with tags, counted in the plainest way."""
    counts = [0, 0, 0]
    for sentence in gold:
        spans = []
        for words in (sentence, model.predict_tagged(text_of(sentence))):
            begin, found = 0, set()
            for word, tag in words:
                found.add((begin, begin + len(word), tag))
                begin += len(word)
            spans.append(found)
        true, mine = spans
        counts[0] += len({s[:2] for s in true} & {s[:2] for s in mine})
        counts[1] += len(true & mine)
        counts[2] += len(true) + len(mine)
    return 2 * counts[0] / counts[2], 2 * counts[1] / counts[2]


def test_it_learns_words_and_tags() -> None:
    assert TRAINED.tags == ("NN", "NR", "PU", "VV")
    assert TRAINED.labels[:5] == ("B-NN", "B-NR", "B-PU", "B-VV", "E-NN")
    words, joint = figures(TRAINED, TRAIN)
    assert words > 0.97
    assert joint > 0.95
    scores = TRAINED.evaluate(DEV)
    assert (scores.seg_f, scores.joint_f) == pytest.approx(figures(TRAINED, DEV))
    assert scores.joint_f > 0.8


@given(TEXTS)
def test_words_are_those_of_the_tagged_words(text: str) -> None:
    tagged = TRAINED.predict_tagged(text)
    words = [word for word, _ in tagged]
    assert "".join(words) == "".join(text.split())
    assert {tag for _, tag in tagged} <= set(TRAINED.tags)
    assert TRAINED.predict(text) == words
    assert [text[a:b] for a, b in TRAINED.predict_spans(text).tolist()] == words
    assert TRAINED.nbest(text, 3)[0][1] == tagged


def test_user_words_come_out_with_their_tags() -> None:
    text = "我在大学生会说话。好"
    for listed in ({"学生会": "VV"}, {"在大": None}, {"话。好": "NR", "我": "PU"}, {"大 学": "NN"}):
        tagged = TRAINED.predict_tagged(text, CompiledWords(listed))
        assert text_of(tagged) == text
        for word, tag in listed.items():
            if word in text:
                assert [word] == [w for w, t in tagged if w == word and tag in (None, t)]
    spaced = TRAINED.predict_tagged("大 学", CompiledWords({"大 学": "VV"}))
    assert spaced == [("大 学", "VV")]


def test_lists_of_labels_hold_for_frequent_characters_only() -> None:
    # 好 is only ever a word of its own and an adverb, 很 comes once.
    gold = [[("好", "AD"), ("人", "NN")]] * 5 + [[("很", "AD"), ("人们", "NN")]]
    free, pruned = (
        CharacterJointTagger(epochs=3, prune=prune, half_width=True).fit(gold)
        for prune in (None, 5)
    )
    analyses = [words for _, words in pruned.nbest("好很", 100)]
    assert ([("好", "AD"), ("很", "NN")]) in analyses
    assert all(words[0] == ("好", "AD") for words in analyses)
    assert len(free.nbest("好很", 100)) == 6
    assert len(analyses) == 2


@given(st.integers(0, 50))
def test_lists_that_leave_nothing_do_not_count(seed: int) -> None:
    text = "".join(random.Random(seed).choices("好很人们", k=4))
    gold = [[("好", "AD"), ("人们", "NN")]] * 5
    model = CharacterJointTagger(epochs=1, prune=1).fit(gold)
    assert text_of(model.predict_tagged(text)) == text


def test_it_guides_words_of_the_same_tags_only() -> None:
    spec = TRAINED._fitted_spec()
    tables = TRAINED._decoders().tables
    guide = spec.new_guide(tables, TRAINED.tags, weight=2.0, window=None)
    text = text_of(DEV[0])
    _, heuristic, allowed = guide.tables(text)
    # The best completion of the whole sentence is the best analysis of it.
    begins = [TRAINED.labels.index(f"{place}-{tag}") for place in "BS" for tag in TRAINED.tags]
    assert heuristic[0, begins].max() == pytest.approx(
        CharacterJointTagger.from_bytes(TRAINED.to_bytes()).nbest(text, 1)[0][0]
    )
    assert allowed.all()
    with pytest.raises(ValueError, match="these tags"):
        spec.new_guide(tables, TRAINED.tags[1:])
    six = CharacterJointTagger(epochs=1, scheme="six").fit(TRAIN[:20])
    with pytest.raises(ValueError, match="scheme 'bmes'"):
        six._fitted_spec().new_guide(six._decoders().tables, six.tags)


def test_ud_chinese(data_folder: Path, tmp_path: Path) -> None:
    folder = data_folder / "ud-chinese-gsd-simplified"
    train, test = (
        [
            [(word.form, word.xpos) for word in sentence.words]
            for sentence in read_conllu(folder / name)
        ]
        for name in ("train.conll.xz", "test.conll")
    )
    model = CharacterJointTagger(epochs=3).fit(train)
    scores = model.evaluate(test)
    assert scores.seg_f > 0.935
    assert scores.joint_f > 0.87
