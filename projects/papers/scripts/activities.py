"""Activities (Sun 2014): made-up signals of sensors, and labelers of their windows.

The scripts of the project `activity_recognition` draw the signals, and say what labelers see of
them. The config of such a system has a block `labeler`: `learning`, and the names of the features
that are `edges`, too; "all" for all of them.
"""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
import spacy
from corpora import PARTS, Corpus
from grid import Key
from run import Group, Model, Training, packed, rounded
from thinc.api import Config

from spacy_structreg.corpora.checksum import corpus_checksum
from spacy_structreg.metrics.figures import Counts
from spacy_structreg.models.labeling.labelers import FeatureLabeler

SCRIPTS: Final = Path(__file__).resolve().parents[2] / "activity_recognition/scripts"
sys.path.append(str(SCRIPTS))


def read_signals(entry: Mapping[str, Any]) -> Corpus:
    """Draw the signals of an entry: of the world of a seed, so many sequences for each part.

    With `folds`, those of the training set alone: a fold has every n-th sequence, and is the
    development set, too, so that settings can be chosen.
    """
    from sensors import Recording, draw, drawn_world

    given = entry["signals"]
    world, seeds = drawn_world(given["world"])
    recordings, layers = {}, []
    for part, seed in zip(PARTS, seeds, strict=True):
        recordings[part] = draw(
            world,
            np.random.default_rng(seed),
            n_sequences=given[part],
            n_windows=given["windows"],
            n_samples=given["samples"],
        )
        signals = recordings[part].signals.astype("<f4").tobytes()
        layers.append([part, hashlib.sha256(signals).hexdigest()])
        layers += [list(map(str, each)) for each in recordings[part].activities.tolist()]
    folds = [recordings]
    if "folds" in entry:
        whole, n = recordings["train"], int(entry["folds"])
        numbers = np.arange(given["train"])
        folds = []
        for fold in range(n):
            rest, held_out = (
                Recording(whole.signals[chosen], whole.activities[chosen])
                for chosen in (numbers % n != fold, numbers % n == fold)
            )
            folds.append({"train": rest, "dev": held_out, "test": held_out})
    parted = [{part: saved(each) for part, each in fold.items()} for fold in folds]
    return Corpus(parted, refit=False, checksum=corpus_checksum(layers)[:12])


def saved(recording: Any) -> bytes:
    """A recording as the bytes of its file."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "recording.npz"
        recording.save(path)
        return path.read_bytes()


class Recognition(Training):
    """The training of a labeler of windows, and the share of those that it labels rightly."""

    def run(
        self,
        corpus: Corpus,
        models: dict[str, Model] | None = None,
        groups: dict[str, Group] | None = None,
    ) -> Iterator[tuple[Key, dict[str, Any]]]:
        """Train and score."""
        from recognize import Features, statistics
        from sensors import Recording

        text = self.configs[self.system.config]
        changed = {**self.system.changed, "training.seed": self.key.seed}
        config = Config().from_str(text, overrides=changed)
        labeler = spacy.registry.resolve(config)["labeler"]
        with TemporaryDirectory() as folder:
            recordings = {}
            for part, content in corpus.parts(self.key.seed, self.key.fold).items():
                path = Path(folder) / f"{part}.npz"
                path.write_bytes(content)
                recordings[part] = Recording.load(path)
        features = Features(statistics, recordings["train"])
        train, test = (features.sequences(recordings[part]) for part in ("train", "test"))
        names = {name.partition(":")[0] for name in train[0][0][0]}
        model = FeatureLabeler(
            learning=labeler["learning"],
            edges=sorted(names) if labeler["edges"] == "all" else labeler["edges"],
            epochs=config["training"]["max_epochs"],
            seed=self.key.seed,
        )
        began = time.process_time()
        model.fit(train, n_threads=1)
        seconds = time.process_time() - began
        began = time.process_time()
        found = model.predict_batch([[seen for seen, _ in sequence] for sequence in test])
        decoding = time.process_time() - began
        counts = [
            Counts(
                len(sequence),
                len(sequence),
                sum(a == b for (_, a), b in zip(sequence, labels, strict=True)),
            )
            for sequence, labels in zip(test, found, strict=True)
        ]
        n_right, n_windows = sum(each.correct for each in counts), sum(each.gold for each in counts)
        yield (
            self.key,
            {
                "figures": rounded({"label_acc": n_right / n_windows}),
                "sentences": {"label_acc": packed(counts)} if self.counted else {},
                "epochs": [model.history[-1].epoch],
                "training_seconds": round(seconds, 3),
                "decoding_seconds": round(decoding, 4),
                "config": self.config,
                "commit": self.commit,
                "n_sentences": len(test),
            },
        )
