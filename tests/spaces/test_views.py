"""Views of cliques, and functions that see more than one vertex."""

import numpy as np
import pytest
from scipy import sparse

from kernelfields.gram import StoredGram
from kernelfields.kernels import RBF
from kernelfields.losses import LogLoss
from kernelfields.objective import Problem, Term
from kernelfields.solvers import LBFGS, Reason, Stop
from kernelfields.spaces import (
    Expansion,
    LinearFeatures,
    Pooled,
    SparseFeatures,
    concatenated,
    difference,
    mean,
    run_mean,
)
from kernelfields.testing import check_space
from tests._problems import small_chain, small_forest, small_labels, small_segments

X = np.array([[1.0, 2.0], [3.0, 5.0], [0.0, -1.0]])
MEMBERS = np.array([[0, 1], [2, 0], [-1, 1]])
BY_HAND = {
    concatenated: [[1, 2, 3, 5], [0, -1, 1, 2], [0, 0, 3, 5]],
    difference: [[2, 3], [1, 3], [3, 5]],
    mean: [[2, 3.5], [0.5, 0.5], [3, 5]],
}


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("view", BY_HAND, ids=lambda view: view.__name__)
def test_views_by_hand(view, dense):
    found = view(X if dense else sparse.csr_matrix(X), MEMBERS)
    assert sparse.issparse(found) is not dense
    np.testing.assert_array_equal(found if dense else found.toarray(), BY_HAND[view])


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("view", [*BY_HAND, run_mean], ids=lambda view: view.__name__)
def test_views_keep_the_precision(view, dense):
    rows = X.astype(np.float32)
    assert view(rows if dense else sparse.csr_matrix(rows), MEMBERS[:1]).dtype == np.float32


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_means_of_runs_by_hand(dense, dtype, rng):
    rows = rng.normal(size=(9, 3)).astype(dtype)
    members = np.array([[0, 0], [2, 5], [0, 8], [7, 8]])
    found = run_mean(rows if dense else sparse.csr_matrix(rows), members)
    assert found.dtype == dtype
    expected = [rows[a : b + 1].mean(axis=0, dtype=float) for a, b in members]
    np.testing.assert_allclose(
        found if dense else found.toarray(), expected, rtol=1e-5 if dtype == np.float32 else 1e-12
    )


def test_means_of_functions_are_functions_of_means(rng):
    """Linear ones; and the kernel between two segments is the mean of that between their positions."""
    segments = small_segments()
    features = rng.normal(size=(segments.n_vertices, 4))
    seen = run_mean(features, segments.cliques["segment"].members)
    pooled = Pooled(LinearFeatures(segments, "node", features))
    linear = LinearFeatures(segments, "segment", seen, np.arange(len(seen)))
    w, gradient = rng.normal(size=pooled.size), rng.normal(size=segments.shapes["segment"])
    np.testing.assert_allclose(pooled.scores(w), linear.scores(w), atol=1e-12)
    np.testing.assert_allclose(pooled.adjoint(gradient), linear.adjoint(gradient), atol=1e-12)
    kernel = RBF(0.3)(features)
    space = Pooled(Expansion(segments, "node", StoredGram(kernel)))
    one = np.zeros(segments.shapes["segment"])
    one[5, 1] = 1.0
    members = segments.cliques["segment"].members
    between = [kernel[members[5, 0] : members[5, 1] + 1, a : b + 1].mean() for a, b in members]
    np.testing.assert_allclose(space.scores(space.representer(one))[:, 1], between, atol=1e-12)


@pytest.mark.parametrize("make", [small_chain, small_forest])
@pytest.mark.parametrize("kind", ["linear", "sparse", "kernel"])
def test_functions_of_both_ends_pass_all_checks(kind, make, rng):
    structure = make(shared_edges=False)
    features = rng.normal(size=(structure.n_vertices, 3))
    ends = concatenated(features, structure.cliques["edge"].members)
    each = np.arange(len(ends))
    space = {
        "linear": lambda: LinearFeatures(structure, "edge", ends, each),
        "sparse": lambda: SparseFeatures(structure, "edge", sparse.csr_matrix(ends), rows=each),
        "kernel": lambda: Expansion(structure, "edge", StoredGram(RBF(0.3)(ends)), each),
    }[kind]()
    check_space(space, rng)


def test_a_kernel_on_edges_tells_the_second_end(rng):
    """Scores of an edge depend on the observations of both its ends [lafferty2004]."""
    forest = small_forest(shared_edges=False)
    features = rng.normal(size=(forest.n_vertices, 3))
    ends = concatenated(features, forest.cliques["edge"].members)
    gram, each = ends @ ends.T, np.arange(len(ends))
    loss = LogLoss(forest, small_labels(forest, rng))
    values = []
    for space in (
        Expansion(forest, "edge", StoredGram(gram), each),
        LinearFeatures(forest, "edge", ends, each),
    ):
        problem = Problem.of(loss, [Term("ends", space, 0.3)])
        found = LBFGS().minimize(problem, problem.zero(), Stop(1e-10, 0.0, 500))
        assert found.reason is Reason.GAP
        values.append(found.point.value)
    assert values[0] == pytest.approx(values[1], rel=1e-9)
    first = Problem.of(loss, [Term("first", LinearFeatures(forest, "edge", features), 0.3)])
    assert values[1] < LBFGS().minimize(first, first.zero(), Stop(1e-9, 0.0, 500)).point.value
