"""Threads for pieces of work that call BLAS or the core."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from threadpoolctl import ThreadpoolController

from . import native

Task = Callable[[], None]
Run = Callable[[Iterable[Task]], None]


@contextmanager
def workers() -> Iterator[Run]:
    """Return a function that runs tasks on all cores, and meanwhile keep BLAS to one thread per call.

    Blocks are independent, so a thread takes a block through all its steps: product, transform, check. Were
    the threads to share each step instead, BLAS and the core would wait for each other twice per block,
    which on a busy machine took six times as long.
    """
    count = native.threads()
    if count < 2:
        yield one_by_one
        return
    with (
        ThreadpoolController().limit(limits=1, user_api="blas"),
        ThreadPoolExecutor(count, initializer=native.work_alone) as pool,
    ):

        def run(tasks: Iterable[Task]) -> None:
            for _ in pool.map(lambda task: task(), tasks):  # raises what the first of them raised
                pass

        yield run


def one_by_one(tasks: Iterable[Task]) -> None:
    """Run tasks in this thread, one after the other."""
    for task in tasks:
        task()
