"""Labels below each other: one that applies implies those above it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from ..checks import is_list, require_unmasked, shown
from ..errors import InputError
from ._label_graphs_base import LabelGraph, Pairs, Rows, number_of


@dataclass(frozen=True)
class Hierarchy(LabelGraph):
    """Rows with labels of a hierarchy: one that applies implies its parent, and all above it.

    X is an (n, D) array, y an (n, K) array of 0 and 1 in which no label applies without its parent, and so
    are predictions; everything else is as in `MultiLabel`. Exact, in time proportional to K.

    Parameters
    ----------
    parents : mapping or list
        The parent of each label that has one, by names of columns of y or by numbers; or the number of
        every label's parent, −1 for none.
    inference : "exact" or settings of another way
        How to sum over labellings, as in `Graph`.
    names, pairs : tuple, optional
        Names of labels, and pairs of parents and children; estimators fill them in.
    """

    parents: Any

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        super().__post_init__()
        if not isinstance(self.parents, Mapping) and not is_list(self.parents):
            raise InputError(f"parents is {shown(self.parents)}; it must be a mapping or a list of numbers.")
        require_unmasked(self.parents, "parents", "write −1 for labels that have none")

    @property
    def forbidden_pairs(self) -> tuple[tuple[Hashable, Hashable], ...]:
        """A child that applies below a parent that does not."""
        if self.names is None or self.pairs is None:
            return ()
        return tuple(((self.names[p], 0), (self.names[k], 1)) for p, k in self.pairs)

    def _pairs(self, names: tuple[Hashable, ...], rows: Rows) -> Pairs:
        if isinstance(self.parents, Mapping):
            given = list(self.parents.items())
        else:
            if len(self.parents) != len(names):
                raise InputError(f"parents has {len(self.parents)} numbers for {len(names)} labels.")
            given = [(k, parent) for k, parent in enumerate(self.parents) if parent != -1]
        pairs = [(_required(parent, names), _required(child, names)) for child, parent in given]
        _require_no_cycle({child: parent for parent, child in pairs}, names)
        return tuple(sorted(pairs))


def _required(label: Any, names: tuple[Hashable, ...]) -> int:
    number = number_of(label, names)
    if number is None:
        raise InputError(f"parents has {shown(label)}, which is none of the {len(names)} labels.")
    return number


def _require_no_cycle(parents: Mapping[int, int], names: tuple[Hashable, ...]) -> None:
    for start in parents:
        above, steps = parents.get(start), 0
        while above is not None and steps <= len(names):
            if above == start:
                raise InputError(f"parents make {shown(names[start])} its own ancestor.")
            above, steps = parents.get(above), steps + 1
