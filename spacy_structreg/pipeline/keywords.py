"""The pipe that finds keywords, ``structreg_keywords``, and what commands share with it.

spaCy imports this module whenever any pipeline is made, so it imports next to nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, NamedTuple, TypeAlias

from spacy.language import Language
from spacy.tokens import Doc, Span, SpanGroup, Token
from spacy.vocab import Vocab

from spacy_structreg.learn.setting_fields import Settings, defaults_of, hints_of, plain, setting
from spacy_structreg.pipeline.component import HasSettings, keyword_signature, sentence_bounds
from spacy_structreg.pipeline.constituency_documents import SPANS_KEY
from spacy_structreg.pipeline.documents import word_of
from spacy_structreg.pipeline.noun_chunks import OTHER_TAGS, has_noun_phrases, noun_phrases

if TYPE_CHECKING:
    from spacy_structreg.models.keywords import KeywordCounts

ATTRIBUTE: Final = "keywords"
"""The name of the extension attribute, after the prefix; that of the span group, too."""
SCORES: Final = "scores"
"""Key, among the attributes of the span group, of the keywords with their scores."""
LABEL: Final = "KEYWORD"
UniversalTag: TypeAlias = Literal[
    "ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN",
    "PUNCT", "SCONJ", "SYM", "VERB", "X",
]  # fmt: skip
# Words that a phrase may have besides those of `pos`.
IN_PHRASES: Final = frozenset({"ADJ", "NOUN", "PROPN", "X"})


class KeywordSettings(Settings):
    """Settings of keywords."""

    WHAT: ClassVar[str] = "keywords"

    method: Literal["tfidf", "textrank"] = setting(
        "tfidf",
        'What scores words: "tfidf", how often they are here, and how rare in texts of all kinds; '
        '"textrank", how well they are connected with each other.',
    )
    n_keywords: int = setting(10, "How many keywords a text has at most.", minimum=1)
    phrases: bool = setting(
        True, "Whether noun phrases count too; they need constituents, or heads."
    )
    pos: Sequence[UniversalTag] = setting(
        ("NOUN", "PROPN", "VERB"),
        "Universal tags of words that may be keywords; all words may in a Doc without these tags.",
    )
    min_length: int = setting(2, "How many characters a word has at least.", minimum=1)
    max_words: int = setting(5, "How many words a phrase has at most.", minimum=2)
    spans_key: str = setting(ATTRIBUTE, "The span group that keywords are written into.")
    constituents_key: str = setting(SPANS_KEY, "The span group that holds constituents.")
    extension_prefix: str = setting(
        "",
        'What the name of the extension attribute begins with: with "my_", doc._.keywords is '
        "doc._.my_keywords.",
    )


class Candidate(NamedTuple):
    """A possible keyword: its first token, the first after it, its words and its text."""

    start: int
    end: int
    words: tuple[str, ...]
    text: str


class StructregKeywords(HasSettings):
    """Finds the keywords of each Doc: single words, and noun phrases where there are any.

    It needs words; better with universal tags and with constituents or heads, so it stands behind
    what finds them. All places of keywords are spans of a group; ``doc._.keywords`` is a list of
    (text, score), best first, and is read from that group, so that Docs keep it on their way.

    vocab: of the pipeline. name: of the component. settings: by their names. Raises ValueError for
    settings out of range, and if the name of the attribute is taken.
    """

    FACTORY: ClassVar[str] = "structreg_keywords"
    SETTINGS: ClassVar[type[KeywordSettings]] = KeywordSettings

    settings: KeywordSettings

    def __init__(self, vocab: Vocab, name: str = FACTORY, **settings: Any) -> None:
        self.vocab = vocab
        self.name = name
        self.settings = KeywordSettings(**settings)
        register_keywords(self.settings.extension_prefix, self.settings.spans_key)

    def __call__(self, doc: Doc) -> Doc:
        """Write the keywords of a Doc into its span group."""
        from spacy_structreg.models.keywords import KeywordCounts

        counts = KeywordCounts(self.settings.method)
        found = count_doc(doc, counts, self.settings)
        best = counts.best(self.settings.n_keywords)
        chosen = {text for text, _ in best}
        doc.spans[self.settings.spans_key] = SpanGroup(
            doc,
            name=self.settings.spans_key,
            attrs={SCORES: [[text, score] for text, score in best]},
            spans=[Span(doc, each.start, each.end, LABEL) for each in found if each.text in chosen],
        )
        return doc


def count_doc(doc: Doc, counts: KeywordCounts, settings: KeywordSettings) -> list[Candidate]:
    """Count the words and phrases of a Doc; returns all that may be keywords, in their order."""
    words = [word_of(token) for token in doc]
    singles = [i for i, is_single in enumerate(_singles(doc, settings)) if is_single]
    phrases = list(_phrases(doc, words, settings)) if settings.phrases else []
    # Words of one character count in phrases only.
    counted = {*singles, *(i for each in phrases for i in range(each.start, each.end))}
    for start, end in sentence_bounds(doc):
        places = range(start, end)
        counts.add([words[i] if i in counted else None for i in places])
    counts.propose([words[i] for i in singles], [(each.words, each.text) for each in phrases])
    found = [Candidate(i, i + 1, (words[i],), words[i]) for i in singles]
    return sorted([*found, *phrases], key=lambda each: (each.start, -each.end))


def _singles(doc: Doc, settings: KeywordSettings) -> Iterator[bool]:
    """Yield, of each token, True if it may be a keyword by itself."""
    wanted = frozenset(settings.pos) if doc.has_annotation("POS") else None
    for token in doc:
        yield (
            len(word_of(token)) >= settings.min_length
            and (wanted is None or token.pos_ in wanted)
            and _says_something(token)
        )


def _says_something(token: Token) -> bool:
    """True but for stop words, times, measure words, numbers and marks."""
    says = not token.is_stop and token.tag_ not in OTHER_TAGS
    return says and any(map(str.isalpha, token.text))


def _phrases(doc: Doc, words: list[str], settings: KeywordSettings) -> Iterator[Candidate]:
    """Runs of words in noun phrases that say something, without numbers, 的 and the like."""
    if not has_noun_phrases(doc, settings.constituents_key):
        return
    wanted = IN_PHRASES.union(settings.pos) if doc.has_annotation("POS") else None
    for first, last in noun_phrases(doc, settings.constituents_key):
        start = first
        for i in range(first, last + 1):
            if i < last and _says_something(doc[i]) and (wanted is None or doc[i].pos_ in wanted):
                continue
            if 2 <= i - start <= settings.max_words:
                text = doc[start:i].text
                yield Candidate(start, i, tuple(words[start:i]), text)
            start = i + 1


# Extension attribute ------------------------------------------------------------------------------


def register_keywords(prefix: str = "", spans_key: str = ATTRIBUTE) -> None:
    """Register ``doc._.keywords``; once more does nothing.

    The component does so when it is made. Call it for Docs that come from elsewhere, a DocBin for
    example. prefix: of the name. spans_key: of the span group. Raises ValueError if there is
    another attribute of this name.
    """
    name, getter = f"{prefix}{ATTRIBUTE}", _Keywords(spans_key)
    if not Doc.has_extension(name):
        Doc.set_extension(name, getter=getter)
    elif Doc.get_extension(name)[2] != getter:
        raise ValueError(
            f"Doc._.{name} is taken by another extension, or for another span group; set "
            "extension_prefix of the component, such as 'my_', or give register_keywords a prefix"
        )


@dataclass(frozen=True)
class _Keywords:
    """The getter of the attribute; equal for equal settings, also in another process."""

    spans_key: str

    def __call__(self, doc: Doc) -> list[tuple[str, float]]:
        if self.spans_key not in doc.spans:
            return []
        scores = doc.spans[self.spans_key].attrs.get(SCORES, [])
        try:
            return [(str(text), float(score)) for text, score in scores]
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"doc.spans[{self.spans_key!r}].attrs[{SCORES!r}] are no keywords with scores, but "
                f"{scores!r:.60}"
            ) from error


def _create(nlp: Language, name: str, **values: Any) -> StructregKeywords:
    """Make ``structreg_keywords``, by the settings of `KeywordSettings`."""
    return StructregKeywords(nlp.vocab, name, **values)


_DEFAULTS: Final = {name: plain(value) for name, value in defaults_of(KeywordSettings).items()}
_HINTS: Final = hints_of(KeywordSettings)

create_keywords = Language.factory(
    StructregKeywords.FACTORY,
    assigns=["doc._.keywords", "doc.spans"],
    default_config=_DEFAULTS,
)(keyword_signature(_create, {name: _HINTS[name] for name in _DEFAULTS}))
