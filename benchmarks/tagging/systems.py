"""Taggers, by name."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from benchmarks.common import spacy_cnn, udpipe
from benchmarks.common.ours import OurEstimator
from benchmarks.common.systems import (
    Effort,
    Predictor,
    Setting,
    System,
    Training,
    cpu_seconds,
)
from spacy_structreg.corpora.any_format import read_sentences

if TYPE_CHECKING:
    from spacy_structreg.models.tagging import Tagger

__all__ = ["SYSTEMS"]

# Stands for the slash in the tags that ltp-extension is given: treebanks tag a slash as such.
NO_SLASH = "\u2215"


class Ours(OurEstimator[list[str], list[str]]):
    figure = "accuracy"

    def estimator(self) -> type[Tagger]:
        from spacy_structreg.models.tagging import Tagger

        return Tagger

    def read(self, corpus: Path) -> Iterable[list[tuple[str, str]]]:
        return (sentence.pairs() for sentence in read_sentences(corpus))


class OursGreedy(Ours):
    name = "ours-greedy"
    title = "spacy_structreg, greedy"
    arguments: ClassVar = {"beam": 1, "decode_beam": 1, "update": "every"}


class OursAveraged(Ours):
    name = "ours-averaged"
    title = "spacy_structreg, average of five"
    default = False
    arguments: ClassVar = {"n_models": 5}


class Udpipe(System[list[str], list[str]]):
    name = "udpipe"
    title = udpipe.TITLE
    module = udpipe.MODULE
    distribution = udpipe.DISTRIBUTION

    def settings(self, effort: Effort) -> list[Setting]:
        return [{"iterations": {"full": 20, "capped": 6, "quick": 2}[effort]}]

    def train(self, setting: Setting, train: Path, dev: Path, model: Path) -> Training:
        options = {"use_lemma": 0, "provide_lemma": 0, "use_feats": 0, "provide_feats": 0}
        return udpipe.Udpipe().train(
            train, dev, model, tagger={**setting, "early_stopping": 1, **options}
        )

    def load(self, model: Path, scratch: Path) -> Predictor[list[str], list[str]]:
        library = udpipe.Udpipe()
        loaded = library.load(model)
        default = loaded.DEFAULT

        def one(words: list[str]) -> list[str]:
            sentence = library.sentence(words)
            loaded.tag(sentence, default)
            found = sentence.words
            return [found[number].xpostag for number in range(1, len(words) + 1)]

        return Predictor(one)


class Ltp(System[list[str], list[str]]):
    name = "ltp"
    title = "ltp-extension"
    module = "ltp_extension"
    distribution = "ltp-extension"

    def settings(self, effort: Effort) -> list[Setting]:
        numbers = {"full": [5, 10, 20, 40], "capped": [5, 10, 20], "quick": [2, 4]}
        return [{"epoch": epochs} for epochs in numbers[effort]]

    def train(self, setting: Setting, train: Path, dev: Path, model: Path) -> Training:
        ltp: Any = import_module("ltp_extension.perceptron")
        began = cpu_seconds()
        # Its own format: word/tag, of which the last slash counts. It ends the process over a tag
        # that it has not been told of.
        texts: list[Path] = []
        labels: set[str] = set()
        for path in (train, dev):
            sentences = [
                [(word, tag.replace("/", NO_SLASH)) for word, tag in sentence.pairs()]
                for sentence in read_sentences(path)
            ]
            labels.update(tag for sentence in sentences for _, tag in sentence)
            lines = (" ".join(map("/".join, sentence)) + "\n" for sentence in sentences)
            texts.append(model.with_suffix(f".{path.stem}"))
            texts[-1].write_text("".join(lines), encoding="utf-8")
        trainer = ltp.POSTrainer(sorted(labels))
        trainer.algorithm = ltp.Algorithm("AP", 1)
        trainer.epoch = int(setting["epoch"])
        trainer.eval_threads = 1
        trainer.compress = False
        trainer.verbose = False
        trainer.load_train_data(str(texts[0]))
        # Its trainer scores every epoch on these, as part of its training.
        trainer.load_eval_data(str(texts[1]))
        trainer.train().save(str(model))
        return Training(cpu_seconds() - began, kept="order of sentences without a seed")

    def load(self, model: Path, scratch: Path) -> Predictor[list[str], list[str]]:
        ltp: Any = import_module("ltp_extension.perceptron")
        loaded = ltp.POSModel.load(str(model))

        def one(words: list[str]) -> list[str]:
            return [tag.replace(NO_SLASH, "/") for tag in loaded.predict(words)]

        def batch(sentences: list[list[str]]) -> list[list[str]]:
            tagged = loaded.batch_predict(sentences, parallelism=False)
            return [[tag.replace(NO_SLASH, "/") for tag in tags] for tags in tagged]

        return Predictor(one, batch)


class SpacyTagger(System[list[str], list[str]]):
    name = "spacy"
    title = "spaCy's CNN tagger"
    module = "spacy"
    distribution = "spacy"

    def settings(self, effort: Effort) -> list[Setting]:
        return spacy_cnn.settings(effort)

    def train(self, setting: Setting, train: Path, dev: Path, model: Path) -> Training:
        return spacy_cnn.train("tagger", "tag_acc", setting, (train, dev), model)

    def load(self, model: Path, scratch: Path) -> Predictor[list[str], list[str]]:
        import spacy

        nlp = spacy.load(model)

        def one(words: list[str]) -> list[str]:
            return [token.tag_ for token in nlp(spacy_cnn.doc_of(nlp.vocab, words))]

        def batch(sentences: list[list[str]]) -> list[list[str]]:
            docs = (spacy_cnn.doc_of(nlp.vocab, words) for words in sentences)
            return [[token.tag_ for token in doc] for doc in nlp.pipe(docs)]

        return Predictor(one, batch)


SYSTEMS: dict[str, type[System[list[str], list[str]]]] = {
    system.name: system for system in (Ours, OursGreedy, OursAveraged, Udpipe, Ltp, SpacyTagger)
}
