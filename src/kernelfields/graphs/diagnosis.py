"""Whether a graph knows anything about labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..arrays import Array
from ..checks import is_list, require_whole
from ..errors import InputError, warn_user
from ..missing import is_missing
from .adjacency import Adjacency, read_adjacency
from .permutations import PermutationTest, agreement_test
from .sparse_graph import SparseGraph

ENOUGH = 0.9
"""Share of the labelled vertices that must be near another one."""

FARTHEST = 8
"""Steps within which others are sought at most."""

LARGEST = 10**7
"""Entries up to which the vertices that are some steps away are listed."""

LEVEL = 0.05
"""p-value up to which agreement is more than chance."""

FEW_PAIRS = 20
"""Pairs below which there is nothing to be said about chance."""


@dataclass(frozen=True)
class Diagnosis:
    """How much a graph knows about labels: how often labelled vertices that are close to each other agree.

    Vertices are close if they are neighbours or, where hardly two labelled ones are, if a random walk leads
    from one to the other in ``steps`` steps, which is the weight of a pair. Chance is any other order of
    the same labels.
    """

    n_labelled: int
    """Labelled vertices."""
    n_pairs: int
    """Pairs of them that are close to each other."""
    steps: int
    """How many steps close is; 1 for neighbours, 0 for pairs of a graph kernel."""
    n_unreached: int
    """Vertices from which no path leads to a label."""
    test: PermutationTest
    """Agreement, and that of other orders."""

    @property
    def equal_share(self) -> float:
        """Share of close pairs with equal labels, by weight."""
        return self.test.observed.equal

    @property
    def rayleigh(self) -> float:
        """Σ_l z_lᵀ(D − W)z_l / Σ_l z_lᵀ D z_l of the centred indicators z of labels over close pairs W.

        0 if labels are constant on components, about 1 if they are as good as drawn by lot.
        """
        return self.test.observed.rayleigh

    @property
    def p_value(self) -> float:
        """The larger p-value of the two: how often chance is as good."""
        return max(self.test.p_equal, self.test.p_rayleigh)

    @property
    def informative(self) -> bool:
        """Whether labels agree more than by chance, at a level of 5 %."""
        return self.p_value <= LEVEL

    def __str__(self) -> str:
        """Say it in sentences."""
        if not self.n_pairs:
            return f"No two of the {self.n_labelled} labelled vertices are close: nothing is known."
        close = f"vertices {self.steps} steps apart" if self.steps else "observations, by closeness,"
        close = "neighbours" if self.steps == 1 else close
        how = "all orders" if self.test.exact else f"{self.test.orders} orders"
        verdict = (
            "The graph knows about labels"
            if self.informative
            else "The graph carries no information about labels that can be told from chance"
        )
        chance = self.test.by_chance
        unreached = f"; {self.n_unreached} vertices have no path to a label" if self.n_unreached else ""
        return (
            f"{verdict} (p = {self.p_value:.2g}, {how} of {self.n_labelled} labels): {self.equal_share:.0%} "
            f"of {self.n_pairs} pairs of labelled {close} have equal labels, {chance.equal:.0%} by chance; "
            f"Rayleigh quotient {self.rayleigh:.2f}, {chance.rayleigh:.2f} by chance{unreached}."
        )

    def __repr__(self) -> str:
        """Show the same in angle brackets."""
        return f"<Diagnosis: {self}>"


def diagnose(graph: Any, labels: Any, *, permutations: int = 999, random_state: int = 0) -> Diagnosis:
    """Tell whether a graph carries information about labels, from those that are known.

    Parameters
    ----------
    graph : SparseGraph, or (N, N) sparse matrix or array
        The graph, such as ``NeighborGraph().on(X)``, or its weights.
    labels : (n,) sequence
        Labels of the observations that the graph was made of, any hashable objects; None, NaN or the number
        −1 where there is none. Of observations that are one vertex the most frequent label counts.
    permutations : int
        Orders of the labels that are drawn; where there are at most 20,000, all are looked at instead.
    random_state : int
        Seed of the orders.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelfields.graphs import NeighborGraph, diagnose
    >>> X = np.concatenate([np.arange(8), 20 + np.arange(8)])[:, None].astype(float)
    >>> labels = ["A", "A", None, "A", "A", None, "A", "A", "B", "B", None, "B", None, "B", "B", "B"]
    >>> found = diagnose(NeighborGraph(n_neighbors=2).on(X), labels)
    >>> found.equal_share, found.informative
    (1.0, True)
    """
    require_whole("permutations", permutations)
    random = np.random.default_rng(require_whole("random_state", random_state, 0))
    adjacency, inverse = _graph(graph)
    codes = _codes(labels, len(inverse))
    vertices, codes = _by_vertex(inverse, codes)
    n_labels = len(np.unique(codes))
    if n_labels < 2:
        raise InputError(f"A diagnosis needs two labels or more, −1 being none; {n_labels} were observed.")
    pairs, steps = close_pairs(adjacency, vertices)
    unreached = int(np.count_nonzero(~adjacency.reached(vertices)))
    test = agreement_test(pairs, codes, permutations, random)
    return Diagnosis(len(vertices), pairs.nnz // 2, steps, unreached, test)


def warn_of_uninformative(found: Diagnosis) -> None:
    """Warn of a graph whose labelled vertices agree no more than by chance, if there are pairs enough."""
    if found.n_pairs >= FEW_PAIRS and not found.informative:
        warn_user(f"{found} A model without the graph is likely to be as good.", UserWarning)


def close_pairs(graph: Adjacency, vertices: Array) -> tuple[Any, int]:
    """Return weights W = A (D⁻¹ A)ᵗ⁻¹ between some vertices without a diagonal, and the number t of steps.

    t is the first for which nearly all of them are close to another.
    """
    degrees = np.asarray(graph.matrix.sum(axis=1), dtype=np.float64).ravel()
    inverse = sparse.diags(np.divide(1.0, degrees, out=np.zeros_like(degrees), where=degrees > 0))
    matrix = sparse.csr_matrix((graph.matrix + graph.matrix.T) / 2) if not graph.symmetric else graph.matrix
    half = other = matrix[vertices]
    best, steps = _without_diagonal(half[:, vertices]), 1
    while _share_with_partner(best) < ENOUGH and steps < FARTHEST:
        # the walks meet in the middle, where both have seen few vertices
        if steps % 2:
            found = half @ inverse @ half.T
        else:
            other, half = half, half @ inverse @ matrix
            found = half @ inverse @ other.T
        if half.nnz + found.nnz > LARGEST:
            break
        best, steps = _without_diagonal(found), steps + 1
    return best, steps


def _share_with_partner(pairs: Any) -> float:
    return float(np.mean(np.diff(pairs.indptr) > 0)) if pairs.shape[0] else 1.0


def _without_diagonal(pairs: Any) -> Any:
    entries = sparse.coo_matrix(pairs)
    kept = (entries.row != entries.col) & (entries.data > 0)
    return sparse.csr_matrix((entries.data[kept], (entries.row[kept], entries.col[kept])), pairs.shape)


def _graph(graph: Any) -> tuple[Adjacency, Array]:
    """Return weights, and the vertex of every observation."""
    if isinstance(graph, SparseGraph):
        return Adjacency.undirected(graph.adjacency), graph.inverse
    adjacency = read_adjacency(graph)
    return adjacency, np.arange(adjacency.n_vertices)


def _codes(labels: Any, count: int) -> Array:
    """Return labels as numbers in order of appearance, −1 where there is none."""
    if not is_list(labels):
        raise InputError("labels must be a sequence with one label, or None, per observation.")
    given = labels.tolist() if hasattr(labels, "tolist") else list(labels)
    if len(given) != count:
        raise InputError(f"The graph is over {count} observations, but there are {len(given)} labels.")
    known: dict[Any, int] = {}
    return np.array([-1 if _unlabelled(one) else known.setdefault(one, len(known)) for one in given], int)


def _unlabelled(label: Any) -> bool:
    return is_missing(label) or (label == -1 and not isinstance(label, str))


def _by_vertex(inverse: Array, codes: Array) -> tuple[Array, Array]:
    """Return the labelled vertices, and the most frequent label of each."""
    known = codes >= 0
    width = int(codes.max(initial=0)) + 1
    pairs, counts = np.unique(inverse[known] * width + codes[known], return_counts=True)
    order = np.lexsort((-counts, pairs // width))
    vertices, first = np.unique(pairs[order] // width, return_index=True)
    return vertices, pairs[order][first] % width
