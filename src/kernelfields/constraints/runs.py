"""Labels that know their place in a run of equal ones."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import ClassVar, NamedTuple

import numpy as np

from ..arrays import Array
from ..checks import Check, Checked, whole
from ..errors import InputError
from ._base import Forbidden, Rule
from .merging import merged_marginals


class RunPlace(NamedTuple):
    """A label such as "0:2:H", taken apart."""

    before: int
    """Equal labels before it in its run, at most the depth."""
    after: int
    label: str


@dataclass(frozen=True)
class RunParts(Checked, Rule):
    """Labels split by their place in a run: how many equal ones come before and after, up to a depth.

    A helix begins, goes on and ends in different ways; a model of the parts sees that, and knows more about
    how long runs are. The model is trained with the split labels, and its probabilities are added up again.
    As a rule, it allows only places that follow from one another.

    Parameters
    ----------
    depth : int
        From how many on they are counted as that many. With 1, a label is split into first, inner, last and
        only; with 2 into nine parts.

    Examples
    --------
    >>> from kernelfields import KernelCRF
    >>> from kernelfields.constraints import RunParts
    >>> X, y = [[[0.0], [1.0], [1.2], [0.9]], [[1.1], [0.1]]], [["-", "H", "H", "H"], ["H", "-"]]
    >>> parts = RunParts(depth=1)
    >>> parts.split(y)[0]
    ['0:0:-', '0:1:H', '1:1:H', '1:0:H']
    >>> model = KernelCRF("rbf", constraints=parts).fit(X, parts.split(y))
    >>> probabilities, labels = parts.joined(model.predict_marginals(X), model.classes_)
    >>> labels, probabilities[0].shape
    (['-', 'H'], (4, 2))
    """

    depth: int = 1
    _checks: ClassVar[Mapping[str, Check]] = {"depth": whole(1, 100)}

    def split(self, sequences: Iterable[Sequence[Hashable]]) -> list[list[str]]:
        """Return label sequences with the place of every label before its name."""
        return [self._split(labels, s) for s, labels in enumerate(sequences)]

    def joined(
        self, marginals: Iterable[Array], classes: Iterable[Hashable]
    ) -> tuple[list[Array], list[str]]:
        """Return the probabilities of whole labels, sums over their parts, and the labels in order."""
        return merged_marginals(marginals, [self.place(name).label for name in classes])

    def forbidden(self, names: Sequence[Hashable]) -> Forbidden:
        """Return what is forbidden, as masks over split labels; other labels are refused."""
        places = [self.place(name) for name in names]
        pairs = [[not self._follows(one, other) for other in places] for one in places]
        shape = (len(places), len(places))
        return Forbidden(
            np.array(pairs, dtype=bool).reshape(shape),
            np.array([one.before > 0 for one in places], dtype=bool),
            np.array([one.after > 0 for one in places], dtype=bool),
        )

    def place(self, name: Hashable) -> RunPlace:
        """Return a split label taken apart; what is none is refused."""
        before, _, rest = name.partition(":") if isinstance(name, str) else ("", "", "")
        after, colon, label = rest.partition(":")
        if colon and all(one.isdecimal() and int(one) <= self.depth for one in (before, after)):
            return RunPlace(int(before), int(after), label)
        raise InputError(
            f"Label {name!r} has no place in a run of depth {self.depth}, such as '0:1:name'; "
            "split() writes them."
        )

    def _split(self, labels: Sequence[Hashable], s: int) -> list[str]:
        for t, label in enumerate(labels):
            if not isinstance(label, str):
                raise InputError(
                    f"Sequence {s}, position {t}: {label!r} is not a string; only those are split."
                )
        return [
            f"{min(t, self.depth)}:{min(length - 1 - t, self.depth)}:{label}"
            for label, length in ((label, len(list(run))) for label, run in groupby(labels))
            for t in range(length)
        ]

    def _follows(self, one: RunPlace, other: RunPlace) -> bool:
        """Return whether a place may stand before another."""
        if one.after == 0:
            return other.before == 0 and other.label != one.label
        left = {one.after - 1, one.after} if one.after == self.depth else {one.after - 1}
        return (
            other.label == one.label
            and other.before == min(one.before + 1, self.depth)
            and other.after in left
        )
