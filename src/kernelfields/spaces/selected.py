"""Selected coordinates on cliques of one type, or on vertices and label pairs at once."""

from __future__ import annotations

import numpy.typing as npt

from ..arrays import Array
from ..errors import UnsupportedError
from ..structures import LabelledBatch, Scores, StructureBatch
from ._base import Joint
from ._selected_base import SelectedFunctions
from .functions import Functions


class Selected(SelectedFunctions):
    """Functions h(x_c, y_c) = k(b, x_c) [y_c = σ] of cliques of one type.

    Parameters
    ----------
    structure : StructureBatch
        The batch; the cliques need scores of their own.
    clique : str
        The clique type.
    functions : Functions
        What was selected, with kernel values on n observations.
    rows : (C,) integers, optional
        Which of them each clique sees; that of its first member if not given.
    """

    def __init__(
        self, structure: StructureBatch, clique: str, functions: Functions, rows: Array | None = None
    ) -> None:
        self._set_up(structure, clique, functions, rows)

    def precise(self) -> Selected:
        """Return the same with products in double precision."""
        return Selected(self.structure, self.clique, self.functions.precise(), self.rows)

    def take(self, structure: StructureBatch, ids: npt.ArrayLike) -> Selected:
        """Return the same functions on some instances."""
        return Selected(structure, self.clique, *self._taken(ids))


class SelectedCliques(SelectedFunctions, Joint):
    """Functions of vertices and of label pairs together: Σ k(b, x_v) [y_v = σ] + κ Σ [(y_v, y_u) = pair].

    The coordinate of a position with a label and the next one acts on both [altun2004gp, Proposition 1].
    The inner product is that of the kernel k on vertices plus κ on label pairs: with the penalty λ, free
    scores V of label pairs cost (λ/2κ)‖V‖².

    Parameters
    ----------
    structure : LabelledBatch
        The batch, with shared edges.
    functions : Functions
        What was selected.
    rows : (N,) integers, optional
        Which observation each vertex has; the same, in order, if not given.
    """

    structure: LabelledBatch

    def __init__(self, structure: LabelledBatch, functions: Functions, rows: Array | None = None) -> None:
        if not structure.cliques["edge"].shared:
            raise UnsupportedError("Functions of label pairs without input need shared edges.")
        self._set_up(structure, "node", functions, rows)

    def feed(self, element: Array, into: Scores) -> None:
        """Add to the scores of vertices and of label pairs."""
        coefficients = self.functions.coefficients(element)
        self._add(coefficients, into["node"])
        pairs = self.functions.pair_scores(coefficients, self.structure.n_labels)
        into["edge"][...] += pairs.astype(into["edge"].dtype, copy=False)

    def represent(self, gradient: Scores) -> Array:
        """Return C⁻¹(K gradient)_S, vertices and pairs added up."""
        return self.functions.pulled(self._spread(gradient["node"]), gradient["edge"])

    def precise(self) -> SelectedCliques:
        """Return the same with products in double precision."""
        return SelectedCliques(self.structure, self.functions.precise(), self.rows)

    def take(self, structure: StructureBatch, ids: npt.ArrayLike) -> SelectedCliques:
        """Return the same functions on some instances."""
        assert isinstance(structure, LabelledBatch)
        return SelectedCliques(structure, *self._taken(ids))
