"""Features of tokens for sequence labelers: streams of symbols, and lists of features.

A token has columns of text; the first is the word. Atoms are properties of the word at an offset
of up to `REACH` tokens, ``name(w-1)``, ``name(w0)``, ``name(w+1)``, …:

- ``w-1``, ``w0``, ``w+1``, …: the word itself; ``lower``: without case;
- ``kinds``: the kinds of its characters, ``shape``: the same with repetitions left out,
  ``classes``: the same with Greek letters and Roman numerals told apart, ``caps``: where it has
  capitals (`features.word_atoms`);
- ``digits``: without case and with 0 for every digit; ``len``: its length, up to 15;
- ``prefix1`` to ``prefix6``, ``suffix1`` to ``suffix6``: its first and last characters, without
  case; null for shorter words;
- ``class``, and ``class4`` to ``class20``, the beginnings of its path, if there are classes of
  words (`tasks.knowledge.word_classes`);
- every further column by its name, ``tag(w0)`` for a column ``tag``.

Beyond the ends of a sentence they have a value of their own, *padding*. Of the atoms with any
number of values a template may have one; it fires once for each different value:

- ``ngrams(w0)``: the letter n-grams of the word, n = 1 to 6, its ends included; also of ``w-1``
  and ``w+1``;
- ``words(-4..-1)``, ``words(+1..+4)``: the words before and after, whatever their order; also 2
  and 3 of them;
- ``gazetteers(w0)``: the lists of phrases in which the word stands, with its place (``B-city``);
  also of ``w-1`` and ``w+1``.

Events are ``label`` and ``edge``: a feature goes with each label, or with each pair of the label
before and the label. ``edge:`` without atoms is the pair itself, the tag bigram.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.features.gazetteers import Gazetteers
from spacy_structreg.features.knowledge import (
    BEYOND,
    CORPUS,
    WORD_CLASSES,
    WORD_LIST,
    joined_sources,
)
from spacy_structreg.features.labeling import LABELING_TABLES
from spacy_structreg.features.scripts import Script
from spacy_structreg.features.state_templates import StateTemplate, parse_state_templates
from spacy_structreg.features.template_compiler import Shape, compile_shapes
from spacy_structreg.features.templates import TAG_BIGRAM, Atom, Template
from spacy_structreg.features.word_atoms import NULLABLE, WORD_ATOMS, letter_ngrams
from spacy_structreg.tasks.knowledge.word_classes import CLASS_FIELDS, WordClasses
from spacy_structreg.tasks.tagging import WordAtoms
from spacy_structreg.tasks.token_keys import (
    GAZETTEERS,
    NGRAMS,
    NULL_SYMBOL,
    WORDS,
    TokenKeys,
    ngram_symbols,
    symbol_of,
)

FeatureList: TypeAlias = tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.float64] | None]
"""For n positions, where the features of each begin, of shape (n + 1,), the keys of all features,
and their values; None if all values are 1."""

REACH: Final = 4
"""The farthest token that atoms read, from the current one."""

LABEL: Final = "label"
EDGE: Final = "edge"
LABELING_EVENTS: Final = (LABEL, EDGE)
"""The events on which templates of labeling fire, and the names of the lists of features."""

SYMBOL_BITS: Final = 64
# As names have it.
_PADDING: Final = r"\-"
_MANY: Final = {"ngrams": NGRAMS, "words": WORDS, "gazetteers": GAZETTEERS}
_COLUMN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# So many bytes of words are remembered, and what a dictionary and its objects take for each.
_MOST_REMEMBERED: Final = 64_000_000
_BYTES_OF_ENTRY: Final = 200
_BYTES_OF_CHARACTER: Final = 4


@dataclass(frozen=True)
class TokenAtom:
    """An atom: a property of the tokens at the offsets from `first` to `last`."""

    field: str
    first: int
    last: int

    @property
    def is_many(self) -> bool:
        """True for a multi-valued atom."""
        return self.field in _MANY


def token_atoms(columns: Sequence[str], classes: bool = False) -> dict[str, TokenAtom]:
    """The atoms of tokens with these columns, by the names that they have in templates.

    classes: whether there are classes of words.

    Raises ValueError for columns without a usable name, or with that of something else.
    """
    taken = (*WORD_ATOMS, *(CLASS_FIELDS if classes else ()))
    if isinstance(columns, str) or not columns:
        raise ValueError("columns must not be empty; name at least that of the word, as in ['w']")
    for i, column in enumerate(columns[1:]):
        if not isinstance(column, str) or not _COLUMN.fullmatch(column):
            raise ValueError(
                f"{column!r} cannot be the name of a column; use letters, digits and underscores"
            )
        if column in taken or column in _MANY or column in columns[: i + 1]:
            raise ValueError(f"the name {column!r} of a column is taken; use another one")
    atoms = {}
    for field in (*taken, *columns[1:]):
        for offset in range(-REACH, REACH + 1):
            at = _at(offset)
            atoms[at if field == "w" else f"{field}({at})"] = TokenAtom(field, offset, offset)
    for field in ("ngrams", "gazetteers"):
        for offset in (-1, 0, 1):
            atoms[f"{field}({_at(offset)})"] = TokenAtom(field, offset, offset)
    for size in range(2, REACH + 1):
        atoms[f"words(-{size}..-1)"] = TokenAtom("words", -size, -1)
        atoms[f"words(+1..+{size})"] = TokenAtom("words", 1, size)
    return atoms


class TokenFeatures:
    """The templates of a labeler, bound to the columns of its tokens.

    templates: in the notation of `features.state_templates`, or names of tables of
        `features.labeling`. columns: the names of the columns; the first is the word.
    gazetteers: without them, templates that read them are left out of `templates`; they are among
        `all_templates`.
    script: as which characters of words, and of phrases of gazetteers, others look; None for none.
    classes: classes of words, as seen in the script; None for none, and for no atoms of them.

    The same atoms in another order are the same template, and kept once. `shapes` are those of
    templates that have one value at each position, the tag bigram included; `atoms` the streams
    that they read, and the bits of their symbols; `lists` which lists of features there are.
    Raises ValueError as `parse_state_templates` and `token_atoms`, for templates of several
    many-valued atoms, and if no template is left.
    """

    def __init__(
        self,
        templates: Iterable[str],
        columns: Sequence[str] = ("w",),
        gazetteers: Gazetteers | None = None,
        script: Script | None = None,
        classes: WordClasses | None = None,
    ) -> None:
        if isinstance(templates, str):
            templates = [templates]
        self._atoms = token_atoms(columns, classes is not None)
        self.columns = tuple(columns)
        self.gazetteers = gazetteers
        self.script = script
        self.classes = classes
        self._key_of = WordAtoms(half_width=False).key_of
        self._phrases = gazetteers
        if gazetteers is not None and script is not None:
            self._phrases = gazetteers.normalized_by(script.normalize)
        parsed = parse_state_templates(
            templates, LABELING_EVENTS, self._atoms, LABELING_TABLES, without_atoms=[EDGE]
        )
        kept: dict[tuple[str, frozenset[str]], StateTemplate] = {}
        for template in parsed:
            many = [name for name in template.atoms if self._atoms[name].is_many]
            if len(many) > 1:
                raise ValueError(
                    f"feature template {str(template)!r} joins {' and '.join(many)}, which have "
                    "any number of values; at most one such atom is allowed"
                )
            kept.setdefault((template.event, frozenset(template.atoms)), template)
        self.all_templates = tuple(kept.values())
        self.templates = tuple(
            template
            for template in self.all_templates
            if gazetteers is not None or not self._reads_gazetteers(template)
        )
        if not self.templates:
            raise ValueError("all feature templates read gazetteers, but no gazetteer was given")
        single = [template for template in self.templates if self._is_single(template)]
        self.shapes: tuple[Shape, ...] = compile_shapes(map(self._window, single))
        used = {self._atoms[name].field for template in self.templates for name in template.atoms}
        streams = {self._atoms[name].field for template in single for name in template.atoms}
        if "words" in used:
            used.add("w")
        self._word_fields = tuple(
            field for field in (*WORD_ATOMS, *CLASS_FIELDS) if field in used - set(columns[1:])
        )
        self._columns = tuple(i for i, name in enumerate(columns) if i and name in used)
        fields = (*self._word_fields, *(columns[i] for i in self._columns))
        self._numbers = {field: number for number, field in enumerate(fields)} | _MANY
        self.atoms = {field: SYMBOL_BITS for field in fields if field in streams}
        specs: dict[str, list[tuple[int, list[tuple[int, int, int]]]]] = {}
        for number, template in enumerate(self.templates):
            if not self._is_single(template):
                specs.setdefault(template.event, []).append((number, self._specs(template)))
        self.lists = tuple(event for event in LABELING_EVENTS if event in specs)
        self._keys = TokenKeys(
            len(self._word_fields),
            self._columns,
            [self._numbers[field] for field in self.atoms],
            self._numbers.get("w", -1),
            [specs[event] for event in self.lists],
        )
        self._sees_ngrams = "ngrams" in used
        self._sees_gazetteers = "gazetteers" in used
        self._words: dict[str, bytes] = {}
        self._looks: dict[str, str] = {}
        self._remembered = 0

    def __reduce__(self) -> tuple[object, ...]:
        return TokenFeatures, (
            [str(template) for template in self.all_templates],
            self.columns,
            self.gazetteers,
            self.script,
            self.classes,
        )

    def knowing(self, script: Script | None, classes: WordClasses | None) -> TokenFeatures:
        """Return the same features with another script and other word clusters."""
        return TokenFeatures(
            map(str, self.all_templates), self.columns, self.gazetteers, script, classes
        )

    def extract(
        self, tokens: Sequence[Sequence[str]], reach: int
    ) -> tuple[NDArray[np.uint64], tuple[FeatureList, ...]]:
        """The features of a sentence.

        tokens: the columns of each token, as many as the model has. reach: how many symbols of
        padding stand on both sides of a stream.
        Returns the streams, of shape (n_streams, n + 2 * reach), and for each of `lists` where the
        features of each position begin, int64 of shape (n + 1,), their keys, uint64, and their
        values: None, all are 1. A key is the MurmurHash64A of the place of the template among
        `templates` and the symbols of its atoms, in their order.
        Raises ValueError for tokens of other columns, and text that UTF-8 cannot encode.
        """
        if self._remembered > _MOST_REMEMBERED:
            self._words, self._looks = {}, {}
            self._remembered = 0
        known, looks = self._words, self._looks
        n_columns = len(self.columns)
        words = []
        for token in tokens:
            if isinstance(token, str) or len(token) != n_columns:
                raise self._fault(token)
            entry = known.get(token[0])
            words.append(self._word(token[0]) if entry is None else entry)
        found = None
        if self._sees_gazetteers:
            found = self._gazetteer_symbols([looks[token[0]] for token in tokens])
        if self._columns:
            for token in tokens:
                for i in self._columns:
                    if not isinstance(token[i], str):
                        raise self._fault(token)
        return self._keys.extract(words, tokens, found, reach)

    def names(self, tokens: Sequence[Sequence[str]]) -> list[list[str]]:
        r"""The ``label`` features of each position in words: ``w-1=the|w0=cat``.

        They are those that `extract` hashes, for inspection and for other programs. In values,
        ``\`` and ``|`` have a ``\`` before them; padding is ``\-``. Raises ValueError as `extract`.
        """
        self.extract(tokens, 0)
        words = self._seen([token[0] for token in tokens])
        tokens = [(word, *token[1:]) for word, token in zip(words, tokens, strict=True)]
        found = self._phrases.match(words) if self._phrases is not None else []
        return [
            [
                name
                for template in self.templates
                if template.event == LABEL
                for name in self._names(template, tokens, found, i)
            ]
            for i in range(len(tokens))
        ]

    def value_of(self, tokens: Sequence[Sequence[str]], field: str, i: int) -> str:
        """The value of a stream at a position, which may lie beyond the ends, for explanations."""
        if not 0 <= i < len(tokens):
            return BEYOND
        word = self._seen([tokens[i][0]])[0]
        if field in self._word_fields:
            return self._value(field, word) or ""
        return tokens[i][self.columns.index(field)]

    def named_lists(
        self, tokens: Sequence[Sequence[str]]
    ) -> list[list[list[tuple[str, str, str]]]]:
        """Return the named features that `extract` hashes in `lists`, in order, for explanations.

        Of each list, and each position, a template, its value, and its knowledge source.
        """
        words = self._seen([token[0] for token in tokens])
        tokens = [(word, *token[1:]) for word, token in zip(words, tokens, strict=True)]
        found = self._phrases.match(words) if self._phrases is not None else []
        return [
            [
                [
                    (str(template), value, self._source(template))
                    for template in self.templates
                    if template.event == event and not self._is_single(template)
                    for value in self._joined_values(template, tokens, found, i)
                ]
                for i in range(len(tokens))
            ]
            for event in self.lists
        ]

    def _joined_values(
        self,
        template: StateTemplate,
        tokens: Sequence[Sequence[str]],
        found: Sequence[Sequence[str]],
        i: int,
    ) -> Iterator[str]:
        """Yield the values of a template at a position, those of its atoms parted by spaces."""
        values = (self._values(self._atoms[name], tokens, found, i) for name in template.atoms)
        for chosen in product(*values):
            yield " ".join(BEYOND if value == _PADDING else value for value in chosen)

    def _source(self, template: StateTemplate) -> str:
        return joined_sources(self.source_of(self._atoms[name].field) for name in template.atoms)

    def source_of(self, field: str) -> str:
        """The knowledge source of a field, for explanations."""
        if field == "gazetteers":
            return WORD_LIST
        return WORD_CLASSES if field in CLASS_FIELDS and field in self._word_fields else CORPUS

    def reads_gazetteers(self) -> bool:
        """True if there are templates that read gazetteers, or would."""
        return any(map(self._reads_gazetteers, self.all_templates))

    def _reads_gazetteers(self, template: StateTemplate) -> bool:
        return any(self._atoms[name].field == "gazetteers" for name in template.atoms)

    def _is_single(self, template: StateTemplate) -> bool:
        """True if a template fires once at every position, with a label."""
        atoms = [self._atoms[name] for name in template.atoms]
        if template.event == EDGE:
            return not atoms
        return not any(atom.is_many or atom.field in NULLABLE for atom in atoms)

    def _window(self, template: StateTemplate) -> Template:
        """A template of one value at each position, in the notation of chains."""
        atoms = [self._atoms[name] for name in template.atoms]
        if not atoms:
            return TAG_BIGRAM
        return Template(tuple(sorted(Atom(atom.first, atom.field) for atom in atoms)))

    def _specs(self, template: StateTemplate) -> list[tuple[int, int, int]]:
        atoms = [self._atoms[name] for name in template.atoms]
        return [(self._numbers[atom.field], atom.first, atom.last) for atom in atoms]

    def _word(self, word: str) -> bytes:
        """The fields of a word and the symbols of its letter n-grams, remembered."""
        if not isinstance(word, str):
            raise self._fault([word])
        (seen,) = self._seen([word])
        values = [self._value(field, seen) for field in self._word_fields]
        symbols = [NULL_SYMBOL if value is None else symbol_of(value) for value in values]
        entry = np.array(symbols, dtype=np.uint64).tobytes()
        if self._sees_ngrams:
            entry += ngram_symbols(seen)
        self._looks[word] = seen
        self._words[word] = entry
        self._remembered += _BYTES_OF_ENTRY + _BYTES_OF_CHARACTER * len(word) + len(entry)
        return entry

    def _value(self, field: str, seen: str) -> str | None:
        """A field of a word as templates see it."""
        if field in WORD_ATOMS:
            return WORD_ATOMS[field](seen)
        assert self.classes is not None
        number = self.classes.number(self._key_of(seen))
        return self.classes.text_of(number, CLASS_FIELDS.index(field)) or ""

    def _seen(self, words: list[str]) -> list[str]:
        """Words as templates see them."""
        return words if self.script is None else list(map(self.script.normalize, words))

    @cached_property
    def _values_of_gazetteers(self) -> dict[str, bytes]:
        values = self.gazetteers.values if self.gazetteers is not None else ()
        return {value: np.uint64(symbol_of(value)).tobytes() for value in values}

    def _gazetteer_symbols(self, words: Sequence[str]) -> list[bytes]:
        if self._phrases is None:
            return [b""] * len(words)
        symbols = self._values_of_gazetteers
        return [b"".join(map(symbols.__getitem__, values)) for values in self._phrases.match(words)]

    def _fault(self, token: object) -> ValueError:
        return ValueError(
            f"the token {token!r:.80} is not a row of {len(self.columns)} strings, "
            f"({', '.join(self.columns)})"
        )

    def _names(
        self,
        template: StateTemplate,
        tokens: Sequence[Sequence[str]],
        found: Sequence[Sequence[str]],
        i: int,
    ) -> list[str]:
        """The names of the features of a template at a position."""
        names = [""]
        for atom in template.atoms:
            values = self._values(self._atoms[atom], tokens, found, i)
            separator = "|" if names[0:1] != [""] else ""
            names = [f"{name}{separator}{atom}={value}" for name in names for value in values]
        return names

    def _values(
        self,
        atom: TokenAtom,
        tokens: Sequence[Sequence[str]],
        found: Sequence[Sequence[str]],
        i: int,
    ) -> list[str]:
        """The values of an atom at a position, as names have them; none if it is null."""
        values: list[str | None] = []
        for at in range(i + atom.first, i + atom.last + 1):
            if not 0 <= at < len(tokens):
                if not atom.is_many:
                    return [_PADDING]
            elif atom.field == "words":
                values.append(tokens[at][0])
            elif atom.field == "ngrams":
                values += letter_ngrams(tokens[at][0])
            elif atom.field == "gazetteers":
                values += found[at]
            elif atom.field in self._word_fields:
                values.append(self._value(atom.field, tokens[at][0]))
            else:
                values.append(tokens[at][self.columns.index(atom.field)])
        kept = dict.fromkeys(value for value in values if value is not None)
        return [value.replace("\\", r"\\").replace("|", r"\|") for value in kept]


def _at(offset: int) -> str:
    return f"w{offset:+d}" if offset else "w0"
