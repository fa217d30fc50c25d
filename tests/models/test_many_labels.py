"""Models of many labels: what is done once for all sentences, and the limits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from crafted import tampered

from spacy_structreg.corpora.constituents import ConstituencySentence, Constituent
from spacy_structreg.corpora.dependencies import ROOT
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.models.constituents import ConstituencyParser
from spacy_structreg.models.dependencies import DependencyParser
from spacy_structreg.models.joint.joint_taggers import CharacterJointTagger, WordJointTagger
from spacy_structreg.models.labeling.labelers import SequenceLabeler
from spacy_structreg.models.tagging import Tagger


def tagged(labels: list[str]) -> list[Any]:
    """Sentences with a word of each label."""
    words = [(chr(0x4E00 + i % 99), label) for i, label in enumerate(labels)]
    return [words[i : i + 50] for i in range(0, len(words), 50)]


def trees(labels: list[str]) -> list[Any]:
    """Trees of two words each, one for each label."""
    return [Sentence(("我", "看"), ("PN", "VV"), (1, ROOT), (x, "root")) for x in labels]


def phrases(labels: list[str]) -> list[Any]:
    return [
        ConstituencySentence(("我", "看"), ("PN", "VV"), (Constituent(label, 0, 2, head=1),))
        for label in labels
    ]


def labels_of(n: int) -> list[str]:
    return [f"x{i:05}" for i in range(n)]


MODELS: list[Any] = [
    pytest.param(Tagger, tagged, 10_000, "tags", id="tagger"),
    pytest.param(WordJointTagger, tagged, 10_000, "tags", id="joint tagger"),
    pytest.param(DependencyParser, trees, 10_000, "arc labels", id="dependencies"),
    pytest.param(
        lambda **settings: DependencyParser(system="arc_standard", **settings),
        trees, 10_000, "arc labels", id="arc-standard",
    ),
    pytest.param(ConstituencyParser, phrases, 10_000, "phrase labels", id="constituents"),
    pytest.param(
        lambda **settings: SequenceLabeler(scheme=None, **settings),
        tagged, 1_024, "labels", id="labeler",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("make", "corpus", "limit", "names"), MODELS)
def test_too_many_labels_are_refused(
    make: Callable[..., Any], corpus: Callable[[list[str]], list[Any]], limit: int, names: str
) -> None:
    """When a training begins, and when a file is read."""
    said = f"expected .* {limit:,} {names}, got {limit + 1:,}"
    with pytest.raises(ValueError, match=said):
        make(epochs=1).fit(corpus(labels_of(limit + 1)))
    small = make(epochs=1).fit(corpus(labels_of(3)))
    data = tampered(small.to_bytes(), lambda header, _: header.update(labels=labels_of(limit + 1)))
    with pytest.raises(ValueError, match=f"^crafted: .*{said}"):
        type(small).from_bytes(data, name="crafted")


def test_tags_for_a_chain_are_fewer() -> None:
    with pytest.raises(
        ValueError, match="too many tags for one label chain: 257; 256 is the limit"
    ):
        CharacterJointTagger().fit(tagged(labels_of(257)))


@pytest.mark.slow
@pytest.mark.parametrize("make", [Tagger, WordJointTagger])
def test_ten_thousand_tags_can_be_learned(make: Callable[..., Any]) -> None:
    model = make(epochs=1, beam=1).fit(tagged(labels_of(10_000)))
    again = type(model).from_bytes(model.to_bytes())
    assert len(again.labels) == 10_000


class Counted(tuple[str, ...]):
    """Labels that count how often they are gone through."""

    n_times = 0

    def __iter__(self) -> Iterator[str]:
        type(self).n_times += 1
        return super().__iter__()

    def index(self, *arguments: Any) -> int:
        type(self).n_times += 1
        return super().index(*arguments)


@pytest.mark.parametrize(
    ("make", "corpus", "field"),
    [
        (Tagger, tagged, "tags"),
        (WordJointTagger, tagged, "tags"),
        (DependencyParser, trees, "arc_labels"),
    ],
)
def test_labels_are_not_gone_through_for_each_sentence(
    make: Callable[..., Any], corpus: Callable[[list[str]], list[Any]], field: str
) -> None:
    model = make(epochs=1).fit(corpus(labels_of(5)))
    spec = model._fitted_spec()
    counted = replace(spec, **{field: Counted(spec.labels)})
    learner = spec.new_learner(model.learning)
    Counted.n_times = 0
    for example in corpus(labels_of(5)) * 9:
        assert counted.compile(example, learner) is not None
    assert Counted.n_times <= 1
