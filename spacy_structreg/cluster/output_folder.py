"""A folder of outputs, on this machine or wherever fsspec reaches, whose files appear whole."""

from __future__ import annotations

import contextlib
import hashlib
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, BinaryIO, cast

from fsspec.core import url_to_fs
from fsspec.implementations.local import LocalFileSystem

from spacy_structreg.corpora.files import TEMPORARY, replace_bytes
from spacy_structreg.corpora.folders import LOCK, locked

BLOCK = 1 << 20


class OutputFolder:
    """A folder by its path or URL.

    Files of this machine are written beside their place and renamed; others are written to a
    temporary file of this machine and sent, which object stores do in one step.
    """

    def __init__(self, url: str) -> None:
        self._files, self._root = url_to_fs(url)
        self._root = self._root.rstrip("/")
        self._is_local = isinstance(self._files, LocalFileSystem)

    @property
    def address(self) -> str:
        """The absolute path of the folder, or its URL."""
        return str(self._root if self._is_local else self._files.unstrip_protocol(self._root))

    def path(self, name: str) -> str:
        """The path of a file, as its file system has it."""
        return f"{self._root}/{name}"

    def make(self, name: str = "") -> None:
        """Make the folder, or one inside it, where file systems have such."""
        self._files.makedirs(self.path(name).rstrip("/"), exist_ok=True)

    @contextlib.contextmanager
    def replaced(self, name: str) -> Iterator[BinaryIO]:
        """A stream whose content becomes the file when the block ends without an error."""
        if self._is_local:
            with replace_bytes(self.path(name)) as stream:
                yield stream
            return
        with tempfile.TemporaryDirectory(prefix="structreg-") as folder:
            temporary = Path(folder, "whole")
            with temporary.open("wb") as stream:
                yield stream
            self._files.put_file(str(temporary), self.path(name))

    def write(self, name: str, data: bytes) -> None:
        """Write a file."""
        with self.replaced(name) as stream:
            stream.write(data)

    def read(self, name: str) -> bytes:
        """The content of a file. Raises FileNotFoundError if there is none."""
        return cast("bytes", self._files.cat_file(self.path(name)))

    def read_all(self, names: Sequence[str]) -> Iterator[bytes]:
        """Yield the contents of files; of buckets, many are fetched at once."""
        paths = [self.path(name) for name in names]
        if paths:
            found = self._files.cat(paths)
            yield from (found[path] for path in paths)

    def has_entries(self) -> bool:
        """True if there is anything in the folder, besides its lock."""
        return self._files.isdir(self._root) and any(
            Path(name).name != LOCK for name in self._files.ls(self._root, detail=False)
        )

    def locked(self) -> contextlib.AbstractContextManager[None]:
        """Keep other processes of this machine out, as `corpora.folders.locked`.

        Elsewhere nothing is held.
        """
        return locked(self._root) if self._is_local else contextlib.nullcontext()

    def sizes(self, name: str = "") -> dict[str, int]:
        """The names of the files in the folder, or one inside it, with their bytes; {} for none."""
        self._files.invalidate_cache()
        try:
            infos = self._files.ls(self.path(name).rstrip("/"), detail=True)
        except FileNotFoundError:
            return {}
        return {Path(each["name"]).name: each["size"] for each in infos if each["type"] == "file"}

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        with contextlib.suppress(FileNotFoundError):
            self._files.rm_file(self.path(name))

    def remove_temporaries(self, name: str = "") -> None:
        """Remove what processes that were killed have left, in the folder or one inside it."""
        for each in self.sizes(name) if self._is_local else ():
            if each.startswith(".") and each.endswith(TEMPORARY):
                self.remove(f"{name}/{each}")

    def checksum(self, name: str) -> str:
        """SHA-256 of a file, in hexadecimal digits."""
        digest = hashlib.sha256()
        with self._files.open(self.path(name), "rb") as stream:
            while block := stream.read(BLOCK):
                digest.update(block)
        return digest.hexdigest()


class HashedStream:
    """A stream for writing that knows the length and the checksum of what was written."""

    closed = False

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._digest = hashlib.sha256()
        self.size = 0

    def write(self, data: bytes) -> int:
        """Write bytes. Raises OSError as the stream does."""
        self._stream.write(data)
        self._digest.update(data)
        self.size += len(data)
        return len(data)

    def tell(self) -> int:
        """The number of bytes written."""
        return self.size

    def flush(self) -> None:
        """Hand on what is buffered."""
        self._stream.flush()

    def close(self) -> None:
        """Keep the stream open for whoever has opened it."""

    @property
    def checksum(self) -> str:
        """SHA-256 of what was written, in hexadecimal digits."""
        return self._digest.hexdigest()
