"""Requests and answers of the API, as pydantic checks them and the OpenAPI document shows them."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, FailFast, Field, model_validator

# Whole numbers are no booleans, and numbers no strings.
_STRICT = ConfigDict(extra="forbid", strict=True)

MOST_FIELDS: Final = 20
"""An object with more fields is not looked at: each that is unknown would be a fault of its own."""

TEXT = "我们明天去杭州。"


def encodable(text: str) -> str:
    """The text itself. Raises ValueError if UTF-8 cannot encode it."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"a lone surrogate at offset {error.start} stands for no character; remove it"
        ) from None
    return text


Text = Annotated[str, AfterValidator(encodable)]


class _Request(BaseModel):
    model_config = _STRICT

    @model_validator(mode="before")
    @classmethod
    def _few_fields(cls, data: Any) -> Any:
        if isinstance(data, dict) and len(data) > MOST_FIELDS:
            raise ValueError(f"there are {len(data):,} fields; {len(cls.model_fields)} are known")
        return data


class UserWord(_Request):
    """A word that is to be a token, in this request only."""

    word: Annotated[Text, Field(description="The word, at most 255 characters")]
    tag: Annotated[
        Text | None, Field(description="Its tag, if the tokenizer of the pipeline gives tags")
    ] = None
    mode: Annotated[
        Literal["force", "bonus", "prefer"],
        Field(
            description="force: a token wherever it occurs; bonus: a number is added to the score "
            "of analyses that have it; prefer: it joins the word list that the model was trained "
            "with"
        ),
    ] = "force"
    bonus: Annotated[
        float | None, Field(description="Of the mode bonus: from -1,000,000 to 1,000,000")
    ] = None


# The first fault is enough: each of a million numbers would have one.
_Texts = Annotated[
    list[Text], FailFast(), Field(description="The texts, in any number up to the limit")
]
_Words = Annotated[
    list[UserWord], FailFast(), Field(description="Words that count in this request only")
]


class AnnotateRequest(_Request):
    """Texts to annotate, and what of them is wanted."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"texts": [TEXT]},
                {
                    "texts": ["他学习自然语言处理。"],
                    "user_words": [{"word": "自然语言处理"}],
                    "alternatives": 3,
                    "confidence": True,
                },
            ]
        },
    )

    texts: _Texts
    user_words: _Words = []
    alternatives: Annotated[
        int, Field(ge=0, description="How many of the best analyses are wanted; 0 for none")
    ] = 0
    confidence: Annotated[
        bool, Field(description="Whether to say how sure words, tags and heads are")
    ] = False
    pictures: Annotated[bool, Field(description="Whether to draw the sentences, as SVG")] = False


class ExplainRequest(_Request):
    """A text, and the part of the pipeline whose decisions about it are to be explained."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"text": TEXT, "component": "tokenizer"}]}
    )

    text: Annotated[Text, Field(description="The text")]
    component: Annotated[
        Text | None,
        Field(description="A part that explains, of /v1/pipeline; by default the first"),
    ] = None
    user_words: _Words = []


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ErrorContent(_Answer):
    """An error of the service."""

    code: Annotated[str, Field(description="A name for programs, such as text_too_long")]
    message: Annotated[str, Field(description="The fault, and how to mend it")]


class ErrorAnswer(_Answer):
    """Every error of the service."""

    error: ErrorContent


class HealthAnswer(_Answer):
    """The state of the service."""

    status: Literal["ok", "loading", "stopping"]


class Part(_Answer):
    """The tokenizer or a pipe."""

    name: str
    kind: Annotated[str, Field(description="The name under which it is registered, or its class")]
    explains: Annotated[bool, Field(description="Whether /v1/explain takes it")]
    task: str | None
    annotates: Annotated[list[str], Field(description="What it writes, as of the pipeline")]
    labels: Annotated[list[str], Field(description="The labels that it gives, as far as it says")]


class LimitsAnswer(_Answer):
    """The limits of requests."""

    text: Annotated[int, Field(description="Characters of a text")]
    texts: Annotated[int, Field(description="Texts of a request")]
    body: Annotated[int, Field(description="Bytes of a request")]
    explained_text: Annotated[int, Field(description="Characters of a text to explain")]
    user_words: Annotated[int, Field(description="User words of a request")]
    alternatives: Annotated[int, Field(description="Analyses of a sentence")]
    seconds: Annotated[float, Field(description="Until an answer")]


class PipelineAnswer(_Answer):
    """The pipeline, and what it can be asked for."""

    name: str
    version: str
    lang: str
    structreg: Annotated[str, Field(description="The version of spacy_structreg")]
    annotates: Annotated[
        list[str],
        Field(
            description="What it writes: words, and some of tags, pos, lemmas, heads, sentences, "
            "constituents, entities, spans and categories"
        ),
    ]
    parts: list[Part]
    alternatives: Annotated[list[str], Field(description="What there are alternatives of")]
    confidence: Annotated[list[str], Field(description="What it knows how sure it is of")]
    calibrated: Annotated[bool, Field(description="Whether that is said by probabilities")]
    user_words: Annotated[
        list[Literal["force", "bonus", "prefer"]],
        Field(description="The modes of user words that it takes; none if it takes no words"),
    ]
    tags: Annotated[list[str], Field(description="The tags that user words may have")]
    labels: Annotated[dict[str, str], Field(description="The meanings of its labels")]
    fills: Annotated[
        dict[str, str],
        Field(description="The colors that its labels have on the page, by /page/palette.css"),
    ]
    limits: LimitsAnswer


class TokenAnswer(_Answer):
    """A token; what the pipeline does not write is left out."""

    start: Annotated[int, Field(description="Its first character in the text, in code points")]
    end: Annotated[int, Field(description="The first character after it")]
    tag: str | None = None
    pos: str | None = None
    morph: str | None = None
    lemma: str | None = None
    dep: str | None = None
    head: Annotated[
        int | None, Field(description="The number of the token that is its head; its own of a root")
    ] = None


class LabeledTokens(_Answer):
    """Tokens from start to before end, with a label."""

    label: str
    start: int
    end: int


class SentenceAnswer(_Answer):
    """A sentence: tokens from start to before end."""

    start: int
    end: int
    constituents: list[LabeledTokens] | None = None
    brackets: Annotated[str | None, Field(description="Its tree in bracket notation")] = None


class AlternativeAnswer(_Answer):
    """One of the best analyses of the tokens from start to before end."""

    score: float
    start: int
    end: int
    of: Annotated[
        list[Any],
        Field(
            description="Of words, words or [word, tag]; of tags, tags; of heads, [head, label]; "
            "of constituents, [label, start, end]"
        ),
    ]


class PictureAnswer(_Answer):
    """A picture of a sentence."""

    sentence: Annotated[int, Field(description="The number of the sentence, from 0")]
    start: Annotated[int, Field(description="The first token that is drawn")]
    style: Annotated[str, Field(description="What it shows, as --style of structreg draw")]
    svg: str


class DocumentAnswer(_Answer):
    """The annotation of a text."""

    text: str
    tokens: list[TokenAnswer]
    sentences: list[SentenceAnswer]
    entities: list[LabeledTokens] | None = None
    spans: Annotated[
        dict[str, list[LabeledTokens]] | None, Field(description="Other spans, by their groups")
    ] = None
    categories: Annotated[
        dict[str, float | None] | None, Field(description="Scores of categories of the text")
    ] = None
    confidence: Annotated[
        dict[str, list[float | None]] | None,
        Field(description="For each token, the probability of being right, by kind of decision"),
    ] = None
    margins: Annotated[
        dict[str, list[float | None]] | None,
        Field(
            description="In its place if the pipeline is not calibrated: the lead over the next "
            "best analysis; null if there is none"
        ),
    ] = None
    alternatives: Annotated[
        dict[str, list[list[AlternativeAnswer]]] | None,
        Field(description="By kind of decision, for each sentence its best analyses"),
    ] = None
    pictures: list[PictureAnswer] | None = None


class Annotations(_Answer):
    """The annotation of the texts, in their order."""

    documents: list[DocumentAnswer]


class ContributionAnswer(_Answer):
    """A feature, and what it adds to the score of a decision."""

    template: str
    value: str
    source: str
    score: float


class DifferenceAnswer(_Answer):
    """A feature that tells a decision from its runner-up."""

    template: str
    value: str
    place: str
    source: str
    chosen: float
    runner_up: float
    score: float
    needed: Annotated[
        bool, Field(description="Whether it is one of those without which the runner-up would win")
    ]


class DecisionAnswer(_Answer):
    """A decision."""

    place: str
    chosen: str
    runner_up: str | None
    score: float
    margin: float | None
    start: Annotated[int | None, Field(description="In the text, where it is known")] = None
    end: int | None = None
    contributions: list[ContributionAnswer]
    n_contributions: Annotated[int, Field(description="How many there are; 50 are listed")]
    differences: list[DifferenceAnswer]
    n_differences: Annotated[int, Field(description="How many there are; 50 are listed")]


class ExplanationAnswer(_Answer):
    """The decisions of a part of the pipeline about a text."""

    component: str
    analysis: str
    score: float
    decisions: list[DecisionAnswer]
