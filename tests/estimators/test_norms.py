"""Norms that are not squared, as settings: their optima, what they set to zero, moments, files, refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from kernelfields import CRF, FreeScores, InputError, KernelCRF, KernelScores, LinearScores, Parts, Run, load
from kernelfields.objective import GroupNorm, L1Norm, SpaceNorm
from kernelfields.solvers import NewtonCG
from kernelfields.structures import ChainBatch
from kernelfields.testing import labelled_sequences

PLAIN = Parts(bias=None, boundaries=None, edges=FreeScores(penalty=1.0))


@pytest.fixture(scope="module")
def data() -> tuple[list[Any], list[Any]]:
    return labelled_sequences(np.random.default_rng(3))


def explicit(data: Any, penalty: float, norm: Any) -> float:
    """The minimum by a solver of another library, with ‖v‖ as √(‖v‖² + 10⁻¹⁶)."""
    X, y = data
    classes = sorted({label for labels in y for label in labels})
    L, D = len(classes), X[0].shape[1]
    features, labels = np.concatenate(X), np.array([classes.index(name) for names in y for name in names])
    chain = ChainBatch(np.cumsum([0, *map(len, X)]), L)

    def objective(flat: Any) -> tuple[float, Any]:
        w, v = flat[: D * L].reshape(D, L), flat[D * L :].reshape(L, L)
        scores = {"node": features @ w, "edge": v}
        log_partition, parts = chain.marginals(scores)
        value = (log_partition - chain.score(scores, labels.astype(np.int32))).sum()
        chain.subtract_parts(parts, labels.astype(np.int32))
        size, slope = norm(w)
        value += 0.5 * penalty * np.square(w).sum() + size + 0.5 * np.square(v).sum()
        return float(value), np.concatenate(
            [(features.T @ parts["node"] + penalty * w + slope).ravel(), (parts["edge"] + v).ravel()]
        )

    rough = minimize(objective, np.zeros(D * L + L * L), jac=True, options={"maxiter": 20000, "gtol": 1e-9})
    return float(rough.fun)


def lengths(w: Any, axis: Any, weight: float) -> tuple[float, Any]:
    size = np.sqrt(np.square(w).sum(axis=axis, keepdims=axis is not None) + 1e-16)
    return float(weight * np.sum(size)), weight * w / size


@pytest.mark.parametrize(("name", "axis"), [("group", 1), ("space", None)])
@pytest.mark.parametrize("penalty", [0.5, 0.0])
def test_reaches_the_optimum(name: str, axis: Any, penalty: float, data: Any) -> None:
    norm = GroupNorm(2.0) if name == "group" else SpaceNorm(2.0)
    model = CRF(
        penalty,
        parts=Parts(PLAIN, features=LinearScores(norm=norm)),
        tol=1e-8,
        max_iter=5000,
    ).fit(*data)
    assert model.certificate_.relative_gap <= 1e-8
    best = explicit(data, penalty, lambda w: lengths(w, axis, 2.0))
    assert model.certificate_.value == pytest.approx(best, rel=1e-6)


def test_moments_match_up_to_epsilon(data: Any) -> None:
    model = CRF(
        0.0,
        parts=Parts(PLAIN, features=LinearScores(norm=SpaceNorm(1.5))),
        tol=1e-8,
        max_iter=5000,
    ).fit(*data)
    assert np.abs(model.coef_).max() > 0
    assert model.mismatch_["features"] == pytest.approx(1.5, rel=1e-3)
    squared = CRF(1.5 / np.linalg.norm(model.coef_), parts=PLAIN, tol=1e-10).fit(*data)
    np.testing.assert_allclose(model.coef_, squared.coef_, atol=1e-3)


@pytest.mark.parametrize(("name", "axis"), [("l1", ()), ("group", 0)])
def test_moments_match_in_the_dual_norm(name: str, axis: Any, data: Any) -> None:
    norm = L1Norm(1.5) if name == "l1" else GroupNorm(1.5)
    model = CRF(
        0.0,
        parts=Parts(PLAIN, features=LinearScores(norm=norm)),
        tol=1e-8,
        max_iter=5000,
    ).fit(*data)
    X, y = data
    off = np.zeros_like(model.coef_)
    for x, labels, p in zip(X, y, model.predict_marginals(X), strict=True):
        off += (p - (np.asarray(labels)[:, None] == model.classes_)).T @ np.asarray(x)
    far = np.abs(off).max() if axis == () else np.linalg.norm(off, axis=axis).max()
    assert far == pytest.approx(1.5, rel=1e-3)
    assert model.mismatch_["features"] == pytest.approx(far, rel=1e-6)


def test_l1_is_the_norm_of_features(data: Any) -> None:
    one = CRF(0.5, l1=0.7, tol=1e-8).fit(*data)
    other = CRF(0.5, parts=Parts(features=LinearScores(norm=L1Norm(0.7))), tol=1e-8).fit(*data)
    np.testing.assert_array_equal(one.coef_, other.coef_)


def test_norms_of_labels_alone(data: Any, tmp_path: Path) -> None:
    model = CRF(
        0.5, parts=Parts(edges=FreeScores(norm=L1Norm(1e4)), features=LinearScores(norm=GroupNorm(1.0)))
    ).fit(*data)
    assert not model.transitions_.any()
    model.save(tmp_path / "model.kf")
    again = load(tmp_path / "model.kf")
    assert again.predict(data[0]) == model.predict(data[0])
    assert again.parts["edges"].norm == L1Norm(1e4)


@pytest.mark.parametrize("settings", [{}, {"structure": "chain2"}, {"basis": "nystroem", "random_state": 0}])
def test_kernel_expansions_have_the_norm_of_their_space(settings: dict[str, Any], data: Any) -> None:
    triples = {"second_order": FreeScores(penalty=1.0)} if settings.get("structure") == "chain2" else {}
    model = KernelCRF(
        "rbf",
        penalty=0.0,
        parts=Parts(PLAIN, kernel=KernelScores(norm=SpaceNorm(1.5)), **triples),
        run=Run(dtype="float64"),
        tol=1e-6,
        **settings,
    ).fit(*data)
    assert model.certificate_.relative_gap <= 1e-6
    assert model.mismatch_["kernel"] == pytest.approx(1.5, rel=1e-2)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"parts": L1Norm(1.0)}, "parts is L1Norm"),
        (
            {"parts": Parts(second_order=FreeScores(norm=L1Norm(1.0)))},
            "The part 'second_order' is on 'triple', which ChainBatch lacks",
        ),
        ({"parts": Parts(features=LinearScores(norm=L1Norm(1.0))), "l1": 1.0}, "leave out one"),
        (
            {"parts": Parts(features=LinearScores(norm=GroupNorm(1.0))), "solver": NewtonCG()},
            "with l1 or norms of parts it must be",
        ),
        (
            {"parts": Parts(bias=FreeScores(norm=GroupNorm(1.0, groups=np.zeros(7, int))))},
            "expected one for each",
        ),
    ],
)
def test_refusals(settings: dict[str, Any], words: str, data: Any) -> None:
    with pytest.raises(InputError, match=words):
        CRF(**settings).fit(*data)
    with pytest.raises(InputError, match=r"norm is 1\.0; it must be an L1Norm"):
        LinearScores(norm=1.0)
    with pytest.raises(InputError, match="An ℓ1 norm needs orthonormal coordinates"):
        KernelCRF("rbf", parts=Parts(kernel=KernelScores(norm=L1Norm(1.0)))).fit(*data)
