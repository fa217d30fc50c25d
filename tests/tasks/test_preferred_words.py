"""Words that join the lexicon of a model at run time: as if it had listed them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from example_counts import quick_examples
from hypothesis import given
from hypothesis import strategies as st
from looped import looped
from tasks.test_lexicon_source import LIST, TAGGED, TEXTS, WORDS, Entries, known, listed, twin

from spacy_structreg.models.guided import GuidedSegmenter
from spacy_structreg.models.joint.joint_reranker import JointReranker
from spacy_structreg.models.joint.joint_taggers import CharacterJointTagger, WordJointTagger
from spacy_structreg.models.segmentation import CharacterSegmenter, WordSegmenter
from spacy_structreg.tasks.knowledge.lexicon_source import LexiconSource
from spacy_structreg.tasks.segmentation.characters import CharacterAtoms
from spacy_structreg.tasks.segmentation.user_words import CompiledWords, UserWords, WordEntry

ENTRIES = st.builds(
    lambda tag, mode: WordEntry(tag, mode, 1.0 if mode == "bonus" else 0.0),
    st.sampled_from([None, "N", "V", "X"]),
    st.sampled_from(["prefer", "prefer", "force", "bonus"]),
)
preferred = st.dictionaries(
    st.text("abＡ中 ", min_size=1, max_size=7).filter(lambda word: word == word.strip()),
    ENTRIES,
    max_size=8,
)


def joined(entries: Entries, said: dict[str, WordEntry], usual: int) -> Entries:
    """The list with the words of mode ``prefer``, as a model sees them that sees ASCII in Ａ."""
    sets = {",".join(sorted({*tags})) for _, tags in entries.values()}
    more = {}
    for word, entry in sorted(said.items()):
        if entry.mode == "prefer":
            tags = (entry.tag,) if entry.tag in sets else ()
            more["".join(word.replace("Ａ", "A").split())] = (1 << usual >> 1, tags)
    return {**more, **entries}


@given(listed, preferred, st.text("abA中", max_size=12))
@quick_examples(80)
def test_atoms_are_those_of_the_joined_list(
    entries: Entries, said: dict[str, WordEntry], text: str
) -> None:
    words = known(entries)
    source = LexiconSource(words)
    atoms = CharacterAtoms(None, half_width=True, sources=[source.copy()])
    plain = atoms.symbols(text, 2).tolist()
    other = LexiconSource(words)
    assert atoms.prefer(CompiledWords(said))
    streams = atoms.symbols(text, 0)
    # The numbers of sets of tags are those of the list that the model has.
    sets = sorted({",".join(sorted({*tags})) for _, tags in entries.values()} - {""})
    everything = joined(entries, said, words.usual_frequency())
    expected = twin(everything, text)
    all_sets = sorted({",".join(sorted({*tags})) for _, tags in everything.values()} - {""})
    for name, stream in zip(source.atoms, streams[1:].tolist(), strict=True):
        wanted = expected[name]
        if name.startswith("tag"):
            wanted = [0 if n == 0 else 1 + sets.index(all_sets[n - 1]) for n in wanted]
        assert stream == wanted
    # Others are not touched, and it is undone.
    assert CharacterAtoms(None, True, [other]).symbols(text, 2).tolist() == plain
    assert atoms.prefer(None)
    assert atoms.symbols(text, 2).tolist() == plain


def test_the_most_usual_frequency() -> None:
    words = known({"ab": (4, ()), "abc": (5, ()), "c": (1, ()), "abd": (900, ())})
    assert words.usual_frequency() == 3
    assert known({}).usual_frequency() == 0


def test_a_list_that_a_model_sees_as_it_is_is_not_copied() -> None:
    words = UserWords(["北京", "大学"], mode="prefer").snapshot()
    atoms = CharacterAtoms(None, half_width=True)
    model = known({"学": (1, ())})
    assert words.known_as(model, atoms.seen).lexicon is words.lexicon
    assert words.known_as(model, atoms.seen) is words.known_as(model, atoms.seen)
    wide = UserWords(["Ａ大", "A 大", "学"], mode="prefer").snapshot()
    assert [word for word, _ in wide.known_as(model, atoms.seen).lexicon.items()] == ["A大", "学"]
    mixed = UserWords(["学"], mode="prefer")
    mixed.add("大")
    assert [word for word, _ in mixed.snapshot().known_as(model, str).lexicon.items()] == ["学"]


# Models -------------------------------------------------------------------------------------------


UNTRAINED: dict[str, Callable[..., Any]] = {
    "characters": CharacterSegmenter,
    "words": WordSegmenter,
    "guided": lambda **own: GuidedSegmenter(
        CharacterSegmenter(**own), WordSegmenter(**own), weight=1.0
    ),
    "tagged characters": CharacterJointTagger,
    "tagged words": WordJointTagger,
    "ranked": lambda **own: JointReranker(CharacterJointTagger(**own), WordJointTagger(**own)),
}


@cache
def model(kind: str) -> Any:
    with TemporaryDirectory() as folder:
        path = Path(folder, "words.txt")
        path.write_text(LIST, encoding="utf-8")
        gold = TAGGED if kind in ("tagged characters", "tagged words", "ranked") else WORDS
        return UNTRAINED[kind](epochs=4, lexicon=str(path)).fit(gold)


MORE = UserWords(["龙眼", "火龙果", ("很甜", "a"), "龙眼干"], mode="prefer")
SWEET = ["青龙眼很甜。", "他看火龙果", "龙眼干很多。", *TEXTS]


@looped("kind", UNTRAINED)
def test_all_ways_to_predict_agree(kind: str) -> None:
    plain = [model(kind).predict(text) for text in SWEET]
    found = [model(kind).predict(text, MORE) for text in SWEET]
    assert model(kind).predict_batch(SWEET, user_words=MORE, n_threads=2) == found
    for text, words in zip(SWEET, found, strict=True):
        assert "".join(words) == text
        spans = model(kind).predict_spans(text, MORE).tolist()
        assert [text[start:end] for start, end in spans] == words
        (score, best), *_ = model(kind).nbest(text, 1, MORE)
        assert np.isfinite(score)
        assert [each if isinstance(each, str) else each[0] for each in best] == words
    # What is preferred is forgotten with the call.
    assert [model(kind).predict(text) for text in SWEET] == plain
    scores = [model(kind).nbest(SWEET[0], 1, words)[0][0] for words in (None, MORE, None)]
    assert scores[0] == scores[2] != scores[1]


def test_the_model_joins_what_is_preferred() -> None:
    text = "他看龙眼，很多。"
    assert "龙眼" not in model("characters").predict(text)
    assert "龙眼" in model("characters").predict(text, MORE)


@looped("kind", UNTRAINED)
def test_threads_that_prefer_different_words(kind: str) -> None:
    lists = [None, MORE, UserWords(["眼很", "看火"], mode="prefer"), UserWords(["龙眼很"])]
    expected = [[model(kind).predict(text, words) for text in SWEET] for words in lists]
    wrong: list[object] = []

    def decode(number: int) -> None:
        try:
            for turn in range(40):
                which = (number + turn) % len(lists)
                found = [model(kind).predict(text, lists[which]) for text in SWEET]
                if found != expected[which]:
                    wrong.append((which, found))
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=decode, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_model_without_a_lexicon() -> None:
    fault = "was trained without: train it with the setting lexicon"
    for plain in (CharacterSegmenter(epochs=1), WordSegmenter(epochs=1)):
        plain.fit(WORDS)
        for call in (plain.predict, plain.predict_spans):
            with pytest.raises(ValueError, match=fault):
                call("好吃", MORE)
        with pytest.raises(ValueError, match=fault):
            plain.nbest("好吃", 1, MORE)
        with pytest.raises(ValueError, match=fault):
            plain.predict_batch(["好吃"], user_words=MORE)
        assert plain.predict("好吃") == plain.predict("好吃", UserWords(["没有"]))
