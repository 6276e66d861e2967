"""Reads the messages of a training, one after the other, into records."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

_NUMBER = r"(\d+\.\d+)"
_FIELDS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "Loss": ("loss", float),
    "Feature norm": ("feature_norm", float),
    "Error norm": ("error_norm", float),
    "Active features": ("active_features", int),
    "Line search trials": ("linesearch_trials", int),
    "Line search step": ("linesearch_step", float),
    "Seconds required for this iteration": ("time", float),
}
_HEADING = re.compile(r"\*{5} (?:Iteration|Epoch) #(\d+) \*{5}\n")
_FIELD = re.compile(r"([A-Z][\w ]+): (\d+(?:\.\d+)?)")
_MACRO = re.compile(rf"Macro-average precision, recall, F1: \({_NUMBER}, {_NUMBER}, {_NUMBER}\)")
_ACCURACY = re.compile(r"(Item|Instance) accuracy: (\d+) / (\d+)")
_LABEL = re.compile(
    rf"\s{{4}}(.+): \((\d+), (\d+), (\d+)\) \((?:{_NUMBER}, {_NUMBER}, {_NUMBER}|\*{{6}}, \*{{6}}, \*{{6}})\)"
)
_SECONDS = re.compile(rf"Seconds required: {_NUMBER}")
_TOTAL = re.compile(rf"Total seconds required for training: {_NUMBER}")
_FEATURES = re.compile(r"Number of features: (\d+)")
PERCENT_PER_MARK = 2


class LabelScore(NamedTuple):
    """What became of one label in held-out sequences; None where it does not occur."""

    match: int
    model: int
    ref: int
    precision: float | None
    recall: float | None
    f1: float | None


class TrainLogParser:
    """The messages of one training: an event for every part of it, a dictionary for every iteration.

    Attributes
    ----------
    iterations : list of dict
        ``num``, ``loss``, ``feature_norm``, ``error_norm``, ``active_features``, ``linesearch_trials``,
        ``linesearch_step``, ``time`` as far as the algorithm says so; with held-out sequences
        ``scores`` by label, ``avg_precision``, ``avg_recall``, ``avg_f1``, ``item_accuracy`` and
        ``instance_accuracy``, both also with ``_float``.
    last_iteration : dict or None
        The last of them.
    events : list of (name, start, end)
        Parts of ``log`` that belong together.
    """

    def __init__(self) -> None:
        self.state: str | None = None
        self.featgen_percent = -PERCENT_PER_MARK
        self.featgen_num_features: int | None = None
        self.featgen_seconds: float | None = None
        self.training_seconds: float | None = None
        self.storing_seconds: float | None = None
        self.iterations: list[dict[str, Any]] = []
        self.last_iteration: dict[str, Any] | None = None
        self.log: list[str] = []
        self.events: list[tuple[str, int, int]] = []

    def feed(self, line: str) -> str | None:
        """Take a message; return the event that it completes, if it does."""
        self.log.append(line)
        if self.state is None:
            self.state = "FEATGEN" if line.startswith("Feature generation") else "STARTING"
            self.events.append(("start", 0, 1))
            return "start"
        event = self._READERS[self.state](self, line)
        if event is not None:
            before = event in ("prepared", "optimization_end")  # the line belongs to what comes next
            self.events.append((event, self.events[-1][2], len(self.log) - before))
        return event

    @property
    def last_log(self) -> str:
        """The messages of the last event."""
        _, start, end = self.events[-1]
        return "".join(self.log[start:end])

    def _starting(self, line: str) -> str | None:
        if line.startswith("Feature generation"):
            self.state = "FEATGEN"
        return None

    def _generating(self, line: str) -> str | None:
        if line in "0123456789.10":
            self.featgen_percent += PERCENT_PER_MARK
            return "featgen_progress"
        if found := _FEATURES.match(line):
            self.featgen_num_features = int(found.group(1))
        if found := _SECONDS.match(line):
            self.featgen_seconds = float(found.group(1))
            self.state = "AFTER_FEATGEN"
            return "featgen_end"
        return None

    def _preparing(self, line: str) -> str | None:
        if _HEADING.match(line):
            self.state = "ITERATION"
            self._iterating(line)
            return "prepared"
        if "terminated with error" in line:
            self.state = "AFTER_ITERATION"
            return "prepare_error"
        return None

    def _iterating(self, line: str) -> str | None:
        if found := _HEADING.match(line):
            self.last_iteration = {"num": int(found.group(1)), "scores": {}}
            self.iterations.append(self.last_iteration)
        elif line == "\n":
            self.state = "AFTER_ITERATION"
            return "iteration"
        assert self.last_iteration is not None
        _read_fields(line, self.last_iteration)
        return None

    def _iterated(self, line: str) -> str | None:
        if _HEADING.match(line):
            self.state = "ITERATION"
            return self._iterating(line)
        if found := _TOTAL.match(line):
            self.training_seconds = float(found.group(1))
        if line.startswith("Storing the model"):
            self.state = "STORING"
            return "optimization_end"
        return None

    def _storing(self, line: str) -> str | None:
        if line == "\n":
            return "end"
        if found := _SECONDS.match(line):
            self.storing_seconds = float(found.group(1))
        return None

    _READERS: ClassVar[dict[str, Callable[[Any, str], str | None]]] = {
        "STARTING": _starting,
        "FEATGEN": _generating,
        "AFTER_FEATGEN": _preparing,
        "ITERATION": _iterating,
        "AFTER_ITERATION": _iterated,
        "STORING": _storing,
    }


def _read_fields(line: str, into: dict[str, Any]) -> None:
    """Add what a line of an iteration says."""
    if (found := _FIELD.match(line)) and found.group(1) in _FIELDS:
        name, read = _FIELDS[found.group(1)]
        into[name] = read(found.group(2))
    if found := _MACRO.match(line):
        names = ("avg_precision", "avg_recall", "avg_f1")
        into.update(zip(names, map(float, found.groups()), strict=True))
    if found := _ACCURACY.match(line):
        share = Fraction(int(found.group(2)), int(found.group(3)))
        name = f"{found.group(1).lower()}_accuracy"
        into.update({name: share, f"{name}_float": float(share)})
    if found := _LABEL.match(line):
        counts = [int(text) for text in found.group(2, 3, 4)]
        scores = [None if text is None else float(text) for text in found.group(5, 6, 7)]
        if scores[0] is not None or not any(counts):  # as python-crfsuite: none for a label made up
            into["scores"][found.group(1)] = LabelScore(*counts, *scores)
