"""Graph kernels against dense eigendecompositions of explicit Laplacians, and in models."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import expm
from sklearn.base import clone

from kernelfields import KernelCRF, Parts, load
from kernelfields.errors import InputError
from kernelfields.graphs import (
    Diffusion,
    InverseCosine,
    NeighborGraph,
    PrecomputedGraph,
    RandomWalk,
    Regularised,
    SparseGraph,
)
from kernelfields.kernels import RBF, GraphKernel, SpectralKernel


def points(n: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=(n, 3))


def explicit(graph: SparseGraph, normalised: bool) -> Any:
    """The Laplacian by its definition."""
    W = graph.adjacency.toarray()
    d = W.sum(axis=1)
    if not normalised:
        return np.diag(d) - W
    roots = np.where(d > 0, np.sqrt(np.where(d > 0, d, 1)), 1)
    return np.diag((d > 0).astype(float)) - W / np.outer(roots, roots)


@pytest.mark.parametrize("normalised", [True, False])
@pytest.mark.parametrize(
    ("transform", "function"),
    [
        (Regularised(0.2), lambda L: np.linalg.inv(L + 0.2 * np.eye(len(L)))),
        (Diffusion(3.0), lambda L: expm(-1.5 * L)),
        (RandomWalk(3, a=40.0), lambda L: np.linalg.matrix_power(40 * np.eye(len(L)) - L, 3)),
    ],
)
def test_all_eigenpairs_make_the_function_of_the_matrix(
    transform: Any, function: Any, normalised: bool
) -> None:
    """Isolated vertices and several components included; no eigenvectors on the other side."""
    X = points(40)
    settings = NeighborGraph(radius=1.1, weights="rbf")
    graph = settings.on(X)
    assert graph.n_isolated
    assert graph.n_components > graph.n_isolated
    wanted = function(explicit(graph, normalised))
    kernel = GraphKernel(settings, transform, 40, normalised=normalised, scaled=False).on(X)
    np.testing.assert_allclose(kernel(X), wanted, atol=1e-9 * np.abs(wanted).max())
    np.testing.assert_allclose(kernel.diagonal(X), wanted.diagonal(), rtol=1e-8)


def test_the_lowest_eigenpairs_alone() -> None:
    X = points(60)
    values, vectors = np.linalg.eigh(explicit(NeighborGraph(4).on(X), True))
    wanted = (vectors[:, :7] * np.cos(values[:7] * np.pi / 4)) @ vectors[:, :7].T
    kernel = GraphKernel(NeighborGraph(4), InverseCosine(), 7, scaled=False).on(X)
    np.testing.assert_allclose(kernel(X), wanted, atol=1e-8)
    scaled = GraphKernel(NeighborGraph(4), InverseCosine(), 7).on(X)(X)
    np.testing.assert_allclose(scaled, wanted / wanted.diagonal().mean(), atol=1e-8)


def test_limits() -> None:
    """Without diffusion every vertex is alone; with much, or no ridge, a component is one value."""
    X = np.concatenate([points(10), points(14, 1) + 50])
    same = (np.arange(24)[:, None] < 10) == (np.arange(24) < 10)
    sizes = np.where(np.arange(24) < 10, 10, 14)
    alone = GraphKernel(transform=Diffusion(0.0), scaled=False).on(X)
    np.testing.assert_allclose(alone(X), np.eye(24), atol=1e-10)
    for transform, scale in ((Diffusion(1e4), 1.0), (Regularised(1e-9), 1e-9)):
        flat = GraphKernel(NeighborGraph(5), transform, normalised=False, scaled=False).on(X)
        np.testing.assert_allclose(scale * flat(X), same / sizes, atol=1e-6)
    ridge = GraphKernel(transform=Regularised(1e9), scaled=False).on(X)
    np.testing.assert_allclose(1e9 * ridge(X), np.eye(24), atol=1e-6)


@pytest.mark.parametrize("transform", [Regularised(), Diffusion()])
def test_vertices_have_the_values_of_the_graph(transform: Any) -> None:
    X = points(30)
    kernel = GraphKernel(NeighborGraph(3), transform).on(np.concatenate([X, X[:5]]))
    assert kernel.basis.shape[0] == 30
    np.testing.assert_array_equal(kernel.features(X[[4, 2, 4]]), kernel.basis[[4, 2, 4]])
    both = kernel.features(np.concatenate([X[:1] + 0.01, X[1:2]]))
    np.testing.assert_array_equal(both[1], kernel.basis[1])
    assert (both[0] != kernel.basis[0]).any()


@pytest.mark.parametrize("normalised", [True, False])
@pytest.mark.parametrize("extension", ["nystroem", "harmonic"])
def test_extensions_satisfy_their_equations(normalised: bool, extension: str) -> None:
    """Asked for a new point with the links of vertex 0, Nyström has its features; harmonic K but for K₀₀.

    The graph is made again without knowing that the point is vertex 0: `found` is asked about others.
    """
    X = points(25)

    class Unknown(NeighborGraph):
        def found(self, observations: Any, vertices: Any) -> Any:
            return np.full(len(observations), -1)

        def links(self, observations: Any, vertices: Any, scales: Any) -> Any:
            return self.on(X).adjacency[[0]]

    transform = Regularised(0.3)
    kernel = GraphKernel(
        NeighborGraph(24, radius=1.5), transform, normalised=normalised, extension=extension
    ).on(X)
    unknown = clone(kernel).set_params(graph=Unknown(radius=1.5))
    values = np.linalg.eigvalsh(explicit(NeighborGraph(radius=1.5).on(X), normalised))
    degree = 1.0 if normalised else NeighborGraph(radius=1.5).on(X).degrees[0]
    if extension == "nystroem":
        low = degree - values > 0.1 * degree
        assert low.sum() > 5
        np.testing.assert_allclose(unknown.features(X[:1])[0, low], kernel.basis[0, low], atol=1e-8)
    else:
        row, wanted = unknown.features(X[:1]) @ kernel.basis.T, kernel(X)[:1]
        np.testing.assert_allclose(row[0, 1:], wanted[0, 1:], atol=1e-9)
        assert row[0, 0] < wanted[0, 0]


def test_a_point_that_nothing_reaches_has_no_features() -> None:
    kernel = GraphKernel(NeighborGraph(radius=1.0)).on([[0.0], [0.5], [1.0]])
    assert not kernel.features([[9.0]]).any()
    assert kernel.features([[1.2]]).any()


def test_few_vertices() -> None:
    one = GraphKernel().on([[3.0, 1.0]])
    assert one([[3.0, 1.0]]) == pytest.approx(1.0)
    two = GraphKernel(scaled=False, transform=Regularised(1.0)).on([[0.0], [1.0], [1.0]])
    np.testing.assert_allclose(two([[0.0], [1.0]]), [[2 / 3, 1 / 3], [1 / 3, 2 / 3]])


def test_more_components_than_eigenpairs_are_told() -> None:
    with pytest.warns(UserWarning, match="3 components and 2 eigenpairs"):
        kernel = GraphKernel(NeighborGraph(radius=1.0), n_eigenpairs=2).on(
            [[0.0], [0.5], [7.0], [7.5], [20.0]]
        )
    assert kernel.diagonal([[0.0], [7.0], [20.0]]).tolist() == pytest.approx([1.25, 1.25, 0])


@pytest.mark.parametrize("form", [sparse.csr_matrix, lambda X: X.astype(np.float32), list])
def test_kinds_of_observations(form: Any) -> None:
    X = points(30).astype(np.float32).astype(float)
    new = X[:4] + 0.25
    wanted = GraphKernel(NeighborGraph(4, weights="local")).on(X)
    found = GraphKernel(NeighborGraph(4, weights="local")).on(form(X))
    np.testing.assert_allclose(found(form(new), form(X)), wanted(new, X), atol=1e-5)
    kind = np.float32 if getattr(form(X), "dtype", None) == np.float32 else np.float64
    assert found.features(form(new)).dtype == kind


def test_precomputed_graph() -> None:
    X = points(20)
    W = NeighborGraph(3).on(X).adjacency
    numbers = np.arange(20)[:, None]
    np.testing.assert_allclose(
        GraphKernel(PrecomputedGraph(W)).on(numbers[:5])(numbers),
        GraphKernel(NeighborGraph(3)).on(X)(X),
        atol=1e-8,
    )


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (GraphKernel(3.0), "graph of GraphKernel is 3.0"),
        (GraphKernel(n_eigenpairs=0), "n_eigenpairs is 0"),
        (GraphKernel(normalised=1), "normalised of GraphKernel is 1"),
        (GraphKernel(extension="x"), "extension of GraphKernel='x' is not known"),
        (GraphKernel(tolerance=-1.0), "tolerance is -1.0"),
        (GraphKernel(transform=np.exp), "transform increases from 1 at the eigenvalue 0"),
        (GraphKernel(transform=InverseCosine(), normalised=False), "up to 2; there is 20"),
        (GraphKernel(NeighborGraph(0)), "n_neighbors of NeighborGraph is 0"),
    ],
)
def test_refusals_name_the_value(kernel: GraphKernel, words: str) -> None:
    with pytest.raises(InputError, match=words):
        kernel.on(np.arange(20.0)[:, None])


def test_other_widths_are_refused() -> None:
    kernel = GraphKernel().on(points(5))
    with pytest.raises(InputError, match="Observations have 2 numbers; the graph is over rows of 3"):
        kernel.features([[0.0, 1.0]])


def test_settings_are_reached_through_the_kernel() -> None:
    kernel = GraphKernel().set_params(graph__n_neighbors=3, transform__epsilon=0.5)
    assert GraphKernel().graph.n_neighbors == 10
    copy = clone(kernel)
    assert (copy.graph.n_neighbors, copy.transform.epsilon) == (3, 0.5)
    assert copy.graph is not kernel.graph
    on = kernel.on(points(6))
    assert clone(on).basis is on.basis
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(on))(points(6)), on(points(6)))


def halves(n: int, seed: int) -> tuple[list[Any], list[Any]]:
    """Sequences on two arcs, labels by arc."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        label = rng.integers(2, size=6)
        angle = np.pi * rng.random(6)
        arc = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        X.append(np.where(label[:, None] == 1, arc, [1, 0.3] - arc) + 0.02 * rng.normal(size=(6, 2)))
        y.append(label.tolist())
    return X, y


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, lambda x: x.astype(np.float32)])
def test_model_with_unlabelled_sequences(form: Any, tmp_path: Path) -> None:
    """Four labelled sequences and many unlabelled ones on two arcs; new ones are labelled, from files too."""
    X, y = halves(40, 0)
    new, answers = halves(10, 1)
    given = [form(x) for x in X]
    settings = GraphKernel(NeighborGraph(8), Regularised(0.01), 30)
    model = KernelCRF(kernel=settings, penalty=1e-3).fit(given, [*y[:4], *[None] * 36])
    assert isinstance(model.kernel_, SpectralKernel)
    assert model.kernel_.basis.shape == (240, 30)
    assert model.score([form(x) for x in new], answers) > 0.95
    model.save(tmp_path / "model.kf")
    again = load(tmp_path / "model.kf")
    for a, b in zip(model.predict_marginals(new), again.predict_marginals(new), strict=True):
        np.testing.assert_array_equal(a, b)


def test_sum_with_another_kernel() -> None:
    X, y = halves(6, 0)
    model = KernelCRF(kernel=RBF(1.0) + 2.0 * GraphKernel(NeighborGraph(4), n_eigenpairs=5)).fit(X, y)
    assert isinstance(model.kernel_.right.kernel, SpectralKernel)
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("wrapped", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_single_precision_finds_the_vertices_of_double(wrapped: Any, rng: np.random.Generator) -> None:
    X = rng.normal(size=(40, 3))
    kernel = GraphKernel(NeighborGraph(4), n_eigenpairs=10).on(wrapped(X))
    found = kernel.features(wrapped(X.astype(np.float32)))
    assert (found == kernel.features(wrapped(X)).astype(np.float32)).all()


@pytest.mark.filterwarnings("ignore:The graph:UserWarning")
@pytest.mark.parametrize(
    ("X", "graph"),
    [
        ([[[1.0, 2.0]] * 3, [[1.0, 2.0]] * 2], NeighborGraph(4)),  # one vertex, k ≥ N
        ([[[0.0, 0.0], [0.1, 0.0], [0.0, 0.1]], [[9.0, 0.0], [0.0, 0.0]]], NeighborGraph(radius=0.5)),
        ([[[0.0, 0.0], [0.0, 0.0], [1.0, 0.0]], [[0.0, 0.0], [1.0, 0.0]]], NeighborGraph(1)),
        ([[[0.0, 0.0], [3.0, 0.0], [6.0, 0.0]], [[9.0, 0.0], [20.0, 1.0]]], NeighborGraph(radius=0.5)),
    ],
    ids=["one vertex", "isolated vertex", "duplicates with other labels", "all isolated"],
)
def test_models_on_odd_graphs_are_those_of_the_dense_kernel(X: Any, graph: NeighborGraph) -> None:
    """The same optimum as with the matrix of the kernel given; components without labels are in the graph."""
    y = [["a", "b", "a"], ["a", "b"]]
    more = [[[50.0, 0.0], [50.1, 0.0]]]  # a component that no label reaches
    kernel = GraphKernel(graph, Regularised(0.5), scaled=False)
    model = KernelCRF(kernel, penalty=0.3, tol=1e-6, parts=Parts(bias=None))
    model.fit(X, y, X_unlabelled=more)
    rows = np.concatenate([*X, *more])
    vertices = graph.on(rows)
    dense = np.linalg.inv(explicit(vertices, True) + 0.5 * np.eye(vertices.size))
    numbers = vertices.inverse[:, None].astype(float)

    def entries(a: Any, b: Any) -> Any:
        return dense[np.ix_(np.asarray(a)[:, 0].astype(int), np.asarray(b)[:, 0].astype(int))]

    wanted = KernelCRF(entries, penalty=0.3, tol=1e-6, parts=Parts(bias=None))
    wanted.fit([numbers[:3], numbers[3:5]], y)
    for found, known in zip(
        model.predict_marginals([*X, *more]),
        wanted.predict_marginals(np.split(numbers, [3, 5])),
        strict=True,
    ):
        np.testing.assert_allclose(found, known, atol=2e-3)
