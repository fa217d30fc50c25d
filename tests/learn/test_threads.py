"""Work that threads do side by side: in order, beside its source, and given up at any time."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from spacy_structreg.learn.threads import side_by_side

# Seconds after which a thread is taken for one that never comes.
LONG = 30


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_outputs_of_a_chain_come_in_the_order_of_inputs(n_threads: int) -> None:
    first = side_by_side(lambda x: x + 1, iter(range(100)), n_threads)
    assert list(side_by_side(lambda x: 2 * x, first, n_threads)) == [2 * x for x in range(1, 101)]


def test_a_source_is_read_while_threads_work() -> None:
    is_read, works = threading.Event(), threading.Event()

    def source() -> Iterator[int]:
        yield 0
        # Here a chain of parts would wait for ever if it did one thing at a time.
        assert works.wait(LONG)
        is_read.set()
        yield 1

    def work(number: int) -> bool:
        works.set()
        return is_read.wait(LONG)

    assert list(side_by_side(work, source(), 2)) == [True, True]


def test_parts_of_a_chain_work_side_by_side() -> None:
    # The first part does its second input, and the second part its first one, at the same time.
    both = threading.Barrier(2, timeout=LONG)

    def meet(number: int, own: int) -> int:
        if number == own:
            both.wait()
        return number

    first = side_by_side(lambda number: meet(number, 4), iter(range(8)), 2)
    assert list(side_by_side(lambda number: meet(number, 0), first, 2)) == list(range(8))


@pytest.mark.parametrize("n_threads", [1, 2])
def test_errors_of_work_and_source_come_out_where_they_belong(n_threads: int) -> None:
    def work(number: int) -> int:
        if number == 3:
            raise ValueError("work")
        return number

    found = side_by_side(work, iter(range(100)), n_threads)
    assert [next(found) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ValueError, match="work"):
        next(found)
    assert next(found, None) is None

    def source() -> Iterator[int]:
        yield 0
        raise OSError("source")

    with pytest.raises(OSError, match="source"):
        list(side_by_side(work, source(), n_threads))


@pytest.mark.parametrize("n_threads", [1, 2])
def test_a_stream_that_is_closed_ends_its_threads(n_threads: int) -> None:
    before = threading.active_count()
    n_read = 0

    def endless() -> Iterator[int]:
        nonlocal n_read
        while True:
            n_read += 1
            yield n_read

    found = side_by_side(lambda number: number, endless(), n_threads)
    assert next(found) == 1
    assert n_read <= 4
    found.close()
    assert threading.active_count() == before
    assert next(found, None) is None
