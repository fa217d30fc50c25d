"""Knowledge sources of models: made by settings, and stored in model files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

import spacy_structreg
from spacy_structreg.corpora.corpus_errors import StrPath
from spacy_structreg.features.knowledge import (
    GUIDE_ATOMS,
    INFORMATION,
    INFORMATION_ATOM,
    LEXICON,
    LEXICON_ATOMS,
    STATISTICS,
    VARIETY,
    VARIETY_ATOMS,
    guide_templates,
)
from spacy_structreg.features.scripts import read_script, stored_script
from spacy_structreg.learn.model_file import Arrays, field
from spacy_structreg.learn.setting_fields import check_strings
from spacy_structreg.models.settings import (
    KnowledgeSettings,
    LexiconSettings,
    ViewSettings,
    WordSettings,
    WordTextSettings,
)
from spacy_structreg.models.stored_model import nested, read_model, unnested
from spacy_structreg.tasks.knowledge.known_words import KnownWords
from spacy_structreg.tasks.knowledge.lexicon_source import LexiconSource
from spacy_structreg.tasks.knowledge.source import CharacterSource
from spacy_structreg.tasks.knowledge.word_classes import WordClasses
from spacy_structreg.tasks.segmentation.characters import CharacterAtoms
from spacy_structreg.tasks.word_fields import WordFields

if TYPE_CHECKING:
    from spacy_structreg.learn.freezing import Bits
    from spacy_structreg.tasks.knowledge.guide_source import GuideSource
    from spacy_structreg.tasks.knowledge.statistics_source import StatisticsSource


# Tasks of the models that find words in raw text, and can be guides; with their classes, which have
# sources themselves and are loaded when a guide is.
_TEXT_MODELS: Final = {
    "character_segmenter": "CharacterSegmenter",
    "word_segmenter": "WordSegmenter",
    "guided_segmenter": "GuidedSegmenter",
    "character_joint_tagger": "CharacterJointTagger",
    "word_joint_tagger": "WordJointTagger",
    "guided_joint_tagger": "GuidedJointTagger",
    "joint_reranker": "JointReranker",
}
# Names of what models of given words know, in a model file.
_CLASSES: Final = "word_classes"
_LISTS: Final = "lexicon"
# Raw text is counted in so many threads.
_MAX_THREADS: Final = 4


class _Part(NamedTuple):
    """A source that settings name: its atoms, its templates, and the function that reads it.

    read: gets the atoms of the model without sources, which say how it sees characters.
    """

    atoms: tuple[str, ...]
    templates: str
    read: Callable[[CharacterAtoms], CharacterSource]


def _parts_of(
    settings: WordTextSettings, texts: Callable[[], Iterable[str]] = tuple
) -> Iterator[_Part]:
    """Yield each source that settings name, in their order. texts: as of `read_atoms`."""
    if settings.lexicon:
        yield _Part(
            LEXICON_ATOMS,
            LEXICON,
            lambda plain: LexiconSource(known_words(settings, plain.seen)),
        )
    if not isinstance(settings, KnowledgeSettings):
        return
    for atom, path in zip(GUIDE_ATOMS, settings.guides, strict=False):
        yield _Part((atom,), guide_templates(atom), partial(_read_guide, atom, path))
    read = partial(_read_statistics, settings, texts)
    if settings.statistics == "accessor_variety":
        yield _Part(VARIETY_ATOMS, VARIETY, read)
    if settings.statistics == "all":
        yield _Part((*VARIETY_ATOMS, INFORMATION_ATOM), f"{VARIETY} | {INFORMATION}", read)


def source_atoms(settings: WordTextSettings) -> tuple[str, ...]:
    """The names of the atoms of the sources that settings name."""
    return tuple(atom for part in _parts_of(settings) for atom in part.atoms)


def source_templates(settings: KnowledgeSettings, templates: Iterable[str]) -> list[str]:
    """The templates of the sources that settings name, but of those that other templates read."""
    named = " ".join(templates)
    return [
        part.templates
        for part in _parts_of(settings)
        if not any(atom in named for atom in part.atoms)
    ]


def read_atoms(
    settings: WordTextSettings, texts: Callable[[], Iterable[str]] = tuple
) -> CharacterAtoms:
    """The atoms of characters, with the script and the sources that settings name.

    texts: gives the sentences of the training corpus.
    Raises ValueError, naming the file, for files that are none of the kind; OSError for those that
    cannot be read; ImportError as `read_script`.
    """
    script = read_script(settings.script)
    plain = CharacterAtoms(settings.types, settings.half_width, script=script)
    return plain.with_sources(part.read(plain) for part in _parts_of(settings, texts))


def restored_atoms(
    settings: WordTextSettings, entries: dict[str, Any], arrays: Arrays
) -> CharacterAtoms:
    """The same of a model file, from what `contents_of` gave.

    Raises ValueError for anything else: files may be hostile.
    """
    sources = restored_sources(entries, arrays)
    if (atoms := tuple(atom for each in sources for atom in each.atoms)) != source_atoms(settings):
        raise ValueError(f"its knowledge sources, of the atoms {atoms}, are not of its settings")
    script = stored_script(settings.script, arrays)
    return CharacterAtoms(settings.types, settings.half_width, sources, script)


def _read_guide(atom: str, path: StrPath, plain: CharacterAtoms) -> GuideSource:
    return restored_guide(atom, *read_model(path, _TEXT_MODELS)[1:])


def _read_statistics(
    settings: KnowledgeSettings, texts: Callable[[], Iterable[str]], plain: CharacterAtoms
) -> StatisticsSource:
    from spacy_structreg.corpora.files import read_blocks
    from spacy_structreg.learn.model_file import is_model_file

    counts = [path for path in settings.raw_text if is_model_file(path)]
    files = [path for path in settings.raw_text if path not in counts]
    return _statistics(
        plain,
        chain(texts(), *map(read_blocks, files)),
        counts,
        settings.statistics == "all",
        min(os.cpu_count() or 1, _MAX_THREADS),
    )


def _statistics(
    atoms: CharacterAtoms,
    texts: Iterable[str],
    counts: Iterable[StrPath],
    information: bool,
    n_threads: int,
) -> StatisticsSource:
    """The statistics of texts, joined to those of files of counts."""
    from spacy_structreg.tasks.knowledge.ngrams import count_ngrams, read_ngrams
    from spacy_structreg.tasks.knowledge.statistics_source import StatisticsSource

    view = atoms.normalization()
    source = StatisticsSource.of(count_ngrams(texts, view=view, n_threads=n_threads), information)
    for path in counts:
        source = source.joined(StatisticsSource.of(read_ngrams(path, view), information))
    return source


def has_statistics(atoms: CharacterAtoms | None) -> bool:
    """True if one of the sources is counted in raw text."""
    sources = () if atoms is None else atoms.sources
    return any(source.LABEL == STATISTICS for source in sources)


def recounted(
    atoms: CharacterAtoms,
    texts: Iterable[str],
    *,
    counts: Iterable[StrPath] = (),
    together: bool = True,
    n_threads: int = 1,
) -> CharacterAtoms:
    """The same atoms with statistics of other text.

    counts: files of counts (`tasks.knowledge.ngrams`), which are joined to those of the texts.
    together: add the new counts to those of the model; else they replace them.
    """
    from spacy_structreg.tasks.knowledge.statistics_source import StatisticsSource

    def counted(source: CharacterSource) -> CharacterSource:
        if not isinstance(source, StatisticsSource):
            return source
        new = _statistics(atoms, texts, counts, source.information, n_threads)
        return source.joined(new) if together else new

    return atoms.with_sources(map(counted, atoms.sources))


def frozen_atoms(atoms: CharacterAtoms, bits: Bits, prune: float) -> CharacterAtoms:
    """The same atoms with frozen guides (`StoredModel.freeze`)."""
    return atoms.with_sources(source.frozen(bits, prune) for source in atoms.sources)


def known_words(settings: LexiconSettings, seen: Callable[[str], str]) -> KnownWords:
    """The words of the lists that settings name, one at least.

    seen: what the model sees of a text, of the same length.
    Raises CorpusError for faults of the files, OSError if they cannot be read.
    """
    from spacy_structreg.corpora.word_lists import read_word_list

    paths = [settings.lexicon] if isinstance(settings.lexicon, str) else list(settings.lexicon)
    return KnownWords.of(chain.from_iterable(map(read_word_list, paths)), seen)


def contents_of(atoms: CharacterAtoms) -> tuple[dict[str, Any], Arrays]:
    """The part of `ModelSpec.contents` that holds sources and the script; `restored_atoms` takes
    it back."""
    entries: list[dict[str, Any]] = []
    arrays: Arrays = {} if atoms.script is None else atoms.script.arrays
    for number, source in enumerate(atoms.sources):
        header, inner = source.contents()
        entries.append({"source": source.NAME, "atoms": source.atoms, "header": header})
        arrays |= nested(f"source{number}", inner)
    return {"sources": entries} if entries else {}, arrays


def restored_sources(entries: dict[str, Any], arrays: Arrays) -> list[CharacterSource]:
    """The sources of a model file: from what `contents_of` gave.

    Raises ValueError for anything else: files may be hostile.
    """
    stored = field(entries, "sources", list) if "sources" in entries else []
    sources = []
    for number, entry in enumerate(stored):
        if not isinstance(entry, dict):
            raise ValueError(f"its knowledge source {number} is {entry!r:.60}")
        name, atoms = field(entry, "source", str), field(entry, "atoms", dict)
        header = field(entry, "header", dict)
        if name not in _RESTORERS or not atoms:
            raise ValueError(f"it has a knowledge source {name!r:.60}, which is unknown")
        source = _RESTORERS[name](next(iter(atoms)), header, unnested(f"source{number}", arrays))
        if source.atoms != atoms:
            raise ValueError(f"the atoms of its knowledge source {name!r} are not its own")
        sources.append(source)
    return sources


# Models of given words ---------------------------------------------------------------------------


def word_tables(settings: WordSettings) -> tuple[str, ...]:
    """The tables of templates that settings of knowledge of words add."""
    classes = () if settings.word_classes is None else ("classes",)
    return (*classes, _LISTS) if _has_lists(settings) else classes


def unread_words(settings: WordSettings) -> WordFields:
    """The fields of words before any file is read: without script and lists, classes empty."""
    nothing: Arrays = {"keys": np.zeros(0, np.uint64), "numbers": np.zeros(0, np.uint16)}
    classes = None if settings.word_classes is None else WordClasses((), nothing)
    return WordFields(_half_width(settings), word_classes=classes)


def read_words(settings: WordSettings) -> WordFields:
    """The fields of words, with the script, the classes and the lists that settings name.

    Raises CorpusError for a file of other contents, OSError for one that cannot be read, and
    ImportError as `read_script`.
    """
    from spacy_structreg.corpora.word_classes import read_word_classes

    half_width, script = _half_width(settings), read_script(settings.script)
    plain = WordFields(half_width, script=script)
    known = classes = None
    if isinstance(settings, LexiconSettings) and settings.lexicon:
        known = known_words(settings, lambda text: "".join(map(chr, plain.codes_of(text))))
    if (path := settings.word_classes) is not None:
        try:
            classes = WordClasses.of_words(read_word_classes(path), plain.key_of)
        except UnicodeError as error:
            raise ValueError(f"{path}: {error}") from error
    return WordFields(half_width, script=script, word_classes=classes, known=known)


def restored_words(settings: WordSettings, entries: dict[str, Any], arrays: Arrays) -> WordFields:
    """The same of a model file, from what `contents_of_words` gave.

    Raises ValueError for anything else.
    """
    script = stored_script(settings.script, arrays)
    inner = unnested(_CLASSES, arrays)
    if (settings.word_classes is None) != (not inner and _CLASSES not in entries):
        raise ValueError("its setting of word classes and the classes do not go together")
    if _has_lists(settings) != (_LISTS in entries):
        raise ValueError("its setting of word lists and the words do not go together")
    known = classes = None
    if _LISTS in entries:
        known = KnownWords.from_contents(field(entries, _LISTS, dict), unnested(_LISTS, arrays))
    if settings.word_classes is not None:
        names = check_strings(_CLASSES, field(entries, _CLASSES, list))
        classes = WordClasses(names, inner)
    return WordFields(_half_width(settings), script=script, word_classes=classes, known=known)


def contents_of_words(words: WordFields) -> tuple[dict[str, Any], Arrays]:
    """The part of `ModelSpec.contents` that `restored_words` takes back."""
    arrays: Arrays = {} if words.script is None else words.script.arrays
    entries: dict[str, Any] = {}
    if words.known is not None:
        entries[_LISTS], inner = words.known.contents()
        arrays = {**arrays, **nested(_LISTS, inner)}
    if words.word_classes is not None:
        entries[_CLASSES] = list(words.word_classes.names)
        arrays = {**arrays, **nested(_CLASSES, words.word_classes.arrays)}
    return entries, arrays


def _half_width(settings: WordSettings) -> bool:
    return isinstance(settings, ViewSettings) and settings.half_width


def _has_lists(settings: WordSettings) -> bool:
    return isinstance(settings, LexiconSettings) and bool(settings.lexicon)


# Guides ------------------------------------------------------------------------------------------


def restored_guide(atom: str, header: dict[str, Any], arrays: Arrays) -> GuideSource:
    """A guide by the header and the arrays of its model.

    Raises ValueError if they are none of a trained model that finds words in raw text.
    """
    if atom not in GUIDE_ATOMS:
        raise ValueError(f"the atom of its guide is {atom!r:.60}")
    task = field(header, "task", str)
    if task not in _TEXT_MODELS:
        raise ValueError(
            f"a guide must find words in raw text, and a model of the kind {task!r:.60} does not; "
            f"guides are models of the kinds {', '.join(_TEXT_MODELS)}"
        )
    if field(header, "state", str) == "training":
        raise ValueError("its guide is not a trained model")
    from spacy_structreg.tasks.knowledge.guide_source import GuideSource

    model = getattr(spacy_structreg, _TEXT_MODELS[task]).from_contents("guide", header, arrays)
    return GuideSource(atom, model)


def _restored_statistics(_: str, header: dict[str, Any], arrays: Arrays) -> StatisticsSource:
    from spacy_structreg.tasks.knowledge.statistics_source import StatisticsSource

    return StatisticsSource.from_contents(header, arrays)


# By the `NAME` of each source.
_RESTORERS: Final[dict[str, Callable[[str, dict[str, Any], Arrays], CharacterSource]]] = {
    "guide": restored_guide,
    "lexicon": lambda _, *contents: LexiconSource.from_contents(*contents),
    "statistics": _restored_statistics,
}
