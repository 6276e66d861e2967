"""The time that is left, as the live line says it."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from kernelfields.cli._progress import FARTHEST, LiveLine
from kernelfields.solvers import Progress


def _line(*gaps: float, tol: float = 1e-4) -> LiveLine:
    """Return a line that has seen an iteration a second, with these gaps."""
    line = LiveLine(Console(file=io.StringIO()), tol)
    line.records += [Progress(n, 1.0, 1.0, 1.0 - gap, float(n)) for n, gap in enumerate(gaps, 1)]
    return line


def test_gaps_that_fall_by_a_factor() -> None:
    line = _line(*(2.0**-n for n in range(8)), tol=2.0**-12)
    assert line.seconds_left() == pytest.approx(5)


def test_nothing_is_said_where_the_last_iterations_say_nothing() -> None:
    assert _line(*(0.5 - 1e-9 * n for n in range(8))).seconds_left() is None  # decades, by the last ones
    assert _line(*[0.5] * 8).seconds_left() is None
    assert _line(*(0.1 * n for n in range(1, 9))).seconds_left() is None
    assert _line(0.5, 0.4, 0.3).seconds_left() is None
    assert _line(*(2.0**-n for n in range(8)), tol=0.5).seconds_left() is None  # it is there


@pytest.mark.parametrize("rate", [1e-7, 1e-4, 1e-3, 0.1, 1.0])
def test_no_estimate_is_far_beyond_what_was_seen(rate: float) -> None:
    left = _line(*(0.5 * (1 - rate / 2) ** n for n in range(8))).seconds_left()
    assert left is None or 0 < left <= FARTHEST * 8
    assert (left is None) == (rate < 0.1)
