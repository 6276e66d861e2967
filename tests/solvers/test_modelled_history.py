"""Past steps on top of a model of the Hessian: the update of BFGS from that model's inverse."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from kernelfields.arrays import Array
from kernelfields.losses import LogLoss
from kernelfields.objective import Term, hessian_model, linear_chain, linear_chain_problem
from kernelfields.objective.hessian_model import HessianModel
from kernelfields.online.descent import descend_first
from kernelfields.solvers import LBFGS, Stop
from kernelfields.solvers.modelled_history import ModelledHistory
from kernelfields.spaces import Free, SparseFeatures
from kernelfields.structures import ChainBatch
from kernelfields.testing.solvers import Quadratic

N = 8


def model_of(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, weights: Array
) -> tuple[HessianModel, Array, Array]:
    """A model at six of eight coordinates, the diagonal, and the Hessian that both are."""
    monkeypatch.setattr(hessian_model, "STEPS", 100)
    places, rows = np.arange(1, 7), rng.normal(size=(4, 6)).astype(np.float32)
    diagonal = np.full(N, 1.5)
    diagonal[places] = 1.25 + (rows**2).sum(axis=0) / weights[places]
    hessian = np.diag(diagonal)
    hessian[1:7, 1:7] = np.diag(np.full(6, 1.25)) + (rows.T @ rows) / weights[places][:, None]
    return (
        HessianModel(places, sparse.csr_matrix(rows), diagonal[places], weights[places]),
        diagonal,
        hessian,
    )


def test_corrections_solve_the_equations_of_the_model(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, diagonal, hessian = model_of(rng, monkeypatch, np.geomspace(0.1, 10, N))
    vector = rng.normal(size=N)
    solution = vector / diagonal
    solution[model.places] += model.correction(vector)
    np.testing.assert_allclose(solution, np.linalg.solve(hessian, vector), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("memory", [2, 10])
def test_steps_update_the_inverse_of_the_model(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, memory: int
) -> None:
    model, diagonal, hessian = model_of(rng, monkeypatch, np.ones(N))
    history = ModelledHistory(_plain(rng), memory, diagonal, model)
    gradient, pairs = rng.normal(size=N), []
    true = hessian + np.diag(rng.random(N))
    history.apply(-gradient)
    for _ in range(5):
        step = rng.normal(size=N)
        pairs = [*pairs, (step, true @ step)][-memory:]
        history.add(step, true @ step)
        gradient = gradient + true @ step
        found = history.apply(-gradient)
        expected = _updated(np.linalg.inv(hessian), pairs) @ -gradient
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)


def _plain(rng: np.random.Generator) -> Quadratic:
    """A problem whose inner product is the usual one."""
    return replace(Quadratic.random(N, rng), M=np.eye(N))


def _updated(inverse: Array, pairs: list[tuple[Array, Array]]) -> Array:
    """BFGS, one pair after the other, from a multiple of an inverse Hessian."""
    step, change = pairs[-1]
    result = inverse * (step @ change) / (change @ inverse @ change)
    for step, change in pairs:
        left = np.eye(N) - np.outer(step, change) / (step @ change)
        result = left @ result @ left.T + np.outer(step, step) / (step @ change)
    return result


def test_searches_are_shorter_and_end_at_the_same_optimum(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Features that occur together, as those of a template do."""
    problem = _together(rng)
    start = descend_first(problem, 5, seed=0)
    stop = Stop(gap=1e-4)
    without = LBFGS().minimize(problem, start, stop)
    monkeypatch.setattr(linear_chain, "LONG", 0)
    point = problem.at(start)
    assert problem.hessian_model(point, problem.curvatures(point)) is not None
    found, again = (LBFGS().minimize(problem, start, stop) for _ in range(2))
    assert found.progress.iteration < 0.75 * without.progress.iteration
    assert found.progress.relative_gap <= 1e-4
    assert found.point.value == pytest.approx(without.point.value, rel=2e-4)
    np.testing.assert_array_equal(found.point.element, again.point.element)


def _together(rng: np.random.Generator) -> linear_chain.Problem:
    lengths = np.full(800, 10)
    chain = ChainBatch(np.concatenate([[0], np.cumsum(lengths)]), 4)
    labels = rng.integers(4, size=chain.n_vertices).astype(np.int32)
    words = 4 * np.minimum(rng.zipf(1.5, size=chain.n_vertices) - 1, 99)
    word = np.where(rng.random(chain.n_vertices) < 0.9, words + labels, words)
    columns = [word, np.roll(word, 1) // 4 + 400, word // 8 + 500, word * 7 % 60 + 600, word // 2 + 700]
    index = np.sort(np.stack(columns, axis=1), axis=1)
    X = sparse.csr_matrix(
        (np.ones(index.size), index.ravel(), 5 * np.arange(len(index) + 1)), shape=(len(index), 1000)
    )
    terms = [Term("features", SparseFeatures(chain, "node", X), 0.1), Term("edges", Free(chain, "edge"), 0.1)]
    return linear_chain_problem(LogLoss(chain, labels), terms, None, np.float64)
