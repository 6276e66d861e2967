"""Rules: what they forbid, given the names of labels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..checks import require_whole
from ..errors import InputError
from ..memory import require_memory


class Forbidden(NamedTuple):
    """What a rule forbids among L labels; a labelling y is allowed unless one of these holds."""

    pairs: Array
    """(L, L) booleans: whether y_t = row, y_{t+1} = column is forbidden for every t."""
    starts: Array
    """(L,) booleans: whether y_1 = label is forbidden."""
    ends: Array
    """(L,) booleans: whether y_T = label is forbidden."""

    @classmethod
    def nothing(cls, n_labels: int) -> Forbidden:
        """Return masks that forbid nothing yet."""
        n_labels = require_whole("n_labels", n_labels, 0)
        require_memory(f"Masks for n_labels={n_labels}", n_labels**2)
        return cls(np.zeros((n_labels, n_labels), bool), np.zeros(n_labels, bool), np.zeros(n_labels, bool))

    def allows(self, path: Array) -> bool:
        """Return whether a sequence of label numbers breaks no rule."""
        if not len(path):
            return True
        broken = self.starts[path[0]] or self.ends[path[-1]] or self.pairs[path[:-1], path[1:]].any()
        return not broken


class BrokenRule(NamedTuple):
    """A place where labels break a rule."""

    sequence: int
    position: int
    label: Hashable
    before: Hashable | None
    """The label before it, if the two may not follow each other."""
    last: bool = False
    """Whether it may not come last; else, without a label before it, it may not come first."""

    def __str__(self) -> str:
        if self.before is not None:
            return f"{self.label} after {self.before}"
        return f"{self.label} at the {'end' if self.last else 'beginning'} of a sequence"


class Rule(ABC):
    """A rule about label sequences that looks at neighbouring pairs and at the two ends."""

    @abstractmethod
    def forbidden(self, names: Sequence[Hashable]) -> Forbidden:
        """Return what is forbidden, as masks over labels with these names."""

    def broken_by(self, labellings: Sequence[Sequence[Hashable]]) -> list[BrokenRule]:
        """Return where labellings break the rule, in their order; unobserved labels, None, break none."""
        names = [name for name in dict.fromkeys(chain.from_iterable(labellings)) if name is not None]
        masks, number = self.forbidden(names), {name: k for k, name in enumerate(names)}
        found = []
        for s, labels in enumerate(labellings):
            for t, label in enumerate(labels):
                if label is None:
                    continue
                before = labels[t - 1] if t else None
                if t == 0 and masks.starts[number[label]]:
                    found.append(BrokenRule(s, t, label, None))
                elif before is not None and masks.pairs[number[before], number[label]]:
                    found.append(BrokenRule(s, t, label, before))
                if t == len(labels) - 1 and masks.ends[number[label]]:
                    found.append(BrokenRule(s, t, label, None, last=True))
        return found

    def obeyed_by(self, labellings: Sequence[Sequence[Hashable]]) -> bool:
        """Return whether the rule knows all these labels, and no labelling breaks it."""
        names = list(dict.fromkeys(chain.from_iterable(labellings)))
        try:
            masks = self.forbidden(names)
        except InputError:
            return False
        number = {name: k for k, name in enumerate(names)}
        return all(masks.allows(np.array([number[label] for label in one], int)) for one in labellings)
