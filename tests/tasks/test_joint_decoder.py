"""Words and their tags from labels of characters: against brute force, and under constraints."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from twins import is_maximal, path_score

from spacy_structreg.features.template_compiler import compile_shapes
from spacy_structreg.features.templates import parse_templates
from spacy_structreg.learn.perceptron import Perceptron
from spacy_structreg.tasks.chain import ChainDecoder, ChainFeatures
from spacy_structreg.tasks.segmentation.bmes import bmes, six_labels, with_tags
from spacy_structreg.tasks.segmentation.characters import CharacterAtoms, CharacterDecoder
from spacy_structreg.tasks.segmentation.user_words import CompiledWords, Occurrence

TAGS = ("AD", "NN", "VV")
ALPHABET = "我们在北京"
TEXTS = st.text([*ALPHABET, " ", "\u0301"], max_size=7)

Tagged = list[tuple[str, str]]


class Model:
    """Random weights for single characters and pairs of labels, and a decoder by them."""

    def __init__(self, seed: int, scheme=bmes, lists=None) -> None:
        self.scheme = with_tags(scheme(), TAGS)
        n_labels = len(self.scheme.labels)
        atoms = CharacterAtoms()
        parsed = parse_templates(["c0 | t-1t0"], atoms.atoms)
        features = ChainFeatures(compile_shapes(parsed), atoms.atoms, n_labels)
        learner = features.new_learner()
        random = np.random.default_rng(seed)
        self.transitions = random.normal(size=(n_labels, n_labels)).astype(np.float32)
        self.emissions = random.normal(size=(len(ALPHABET), n_labels)).astype(np.float32)
        bigrams, characters = learner.tables
        for (x, y), weight in np.ndenumerate(self.transitions):
            # The pairs of few labels share one row, those of more have one for each first label.
            row, column = (0, x * n_labels + y) if n_labels <= 16 else (int(x), y)
            bigrams.add([(row, column, float(weight))], 1)
        for character, weights in zip(ALPHABET, self.emissions.tolist(), strict=True):
            row = characters.row(ord(character))
            characters.add([(row, i, weight) for i, weight in enumerate(weights)], 1)
        tables = Perceptron(learner.tables, clock=1).average()
        self.decoder = CharacterDecoder(
            atoms,
            ChainDecoder(features, self.scheme.graph, tables),
            self.scheme.begins,
            tags=self.scheme.tags,
            label_tags=self.scheme.tag_of,
            lists=lists,
        )

    def score(self, words: Tagged) -> float:
        """The score of an analysis, from the labels that it stands for."""
        words = [("".join(word.split()), tag) for word, tag in words]
        labels = self.scheme.encode([len(word) for word, _ in words], [tag for _, tag in words])
        zeros = np.zeros(len(self.scheme.labels))
        rows = dict(zip(ALPHABET, self.emissions, strict=True))
        emissions = [rows.get(c, zeros) for word, _ in words for c in word]
        return path_score(labels.tolist(), np.array(emissions, float), self.transitions)

    def tag(self, text: str, words: CompiledWords | None = None) -> Tagged:
        if words is None:
            return self.decoder.tag([text], [[len(text)]])[0]
        return self.decoder.tag([text], [[len(text)]], [words.look_up(text)])[0]


MODELS = [*map(Model, range(3)), Model(3, six_labels)]


def analyses(text: str) -> list[Tagged]:
    """All ways to cut a text into words with tags."""
    pieces = text.split()
    cuts = []
    for piece in pieces:
        # A combining mark is never cut off the character before it.
        places = [i for i in range(1, len(piece)) if piece[i] != "\u0301"]
        chosen = itertools.chain.from_iterable(
            itertools.combinations(places, n) for n in range(len(places) + 1)
        )
        cuts.append(
            [[piece[a:b] for a, b in itertools.pairwise([0, *ends, len(piece)])] for ends in chosen]
        )
    found = []
    for parts in itertools.product(*cuts):
        words = list(itertools.chain.from_iterable(parts))
        found += [
            list(zip(words, tags, strict=True))
            for tags in itertools.product(TAGS, repeat=len(words))
        ]
    return found


@given(st.sampled_from(MODELS), st.text([*ALPHABET, " ", "\u0301"], max_size=4), st.integers(1, 20))
def test_the_n_best_analyses_equal_brute_force(model: Model, text: str, k: int) -> None:
    expected = sorted((model.score(words) for words in analyses(text)), reverse=True)
    found = model.decoder.nbest(text, k)
    np.testing.assert_allclose([score for score, _ in found], expected[:k], rtol=1e-6, atol=1e-6)
    for score, words in found:
        assert score == pytest.approx(model.score(words), rel=1e-6, abs=1e-6)
    if found:
        assert model.tag(text) == found[0][1]


@given(st.sampled_from(MODELS), TEXTS)
def test_words_and_spans_agree_with_tagged_words(model: Model, text: str) -> None:
    tagged = model.tag(text)
    ends = [len(text)] if text else []
    assert model.decoder.segment([text], [ends]) == [[word for word, _ in tagged]]
    spans = model.decoder.spans([text], [ends])[0].tolist()
    assert [text[begin:end] for begin, end in spans] == [word for word, _ in tagged]
    assert "".join(word for word, _ in tagged) == "".join(text.split())


WORDS = st.text([*ALPHABET[:3], " ", "\u0301"], min_size=1, max_size=4).map(str.strip).filter(bool)
LISTED = st.dictionaries(WORDS, st.sampled_from([None, *TAGS]), min_size=1, max_size=5)


def analyses_with(text: str, words: CompiledWords) -> list[Tagged]:
    """All ways to cut a text into words with tags that hold a maximal choice of listed words."""
    places = words.find(text)
    spans = [(word.start, word.end) for word in places]
    chosen: list[list[Occurrence]] = []
    for size in range(len(places) + 1):
        chosen += [
            list(some)
            for some in itertools.combinations(places, size)
            if is_maximal([(word.start, word.end) for word in some], spans)
        ]
    found = []
    for some in chosen:
        # What lies between the chosen words is cut as if it stood alone.
        parts: list[list[Tagged]] = []
        end = 0
        for word in [*some, None]:
            gap = text[end : word.start if word else None]
            parts.append(analyses(gap) if gap.strip() else [[]])
            if word:
                piece = text[word.start : word.end]
                parts.append([[(piece, tag)] for tag in ([word.tag] if word.tag else TAGS)])
                end = word.end
        found += [list(itertools.chain(*each)) for each in itertools.product(*parts)]
    return found


@given(
    st.sampled_from(MODELS),
    st.text([*ALPHABET[:3], " ", "\u0301"], min_size=1, max_size=5),
    LISTED,
    st.integers(1, 20),
)
@example(MODELS[0], "我们我们", {"我们": "NN", "我": None, "们我": "VV", "我们我": "AD"}, 20)
@example(MODELS[0], "我 们我", {"我 们": None, "们我": "VV"}, 20)
@example(MODELS[3], "我们我们我", {"我们": "NN", "们我": "VV", "们我们": None}, 20)
def test_listed_words_come_out_and_the_rest_is_the_best(
    model: Model, text: str, listed, k: int
) -> None:
    words = CompiledWords(listed)
    assume(text.strip() and len(words.find(text)) <= 9)
    allowed = analyses_with(text, words)
    best = sorted(map(model.score, allowed), reverse=True)
    predicted = model.tag(text, words)
    assert predicted in allowed
    assert model.score(predicted) == pytest.approx(best[0], rel=1e-6, abs=1e-6)
    found = model.decoder.nbest(text, k, words.look_up(text))
    np.testing.assert_allclose([score for score, _ in found], best[:k], rtol=1e-6, atol=1e-6)
    assert all(each in allowed for _, each in found)
    assert len({tuple(each) for _, each in found}) == len(found)


@given(TEXTS, st.lists(st.integers(0, 11), min_size=1, max_size=8))
def test_lists_of_labels(text: str, numbers: list[int]) -> None:
    scheme = with_tags(bmes(), TAGS)
    allowed = np.zeros((1, len(scheme.labels)), dtype=bool)
    allowed[0, numbers] = True
    lists = (np.array([ord("我")], dtype=np.uint32), allowed)
    model = Model(0, lists=lists)
    free = MODELS[0]
    mine = []
    for words in analyses(text) if len(text) < 5 else []:
        labels = scheme.encode([len(word) for word, _ in words], [tag for _, tag in words])
        characters = "".join(word for word, _ in words)
        if all(c != "我" or y in numbers for c, y in zip(characters, labels, strict=True)):
            mine.append(model.score(words))
    if mine:
        assert model.score(model.tag(text)) == pytest.approx(max(mine), rel=1e-6, abs=1e-6)
        assert len(model.decoder.nbest(text, 10_000)) == len(mine)
    elif len(text) < 5:
        # Nothing is left by the list, so that it does not count.
        assert model.tag(text) == free.tag(text)
        assert model.decoder.nbest(text, 3) == free.decoder.nbest(text, 3)


def test_lists_are_kept_by_copies() -> None:
    allowed = np.zeros((1, 12), dtype=bool)
    allowed[0, 0] = True
    model = Model(1, lists=(np.array([5], dtype=np.uint32), allowed))
    copy = pickle.loads(pickle.dumps(model.decoder))
    assert copy.tags == TAGS
    assert copy.label_tags.tolist() == model.scheme.tag_of.tolist()
    assert copy.lists[0].tolist() == [5]
    assert (copy.lists[1] == allowed).all()
    text = "我们在北京" * 3
    assert copy.tag([text], [[15]]) == model.decoder.tag([text], [[15]])


def test_what_does_not_fit_is_refused() -> None:
    decoder = MODELS[0].decoder
    arguments = (decoder.atoms, decoder.chain, decoder.label_begins)
    for tags, label_tags in (("AB", np.full(12, 2)), ("AB", np.full(12, -1)), ("AB", np.zeros(3))):
        with pytest.raises(ValueError, match="tags of labels"):
            CharacterDecoder(*arguments, tags=tags, label_tags=label_tags)
    for characters, allowed in (
        ([1, 2], np.ones((1, 12))),
        ([1], np.ones((1, 11))),
        ([2, 1], np.ones((2, 12))),
    ):
        with pytest.raises(ValueError, match="lists of labels"):
            CharacterDecoder(*arguments, lists=(np.array(characters), allowed))
