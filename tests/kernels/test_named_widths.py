"""Widths of kernels by name: against SciPy's distances, and from the unit of the data to predictions."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist

from kernelfields import KernelCRF, load
from kernelfields.errors import InputError
from kernelfields.kernels import ExponentialChiSquare, Laplacian, Matern, as_kernel, check_gram


def chi_square(x, z):
    return sum((a - b) ** 2 / (a + b) for a, b in zip(x, z, strict=True) if a + b)


WIDTHS = {
    "laplacian": lambda X: Laplacian(1 / np.median(pdist(X, "cityblock"))),
    "matern": lambda X: Matern(np.median(pdist(X))),
    "chi2": lambda X: ExponentialChiSquare(1 / np.median(pdist(X, chi_square))),
}
POWER = {"laplacian": -1, "matern": 1, "chi2": -1}


def width_of(kernel):
    return kernel.length_scale if isinstance(kernel, Matern) else kernel.gamma


def counts(n=40, seed=0):
    return np.unique(np.random.default_rng(seed).integers(0, 9, size=(n, 4)).astype(float), axis=0)


@pytest.mark.parametrize("name", WIDTHS)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_the_median_distance(name, form):
    X = counts()
    found, expected = as_kernel(name).on(form(X)), WIDTHS[name](X)
    assert type(found) is type(expected)
    assert width_of(found) == pytest.approx(width_of(expected))
    assert width_of(as_kernel(name).on(form(X).repeat(3, axis=0) if form is np.asarray else form(X))) == (
        pytest.approx(width_of(expected))
    )
    check_gram(found, X)
    assert found.on(X[:3]) is found


@pytest.mark.parametrize("name", WIDTHS)
def test_units_change_no_prediction(name, tmp_path):
    X = [counts(20, seed) for seed in range(8)]
    y = [["ab"[int(row[0] > 4)] for row in x] for x in X]
    plain = KernelCRF(name, random_state=0).fit(X, y)
    other = KernelCRF(name, random_state=0).fit([1024 * x for x in X], y)
    assert other.predict([1024 * x for x in X]) == plain.predict(X)
    assert width_of(other.kernel_) == pytest.approx(1024.0 ** POWER[name] * width_of(plain.kernel_))
    plain.save(tmp_path / "a.kf")
    again = load(tmp_path / "a.kf")
    assert (again.kernel, width_of(again.kernel_)) == (name, width_of(plain.kernel_))


@pytest.mark.parametrize("name", WIDTHS)
def test_nothing_to_go_by_and_unknown_rules(name):
    kernel = as_kernel(name)
    for X in (np.ones((5, 3)), np.ones((1, 3)), np.zeros((0, 3))):
        assert width_of(kernel.on(X)) == 1.0
    with pytest.raises(InputError, match=r"has to look at observations first"):
        kernel([[1.0]])
    with pytest.raises(InputError, match=r"='scale' is not known"):
        type(kernel)("scale").on([[1.0]])


def test_numbers_below_zero_are_named_as_they_are_given():
    with pytest.raises(InputError, match="observation 2 has a negative one"):
        as_kernel("chi2").on([[1.0], [1.0], [-1.0]])
