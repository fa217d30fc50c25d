"""Systems in processes of their own: each says which kinds of work it does, and does them."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from itertools import cycle, islice
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

from benchmarks.common.systems import Predictor, System
from benchmarks.common.treebank import Pairs, by_ctb, by_pfr, untagged
from benchmarks.common.worker import resident_memory
from benchmarks.segmentation.systems.segmenter import ReadyMade

__all__ = ["CnnHost", "Host", "PipelineHost", "SegmenterHost", "Sentence"]

Sentence: TypeAlias = "list[str]"
"""The gold words of a sentence; its text has no spaces."""


@dataclass(frozen=True)
class Job:
    """The functions by which a system does a kind of work.

    prepare: what sentences are made into before the clock runs. run: does what is timed, with a
    number of threads if `threads`. one: a call for a text, where there is one. pairs: the words
    with universal tags in what it returns for texts, where they are scored.
    """

    run: Callable[..., object]
    prepare: Callable[[list[Sentence]], Any]
    threads: bool = False
    one: Callable[[str], object] | None = None
    pairs: Callable[[Any], list[Pairs]] | None = None


def texts_of(sentences: list[Sentence]) -> list[str]:
    """The texts of sentences."""
    return ["".join(words) for words in sentences]


def each(call: Callable[[str], object]) -> Callable[[list[str]], list[object]]:
    """A call for a list of texts that makes a call for each."""
    return lambda texts: [call(text) for text in texts]


def untagged_lists(found: list[list[str]]) -> list[Pairs]:
    """Lists of words as those of words without tags."""
    return list(map(untagged, found))


def pairs_of_docs(docs: list[Any]) -> list[Pairs]:
    """The words of Docs with their universal tags; by the tag where no pipe has written them."""
    return [
        [
            (token.text, token.pos_ or (by_ctb([("", token.tag_)])[0][1] if token.tag_ else ""))
            for token in doc
        ]
        for doc in docs
    ]


class Host(ABC):
    """A system in the process of a Worker, whose methods are called there.

    scratch: a folder for what it writes.
    """

    name: ClassVar[str] = "serving"

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self.jobs: dict[str, Job] = {}
        self.batches: list[list[Sentence]] = []

    @abstractmethod
    def imports(self) -> None:
        """Import what the system needs, so that loading is not charged for it."""

    @abstractmethod
    def open(self) -> dict[str, Job]:
        """Load the system; its jobs by their kinds."""

    @abstractmethod
    def files(self) -> dict[str, int]:
        """Bytes on disk, by parts."""

    # Called by the parent ------------------------------------------------------------------------

    def load(self) -> tuple[list[str], float, float]:
        """The kinds that it does; CPU and wall seconds that loading took, imports left out."""
        self.imports()
        cpu, wall = time.process_time(), time.perf_counter()
        self.jobs = self.open()
        return list(self.jobs), time.process_time() - cpu, time.perf_counter() - wall

    def give(self, batches: list[list[Sentence]]) -> None:
        """Take the sentences that work is done on, in batches of a call."""
        self.batches = batches

    def kinds_with_threads(self) -> list[str]:
        """The kinds that it does in several threads."""
        return [kind for kind, job in self.jobs.items() if job.threads]

    def warm(self, kind: str) -> None:
        """Do a little of a kind, so that what is made at first use is made."""
        job = self.jobs[kind]
        job.run(job.prepare(self.batches[0][:20]))

    def time(
        self, kind: str, first: int, least: float, n_threads: int | None = None
    ) -> tuple[int, float]:
        """Do work batch by batch, from the one numbered `first`, for at least `least` seconds.

        The seconds are of the processor, of all threads; with a number of threads those of a clock
        on the wall. Returns how many batches they were, and the seconds.
        """
        job = self.jobs[kind]
        clock = time.process_time if n_threads is None else time.perf_counter
        run = job.run if n_threads is None else partial(job.run, n_threads=n_threads)
        seconds = 0.0
        for count, batch in enumerate(self._from(first), 1):
            prepared = job.prepare(batch)
            began = clock()
            run(prepared)
            seconds += clock() - began
            if seconds >= least:
                return count, seconds
        raise AssertionError("batches have no end")

    def latency(self, kind: str, texts: list[str], most: float) -> tuple[list[float], list[float]]:
        """Wall and CPU seconds of a call for each text, ended after `most` seconds."""
        one = self.jobs[kind].one
        assert one is not None
        walls, cpus = [], []
        ended = time.perf_counter() + most
        for text in texts:
            cpu, wall = time.thread_time(), time.perf_counter()
            one(text)
            walls.append(time.perf_counter() - wall)
            cpus.append(time.thread_time() - cpu)
            if wall > ended:
                break
        return walls, cpus

    def package(self) -> str:
        """The folder of our package in this process."""
        return str(Path(str(import_module("spacy_structreg").__file__)).resolve().parent)

    def memory(self) -> int | None:
        """Bytes in memory now."""
        return resident_memory()

    def words(self, sentences: list[Sentence]) -> list[list[str]] | None:
        """The words that it finds in sentences; None if it finds none."""
        job = self.jobs.get("list")
        if job is None or job.one is None:
            return None
        return [list(job.one(text)) for text in texts_of(sentences)]  # type: ignore[call-overload]

    def found(self, kind: str, texts: list[str]) -> list[Pairs] | None:
        """Words with universal tags that work of a kind finds in texts; None if it is not scored.

        The function is the one that is timed.
        """
        job = self.jobs[kind]
        return None if job.pairs is None else job.pairs(job.run(texts))

    def trees(self, path: Path, limit: int | None) -> dict[str, float]:
        """Figures on a treebank, of raw text and of gold words; none without a parser."""
        return {}

    def _from(self, first: int) -> Iterator[list[Sentence]]:
        start = first % len(self.batches)
        return islice(cycle(self.batches), start, None)


def texts_function(predictor: Predictor[str, Any]) -> Callable[[list[str]], Any]:
    """The call for a batch, or one for each of its texts."""
    return predictor.batch or each(predictor.one)


class SegmenterHost(Host):
    """A segmenter of the benchmark `segmentation`.

    system: its class. model: what it loads, if it brings none itself.
    """

    def __init__(self, system: type[System[str, list[str]]], model: Path, scratch: Path) -> None:
        super().__init__(scratch)
        self.system = system
        self.model = model
        self._tagger: Callable[[list[str]], list[Any]] | None = None

    def imports(self) -> None:
        import_module(self.system.module)

    def open(self) -> dict[str, Job]:
        system = self.system()
        jobs: dict[str, Job] = {}
        if isinstance(system, ReadyMade) and system.tags:
            jobs["tagged_lists"] = Job(
                self._tag,
                texts_of,
                pairs=lambda found: [by_pfr(pairs, system.pfr_tags) for pairs in found],
            )
        predictor: Predictor[str, list[str]] = system.load(self.model, self.scratch)
        jobs["list"] = Job(each(predictor.one), texts_of, one=predictor.one)
        jobs["lists"] = Job(texts_function(predictor), texts_of, pairs=untagged_lists)
        return jobs

    def files(self) -> dict[str, int]:
        return {"model": self.system().size(self.model)}

    def _tag(self, texts: list[str]) -> list[Any]:
        """Words with tags; what finds them is loaded at first use, as words are found without."""
        if self._tagger is None:
            self._tagger = texts_function(self.system().load_tagger(self.scratch))
        return self._tagger(texts)


class _SpacyHost(Host):
    """A pipeline of spaCy: `nlp`, once it is open."""

    nlp: Any

    def imports(self) -> None:
        import_module("spacy")

    def of_docs(self, tokenizer: Callable[[list[str]], Any]) -> dict[str, Job]:
        """Jobs that end with Docs. tokenizer: of a batch of texts."""
        from spacy.tokens import Doc

        nlp = self.nlp

        def found(sentences: list[Sentence]) -> list[list[str]]:
            return [[token.text for token in doc] for doc in tokenizer(texts_of(sentences))]

        def bare(words: list[list[str]]) -> list[Doc]:
            spaces = [[False] * len(each) for each in words]
            return [
                Doc(nlp.vocab, words=each, spaces=none)
                for each, none in zip(words, spaces, strict=True)
            ]

        return {
            "bare_docs": Job(bare, found),
            "make_doc": Job(each(nlp.make_doc), texts_of, one=nlp.make_doc),
        }

    def whole(self) -> dict[str, Job]:
        """The whole pipeline on raw text."""
        nlp = self.nlp
        job = Job(lambda texts: list(nlp.pipe(texts)), texts_of, one=nlp, pairs=pairs_of_docs)
        return {"raw": job}

    def parses(self) -> bool:
        """True if a pipe finds dependency trees."""
        metas = map(self.nlp.get_pipe_meta, self.nlp.pipe_names)
        return any("token.dep" in meta.assigns for meta in metas)

    def before(self, name: str) -> Callable[[list[Sentence]], list[Any]]:
        """Docs of gold words as they come to a pipe."""
        from spacy.tokens import Doc

        nlp = self.nlp
        names = nlp.pipe_names[: nlp.pipe_names.index(name)]

        def docs(sentences: list[Sentence]) -> list[Any]:
            made = (
                Doc(
                    nlp.vocab,
                    words=words,
                    spaces=[False] * len(words),
                    sent_starts=[index == 0 for index in range(len(words))],
                )
                for words in sentences
            )
            with nlp.select_pipes(enable=names):
                return list(nlp.pipe(made))

        return docs

    def trees(self, path: Path, limit: int | None) -> dict[str, float]:
        from spacy_structreg.pipeline.evaluation import evaluate_docs
        from spacy_structreg.pipeline.gold_docs import read_docs
        from spacy_structreg.pipeline.task import Given, ScoreSettings

        if not self.parses():
            return {}
        figures: dict[str, float] = {}
        for words in (False, True):
            gold = list(islice(read_docs(path, self.nlp.vocab), limit))
            given = Given(words=words)
            found = evaluate_docs(self.nlp, gold, ScoreSettings(given=given)).figures
            figures |= {key: value for key, value in found.items() if value is not None}
        return figures


class CnnHost(_SpacyHost):
    """spaCy's own tagger and parser after its tokenizer, which takes the words of a segmenter.

    model: the trained pipeline. segmenter: "jieba" or "pkuseg". words: the model of pkuseg.
    """

    def __init__(self, model: Path, segmenter: str, words: Path, scratch: Path) -> None:
        super().__init__(scratch)
        self.model = model
        self.segmenter = segmenter
        self.segmenter_model = words

    def open(self) -> dict[str, Job]:
        import spacy

        jieba: Any = import_module("jieba")
        jieba.setLogLevel("ERROR")
        jieba.dt.tmp_dir = str(self.scratch)
        self.nlp = spacy.load(
            self.model,
            exclude=["tokenizer"],
            config={"nlp": {"tokenizer": {"segmenter": self.segmenter}}},
        )
        tokenizer = self.nlp.tokenizer
        if self.segmenter == "pkuseg":
            # Its `initialize` would take the model for a dictionary as well.
            pkuseg: Any = import_module("spacy_pkuseg").pkuseg
            tokenizer.pkuseg_seg = pkuseg(str(self.segmenter_model), user_dict=None)
        jobs = self.of_docs(each(tokenizer)) | self.whole()
        parts = ["tok2vec", "parser"]

        def pipe(docs: list[Any]) -> object:
            with self.nlp.select_pipes(enable=parts):
                return list(self.nlp.pipe(docs))

        return jobs | {"parser_pipe": Job(pipe, self.before("tok2vec"))}

    def files(self) -> dict[str, int]:
        sizes = sizes_of(self.model)
        if self.segmenter == "pkuseg":
            sizes["segmenter"] = sum(sizes_of(self.segmenter_model).values())
        return sizes


class PipelineHost(_SpacyHost):
    """A pipeline of ours, from its folder; its parts say what it does."""

    def __init__(self, folder: Path, scratch: Path) -> None:
        super().__init__(scratch)
        self.folder = folder

    def imports(self) -> None:
        super().imports()
        # Whatever its entry points would import when they are needed.
        import_module("spacy_structreg.pipeline.architectures")

    def open(self) -> dict[str, Job]:
        import spacy

        self.nlp = nlp = spacy.load(self.folder)
        jobs: dict[str, Job] = {}
        model = getattr(nlp.tokenizer, "estimator", None)
        if model is not None:
            jobs |= self._segmenting(model)
        makers = {
            "structreg_tagger": self._tagging,
            "structreg_parser": self._parsing,
            "structreg_constituency": self._constituency,
        }
        for name in nlp.pipe_names:
            maker = makers.get(nlp.get_pipe_meta(name).factory)
            if maker is not None:
                jobs |= maker(name, nlp.get_pipe(name))
        if model is not None:
            jobs |= self.whole()
        return jobs

    def files(self) -> dict[str, int]:
        return sizes_of(self.folder)

    def _segmenting(self, model: Any) -> dict[str, Job]:
        def lists(texts: list[str], n_threads: int = 1) -> object:
            return list(self.nlp.tokenizer.words(texts, n_threads=n_threads))

        def docs(texts: list[str], n_threads: int = 1) -> object:
            return list(self.nlp.tokenizer.pipe(texts, n_threads=n_threads))

        jobs = {
            "lists": Job(lists, texts_of, threads=True, pairs=untagged_lists),
            "list": Job(each(model.predict), texts_of, one=model.predict),
            **self.of_docs(lambda texts: list(self.nlp.tokenizer.pipe(texts))),
            "tokenizer_pipe": Job(docs, texts_of, threads=True, pairs=pairs_of_docs),
        }
        if hasattr(self.nlp.tokenizer, "tagged_words"):
            jobs["tagged_lists"] = Job(
                lambda texts: list(self.nlp.tokenizer.tagged_words(texts)),
                texts_of,
                pairs=lambda found: list(map(by_ctb, found)),
            )
        # Commits that are compared may not have it.
        if hasattr(model, "predict_spans_batch"):
            jobs["boundaries"] = Job(model.predict_spans_batch, texts_of, threads=True)
        return jobs

    def _tagging(self, name: str, pipe: Any) -> dict[str, Job]:
        model = pipe.estimator
        return {
            "tagger_lists": Job(model.predict_batch, lambda sentences: sentences, threads=True),
            "tagger_pipe": Job(piped(pipe), self.before(name), hasattr(pipe, "n_threads")),
        }

    def _parsing(self, name: str, pipe: Any) -> dict[str, Job]:
        model = pipe.estimator

        @cache
        def greedy() -> Any:
            header, arrays = model.contents()
            settings = {**header["settings"], "beam": 1}
            return type(model).from_contents(name, {**header, "settings": settings}, arrays)

        def quickly(sentences: list[Any], n_threads: int = 1) -> object:
            return greedy().predict_batch(sentences, n_threads=n_threads)

        return {
            "parser": Job(model.predict_batch, self._tagged(name), threads=True),
            "parser_greedy": Job(quickly, self._tagged(name), threads=True),
            "parser_pipe": Job(piped(pipe), self.before(name), hasattr(pipe, "n_threads")),
        }

    def _constituency(self, name: str, pipe: Any) -> dict[str, Job]:
        threads = hasattr(pipe, "n_threads")
        return {
            "constituency": Job(pipe.estimator.predict_batch, self._tagged(name), threads=True),
            "constituency_pipe": Job(piped(pipe), self.before(name), threads),
        }

    def _tagged(self, name: str) -> Callable[[list[Sentence]], list[tuple[list[str], list[str]]]]:
        """Words and tags as a parser of that name sees them."""
        before = self.before(name)

        def pairs(sentences: list[Sentence]) -> list[tuple[list[str], list[str]]]:
            return [
                ([token.text for token in doc], [token.tag_ for token in doc])
                for doc in before(sentences)
            ]

        return pairs


def piped(pipe: Any) -> Callable[..., object]:
    """A pipe on a batch of Docs."""

    def run(docs: list[Any], n_threads: int = 1) -> object:
        if hasattr(pipe, "n_threads"):
            pipe.n_threads = n_threads
        return list(pipe.pipe(docs))

    return run


def sizes_of(folder: Path) -> dict[str, int]:
    """Bytes of the files of a folder, by what lies in it."""
    sizes: dict[str, int] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            part = path.relative_to(folder).parts[0]
            sizes[part] = sizes.get(part, 0) + path.stat().st_size
    return sizes
