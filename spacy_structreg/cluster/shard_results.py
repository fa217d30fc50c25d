"""Results of tasks on a cluster, as they come."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
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
    from concurrent.futures import CancelledError

    from distributed import KilledWorker, as_completed
    from distributed.comm import CommClosedError

    completed = as_completed(futures, loop=client.loop, with_results=True)
    del futures
    try:
        for _, result in completed:
            if isinstance(result, Exception):
                raise result
            yield result
    except KilledWorker as error:
        raise OSError(
            "workers died one after the other of the same task, perhaps for want of memory; give "
            "them more, or start fewer of them on a machine"
        ) from error
    except (CancelledError, CommClosedError) as error:
        raise OSError("the scheduler is lost; start it again, and then the same command") from error
