"""One process that runs cases of one estimator and says what became of each, a line of JSON at a time."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .cases import Case, all_cases
from .learners import LEARNERS
from .running import Outcome, run

SECONDS = 20
"""What a case may take."""


class TooLongError(Exception):
    """A case that did not end in time."""


@contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    """Raise an error after some seconds of processor time."""

    def stop(*_: Any) -> None:
        raise TooLongError(f"it took more than {seconds} seconds")

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def timed(case: Case) -> Outcome:
    """Run a case; one that takes too long has failed."""
    try:
        with time_limit(SECONDS):
            return run(case)
    except TooLongError as error:
        return Outcome(None, {"time": str(error)})


def numbered(name: str, share: int) -> list[tuple[int, Case]]:
    """Give the cases of an estimator, or every so manyth of them, by their numbers."""
    return list(enumerate(all_cases(LEARNERS[name])))[::share]


def main(name: str, numbers: list[int]) -> None:
    """Run the cases of these numbers; say which one is begun, in case it ends the process."""
    cases = dict(numbered(name, 1))
    for number in numbers:
        print(json.dumps({"begun": number}), flush=True)
        outcome = timed(cases[number])
        print(json.dumps({"number": number, "case": str(cases[number]), **outcome._asdict()}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], json.load(sys.stdin))
