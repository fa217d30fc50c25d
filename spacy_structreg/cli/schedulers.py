"""The option of the commands that train: a Dask cluster that carries the trainings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, TypeAlias

from spacy.cli._util import Opt

__all__ = ["SchedulerOption", "trained_by"]

SchedulerOption: TypeAlias = Annotated[
    str | None,
    Opt(
        "--scheduler",
        metavar="ADDRESS",
        help="Train on the Dask cluster of the scheduler at this address, such as "
        "tcp://10.0.0.1:8786, in place of threads of this machine",
    ),
]


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
