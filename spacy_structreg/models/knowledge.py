"""Knowledge sources of models: made by settings, and stored in model files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import spacy_structreg
from spacy_structreg.corpora.corpus_errors import StrPath
from spacy_structreg.features.knowledge import (
    GUIDE_ATOMS,
    INFORMATION,
    INFORMATION_ATOM,
    LEXICON,
    LEXICON_ATOMS,
    VARIETY,
    VARIETY_ATOMS,
    guide_templates,
)
from spacy_structreg.features.scripts import read_script, stored_script
from spacy_structreg.learn.model_file import Arrays, field
from spacy_structreg.models.settings import KnowledgeSettings, LexiconSettings, WordTextSettings
from spacy_structreg.models.stored_model import nested, read_model, unnested
from spacy_structreg.tasks.knowledge.guide_source import GuideSource
from spacy_structreg.tasks.knowledge.known_words import KnownWords
from spacy_structreg.tasks.knowledge.lexicon_source import LexiconSource
from spacy_structreg.tasks.knowledge.source import CharacterSource
from spacy_structreg.tasks.knowledge.statistics_source import StatisticsSource
from spacy_structreg.tasks.segmentation.characters import CharacterAtoms

if TYPE_CHECKING:
    from spacy_structreg.learn.freezing import Bits


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
# Raw text is counted in so many threads.
_MAX_THREADS: Final = 4


def source_atoms(settings: KnowledgeSettings) -> tuple[str, ...]:
    """The names of the atoms of the sources that settings name."""
    return tuple(atom for atoms, _ in _parts_of(settings) for atom in atoms)


def source_templates(settings: KnowledgeSettings) -> list[str]:
    """The templates of the sources that settings name."""
    return [templates for _, templates in _parts_of(settings)]


def _parts_of(settings: KnowledgeSettings) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the atoms and the templates of each source, in the order of `new_sources`."""
    if settings.lexicon:
        yield LEXICON_ATOMS, LEXICON
    for atom in GUIDE_ATOMS[: len(settings.guides)]:
        yield (atom,), guide_templates(atom)
    if settings.statistics == "accessor_variety":
        yield VARIETY_ATOMS, VARIETY
    if settings.statistics == "all":
        yield (*VARIETY_ATOMS, INFORMATION_ATOM), f"{VARIETY} | {INFORMATION}"


def new_sources(
    settings: KnowledgeSettings, atoms: CharacterAtoms, texts: Callable[[], Iterable[str]]
) -> list[CharacterSource]:
    """The sources that settings name, read from their files.

    atoms: of the model without sources, which say how it sees characters (`CharacterAtoms.seen`).
    texts: gives the sentences of the training corpus.
    Raises ValueError, naming the file, for files that are none of the kind; OSError for those that
    cannot be read.
    """

    from spacy_structreg.corpora.files import read_blocks
    from spacy_structreg.tasks.knowledge.ngram_files import is_ngram_file

    sources = [
        *lexicon_sources(settings, atoms.seen),
        *(
            restored_guide(atom, *read_model(path, _TEXT_MODELS)[1:])
            for atom, path in zip(GUIDE_ATOMS, settings.guides, strict=False)
        ),
    ]
    if settings.statistics is not None:
        counts = [path for path in settings.raw_text if is_ngram_file(path)]
        files = [path for path in settings.raw_text if path not in counts]
        n_threads = min(os.cpu_count() or 1, _MAX_THREADS)
        information = settings.statistics == "all"
        text = chain(texts(), *map(read_blocks, files))
        sources.append(_statistics(atoms, text, counts, information, n_threads))
    return sources


def _statistics(
    atoms: CharacterAtoms,
    texts: Iterable[str],
    counts: Iterable[StrPath],
    information: bool,
    n_threads: int,
) -> StatisticsSource:
    """The statistics of texts, joined to those of files of counts."""

    from spacy_structreg.tasks.knowledge.ngram_files import read_ngrams
    from spacy_structreg.tasks.knowledge.ngram_totals import count_ngrams

    view = atoms.normalization()
    source = StatisticsSource.of(count_ngrams(texts, view=view, n_threads=n_threads), information)
    for path in counts:
        source = source.joined(StatisticsSource.of(read_ngrams(path, view), information))
    return source


def has_statistics(atoms: CharacterAtoms | None) -> bool:
    """True if one of the sources is counted in raw text."""
    sources = () if atoms is None else atoms.sources
    return any(isinstance(source, StatisticsSource) for source in sources)


def recounted(
    atoms: CharacterAtoms,
    texts: Iterable[str],
    *,
    counts: Iterable[StrPath] = (),
    together: bool = True,
    n_threads: int = 1,
) -> CharacterAtoms:
    """The same atoms with statistics of other text.

    counts: files of counts (`tasks.knowledge.ngram_files`), which are joined to those of the texts.
    together: keep what is known of n-grams, and join both.
    """

    def counted(source: CharacterSource) -> CharacterSource:
        if not isinstance(source, StatisticsSource):
            return source
        new = _statistics(atoms, texts, counts, source.information, n_threads)
        return source.joined(new) if together else new

    return atoms.with_sources(map(counted, atoms.sources))


def frozen_atoms(atoms: CharacterAtoms, bits: Bits, prune: float) -> CharacterAtoms:
    """The same atoms with frozen guides (`StoredModel.freeze`)."""

    def frozen(source: CharacterSource) -> CharacterSource:
        if not isinstance(source, GuideSource) or source.contents()[0]["state"] == "frozen":
            return source
        model = _guide_model(*source.contents()).freeze(bits=bits, prune=prune)
        return restored_guide(next(iter(source.atoms)), *model.contents())

    return atoms.with_sources(map(frozen, atoms.sources))


def lexicon_sources(settings: LexiconSettings, seen: Callable[[str], str]) -> list[CharacterSource]:
    """The source of word lists, if settings name any. seen: as of `known_words`."""
    words = known_words(settings, seen)
    return [] if words is None else [LexiconSource(words)]


def known_words(settings: LexiconSettings, seen: Callable[[str], str]) -> KnownWords | None:
    """The words of the lists that settings name; None if they name none.

    seen: what the model sees of a text, of the same length.
    Raises CorpusError for faults of the files, ValueError if they hold no word, OSError if they
    cannot be read.
    """

    from spacy_structreg.corpora.word_lists import read_word_list

    paths = [settings.lexicon] if isinstance(settings.lexicon, str) else list(settings.lexicon)
    if not paths:
        return None
    words = KnownWords.of(chain.from_iterable(map(read_word_list, paths)), seen)
    if not len(words):
        raise ValueError(f"{', '.join(paths)}: no word in the list; write one a line")
    return words


def contents_of(atoms: CharacterAtoms) -> tuple[dict[str, Any], Arrays]:
    """The part of `ModelSpec.contents` that holds sources and the script; `restored_sources` and
    `stored_script` take it back."""
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


def new_word_atoms(settings: WordTextSettings) -> CharacterAtoms:
    """Atoms of characters of a model of words: their script, and word lists as the only source.

    Raises as `known_words`, and ImportError as `read_script`.
    """
    script = read_script(settings.script)
    plain = CharacterAtoms(settings.types, settings.half_width, script=script)
    sources = lexicon_sources(settings, plain.seen)
    return CharacterAtoms(settings.types, settings.half_width, sources, script)


def restored_word_atoms(
    settings: WordTextSettings, entries: dict[str, Any], arrays: Arrays
) -> CharacterAtoms:
    """The same of a model file. Raises ValueError for what cannot be used."""
    sources = restored_sources(entries, arrays)
    if [source.NAME for source in sources] != [LexiconSource.NAME] * bool(settings.lexicon):
        raise ValueError("its knowledge sources are not those of its settings")
    script = stored_script(settings.script, arrays)
    return CharacterAtoms(settings.types, settings.half_width, sources, script)


def restored_guide(atom: str, header: dict[str, Any], arrays: Arrays) -> GuideSource:
    """A guide by the header and the arrays of its model.

    Raises ValueError if they are none of a trained model that finds words in raw text.
    """
    if atom not in GUIDE_ATOMS:
        raise ValueError(f"the atom of its guide is {atom!r:.60}")
    model = _guide_model(header, arrays)
    return GuideSource(atom, model._decoders().new_decoder, (header, arrays), restored_guide)


def _guide_model(header: dict[str, Any], arrays: Arrays) -> Any:
    """The model of a guide. Raises ValueError as `restored_guide`."""
    task = field(header, "task", str)
    if task not in _TEXT_MODELS:
        raise ValueError(
            f"a guide must find words in raw text, and a model of the task {task!r:.60} does not; "
            f"guides are models of the tasks {', '.join(_TEXT_MODELS)}"
        )
    if field(header, "state", str) == "training":
        raise ValueError("its guide is not a trained model")
    return getattr(spacy_structreg, _TEXT_MODELS[task]).from_contents("guide", header, arrays)


_RESTORERS: Final[dict[str, Callable[[str, dict[str, Any], Arrays], CharacterSource]]] = {
    GuideSource.NAME: restored_guide,
    LexiconSource.NAME: lambda _, *contents: LexiconSource.from_contents(*contents),
    StatisticsSource.NAME: lambda _, *contents: StatisticsSource.from_contents(*contents),
}
