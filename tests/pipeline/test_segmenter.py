"""The tokenizer of words: what its Docs hold, in streams, memory zones and configs."""

from __future__ import annotations

import copy
from itertools import chain
from typing import Any

import pytest
import spacy
from example_counts import quick_examples
from hypothesis import given
from hypothesis import strategies as st
from looped import looped
from pipeline.made_up import CONFIG, DEV, TEXTS, TRAIN, gold_doc, tokens
from pipeline.made_up import trained as make_trained
from pipeline.made_up import untrained as make_untrained
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import fix_random_seed, get_words_and_spaces

from spacy_structreg.pipeline.doc_tokens import WordHashes

TRAINED = make_trained()
UNTRAINED = make_untrained()
CHARACTERS = spacy.blank("zh")
both = pytest.mark.parametrize("nlp", [TRAINED, UNTRAINED], ids=["trained", "untrained"])

WHITE_SPACE = " \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2003\u2028\u2029\u202f\u205f\u3000"
ODD = "\0\x7f\u200b\u200d\ufeff\ufffe\ufe0f\u0301\u20dd👍🏽🇨🇳👩\U00020000\U0010ffff"
SEEN = "".join(sorted(set("".join(chain.from_iterable(TRAIN)))))
ENCODABLE = st.characters(exclude_categories=["Cs"])
any_text = st.one_of(
    st.text(ENCODABLE, max_size=40),
    st.text(st.sampled_from(WHITE_SPACE + "老师A1Ａ１。"), max_size=40),
    st.text(st.sampled_from(WHITE_SPACE + ODD + SEEN), max_size=80),
    st.lists(st.sampled_from([*TEXTS, " ", "\n", "  ", "\u3000"]), max_size=6).map("".join),
)


@pytest.fixture
def nlp() -> Language:
    """A trained pipeline that a test may change."""
    return make_trained()


def parts(doc: Doc) -> list[tuple[str, str]]:
    return [(token.text, token.whitespace_) for token in doc]


# Docs ---------------------------------------------------------------------------------------------


@both
@given(any_text)
def test_the_text_of_a_doc_is_the_text(nlp: Language, text: str) -> None:
    """White space stands as spaCy has it."""
    doc = nlp(text)
    assert doc.text == text
    assert not doc.has_unknown_spaces
    words = [token.text for token in doc if not token.text.isspace()]
    # No word has white space in it, and nothing else is lost or moved.
    assert "".join(words) == "".join(text.split())
    assert not any(character.isspace() for word in words for character in word)
    expected, spaces = get_words_and_spaces(words, text)
    assert parts(doc) == [(w, " " * s) for w, s in zip(expected, spaces, strict=True)]


@given(any_text)
def test_untrained_every_character_is_a_token_as_in_spacys_own_tokenizer(text: str) -> None:
    assert parts(UNTRAINED(text)) == parts(CHARACTERS(text))


@both
@given(st.text(ENCODABLE, max_size=10), st.characters(categories=["Cs"]), st.text(max_size=10))
def test_a_surrogate_is_an_error_with_its_offset(
    nlp: Language, before: str, surrogate: str, after: str
) -> None:
    # The text behind may have further ones; the first is named.
    for text in (before + surrogate + after, before + surrogate + after + "\ud800"):
        message = rf"surrogate, U\+{ord(surrogate):04X}, at offset {len(before)},.*errors='replace'"
        with pytest.raises(ValueError, match=message) as error:
            nlp(text)
        assert not isinstance(error.value, UnicodeError)
        with pytest.raises(ValueError, match=message):
            list(nlp.tokenizer.pipe([text]))
    assert nlp(before).text == before


@both
@given(st.lists(any_text, max_size=8))
@quick_examples(30)
def test_a_stream_equals_one_by_one(nlp: Language, texts: list[str]) -> None:
    expected = [parts(nlp(text)) for text in texts]
    for n_threads in (1, 4):
        # A generator can be read only once.
        stream = nlp.tokenizer.pipe((text for text in texts), n_threads=n_threads)
        assert [parts(doc) for doc in stream] == expected
    assert [parts(doc) for doc in nlp.pipe(texts)] == expected
    assert [parts(doc) for doc in nlp.pipe(nlp.tokenizer.pipe(texts))] == expected


@looped(
    ("text", "expected"),
    [
        ("老师来了。老师走了！", ["老师来了。", "老师走了！"]),
        ("老師來了。老師走了", ["老師來了。", "老師走了"]),
        ("\n老师来了?  老师走了.\n\n老师", ["\n老师来了?  ", "老师走了.\n\n", "老师"]),
        ("“走！”，他说。\u3000好！", ["“走！”，他说。\u3000", "好！"]),
        (" ", [" "]),
        ("\u2028", ["\u2028"]),
        ("。", ["。"]),
        ("", []),
    ],
)
def test_docs_have_the_sentences_of_the_model(text: str, expected: list[str]) -> None:
    for doc in (TRAINED(text), *TRAINED.pipe([text, text])):
        assert [sentence.text_with_ws for sentence in doc.sents] == expected
        assert all((token.is_sent_start in (True, False)) for token in doc)


def test_no_sentence_ends_within_a_token() -> None:
    tokenizer = TRAINED.tokenizer
    text = "你好！老师。老师"
    assert [sent.text for sent in tokenizer(text).sents] == ["你好！", "老师。", "老师"]
    doc = tokenizer(text, spans=[(2, 5, "token")])
    assert "！老师" in [token.text for token in doc]
    assert [sent.text for sent in doc.sents] == ["你好！老师。", "老师"]
    doc = tokenizer(text, user_words=["！老"])
    assert [sent.text for sent in doc.sents] == ["你好！老师。", "老师"]


def test_sentences_that_the_model_does_not_cut_are_unknown() -> None:
    tokenizer: dict[str, Any] = CONFIG["nlp"]["tokenizer"]
    model = {**tokenizer["model"], "sentences": "doc"}
    nlp = spacy.blank("zh", config={"nlp": {"tokenizer": {**tokenizer, "model": model}}})
    nlp.tokenizer.update([gold_doc(nlp.vocab, words) for words in TRAIN])
    assert nlp.tokenizer.is_trained
    assert not nlp("老师来了。老师走了。").has_annotation("SENT_START")
    assert not UNTRAINED("老师来了。老师走了。").has_annotation("SENT_START")


def test_words_of_a_zone_that_has_ended_are_made_again(nlp: Language) -> None:
    """Docs are made of hashes that are kept from call to call, of strings that may be gone."""
    nlp.tokenizer._hashes = WordHashes(nlp.vocab.strings, 20)
    texts = [*TEXTS[:4], "请把Ａ甲放到河边", "NOUN和乙 \n丙。", "", *TEXTS[:2]]
    with TRAINED.memory_zone():
        expected = [parts(TRAINED(text)) for text in texts]
    assert any(("丙", "") in words for words in expected)
    for turn in range(4):
        with nlp.memory_zone():
            assert [parts(nlp(text)) for text in texts] == expected
            assert [parts(nlp(text + "丁" * turn)) for text in texts[:3]]
        assert 0 < len(nlp.tokenizer._hashes) <= 20
        # Nothing of a zone outlives it.
        assert "丙" not in nlp.vocab.strings
    docs = [nlp(text) for text in texts]
    assert [parts(doc) for doc in docs] == expected
    # Another vocabulary has other strings.
    nlp.tokenizer.vocab = spacy.blank("zh").vocab
    assert [parts(nlp.tokenizer(text)) for text in texts] == expected
    assert all(token.text in nlp.tokenizer.vocab.strings for doc in docs for token in doc)


# Initialization -----------------------------------------------------------------------------------


def test_a_pkuseg_model_is_an_error() -> None:
    """What Chinese configs say of it by default is none."""
    nlp = make_trained()
    for user_dict in (None, "default"):
        settings = {"pkuseg_model": None, "pkuseg_user_dict": user_dict}
        nlp.config["initialize"]["tokenizer"] = settings
        nlp.initialize()
    nlp.config["initialize"]["tokenizer"]["pkuseg_model"] = "mixed"
    with pytest.raises(
        ValueError, match=r"pkuseg model 'mixed'.*Segmenter\.v1; remove pkuseg_model"
    ):
        nlp.initialize()


def test_without_a_seed_that_of_the_process_decides() -> None:
    config = copy.deepcopy(CONFIG)
    config["nlp"]["tokenizer"]["model"]["seed"] = None
    seeds = []
    for seed in (1, 1, 2):
        fix_random_seed(seed)
        seeds.append(spacy.blank("zh", config=config).tokenizer.model.seed)
    assert seeds[0] == seeds[1] != seeds[2]


# Conditional random fields ------------------------------------------------------------------------


def test_a_segmenter_is_trained_as_a_conditional_random_field() -> None:
    config = copy.deepcopy(CONFIG)
    learning = {"@misc": "spacy_structreg.LogLinear.v1"}
    config["nlp"]["tokenizer"]["model"]["learning"] = learning
    nlp = spacy.blank("zh", config=config)
    docs = [gold_doc(nlp.vocab, words) for words in TRAIN]
    for _ in range(5):
        nlp.tokenizer.update(docs)
    assert sum(tokens(nlp("".join(words))) == words for words in DEV) > 0.9 * len(DEV)
    learning["optimizer"] = "lbfgs"
    nlp = spacy.blank("zh", config=config)
    with pytest.raises(ValueError, match=r"optimizer = 'lbfgs' .* cannot be had in spacy train"):
        nlp.tokenizer.update(docs)
