"""The pipe ``structreg_keywords``: what it writes, and that Docs keep it."""

from __future__ import annotations

import pickle
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import spacy
from looped import looped
from pipeline.made_up import copies
from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_structreg.models.keywords import count_neighbors, text_rank, tf_idf
from spacy_structreg.pipeline.constituency_documents import Phrase, write_phrases
from spacy_structreg.pipeline.keywords import register_keywords

WORDS = ["市民", "在", "图书馆", "读", "书", "，", "图书馆", "的", "线性", "回归", "书", "多", "。"]
TAGS = ["NN", "P", "NN", "VV", "NN", "PU", "NN", "DEG", "NN", "NN", "NN", "VA", "PU"]
UNIVERSAL = {"NN": "NOUN", "P": "ADP", "VV": "VERB", "PU": "PUNCT", "DEG": "PART", "VA": "ADJ"}
POS = [UNIVERSAL[tag] for tag in TAGS]

pytestmark = pytest.mark.usefixtures("extensions")


def pipeline(**settings: Any) -> Language:
    nlp = spacy.blank("zh")
    nlp.add_pipe("structreg_keywords", config=settings)
    return nlp


def plain_doc(vocab: Vocab, *, trees: bool = True, tagged: bool = True) -> Doc:
    tags = {"tags": TAGS, "pos": POS} if tagged else {}
    doc = Doc(vocab, WORDS, [False] * len(WORDS), **tags)
    if trees:
        nouns = [(0, 1), (2, 3), (4, 5), (6, 11)]
        phrases = [Phrase("NP", start, end, end - 1) for start, end in nouns]
        write_phrases(doc, [Phrase("IP", 0, len(WORDS), 3), *phrases])
    return doc


def texts(doc: Doc) -> list[str]:
    return [text for text, _ in doc._.keywords]


def test_keywords_are_scored_and_their_places_marked() -> None:
    nlp = pipeline(n_keywords=4)
    doc = nlp(plain_doc(nlp.vocab))
    scores = tf_idf(Counter(["市民", "图书馆", "图书馆", "线性", "回归", "书"]))
    words = ("线性", "回归", "书")
    found = dict(doc._.keywords)
    assert found["图书馆"] == pytest.approx(scores["图书馆"])
    assert found["线性回归书"] == pytest.approx(sum(map(scores.__getitem__, words)) / 3**0.5)
    # All their words stand in the phrase.
    assert set(found) == {"市民", "图书馆", "线性回归书"}
    assert list(found.values()) == sorted(found.values(), reverse=True)
    spans = [(span.start, span.end, span.text, span.label_) for span in doc.spans["keywords"]]
    assert spans == [
        (0, 1, "市民", "KEYWORD"),
        (2, 3, "图书馆", "KEYWORD"),
        (6, 7, "图书馆", "KEYWORD"),
        (8, 11, "线性回归书", "KEYWORD"),
    ]


def test_text_rank() -> None:
    nlp = pipeline(method="textrank", phrases=False)
    doc = nlp(plain_doc(nlp.vocab))
    counted = {"市民", "图书馆", "线性", "回归"}
    words = [word if word in counted else None for word in WORDS]
    assert dict(doc._.keywords) == pytest.approx(text_rank(count_neighbors(words)))


@looped(
    ("settings", "expected"),
    [
        ({"phrases": False}, {"市民", "图书馆", "线性", "回归"}),
        ({"phrases": False, "min_length": 3}, {"图书馆"}),
        ({"phrases": False, "min_length": 1}, {"市民", "图书馆", "线性", "回归", "书", "读"}),
        ({"phrases": False, "min_length": 1, "pos": ["VERB"]}, {"读"}),
        ({"phrases": False, "min_length": 1, "pos": []}, set()),
        ({"max_words": 2}, {"市民", "图书馆", "线性", "回归"}),
        ({"constituents_key": "others"}, {"市民", "图书馆", "线性", "回归"}),
    ],
)
def test_settings(settings: dict[str, Any], expected: set[str]) -> None:
    nlp = pipeline(**settings)
    assert set(texts(nlp(plain_doc(nlp.vocab)))) == expected


@looped(
    ("settings", "message"),
    [
        ({"method": "bm25"}, "method"),
        ({"n_keywords": 0}, "n_keywords"),
        ({"pos": ["NN"]}, "pos"),
        ({"pos": "NOUN"}, "pos"),
        ({"max_words": 1}, "max_words"),
        ({"nonsense": 1}, "nonsense"),
    ],
)
def test_wrong_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pipeline(**settings)


def test_docs_without_tags_trees_or_words() -> None:
    nlp = pipeline()
    assert set(texts(nlp(plain_doc(nlp.vocab, trees=False)))) == {"市民", "图书馆", "线性", "回归"}
    bare = nlp(plain_doc(nlp.vocab, trees=False, tagged=False))
    # 的 and the like are known by spaCy's stop words.
    assert set(texts(bare)) == {"市民", "图书馆", "线性", "回归"}
    for text in ("", " \n", "，。", "2024"):
        assert nlp(text)._.keywords == []
    assert Doc(nlp.vocab, ["书"])._.keywords == []


def test_docs_and_pipelines_keep_them(tmp_path: Path) -> None:
    nlp = pipeline(method="textrank", n_keywords=2)
    doc = nlp(plain_doc(nlp.vocab))
    expected = doc._.keywords
    assert len(expected) == 2
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    copied = pickle.loads(pickle.dumps(nlp))
    for other in (
        *copies(doc),
        loaded(plain_doc(loaded.vocab)),
        copied(plain_doc(copied.vocab)),
        *nlp.pipe([plain_doc(nlp.vocab)] * 2, n_process=2, batch_size=1),
    ):
        assert other._.keywords == expected


def test_names_that_are_taken() -> None:
    pipeline()
    pipeline()
    with pytest.raises(ValueError, match="extension_prefix"):
        pipeline(spans_key="others")
    nlp = pipeline(spans_key="others", extension_prefix="my_")
    assert nlp(plain_doc(nlp.vocab))._.my_keywords
    register_keywords("my_", "others")


@looped("scores", [7, "ab", [["a"]], [["a", "b"]], [1, 2]])
def test_groups_of_others(scores: object) -> None:
    nlp = pipeline()
    doc = nlp(plain_doc(nlp.vocab))
    doc.spans["keywords"].attrs["scores"] = scores
    with pytest.raises(ValueError, match="no keywords with scores"):
        texts(doc)
    doc.spans["keywords"] = []
    assert texts(doc) == []
