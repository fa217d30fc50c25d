"""Measured costs projected to a collection and a cluster of another size."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from benchmarks.scale.costs import EngineCosts, PipelineCosts

__all__ = ["Cluster", "Projection", "projected"]

MIB = 1 << 20
UNIT_BYTES = 32 * MIB
SECONDS_OF_HOUR = 3600


@dataclass(frozen=True)
class Cluster:
    """The assumptions.

    documents, document_characters: of the collection. machines, cores: of the cluster, each core
    as fast as those that were measured. core_share: of the speed of a core alone that it has when
    all of them work. storage: bytes a second that all machines together read, or write. network:
    bytes a second from the scheduler to a machine.
    """

    documents: float = 1e9
    document_characters: int = 1000
    machines: int = 100
    cores: int = 16
    core_share: float = 0.9
    storage: float = 5e9
    network: float = 1.25e9


@dataclass(frozen=True)
class Projection:
    """The projection: seconds of each step if it were the only one, and sizes in bytes.

    reading, writing: of the storage that is shared; decoding: with reading and writing of each
    process, on all cores; scheduling: of all tasks; starting: of workers and the shipped pipeline.
    """

    name: str
    core_hours: float
    decoding: float
    reading: float
    writing: float
    scheduling: float
    starting: float
    bytes_in: float
    bytes_out: float
    units: int

    @property
    def limit(self) -> str:
        """The step that takes longest."""
        steps = {
            "decoding": self.decoding,
            "reading": self.reading,
            "writing": self.writing,
            "scheduling": self.scheduling,
        }
        return max(steps, key=lambda step: steps[step])

    @property
    def seconds(self) -> float:
        """Steps go on side by side; the longest one counts."""
        return max(self.decoding, self.reading, self.writing, self.scheduling) + self.starting


def projected(costs: PipelineCosts, engine: EngineCosts, cluster: Cluster) -> Projection:
    """The work of a pipeline on a collection."""
    characters = cluster.documents * cluster.document_characters
    core_seconds = characters / median(costs.cpu_rates[min(costs.cpu_rates)])
    bytes_in = characters * costs.bytes_in / costs.phases.characters
    bytes_out = characters * costs.phases.bytes_out / costs.phases.characters
    units = -int(-bytes_in // UNIT_BYTES)
    workers = cluster.machines * cluster.cores
    return Projection(
        name=costs.name,
        core_hours=core_seconds / SECONDS_OF_HOUR,
        decoding=core_seconds / (workers * cluster.core_share),
        reading=bytes_in / cluster.storage,
        writing=bytes_out / cluster.storage,
        scheduling=units / engine.tasks,
        starting=costs.importing
        + costs.loading
        + cluster.machines * costs.packed_bytes / cluster.network,
        bytes_in=bytes_in,
        bytes_out=bytes_out,
        units=units,
    )
