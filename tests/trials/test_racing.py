"""Races: who stays, who wins, and what an early end leaves."""

import itertools
from types import SimpleNamespace

import pytest

from kernelfields.trials import clock
from kernelfields.trials.bounded import End
from kernelfields.trials.clock import BudgetClock
from kernelfields.trials.notes import notes_of
from kernelfields.trials.racing import Race, RaceAttempt, affordable, halved


@pytest.fixture(autouse=True)
def stopped_clock(monkeypatch):
    """No time passes but what attempts say they took."""
    monkeypatch.setattr(clock, "time", SimpleNamespace(monotonic=lambda: 0.0))


def made(contestant, value, seconds=1.0, end=End.DONE, warnings=(), unsettled=False):
    return RaceAttempt(contestant, value, 1.0, seconds, end, list(warnings), unsettled)


def race(values, rounds=3, seconds=100.0, keep=halved, scouting=False, ends=None, told=None):
    """Let contestants with known values race; ``ends`` may end it at an attempt (round, contestant)."""
    told = [] if told is None else told

    def run(alive, number, limit):
        for one in alive:
            assert limit() > 0
            yield made(one, values[one], end=(ends or {}).get((number, one), End.DONE))

    return Race(range(len(values)), rounds, scouting, BudgetClock(seconds), keep, told.append).run(run)


def test_the_best_wins_and_the_worse_half_is_sorted_out():
    result = race([3.0, 1.0, 4.0, 2.0, 0.0], rounds=3)
    assert result.order == [2, 0, 3, 1, 4]
    assert [sorted(each) for each in result.attempts] == [[0, 1, 2, 3, 4], [0, 2, 3], [0, 2]]
    assert (result.complete, result.interrupted, result.out_of_time) == (3, False, False)


def test_ctrl_c_leaves_complete_rounds():
    result = race([3.0, 1.0, 4.0], ends={(1, 2): End.INTERRUPTED})
    assert result.interrupted
    assert result.complete == 1
    assert result.order[0] == 2


def test_ctrl_c_in_the_first_fit_keeps_what_that_fit_has():
    result = race([3.0, 4.0], ends={(0, 0): End.INTERRUPTED})
    assert result.interrupted
    assert result.order[0] == 0


def test_ctrl_c_before_anything_is_passed_on():
    def run(alive, number, limit):
        raise KeyboardInterrupt
        yield

    with pytest.raises(KeyboardInterrupt):
        Race(range(2), 1, False, BudgetClock(1.0), halved, lambda _: None).run(run)


def test_the_end_of_the_time_leaves_the_best_so_far(monkeypatch):
    looks = itertools.count()
    monkeypatch.setattr(clock, "time", SimpleNamespace(monotonic=lambda: float(next(looks))))
    result = race([1.0, 2.0, 3.0], seconds=1.5)
    assert result.out_of_time
    assert result.order[0] == 0
    assert len(result.fits) == 1


def test_a_scouting_round_only_sorts_out():
    values = {(0, 0): 9.0, (0, 1): 1.0, (1, 0): 0.0, (1, 1): 1.0}

    def run(alive, number, limit):
        yield from (made(one, values[number, one]) for one in alive)

    result = Race(range(2), 2, True, BudgetClock(9.0), halved, lambda _: None).run(run)
    assert result.order == [1, 0]


def test_all_stay_as_long_as_there_is_time():
    attempts = [{n: made(n, 0.0, seconds=10.0) for n in range(4)}]
    assert affordable([3, 1, 0, 2], attempts, BudgetClock(1000.0), 4) == [3, 1, 0, 2]
    assert affordable([3, 1, 0, 2], attempts, BudgetClock(125.0), 4) == [3, 1, 0]
    assert affordable([3, 1, 0, 2], attempts, BudgetClock(1.0), 4) == [3, 1]


def test_progress_names_the_best_so_far():
    told = []
    race([1.0, 3.0, 2.0], rounds=2, told=told)
    assert [one.best for one in told] == [0, 1, 1, 1, 1]
    assert [(one.round, one.done, one.planned) for one in told][-1] == (2, 2, 2)


def test_warnings_become_two_sentences():
    fits = [made(0, 0.0, end=End.OUT_OF_TIME, unsettled=True), made(1, 0.0, unsettled=True), made(2, 0.0)]
    assert notes_of(fits) == [
        "2 of 3 fits were compared before they had converged: "
        "1 at their share of the time, 1 at their limit of iterations."
    ]
    odd = [made(n, 0.0, warnings=["Column 3 is constant.", f"{n} is odd."]) for n in range(3)]
    assert notes_of(odd) == ["3 of 3 fits warned, beside 3 other warnings: Column 3 is constant."]
    assert notes_of([made(0, 0.0)]) == []
