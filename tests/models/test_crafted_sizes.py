"""Model files that ask for more than they are worth, with right checksums: refused, or read in time
and memory in proportion to their size."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from colliding_keys import colliding
from crafted import Change, setting, tampered

from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.learn.model_file import model_bytes, parse_model
from spacy_structreg.models.dependencies import DependencyParser
from spacy_structreg.models.joint.joint_taggers import WordJointTagger
from spacy_structreg.models.labeling.labelers import SequenceLabeler
from spacy_structreg.models.segmentation import CharacterSegmenter, WordSegmenter
from spacy_structreg.models.stored_model import StoredModel
from spacy_structreg.models.tagging import Tagger

TAGGED = [[("狗", "N"), ("走", "V")], [("大", "A"), ("狗", "N"), ("走", "V")]] * 3
WORDS = [[word for word, _ in sentence] for sentence in TAGGED]
TREES = [Sentence(("大", "狗", "走"), ("A", "N", "V"), (1, 2, -1), ("amod", "nsubj", "root"))]
PLAIN = Learning()


@cache
def file_of(kind: str) -> bytes:
    """A small model file of each kind, trained once."""
    models: dict[str, Callable[[], Any]] = {
        "characters": lambda: CharacterSegmenter(epochs=1, learning=PLAIN).fit(WORDS),
        "words": lambda: WordSegmenter(epochs=1).fit(WORDS),
        "joint": lambda: WordJointTagger(epochs=1, dictionary=False, lengths=False).fit(TAGGED),
        "tagger": lambda: Tagger(epochs=1, dictionary=1).fit(TAGGED),
        "parser": lambda: DependencyParser(epochs=2).fit(TREES),
        "labeler": lambda: SequenceLabeler(epochs=1, scheme=None).fit(TAGGED),
    }
    data: bytes = models[kind]().to_bytes()
    return data


KINDS: dict[str, type[StoredModel]] = {
    "characters": CharacterSegmenter,
    "words": WordSegmenter,
    "joint": WordJointTagger,
    "tagger": Tagger,
    "parser": DependencyParser,
    "labeler": SequenceLabeler,
}


def refused(kind: str, change: Change) -> str:
    with pytest.raises(ValueError, match=r"^some\.srm: ") as caught:
        KINDS[kind].from_bytes(tampered(file_of(kind), change), name="some.srm")
    assert len(str(caught.value)) < 1000
    return str(caught.value)


# Sizes --------------------------------------------------------------------------------------------


def test_no_limit_of_the_tagger_is_no_exhaustive_search() -> None:
    """Of forty words with three tags there would be 10 ** 19 states."""
    tagger = Tagger(epochs=2, beam=None, decode_beam=None, dictionary=None).fit(TAGGED)
    few = Tagger.from_bytes(tampered(tagger.to_bytes(), setting("decode_beam", 1000)))
    words = ["狗", "走", "大", "人"] * 10
    assert tagger.predict(words) == few.predict(words)


# Keys that collide --------------------------------------------------------------------------------


def test_sets_of_tags_whose_keys_collide() -> None:
    keys = colliding(6_000)

    def change(_: object, arrays: dict[str, np.ndarray]) -> None:
        arrays["dictionary.keys"] = keys
        arrays["dictionary.starts"] = np.arange(len(keys) + 1)
        arrays["dictionary.tags"] = np.zeros(len(keys), dtype=np.uint16)

    assert "collide" in refused("tagger", change)


# Weights ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["characters", "labeler"])
def test_pairs_of_no_label(kind: str) -> None:
    """The tag bigram has a row for each label, or one for all, and no other."""
    model: Any = KINDS[kind].from_bytes(file_of(kind))
    number = model._fitted_spec().features.tag_bigram

    def change(_: object, arrays: dict[str, np.ndarray]) -> None:
        values = arrays[f"{number}.values"]
        arrays[f"{number}.keys"] = np.array([70_000], dtype=np.uint64)
        arrays[f"{number}.values"] = np.ones((1, values.shape[1]), dtype=np.float32)

    assert "beyond its labels" in refused(kind, change)


# Memory -------------------------------------------------------------------------------------------

LIMITED = """
import resource, sys
from pathlib import Path
from spacy_structreg.models.tagging import Tagger

path = Path(sys.argv[1])
tagger = Tagger.load(path)  # Whatever is loaded but once, before the limit.
held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
limit = held + 100_000_000 + 40 * path.stat().st_size
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
print(len(Tagger.load(path).predict(["狗", "人"])))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_dictionary_of_many_words_and_tags_takes_little_memory(tmp_path: Path) -> None:
    """10,000 tags and 120,000 words would be more than a gigabyte of flags."""
    header, arrays = parse_model(file_of("tagger"))
    arrays = {name: array.copy() for name, array in arrays.items()}
    n = 120_000
    header["labels"] = [f"{i:05}" for i in range(10_000)]
    header["columns"] = [10_000]
    arrays["dictionary.keys"] = np.arange(1, n + 1, dtype=np.uint64)
    arrays["dictionary.starts"] = np.arange(n + 1)
    arrays["dictionary.tags"] = np.zeros(n, dtype=np.uint16)
    path = tmp_path / "large.srt"
    path.write_bytes(model_bytes(header, arrays))
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(path)], capture_output=True, text=True, check=False
    )
    assert done.stdout == "2\n", done.stderr
