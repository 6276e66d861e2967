"""Cases: an estimator, a kind of input, and at most two settings."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.base import clone

from kernelfields import Parts, Run
from kernelfields.parameters import Parameterised

from . import data
from .inputs import KINDS, Given, Kind
from .learners import LEARNERS, Learner
from .settings import PART, Setting

TO_FIT = ("sample_weight", "dev", "labels", "groups", "X_unlabelled")
"""Options that are arguments of `fit`, not of the constructor."""
RUN = "run__"
"""What options that are settings of ``run`` begin with."""
NUMBERS = {"B-x": 0, "I-x": 1, "O": 2}


@dataclass(frozen=True)
class Case:
    """One combination; its text is what `python -m tests.matrix` runs again."""

    learner: Learner
    kind: Kind
    settings: tuple[Setting, ...] = ()

    def __str__(self) -> str:
        return " ".join([self.learner.name, self.kind.name, *map(str, self.settings)])

    @classmethod
    def read(cls, words: list[str]) -> Case:
        """Read what `str` writes."""
        learner = LEARNERS[words[0]]
        known = {str(setting): setting for setting in learner.settings}
        return cls(learner, KINDS[words[1]], tuple(known[word] for word in words[2:]))

    def parameters(self) -> dict[str, Any]:
        """Arguments of the constructor, all of them new."""
        accepted = self.learner.make._parameter_names()
        needed = {k: v for k, v in self.kind.settings.items() if k in accepted}
        if self.learner.values == "symbols" and self.kind.name == "tokens":
            needed = {}
        given = {s.option: s.make() for s in self.settings if s.option not in TO_FIT}
        parts = {name: given.pop(name) for name in [*given] if name.startswith(PART)}
        if parts:
            given["parts"] = Parts({name.removeprefix(PART): part for name, part in parts.items()})
        if self.to_fit().get("labels") == "none":
            given["n_states"] = 3
        run = {name.removeprefix(RUN): given.pop(name) for name in list(given) if name.startswith(RUN)}
        if run:
            given["run"] = Run(**run)
        result = {**self.learner.base, **needed, **given}
        return {name: self._linked(value) for name, value in result.items()} if self.kind.links else result

    def _linked(self, value: Any) -> Any:
        """Return a model within a model as one of trees or graphs, if it can be one."""
        inside = isinstance(value, Parameterised) and "structure" in value._parameter_names()
        return clone(value).set_params(structure=self.kind.settings["structure"]) if inside else value

    def make(self) -> Any:
        """Give the estimator, not fitted."""
        return self.learner.make(**self.parameters())

    def to_fit(self) -> dict[str, Any]:
        """Settings that are arguments of `fit`."""
        return {s.option: s.make() for s in self.settings if s.option in TO_FIT}

    def given(self, sample: data.Sample) -> Given:
        """Give sequences in the form of this case."""
        return self.kind.given([_numbers(counts, self.learner.values) for counts in sample.counts])

    def training(self) -> dict[str, Any]:
        """Give all arguments of `fit`, new ones."""
        chosen, sample = self.to_fit(), data.training()
        given = self.given(sample)
        result: dict[str, Any] = {"X": given.X, "y": _labels(sample.labels, chosen.get("labels"))}
        if result["y"] is None:
            del result["y"]
        rows = "lengths" not in self.learner.fit_parameters
        if given.lengths is not None and not rows:
            result["lengths"] = given.lengths
        elif given.lengths is not None and "y" in result:
            known = zip(result["y"], given.lengths, strict=True)
            result["y"] = [k for labels, n in known for k in ([None] * n if labels is None else labels)]
        if "sample_weight" in chosen:
            weights = np.linspace(0.5, 2.0, len(sample.labels))
            if chosen["sample_weight"] == "zeros":
                weights[::3] = 0.0
            by_row = rows and given.lengths is not None
            result["sample_weight"] = np.repeat(weights, given.lengths) if by_row else weights
        listed = Kind(**{**vars(self.kind), "flat": False})
        if "dev" in chosen:
            held_out = [_numbers(counts, self.learner.values) for counts in data.held_out().counts]
            result["X_dev"] = listed.given(held_out).X
            result["y_dev"] = _labels(data.held_out().labels, chosen.get("labels"), gaps=False)
        if "X_unlabelled" in chosen:
            others = [_numbers(counts, self.learner.values) for counts in data.held_out().counts]
            result["X_unlabelled"] = (self.kind if rows else listed).given(others).X
        if "groups" in chosen:
            result["groups"] = [s // 2 for s in range(len(sample.labels))]
        return result


def _numbers(counts: Any, values: str) -> Any:
    """Counts as the numbers that an estimator learns from."""
    if values == "symbols":
        return np.asarray(counts[:, :1], dtype=np.float64)
    scale = {"fractions": counts / 4, "counts": counts, "binary": counts > 0}
    return scale[values].astype(np.float64)


def _labels(labels: list[list[str]], form: str | None, gaps: bool = True) -> Any:
    if form == "none":
        return None
    if form == "numbers":
        return [np.array([NUMBERS[label] for label in one]) for one in labels]
    if form == "whole" and gaps:
        return [None if s == 2 else list(one) for s, one in enumerate(labels)]
    if form == "missing" and gaps:
        return [[None if (s, t) == (2, 1) else one for t, one in enumerate(y)] for s, y in enumerate(labels)]
    return [list(one) for one in labels]


def all_cases(learner: Learner) -> Iterator[Case]:
    """Every kind of input without settings, with each of them, and with each pair."""
    for settings in combined(learner):
        for kind in KINDS.values():
            yield Case(learner, kind, settings)


def combined(learner: Learner) -> list[tuple[Setting, ...]]:
    """No setting, each, and each pair of different options."""
    pairs = [(a, b) for a, b in combinations(learner.settings, 2) if a.option != b.option]
    return [(), *((setting,) for setting in learner.settings), *pairs]


def sampled(learner: Learner, count: int, seed: int) -> list[Case]:
    """Some cases, the same every time: kinds in turn, settings by chance."""
    chance = random.Random(f"{learner.name} {seed}")
    kinds = chance.sample(list(KINDS.values()), len(KINDS))
    settings = combined(learner)
    return [Case(learner, kinds[k % len(kinds)], chance.choice(settings)) for k in range(count)]
