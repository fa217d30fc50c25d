"""Constituency parsing as a task of pipelines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Final

from spacy.language import Language
from spacy.tokens import Doc

from spacy_structreg.corpora.annotated import AnnotatedSentence
from spacy_structreg.metrics.figures import Counts, Scores
from spacy_structreg.pipeline.component import N_THREADS_TEXT
from spacy_structreg.pipeline.constituents.constituency_documents import (
    SPANS_KEY,
    constituency_sentences,
    read_phrases,
    write_phrases,
)
from spacy_structreg.pipeline.constituents.constituency_scorer import (
    score_brackets_of_docs,
    score_brackets_of_texts,
)
from spacy_structreg.pipeline.setting_texts import config_block
from spacy_structreg.pipeline.tag_reading_configs import tag_reading_parts
from spacy_structreg.pipeline.task import (
    ConfigParts,
    ConfigRequest,
    ConfigTemplate,
    DrawnTask,
    Pairs,
    Picture,
    ScoreSettings,
    Style,
    TaskPart,
    score_weights,
)

COMPONENT: Final = f"""\
[components.constituency]
factory = "structreg_constituency"
# Which tags of words the parser looks at: "tag", those of the corpus, or "pos", its universal tags.
attribute = "{{attribute}}"
# What gets a tree of its own: "doc", each sentence that the Doc knows of, or all of it if it knows
# of none; "punctuation", these cut by punctuation and at line breaks; "wrapped",
# within paragraphs not at these.
sentences = "{{sentences}}"
# Parse anew what is parsed already; false keeps constituents that are there, and finds the others.
overwrite = false
# The span group that holds the constituents, here and in the corpora.
spans_key = "constituents"
# Write heads as well: those of the head words that the model finds, "parser", or of those that head
# rules find in its trees, "ctb" or "ptb"; null for no heads.
dependencies = null
# How many trees of each sentence doc._.structreg keeps, which takes time; 0 for none.
alternatives = 0
# What the names of the attributes begin with: with "tree_", span._.labels is span._.tree_labels.
extension_prefix = ""
{N_THREADS_TEXT}

[components.constituency.scorer]
@scorers = "spacy_structreg.constituency_scorer.v1"
# What counts: "collins", as EVALB does with COLLINS.prm; "plain", all constituents and all words;
# "no_pu", without the punctuation of the Chinese Treebank.
conventions = "collins"

"""


def constituency_parts(request: ConfigRequest) -> ConfigParts:
    """The parts of the config of a constituency parser."""
    from spacy_structreg.estimators.constituents.constituency_parser import ConstituencyParser

    return tag_reading_parts(
        request,
        name="constituency",
        title="a constituency parser",
        noun="parser",
        component=COMPONENT,
        model=config_block("components.constituency.model", ConstituencyParser),
        scores=score_weights("structreg_constituency"),
        about_scores="F of brackets",
    )


class Constituents(DrawnTask):
    """Phrase structure trees over given words, found by a pipe."""

    stem = "constituents"
    order = 4
    predicts = "constituents"
    verb = "parses"
    noun = "parser"
    missing = "constituent"
    reads_tags = True
    of_trees = True
    on_text = False
    given_sentences = True
    draw_order = 0
    styles: ClassVar = {
        "tree": Style("words at the bottom, and phrases above them", heads="optional"),
        "span": Style("phrases as bars below the words"),
    }
    templates = (
        ConfigTemplate(
            "constituency",
            "a pipe that finds constituents of tagged words",
            constituency_parts,
            tags="some",
            gold="constituents",
            advice="make the file with 'convert --head-rules' from trees in brackets",
        ),
    )

    def has_gold(self, doc: Doc) -> bool:
        """True if a Doc has constituents."""
        return bool(doc.spans.get(SPANS_KEY))

    def read_gold(self, doc: Doc, spans_key: str | None) -> dict[str, Any]:
        """The constituents of the usual span group. Raises ValueError as `read_phrases`."""
        return {"constituents": read_phrases(doc)}

    def write_gold(self, doc: Doc, sentence: AnnotatedSentence) -> None:
        """Put the constituents into the usual span group."""
        if sentence.constituents is not None:
            write_phrases(doc, sentence.constituents)

    def align_gold(self, nlp: Language, docs: Iterable[Doc]) -> None:
        """Let the usual span group be that of the pipe, if there is one in any Doc."""
        key = next((TaskPart(nlp, name).pipe.spans_key for name in self.parts(nlp)), SPANS_KEY)
        if key == SPANS_KEY:
            return
        docs = list(docs)
        if any(key in doc.spans for doc in docs):
            for doc in docs:
                if key in doc.spans:
                    doc.spans[SPANS_KEY] = doc.spans[key].copy(doc)
                elif SPANS_KEY in doc.spans:
                    del doc.spans[SPANS_KEY]

    def score(self, pairs: Pairs, part: TaskPart, settings: ScoreSettings) -> Scores:
        """The figures of EVALB, of all sentences and of short ones."""
        found_key = part.setting("spans_key", SPANS_KEY)
        return score_brackets_of_docs(pairs, settings.conventions, SPANS_KEY, found_key)

    def text_parts(self, nlp: Language) -> list[str]:
        """The pipes of the task."""
        return self.parts(nlp)

    def text_counts(self, pairs: Pairs, part: TaskPart) -> dict[str, Counts]:
        """The counts of brackets over characters."""
        found_key = part.setting("spans_key", SPANS_KEY)
        found = score_brackets_of_texts(pairs, predicted_key=found_key).compared()
        return {"text_brackets_f": found["brackets_f"]}

    def is_found(self, doc: Doc, part: TaskPart) -> bool:
        """True if a Doc has the span group of the pipe."""
        return part.setting("spans_key", SPANS_KEY) in doc.spans

    def draw(
        self, doc: Doc, style: str, lengths: Sequence[int] | None, part: TaskPart | None, **how: Any
    ) -> list[Picture]:
        """Draw the sentences that have a tree; as spans, those that have a phrase."""
        from spacy_structreg.corpora.drawing import span_svg, tree_svg

        heads = bool(how.get("heads"))
        key = SPANS_KEY if part is None else part.setting("spans_key", SPANS_KEY)
        wanted = how.get("wanted")
        pictures: list[Picture] = []
        for number, (n_words, tree) in enumerate(constituency_sentences(doc, key, headed=heads)):
            drawn = None
            if tree is None or (wanted is not None and number not in wanted):
                pass
            elif style == "tree":
                drawn = tree_svg(tree, heads=heads)
            elif tree.constituents:
                # A word without a phrase has no bar.
                drawn = span_svg(tree)
            pictures.append((n_words, drawn))
        return pictures


CONSTITUENTS: Final = Constituents()
