"""Races: many contestants at first, fewer and fewer as held-out data speak, until the time is up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from .bounded import End
from .clock import BudgetClock

LEAST_SECONDS = 0.2
"""Time that any fit gets."""


class RaceAttempt(NamedTuple):
    """One contestant on one split of the data."""

    contestant: int
    value: float
    """What it is worth, summed over held-out positions; more is better."""
    weight: float
    """Held-out positions."""
    seconds: float
    end: End
    warnings: list[str]
    unsettled: bool
    detail: Any = None
    """What those who race want to keep."""


class RaceProgress(NamedTuple):
    """Where a race is, after an attempt."""

    tried: int
    """Fits so far."""
    planned: int
    """Fits of this round."""
    done: int
    """Of them, those that are over."""
    round: int
    """Counted from 1."""
    rounds: int
    contestant: int
    """The last one to run."""
    best: int
    """The best in this round, or in the one before if nobody has finished."""
    mean: float
    """What the best is worth per position."""
    left: float
    """Seconds of the budget."""


class RaceResult(NamedTuple):
    """How a race ended."""

    order: list[int]
    """Those who took part in the last complete round, best first, then those sorted out before, latest first.
    """
    attempts: list[dict[int, RaceAttempt]]
    """Of every round, by contestant."""
    complete: int
    """Rounds that all who were left have finished."""
    interrupted: bool
    """By Ctrl-C."""
    out_of_time: bool

    @property
    def fits(self) -> list[RaceAttempt]:
        """All attempts."""
        return [one for each in self.attempts for one in each.values()]

    def rounds_of(self, contestant: int) -> list[RaceAttempt]:
        """Return the attempts of one contestant."""
        return [each[contestant] for each in self.attempts if contestant in each]


Rounds = list[dict[int, RaceAttempt]]
"""Attempts of every round, by contestant."""
Keep = Callable[[list[int], list[dict[int, RaceAttempt]], BudgetClock, int], list[int]]
"""From contestants, best first, attempts so far, the clock and rounds to go to those who stay."""
Run = Callable[[list[int], int, Callable[[], float]], Iterator[RaceAttempt]]
"""From contestants, the number of a round and the time of the next fit to attempts, one by one."""


def halved(
    ranked: list[int], attempts: list[dict[int, RaceAttempt]], clock: BudgetClock, rounds: int
) -> list[int]:
    """Return the better half; two of them meet in all rounds."""
    return ranked[: max((len(ranked) + 1) // 2, 2)]


def affordable(
    ranked: list[int], attempts: list[dict[int, RaceAttempt]], clock: BudgetClock, rounds: int
) -> list[int]:
    """Return all of them if the time is likely to suffice; else as many of the best, at least two."""
    kept: list[int] = []
    cost = 0.0
    for contestant in ranked:
        times = [each[contestant].seconds for each in attempts if contestant in each]
        cost += rounds * sum(times) / len(times)
        if cost <= clock.left or len(kept) < 2:
            kept.append(contestant)
    return kept


class Race:
    """A race in rounds; after each of them some contestants are sorted out.

    Parameters
    ----------
    contestants : list of int
        Who takes part.
    rounds : int
        Splits of the data, in order; a first one may be a scouting round that does not count.
    scouting : bool
        Whether the first round only sorts out, on fewer data.
    clock : BudgetClock
        The budget; an attempt that has begun is counted.
    keep : callable
        Who goes on to the next round.
    look : callable
        Is told of every attempt.
    """

    def __init__(
        self,
        contestants: Sequence[int],
        rounds: int,
        scouting: bool,
        clock: BudgetClock,
        keep: Keep,
        look: Callable[[RaceProgress], None],
    ) -> None:
        self.alive, self.rounds, self.scouting = list(contestants), rounds, scouting
        self.clock, self.keep, self.look = clock, keep, look
        self.attempts: list[dict[int, RaceAttempt]] = []
        self.dropped: list[int] = []
        self.complete = 0
        self.best: int | None = None

    def run(self, attempt: Run) -> RaceResult:
        """Run all rounds; Ctrl-C or the end of the time leaves those that are complete."""
        interrupted = False
        try:
            for number in range(self.rounds):
                if not self._round(number, attempt):
                    break
                if number + 1 < self.rounds:
                    self._sort_out(self.rounds - number - 1)
        except KeyboardInterrupt:
            if not any(self.attempts):
                raise
            interrupted = True
        over = not interrupted and self.complete < self.rounds
        return RaceResult(self._order(), self.attempts, self.complete, interrupted, over)

    def _round(self, number: int, attempt: Run) -> bool:
        """Run one round; return whether everybody finished it."""
        found: dict[int, RaceAttempt] = {}
        self.attempts.append(found)
        for one in attempt(self.alive, number, self._seconds):
            if one.end is End.INTERRUPTED:
                if not any(self.attempts):
                    found[one.contestant] = one
                raise KeyboardInterrupt
            found[one.contestant] = one
            self._tell(one)
            if self.clock.left == 0 and len(found) < len(self.alive):
                return False
        self.complete += 1
        return True

    def _seconds(self) -> float:
        """Return the time of the next fit: twice its share of what is left, as most need less."""
        to_go = len(self.alive) - len(self.attempts[-1])
        return max(2 * self.clock.left / (to_go + len(self.alive) / 2 + 1), LEAST_SECONDS)

    def _tell(self, one: RaceAttempt) -> None:
        best = self._ranked(len(self.attempts))[0]
        tried = sum(map(len, self.attempts))
        done, planned, number = len(self.attempts[-1]), len(self.alive), len(self.attempts)
        left = self.clock.left
        self.look(
            RaceProgress(
                tried, planned, done, number, self.rounds, one.contestant, best, self.mean(best, number), left
            )
        )

    def _sort_out(self, rounds: int) -> None:
        ranked = self._ranked(len(self.attempts))
        kept = self.keep(ranked, self.attempts, self.clock, rounds)
        self.dropped = [*(one for one in ranked if one not in kept), *self.dropped]
        self.alive = [one for one in self.alive if one in kept]

    def _ranked(self, rounds: int) -> list[int]:
        """Return who has an attempt in the last of some rounds, best first."""
        there = [one for one in self.alive if one in self.attempts[rounds - 1]]
        return sorted(there, key=lambda one: -self.mean(one, rounds))

    def _order(self) -> list[int]:
        last = self._ranked(max(self.complete, 1))
        rest = [one for one in self.alive if one not in last]
        return [*last, *self.dropped, *rest]

    def mean(self, contestant: int, rounds: int) -> float:
        """Return what a contestant is worth per position, in some rounds; the scouting round counts alone."""
        first = 1 if self.scouting and rounds > 1 else 0
        seen = [each[contestant] for each in self.attempts[first:rounds] if contestant in each]
        return sum(one.value for one in seen) / max(sum(one.weight for one in seen), 1.0)
