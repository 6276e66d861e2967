"""The linear chain in one pass: the same function as the general problem of the same terms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

from kernelfields import native
from kernelfields.losses import LogLoss
from kernelfields.objective import L1Norm, LinearChainData, Offsets, Problem, Term, linear_chain_problem
from kernelfields.solvers import LBFGS, Stop
from kernelfields.spaces import Boundary, Free, SparseFeatures, WeightPairs
from kernelfields.structures import ChainBatch

LENGTHS = [3, 1, 7, 0, 40, 2, 2, 5]


def setting(rng, n_labels, binary=True, observed=False, weights=None, lengths=LENGTHS, n_features=60):
    chain = ChainBatch(np.concatenate([[0], np.cumsum(lengths)]), n_labels)
    N = chain.n_vertices
    popular = rng.random((N, n_features)) < np.geomspace(0.9, 0.01, n_features)
    values = popular * (1.0 if binary else rng.normal(size=popular.shape))
    X = sparse.csr_matrix(values)
    labels = rng.integers(n_labels, size=N).astype(np.int32)
    pairs = WeightPairs.of(X, n_labels, labels if observed else None)
    seen = None
    if observed:
        seen = np.zeros((n_labels, n_labels), dtype=bool)
        seen[labels[chain.edge_tails], labels[chain.edge_heads]] = True
    terms = [
        Term("features", SparseFeatures(chain, "node", X, pairs), 0.7, L1Norm(0.1)),
        Term("bias", Free(chain, "node"), 0.5),
        Term("boundaries", Boundary(chain), 0.3),
        Term("edges", Free(chain, "edge", support=seen), 0.2),
    ]
    return LogLoss(chain, labels, weights), terms


@pytest.mark.parametrize("n_labels", [1, 2, 5, 9, 22, 40])
@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("observed", [True, False])
def test_equals_the_general_problem(rng, n_labels, binary, observed):
    loss, terms = setting(rng, n_labels, binary, observed, weights=rng.random(len(LENGTHS)))
    general, fused = Problem.of(loss, terms), linear_chain_problem(loss, terms, None, np.float64)
    element = rng.normal(size=general.size)
    if observed:  # elements have nothing where no pair occurs
        element[general.slices["edges"]] *= terms[3].space.support.ravel()
    expected, point = general.at(element), fused.at(element)
    assert point.value == pytest.approx(expected.value, rel=1e-12)
    np.testing.assert_allclose(point.gradient, expected.gradient, atol=1e-10)
    np.testing.assert_allclose(point.mismatch, expected.mismatch, atol=1e-10)
    assert point.certificate.lower_bound == pytest.approx(expected.certificate.lower_bound, rel=1e-10)


@pytest.mark.parametrize("dropped", [[], ["bias"], ["boundaries", "edges"], ["bias", "boundaries", "edges"]])
def test_parts_may_be_missing(rng, dropped):
    loss, terms = setting(rng, 4)
    terms = [term for term in terms if term.name not in dropped]
    element = rng.normal(size=sum(term.space.size for term in terms))
    expected = Problem.of(loss, terms).at(element)
    point = linear_chain_problem(loss, terms, None, np.float64).at(element)
    assert point.value == pytest.approx(expected.value, rel=1e-12)
    np.testing.assert_allclose(point.gradient, expected.gradient, atol=1e-10)


def test_fixed_scores_are_added(rng):
    loss, terms = setting(rng, 4)
    small, edge = rng.normal(size=(3, 4)), rng.normal(size=(4, 4))
    chain = loss.structure
    node = np.tile(small[0], (chain.n_vertices, 1))
    node[chain.first_positions] += small[1]
    node[chain.last_positions] += small[2]
    element = rng.normal(size=sum(term.space.size for term in terms))
    expected = Problem.of(loss, terms, {"node": node, "edge": edge}).at(element)
    point = linear_chain_problem(loss, terms, Offsets(small, edge), np.float64).at(element)
    assert point.value == pytest.approx(expected.value, rel=1e-12)
    np.testing.assert_allclose(point.gradient, expected.gradient, atol=1e-10)


def test_a_line_is_the_function_on_it(rng):
    loss, terms = setting(rng, 5)
    general, fused = Problem.of(loss, terms), linear_chain_problem(loss, terms, None, np.float64)
    element, direction = rng.normal(size=(2, general.size))
    ours, theirs = fused.at(element).along(direction), general.at(element).along(direction)
    for step in (0.3, 2.0):
        assert ours.at(step).value == pytest.approx(theirs.at(step).value, rel=1e-12)
        assert ours.slope(ours.at(step)) == pytest.approx(theirs.slope(theirs.at(step)), rel=1e-9)


def test_single_precision_is_close(rng):
    loss, terms = setting(rng, 9)
    element = rng.normal(size=sum(term.space.size for term in terms)).astype(np.float32)
    single = linear_chain_problem(loss, terms, None, np.float32).at(element)
    double = single.problem.exact().at(element)
    assert single.gradient.dtype == np.float32
    assert single.value == pytest.approx(double.value, rel=1e-5)
    np.testing.assert_allclose(single.gradient, double.gradient, atol=1e-3)


def test_threads_do_not_change_the_result(rng):
    loss, terms = setting(rng, 12, lengths=[30] * 300)
    problem = linear_chain_problem(loss, terms, None, np.float64)
    element = rng.normal(size=problem.size)
    many = problem.at(element)
    with threadpool_limits(limits=1, user_api="openmp"):
        one = problem.at(element)
    assert many.value == one.value
    np.testing.assert_array_equal(many.gradient, one.gradient)


def test_suits_only_what_it_is_made_for(rng):
    loss, terms = setting(rng, 3)
    assert LinearChainData.suits(loss, terms)
    assert not LinearChainData.suits(
        LogLoss(loss.structure, loss.outputs, cost={"node": np.ones((60, 3))}), terms
    )
    assert not LinearChainData.suits(loss, terms[1:])
    assert not LinearChainData.suits(loss, [*terms, terms[1]])
    some = np.array([True, False, True])
    for space in (Free(loss.structure, "node", support=some), Free(loss.structure, "node", some[[0] * 60])):
        others = [term for term in terms if term.name != "bias"]
        assert not LinearChainData.suits(loss, [*others, Term("bias", space, 1.0)])


def test_ranked_rows_have_the_frequent_features_first(rng):
    X = sparse.random(30, 20, 0.4, format="csr", random_state=1)
    rank = rng.permutation(20).astype(np.int32)
    index, value = native.rank_rows(
        X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data, rank, 8, 13
    )
    again = sparse.csr_matrix((value, index, X.indptr), shape=X.shape).toarray()
    np.testing.assert_array_equal(again, X.toarray()[:, np.argsort(rank)])
    for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        kind = (index[a:b] >= 8).astype(int) + (index[a:b] >= 13)
        assert (np.diff(kind) >= 0).all()


@pytest.mark.parametrize("n_labels", [3, 64, 130])
def test_observed_pairs_are_those_that_occur(rng, n_labels):
    X = sparse.random(50, 20, 0.2, format="csr", random_state=2)
    labels = rng.integers(n_labels, size=50).astype(np.int32)
    pairs = WeightPairs.of(X, n_labels, labels)
    found = set(zip(pairs.feature.tolist(), pairs.label.tolist(), strict=True))
    rows, columns = X.nonzero()
    assert found == set(zip(columns.tolist(), labels[rows].tolist(), strict=True))
    assert len(found) == len(pairs.label)


def test_bad_columns_are_refused():
    first, index = np.array([0, 1]), np.array([5], dtype=np.int32)
    with pytest.raises(ValueError, match="index holds 5"):
        native.rank_rows(first, index, None, np.zeros(3, dtype=np.int32), 1, 1)


def test_curvatures_are_the_diagonal_where_positions_are_independent(rng):
    """Sequences of one position: the diagonal of the Hessian, by products with unit vectors."""
    loss, terms = setting(rng, 4, binary=False, weights=rng.random(40), lengths=[1] * 40, n_features=12)
    terms = [Term(term.name, term.space, term.penalty) for term in terms]
    general, fused = Problem.of(loss, terms), linear_chain_problem(loss, terms, None, np.float64)
    near = LBFGS().minimize(general, general.zero(), Stop(gap=0.3)).point
    found = fused.curvatures(fused.at(near.element))
    for k, unit in enumerate(np.eye(general.size)):
        assert found[k] == pytest.approx(near.hessian_product(unit)[k], rel=1e-9)
    away = near.element + 30 * rng.normal(size=fused.size)
    assert fused.curvatures(fused.at(away)) is None  # too far away to say anything


def test_edges_vary_as_the_uncertain_label_of_a_pair(rng):
    """Label 0 is certain at even positions, 1 or 2 at odd ones: pairs (0, 1) vary as label 1 there does."""
    lengths, L = [6] * 20, 3
    chain = ChainBatch(np.concatenate([[0], np.cumsum(lengths)]), L)
    odd = np.tile([0, 1], 60).astype(bool)
    X = sparse.csr_matrix(np.where(odd[:, None], [[0.0, 1.0]], [[1.0, 0.0]]))
    labels = np.where(odd, rng.integers(1, 3, size=120), 0).astype(np.int32)
    terms = [Term("features", SparseFeatures(chain, "node", X), 1.0), Term("edges", Free(chain, "edge"), 1.0)]
    fused = linear_chain_problem(LogLoss(chain, labels), terms, None, np.float64)
    element = fused.zero()
    element[:6] = np.array([[60.0, 0, 0], [0, 60.0, 60.7]]).ravel()
    share = 1 / (1 + np.exp(0.7))
    found = fused.at(element).evaluation.variances()[fused.slices["edges"]].reshape(L, L)
    assert found[0, 1] == pytest.approx(60 * share * (1 - share), rel=1e-9)
    assert found[0, 2] == pytest.approx(60 * share * (1 - share), rel=1e-9)
