"""How many steps L-BFGS keeps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kernelfields.solvers import LBFGS, Stop, lbfgs
from kernelfields.testing.solvers import Quadratic


@pytest.mark.parametrize(
    ("size", "known", "kept"), [(7, False, 10), (7, True, 5), (3, True, 10), (9, False, 5)]
)
def test_large_elements_keep_five_steps(
    size: int, known: bool, kept: int, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    """Where curvatures are known, elements count as large sooner."""
    seen, history = [], lbfgs.History

    def noted(problem: Any, memory: int, curvatures: Any) -> lbfgs.History:
        seen.append(memory)
        return history(problem, memory, curvatures)

    monkeypatch.setattr(lbfgs, "History", noted)
    monkeypatch.setattr(lbfgs, "LARGE", 8)
    monkeypatch.setattr(lbfgs, "LARGE_DIAGONAL", 6)
    monkeypatch.setattr(Quadratic, "curvatures", lambda *_: np.ones(size) if known else None)
    found = LBFGS().minimize(Quadratic.random(size, rng), np.zeros(size), Stop())
    assert found.reason.converged
    assert set(seen) == {kept}


def test_changes_without_a_square_are_not_kept(rng: np.random.Generator) -> None:
    """At rounding a change of the gradient is so small that its square is 0."""
    history = lbfgs.History(Quadratic.random(3, rng), 10)
    history.add(np.ones(3), np.full(3, 1e-200))
    assert not history
