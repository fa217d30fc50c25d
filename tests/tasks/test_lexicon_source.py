"""Atoms of listed words, against a slow twin; and what models make of them."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from example_counts import quick_examples
from hypothesis import example, given
from hypothesis import strategies as st

from spacy_structreg.corpora.corpus_errors import CorpusError
from spacy_structreg.corpora.word_lists import ListedWord
from spacy_structreg.features.knowledge import LEXICON_ATOMS
from spacy_structreg.models.joint.joint_taggers import CharacterJointTagger, WordJointTagger
from spacy_structreg.models.knowledge import contents_of, restored_sources
from spacy_structreg.models.segmentation import CharacterSegmenter, WordSegmenter
from spacy_structreg.models.tagging import Tagger
from spacy_structreg.tasks.knowledge.known_words import KnownWords
from spacy_structreg.tasks.knowledge.lexicon_source import LexiconSource
from spacy_structreg.tasks.segmentation.characters import CharacterAtoms

Entries = Mapping[str, tuple[int, tuple[str, ...]]]

LIST = "苹果 9 n\n图书馆 3 n\n图书 7 n\n好吃 2 a\n红苹果 1 n\n书 100 n\n"
TAGGED = [
    [("红", "J"), ("苹果", "N"), ("好吃", "J"), ("。", "P")],
    [("他", "R"), ("在", "P"), ("图书馆", "N"), ("看", "V"), ("书", "N")],
    [("青", "J"), ("苹果", "N"), ("不", "D"), ("好吃", "J")],
    [("图书", "N"), ("很", "D"), ("多", "J"), ("。", "P")],
]
WORDS = [[word for word, _ in sentence] for sentence in TAGGED]
TEXTS = ["青苹果很好吃。", "他看图书", "书", "图书馆在多。", ""]


def known(entries: Entries) -> KnownWords:
    return KnownWords.of(
        ListedWord(word, tags, frequency) for word, (frequency, tags) in entries.items()
    )


def twin(entries: Entries, text: str) -> dict[str, list[int]]:
    """The streams of a text, word by word and place by place."""
    sets = sorted({",".join(sorted({*tags})) for _, tags in entries.values()} - {""})
    places = [
        (start, start + len(word), word)
        for word in entries
        for start in range(len(text))
        if len(word) > 1 and text.startswith(word, start)
    ]
    streams: dict[str, list[int]] = {atom: [] for atom in LEXICON_ATOMS}
    for i in range(len(text)):
        around = {
            "b": [place for place in places if place[0] == i],
            "e": [place for place in places if place[1] == i + 1],
            "m": [place for place in places if place[0] < i < place[1] - 1],
        }
        for letter, found in around.items():
            length, frequency, tags = 0, 0, ""
            if found:
                start, end, word = max(found, key=lambda place: (place[1] - place[0], -place[0]))
                length, frequency = min(end - start, 5), min(entries[word][0].bit_length(), 15)
                tags = ",".join(sorted({*entries[word][1]}))
            streams[f"lex{letter}"].append(length)
            streams[f"freq{letter}"].append(frequency)
            streams[f"tag{letter}"].append(1 + sets.index(tags) if tags else 0)
    return streams


words = st.text("ab中", min_size=1, max_size=7)
tags = st.lists(st.sampled_from("NVP"), max_size=2).map(tuple)
listed = st.dictionaries(words, st.tuples(st.integers(0, 1 << 17), tags), max_size=12)


@quick_examples(100)
@given(listed, st.text("ab中c", max_size=14))
@example({"a" * n: (n, ("N",) * (n % 2)) for n in range(1, 7)}, "a" * 40)
def test_streams_are_those_of_the_twin(entries: Entries, text: str) -> None:
    source = LexiconSource(known(entries))
    atoms = CharacterAtoms(sources=[source])
    symbols = atoms.symbols(text, 3)
    expected = twin(entries, text)
    assert list(source.atoms) == list(expected)
    for stream, (atom, values) in zip(symbols[1:].tolist(), expected.items(), strict=True):
        assert stream == [0, 0, 0, *values, 0, 0, 0], atom
        assert max(stream) < 2 ** source.atoms[atom]
    (again,) = restored_again(source)
    assert (CharacterAtoms(sources=[again]).symbols(text, 3) == symbols).all()


def restored_again(source: LexiconSource) -> list[Any]:
    return restored_sources(*contents_of(CharacterAtoms(sources=[source])))


def test_too_many_sets_of_tags_are_refused() -> None:
    with pytest.raises(ValueError, match="at most 65,535 are allowed"):
        KnownWords.of(ListedWord(f"词{n}", (str(n),), 0) for n in range(65_536))


def test_faulty_contents_are_refused() -> None:
    words = known({"苹果": (3, ("n",)), "图书": (0, ())})
    entries, arrays = words.contents()
    assert KnownWords.from_contents(entries, arrays).contents()[0] == entries
    kinds = arrays["kinds"]
    wrong: list[Any] = [
        None,
        kinds.astype(np.uint64),
        kinds[:1],
        kinds[:, :0],
        kinds[:, :2],
        kinds.ravel(),
        kinds + np.uint16(1),
        kinds * np.uint16(100),
    ]
    for array in wrong:
        with pytest.raises(ValueError, match=r"tag sets|node"):
            KnownWords.from_contents(entries, arrays | {"kinds": array})
    for tag_sets in (None, ["n", 3], []):
        with pytest.raises(ValueError, match=r"tag_sets|tag sets"):
            KnownWords.from_contents(entries | {"tag_sets": tag_sets}, arrays)


@pytest.fixture
def word_list(tmp_path: Path) -> Path:
    path = tmp_path / "dict.txt"
    path.write_text(LIST, encoding="utf-8")
    return path


MODELS = [CharacterSegmenter, CharacterJointTagger, WordSegmenter, WordJointTagger]


@pytest.mark.parametrize("model", [*MODELS, Tagger])
def test_a_model_is_stored_with_its_word_list(model: Any, word_list: Path, tmp_path: Path) -> None:
    gold = WORDS if model.PRIMARY == "seg_f" else TAGGED
    asked: Any = WORDS if model is Tagger else TEXTS
    trained = model(epochs=5, lexicon=str(word_list)).fit(gold)
    expected = trained.predict_batch(asked)
    trained.save(tmp_path / "model.srt")
    word_list.unlink()
    loaded = model.load(tmp_path / "model.srt", mapped=True)
    assert loaded.lexicon == str(word_list)
    assert loaded.predict_batch(asked) == expected
    assert pickle.loads(pickle.dumps(loaded)).predict_batch(asked, n_threads=2) == expected
    assert loaded.to_bytes() == trained.to_bytes()
    assert model.average([loaded, trained]).predict_batch(asked) == expected


@pytest.mark.parametrize("model", MODELS)
def test_models_of_other_word_lists_are_not_averaged(
    model: Any, word_list: Path, tmp_path: Path
) -> None:
    gold = TAGGED if model.PRIMARY == "joint_f" else WORDS
    other = tmp_path / "other.txt"
    other.write_text("苹果\n", encoding="utf-8")
    models = [model(epochs=2, lexicon=[str(path)]).fit(gold) for path in (word_list, other)]
    with pytest.raises(ValueError, match="differ in sources"):
        model.average(models)


@pytest.mark.parametrize("model", MODELS[:2])
def test_templates_of_listed_words_take_the_place_of_the_usual_ones(
    model: Any, word_list: Path
) -> None:
    usual = model(lexicon=str(word_list)).templates
    assert {"lexe0lexb+1", "tage-1tagb0"} <= {*usual}
    chosen = model(lexicon=str(word_list), templates=["zhang2014", "lexb0lexe0 | freqb0"])
    others = [each for each in usual if not any(name in each for name in ("lex", "freq", "tag"))]
    assert sorted(chosen.templates) == sorted([*others, "lexb0lexe0", "freqb0"])
    gold = TAGGED if model.PRIMARY == "joint_f" else WORDS
    texts = ["".join(words) for words in WORDS]
    assert chosen.fit(gold).predict_batch(texts) == WORDS


def test_faults_of_word_lists_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_text("词\tN\tmany\n", encoding="utf-8")
    with pytest.raises(CorpusError, match=r"list\.txt:1"):
        CharacterSegmenter(lexicon=str(path)).fit(WORDS)
    path.write_text("\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"list\.txt:1: no word in the list"):
        WordSegmenter(lexicon=str(path)).fit(WORDS)
    with pytest.raises(OSError, match=r"none\.txt"):
        WordJointTagger(lexicon=str(tmp_path / "none.txt")).fit(TAGGED)


def test_what_is_only_listed_is_learned_from(word_list: Path) -> None:
    """Words of characters never seen, which only the list knows."""
    word_list.write_text("".join(f"{w} 1 n\n" for w in ["甲乙", "丙丁", "戊己"]), encoding="utf-8")
    gold = [["甲乙", "甲", "丙丁"], ["丙", "丙丁", "甲乙"], ["甲", "甲乙"]] * 3
    for model in (CharacterSegmenter, WordSegmenter):
        trained: Any = model(epochs=10, lexicon=str(word_list)).fit(gold)
        assert trained.predict("戊己") == ["戊己"]


def test_atoms_of_candidate_words(word_list: Path) -> None:
    """Of words hidden from the model, only the list says anything."""
    templates = "separate: listed(w-1) | tags(w-1) | listed(w-2) listed(w-1) | tags(w-2)"
    model = WordSegmenter(
        epochs=20, templates=templates, types=None, lexicon=str(word_list), max_word_length=3
    ).fit([["红苹果", "好吃"], ["图书馆", "红苹果"], ["图书", "好吃"]])
    assert model.predict("好吃图书馆") == ["好吃", "图书馆"]


def test_without_a_word_list_its_atoms_are_null() -> None:
    """Templates of one's own that read them are never raised, and say nothing."""
    model = WordSegmenter(epochs=3, templates=["zhang_clark_2011", "lexicon"]).fit(WORDS)
    plain = WordSegmenter(epochs=3).fit(WORDS)
    assert model.predict_batch(TEXTS) == plain.predict_batch(TEXTS)


def test_listed_tags_are_learned_from(word_list: Path) -> None:
    """Of words that were never seen, and are hidden from the model, the list says the tag."""
    word_list.write_text("甲\tn\n乙\tn\n丙\tv\n丁\tv\n戊\t\nＡ\tv\n", encoding="utf-8")
    tagger = Tagger(
        epochs=10, templates="tag: listed(w0)", dictionary=None, lexicon=[str(word_list)]
    ).fit([[("甲", "N"), ("丙", "V"), ("戊", "J"), ("己", "R")]] * 5)
    assert tagger.predict(["乙", "丁", "戊", "庚", "A", "长" * 300]) == [*"NVJRVR"]
