"""Our tokenizer under what else spaCy has: matchers, rulers, DocBin, bytes."""

from __future__ import annotations

from pathlib import Path

import pytest
import spacy
from pipeline.made_up import DEV, TEXTS, tokens, untrained
from spacy.language import Language
from spacy.matcher import Matcher, PhraseMatcher
from spacy.tokens import DocBin
from spacy.vocab import Vocab

TEXT = "昨天，我们一起去火车站看朋友。 小王和赵明都不喜欢雨伞。"
WORDS = [
    *["昨天", "，", "我们", "一起", "去", "火车站", "看", "朋友", "。"],
    *["小王", "和", "赵明", "都", "不", "喜欢", "雨伞", "。"],
]


@pytest.fixture
def nlp(model_best: Path) -> Language:
    return spacy.load(model_best)


def test_the_text_of_these_tests(nlp: Language) -> None:
    assert tokens(nlp(TEXT)) == WORDS
    assert nlp(TEXT).text == TEXT


def test_phrase_matcher(nlp: Language) -> None:
    matcher = PhraseMatcher(nlp.vocab)
    # A phrase of several tokens must be segmented as it is in the text.
    matcher.add("PLACE", list(nlp.tokenizer.pipe(["火车站", "公园"])))
    matcher.add("NEGATED", [nlp.make_doc("都不喜欢")])
    doc = nlp(TEXT)
    found = {(doc[start:end].text, nlp.vocab.strings[key]) for key, start, end in matcher(doc)}
    assert found == {("火车站", "PLACE"), ("都不喜欢", "NEGATED")}
    assert [(start, end) for _, start, end in matcher(nlp("火车"))] == []


def test_matcher(nlp: Language) -> None:
    matcher = Matcher(nlp.vocab)
    matcher.add("LIKES", [[{"TEXT": "喜欢"}, {"LENGTH": 2}]])
    ((_, start, end),) = matcher(nlp(TEXT))
    assert (start, end) == (14, 16)


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


def test_docbin(nlp: Language, tmp_path: Path) -> None:
    texts = [*TEXTS, TEXT, " \n", "老师\n 小王"]
    DocBin(docs=list(nlp.pipe(texts))).to_disk(tmp_path / "docs.spacy")
    docs = list(DocBin().from_disk(tmp_path / "docs.spacy").get_docs(Vocab()))
    assert [doc.text for doc in docs] == texts
    assert [tokens(doc) for doc in docs[: len(DEV)]] == DEV
    assert [tokens(doc) for doc in docs] == [tokens(nlp(text)) for text in texts]


def test_bytes_of_the_pipeline(nlp: Language) -> None:
    other = untrained()
    other.add_pipe("structreg_tokenizer_trainer", name="tokenizer_trainer")
    other.from_bytes(nlp.to_bytes())
    assert [tokens(doc) for doc in other.pipe(TEXTS)] == DEV
    assert other.to_bytes(exclude=["meta"]) == nlp.to_bytes(exclude=["meta"])
