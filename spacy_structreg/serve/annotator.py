"""A pipeline that answers requests one after the other; nobody else uses it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, get_args

from pydantic_core import to_json
from spacy.glossary import GLOSSARY
from spacy.language import Language
from spacy.tokens import Doc

from spacy_structreg.about import __version__
from spacy_structreg.corpora.corpus_format import UNIVERSAL_TAGS
from spacy_structreg.corpora.palette import fill_of
from spacy_structreg.pipeline.analyses import AnalysesMixin
from spacy_structreg.pipeline.component import sentence_bounds
from spacy_structreg.pipeline.display import drawn_styles
from spacy_structreg.pipeline.doc_lines import conllu_of, json_of
from spacy_structreg.pipeline.documents import visible_tokens
from spacy_structreg.pipeline.explained_pipeline import (
    explain_text,
    explaining_part,
    explaining_parts,
)
from spacy_structreg.pipeline.task import TOKENIZER, TaskPart, parts_of, stem_of
from spacy_structreg.pipeline.tokenizer import UserWords
from spacy_structreg.pipeline.vocab_limit import VocabLimit
from spacy_structreg.pipeline.written import constituents_key, written_annotation, written_by
from spacy_structreg.serve.errors import FaultError, as_request_faults
from spacy_structreg.tasks.segmentation.user_words import Mode

if TYPE_CHECKING:
    from spacy_structreg.models.explanation import Decision


MOST_WORDS: Final = 5_000
"""The number of new words after which a pipeline forgets those of the texts that it has seen."""

LISTED: Final = 50
"""The most features of a decision that are listed."""


@dataclass(frozen=True)
class AnnotateOptions:
    """Options of a request to annotate texts.

    user_words: as (word, tag, mode, bonus). conllu: whether the answer is CoNLL-U, not JSON.
    """

    user_words: tuple[tuple[str, str | None, str, float | None], ...] = ()
    alternatives: int = 0
    confidence: bool = False
    pictures: bool = False
    conllu: bool = False


class Annotator:
    """Annotates texts and explains decisions by a pipeline of its own."""

    def __init__(self, nlp: Language) -> None:
        self.nlp = nlp
        self._constituents = constituents_key(nlp)
        self._vocab_limit = VocabLimit(nlp, MOST_WORDS)
        self._keeping = [part for _, part in parts_of(nlp) if isinstance(part, AnalysesMixin)]

    # What there is

    def describe(self) -> dict[str, Any]:
        """Describe the pipeline and what requests may ask of it, without the limits."""
        nlp = self.nlp
        explaining = explaining_parts(nlp)
        parts: list[tuple[str, Any]] = [(TOKENIZER, nlp.tokenizer), *nlp.pipeline]
        labels = sorted(self._labels())
        margins = {kind for part in self._keeping for kind in part.MARGINS} - {"boundaries"}
        return {
            "name": f"{nlp.meta['lang']}_{nlp.meta['name']}",
            "version": nlp.meta["version"],
            "lang": nlp.meta["lang"],
            "structreg": __version__,
            "annotates": ["words", *sorted(written_annotation(nlp) - {"relations"})],
            "parts": [
                {
                    "name": name,
                    "kind": self._kind(name, part),
                    "explains": name in explaining,
                    "task": stem_of(part),
                    "annotates": ["words"] * (name == TOKENIZER) + self._written(name),
                    "labels": sorted(labels_of(part)),
                }
                for name, part in parts
            ],
            "alternatives": [
                part.ALTERNATIVES for part in self._keeping if part.ALTERNATIVES is not None
            ],
            "confidence": sorted(margins),
            "calibrated": any(part.calibrations for part in self._keeping),
            "user_words": [mode for mode in get_args(Mode) if self._takes(mode)],
            "tags": sorted(labels_of(nlp.tokenizer)),
            "labels": {label: GLOSSARY[label] for label in labels if label in GLOSSARY},
            "fills": {label: fill_of(label) for label in labels},
        }

    def _written(self, name: str) -> list[str]:
        return sorted(written_by(self.nlp, name) - {"relations"})

    def _kind(self, name: str, part: Any) -> str:
        if name == TOKENIZER:
            return str(getattr(part, "NAME", None) or type(part).__name__)
        return self.nlp.get_pipe_meta(name).factory

    def _takes(self, mode: Mode) -> bool:
        """True if the tokenizer takes user words of a mode; it says so when it uses one."""
        bonus = 1.0 if mode == "bonus" else None
        try:
            with self._with_options(AnnotateOptions(user_words=(("书", None, mode, bonus),))):
                return True
        except FaultError:
            return False

    def _labels(self) -> set[str]:
        """The labels that the parts may give, as far as they say."""
        parts = (self.nlp.tokenizer, *(pipe for _, pipe in self.nlp.pipeline))
        labels: set[str] = set().union(*map(labels_of, parts))
        if "pos" in written_annotation(self.nlp):
            labels |= UNIVERSAL_TAGS
        return labels

    # Answers

    def annotate(self, texts: Sequence[str], options: AnnotateOptions) -> list[bytes]:
        """The annotation of texts: a document of JSON, or CoNLL-U, each.

        Raises FaultError for user words that cannot be, and for what CoNLL-U cannot hold.
        """
        with self._with_options(options):
            answers = []
            for doc in self.nlp.pipe(texts):
                if options.conllu:
                    with as_request_faults():
                        answers.append(conllu_of(doc).encode())
                    continue
                found = json_of(doc, self._constituents)
                if options.pictures:
                    found["pictures"] = pictures_of(doc, self.nlp)
                answers.append(to_json(found, inf_nan_mode="null"))
            return answers

    def explain(self, text: str, component: str | None, options: AnnotateOptions) -> bytes:
        """The decisions of a part about a text, as JSON.

        Raises FaultError for user words that cannot be, and a part that does not explain.
        """
        with as_request_faults():
            name = explaining_part(self.nlp, component)
        with self._with_options(options):
            _, found, offsets = explain_text(self.nlp, text, name)
        return to_json(
            {
                "component": name,
                "analysis": found.analysis,
                "score": found.score,
                "decisions": [_decision(each, offsets) for each in found.decisions],
            },
            inf_nan_mode="null",
        )

    @contextmanager
    def _with_options(self, options: AnnotateOptions) -> Iterator[None]:
        """Let the pipeline keep what is wanted, and use the words of a request."""
        self._vocab_limit.forget()
        with ExitStack() as stack:
            if options.user_words:
                with as_request_faults():
                    stack.enter_context(self._using(options))
                    # Which says so if the model has no word list that some could join.
                    self.nlp.make_doc("")
            if options.alternatives or options.confidence:
                for part in self._keeping:
                    before = part.kept_settings
                    part.keep_analyses(
                        alternatives=options.alternatives if part.ALTERNATIVES else 0,
                        confidence=options.confidence and bool(part.MARGINS),
                        extension_prefix=part.extension_prefix,
                    )
                    stack.callback(part.keep_analyses, **before)
            yield

    def _using(self, options: AnnotateOptions) -> Any:
        if not hasattr(self.nlp.tokenizer, "using"):
            raise ValueError("the tokenizer of this pipeline takes no user words; leave them out")
        words = UserWords()
        for word, tag, mode, bonus in options.user_words:
            words.add(word, tag, mode=mode, bonus=bonus)  # type: ignore[arg-type]
        return self.nlp.tokenizer.using(words)


def labels_of(part: Any) -> set[str]:
    """The labels that a part may give, as far as it says; of schemes such as B-PERSON, PERSON."""
    labels: Iterable[Any] = (
        getattr(part, "labels", None) or getattr(getattr(part, "model", None), "tags", None) or ()
    )
    return {label[2:] if label[1:2] == "-" else label for label in map(str, labels) if label != "O"}


def _decision(decision: Decision, offsets: Sequence[tuple[int, int]]) -> dict[str, Any]:
    needed = set(decision.to_change)
    place: dict[str, int] = {}
    if decision.item is not None and offsets:
        start, end = offsets[decision.item]
        place = {"start": start, "end": end}
    return {
        "place": decision.place,
        **place,
        "chosen": decision.chosen,
        "runner_up": decision.runner_up,
        "score": decision.score,
        "margin": None if decision.runner_up is None else decision.margin,
        "contributions": [
            {"template": each.template, "value": each.value, "source": each.source}
            | {"score": each.score}
            for each in decision.contributions[:LISTED]
        ],
        "n_contributions": len(decision.contributions),
        "differences": [
            {
                "template": each.template,
                "value": each.value,
                "place": each.place,
                "source": each.source,
                "chosen": each.chosen,
                "runner_up": each.runner_up,
                "score": each.score,
                "needed": each in needed,
            }
            for each in decision.differences[:LISTED]
        ],
        "n_differences": len(decision.differences),
    }


def pictures_of(doc: Doc, nlp: Language) -> list[dict[str, Any]]:
    """The pictures of the sentences of a Doc in all styles that they have, by sentences."""
    bounds = [each for each in sentence_bounds(doc) if each[0] < each[1]]
    starts = [start for start, _ in bounds]
    pictures = []
    for style, task in drawn_styles().items():
        names = task.parts(nlp)
        if not names:
            continue
        drawn = task.draw(doc, style, None, TaskPart(nlp, names[0]))
        firsts = _first_tokens(doc, [n_words for n_words, _ in drawn])
        pictures += [
            {
                "sentence": max(0, bisect_right(starts, first) - 1),
                "start": first,
                "style": style,
                "svg": svg,
            }
            for first, (_, svg) in zip(firsts, drawn, strict=True)
            if svg is not None
        ]
    return sorted(pictures, key=lambda each: each["sentence"])


def _first_tokens(doc: Doc, lengths: list[int]) -> Iterator[int]:
    """The first tokens of stretches of so many visible words."""
    places = [token.i for token in visible_tokens(doc)]
    at = 0
    for length in lengths:
        yield places[at] if at < len(places) else len(doc)
        at += length
