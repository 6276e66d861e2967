"""Budgets as people write them."""

from types import SimpleNamespace

import pytest

from kernelfields.errors import InputError
from kernelfields.trials import clock
from kernelfields.trials.clock import BudgetClock, budget_seconds, duration


@pytest.mark.parametrize(
    ("text", "seconds"), [("30s", 30), ("2m", 120), ("1h", 3600), ("1h30m", 5400), ("1.5m", 90), (7, 7)]
)
def test_budgets_are_read(text, seconds):
    assert budget_seconds(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "2", "m", "2 m", "-2m", "0s", "2d", "2mm", "½m", 0, -1, None, True, float("nan")]
)
def test_other_budgets_are_refused(text):
    with pytest.raises(InputError, match="it must be a time such as 30s, 2m or 1h"):
        budget_seconds(text)


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "0 s"), (59, "59 s"), (60, "1 min"), (100, "1 min 40 s"), (3900, "1 h 5 min")]
)
def test_times_are_shown(seconds, text):
    assert duration(seconds) == text


def test_clocks_run_down_to_nothing(monkeypatch):
    now = [5.0]
    monkeypatch.setattr(clock, "time", SimpleNamespace(monotonic=lambda: now[0]))
    budget = BudgetClock(4.0)
    assert (budget.spent, budget.left) == (0.0, 4.0)
    now[0] += 3
    assert (budget.spent, budget.left) == (3.0, 1.0)
    now[0] += 3
    assert (budget.spent, budget.left) == (6.0, 0.0)
