"""Corrections of every kind of model: right at once, little else changed, kept by files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from looped import looped
from made_up_corpora import sentences, text_of

from spacy_structreg.corpora.dependencies import ROOT
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.learn.learning_settings import Learning, LogLinear
from spacy_structreg.models.dependencies import DependencyParser
from spacy_structreg.models.guided import GuidedJointTagger, GuidedSegmenter
from spacy_structreg.models.joint.joint_taggers import CharacterJointTagger, WordJointTagger
from spacy_structreg.models.labeling.labelers import FeatureLabeler
from spacy_structreg.models.segmentation import CharacterSegmenter, WordSegmenter
from spacy_structreg.models.tagging import Tagger

TRAIN = sentences(60, seed=5)
# Against the corpus, where 学生会 is a word, and so are 上海 and 海边.
WRONG = [["学生", "会", "去", "上", "海边", "。"], ["中国人", "不", "看书"]]
# Any word may have any tag.
ANYTHING = {"lengths": False, "dictionary": False, "least_begun": None}


def tagged(words: list[str]) -> list[tuple[str, str]]:
    """Words with made-up tags, by their lengths."""
    return [(word, "ABC"[min(len(word), 3) - 1]) for word in words]


def retagged(words: list[str]) -> list[tuple[str, str]]:
    """The same but for the first word."""
    (word, tag), *rest = tagged(words)
    return [(word, "C" if tag != "C" else "A"), *rest]


def tree(words: list[str], *, chain: bool) -> Sentence:
    """A tree in which each word depends on the first, or, as a chain, on the one before it."""
    heads = [ROOT, *(i if chain else 0 for i in range(len(words) - 1))]
    pairs = tagged(words)
    labels = ["root", *("x" for _ in words[1:])]
    return Sentence(
        words=tuple(words),
        tags=tuple(tag for _, tag in pairs),
        heads=tuple(heads),
        labels=tuple(labels),
    )


def words_of(model: Any, gold: Any) -> Any:
    return model.predict(text_of(gold))


def pairs_of(model: Any, gold: Any) -> Any:
    return model.predict_tagged(text_of(word for word, _ in gold))


def tags_of(model: Any, gold: Any) -> Any:
    words = [word for word, _ in gold]
    return list(zip(words, model.predict(words), strict=True))


def labels_of(model: Any, gold: Any) -> Any:
    items = [item for item, _ in gold]
    return list(zip(items, model.predict(items), strict=True))


CASES: dict[str, tuple[Callable[[], Any], Any, Any, Any]] = {
    "characters": (lambda: CharacterSegmenter(epochs=3), list, list, words_of),
    "perceptron": (
        lambda: CharacterSegmenter(epochs=3, learning=Learning(), sentences="doc"),
        list,
        list,
        words_of,
    ),
    "log-linear": (
        lambda: CharacterSegmenter(epochs=3, learning=LogLinear(), scheme="six"),
        list,
        list,
        words_of,
    ),
    "words": (lambda: WordSegmenter(epochs=2, beam=8), list, list, words_of),
    "counted words": (
        lambda: WordSegmenter(epochs=2, beam=8, learning=Learning(min_count=2)),
        list,
        list,
        words_of,
    ),
    "guided": (
        lambda: GuidedSegmenter(
            characters=CharacterSegmenter(epochs=2, learning=Learning()),
            words=WordSegmenter(epochs=2, beam=4),
        ),
        list,
        list,
        words_of,
    ),
    "joint characters": (lambda: CharacterJointTagger(epochs=3), tagged, retagged, pairs_of),
    "joint words": (
        lambda: WordJointTagger(epochs=2, beam=8, **ANYTHING),
        tagged,
        retagged,
        pairs_of,
    ),
    "guided joint": (
        lambda: GuidedJointTagger(
            characters=CharacterJointTagger(epochs=2, learning=Learning()),
            words=WordJointTagger(epochs=2, beam=4, **ANYTHING),
        ),
        tagged,
        retagged,
        pairs_of,
    ),
    "tagger": (lambda: Tagger(epochs=2, dictionary=None), tagged, retagged, tags_of),
}


@looped("kind", CASES)
def test_corrections_come_out_right_at_once(kind: str) -> None:
    make, before, corrected, predict = CASES[kind]
    model = make().fit(list(map(before, TRAIN)))
    gold = [corrected(words) for words in WRONG]
    assert any(predict(model, sentence) != sentence for sentence in gold)
    report = model.correct(gold, sample=[before(words) for words in TRAIN[:20]])
    assert report.n_sentences == 2
    assert not report.wrong
    assert report.n_corrected >= 1
    assert report.n_steps >= 1
    assert [predict(model, sentence) for sentence in gold] == gold
    # What is saved is what has been corrected, and nothing more is to be done.
    again = type(model).from_bytes(model.to_bytes())
    assert [predict(again, sentence) for sentence in gold] == gold
    seen = list(map(before, sentences(40, seed=2)))
    assert [predict(again, sentence) for sentence in seen] == [
        predict(model, sentence) for sentence in seen
    ]
    assert again.correct(gold).n_right == 2
    assert again.to_bytes() == model.to_bytes()


@pytest.mark.parametrize("update", ["max_violation", "every"])
def test_trees_come_out_right_at_once(update: str) -> None:
    parser = DependencyParser(epochs=2, beam=1 if update == "every" else 4, update=update)
    parser.fit([tree(words, chain=False) for words in TRAIN])
    gold = [tree(words, chain=True) for words in WRONG]
    assert parser.evaluate(gold).as_dict()["dep_las"] < 1
    assert not parser.correct(gold).wrong
    assert parser.evaluate(gold).as_dict()["dep_las"] == 1


@pytest.mark.parametrize("learning", [Learning(), LogLinear()], ids=["perceptron", "log-linear"])
def test_labels_come_out_right_at_once(learning: Learning | LogLinear) -> None:
    def items(pairs: list[tuple[str, str]]) -> list[tuple[dict[str, float], str]]:
        return [({f"w:{word}": 1.0, "long": 0.5 * len(word)}, label) for word, label in pairs]

    model = FeatureLabeler(epochs=3, edges=["long"], learning=learning)
    model.fit([items(tagged(words)) for words in TRAIN])
    gold = [items(retagged(words)) for words in WRONG]
    assert any(labels_of(model, sentence) != sentence for sentence in gold)
    assert not model.correct(gold, sample=[items(tagged(words)) for words in TRAIN]).wrong
    assert [labels_of(model, sentence) for sentence in gold] == gold


def test_little_else_changes(fitted: CharacterSegmenter, dev: list[list[str]]) -> None:
    """With a sample, as many decisions stay as without, or more; the weights move little."""
    changed = {}
    for sample in ((), [fitted.predict(text_of(words)) for words in sentences(150, seed=1)]):
        model = CharacterSegmenter.from_bytes(fitted.to_bytes())
        before = [model.predict(text_of(words)) for words in dev]
        model.correct([WRONG[0]], sample=sample)
        after = [model.predict(text_of(words)) for words in dev]
        changed[bool(sample)] = sum(a != b for a, b in zip(before, after, strict=True))
    assert changed[True] <= changed[False] < len(dev) / 2


def characters_of(model: CharacterSegmenter) -> list[int]:
    """Bits of the counts of the rows of single characters, sorted."""
    rows = [table.arrays for table in model._decoders().tables]
    return sorted(next(each for each in rows if len(each["keys"]) > 20)["occurrences"].tolist())


def test_training_counts_what_corrections_rest_on() -> None:
    """`fit` counts sentences once, `learn` at each visit; files and averages keep it."""
    expected = Counter("".join(map(text_of, TRAIN)))
    settings = {"templates": ["c0"], "sentences": "doc", "types": None, "epochs": 3}
    model = CharacterSegmenter(**settings).fit(TRAIN)
    bits = characters_of(model)
    # A character whose weights came to nothing has no row.
    assert not Counter(bits) - Counter(n.bit_length() for n in expected.values())
    assert len(bits) > len(expected) / 2
    assert characters_of(CharacterSegmenter.from_bytes(model.to_bytes())) == bits
    several = CharacterSegmenter(**settings, n_models=2).fit(TRAIN)
    assert max(characters_of(several)) == max(bits)
    running = CharacterSegmenter(**settings)
    compiled = running.compile(TRAIN)
    for _ in range(3):
        running.learn(compiled)
    assert max(characters_of(running)) == (3 * max(expected.values())).bit_length()
    state = CharacterSegmenter.from_bytes(running.to_bytes(state="training"))
    assert characters_of(state) == characters_of(running)


@pytest.mark.parametrize("kind", ["words", "tagger", "log-linear"])
def test_all_trainers_count(kind: str) -> None:
    make, before, _, _ = CASES[kind]
    model = make().fit(list(map(before, TRAIN)))
    for table in model._decoders().tables:
        assert table.arrays["occurrences"].any()


def test_models_that_counted_nothing(fitted: CharacterSegmenter) -> None:
    """Files of those have no counts; corrections go without."""
    header, arrays = fitted.contents()
    bare = {name: array for name, array in arrays.items() if not name.endswith("occurrences")}
    assert len(bare) < len(arrays)
    model = CharacterSegmenter.from_contents("bare", header, bare)
    model.correct([WRONG[0]])
    assert model.predict(text_of(WRONG[0])) == WRONG[0]
    assert not any(name.endswith("occurrences") for name in model.contents()[1])


def test_mapped_files_may_be_replaced_after_a_correction(
    fitted: CharacterSegmenter, tmp_path: Path
) -> None:
    path = tmp_path / "model.srm"
    fitted.save(path)
    model = CharacterSegmenter.load(path, mapped=True)
    model.correct([WRONG[0]])
    path.write_bytes(b"")
    assert model.predict(text_of(WRONG[0])) == WRONG[0]


def test_predictions_that_have_begun_are_by_the_old_weights(fitted: CharacterSegmenter) -> None:
    model = CharacterSegmenter.from_bytes(fitted.to_bytes())
    text = text_of(WRONG[0])
    with model._decoders().borrow():
        old = model._decoders()
        before = model.predict(text)
        model.correct([WRONG[0]])
        assert model.predict(text) == WRONG[0] != before
        again = CharacterSegmenter.from_bytes(fitted.to_bytes())
        again._set_weights(old.tables)
        assert again.predict(text) == before


def test_what_is_right_changes_nothing(fitted: CharacterSegmenter) -> None:
    model = CharacterSegmenter.from_bytes(fitted.to_bytes())
    data = model.to_bytes()
    gold = [model.predict("学生看书。"), model.predict("他们去上海")]
    report = model.correct(gold)
    assert (report.n_sentences, report.n_right, report.n_corrected) == (2, 2, 0)
    assert model.to_bytes() == data


def test_what_cannot_be_made_right_is_named() -> None:
    """A tag that the model does not know, and one that its dictionary leaves out."""
    model = CharacterJointTagger(epochs=2).fit(list(map(tagged, TRAIN)))
    report = model.correct([tagged(WRONG[0]), [("学生", "Z")]])
    assert set(report.wrong) == {1}
    assert "Z" in (report.wrong[1] or "")
    tagger = Tagger(epochs=2, dictionary=1).fit(list(map(tagged, TRAIN)))
    report = tagger.correct([retagged(TRAIN[0])])
    assert "the dictionary of the model gives" in (report.wrong[0] or "")
    assert report.n_corrected == 0
    tagger = Tagger(epochs=2, dictionary=None, closed_tags=["A"]).fit(list(map(tagged, TRAIN)))
    report = tagger.correct([[("new", "A")]])
    assert "setting of dictionary or closed_tags" in (report.wrong[0] or "")
    joint = WordJointTagger(epochs=2, beam=4, max_word_length=4).fit(list(map(tagged, TRAIN)))
    report = joint.correct([[("学生会", "A")]])
    assert "never gives '学生会' the tag A" in (report.wrong[0] or "")


def test_sentences_that_contradict_each_other(fitted: CharacterSegmenter) -> None:
    """Work is bounded, and one of the two is named."""
    model = CharacterSegmenter.from_bytes(fitted.to_bytes())
    report = model.correct([["学生会"], ["学生", "会"]])
    assert len(report.wrong) == 1


def test_corrections_of_a_running_training(train: list[list[str]]) -> None:
    """It ends, and another one goes on from the corrected weights."""
    model = CharacterSegmenter(epochs=3)
    for _ in range(3):
        model.partial_fit(train)
    assert model.is_training
    model.correct([WRONG[0]])
    assert not model.is_training
    assert model.corpus_checksum is None
    assert model.predict(text_of(WRONG[0])) == WRONG[0]
    compiled = model.compile([WRONG[0]])
    assert model.owns(compiled)
    model.learn(compiled)
    assert model.correct([WRONG[0]]).wrong == {}


def test_later_corrections_go_on_from_earlier_ones(fitted: CharacterSegmenter) -> None:
    model = CharacterSegmenter.from_bytes(fitted.to_bytes())
    for gold in WRONG:
        model.correct([gold])
        assert model.predict(text_of(gold)) == gold
    assert model.predict(text_of(WRONG[0])) == WRONG[0]


def test_users_mistakes(fitted: CharacterSegmenter) -> None:
    with pytest.raises(ValueError, match="has not been trained"):
        CharacterSegmenter().correct([["学生"]])
    model = CharacterSegmenter.from_bytes(fitted.to_bytes())
    for gold, reason in (
        ([], "correction corpus is empty"),
        ([["学生"], "学生"], "sentence 2 of the correction corpus"),
        ([[" "]], "correction corpus is empty"),
    ):
        with pytest.raises(ValueError, match=reason):
            model.correct(gold)
    with pytest.raises(ValueError, match="is not a list of words"):
        model.correct([["学生"]], sample=[3])
    assert model.correct([[], ["学生"]]).n_sentences == 2
