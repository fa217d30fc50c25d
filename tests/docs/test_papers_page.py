"""The configs in docs/papers.md are those of the papers: what these say stands here once more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from docs.configs import pipeline_of
from docs.pages import DOCS, blocks
from looped import looped

from spacy_structreg.learn.learning_settings import Learning, LogLinear

(PAGE,) = (path for path in DOCS if path.name == "papers.md")
BLOCKS = [block for block in blocks(PAGE) if block.marker == "config"]

# Collins 2002, as ZC11 and Z14 have it: whole sentences, one update each, the average of all
# weights, of which none is left out.
PERCEPTRON = Learning(
    algorithm="perceptron", aggressiveness=1.0, mini_sample=None, prune=0.0, clock="examples"
)
# Early update in ZC11 and Z14; neither says that it changes the characters that it reads.
EARLY: dict[str, Any] = {"update": "early", "half_width": False}
# ZC11 §3: no types of characters; Table 1 without Table 2.
WORDS: dict[str, Any] = {**EARLY, "types": None, "characters": False}

# Of ZC11's program ZPar, for CTB: tags of which it proposes no words that were not seen with them.
CLOSED = "AS BA CC CS DEC DEG DER DEV DT ETC IJ LB LC MSP P PN PU SB SP VC VE X"

# For each block of the page: the class of the model, what it learns by, further settings.
PAPERS: list[tuple[str, Learning | LogLinear, dict[str, Any]]] = [
    ("WordSegmenter", PERCEPTRON, {**WORDS, "beam": 16, "by_words": False}),
    ("WordSegmenter", PERCEPTRON, {**WORDS, "beam": None, "by_words": True}),
    # ZC11 §4: words of closed tags are those that were seen, and a beam of 16.
    (
        "WordJointTagger",
        PERCEPTRON,
        {
            **EARLY,
            "types": None,
            "beam": 16,
            "closed_tags": tuple(sorted(CLOSED.split())),
            "least_begun": None,
            # Section 4.2: records begin empty; 4.4.3: letters and digits by rule.
            "growing_records": True,
            "typed_runs": "latin",
        },
    ),
    # ZC11 §5: beam of 64; §6: of 16.
    (
        "DependencyParser",
        PERCEPTRON,
        {**EARLY, "system": "arc_eager", "beam": 64, "labeled": False},
    ),
    ("ConstituencyParser", PERCEPTRON, {**EARLY, "beam": 16}),
    # Z14: as many analyses of the characters' model as the words' one can tell apart.
    ("JointReranker", Learning(algorithm="perceptron", mini_sample=None), {"n_best": 20}),
    # Z14: for segmentation, an L2 of 1e-4 and 3 % of dropout.
    ("CharacterSegmenter", Learning(l2=1e-4, dropout=0.03), {"half_width": False, "types": None}),
    ("DependencyParser", PERCEPTRON, {**EARLY, "system": "arc_standard", "merge": True}),
    # S14: stochastic gradient descent; 5.5 is one of the sizes of pieces that it plots.
    (
        "CharacterSegmenter",
        LogLinear(optimizer="sgd", l2=1.0, mini_sample=5.5, noise="none"),
        {"half_width": False, "types": None},
    ),
    ("SequenceLabeler", LogLinear(optimizer="sgd", l2=0.1, mini_sample=5.5, noise="none"), {}),
    ("SequenceLabeler", Learning(algorithm="perceptron", mini_sample=5.5), {}),
    # W13: dropout as a penalty, in place of others; labels without prefixes.
    ("SequenceLabeler", LogLinear(noise="dropout", noise_level=0.5, l2=0.0), {"scheme": "io"}),
    # The same by a batch method, to the optimum.
    (
        "SequenceLabeler",
        LogLinear(optimizer="lbfgs", tolerance=1e-8, noise="dropout", noise_level=0.5, l2=0.01),
        {"scheme": "io"},
    ),
    # G10, Algorithm 1: means of the weights at the ends of epochs, each from nothing; six labels.
    (
        "CharacterSegmenter",
        Learning("pa", clock="epochs", restart=True),
        {"half_width": False, "scheme": "six", "statistics": "accessor_variety"},
    ),
]


@pytest.mark.slow
@looped(
    ("block", "system"),
    [*zip(BLOCKS, PAPERS, strict=True)],
    ids=[f"line {block.line}" for block in BLOCKS],
)
def test_blocks_are_the_systems_of_the_papers(
    block: Any, system: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    nlp = pipeline_of(block)
    place, name = block.text.split("]")[0].removeprefix("[").split(".")[:2]
    model = nlp.get_pipe(name).estimator if place == "components" else nlp.tokenizer.model
    kind, learning, settings = system
    assert type(model).__name__ == kind
    assert model.learning == learning
    assert {name: getattr(model, name) for name in settings} == settings
