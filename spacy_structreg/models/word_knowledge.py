"""Knowledge of models of given words: script, word classes and lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spacy_structreg.features.scripts import Script, read_script, stored_script
from spacy_structreg.learn.model_file import Arrays, field
from spacy_structreg.learn.setting_fields import check_strings
from spacy_structreg.models.knowledge import known_words
from spacy_structreg.models.settings import LexiconSettings, ViewSettings, WordSettings
from spacy_structreg.models.stored_model import nested, unnested
from spacy_structreg.tasks.knowledge.known_words import KnownWords
from spacy_structreg.tasks.knowledge.word_classes import WordClasses
from spacy_structreg.tasks.word_fields import TagSets, WordFields

_CLASSES = "word_classes"
_LISTS = "lexicon"


def further_tables(settings: WordSettings) -> tuple[str, ...]:
    """The tables of templates that settings add."""
    classes = () if settings.word_classes is None else ("classes",)
    return (*classes, "lexicon") if _has_lists(settings) else classes


def contents_of_words(words: WordFields) -> tuple[dict[str, Any], Arrays]:
    """The part of `ModelSpec.contents` that `WordKnowledge.stored` takes back."""
    return WordKnowledge(words.half_width, words.script, words.word_classes, words.known).contents()


def _half_width(settings: WordSettings) -> bool:
    return isinstance(settings, ViewSettings) and settings.half_width


def _has_lists(settings: WordSettings) -> bool:
    return isinstance(settings, LexiconSettings) and bool(settings.lexicon)


@dataclass(frozen=True)
class WordKnowledge:
    """The script that words are seen in, classes of words, and what word lists say of them.

    half_width: whether the keys of classes are those of half-width forms.
    """

    half_width: bool
    script: Script | None = None
    word_classes: WordClasses | None = None
    known: KnownWords | None = None

    @classmethod
    def unread(cls, settings: WordSettings) -> WordKnowledge:
        """The knowledge before anything is read: no script, and no words in classes."""
        half_width = _half_width(settings)
        if settings.word_classes is None:
            return cls(half_width)
        nothing: Arrays = {"keys": np.zeros(0, np.uint64), "numbers": np.zeros(0, np.uint16)}
        return cls(half_width, None, WordClasses((), nothing))

    @classmethod
    def read(cls, settings: WordSettings) -> WordKnowledge:
        """The knowledge that settings name.

        Raises CorpusError for a file of other contents, OSError for one that cannot be read, and
        ImportError as `read_script`.
        """

        from spacy_structreg.corpora.word_classes import read_word_classes

        half_width = _half_width(settings)
        script = read_script(settings.script)
        atoms = WordFields(half_width, script=script)
        known = None
        if isinstance(settings, LexiconSettings) and settings.lexicon:
            known = known_words(settings, lambda text: "".join(map(chr, atoms.codes_of(text))))
        path = settings.word_classes
        if path is None:
            return cls(half_width, script, None, known)
        try:
            classes = WordClasses.of_words(read_word_classes(path), atoms.key_of)
        except UnicodeError as error:
            raise ValueError(f"{path}: {error}") from error
        return cls(half_width, script, classes, known)

    @classmethod
    def stored(
        cls, settings: WordSettings, entries: dict[str, Any], arrays: Arrays
    ) -> WordKnowledge:
        """From what `contents` gave. Raises ValueError for anything else."""
        half_width = _half_width(settings)
        script = stored_script(settings.script, arrays)
        inner = unnested(_CLASSES, arrays)
        if (settings.word_classes is None) != (not inner and _CLASSES not in entries):
            raise ValueError("its setting of word classes and the classes do not go together")
        if _has_lists(settings) != (_LISTS in entries):
            raise ValueError("its setting of word lists and the words do not go together")
        known = None
        if _LISTS in entries:
            known = KnownWords.from_contents(field(entries, _LISTS, dict), unnested(_LISTS, arrays))
        if settings.word_classes is None:
            return cls(half_width, script, None, known)
        names = check_strings(_CLASSES, field(entries, _CLASSES, list))
        return cls(half_width, script, WordClasses(names, inner), known)

    def contents(self) -> tuple[dict[str, Any], Arrays]:
        """The part of `ModelSpec.contents` that `stored` takes back."""
        arrays = {} if self.script is None else self.script.arrays
        entries: dict[str, Any] = {}
        if self.known is not None:
            entries[_LISTS], inner = self.known.contents()
            arrays = {**arrays, **nested(_LISTS, inner)}
        if self.word_classes is not None:
            entries[_CLASSES] = list(self.word_classes.names)
            arrays = {**arrays, **nested(_CLASSES, self.word_classes.arrays)}
        return entries, arrays

    def atoms(
        self, categories: TagSets | None = None, classes: TagSets | None = None
    ) -> WordFields:
        """The fields of words. categories, classes: as `WordFields` has them."""
        return WordFields(
            self.half_width, categories, classes, self.script, self.word_classes, self.known
        )
