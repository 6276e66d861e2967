"""Rows of differences between drawn labellings: their squares are the Hessian of the loss, on average."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kernelfields.losses import LogLoss
from kernelfields.objective import LinearChainData, Offsets, Problem, Term, drawn_differences, linear_chain
from kernelfields.objective.drawn_differences import drawn_differences as rows_of_draws

from .test_linear_chain import setting


def squared(loss: LogLoss, terms: list[Term], **settings: Any) -> tuple[LinearChainData, Problem]:
    """The same terms without the norms, fused and by whole arrays."""
    plain = [Term(term.name, term.space, 1.0) for term in terms]
    spaces = [term.space for term in plain]
    return LinearChainData(loss, spaces, None, np.float64, **settings), Problem.of(loss, plain)


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("observed", [True, False])
def test_squares_are_the_hessian_on_average(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, binary: bool, observed: bool
) -> None:
    monkeypatch.setattr(drawn_differences, "SHARE", 1e9)
    monkeypatch.setattr(drawn_differences, "TOGETHER", 24)  # eight positions of three labels
    loss, terms = setting(rng, 3, binary, observed, weights=rng.random(8) + 0.5, n_features=6)
    data, problem = squared(loss, terms)
    element = 0.5 * rng.normal(size=data.size)
    if observed:
        element[problem.slices["edges"]] *= terms[3].space.support.ravel()
    point = problem.at(element)
    hessian = np.array([point.hessian_product(unit) - unit for unit in np.eye(data.size)])
    Z = rows_of_draws(data, element, np.arange(data.size, dtype=np.int32), 1_500)
    kept = np.diag(hessian) > 1e-9 if observed else np.ones(data.size, dtype=bool)
    found, expected = (matrix[np.ix_(kept, kept)] for matrix in ((Z.T @ Z).toarray(), hessian))
    deviations = np.sqrt(expected.diagonal())
    assert (np.abs(found - expected) <= 0.15 * np.outer(deviations, deviations) + 1e-9).all()


def test_columns_that_are_left_out_change_no_others(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drawn_differences, "SHARE", 1e9)
    loss, terms = setting(rng, 3)
    data, _ = squared(loss, terms)
    element = 2.0 * rng.normal(size=data.size)
    every = rows_of_draws(data, element, np.arange(data.size, dtype=np.int32), 4)
    some = rng.random(data.size) < 0.3
    column = np.where(some, np.cumsum(some) - 1, -1).astype(np.int32)
    few = rows_of_draws(data, element, column, 4)
    np.testing.assert_allclose(few.toarray(), every.toarray()[:, some], atol=1e-6)


def test_fixed_scores_are_heeded(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """A label that is forbidden is never drawn."""
    monkeypatch.setattr(drawn_differences, "SHARE", 1e9)
    loss, terms = setting(rng, 3)
    small = np.zeros((3, 3))
    small[0, 2] = -np.inf
    spaces = [term.space for term in terms]
    data = LinearChainData(loss, spaces, Offsets(small, np.zeros((3, 3))), np.float64)
    place = data.places[linear_chain.BIAS]
    rows = rows_of_draws(data, 3 * rng.normal(size=data.size), np.arange(data.size, dtype=np.int32), 3)
    assert not rows[:, place.start + 2].toarray().any()
    assert rows[:, place.start].toarray().any()


def test_there_are_none_where_nothing_is_certain(rng: np.random.Generator) -> None:
    loss, terms = setting(rng, 5)
    data, _ = squared(loss, terms)
    assert rows_of_draws(data, np.zeros(data.size), np.arange(data.size, dtype=np.int32), 4) is None


def test_short_passes_have_none(rng: np.random.Generator) -> None:
    loss, terms = setting(rng, 5)
    data, _ = squared(loss, terms)
    assert data.at(np.zeros(data.size)).differences(np.arange(3)) is None
