"""Low-rank spaces: the conditions of every space, and the linear spaces they are."""

import numpy as np
import pytest

from kernelfields.approximation import IncompleteCholesky, Nystroem
from kernelfields.gram import StoredGram
from kernelfields.kernels import RBF
from kernelfields.losses import LogLoss
from kernelfields.objective import Problem, Term
from kernelfields.solvers import LBFGS, Stop
from kernelfields.spaces import Boundary, Expansion, Free, LabelEmbedding, LinearFeatures, LowRank, factor_of
from kernelfields.structures import ChainBatch, SecondOrderChainBatch
from kernelfields.testing import check_space
from tests._problems import small_chain, small_labels


@pytest.fixture(params=[IncompleteCholesky(4), Nystroem(4)], ids=["stored", "whitened"])
def factor(request, rng):
    X = rng.normal(size=(small_chain().n_vertices, 3))
    return request.param.on(RBF(0.5), X, np.random.RandomState(0)).factor


def test_spaces_pass_all_checks(factor, rng):
    chain, free = small_chain(), small_chain(shared_edges=False)
    L = chain.n_labels
    for space in (
        LowRank(chain, "node", factor),
        LowRank(chain, "node", factor, embedding=LabelEmbedding.centred(L)),
        LowRank(chain, "node", factor).precise(),
        LowRank(free, "edge", factor),
        LowRank(free, "edge", factor).precise(),
    ):
        check_space(space, rng)


def test_they_are_linear_spaces_of_the_factor(factor, rng):
    chain = small_chain(shared_edges=False)
    phi = factor.times(np.eye(factor.shape[1]))
    for one, other in (
        (LowRank(chain, "node", factor), LinearFeatures(chain, "node", phi)),
        (LowRank(chain, "edge", factor), LinearFeatures(chain, "edge", phi)),
    ):
        element = rng.normal(size=one.size)
        np.testing.assert_allclose(one.scores(element), other.scores(element), atol=1e-12)
        gradient = rng.normal(size=chain.shapes[one.clique])
        np.testing.assert_allclose(one.adjoint(gradient), other.adjoint(gradient), atol=1e-12)


def test_rows_far_apart_are_not_copied(rng):
    wide = rng.normal(size=(small_chain().n_vertices, 9)).astype(np.float32)
    factor = factor_of(wide[:, :4])
    assert np.shares_memory(factor.products.matrix, wide)
    assert factor.times(np.eye(4)).dtype == np.float32


def test_edges_need_scores_of_their_own(factor):
    with pytest.raises(TypeError, match="scores of their own"):
        LowRank(small_chain(), "edge", factor)


def test_coordinates_are_principal_ones(factor):
    """ΦᵀΦ is diagonal, if its rows are few enough for all to be looked at."""
    phi = factor.times(np.eye(factor.shape[1]))
    np.testing.assert_allclose(phi.T @ phi, np.diag(factor.spectrum), atol=1e-10)


def test_spectrum_of_some_rows_stands_for_all(rng):
    columns = rng.normal(size=(20_000, 50))
    factor = factor_of(columns)
    assert factor.spectrum.sum() == pytest.approx(np.square(columns).sum(), rel=0.1)
    np.testing.assert_allclose(factor.inside @ factor.inside.T, np.eye(50), atol=1e-12)
    assert factor_of(np.zeros((0, 2))).shape == (0, 2)
    wide = factor_of(columns[:20])
    np.testing.assert_allclose(wide.spectrum, np.square(columns[:20]).sum(axis=0))
    np.testing.assert_allclose(wide.times(np.eye(50)), columns[:20])


def test_curvatures_are_the_diagonal_of_the_hessian_without_edges(factor, rng):
    """Up to μ in place of μ(1 − μ), which differ by the same factor everywhere if μ is uniform."""
    chain = small_chain()
    L = chain.n_labels
    loss = LogLoss(chain, small_labels(chain, rng))
    terms = [Term("x", LowRank(chain, "node", factor), 0.5), Term("b", Boundary(chain), 2.0)]
    problem = Problem.of(loss, terms)
    point = problem.at(problem.zero())
    diagonal = np.array([point.hessian_product(e) @ e for e in np.eye(problem.size)])
    found = problem.curvatures(problem.at(problem.zero()))
    np.testing.assert_allclose((found - 1) * (1 - 1 / L), diagonal - 1, atol=1e-9)


def test_curvatures_of_free_scores_and_kernels_on_labels(factor, rng):
    chain = SecondOrderChainBatch(small_chain().offsets, 2)
    embedding = LabelEmbedding.centred(2)
    loss = LogLoss(chain, small_labels(small_chain(), rng) % 2)
    terms = [
        Term("x", LowRank(chain, "node", factor, embedding=embedding), 0.5),
        Term("t", Free(chain, "triple"), 0.0),
    ]
    problem = Problem.of(loss, terms)
    found = problem.curvatures(problem.at(problem.zero()))
    place = problem.slices["x"]
    np.testing.assert_allclose(found[place], 1 + factor.spectrum / 2 / 0.5)
    triples = np.maximum(np.diff(chain.offsets) - 2, 0).sum()
    np.testing.assert_allclose(found[problem.slices["t"]], triples / 8)
    kernel = Term("k", Expansion(chain, "node", StoredGram(np.eye(chain.n_vertices))), 1.0)
    both = Problem.of(loss, [*terms, kernel])
    assert both.curvatures(both.at(both.zero())) is None


def test_curvatures_save_iterations(rng):
    """On steep and flat directions together; the optimum is the same."""
    X = rng.normal(size=(600, 3))
    chain = ChainBatch(np.arange(0, 601, 6), 3)
    labels = (np.abs(X).argmax(axis=1) + (rng.random(600) < 0.1)) % 3
    factor = Nystroem(60).on(RBF(0.1), X, np.random.RandomState(0)).factor
    terms = [Term("x", LowRank(chain, "node", factor), 0.01)]
    problem, blind = (kind.of(LogLoss(chain, labels), terms) for kind in (Problem, Uninformed))
    one, other = (LBFGS().minimize(p, p.zero(), Stop(gap=1e-4, iterations=5000)) for p in (problem, blind))
    assert one.point.value == pytest.approx(other.point.value, rel=1e-3)
    assert one.progress.iteration < 0.5 * other.progress.iteration


class Uninformed(Problem):
    """Knows nothing of its curvature."""

    def curvatures(self, element):
        return None
