"""The tagger of given words, against brute force and through files."""

from __future__ import annotations

import itertools

from looped import looped

from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.metrics.tagging import score_tagging
from spacy_structreg.models.tagging import Tagger

TAGS = ("DET", "NOUN", "VERB")
CORPUS = [
    [("the", "DET"), ("dog", "NOUN"), ("walks", "VERB")],
    [("a", "DET"), ("walk", "NOUN"), ("ends", "VERB")],
    [("dogs", "NOUN"), ("walk", "VERB")],
    [("the", "DET"), ("end", "NOUN"), ("walks", "VERB"), ("a", "DET"), ("dog", "NOUN")],
    [("狗", "NOUN"), ("走", "VERB")],
]
PLAIN = Learning()


def fitted(**settings: object) -> Tagger:
    return Tagger(**{"epochs": 5, "learning": PLAIN, **settings}).fit(CORPUS)  # type: ignore[arg-type]


@looped("words", [["the", "walk"], ["dogs", "end", "walks"], ["x", "", "狗", "a"]])
def test_no_limit_is_exhaustive_search(words: list[str]) -> None:
    """The n-best list without a limit holds every sequence of tags, and its best is the best."""
    tagger = fitted(dictionary=None, decode_beam=None)
    present = [word for word in words if word.strip()]
    found = tagger.nbest(words, 3 ** len(words) + 5)
    sequences = {tuple(tag for tag in tags if tag) for _, tags in found}
    assert sequences == set(itertools.product(TAGS, repeat=len(present)))
    scores = [score for score, _ in found]
    assert scores == sorted(scores, reverse=True)
    assert tagger.predict(words) == found[0][1]


def test_given_tags_stay() -> None:
    tagger = fitted(dictionary=None)
    for given in itertools.product((None, *TAGS), repeat=2):
        tags = tagger.predict(["dogs", "walk"], given=list(given))
        assert all(g is None or g == tag for g, tag in zip(given, tags, strict=True))


def test_dictionary_limits_frequent_words_only() -> None:
    corpus = [[("bank", "NOUN"), ("bank", "NOUN")], [("runs", "VERB"), ("new", "ADJ")]] * 3
    tagger = Tagger(dictionary=5, epochs=2, learning=PLAIN, decode_beam=None).fit(corpus)
    seen = {tags[0] for _, tags in tagger.nbest(["bank"], 10)}
    assert seen == {"NOUN"}
    assert {tags[0] for _, tags in tagger.nbest(["runs"], 10)} == {"NOUN", "VERB", "ADJ"}


CLOSED = [
    [("the", "DET"), ("bank", "NOUN"), ("runs", "VERB")],
    [("of", "ADP"), ("that", "DET"), ("that", "PRON")],
] * 3
# What every sequence of tags is made of, by word: "the" and "that" were seen with closed tags.
OPEN = {"NOUN", "VERB"}
MAY_BE = {"the": {"DET"} | OPEN, "of": {"ADP"} | OPEN, "that": {"DET", "PRON"} | OPEN}


@looped("make", ["as it is", "loaded", "frozen"])
def test_closed_tags_are_for_words_that_were_seen_with_them(make: str) -> None:
    closed = ["ADP", "DET", "PRON", "none"]
    settings = {"closed_tags": closed, "dictionary": None, "decode_beam": None}
    tagger = Tagger(epochs=2, learning=PLAIN, **settings).fit(CLOSED)  # type: ignore[arg-type]
    assert tagger.closed_tags == tuple(closed)
    if make == "loaded":
        tagger = Tagger.from_bytes(tagger.to_bytes())
    elif make == "frozen":
        tagger = tagger.freeze()
    for word in ("the", "of", "that", "bank", "new"):
        tags = {found[0] for _, found in tagger.nbest([word], 10)}
        assert tags == MAY_BE.get(word, OPEN)
    # What is given is above that.
    assert tagger.predict(["new"], given=["DET"]) == ["DET"]
    # Frequent words keep to their tags.
    tagger = Tagger(dictionary=3, closed_tags=closed, epochs=2, decode_beam=None).fit(CLOSED)
    assert {found[0] for _, found in tagger.nbest(["the"], 10)} == {"DET"}
    assert {found[0] for _, found in tagger.nbest(["new"], 10)} == OPEN


def test_words_get_any_tag_where_all_are_closed() -> None:
    tagger = Tagger(dictionary=None, closed_tags=TAGS, epochs=2, decode_beam=None).fit(CORPUS)
    assert {found[0] for _, found in tagger.nbest(["new"], 10)} == set(TAGS)
    assert {found[0] for _, found in tagger.nbest(["the"], 10)} == {"DET"}


def test_evaluate_counts_as_the_metric_does() -> None:
    tagger = fitted()
    gold = [[("the", "DET"), ("new", "NOUN")], [("dog", "VERB")]]
    predicted = tagger.predict_batch([[word for word, _ in sentence] for sentence in gold])
    vocabulary = {word for sentence in CORPUS for word, _ in sentence}
    assert tagger.evaluate(gold, vocabulary=vocabulary) == score_tagging(
        gold, predicted, vocabulary
    )
