"""`CharacterSegmenter` by its default settings, and with all that it may know."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.common.systems import (
    Effort,
    Predictor,
    Setting,
    Training,
    cpu_seconds,
)
from benchmarks.segmentation.systems.segmenter import Segmenter


class Ours(Segmenter):
    name = "ours"
    title = "spacy_structreg"
    module = "spacy_structreg"
    distribution = "spacy_structreg"

    @property
    def known(self) -> Mapping[str, Any]:
        """Settings that name what it knows besides the training corpus."""
        return {}

    def settings(self, effort: Effort) -> list[Setting]:
        return [{}]

    def train(self, setting: Setting, train: Path, dev: Path, model: Path) -> Training:
        from spacy_structreg.corpora.formats.segmented import read_segmented
        from spacy_structreg.models.segmentation import CharacterSegmenter

        began = cpu_seconds()
        segmenter = CharacterSegmenter(**self.known)
        segmenter.fit(read_segmented(train), read_segmented(dev))
        segmenter.save(model)
        seconds = cpu_seconds() - began
        # `fit` keeps the first of the best epochs.
        dev_f = [report.dev.seg_f or 0.0 for report in segmenter.history if report.dev]
        best = dev_f.index(max(dev_f)) + 1
        return Training(
            seconds, kept=f"epoch {best} of {len(dev_f)}, by dev F; time of all {len(dev_f)}"
        )

    def load(self, model: Path, scratch: Path) -> Predictor[str, list[str]]:
        from spacy_structreg.models.segmentation import CharacterSegmenter

        segmenter = CharacterSegmenter.load(model)
        return Predictor(segmenter.predict, segmenter.predict_batch)


class OursBest(Ours):
    name = "ours-best"
    title = "spacy_structreg with all that it may know"
    default = False

    @property
    def known(self) -> Mapping[str, Any]:
        return self.knowledge.settings
