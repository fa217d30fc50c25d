"""Tasks side by side: in threads, or wherever the backend of joblib that a user chose runs them."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Generator, Iterable
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.learn.threads import side_by_side

SharedT = TypeVar("SharedT")
InputT = TypeVar("InputT")
OutputT = TypeVar("OutputT")


def in_other_processes() -> bool:
    """True if the active backend of joblib runs tasks where they share no memory with this process.

    So do "loky" and "dask", in ``with joblib.parallel_config("dask"):``; by default they are
    threads of this process.
    """
    from joblib.parallel import get_active_backend

    backend, _ = get_active_backend(prefer="threads")
    return not getattr(backend, "supports_sharedmem", False)


def run_tasks(
    work: Callable[[SharedT, InputT], OutputT],
    shared: SharedT,
    inputs: Iterable[InputT],
    n_threads: int = 1,
) -> Generator[OutputT]:
    """The outputs of ``work(shared, each)`` for each input, in their order.

    n_threads: how many tasks run at a time. Other processes (`in_other_processes`) are as many,
        too, unless that is 1: then joblib decides. Dask takes all of its cluster.
    In other processes, work and what is shared are pickled once, whatever the number of tasks;
    joblib maps them into memory, or sends them to each worker once. Closing the generator ends the
    tasks that have not begun; it waits for those that run in threads.
    """
    if in_other_processes():
        return _run_elsewhere(work, shared, inputs, n_threads)
    return side_by_side(partial(work, shared), inputs, n_threads)


def _run_elsewhere(
    work: Callable[[SharedT, InputT], OutputT],
    shared: SharedT,
    inputs: Iterable[InputT],
    n_jobs: int,
) -> Generator[OutputT]:
    import cloudpickle
    from joblib import Parallel, delayed
    from joblib.parallel import get_active_backend

    # An array, as that is what joblib's backends share between tasks. cloudpickle can pickle
    # classes that only this process has, such as those of a notebook; Dask's scheduler, which
    # unpickles arguments, need not have them either.
    packed = np.frombuffer(cloudpickle.dumps((work, shared), protocol=5), np.uint8)
    backend, _ = get_active_backend()
    streams = backend.supports_return_generator
    parallel = Parallel(
        n_jobs=None if n_jobs == 1 else n_jobs,
        prefer="threads",
        return_as="generator" if streams else "list",
        batch_size=1,
        pre_dispatch="all",
    )
    outputs = parallel(delayed(_run)(packed, cloudpickle.dumps(each)) for each in inputs)
    try:
        for output in outputs:
            yield pickle.loads(output)  # by our own processes
    finally:
        if streams:
            with warnings.catch_warnings():
                # joblib warns that it ends tasks early, which is what is wanted here.
                warnings.simplefilter("ignore")
                outputs.close()


def _run(packed: NDArray[np.uint8], given: bytes) -> bytes:
    import cloudpickle

    work, shared = pickle.loads(packed.data)  # by our own process
    output: bytes = cloudpickle.dumps(work(shared, pickle.loads(given)))
    return output
