"""Settings and corpora that cannot be used, and what a segmenter without weights may do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from looped import looped
from made_up_corpora import arrays_of

from spacy_structreg.features.segmentation import ZHANG_2014
from spacy_structreg.learn.learning_settings import Learning, LogLinear
from spacy_structreg.models.segmentation import CharacterSegmenter

Corpus = list[list[str]]


@looped(
    ("settings", "message"),
    [
        ({"types": "g11"}, "must be one of g10, extended"),
        ({"templates": "w-1"}, "atom 'w', which this model does not have; it has c, type"),
        ({"templates": "type0", "types": None}, "atom 'type', .* it has c;"),
        ({"templates": "zhang2015"}, "'zhang2015' .* tables of templates are zhang2014"),
        ({"templates": ["c0", "zhang2015"]}, "tables of templates are zhang2014"),
        ({"templates": "c"}, "write atoms with their offsets"),
        ({"templates": "c+17"}, "16 is the limit"),
        ({"templates": "c0c0"}, "reads the same atom twice"),
        ({"templates": [], "types": None}, "name at least one"),
        ({"templates": "", "types": None}, "name at least one"),
        ({"templates": " | ", "types": None}, "name at least one"),
        ({"epochs": 0}, "epochs must be at least 1.*, got 0"),
        ({"epochs": -3}, "epochs must be at least 1.*, got -3"),
        ({"patience": 0}, "patience must be at least 1.*, got 0"),
        ({"seed": -1}, "seed must be at least 0.*, got -1"),
        ({"sentences": "line"}, "must be one of punctuation, wrapped, doc"),
        ({"sentences": None}, "must be one of punctuation, wrapped, doc"),
        ({"learning": Learning(min_count=2)}, "min_count is 2, but a segmenter of this kind has"),
        (
            {"learning": LogLinear(noise="gaussian_dropout")},
            "noise is 'gaussian_dropout', but a segmenter of this kind labels .* choose 'dropout'",
        ),
    ],
)
def test_settings_that_do_not_exist(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        CharacterSegmenter(**settings)


@looped(
    "settings",
    [
        {"epochs": 1.5},
        {"epochs": True},
        {"epochs": np.int64(1)},
        {"epochs": 1, "patience": 1.5},
        {"epochs": 1, "seed": 1.0},
        {"epochs": 1, "seed": np.int64(1)},
        {"epochs": 1, "seed": 2**63},
        {"epochs": 1, "seed": 2**64},
        {"epochs": 1, "half_width": 1},
        {"epochs": 1, "half_width": None},
        {"epochs": 1, "skip_bigram": 1},
    ],
    ids=str,
)
def test_settings_that_are_taken_can_be_saved(settings: dict[str, Any], train: Corpus) -> None:
    """An odd value is refused at once, or serves to the end: never is a training lost to it."""
    try:
        segmenter = CharacterSegmenter(**settings)
    except (TypeError, ValueError):
        return
    segmenter.fit(train[:3])
    again = CharacterSegmenter.from_bytes(segmenter.to_bytes())
    assert again.to_bytes() == segmenter.to_bytes()


class TestTemplates:
    def test_a_table_by_its_name(self) -> None:
        named = CharacterSegmenter(templates="zhang2014", types=None)
        assert named.templates == tuple(t.strip() for t in ZHANG_2014.split("|"))
        assert CharacterSegmenter(templates=ZHANG_2014, types=None).templates == named.templates

    def test_a_table_and_own_templates(self, train: Corpus) -> None:
        segmenter = CharacterSegmenter(templates=["zhang2014", "c-2 c+2", "c0type0 | c-1"])
        plain = CharacterSegmenter(templates="zhang2014").templates
        assert set(segmenter.templates) == {*plain, "c-2c+2", "c0type0"}
        assert len(segmenter.templates) == len(plain) + 2
        assert CharacterSegmenter(templates="zhang2014 | c-2c+2 | c0type0 | c-1").templates == (
            segmenter.templates
        )
        words = segmenter.fit(train).predict("学生们在图书馆看书。")
        assert "".join(words) == "学生们在图书馆看书。"
        again = CharacterSegmenter.from_bytes(segmenter.to_bytes())
        assert again.templates == segmenter.templates

    def test_types_and_skip_bigram_add_templates(self) -> None:
        assert "c-1c+1" in CharacterSegmenter(skip_bigram=True).templates
        assert "c-1c+1" not in CharacterSegmenter().templates
        assert any("type" in template for template in CharacterSegmenter(types="g10").templates)
        assert not any("type" in template for template in CharacterSegmenter(types=None).templates)

    def test_types_make_a_difference(self) -> None:
        """Characters never seen are known by their types, and by nothing else."""
        corpus = [[a + b] for a in "123" for b in "456"] + [["我", "有"], ["本", "书"]] * 4
        for types in ("g10", "extended"):
            segmenter = CharacterSegmenter(types=types).fit(corpus)
            assert segmenter.predict("78") == ["78"]
            assert segmenter.predict("它那") == ["它", "那"]
        blind = CharacterSegmenter(types=None).fit(corpus)
        assert len(blind.predict("78")) == len(blind.predict("它那"))

    def test_half_width(self, train: Corpus) -> None:
        """Full-width letters count as the letters that were seen, and stay what they are."""
        wide = str.maketrans("ABC35.", "ＡＢＣ３５．")
        text = "他说ABC很好3.5"
        segmenter = CharacterSegmenter(half_width=True).fit(train)
        words = segmenter.predict(text)
        assert segmenter.predict(text.translate(wide)) == [word.translate(wide) for word in words]
        # Trained on one form, applied to the other.
        turned = [[word.translate(wide) for word in words] for words in train]
        assert arrays_of(CharacterSegmenter(half_width=True).fit(turned)) == arrays_of(segmenter)
        apart = CharacterSegmenter(half_width=False)
        assert arrays_of(apart.fit(turned)) != arrays_of(apart.fit(train))


class TestCorpora:
    @pytest.mark.parametrize("corpus", [[], [[]], [["  "]], [["\n", "\t\u3000"], []]], ids=repr)
    def test_without_words(self, corpus: Corpus, train: Corpus) -> None:
        with pytest.raises(ValueError, match="the training corpus is empty"):
            CharacterSegmenter().fit(corpus)
        with pytest.raises(ValueError, match="the training corpus is empty"):
            CharacterSegmenter().partial_fit(corpus)
        with pytest.raises(ValueError, match="the development corpus is empty"):
            CharacterSegmenter().fit(train[:2], corpus)
        with pytest.raises(ValueError, match="the evaluation corpus is empty"):
            CharacterSegmenter(epochs=1).fit(train[:2]).evaluate(corpus)

    @pytest.mark.parametrize(
        "sentence",
        ["一句话", "", ["一", 3], ["一", None], [b"a"], b"ab", [["一"]], None, 3],
        ids=repr,
    )
    def test_not_lists_of_words(self, sentence: Any, train: Corpus) -> None:
        corpus = [["好"], sentence]
        with pytest.raises(ValueError, match="sentence 2 of the training corpus"):
            CharacterSegmenter().fit(corpus)
        with pytest.raises(ValueError, match="sentence 2 of the training corpus"):
            CharacterSegmenter().partial_fit(corpus)
        with pytest.raises(ValueError, match="sentence 2 of the development corpus"):
            CharacterSegmenter().fit(train[:2], corpus)

    def test_a_text_is_no_corpus(self) -> None:
        with pytest.raises(ValueError, match="sentence 1 of the training corpus"):
            CharacterSegmenter().fit("今天天气很好。")

    def test_white_space_in_words_is_dropped(self, train: Corpus) -> None:
        spaced = [[" ", *(f"\u3000{word} " for word in words), "\n"] for words in train]
        inside = [[" ".join(word) for word in words] for words in train]
        plain = arrays_of(CharacterSegmenter(epochs=2).fit(train))
        for corpus in (spaced, inside, [*train, [" "], []]):
            assert arrays_of(CharacterSegmenter(epochs=2).fit(corpus)) == plain

    def test_any_iterable_of_sentences(self, train: Corpus, dev: Corpus) -> None:
        listed = CharacterSegmenter(epochs=2).fit(train, dev)
        streamed = CharacterSegmenter(epochs=2).fit(map(tuple, train), iter(dev))
        assert streamed.to_bytes() == listed.to_bytes()

    @pytest.mark.parametrize("character", ["\0", "\ud800", "𠀀", "\U0010ffff", "é", "\u0301"])
    def test_odd_characters(self, character: str) -> None:
        corpus = [[character, "好"], [character + "好", character], ["好" * 3 + character]] * 3
        segmenter = CharacterSegmenter(epochs=5).fit(corpus, corpus)
        again = CharacterSegmenter.from_bytes(segmenter.to_bytes())
        text = f"好{character}好好"
        assert again.predict(text) == segmenter.predict(text)
        assert "".join(again.predict(text)) == text
