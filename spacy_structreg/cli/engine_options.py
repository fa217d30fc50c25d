"""Options of commands that work on all cores, or on a cluster."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, TypeAlias

from spacy.cli._util import Opt

__all__ = ["Engine", "EngineOption", "SchedulerOption", "WorkersOption"]


class Engine(str, Enum):
    """Engines that need no cluster."""

    local = "local"


EngineOption: TypeAlias = Annotated[
    Engine, Opt("--engine", help="local: processes of this machine")
]
SchedulerOption: TypeAlias = Annotated[
    str | None,
    Opt(
        "--scheduler",
        metavar="ADDRESS",
        help="The scheduler of a Dask cluster, such as tcp://10.0.0.1:8786, in place of an engine",
    ),
]
WorkersOption: TypeAlias = Annotated[
    int | None,
    Opt("--workers", "-n", min=1, help="Processes of the engine; as many as cores if not said"),
]
