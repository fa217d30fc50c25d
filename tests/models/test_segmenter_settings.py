"""Settings and corpora that cannot be used, and what a segmenter without weights may do."""

from __future__ import annotations

from looped import looped
from made_up_corpora import arrays_of

from spacy_structreg.features.segmentation import ZHANG_2014
from spacy_structreg.models.segmentation import CharacterSegmenter

Corpus = list[list[str]]


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

    @looped("character", ["\0", "\ud800", "𠀀", "\U0010ffff", "é", "\u0301"])
    def test_odd_characters(self, character: str) -> None:
        corpus = [[character, "好"], [character + "好", character], ["好" * 3 + character]] * 3
        segmenter = CharacterSegmenter(epochs=5).fit(corpus, corpus)
        again = CharacterSegmenter.from_bytes(segmenter.to_bytes())
        text = f"好{character}好好"
        assert again.predict(text) == segmenter.predict(text)
        assert "".join(again.predict(text)) == text
