"""Features of tokens for sequence labelers: streams of symbols, and lists of features.

A token has columns of text; the first is the word. Atoms are properties of the word at an offset
of up to `REACH` tokens, ``name(w-1)``, ``name(w0)``, ``name(w+1)``, …:

- ``w-1``, ``w0``, ``w+1``, …: the word itself; ``lower``: without case;
- ``kinds``: the kinds of its characters, ``shape``: the same with repetitions left out, ``parts``:
  the same with Greek letters and Roman numerals told apart, ``caps``: where it has capitals;
- ``digits``: without case and with 0 for every digit; ``len``: its length, up to 15;
- ``start``, ``prefix2`` to ``prefix6``, ``end``, ``suffix2`` to ``suffix6``: its first and last
  characters, without case; null for shorter words;
- what else `features.word_fields` has; ``class``, and ``class4`` to ``class20``, the beginnings of
  its path, if there are classes of words (`tasks.knowledge.word_classes`);
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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.features.gazetteers import Gazetteers, PhraseMatcher
from spacy_structreg.features.knowledge import BEYOND, CORPUS, WORD_LIST, joined_sources
from spacy_structreg.features.labeling import LABELING_TABLES
from spacy_structreg.features.state_templates import StateTemplate, parse_state_templates
from spacy_structreg.features.template_compiler import Shape, compile_shapes
from spacy_structreg.features.templates import TAG_BIGRAM, Atom, Template
from spacy_structreg.features.word_fields import CLASS_FIELDS, WORD_FIELDS, letter_ngrams
from spacy_structreg.tasks.token_keys import FIRST_COLUMN, GAZETTEERS, NGRAMS, WORDS, TokenKeys
from spacy_structreg.tasks.word_fields import WordFields

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
_MANY: Final = {"ngrams": NGRAMS, "words": WORDS, "gazetteers": GAZETTEERS}
_COLUMN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SPELLING: Final = tuple(name for name, each in WORD_FIELDS.items() if each.text is not None)


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
    taken = (*_SPELLING, *(CLASS_FIELDS if classes else ()))
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


class TokenRows(Sequence[tuple[str, ...]]):
    """The tokens of a sentence, made of its columns when they are looked at."""

    def __init__(self, columns: Sequence[Sequence[str]]) -> None:
        self._columns = columns

    def __len__(self) -> int:
        return len(self._columns[0])

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return TokenRows([column[i] for column in self._columns])
        return tuple([column[i] for column in self._columns])

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        return zip(*self._columns, strict=True)


class TokenFeatures:
    """The templates of a labeler, bound to the columns of its tokens.

    templates: in the notation of `features.state_templates`, or names of tables of
        `features.labeling`. columns: the names of the columns; the first is the word.
    gazetteers: without them, templates that read them are left out of `templates`; they are among
        `all_templates`.
    words: the fields of words, and as which characters others look in words and in phrases of
        gazetteers; None for those without knowledge.

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
        words: WordFields | None = None,
    ) -> None:
        if isinstance(templates, str):
            templates = [templates]
        self.words = WordFields(half_width=False) if words is None else words
        self._atoms = token_atoms(columns, self.words.word_classes is not None)
        self.columns = tuple(columns)
        self.gazetteers = gazetteers
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
        numbers = {
            **{field: number for number, field in enumerate(WORD_FIELDS)},
            **{column: FIRST_COLUMN + i for i, column in enumerate(columns[1:])},
            **_MANY,
        }
        streams = {self._atoms[name].field for template in single for name in template.atoms}
        self.atoms = {field: SYMBOL_BITS for field in numbers if field in streams}
        specs: dict[str, list[tuple[int, list[tuple[int, int, int]]]]] = {}
        for number, template in enumerate(self.templates):
            if not self._is_single(template):
                atoms = [self._atoms[name] for name in template.atoms]
                specs.setdefault(template.event, []).append(
                    (number, [(numbers[atom.field], atom.first, atom.last) for atom in atoms])
                )
        self.lists = tuple(event for event in LABELING_EVENTS if event in specs)
        self._keys = TokenKeys(
            self.words,
            self.columns,
            [numbers[field] for field in self.atoms],
            [specs[event] for event in self.lists],
        )

    @cached_property
    def _match(self) -> PhraseMatcher | None:
        """The phrases of gazetteers as the words look; None if no template reads any."""
        if self.gazetteers is None or not self.reads_gazetteers():
            return None
        return self.gazetteers.matcher(self.words.normalized if self.words.script else None)

    def __reduce__(self) -> tuple[object, ...]:
        return TokenFeatures, (
            [str(template) for template in self.all_templates],
            self.columns,
            self.gazetteers,
            self.words,
        )

    def check_rows(self, tokens: Sequence[Any]) -> None:
        """Raise ValueError for a token that is no sequence of as many columns as there are."""
        n_columns = len(self.columns)
        # Mostly all are well, which is found out without a loop in Python.
        if {*map(type, tokens)} <= {tuple, list} and {*map(len, tokens)} <= {n_columns}:
            return
        for token in tokens:
            is_sequence = isinstance(token, (tuple, list)) or (
                hasattr(token, "__getitem__") and not isinstance(token, (str, Mapping))
            )
            if not is_sequence or len(token) != n_columns:
                raise ValueError(
                    f"the token {token!r:.80} is not a row of {n_columns} strings, "
                    f"({', '.join(self.columns)})"
                )

    def extract(
        self, sentences: Sequence[Sequence[Sequence[str]]], reach: int
    ) -> tuple[NDArray[np.uint64], tuple[FeatureList, ...]]:
        """The features of sentences.

        sentences: of each token the columns, as many as the model has. reach: how many symbols of
        padding stand before, between and behind them in a stream.
        Returns the streams, of shape (n_streams, n + (n_sentences + 1) * reach) for n tokens in
        all, and for each of `lists` where the features of each token begin, int64 of shape
        (n + 1,), their keys, uint64, and their values: None, all are 1. A key is the MurmurHash64A
        of the place of the template among `templates` and the symbols of its atoms, in their order.
        Raises ValueError for tokens of other columns.
        """
        return self._keys.extract(sentences, self._match, reach)

    def names(self, tokens: Sequence[Sequence[str]]) -> list[list[str]]:
        r"""The ``label`` features of each position in words: ``w-1=the|w0=cat``.

        They are those that `extract` hashes, for inspection and for other programs. In values,
        ``\`` and ``|`` have a ``\`` before them; padding is ``\-``. Raises ValueError as `extract`.
        """
        self.extract([tokens], 0)
        found = self._matches(tokens)

        def shown(value: str | None) -> str:
            return r"\-" if value is None else value.replace("\\", r"\\").replace("|", r"\|")

        return [
            [
                "|".join(
                    f"{name}={shown(value)}"
                    for name, value in zip(template.atoms, chosen, strict=True)
                )
                for template in self.templates
                if template.event == LABEL
                for chosen in self._chosen(template, tokens, found, i)
            ]
            for i in range(len(tokens))
        ]

    def value_of(self, tokens: Sequence[Sequence[str]], field: str, i: int) -> str:
        """The value of a stream at a position, which may lie beyond the ends, for explanations."""
        (value,) = self._values(TokenAtom(field, 0, 0), tokens, [], i)
        return BEYOND if value is None else value

    def named_lists(
        self, tokens: Sequence[Sequence[str]]
    ) -> list[list[list[tuple[str, str, str]]]]:
        """Return the named features that `extract` hashes in `lists`, in order, for explanations.

        Of each list, and each position, a template, its value, and its knowledge source.
        """
        found = self._matches(tokens)
        return [
            [
                [
                    (
                        str(template),
                        " ".join(BEYOND if value is None else value for value in chosen),
                        joined_sources(
                            self.source_of(self._atoms[a].field) for a in template.atoms
                        ),
                    )
                    for template in self.templates
                    if template.event == event and not self._is_single(template)
                    for chosen in self._chosen(template, tokens, found, i)
                ]
                for i in range(len(tokens))
            ]
            for event in self.lists
        ]

    def source_of(self, field: str) -> str:
        """The knowledge source of a field, for explanations."""
        if field == "gazetteers":
            return WORD_LIST
        is_of_words = field in WORD_FIELDS and field not in self.columns[1:]
        return WORD_FIELDS[field].source if is_of_words else CORPUS

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
        return not any(atom.is_many or self._is_nullable(atom.field) for atom in atoms)

    def _is_nullable(self, field: str) -> bool:
        if field in self.columns[1:]:
            return False
        if field in CLASS_FIELDS:
            # Names that are no paths have no beginnings.
            classes = self.words.word_classes
            return field != CLASS_FIELDS[0] and classes is not None and not classes.is_tree
        return WORD_FIELDS[field].is_nullable

    def _window(self, template: StateTemplate) -> Template:
        """A template of one value at each position, in the notation of chains."""
        atoms = [self._atoms[name] for name in template.atoms]
        if not atoms:
            return TAG_BIGRAM
        return Template(tuple(sorted(Atom(atom.first, atom.field) for atom in atoms)))

    def _matches(self, tokens: Sequence[Sequence[str]]) -> list[list[str]]:
        """The values of gazetteers of each token."""
        words = [self.words.normalized(token[0]) for token in tokens]
        return [[]] * len(words) if self._match is None else self._match(words)

    def _chosen(
        self,
        template: StateTemplate,
        tokens: Sequence[Sequence[str]],
        found: list[list[str]],
        i: int,
    ) -> Iterable[tuple[str | None, ...]]:
        """The values of the atoms of a template at a position, each time that it fires."""
        return product(*(self._values(self._atoms[a], tokens, found, i) for a in template.atoms))

    def _values(
        self,
        atom: TokenAtom,
        tokens: Sequence[Sequence[str]],
        found: list[list[str]],
        i: int,
    ) -> list[str | None]:
        """The values of an atom at a position; None beyond the ends, and none if it is null."""
        values: list[str | None] = []
        for at in range(i + atom.first, i + atom.last + 1):
            if not 0 <= at < len(tokens):
                if not atom.is_many:
                    return [None]
            elif atom.field in self.columns[1:]:
                return [tokens[at][self.columns.index(atom.field)]]
            elif atom.field == "words":
                values.append(self.words.normalized(tokens[at][0]))
            elif atom.field == "ngrams":
                values += letter_ngrams(self.words.normalized(tokens[at][0]))
            elif atom.field == "gazetteers":
                values += found[at]
            else:
                value = self.words.text(atom.field, tokens[at][0])
                values += () if value is None else (value,)
        return list(dict.fromkeys(values))


def _at(offset: int) -> str:
    return f"w{offset:+d}" if offset else "w0"
