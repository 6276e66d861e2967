"""The same numbers, however they are stored."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from kernelfields import CRF, HMM, Cascade, InputError, KernelCRF
from kernelfields.kernels import Spectrum

ROWS = np.array([[0.5, 0.0, 0.25], [0.0, 1.0, 0.75], [1.5, 0.5, 0.0], [0.25, 0.0, 1.0]])
X = [ROWS[:3], ROWS[1:], ROWS[:1], ROWS[2:]]
Y = [["A", "B", "A"], ["B", "A", "B"], ["A"], ["A", "A"]]


def _unsorted(matrix: Any) -> Any:
    """Entries from right to left, each in two halves."""
    found = sparse.csr_matrix(matrix)
    parts = [slice(a, b) for a, b in zip(found.indptr[:-1], found.indptr[1:], strict=True)]
    columns = np.concatenate([np.repeat(found.indices[part][::-1], 2) for part in parts])
    values = np.concatenate([np.repeat(found.data[part][::-1] / 2, 2) for part in parts])
    return sparse.csr_matrix((values, columns, 2 * found.indptr), shape=found.shape)


@pytest.mark.parametrize("flat", [False, True])
def test_order_of_sparse_entries_does_not_matter(flat: bool) -> None:
    plain = CRF(0.01).fit([sparse.csr_matrix(x) for x in X], Y)
    given = _unsorted(np.concatenate(X)) if flat else [_unsorted(x) for x in X]
    lengths = {"lengths": [len(x) for x in X]} if flat else {}
    other = CRF(0.01).fit(given, Y, **lengths)
    np.testing.assert_array_equal(plain.coef_, other.coef_)
    if flat:
        assert not given.has_sorted_indices, "what was given was changed"


def test_order_of_axes_does_not_matter() -> None:
    rng = np.random.default_rng(0)
    noise = [rng.normal(size=(9, 7)) for _ in range(20)]
    model = HMM("gaussian", n_states=3, random_state=0, tol=1e-3)
    plain = model.fit(noise).emissions_.means
    other = model.fit([np.asfortranarray(x) for x in noise]).emissions_.means
    np.testing.assert_array_equal(plain, other)


@pytest.mark.parametrize("emissions", ["gaussian", "poisson", "categorical"])
@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.coo_matrix])
def test_hidden_markov_models_refuse_sparse_observations(emissions: str, form: Any) -> None:
    with pytest.raises(InputError, match="Sequence 0 of X is sparse"):
        HMM(emissions).fit([form(x) for x in X], Y)


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.coo_matrix, pd.DataFrame])
def test_features_of_tokens_are_not_for_tables(form: Any) -> None:
    with pytest.raises(
        InputError, match=r"Sequence 0 of X is a .*; with features= it must be a list of tokens"
    ):
        CRF(features="pos").fit([form(x) for x in X], Y)


def test_kernels_of_strings_refuse_sparse_rows() -> None:
    with pytest.raises(InputError, match="not the rows of a sparse matrix"):
        KernelCRF(Spectrum(1)).fit([sparse.csr_matrix(x) for x in X], Y)


@pytest.mark.parametrize("symbol", [{"word": "a"}, {"a"}, ["a", "b"]])
def test_symbols_that_are_none_are_refused_by_place(symbol: Any) -> None:
    with pytest.raises(
        InputError, match=r"Sequence 1 of X has a \w+ at position 1, which cannot be a symbol"
    ):
        HMM("categorical").fit([["a", "b"], ["a", symbol]], [["A", "B"], ["A", "B"]])


@pytest.mark.parametrize("model", [HMM("gaussian"), Cascade(CRF(), CRF(), folds=2, random_state=0)])
def test_columns_of_frames_are_known_by_name(model: Any) -> None:
    frames = [pd.DataFrame(x, columns=["a", "b", "c"]) for x in X]
    model.fit(frames, Y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    turned = [frame[["c", "a", "b"]] for frame in frames]
    for one, other in zip(model.predict_marginals(frames), model.predict_marginals(turned), strict=True):
        np.testing.assert_array_equal(one, other)
    with pytest.raises(InputError, match="Sequence 0 of X has other columns than those the model knows"):
        model.predict([frame.rename(columns={"a": "z"}) for frame in frames])


def test_symbols_in_frames_are_their_rows() -> None:
    frames = [pd.DataFrame({"word": words}) for words in (["a", "b"], ["b"])]
    model = HMM("categorical").fit(frames, [["A", "B"], ["B"]])
    assert model.emissions_.vocabulary.symbols == ["a", "b"]


def test_settings_of_a_fitted_cascade_change_nothing() -> None:
    model = Cascade(CRF(), CRF(), window=3, folds=2, random_state=0).fit(X, Y)
    before = model.predict_marginals(X)
    model.set_params(window=5, weight=3.0, keep_inputs=True, refit=False)
    for one, other in zip(before, model.predict_marginals(X), strict=True):
        np.testing.assert_array_equal(one, other)
