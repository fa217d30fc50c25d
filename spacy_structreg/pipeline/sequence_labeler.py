"""The pipe that labels tokens, ``structreg_sequence_labeler``, with its scorer, config and task.

spaCy imports this module whenever any pipeline is made, so it imports next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc, Token
from spacy.training import Example

from spacy_structreg.corpora.sentence import LabeledSpan, Sentence, Sentences
from spacy_structreg.learn.setting_fields import setting
from spacy_structreg.pipeline.component import (
    EstimatorPipe,
    PipeSettings,
    aligned,
    component_factory,
    model_bounds,
    punctuation_bounds,
)
from spacy_structreg.pipeline.documents import (
    AttributeReader,
    gold_words,
    visible_parts,
    visible_tokens,
    word_of,
)
from spacy_structreg.pipeline.labeling_documents import (
    ATTRIBUTES,
    ENT_TYPE,
    ENTS,
    OUTSIDE,
    SPANS,
    SPANS_KEY,
    check_attribute,
    extension_of,
    given_labels,
    gold_labels,
    is_labeled,
    known_tokens,
    register_value,
    spans_of_doc,
    stands_for_spans,
    value_of,
    write_spans,
    write_value,
)
from spacy_structreg.pipeline.task import (
    ConfigParts,
    ConfigRequest,
    ConfigTemplate,
    Given,
    Pairs,
    PipelineTask,
    ScoreSettings,
    TaskPart,
    pipes_writing,
    stem_of,
)

if TYPE_CHECKING:
    from spacy_structreg.features.gazetteers import Gazetteers
    from spacy_structreg.metrics.figures import Scores
    from spacy_structreg.tasks.tokens import TokenRows


# Attributes of tokens whose values are strings, none of them empty.
_READ_AT_ONCE: Final = ("tag", "pos", "lemma", "dep")

Values: TypeAlias = tuple[str | None, ...]


class DocLabels(NamedTuple):
    """Predicted labels of a Doc.

    labels: of each token, empty for white space; none if they stand for spans. spans: these.
    probabilities: of each label (columns) at each token, NaN for white space; None if unasked.
    """

    labels: list[str]
    spans: list[LabeledSpan]
    probabilities: NDArray[np.float64] | None


class LabelerPipeSettings(PipeSettings):
    """Settings of the sequence labeler of a pipeline."""

    attribute: str = setting(
        ENTS,
        'What is learned and written: "ents", entities; "spans", those of a span group; "tag", '
        '"pos", "lemma", "morph" or "dep" of each token, or an extension of tokens, as in '
        '"_.chunk": these need scheme = null in the model.',
    )
    spans_key: str = setting(SPANS_KEY, 'The span group of "spans".')
    columns: Mapping[str, str] | None = setting(
        None,
        "Where the columns of the model are read from, if not from the attribute of their name: "
        '{"chunk": "_.chunk"}, or tag, pos, lemma, morph, dep or ent_type for it.',
        config_default={},
    )
    sentences: Sentences = setting(
        "doc",
        'What is labeled as a sequence: "doc", each sentence that the Doc knows of, or all of it '
        'if it knows of none; "punctuation", these cut by punctuation and at line breaks; '
        '"wrapped", within paragraphs not at these.',
    )
    overwrite: bool = setting(
        False,
        "Whether what is labeled already is labeled anew; false keeps it, and finds what goes best "
        "with it.",
    )
    probabilities: str | None = setting(
        None,
        "The name of an extension of Docs for the probabilities of all labels, such as "
        '"label_probabilities": a dictionary of "labels" and "array", float64 of shape (tokens, '
        "labels), NaN for white space; null for none. Only log-linear models have them.",
    )

    def _check(self) -> None:
        check_attribute(self.attribute)
        if self.probabilities is not None and not self.probabilities.isidentifier():
            raise ValueError(
                f"probabilities is {self.probabilities!r}; give the name of an extension of Docs, "
                "such as 'label_probabilities', or None"
            )


class StructregSequenceLabeler(EstimatorPipe):
    """Labels the tokens of Docs: entities, spans, or any attribute that tokens have.

    White space is not shown to the model and gets no label, so that no span begins or ends with it.
    The model learns from the labels of the reference, and sees the columns of the predicted side. A
    sentence is left out if not all of its labels are known (`labeling_documents.gold_labels`), or,
    where there are columns, it has other words on the predicted side. Until the model is trained
    nothing is written.
    Parameters and errors are those of `EstimatorPipe`; ValueError also for extensions whose names
    are taken, and in prediction for tokens without a value in a column.
    """

    TASK = "labeling"
    FACTORY = "structreg_sequence_labeler"
    ARCHITECTURE = "spacy_structreg.SequenceLabeler.v1"
    SCORER = "spacy_structreg.labeling_scorer.v1"
    SETTINGS: ClassVar[type[LabelerPipeSettings]] = LabelerPipeSettings
    SCORED = ("attribute", "spans_key")

    settings: LabelerPipeSettings

    def __init__(self, *args: Any, **keywords: Any) -> None:
        super().__init__(*args, **keywords)
        self._texts = AttributeReader()
        if extension := extension_of(self.settings.attribute):
            register_value(Token, extension)
        if self.settings.probabilities is not None:
            register_value(Doc, self.settings.probabilities)

    @property
    def _sources(self) -> Mapping[str, str]:
        return self.settings.columns or {}

    def _check_model(self) -> None:
        """Raise ValueError if the settings do not go with those of the model."""
        attribute, model = self.settings.attribute, f"[components.{self.name}.model]"
        scheme = self.estimator.scheme
        if stands_for_spans(attribute) and scheme is None:
            raise ValueError(
                f"attribute = {attribute!r} of the pipe {self.name!r} needs labels that stand "
                f"for spans; set scheme = 'bio' in {model}"
            )
        if not stands_for_spans(attribute) and scheme is not None:
            raise ValueError(
                f"attribute = {attribute!r} of the pipe {self.name!r} has labels that do not "
                f"stand for spans, as they would by scheme = {scheme!r}; set scheme = null in "
                f"{model}"
            )
        names = self.estimator.columns[1:]
        if unknown := sorted(self._sources.keys() - set(names)):
            raise ValueError(
                f"columns of the pipe {self.name!r} has {unknown[0]!r}, but the model has no such "
                f"column; add it to columns in {model}"
            )
        for column in names:
            source = self._sources.get(column, column)
            if source not in (*ATTRIBUTES, ENT_TYPE) and extension_of(source) is None:
                raise ValueError(
                    f"the column {column!r} of the model of the pipe {self.name!r} cannot be read "
                    f"from {source!r}; name its place in [components.{self.name}.columns]: one of "
                    f"{', '.join((*ATTRIBUTES, ENT_TYPE))}, or an extension, as in '_.{column}'"
                )
        if (
            self.settings.probabilities is not None
            and not self.estimator.learning.gives_probabilities
        ):
            raise ValueError(
                f"the pipe {self.name!r} cannot give probabilities: its model is a perceptron, "
                "whose scores are none; set @misc = 'spacy_structreg.LogLinear.v1' in "
                f"[components.{self.name}.model.learning]"
            )

    # Prediction ----------------------------------------------------------------------------------

    def _predict(self, docs: list[Doc]) -> list[DocLabels]:
        places, rows = self._read(docs)
        given = None
        if not self.settings.overwrite:
            given = [
                labels
                for doc, sentences in zip(docs, places, strict=True)
                for labels in given_labels(
                    doc, sentences, self.settings.attribute, self.settings.spans_key
                )
            ]
        labels = iter(self.estimator.predict_batch(rows, given=given))
        marginals: Iterator[Any] = iter(())
        if self.settings.probabilities is not None:
            marginals = self.estimator.predict_marginals_stream(rows)
        return [
            self._labeling(doc, sentences, labels, marginals)
            for doc, sentences in zip(docs, places, strict=True)
        ]

    def _places(self, doc: Doc, words: Sequence[str], *, is_cut: bool = True) -> list[list[int]]:
        """The tokens of each sequence that are no white space.

        words: of all tokens. is_cut: whether the sentences that a Doc knows of are sequences of
        their own.
        """
        bounds: Iterable[tuple[int, int]] = model_bounds(doc) if is_cut else [(0, len(doc))]
        if self.settings.sentences != "doc":
            bounds = punctuation_bounds(doc, bounds, wrapped=self.settings.sentences == "wrapped")
        return visible_parts(words, bounds)

    def _columns(self, docs: Sequence[Doc]) -> list[list[Any]]:
        """The columns of the tokens of all Docs, None where there is no value; words come first."""
        sources = [self._sources.get(name, name) for name in self.estimator.columns[1:]]
        at_once = [source for source in sources if source in _READ_AT_ONCE]
        read = self._texts.read_all(docs, ["ORTH", *map(str.upper, at_once)])
        texts = dict(zip(at_once, read[1:], strict=True))
        columns: list[list[Any]] = [read[0]]
        for source in sources:
            if source not in texts:
                columns.append([value_of(token, source) for doc in docs for token in doc])
            elif "" in texts[source]:
                columns.append([value or None for value in texts[source]])
            else:
                columns.append(texts[source])
        return columns

    def _row(self, word: str, values: Values) -> tuple[str, ...]:
        """The columns of a token. Raises ValueError if it lacks the value of one."""
        for column, value in zip(self.estimator.columns[1:], values, strict=True):
            if value is None:
                raise ValueError(
                    f"the token {word!r:.40} has no {self._sources.get(column, column)}, "
                    f"which the pipe {self.name!r} looks at; put a pipe that writes it before this "
                    "one, and name that in annotating_components, or let the reader of the corpus "
                    'give it (gold = ["words", "tags"])'
                )
        row: tuple[Any, ...] = (word, *values)
        return row

    def _read(self, docs: Sequence[Doc]) -> tuple[list[list[list[int]]], list[TokenRows]]:
        """The tokens of each sequence of each Doc, and the columns of those of all sequences."""
        from spacy_structreg.tasks.tokens import TokenRows

        columns = self._columns(docs)
        places: list[list[list[int]]] = []
        found: list[TokenRows] = []
        first = 0
        for doc in docs:
            of_doc = self._places(doc, columns[0][first : first + len(doc)])
            places.append(of_doc)
            for sentence in of_doc:
                tokens = [first + i for i in sentence]
                found.append(TokenRows([[column[i] for i in tokens] for column in columns]))
            first += len(doc)
        if None in chain.from_iterable(columns):
            for row in chain.from_iterable(found):
                self._row(row[0], row[1:])
        return places, found

    def _labeling(
        self,
        doc: Doc,
        sentences: Iterable[Sequence[int]],
        labels: Iterator[list[str]],
        marginals: Iterator[NDArray[np.float64]],
    ) -> DocLabels:
        from spacy_structreg.corpora.labeling import spans_of

        of_spans = stands_for_spans(self.settings.attribute)
        found = [] if of_spans else [""] * len(doc)
        spans: list[LabeledSpan] = []
        array = None
        if self.settings.probabilities is not None:
            array = np.full((len(doc), len(self.labels)), np.nan)
        for sentence in sentences:
            of_sentence = next(labels)
            if not of_spans:
                for place, label in zip(sentence, of_sentence, strict=True):
                    found[place] = label
            elif of_sentence.count(OUTSIDE) < len(of_sentence):
                spans += [
                    (sentence[begin], sentence[end - 1] + 1, label)
                    for begin, end, label in spans_of(of_sentence)
                ]
            if array is not None:
                array[sentence] = next(marginals)
        return DocLabels(found, spans, array)

    def _annotate(self, doc: Doc, predicted: DocLabels) -> None:
        """Write labels or spans, and probabilities."""
        attribute, overwrite = self.settings.attribute, self.settings.overwrite
        if stands_for_spans(attribute):
            write_spans(
                doc, predicted.spans, attribute, self.settings.spans_key, overwrite=overwrite
            )
        else:
            for token, label in zip(doc, predicted.labels, strict=True):
                if label and (overwrite or value_of(token, attribute) is None):
                    write_value(token, attribute, label)
        if self.settings.probabilities is not None:
            doc._.set(
                self.settings.probabilities,
                {"labels": self.labels, "array": predicted.probabilities},
            )

    # Training ------------------------------------------------------------------------------------

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: list[str] | tuple[str, ...] | None = None,
        gazetteers: object = None,
    ) -> None:
        """As `EstimatorPipe.initialize`.

        gazetteers: lists of phrases, from ``spacy_structreg.Gazetteers.v1`` or
            `features.gazetteers.Gazetteers`, for the templates that read them. The model keeps
            them; a trained one keeps its own.
        Raises ValueError for something else, or if no template reads gazetteers.
        """
        if gazetteers is not None and not self.estimator.is_trained:
            self._shim.estimator = self.estimator.with_gazetteers(_checked(gazetteers, self.name))
        super().initialize(get_examples, nlp=nlp, labels=labels)

    def _sentences_of(self, doc: Doc) -> Iterable[tuple[Any, ...]]:
        return ((sequence,) for sequence in self.unlabeled(doc))

    def unlabeled(self, doc: Doc) -> list[TokenRows]:
        """The columns of each sentence of a Doc. Raises ValueError as `predict`."""
        return self._read([doc])[1]

    def gold(self, example: Example) -> tuple[list[list[tuple[str, ...]]], int]:
        """The gold sentences that the model learns from, and how many others there are.

        The reference is cut into sentences if prediction has them too, so that a model learns from
        what it will see.
        """
        doc = example.reference
        is_cut, values = self._seen(example)
        places = self._places(doc, self._texts.read(doc, "ORTH"), is_cut=is_cut)
        sentences = []
        n_others = 0
        of_sentences = gold_labels(doc, places, self.settings.attribute, self.settings.spans_key)
        for sentence, labels in zip(places, of_sentences, strict=True):
            rows = [values[i] for i in sentence]
            if labels is None or None in rows:
                n_others += 1
            elif sentence:
                sentences.append(
                    [
                        (*self._row(doc[i].text, row or ()), label)
                        for i, row, label in zip(sentence, rows, labels, strict=True)
                    ]
                )
        return sentences, n_others

    def _seen(self, example: Example) -> tuple[bool, tuple[Values | None, ...]]:
        """True for known sentences; and the columns of tokens, None where there is no such."""
        predicted = example.predicted
        is_cut = predicted.has_annotation("SENT_START")
        if len(self.estimator.columns) == 1:
            return is_cut, ((),) * len(example.reference)
        values = list(zip(*self._columns([predicted])[1:], strict=True))
        return is_cut, tuple(aligned(example, values))

    def _left_out(self) -> str:
        if self.settings.attribute == "ents":
            unknown = "tokens of which no entity, nor its absence, is known"
        elif self.settings.attribute == "spans":
            unknown = f"no spans under the key {self.settings.spans_key!r}"
        else:
            unknown = f"tokens without a label (attribute = {self.settings.attribute!r})"
        return f"have {unknown}, spans that go beyond them, or other words than are predicted,"


def _checked(gazetteers: object, pipe: str) -> Gazetteers:
    from spacy_structreg.features.gazetteers import Gazetteers

    if not isinstance(gazetteers, Gazetteers):
        raise ValueError(
            f"{gazetteers!r:.60} are no gazetteers for the pipe {pipe!r}; make them by @misc = "
            f"'spacy_structreg.Gazetteers.v1' in [initialize.components.{pipe}.gazetteers]"
        )
    return gazetteers


create_sequence_labeler = component_factory(
    StructregSequenceLabeler,
    # Not token.dep: that belongs to pipes that find heads.
    assigns=[
        *("doc.ents", "token.ent_iob", "token.ent_type", "doc.spans"),
        *("token.tag", "token.pos", "token.lemma", "token.morph"),
    ],
    # One of them has a value: ents_f of entities and spans, label_acc of anything else.
    score_weights={
        **{"ents_f": 1.0, "label_acc": 1.0, "ents_p": 0.0, "ents_r": 0.0},
        "ents_per_type": None,
    },
)


# Gazetteers ---------------------------------------------------------------------------------------


def create_gazetteers(
    lists: dict[str, str | list[str]],
    lower: bool = False,
    characters: bool = False,
    encoding: str = "utf-8",
) -> Any:
    """Make `Gazetteers` for ``[initialize.components.<name>.gazetteers]``.

    lists: of each name, a file with a phrase a line, or the phrases themselves. lower, characters:
    see `features.gazetteers.Gazetteers`. encoding: of the files.
    Raises ValueError for faulty files and lists; OSError for files that cannot be read.
    """
    from spacy_structreg.features.gazetteers import Gazetteers

    paths = {name: given for name, given in lists.items() if isinstance(given, str)}
    found: dict[str, list[str]] = {
        name: given for name, given in lists.items() if not isinstance(given, str)
    }
    if paths:
        read = Gazetteers.from_files(paths, lower=lower, characters=characters, encoding=encoding)
        found |= read.as_dict()["lists"]
    return Gazetteers(found, lower=lower, characters=characters)


# Scorer -------------------------------------------------------------------------------------------


def make_labeling_scorer() -> Callable[..., dict[str, Any]]:
    """Make the scorer ``spacy_structreg.labeling_scorer.v1``."""
    return score_labeling


def score_labeling(
    examples: Iterable[Example],
    *,
    attribute: str = "ents",
    spans_key: str = SPANS_KEY,
    **kwargs: Any,
) -> dict[str, Any]:
    """Score what a sequence labeler writes, as fractions of 1.

    attribute, spans_key: as of the component. Of entities and spans: ``ents_p``, ``ents_r``,
    ``ents_f`` and ``ents_per_type``, under the keys of spaCy (`score_spans_of_docs`). Of anything
    else ``label_acc``, the share of words with the right label (`score_labels_of_docs`); None if
    words are not those of the reference.
    """
    pairs = [(example.reference, example.predicted) for example in examples]
    if stands_for_spans(attribute):
        scores = score_spans_of_docs(pairs, attribute, spans_key)
        return {**scores.as_dict(), "ents_per_type": scores.per_type()["ents_per_type"] or None}
    if any(gold_words(reference) != gold_words(predicted) for reference, predicted in pairs):
        return {"label_acc": None}
    return score_labels_of_docs(pairs, attribute).as_dict()


def score_spans_of_docs(
    pairs: Iterable[tuple[Doc, Doc]], attribute: str, spans_key: str = SPANS_KEY
) -> Scores:
    """Score the entities or spans of predicted Docs against those of their references.

    A span is right if a gold one has the same first and last character and the same label, whatever
    the words are; so tokens are characters here, without white space. References without any
    annotation of the kind or of another text do not count, nor do predicted spans that reach into
    tokens of which it is not known what they are in. Raises ValueError for gold spans that overlap.
    """
    from spacy_structreg.corpora.labeling import labels_of
    from spacy_structreg.metrics.labeling import SpanScorer

    scorer = SpanScorer()
    for reference, predicted in pairs:
        known = known_tokens(reference, attribute, spans_key)
        if not any(known) or gold_text(reference) != gold_text(predicted):
            continue
        bounds = _bounds(reference)
        unknown = {
            place
            for token, is_known in zip(reference, known, strict=True)
            if not is_known
            for place in range(bounds[token.i], bounds[token.i + 1])
        }
        gold = _by_characters(reference, attribute, spans_key)
        found = [
            (begin, end, label)
            for begin, end, label in _by_characters(predicted, attribute, spans_key)
            if unknown.isdisjoint(range(begin, end))
        ]
        # Of the gold spans, that they do not overlap; those that a pipe keeps may.
        labels_of(gold, bounds[-1])
        scorer.add_spans(gold, found, bounds[-1])
    return scorer.scores().without("label_acc")


def score_labels_of_docs(pairs: Iterable[tuple[Doc, Doc]], attribute: str) -> Scores:
    """Score an attribute of the tokens of predicted Docs against their references.

    Words whose gold label is not known do not count, nor does white space. Raises ValueError if the
    words are not those of the reference.
    """
    from spacy_structreg.metrics.labeling import score_labels

    gold: list[list[str]] = []
    found: list[list[str]] = []
    for reference, predicted in pairs:
        values = zip(_values(reference, attribute), _values(predicted, attribute), strict=True)
        known = [(wanted, given or "") for wanted, given in values if wanted is not None]
        gold.append([wanted for wanted, _ in known])
        found.append([given for _, given in known])
    return score_labels(gold, found)


def gold_text(doc: Doc) -> str:
    """The characters of a Doc, without white space."""
    return "".join(gold_words(doc))


def _values(doc: Doc, attribute: str) -> list[str | None]:
    return [value_of(token, attribute) for token in visible_tokens(doc)]


def _bounds(doc: Doc) -> list[int]:
    """The first character of each token, white space left out; and the end."""
    return list(accumulate((len(word_of(token)) for token in doc), initial=0))


def _by_characters(doc: Doc, attribute: str, spans_key: str) -> list[tuple[int, int, str]]:
    bounds = _bounds(doc)
    return [
        (bounds[start], bounds[end], label)
        for start, end, label in spans_of_doc(doc, attribute, spans_key)
    ]


# Config and task ----------------------------------------------------------------------------------


GAZETTEERS: Final = """\
# Lists of known phrases, as features; the model keeps them. Remove the # to have some.
# [initialize.components.sequence_labeler]
# [initialize.components.sequence_labeler.gazetteers]
# @misc = "spacy_structreg.Gazetteers.v1"
# lower = false
# [initialize.components.sequence_labeler.gazetteers.lists]
# city = "cities.txt"

"""

SCORES: Final = {
    **{"ents_f": 1.0, "ents_p": 0.0, "ents_r": 0.0},
    **{"ents_per_type": None, "label_acc": None},
}
ABOUT_SCORES: Final = "F of entities or spans"


def entity_parts(request: ConfigRequest) -> ConfigParts:
    """The parts of the config of a pipe that finds entities."""
    from spacy_structreg.models.labeling.labelers import SequenceLabeler
    from spacy_structreg.pipeline.setting_texts import component_parts

    # The words are those of the base, if there is one.
    of_words = request.is_alphabetic or request.base is not None
    templates = "ner" if of_words else "characters"
    parts = component_parts(
        "sequence_labeler",
        StructregSequenceLabeler,
        SequenceLabeler,
        model_settings={"templates": templates},
        title="a labeler of tokens",
        noun="labeler",
        about_gold='# The gold annotation that the labeler is given: with "sents", it sees '
        "sentences one by one.",
        gold=["words", "sents"],
        scores=SCORES,
        about_scores=ABOUT_SCORES,
    )
    return replace(parts, initialize=GAZETTEERS)


def chunk_parts(request: ConfigRequest) -> ConfigParts:
    """The parts of the config of a pipe that finds spans of tagged words."""
    from spacy_structreg.models.labeling.labelers import SequenceLabeler
    from spacy_structreg.pipeline.tag_reading_configs import tag_reading_parts

    parts = tag_reading_parts(
        request,
        name="sequence_labeler",
        title="a labeler of tokens",
        noun="labeler",
        component=StructregSequenceLabeler,
        model=SequenceLabeler,
        model_settings={"templates": "chunking", "columns": ["w", "tag"]},
        scores=SCORES,
        about_scores=ABOUT_SCORES,
        with_sentences=True,
        attribute=SPANS,
        columns={} if request.attribute == "tag" else {"tag": request.attribute},
        sentences="doc",
    )
    return replace(parts, initialize=GAZETTEERS)


class Labeling(PipelineTask):
    """Entities, spans of a group, or labels of tokens, found by a pipe."""

    stem = "labeling"
    order = 5
    predicts = "labels"
    verb = "labels"
    noun = "labeler"
    keeps_spaces = True
    given_sentences = True
    templates = (
        ConfigTemplate(
            "label",
            "a pipe that finds entities",
            entity_parts,
            gold="entities that are known",
            advice="make the file with 'convert --columns word,label' from columns",
            has_gold=lambda doc: visible_spans(doc, ENTS) is not None,
        ),
        ConfigTemplate(
            "chunk",
            "a pipe that finds spans of tagged words",
            chunk_parts,
            tags="some",
            gold="spans",
            advice="make the file with 'convert --columns word,tag,label --spans-key chunks' from "
            "columns",
            has_gold=lambda doc: visible_spans(doc, SPANS) is not None,
        ),
    )

    def has_gold(self, doc: Doc) -> bool:
        """True if it is known of any word whether it is in an entity or a span."""
        return is_labeled(doc, ENTS) or is_labeled(doc, SPANS)

    def read_gold(self, doc: Doc, spans_key: str | None) -> dict[str, Any]:
        """Entities and spans that are known of all words."""
        return {
            "entities": visible_spans(doc, ENTS),
            "chunks": visible_spans(doc, SPANS, spans_key or SPANS_KEY),
            "spans_key": spans_key,
        }

    def write_gold(self, doc: Doc, sentence: Sentence) -> None:
        """Write entities, and spans into their group."""
        key = sentence.spans_key or SPANS_KEY
        for attribute, spans in ((ENTS, sentence.entities), (SPANS, sentence.chunks)):
            if spans is not None:
                write_spans(doc, spans, attribute, key, overwrite=True)

    def own_parts(self, nlp: Language, names: Sequence[str], docs: Sequence[Doc]) -> list[Doc]:
        """Docs without the entities whose labels other pipes know, and these do not.

        Nothing is known of entities if all that there are in the Docs are such.
        """
        labels = self._entity_labels(nlp)
        own = [labels.pop(name) for name in names if name in labels]
        others = set().union(*labels.values()).difference(*own)
        found = {span.label_ for doc in docs for span in doc.ents}
        if not own or others.isdisjoint(found):
            return list(docs)
        kept = [doc.copy() for doc in docs]
        for doc in kept:
            spans = [span for span in doc.ents if span.label_ not in others]
            doc.set_ents(spans, default="outside" if found - others else "missing")
        return kept

    def other_parts(self, nlp: Language, names: Sequence[str]) -> list[str]:
        """The pipes whose entities are not those of these."""
        labels = self._entity_labels(nlp)
        return [name for name in labels if name not in names] if {*names} & {*labels} else []

    def _entity_labels(self, nlp: Language) -> dict[str, set[str]]:
        """The labels of the entities that each pipe finds, whoever made it, if they are known."""
        labels = {}
        for name in self.text_parts(nlp):
            pipe = TaskPart(nlp, name).pipe
            known = map(str, getattr(pipe, "labels", ()))
            # Those of ours are labels of tokens.
            of_tokens = stem_of(pipe) == self.stem
            labels[name] = {each.partition("-")[2] if of_tokens else each for each in known} - {""}
        return {name: known for name, known in labels.items() if known}

    def spans_key(self, nlp: Language) -> str | None:
        """The group of the first pipe that writes into one."""
        pipes = (TaskPart(nlp, name).pipe for name in self.parts(nlp))
        return next((pipe.spans_key for pipe in pipes if pipe.attribute == SPANS), None)

    def scored_parts(
        self, nlp: Language, gold: Sequence[Doc], given: Given, *, alone: bool = False
    ) -> list[str]:
        """The first pipe for which there is gold annotation; only of spans, if words are not given.

        Without the words of the corpus, labels of words cannot be compared. Of several pipes that
        find entities, all those of whose labels the gold annotation has one.
        """
        tagging = pipes_writing(nlp, "tag", "pos") if given.tags else []
        for name in self.parts(nlp):
            pipe = TaskPart(nlp, name).pipe
            if (
                name not in tagging
                and (given.words or stands_for_spans(pipe.attribute))
                and any(is_labeled(doc, pipe.attribute, pipe.spans_key) for doc in gold)
            ):
                found = {span.label_ for doc in gold for span in doc.ents}
                labels = self._entity_labels(nlp) if pipe.attribute == ENTS else {}
                known = [each for each in labels if labels[each] & found]
                return known or [name, *(each for each in labels if each != name)]
        return []

    def text_parts(self, nlp: Language) -> list[str]:
        """The pipes that find entities, whoever made them."""
        return [
            name
            for name, pipe in nlp.pipeline
            if "doc.ents" in nlp.get_pipe_meta(name).assigns
            and getattr(pipe, "attribute", ENTS) == ENTS
        ]

    def score(self, pairs: Pairs, part: TaskPart, settings: ScoreSettings) -> Scores:
        """F of entities or spans, by their characters; or the share of right labels of tokens."""
        attribute = part.setting("attribute", ENTS)
        if not stands_for_spans(attribute):
            return score_labels_of_docs(pairs, attribute)
        return score_spans_of_docs(pairs, attribute, part.setting("spans_key", SPANS_KEY))


def visible_spans(doc: Doc, attribute: str, key: str = SPANS_KEY) -> list[LabeledSpan] | None:
    """Entities or spans over visible words; None unless they are known of all of them."""
    visible = [token.i for token in visible_tokens(doc)]
    known = known_tokens(doc, attribute, key)
    if not visible or not all(known[i] for i in visible):
        return None
    index = {place: number for number, place in enumerate(visible)}
    return [
        (index[start], index[end - 1] + 1, label)
        for start, end, label in spans_of_doc(doc, attribute, key)
    ]


LABELING: Final = Labeling()
