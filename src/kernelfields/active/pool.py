"""A pool of sequences of which some labels are known: what can be asked, and what is learnt from."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import chain, pairwise
from typing import Any

import numpy as np

from ..arrays import Array, offsets_of
from ..checks import as_list, is_list
from ..data.inputs import Inputs
from ..data.labels import read_outputs
from ..data.reading import linked
from ..errors import InputError
from ..structures import Structure
from ..tables import structure_of

Labels = list[list[Hashable]]


class LabelPool:
    """Sequences, trees or graphs with the labels that are known, None elsewhere.

    Positions are counted along the whole pool where arrays are flat; ``offsets`` says where each item starts.

    Parameters
    ----------
    structure : Structure
        What takes the links out of X and says how labels are written.
    X : list
        Items, as estimators take them.
    y : list, optional
        Their labels: None for an item, or for a position, of which none is known.
    """

    def __init__(self, structure: Structure, X: Any, y: Any = None) -> None:
        if not structure.labelling:
            raise InputError(f"{type(structure).__name__} labels no positions: there is nothing to ask for.")
        self.structure = structure
        self.X = _items(X)
        self._inputs = _shape_of(structure, self.X)
        self.labels: Labels = [[None] * n for n in np.diff(self.offsets).tolist()]
        if y is not None:
            self._read(y)

    @property
    def offsets(self) -> Array:
        """Item s owns the positions ``offsets[s]`` up to ``offsets[s + 1]``."""
        return self._inputs.offsets

    @property
    def open(self) -> Array:
        """Which positions have no label, over the whole pool."""
        return np.fromiter((label is None for label in chain.from_iterable(self.labels)), bool)

    @property
    def touched(self) -> list[int]:
        """The items of which a label is known."""
        return [s for s, known in enumerate(self.labels) if any(label is not None for label in known)]

    @property
    def n_labels(self) -> int:
        """How many labels are known."""
        return int((~self.open).sum())

    @property
    def classes(self) -> set[Hashable]:
        """Labels that occur."""
        return set(chain.from_iterable(self.labels)) - {None}

    def shaped(self, labels: Sequence[Sequence[Any]]) -> Any:
        """Return labels of all items as users of the structure write them."""
        return self.structure.shaped([list(one) for one in labels], self._inputs.links)

    def known(self, classes: Array | None = None) -> Any:
        """Return the labels as users write them; of those that are not among ``classes`` nothing is said."""
        among = None if classes is None else {None, *classes.tolist()}
        each = [[label if among is None or label in among else None for label in one] for one in self.labels]
        return self.shaped(each)

    def place(self, flat: int) -> tuple[int, int]:
        """Return the item and the place in it of a position of the whole pool."""
        s = int(np.searchsorted(self.offsets, flat, side="right")) - 1
        return s, int(flat - self.offsets[s])

    def per_item(self, values: Array) -> Array:
        """Add up the values of the open positions of every item."""
        total = np.concatenate([[0.0], np.cumsum(np.where(self.open, values, 0.0))])
        return np.diff(total[self.offsets])

    def pieces(self, values: Array) -> list[Array]:
        """Cut values of all positions into those of every item."""
        return [values[a:b] for a, b in pairwise(self.offsets.tolist())]

    def _read(self, y: Any) -> None:
        if not is_list(y):
            raise InputError("y must be a list of label sequences, None for those without a label.")
        if len(y) != len(self.X):
            raise InputError(f"X has {len(self.X)} {self.structure.words.items}, but y has {len(y)}.")
        blank = self.shaped(self.labels)
        y = [none if given is None else given for given, none in zip(y, blank, strict=True)]
        self.labels = read_outputs(self.structure, y, self._inputs)


def _items(X: Any) -> list[Any]:
    X = as_list(X)
    if not is_list(X) or len(X) == 0:
        raise InputError("X must be a list of at least one sequence, tree or graph.")
    return list(X)


def _shape_of(structure: Structure, X: list[Any]) -> Inputs:
    """Read everything of X but its features."""
    features, parts = structure.split(X)
    lengths = [one.shape[0] if hasattr(one, "shape") else len(one) for one in features]
    offsets = offsets_of(lengths)
    return linked(structure, Inputs(np.zeros((int(offsets[-1]), 1)), offsets, None), parts)


def structure_in(estimator: Any) -> Structure:
    """Return the structure that an estimator is to be fitted with, also if it is that of a part of it."""
    settings = estimator.get_params()
    for name in ("structure", "estimator__structure", "second__structure"):
        if settings.get(name) is not None:
            return structure_of(settings[name])
    return structure_of("chain")
