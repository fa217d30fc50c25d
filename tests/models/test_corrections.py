"""Corrections of models: what they rest on, and what cannot be corrected.

That they come out right, and stay so in files, is in `tests/contract`.
"""

from __future__ import annotations

from collections import Counter

from made_up_corpora import sentences, text_of

from spacy_structreg.models.joint.joint_taggers import CharacterJointTagger, WordJointTagger
from spacy_structreg.models.segmentation import CharacterSegmenter
from spacy_structreg.models.tagging import Tagger

TRAIN = sentences(60, seed=5)
# Against the corpus, where 学生会 is a word, and so are 上海 and 海边.
WRONG = [["学生", "会", "去", "上", "海边", "。"], ["中国人", "不", "看书"]]


def tagged(words: list[str]) -> list[tuple[str, str]]:
    """Words with made-up tags, by their lengths."""
    return [(word, "ABC"[min(len(word), 3) - 1]) for word in words]


def retagged(words: list[str]) -> list[tuple[str, str]]:
    """The same but for the first word."""
    (word, tag), *rest = tagged(words)
    return [(word, "C" if tag != "C" else "A"), *rest]


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


def test_models_that_counted_nothing(fitted: CharacterSegmenter) -> None:
    """Files of those have no counts; corrections go without."""
    header, arrays = fitted.contents()
    bare = {name: array for name, array in arrays.items() if not name.endswith("occurrences")}
    assert len(bare) < len(arrays)
    model = CharacterSegmenter.from_contents("bare", header, bare)
    model.correct([WRONG[0]])
    assert model.predict(text_of(WRONG[0])) == WRONG[0]
    assert not any(name.endswith("occurrences") for name in model.contents()[1])


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
