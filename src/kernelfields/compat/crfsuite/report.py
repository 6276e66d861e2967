"""What CRFsuite says while it trains: one message per line, as its users' log parsers expect it."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from ...arrays import Array
from .training_set import HoldoutGroup

Say = Callable[[str], None]


class Clock:
    """Seconds since it was last asked."""

    def __init__(self) -> None:
        self._last = time.perf_counter()

    def lap(self) -> float:
        """Return them."""
        last, self._last = self._last, time.perf_counter()
        return self._last - last


class Report:
    """Writes the lines of iterations.

    Parameters
    ----------
    say : callable
        Takes one message.
    labels : list of str
        Names of the labels.
    held_out : HoldoutGroup, optional
        Sequences to evaluate after every iteration.
    """

    def __init__(self, say: Say, labels: list[str], held_out: HoldoutGroup | None) -> None:
        self.say = say
        self.labels = labels
        self.held_out = held_out
        self._clock = Clock()
        self._started = time.perf_counter()

    def lines(self, *lines: str) -> None:
        """Say some lines."""
        for line in lines:
            self.say(line + "\n")

    def settings(self, title: str, **values: float | int | str) -> None:
        """Say what is about to be done; names have dots instead of double underscores."""
        self.lines(title)
        for name, value in values.items():
            text = f"{value:f}" if isinstance(value, float) else str(value)
            self.lines(f"{name.replace('__', '.')}: {text}")
        self.lines("")
        self._clock.lap()

    def iteration(self, heading: str, lines: list[str], element: Array) -> None:
        """Say what an iteration has led to, and what that is worth on held-out sequences."""
        self.lines(heading, *lines, f"Seconds required for this iteration: {self._clock.lap():.3f}")
        if self.held_out is not None:
            self._evaluate(self.held_out, element)
        self.lines("")

    def end(self) -> None:
        """Say how long it took."""
        self.lines(f"Total seconds required for training: {time.perf_counter() - self._started:.3f}", "")

    def _evaluate(self, held_out: HoldoutGroup, element: Array) -> None:
        L, truth = len(self.labels), held_out.data.labels
        tags = held_out.tags(element)
        right = tags == truth
        match, model, ref = (np.bincount(counted, minlength=L) for counted in (truth[right], tags, truth))
        known = ref > 0
        precision = np.where(known, match / np.maximum(model, 1), 0.0)
        recall = match / np.maximum(ref, 1)
        f1 = 2 * precision * recall / np.maximum(precision + recall, np.finfo(float).tiny)
        self.lines("Performance by label (#match, #model, #ref) (precision, recall, F1):")
        for k, label in enumerate(self.labels):
            scores = (
                f"{precision[k]:.4f}, {recall[k]:.4f}, {f1[k]:.4f}" if known[k] else "******, ******, ******"
            )
            self.lines(f"    {label}: ({match[k]}, {model[k]}, {ref[k]}) ({scores})")
        means = ", ".join(f"{values.mean():f}" for values in (precision, recall, f1))
        wrong = np.add.reduceat(np.append(~right, False), held_out.data.offsets[:-1])
        whole = int((np.where(held_out.data.lengths > 0, wrong, 0) == 0).sum())
        self.lines(
            f"Macro-average precision, recall, F1: ({means})",
            f"Item accuracy: {right.sum()} / {len(truth)} ({_share(right.sum(), len(truth))})",
            f"Instance accuracy: {whole} / {len(wrong)} ({_share(whole, len(wrong))})",
        )


def _share(part: int, whole: int) -> str:
    return f"{part / whole if whole else 0:.4f}"
