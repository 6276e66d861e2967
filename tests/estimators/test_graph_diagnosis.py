"""Fits with graph kernels warn where the graph knows nothing about labels, and are silent elsewhere."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from kernelfields import KernelCRF, KernelLogisticRegression
from kernelfields.estimators._kernel_model import spectral_kernels
from kernelfields.graphs import NeighborGraph
from kernelfields.kernels import RBF, GraphKernel, Scaled

RNG = np.random.default_rng(0)
X = [RNG.normal(size=(6, 2)) for _ in range(30)]
TOLD = [["left" if row[0] < 0 else "right" for row in x] for x in X]
LOTS = [RNG.permutation(["left", "right"] * 3).tolist() for _ in X]
GRAPH = GraphKernel(NeighborGraph(6), n_eigenpairs=20)


@pytest.mark.parametrize("kernel", [GRAPH, RBF() + 0.5 * GRAPH, [RBF(), GRAPH]], ids=["one", "sum", "list"])
def test_labels_by_lot_are_warned_of(kernel) -> None:
    with pytest.warns(UserWarning, match="no information about labels that can be told from chance"):
        KernelCRF(kernel).fit(X, LOTS)
    KernelCRF(kernel).fit(X, TOLD)  # warnings are errors here


def test_a_warning_changes_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = KernelLogisticRegression(GRAPH).fit(np.concatenate(X), np.concatenate(LOTS))
    assert model.predict(np.concatenate(X)).shape == (180,)


def test_few_labels_say_nothing_about_chance() -> None:
    labels = [LOTS[0], *[[None] * 6 for _ in X[1:]]]
    KernelCRF(GRAPH).fit(X, labels)
    KernelCRF("rbf").fit(X[:3], LOTS[:3])


def test_graph_kernels_are_found_wherever_they_are() -> None:
    settled = GRAPH.on(np.concatenate(X))
    found = list(spectral_kernels([RBF(), Scaled(settled, 2.0), {"a": settled, "b": settled}]))
    assert found == [settled, settled]
