"""What the tests of runs share: a pipeline of words, tags and heads, and texts for it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example

WORDS = [["我", "看", "书"], ["小王", "写", "大", "字"], ["他", "看", "北京", "。"]]
TAGS = [["PN", "VV", "NN"], ["NR", "VV", "JJ", "NN"], ["PN", "VV", "NR", "PU"]]
HEADS = [[1, 1, 1], [1, 1, 3, 1], [1, 1, 1, 1]]
DEPS = [["nsubj", "ROOT", "obj"], ["nsubj", "ROOT", "amod", "obj"], ["nsubj", "ROOT", "obj", "p"]]
TOKENIZER = {
    "@tokenizers": "spacy_structreg.JointTagger.v1",
    "model": {"@architectures": "spacy_structreg.CharacterJointTagger.v1", "seed": 1},
}
PARSER = {"@architectures": "spacy_structreg.DependencyParser.v1", "seed": 1}


@pytest.fixture(scope="session")
def raw_pipeline(made_once: Callable[..., Path]) -> str:
    """The folder of a trained pipeline that writes words, tags, heads and relations."""
    return str(made_once("raw-pipeline", lambda folder: train(seed=1).to_disk(folder)))


@pytest.fixture(scope="session")
def other_pipeline(made_once: Callable[..., Path]) -> str:
    """One of the same parts whose weights are others."""
    return str(made_once("other-pipeline", lambda folder: train(seed=2).to_disk(folder)))


def train(seed: int) -> Any:
    model = {**TOKENIZER["model"], "seed": seed}
    nlp = spacy.blank("zh", config={"nlp": {"tokenizer": {**TOKENIZER, "model": model}}})
    docs = [
        Doc(nlp.vocab, words, [False] * len(words), tags=tags, heads=heads, deps=deps)
        for words, tags, heads, deps in zip(WORDS, TAGS, HEADS, DEPS, strict=True)
    ][:: 1 if seed == 1 else -1]
    nlp.tokenizer.initialize(lambda: [Example(doc.copy(), doc) for doc in docs], nlp=nlp)
    nlp.add_pipe("structreg_parser", name="parser", config={"model": {**PARSER, "seed": seed}})
    examples = [
        Example(
            Doc(
                nlp.vocab,
                [token.text for token in doc],
                [False] * len(doc),
                tags=[token.tag_ for token in doc],
            ),
            doc,
        )
        for doc in docs
    ]
    nlp.get_pipe("parser").initialize(lambda: examples, nlp=nlp)
    for _ in range(3 * seed):
        nlp.tokenizer.update(docs)
        nlp.get_pipe("parser").update(examples)
    return nlp


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """A client of two workers of this machine."""
    from spacy_structreg.cluster.engines import connect

    with connect(n_workers=2) as client:
        client.wait_for_workers(2)
        yield client


@pytest.fixture(scope="session")
def texts() -> list[str]:
    """Texts, all different, of known words and others."""
    draw = Random(0)
    words = [word for sentence in WORDS for word in sentence] + ["鑫", "👍", " ", "New York", "，"]
    return [
        f"{number}" + "".join(draw.choices(words, k=draw.randint(1, 30))) for number in range(400)
    ]


@pytest.fixture(scope="session")
def jsonl(texts: list[str], made_once: Callable[..., Path]) -> Path:
    """These, as JSON lines with numbers."""

    def fill(folder: Path) -> None:
        with (folder / "texts.jsonl").open("w", encoding="utf-8") as stream:
            for number, text in enumerate(texts):
                stream.write(json.dumps({"id": number, "text": text}, ensure_ascii=False) + "\n")

    return made_once("cluster-texts", fill) / "texts.jsonl"
