"""Options of commands that work on all cores, or on a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, TypeAlias

from spacy.cli._util import Opt

SchedulerOption: TypeAlias = Annotated[
    str | None,
    Opt(
        "--scheduler",
        metavar="ADDRESS",
        help="Work on the Dask cluster of the scheduler at this address, such as "
        "tcp://10.0.0.1:8786, in place of this machine",
    ),
]
"""The option ``--scheduler``."""
WorkersOption: TypeAlias = Annotated[
    int | None,
    Opt("--workers", "-n", min=1, help="Processes of this machine; as many as cores if not said"),
]
"""The option ``--workers``."""


@contextmanager
def trained_by(scheduler: str | None) -> Iterator[None]:
    """Let the trainings of the block run on a Dask cluster; None leaves them where they are.

    scheduler: its address. Raises ValueError without the packages of the extra `cluster`, and
    OSError if nothing answers at the address.
    """
    if scheduler is None:
        yield
        return
    from joblib import parallel_config

    from spacy_structreg.cluster.engines import connect

    with connect(scheduler=scheduler) as client, parallel_config("dask", client=client):
        yield
