"""Pipelines that go to the workers of a cluster, and are unpacked once a machine."""

from __future__ import annotations

import io
import tempfile
import zipfile
from pathlib import Path

from distributed import Client, Worker, WorkerPlugin

from spacy_structreg.cluster.pipeline_copies import (
    PipelineCopy,
    has_copy,
    tree_checksum,
    tree_files,
)


def ship_pipeline(client: Client, pipeline: PipelineCopy) -> int:
    """Ship a pipeline to the workers, present and to come, unless all that there are have it.

    Returns the number of bytes that go to a worker; 0 if none do.
    """
    found = client.run(has_copy, pipeline)
    if found and all(found.values()):
        return 0
    plugin = ShippedPipeline(pipeline, packed(Path(pipeline.folder)))
    client.register_plugin(plugin, name=f"structreg-{pipeline.checksum}")
    return len(plugin.archive)


def packed(folder: Path) -> bytes:
    """The files of a folder as a zip archive."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for path in tree_files(folder):
            archive.write(path, path.relative_to(folder))
    return stream.getvalue()


class ShippedPipeline(WorkerPlugin):  # type: ignore[misc]
    """Unpacks a pipeline on the machine of a worker, if it is not there yet."""

    def __init__(self, pipeline: PipelineCopy, archive: bytes) -> None:
        self.pipeline = pipeline
        self.archive = archive

    def setup(self, worker: Worker) -> None:
        """Unpack; the plugin keeps no bytes. Raises OSError if that cannot be done."""
        archive, self.archive = self.archive, b""
        if not has_copy(self.pipeline):
            unpack(archive, self.pipeline)


def unpack(archive: bytes, pipeline: PipelineCopy) -> None:
    """Unpack a pipeline; of the processes of a machine that do so at once, the first one wins."""
    target = pipeline.unpacked
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f"{target.name}-") as folder:
        whole = Path(folder, "whole")
        zipfile.ZipFile(io.BytesIO(archive)).extractall(whole)
        if target.exists():
            # Somebody else's, or what has been left of it by whoever tidies up such folders.
            if tree_checksum(target) == pipeline.checksum:
                return
            target.rename(Path(folder, "replaced"))
        try:
            whole.rename(target)
        except OSError:
            if not has_copy(pipeline):
                raise
