"""The word-based joint segmenter and tagger, as its users meet it."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from crafted import tampered
from made_up_corpora import sentences

from spacy_structreg.corpora.formats.conllu import read_conllu
from spacy_structreg.corpora.tag_maps import CLOSED_FIRST_TAGS, CLOSED_TAGS
from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.learn.model_file import parse_model
from spacy_structreg.models.joint.joint_taggers import WordJointSpec, WordJointTagger

Tagged = list[tuple[str, str]]
NO_PRUNING: dict[str, Any] = {"lengths": False, "dictionary": False, "least_begun": None}


def tagged_sentences(n: int, seed: int) -> list[Tagged]:
    """Made-up sentences with tags that mostly follow from the word, and sometimes from chance."""
    chance = random.Random(seed)

    def tag_of(word: str) -> str:
        if word in "。！？……，":
            return "PU"
        return chance.choice("NV") if ord(word[0]) % 3 else "M"

    return [[(word, tag_of(word)) for word in words] for words in sentences(n, seed)]


def text_of(sentence: Tagged) -> str:
    return "".join(word for word, _ in sentence)


def analyses(text: str, tags: Sequence[str]) -> Iterator[Tagged]:
    """All ways to cut a text into tagged words."""
    if not text:
        yield []
    for end in range(1, len(text) + 1):
        for tag in tags:
            for rest in analyses(text[end:], tags):
                yield [(text[:end], tag), *rest]


def score_of(model: WordJointTagger, sentence: Tagged) -> float:
    """The score of an analysis of one sentence, added up by the model without any search."""
    with model._decoders().borrow() as decoder:
        decoder.system.load_text(text_of(sentence))
        return float(decoder.agenda.score(actions_of(sentence, model.labels)))


def actions_of(sentence: Tagged, tags: Sequence[str]) -> list[int]:
    return [
        1 + tags.index(tag) if i == 0 else 0 for word, tag in sentence for i in range(len(word))
    ] + [1 + len(tags)]


@pytest.fixture(scope="module")
def corpus() -> list[Tagged]:
    return tagged_sentences(80, seed=1)


@pytest.fixture(scope="module")
def model(corpus: list[Tagged]) -> WordJointTagger:
    return WordJointTagger(epochs=3, beam=4).fit(corpus)


# Search -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by_words", [False, True])
@pytest.mark.parametrize("merge", [False, True])
def test_unlimited_search_is_exhaustive(corpus: list[Tagged], by_words: bool, merge: bool) -> None:
    model = WordJointTagger(
        beam=None, merge=merge, by_words=by_words, epochs=1, sentences="doc", **NO_PRUNING
    )
    model.fit([sentence[:3] for sentence in corpus[:20]])
    for text in ("学生会", "中国。学", "书", "天天天天"):
        ranked = sorted(score_of(model, each) for each in analyses(text, model.labels))[::-1]
        best = model.nbest(text, 1)
        assert best[0][0] == pytest.approx(ranked[0])
        found = model.nbest(text, len(ranked))
        assert found[0][0] == pytest.approx(ranked[0])
        assert score_of(model, found[0][1]) == pytest.approx(ranked[0])
        assert [score for score, _ in found] == pytest.approx(ranked)


def test_the_beam_finds_no_more_than_there_is(corpus: list[Tagged]) -> None:
    # Without records, which a narrow beam may leave behind in a dead end.
    trained = WordJointTagger(epochs=1, beam=4, **NO_PRUNING).fit(corpus)
    header, arrays = parse_model(trained.to_bytes())
    best = {}
    for beam in (1, 2, 8, None):
        model = WordJointTagger.from_contents(
            "model", {**header, "settings": {**header["settings"], "beam": beam}}, arrays
        )
        best[beam] = [model.nbest(text_of(sentence), 1)[0][0] for sentence in corpus[:20]]
    for beam in (1, 2, 8):
        for score, most in zip(best[beam], best[None], strict=True):
            assert score <= most + 1e-9
    assert sum(best[1]) < sum(best[8]) <= sum(best[None]) + 1e-9


def test_complete_words_gain_at_width_1() -> None:
    """They do not share a beam of one with all tags of the next word."""
    joint = {}
    for by_words in (False, True):
        scores = []
        for seed in range(4):
            model = WordJointTagger(epochs=4, beam=1, by_words=by_words)
            model.fit(tagged_sentences(60, 100 + seed))
            scores.append(model.evaluate(tagged_sentences(21, 200 + seed)).joint_f or 0)
        joint[by_words] = np.mean(scores)
    assert joint[True] > joint[False] + 0.02


def test_states_are_merged_in_training_with_a_limit_too(corpus: list[Tagged]) -> None:
    def weights(**chosen: Any) -> list[bytes]:
        trained = WordJointTagger(epochs=2, learning=Learning(), **chosen).fit(corpus)
        return [array.tobytes() for _, array in sorted(parse_model(trained.to_bytes())[1].items())]

    # A limit that is never reached is none.
    assert weights(beam=10_000, merge_training=True) == weights(beam=None)
    assert weights(beam=4, merge_training=True) != weights(beam=4)


# Records that grow --------------------------------------------------------------------------------

GROWING: dict[str, Any] = {"growing_records": True, "beam": 4, "epochs": 3, "seed": 3}


def test_training_depends_on_when_records_are_known(corpus: list[Tagged]) -> None:
    growing = WordJointTagger(**GROWING).fit(corpus)
    static = WordJointTagger(**{**GROWING, "growing_records": False}).fit(corpus)
    assert growing.labels == static.labels
    weights = [model._decoders().tables for model in (growing, static)]
    assert weights[0][0].n_rows != weights[1][0].n_rows
    for model in (growing, static):
        assert (model.evaluate(tagged_sentences(20, seed=2)).joint_f or 0) > 0.5


def test_predictions_know_what_all_epochs_have_counted() -> None:
    # Seen twice an epoch: frequent, which is more than 5.0004 times, in the third.
    corpus = [[("天", "A"), ("地", "B")]] * 2
    for epochs, frequent in ((2, False), (3, True)):
        model = WordJointTagger(**{**GROWING, "epochs": epochs, "least_begun": None}).fit(corpus)
        spec = model._spec
        assert isinstance(spec, WordJointSpec)
        assert len(spec.records.word("天", spec.system.characters)) == (1 if frequent else 2)


def test_a_training_in_portions_grows_records_too(corpus: list[Tagged]) -> None:
    whole = WordJointTagger(**{**GROWING, "epochs": 1}).fit(corpus)
    parts = WordJointTagger(**{**GROWING, "epochs": 1})
    parts.learn(parts.compile(corpus))
    assert parts.to_bytes() != WordJointTagger(epochs=1, beam=4, seed=3).fit(corpus).to_bytes()
    text = "中国人很好"
    assert parts.nbest(text, 3) == whole.nbest(text, 3)
    # Trained weights go on with the records that they have.
    trained = WordJointTagger.from_contents("model", *parse_model(whole.to_bytes()))
    trained.partial_fit(corpus[:5])
    assert trained._trainer is not None
    assert trained._trainer.system.records is trained._spec.system.records  # type: ignore


# What is not proposed -----------------------------------------------------------------------------


def test_predictions_hold_to_the_records(corpus: list[Tagged]) -> None:
    """As far as a corpus of these words allows it, which needs no dead end."""
    train, texts = corpus[:40], [text_of(sentence) for sentence in corpus[40:]]
    model = WordJointTagger(epochs=2, closed_tags=["PU", "M"], least_begun=10).fit(train)
    pairs = [pair for sentence in train for pair in sentence]
    words = [word for word, _ in pairs]
    most = max(map(words.count, words))
    n_frequent = 0
    for text in texts:
        for word, tag in model.predict_tagged(text):
            assert len(word) <= max(len(other) for other, its in pairs if its == tag)
            if words.count(word) > most / 5000 + 5:
                n_frequent += 1
                assert (word, tag) in pairs
            if tag in ("PU", "M"):
                assert (word, tag) in pairs
            begun = [(other, its) for other, its in pairs if other[0] == word[0]]
            if len(begun) >= 10:
                assert tag in {its for _, its in begun}
    assert n_frequent > 20


def test_closed_tags_of_the_treebank() -> None:
    named = WordJointTagger(closed_tags="ctb")
    assert named.closed_tags == CLOSED_TAGS["ctb"]
    assert named.closed_first_tags == CLOSED_FIRST_TAGS["ctb"]
    assert WordJointTagger(closed_tags="ctb", closed_first_tags=[]).closed_first_tags == ()
    assert WordJointTagger(closed_tags=["P"]).closed_first_tags == ("P",)
    assert WordJointTagger().closed_tags == ()
    assert set(CLOSED_FIRST_TAGS["ctb"]) - set(CLOSED_TAGS["ctb"]) == {"CD"}


def test_whether_training_holds_to_the_records(corpus: list[Tagged]) -> None:
    kwargs: dict[str, Any] = {"epochs": 1, "closed_tags": ["PU"], "least_begun": 2}
    held = WordJointTagger(**kwargs).fit(corpus)
    free = WordJointTagger(prune_training=False, **kwargs).fit(corpus)
    assert held.to_bytes() != free.to_bytes()
    assert held.history[0].wrong_labels < free.history[0].wrong_labels


# Training -----------------------------------------------------------------------------------------


def test_it_learns_its_corpus(corpus: list[Tagged]) -> None:
    sure = [[(word, "M" if len(word) > 1 else "N") for word, _ in each] for each in corpus]
    model = WordJointTagger(epochs=8).fit(sure)
    assert (model.evaluate(sure).joint_f or 0) > 0.99


def test_mini_samples_are_whole_words(corpus: list[Tagged]) -> None:
    model = WordJointTagger(sentences="doc")
    spec = model.SPEC.of_corpus(model.settings, corpus, frozenset())
    learner = spec.new_learner(Learning())
    compiled = [spec.compile(sentence, learner) for sentence in corpus]
    for mini_sample in (1.0, 2.5, None):
        pieces = spec.pieces([each for each in compiled if each], mini_sample, 3)
        for number, sentence in enumerate(corpus):
            ends = [0, *np.cumsum([len(word) for word, _ in sentence]).tolist()]
            cuts = sorted((begin, begin + n) for k, begin, n in pieces.tolist() if k == number)
            assert cuts[0][0] == 0
            assert cuts[-1][1] == ends[-1]
            assert all(end == begin for (_, end), (begin, _) in pairwise(cuts))
            assert {begin for begin, _ in cuts} <= set(ends)
            if mini_sample == 1.0:
                assert len(cuts) == len(sentence)
            if mini_sample is None:
                assert len(cuts) == 1


# Files --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        lambda _, arrays: arrays.pop("training.word_counts"),
        lambda _, arrays: arrays.update({"training.more": arrays["words"]}),
        lambda _, arrays: arrays.update({"training.lengths": arrays["lengths"] - 9}),
        lambda _, arrays: arrays["training.first_counts"].fill(-1),
        lambda header, _: header["settings"].update(growing_records=False),
        lambda header, _: header["settings"].update(lengths=False),
    ],
)
def test_states_of_growing_records_that_cannot_be(corpus: list[Tagged], change: Any) -> None:
    running = WordJointTagger(growing_records=True, beam=2)
    running.prepare(corpus[:20])
    running.partial_fit(corpus[:5])
    data = running.to_bytes(state="training")
    assert WordJointTagger.from_bytes(data).to_bytes(state="training") == data
    with pytest.raises(ValueError, match=r"^model: "):
        WordJointTagger.from_bytes(tampered(data, change))


def test_a_trained_model_has_no_records_that_grow(corpus: list[Tagged]) -> None:
    model = WordJointTagger(growing_records=True, beam=2, epochs=1).fit(corpus[:20])
    change = {"training.words": np.zeros(0, dtype=np.uint64)}
    with pytest.raises(ValueError, match=r"training\.words"):
        WordJointTagger.from_bytes(
            tampered(model.to_bytes(), lambda _, arrays: arrays.update(change))
        )
    # What goes on from trained weights keeps their records.
    model.partial_fit(corpus[:5])
    again = WordJointTagger.from_bytes(model.to_bytes(state="training"))
    for each in (model, again):
        each.partial_fit(corpus[5:9])
    assert again.to_bytes() == model.to_bytes()


# A real corpus ------------------------------------------------------------------------------------


def test_ud_chinese(data_folder: Path) -> None:
    """The first pass of a training; twelve give 94.1 and 87.8 on the development set."""
    folder = data_folder / "ud-chinese-gsd-simplified"
    train, dev = (
        [[(word.form, word.xpos) for word in each.words] for each in read_conllu(folder / name)]
        for name in ("train.conll.xz", "dev.conll")
    )
    assert sum(map(len, train)) == 98_608
    model = WordJointTagger(epochs=1, beam=8).fit(train)
    scores = model.evaluate(dev, n_threads=2)
    assert 0.89 < (scores.seg_f or 0) < 0.91
    assert 0.805 < (scores.joint_f or 0) < 0.83
