"""Every solver by name: one optimum, whichever way the problem is put together."""

import numpy as np
import pytest
from scipy import sparse

from kernelfields import CRF
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
    settings = {"penalty": 0.5, "tol": 1e-7, "edge_features": edge_features}
    expected = CRF(**settings).fit(X, y)
    model = CRF(**settings, solver=solver).fit(X, y)
    assert model.certificate_.relative_gap <= 1e-6  # of the last point; an earlier one may bound better
    np.testing.assert_allclose(model.certificate_.value, expected.certificate_.value, rtol=2e-7)
    np.testing.assert_allclose(model.transitions_, expected.transitions_, atol=1e-2)


@pytest.mark.parametrize("solver", ["newton-cg", "subspace"])
def test_solvers_agree_on_order_two(solver, data):
    expected = CRF(order=2, tol=1e-7).fit(*data)
    model = CRF(order=2, tol=1e-7, solver=solver).fit(*data)
    np.testing.assert_allclose(model.certificate_.value, expected.certificate_.value, rtol=2e-7)


def test_block_jacobi_refuses_order_two(data):
    with pytest.raises(TypeError, match="SecondOrderChain does not give the marginals of every clique"):
        CRF(order=2, solver="block-jacobi").fit(*data)
