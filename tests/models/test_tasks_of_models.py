"""The task that the file of a model names, and models within others."""

from __future__ import annotations

from spacy_structreg.learn.model_file import parse_model
from spacy_structreg.models.segmentation import CharacterSegmenter
from spacy_structreg.models.stored_model import nested, unnested


def test_a_model_within_another(small: CharacterSegmenter) -> None:
    """Its arrays travel under a prefix, and come back as they were."""
    header, arrays = small.contents()
    outer = {**nested("chain", arrays), **nested("chained", arrays), "0.keys": arrays["0.keys"]}
    assert set(outer) == {
        "0.keys", *(f"{prefix}.{name}" for prefix in ("chain", "chained") for name in arrays)
    }  # fmt: skip
    again = CharacterSegmenter.from_contents("model", header, unnested("chain", outer))
    assert again.to_bytes() == small.to_bytes()
    assert parse_model(small.to_bytes())[0] == header
