"""Every solver by name: one optimum, whichever way the problem is put together."""

import numpy as np
import pytest
from scipy import sparse

from kernelfields import CRF, LinearScores, Parts
from kernelfields.errors import InputError
from kernelfields.solvers import LBFGS, OWLQN, NewtonCG
from kernelfields.testing import labelled_sequences

SOLVERS = ["newton-cg", "block-jacobi", "subspace"]


@pytest.fixture
def data(rng):
    return labelled_sequences(rng)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("edge_features", [False, True])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_solvers_agree(kind, edge_features, solver, data):
    X, y = data
    X = X if kind == "dense" else [sparse.csr_matrix(x) for x in X]
    settings = {
        "penalty": 0.5,
        "tol": 1e-7,
        "parts": Parts(edge_features=LinearScores() if edge_features else None),
    }
    expected = CRF(**settings).fit(X, y)
    model = CRF(**settings, solver=solver).fit(X, y)
    assert model.certificate_.relative_gap <= 1e-6  # of the last point; an earlier one may bound better
    np.testing.assert_allclose(model.certificate_.value, expected.certificate_.value, rtol=2e-7)
    np.testing.assert_allclose(model.transitions_, expected.transitions_, atol=1e-2)


@pytest.mark.parametrize("solver", ["newton-cg", "subspace"])
def test_solvers_agree_on_order_two(solver, data):
    expected = CRF(structure="chain2", tol=1e-7).fit(*data)
    model = CRF(structure="chain2", tol=1e-7, solver=solver).fit(*data)
    np.testing.assert_allclose(model.certificate_.value, expected.certificate_.value, rtol=2e-7)


def test_block_jacobi_refuses_order_two(data):
    with pytest.raises(TypeError, match="SecondOrderChainBatch does not give the marginals of every clique"):
        CRF(structure="chain2", solver="block-jacobi").fit(*data)


@pytest.mark.parametrize("solver", ["newton-cg", "subspace", "conjugate-gradients", NewtonCG()])
def test_solvers_that_cannot_take_l1_are_refused_and_nothing_is_fitted(data, solver):
    model = CRF(l1=0.5, solver=solver)
    with pytest.raises(InputError, match="with l1 or norms of parts it must be 'lbfgs', OWLQN"):
        model.fit(*data)
    assert not hasattr(model, "coef_")


def test_l1_takes_its_own_solver_with_its_settings(data):
    values = [
        CRF(l1=0.5, solver=solver, tol=1e-6).fit(*data).certificate_.value
        for solver in ("lbfgs", OWLQN(memory=3), LBFGS(memory=5))
    ]
    np.testing.assert_allclose(values, values[0], rtol=1e-5)
    with pytest.raises(InputError, match="is for l1 or norms of parts; the model has none"):
        CRF(solver=OWLQN()).fit(*data)
