"""What parts of a model look at: a batch, its observations, and values that several parts have in common."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakValueDictionary

import numpy as np

from ...arrays import Array
from ...data.training import Observed
from ...observations import in_precision, stacked
from ...structures import StructureBatch
from ..views import FIRST, observations_of

if TYPE_CHECKING:
    from ...gram import Gram

Value = TypeVar("Value")


class SharedValues:
    """Values by keys, some of which are identities of objects: these are kept alive as long as the values.

    Gram matrices last as long as a space that has them: those of a search in single precision and of its
    certificate in double need not be there at the same time.
    """

    def __init__(self) -> None:
        self._kept: dict[Hashable, tuple[tuple[Any, ...], Any]] = {}
        self._grams: WeakValueDictionary[Hashable, Gram] = WeakValueDictionary()

    def once(self, make: Callable[[], Value], what: str, *of: Any) -> Value:
        """Return what was made before of the same objects, or make it."""
        key = (what, *(key_of(one) for one in of))
        if key not in self._kept:
            self._kept[key] = of, make()
        value: Value = self._kept[key][1]
        return value

    def gram(self, make: Callable[[], Gram], *of: Any) -> Gram:
        """Return the Gram matrix that another space has of the same objects, or make it."""
        key = tuple(key_of(one) for one in of)
        found = self._grams.get(key)
        if found is None:
            found = self._grams[key] = make()
        return found


def key_of(one: Any) -> Hashable:
    """Return the identity of an object, and texts as they are."""
    return one if isinstance(one, str) else id(one)


@dataclass(frozen=True)
class PartData:
    """A batch and what there is to see of it.

    Attributes
    ----------
    batch : StructureBatch
        With scores for every clique of the types that are looked at.
    features : array or sparse matrix
        Observations of vertices, or of answers where these are no vertices.
    pairs : Observed, optional
        The pairs of feature and label, and of neighbouring labels, that have weights; all if not given.
    unlabelled : tuple of PartData
        Data without labels, which kernels look at before they compare any.
    weights : (S,) array, optional
        How many times each instance counts; kernels do not look at those that count 0 times.
    memory_limit : int, optional
        Bytes that a Gram matrix may take.
    random : int, RandomState or None
        What draws a basis.
    fast : bool
        Whether sparse features of answers are prepared for many products.
    given : array or sparse matrix, optional
        Observations in the precision that they came in, by which kernels are checked: in single, wide ranges
        look like errors.
    as_weights : bool
        Whether functions of a kernel with few features may be learnt as weights of these.
    shared : SharedValues
        Kernels and their values, which several parts may have in common.
    """

    batch: StructureBatch
    features: Any
    pairs: Observed | None = None
    unlabelled: tuple[PartData, ...] = ()
    weights: Array | None = None
    memory_limit: int | None = None
    random: Any = None
    fast: bool = True
    given: Any = None
    as_weights: bool = False
    shared: SharedValues = field(default_factory=SharedValues, repr=False, compare=False)

    def cast(self, dtype: Any) -> PartData:
        """Return the same with observations in another precision."""
        return replace(self, features=in_precision(self.features, dtype))

    def seen(self, on: str, view: str) -> tuple[Any, Array | None]:
        """Return observations, and the row that every clique of a type sees; None for row by row."""
        return observations_of(self.batch, on, view, self.features)

    def looked_at(self, on: str, view: str) -> Any:
        """Return what a kernel looks at first: what cliques see, with labels and without.

        Vertices of instances of weight 0 are left out.
        """
        weights, (seen, rows) = self.weights, self.seen(on, view)
        if rows is not None and view != FIRST:
            seen = seen[rows]
        counted = weights is not None and np.count_nonzero(weights) > 0
        # first members are looked at where they are: among the vertices
        offsets = self.batch.cliques[self.batch.answer if view == FIRST else on].offsets
        if counted and seen.shape[0] == offsets[-1]:
            assert weights is not None
            seen = seen[np.repeat(weights != 0, np.diff(offsets))]
        return stacked([seen, *(one.looked_at(on, view) for one in self.unlabelled)])
