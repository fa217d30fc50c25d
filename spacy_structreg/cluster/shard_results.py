"""Results of tasks on a cluster, as they come."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from distributed import Client, Future


def tried(function: Callable[..., Any], *arguments: Any, **settings: Any) -> Any:
    """The result of a function, or the ValueError or OSError that it raises.

    `results_of` raises it again. What tasks raise, workers log at length.
    """
    try:
        return function(*arguments, **settings)
    except (ValueError, OSError) as error:
        return error


def results_of(client: Client, futures: Iterable[Future[Any]]) -> Iterator[Any]:
    """Yield the results of tasks in the order in which they end; each is then forgotten.

    The caller keeps no reference to the futures. What a worker had done when it died is done again.
    Raises what a task raises, or gives by `tried`, and OSError if workers die of a task again and
    again or the scheduler is lost.
    """
    from distributed import as_completed

    completed = as_completed(futures, loop=client.loop, with_results=True)
    del futures
    died = OSError(
        "workers died one after the other of the same task, perhaps for want of memory; give them "
        "more, or start fewer of them on a machine"
    )
    with cluster_errors(died):
        for _, result in completed:
            if isinstance(result, Exception):
                raise result
            yield result


@contextmanager
def cluster_errors(died: Exception, again: str = "the same command") -> Iterator[None]:
    """Errors of a cluster as those that say what to do.

    died: is raised if workers die of a task again and again. again: what to do when the scheduler
    runs again.
    """
    from concurrent.futures import CancelledError

    from distributed import KilledWorker
    from distributed.comm import CommClosedError

    try:
        yield
    except KilledWorker as error:
        raise died from error
    except (CancelledError, CommClosedError) as error:
        raise OSError(f"the scheduler is lost; start it again, and then {again}") from error
