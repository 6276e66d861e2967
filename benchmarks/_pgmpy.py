"""pgmpy's belief propagation as one more rival, on machines that have it; nothing here installs it."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from kernelfields.structures import TreeBatch


def installed() -> bool:
    """Whether pgmpy can be imported."""
    return importlib.util.find_spec("pgmpy") is not None


def state() -> str:
    """One word for the report."""
    return "present" if installed() else "absent"


def calibrate(tree: TreeBatch, scores: dict[str, np.ndarray]) -> Callable[[], object]:
    """All clique beliefs of one tree by messages on its junction tree, which is built outside the clock."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own deprecated modules
        from pgmpy.inference import BeliefPropagation

        propagation = BeliefPropagation(_model(tree, scores))
    propagation.calibrate()
    _check(propagation.get_clique_beliefs(), tree, scores)
    return propagation.calibrate


def _model(tree: TreeBatch, scores: dict[str, np.ndarray]) -> Any:
    from pgmpy.factors.discrete import DiscreteFactor
    from pgmpy.models import DiscreteMarkovNetwork

    L = tree.n_labels
    edges = [(str(a), str(b)) for a, b in zip(tree.edge_tails, tree.edge_heads, strict=True)]
    model = DiscreteMarkovNetwork(edges)
    nodes = [DiscreteFactor([str(v)], [L], np.exp(scores["node"][v])) for v in range(tree.n_vertices)]
    pairs = [DiscreteFactor(list(edge), [L, L], np.exp(scores["edge"])) for edge in edges]
    model.add_factors(*nodes, *pairs)
    return model


def _check(beliefs: dict[Any, Any], tree: TreeBatch, scores: dict[str, np.ndarray]) -> None:
    """Refuse to time sides that disagree."""
    node = tree.marginals(scores).parts["node"]
    for clique, belief in beliefs.items():
        for name in clique:
            others = [other for other in clique if other != name]
            found = belief.marginalize(others, inplace=False).values
            np.testing.assert_allclose(found / found.sum(), node[int(name)], atol=1e-8)
