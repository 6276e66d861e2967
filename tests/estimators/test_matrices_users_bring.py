"""Matrices in every form that SciPy and NumPy have: the same numbers make the same model."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from kernelfields import (
    CRF,
    HMM,
    KernelCRF,
    KernelLogisticRegression,
    KernelPerceptron,
    Run,
    StructuredPerceptron,
    StructuredSVM,
)
from kernelfields.errors import InputError
from kernelfields.structures import ChainBatch, Dependency, Grid, MultiLabel

Y = [["a", "b", "a"], ["b", "a"]]


def twice(dense):
    """Return a sparse matrix that has every entry in two halves, the columns in no order."""
    whole = sparse.coo_matrix(dense)
    rows, columns = np.tile(whole.row, 2)[::-1], np.tile(whole.col, 2)[::-1]
    order = np.argsort(rows, kind="stable")
    first = np.searchsorted(rows[order], np.arange(len(dense) + 1))
    halves = np.tile(whole.data / 2, 2)[::-1]
    return sparse.csr_matrix((halves[order], columns[order], first), shape=dense.shape)


FORMS = {
    "csr": sparse.csr_matrix,
    "csr array": sparse.csr_array,
    "csc": sparse.csc_matrix,
    "coo": sparse.coo_matrix,
    "twice": twice,
    "Fortran": np.asfortranarray,
    "backwards": lambda x: x[:, ::-1].copy()[:, ::-1],
    "integers": lambda x: x.astype(np.int16),
    "lists": lambda x: x.tolist(),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "make", [CRF, lambda: KernelCRF(run=Run(dtype="float64")), lambda: StructuredPerceptron(random_state=0)]
)
def test_the_form_does_not_matter(make, form, rng):
    X = [rng.integers(-3, 4, size=(len(labels), 4)).astype(float) for labels in Y]
    same = [FORMS[form](x) for x in X]
    model, other = make().fit(X, Y), make().fit(same, Y)
    for a, b in zip(model.predict_marginals(X), other.predict_marginals(same), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-3)  # both within the tolerance of the search
    if sparse.issparse(same[0]):
        lengths = [x.shape[0] for x in same]
        got = np.concatenate(other.predict_marginals(sparse.vstack(same), lengths=lengths))
        np.testing.assert_allclose(got, np.concatenate(other.predict_marginals(same)), atol=1e-12)


@pytest.mark.parametrize(
    ("x", "words"),
    [
        (sparse.csr_matrix((np.ones(3), [0, 5, 1], [0, 1, 2, 3]), shape=(3, 4)), "damaged sparse matrix"),
        (sparse.csr_matrix(np.ones((3, 2), dtype=complex)), "not a matrix of numbers"),
        (np.ones((3, 2), dtype=complex), "its entries are complex128"),
        (np.array([["1"], ["2"], ["3"]]), "its entries are <U1"),
        (np.array(["2020-01-01"] * 3, dtype="M8[D]")[:, None], "its entries are datetime64"),
    ],
)
def test_what_is_no_matrix_of_numbers_is_refused(x, words):
    with pytest.raises(InputError, match=f"Sequence 0 of X is .*{words}"):
        CRF().fit([x, np.ones((2, x.shape[1]))], Y)


@pytest.mark.parametrize("flat", [False, True])
def test_masks_are_not_ignored(flat):
    from kernelfields import CRF, InputError

    plain = [np.ones((3, 2)), np.zeros((2, 2))]
    hidden = np.ma.masked_array(np.ones((3, 2)), [[0, 0], [0, 1], [0, 0]])
    y = [["a", "b", "a"], ["b", "a"]]
    model = CRF().fit([np.ma.masked_array(x) for x in plain], y)  # nothing is hidden
    with pytest.raises(InputError, match="masked entries"):
        model.predict(hidden, lengths=[3]) if flat else model.predict([hidden])
    with pytest.raises(InputError, match="masked entries"):
        CRF().fit(hidden, y[0], lengths=[3]) if flat else CRF().fit([hidden, plain[1]], y)


def masked(values, place):
    values = np.asarray(values)
    mask = np.zeros(values.shape, bool)
    mask[place] = True
    return np.ma.masked_array(values, mask)


@pytest.mark.parametrize(
    ("y", "name"),
    [
        ([["a", "b", "a"], masked(["b", "a"], 1)], "Sequence 1 of y"),
        ([["a", "b", "a"], list(masked([0, 1], 1))], "Sequence 1 of y"),
        (masked(["a", "b", "a", "b", "a"], 3), "y"),
    ],
    ids=["sequence", "constants", "flat"],
)
def test_masks_of_labels_are_not_ignored(y, name):
    X = [np.ones((3, 2)), np.zeros((2, 2))]
    given = {"lengths": [3, 2]} if name == "y" else {}
    X = np.concatenate(X) if given else X
    with pytest.raises(InputError, match=f"^{name} has masked entries"):
        CRF().fit(X, y, **given)
    model = CRF().fit(X, list("ababa") if given else Y, **given)
    with pytest.raises(InputError, match=f"^{name} has masked entries"):
        model.score(X, y, **given)


@pytest.mark.parametrize(
    ("structure", "X", "y", "name"),
    [
        (Grid(), np.ones((2, 3, 2, 2)), [[["a", "b"]] * 3, masked([["a", "b"]] * 3, (1, 0))], "Grid 1"),
        (Dependency(), [np.ones((2, 2))] * 2, [[2, 0], masked([2, 0], 0)], "Sentence 1"),
        (MultiLabel(), np.ones((2, 3)), masked([[0, 1], [1, 0]], (1, 0)), "y"),
    ],
    ids=["grid", "dependency", "multi-label"],
)
def test_masks_of_other_outputs_are_not_ignored(structure, X, y, name):
    with pytest.raises(InputError, match=f"^{name}( of y)? has masked entries"):
        CRF(structure=structure).fit(list(X) if structure != MultiLabel() else X, y)


def test_masks_of_weights_are_not_ignored():
    X, y, hidden = [np.ones((3, 2)), np.zeros((2, 2))], [["a", "b", "a"], ["b", "a"]], masked([1.0, 2.0], 1)
    for model in (CRF(), HMM(), StructuredSVM(), KernelPerceptron()):
        with pytest.raises(InputError, match="sample_weight has masked entries"):
            model.fit(X, y, sample_weight=hidden)
    with pytest.raises(InputError, match="list of weights has masked entries"):
        ChainBatch([0, 3, 5], 2).marginals({"node": np.zeros((5, 2)), "edge": np.zeros((2, 2))}, hidden)


def test_masks_of_rows_are_not_ignored():
    with pytest.raises(InputError, match=r"^y has masked entries"):
        KernelLogisticRegression().fit(np.eye(3), masked(["a", "b", "a"], 2))
