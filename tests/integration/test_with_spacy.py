"""Our tokenizer under what else spaCy has: patterns are segmented by it."""

from __future__ import annotations

from pathlib import Path

import pytest
import spacy
from pipeline.made_up import tokens
from spacy.language import Language
from spacy.matcher import PhraseMatcher

TEXT = "昨天，我们一起去火车站看朋友。 小王和赵明都不喜欢雨伞。"
WORDS = [
    *["昨天", "，", "我们", "一起", "去", "火车站", "看", "朋友", "。"],
    *["小王", "和", "赵明", "都", "不", "喜欢", "雨伞", "。"],
]


@pytest.fixture
def nlp(model_best: Path) -> Language:
    return spacy.load(model_best)


def test_phrase_matcher(nlp: Language) -> None:
    assert tokens(nlp(TEXT)) == WORDS
    matcher = PhraseMatcher(nlp.vocab)
    # A phrase of several tokens must be segmented as it is in the text.
    matcher.add("PLACE", list(nlp.tokenizer.pipe(["火车站", "公园"])))
    matcher.add("NEGATED", [nlp.make_doc("都不喜欢")])
    doc = nlp(TEXT)
    found = {(doc[start:end].text, nlp.vocab.strings[key]) for key, start, end in matcher(doc)}
    assert found == {("火车站", "PLACE"), ("都不喜欢", "NEGATED")}
    assert [(start, end) for _, start, end in matcher(nlp("火车"))] == []


def test_entity_ruler_and_sentencizer(nlp: Language, tmp_path: Path) -> None:
    ruler = nlp.add_pipe("entity_ruler")
    ruler.add_patterns(
        [
            {"label": "PERSON", "pattern": "赵明"},
            {"label": "EVENT", "pattern": "都不喜欢"},
            {"label": "PLACE", "pattern": [{"TEXT": "火车站"}]},
        ]
    )
    nlp.add_pipe("sentencizer")
    nlp.to_disk(tmp_path)
    # Patterns are segmented by the tokenizer, which must be loaded before they are.
    for pipeline in (nlp, spacy.load(tmp_path)):
        doc = pipeline(TEXT)
        assert [(ent.text, ent.label_) for ent in doc.ents] == [
            ("火车站", "PLACE"),
            ("赵明", "PERSON"),
            ("都不喜欢", "EVENT"),
        ]
        assert [len(sentence) for sentence in doc.sents] == [9, 8]
