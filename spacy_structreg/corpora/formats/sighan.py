"""The corpora of the Second International Chinese Word Segmentation Bakeoff (SIGHAN 2005).

The release is a folder `icwb2-data`, or that folder in a zip archive:

    training/   {as,cityu,msr,pku}_training.utf8      segmented
    testing/    {as,cityu,msr,pku}_test.utf8          the raw text of the test set
    gold/       {cityu,msr,pku}_test_gold.utf8, as_testing_gold.utf8
                {as,cityu,msr,pku}_training_words.utf8   the vocabulary of the training set

Each file is also there in its original encoding, which the release's README names: as in CP950,
cityu in Big5-HKSCS, msr and pku in CP936. Their names end in .txt, that of the training set of as
in .b5. Files may be compressed (.gz, .xz), and the middle folders may be missing.

Source: Emerson 2005, "The second international Chinese word segmentation bakeoff", and the README
of the release.
"""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeVar

from spacy_structreg.corpora.archives import member_blocks, open_archive
from spacy_structreg.corpora.corpus_errors import CorpusError, StrPath
from spacy_structreg.corpora.corpus_format import Format
from spacy_structreg.corpora.corpus_options import CorpusOptions, split_part
from spacy_structreg.corpora.files import line_encoding, read_lines
from spacy_structreg.corpora.formats.segmented import read_segmented
from spacy_structreg.corpora.sentence import Sentence

T = TypeVar("T")

CORPORA = ("as", "cityu", "msr", "pku")
"""Corpora of SIGHAN 2005."""
PARTS = ("training", "test", "test_raw", "training_words")
"""Parts of a corpus of SIGHAN 2005."""

ROOTS = ("", "icwb2-data/")
# Folder of a part, and what its file names say after the corpus. Those of as differ.
LAYOUT = MappingProxyType(
    {
        "training": ("training/", ("training",)),
        "test": ("gold/", ("test_gold", "testing_gold")),
        "test_raw": ("testing/", ("test", "testing")),
        "training_words": ("gold/", ("training_words",)),
    }
)
# CP936 is the part of GB18030 that has one or two bytes a character.
ORIGINAL_ENCODINGS = MappingProxyType(
    {"as": "cp950", "cityu": "big5hkscs", "msr": "gb18030", "pku": "gb18030"}
)
ORIGINAL_SUFFIXES = (".txt", ".b5")

# Five times the largest file of the release: what is larger is not the release, or is an attack.
LARGEST_MEMBER = 1 << 28
SEPARATORS = " \t\u3000"


@dataclass(frozen=True, slots=True)
class SighanFile:
    """A file of the release; `dataclasses.replace` gives it another encoding.

    corpus: one of `CORPORA`. part: one of `PARTS`: `training` and `test` are segmented, `test_raw`
    is the text of the test set, `training_words` the vocabulary of the training set.
    encoding: as `read_lines` takes it.
    path: of the file, or of the archive that holds it under the name `member`.
    """

    corpus: str
    part: str
    encoding: str
    path: Path
    member: str | None = None

    def sentences(self) -> Iterator[list[str]]:
        """Yield the words of each sentence of a segmented part, as `read_segmented`.

        Raises, besides its errors, ValueError for other parts and for a member of an archive that
        is damaged, encrypted, compressed in an unusual way or too large to be of the release.
        """
        if self.part not in ("training", "test"):
            raise ValueError(f"{self.part} is not segmented; its lines are text")
        yield from self._read(lambda path: read_segmented(path, encoding=self.encoding))

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield (line number from 1, text) as `read_lines`; archives as with `sentences`."""
        yield from self._read(lambda path: read_lines(path, encoding=self.encoding))

    def _read(self, read: Callable[[Path], Iterator[T]]) -> Iterator[T]:
        if self.member is None:
            yield from read(self.path)
            return
        name = f"{self.path}/{self.member}"
        # Nothing is extracted under a name that the archive chooses.
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder, "member")
            with open_archive(self.path) as archive, copy.open("xb") as target:
                blocks = member_blocks(archive, self.member, name, limit=LARGEST_MEMBER)
                target.writelines(blocks)
            try:
                yield from read(copy)
            except CorpusError as error:
                raise CorpusError(name, error.line, error.fault) from error


def _names(corpus: str, part: str, original: bool | None) -> Iterator[tuple[str, str]]:
    """(path within the release, encoding) that a file may have, the first choice first."""
    folder, stems = LAYOUT[part]
    forms = [] if original else [(".utf8", "utf-8")]
    if original is not False:
        forms += [(suffix, ORIGINAL_ENCODINGS[corpus]) for suffix in ORIGINAL_SUFFIXES]
    for suffix, encoding in forms:
        for root in ROOTS:
            for place in (folder, ""):
                for stem in stems:
                    yield f"{root}{place}{corpus}_{stem}{suffix}", encoding


def is_release(path: StrPath) -> bool:
    """True if a path is a folder or a zip archive, as `list_sighan` takes them."""
    # zipfile looks for the end of devices and pipes.
    return Path(path).is_dir() or (Path(path).is_file() and zipfile.is_zipfile(path))


def list_sighan(source: StrPath, *, original: bool | None = None) -> list[SighanFile]:
    """The files of the release that a folder or a zip archive holds, by corpus and part.

    source: `icwb2-data`, a folder that holds it, or a zip archive of either.
    original: whether files in their original encoding are meant. By default, they stand in for
        those that are not there in UTF-8.

    An empty list is no error. Raises ValueError for an archive that cannot be read, OSError as
    `open`.
    """
    source = Path(source)
    if source.is_dir():
        return _listing(original, lambda name: _existing(source, name))
    with open_archive(source) as archive:
        members = set(archive.namelist())
    return _listing(original, lambda name: (source, name) if name in members else None)


def _existing(folder: Path, name: str) -> tuple[Path, None] | None:
    """The path of a file of the release in a folder; it may be compressed."""
    for suffix in ("", ".gz", ".xz"):
        path = folder / (name + suffix)
        if path.is_file():
            return path, None
    return None


def _listing(
    original: bool | None, locate: Callable[[str], tuple[Path, str | None] | None]
) -> list[SighanFile]:
    """The files of a release; `locate` gives path and member of one."""
    found: list[SighanFile] = []
    for corpus in CORPORA:
        for part in PARTS:
            for name, encoding in _names(corpus, part, original):
                if place := locate(name):
                    found.append(SighanFile(corpus, part, encoding, *place))
                    break
    return found


def find_sighan(
    source: StrPath, corpus: str, part: str, *, original: bool | None = None
) -> SighanFile:
    """One file of the release; arguments as of `list_sighan` and `SighanFile`.

    Raises ValueError for a corpus or part that there is none of, and when the file is missing.
    """
    if corpus not in CORPORA:
        raise ValueError(f"{corpus!r} is no corpus of the release; they are {', '.join(CORPORA)}")
    if part not in PARTS:
        raise ValueError(f"{part!r} is no part of a corpus; they are {', '.join(PARTS)}")
    for file in list_sighan(source, original=original):
        if (file.corpus, file.part) == (corpus, part):
            return file
    folder, stems = LAYOUT[part]
    suffix = ORIGINAL_SUFFIXES[0] if original else ".utf8"
    raise ValueError(
        f"{source}: no {folder}{corpus}_{stems[0]}{suffix}; name the folder icwb2-data of the "
        "release, or its zip archive"
    )


def training_vocabulary(
    source: StrPath, corpus: str, *, original: bool | None = None
) -> frozenset[str]:
    """The words of a training set, by which the scorer tells unknown words.

    From the word list of the release, or from the training set itself when the list is missing.
    A line of the list is a word, white space within it included (one name in that of cityu).

    Raises ValueError when both are missing or the list has no words, and the errors of
    `SighanFile.lines` and `SighanFile.sentences`.
    """
    parts = {
        file.part: file for file in list_sighan(source, original=original) if file.corpus == corpus
    }
    if "training_words" not in parts:
        training = parts.get("training") or find_sighan(
            source, corpus, "training_words", original=original
        )
        return frozenset(word for sentence in training.sentences() for word in sentence)
    words = frozenset(
        word for _, line in parts["training_words"].lines() if (word := line.strip(SEPARATORS))
    )
    if not words:
        raise ValueError(f"{parts['training_words'].path}: the list of words is empty")
    return words


def find_part(path: Path, options: CorpusOptions) -> SighanFile:
    """The part of a release that the options name. Raises ValueError if there is no such part."""
    original = None if line_encoding(options.encoding) == "utf-8" else True
    if options.part is None:
        there = [
            f"{file.corpus}/{file.part}"
            for file in list_sighan(path, original=original)
            if file.part in ("training", "test")
        ]
        raise ValueError(
            f"{path}: name the corpus and part of the release with --part; in it are "
            f"{', '.join(there) or 'none that is segmented'}"
        )
    found = find_sighan(path, *split_part(options.part), original=original)
    return found if original is None else replace(found, encoding=options.encoding)


def read(path: Path, options: CorpusOptions) -> Iterator[Sentence]:
    """Yield the sentences of a part of a release, or of a file of its form."""
    if is_release(path):
        sentences = find_part(path, options).sentences()
    else:
        sentences = read_segmented(path, encoding=options.encoding)
    for words in sentences:
        yield Sentence(tuple(words))


def is_named(path: Path, options: CorpusOptions) -> bool:
    """True for a release. Raises ValueError for other folders and archives."""
    if not is_release(path):
        return False
    if not list_sighan(path):
        raise ValueError(
            f"{path}: no file of the SIGHAN 2005 release (training/pku_training.utf8, …) in it; "
            "name its folder icwb2-data or its zip archive, or a file; for a folder of trees, name "
            "the format brackets"
        )
    return True


FORMAT: Final = Format(
    "sighan",
    "a file, or with --part the folder or zip archive, of SIGHAN 2005",
    rank=30,
    read=read,
    is_named=is_named,
    options=("part",),
)
"""Name, recognition, reader and writer of the format."""
