"""Tokenizers that find URLs, measures, emoji and the like: their Docs, and what is stored."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
import spacy
from example_counts import quick_examples
from hypothesis import given
from hypothesis import strategies as st
from pipeline.made_up import TEXTS, TRAIN, tokens, with_tags

TOKENIZERS = {"WordSegmenter": "Segmenter", "CharacterJointTagger": "JointTagger"}
architectures = pytest.mark.parametrize("architecture", TOKENIZERS)


@cache
def pipeline(architecture: str, *whole: str) -> Any:
    """A pipeline that has seen two sentences with runs."""
    tokenizer = {
        "@tokenizers": f"spacy_structreg.{TOKENIZERS[architecture]}.v1",
        "model": {
            "@architectures": f"spacy_structreg.{architecture}.v1",
            "typed_runs": True,
            "whole_runs": list(whole),
        },
    }
    nlp: Any = spacy.blank("zh", config={"nlp": {"tokenizer": tokenizer}})
    gold = [*TRAIN[:40], ["她", "看", "www.a.cn", "。"], ["有", "5", "kg", "苹果", "😂"]]
    nlp.tokenizer.model.epochs = 2
    tagged = TOKENIZERS[architecture] == "JointTagger"
    nlp.tokenizer.model.fit(list(map(with_tags, gold)) if tagged else gold)
    return nlp


@architectures
def test_spacy_knows_what_tokens_look_like(architecture: str) -> None:
    text = "她看https://a.cn/b?c=1，写信给wang@a.com。买了35kg苹果，共 1,200 元 ￥3.5"
    doc = pipeline(architecture)(text)
    assert doc.text == text
    assert [token.text for token in doc if token.like_url] == ["https://a.cn/b?c=1"]
    assert [token.text for token in doc if token.like_email] == ["wang@a.com"]
    assert [token.text for token in doc if token.like_num] == ["35", "1,200", "3.5"]
    assert [token.text for token in doc if token.is_currency] == ["￥"]
    assert [token.whitespace_ for token in doc if token.like_num] == ["", " ", ""]


PIECES = [
    *(*TEXTS[:3], " ", "\n", "  ", "\u3000", "\u0301", "https://a.cn/b", "重35 kg", "￥ 3"),
    *(
        "#早安 你好#",
        "😂😂",
        "👨‍👩‍👧",
        "@小王 ",
        "(╯°□°)╯",
        "( ´ ▽ ` )",
        "……",
        "v2.0",
        "3.5万",
        "T恤",
    ),
]
any_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@architectures
@given(st.lists(st.sampled_from(PIECES), max_size=6).map("".join) | any_text)
@quick_examples(30)
def test_the_text_of_a_doc_is_the_text(architecture: str, text: str) -> None:
    for nlp in (pipeline(architecture), pipeline(architecture, "price", "measure", "topic")):
        doc = nlp(text)
        assert doc.text == text
        assert not any(
            token.text.strip() and character.isspace() for token in doc for character in token.text
        )
        assert tokens(next(nlp.pipe([text]))) == tokens(doc)
