"""Expectation-maximisation of hidden Markov models against hmmlearn, and counting of labelled sequences.

Both sides start from the same parameters with the same priors (hmmlearn adds 0.01 to the scatter of
Gaussians unless told otherwise; so do we) and make the same steps, on the same flat array with lengths.
Ours also evaluates the last model, which hmmlearn leaves to its user: one expectation step more, inside
the clock. hmmlearn runs its faster implementation, "scaling", on one thread and on two; its better time
counts. Before anything is timed, log-likelihoods of all steps must agree to 1e-8.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from hmmlearn import hmm as hmmlearn

from kernelfields import HMM, native
from kernelfields.emissions import (
    Categorical,
    CategoricalEmissions,
    DiagonalGaussian,
    FullGaussian,
    GaussianEmissions,
)

from ._run import Bar, Ceilings, Result, Side, alternate

STATES, COLUMNS, SYMBOLS, STEPS = 8, 4, 64, 3
FAMILIES = {"gaussian": ("diag", "full"), "categorical": ("categorical",)}
FEW = (2, 3, 5, 9)
"""States of Gaussian models that are also compared, on sequences of 25 and of about 1,000 positions."""


class Case(NamedTuple):
    """One model on one set of sequences."""

    family: str
    kind: str
    what: str
    X: np.ndarray
    lengths: np.ndarray
    start: np.ndarray
    transitions: np.ndarray
    emissions: tuple[np.ndarray, ...]

    def rival(self) -> Any:
        """Fit with hmmlearn."""
        settings = {
            "n_components": len(self.start),
            "n_iter": STEPS,
            "tol": -np.inf,
            "init_params": "",
            "implementation": "scaling",
        }
        if self.kind == "categorical":
            model = hmmlearn.CategoricalHMM(**settings)
            model.emissionprob_ = self.emissions[0]
        else:
            prior = 0.01 * np.eye(COLUMNS) if self.kind == "full" else 0.01
            model = hmmlearn.GaussianHMM(covariance_type=self.kind, covars_prior=prior, **settings)
            model.means_, model.covars_ = self.emissions
        model.startprob_, model.transmat_ = self.start, self.transitions
        return model.fit(self.X, self.lengths)

    def ours(self) -> HMM:
        """Fit with this project."""
        if self.kind == "categorical":
            emissions = CategoricalEmissions(self.emissions[0], None, Categorical(pseudocount=0.0))
        else:
            family = FullGaussian() if self.kind == "full" else DiagonalGaussian()
            emissions = GaussianEmissions(*self.emissions, family)
        model = HMM(
            emissions,
            start=self.start,
            transitions=self.transitions,
            pseudocount=0.0,
            tol=0.0,
            max_iter=STEPS,
        )
        return model.fit(self.X, lengths=self.lengths)


def run(quick: bool) -> Result:
    logging.getLogger("hmmlearn").setLevel(logging.ERROR)
    rounds, positions = (1, 2_000) if quick else (5, 100_000)
    rng = np.random.default_rng(0)
    ceilings = Ceilings(quick)
    sides, table = dict(ceilings.sides()), []
    cases = [case for shape in _shapes(positions, rng).items() for case in _cases(*shape, STATES, rng)]
    cases += _few_states(positions, rng)
    for case in cases:
        worst = _check(case)
        name = f"{case.kind}, {case.what}"
        sides |= {
            f"{name}: hmmlearn": Side(case.rival),
            f"{name}: hmmlearn, two cores": Side(case.rival, 2),
            f"{name}: ours": Side(case.ours),
            f"{name}: ours, two cores": Side(case.ours, 2),
        }
        table.append({"model": case.kind, "sequences": case.what, "log_likelihoods_differ": worst})
    counting = _counting(20_000 if quick else 20_000_000, rng)
    gaussians = _gaussian_counting(2_000 if quick else 60_000, rng)
    seconds = alternate({**sides, **counting, **gaussians}, rounds)
    for row in table:
        name = f"{row['model']}, {row['sequences']}"
        theirs = min(seconds[f"{name}: hmmlearn"], seconds[f"{name}: hmmlearn, two cores"])
        row["hmmlearn_ms_per_step"] = 1e3 * theirs / STEPS
        for cores, side in (("one_core", "ours"), ("two_cores", "ours, two cores")):
            row[f"ms_{cores}"] = 1e3 * seconds[f"{name}: {side}"] / STEPS
            row[cores] = theirs / seconds[f"{name}: {side}"]
    details = {
        "positions": positions,
        "states": STATES,
        "rounds": rounds,
        "machine": ceilings.rates(seconds),
        "counting_gbytes_per_second": {
            name: (20_000 if quick else 20_000_000) * 8 / seconds[name] / 1e9 for name in counting
        },
        "counting_gaussians_ms": {name: 1e3 * seconds[name] for name in gaussians},
        "em": table,
    }
    return Result("hmm", _bars(table), details)


def _bars(table: list[dict[str, Any]]) -> list[Bar]:
    """The worst over covariances and lengths; one long sequence is only reported."""
    bars = []
    for cores, bound in (("two_cores", 8.0), ("one_core", 4.0)):
        for family, kinds in FAMILIES.items():
            rows = [row for row in table if row["model"] in kinds and row["sequences"].startswith("T =")]
            bars.append(Bar(f"{family}_em_{cores}", min(row[cores] for row in rows), at_least=bound))
    for cores, bound in (("one_core", 8.0), ("two_cores", 14.0)):
        for L in FEW:
            rows = [row for row in table if row["sequences"].startswith(f"L = {L},")]
            bars.append(Bar(f"f64_{cores}_L{L}", min(row[cores] for row in rows), at_least=bound))
    return bars


def _shapes(positions: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Lengths of sequences, by what they are called."""
    ragged = rng.integers(25, 201, size=positions // 112)
    return {
        "T = 25": np.full(positions // 25, 25),
        "T = 25 to 200": ragged,
        "T = 200": np.full(positions // 200, 200),
        f"one of {positions}": np.array([positions]),
    }


def _few_states(positions: int, rng: np.random.Generator) -> list[Case]:
    """Gaussian models with few states."""
    shapes = {
        "T = 25": np.full(positions // 25, 25),
        "T = 500 to 1500": rng.integers(500, 1501, positions // 1000),
    }
    return [_cases(f"L = {L}, {what}", lengths, L, rng)[0] for L in FEW for what, lengths in shapes.items()]


def _cases(what: str, lengths: np.ndarray, L: int, rng: np.random.Generator) -> list[Case]:
    """A model of each kind, not far from the one that the data come from."""
    N = int(lengths.sum())
    start = rng.dirichlet(np.full(L, 5.0))
    transitions = rng.dirichlet(np.full(L, 5.0), size=L)
    states = rng.integers(0, L, size=N)
    means = 2 * rng.normal(size=(L, COLUMNS))
    rows = means[states] + rng.normal(size=(N, COLUMNS))
    tables = rng.dirichlet(np.full(SYMBOLS, 0.3), size=L)
    draws = rng.random(N)[:, None] > np.cumsum(tables, axis=1)[states]
    symbols = np.minimum(draws.sum(axis=1), SYMBOLS - 1)[:, None]
    symbols[0] = SYMBOLS - 1  # hmmlearn counts symbols by the largest
    guess = 0.7 * tables + 0.3 / SYMBOLS
    moved = means + 0.3 * rng.normal(size=means.shape)
    whole = np.repeat(1.5 * np.eye(COLUMNS)[None], L, axis=0)
    return [
        Case("gaussian", "diag", what, rows, lengths, start, transitions, (moved, np.full_like(moved, 1.5))),
        Case("gaussian", "full", what, rows, lengths, start, transitions, (moved, whole)),
        Case("categorical", "categorical", what, symbols, lengths, start, transitions, (guess,)),
    ]


def _check(case: Case) -> float:
    """Refuse to time sides that disagree; give the largest relative difference of log-likelihoods."""
    theirs, mine = case.rival().monitor_.history, case.ours().log_likelihoods_
    apart = float(np.max(np.abs(np.array(theirs) / np.array(mine[:-1]) - 1)))
    if apart > 1e-8:
        raise AssertionError(f"Log-likelihoods of {case.kind}, {case.what} differ by {apart:.1e}.")
    return apart


def _counting(positions: int, rng: np.random.Generator) -> dict[str, Side]:
    """Counts of starts, steps and symbols: the pass in the core, and a whole fit from arrays."""
    offsets = np.append(np.arange(0, positions, 100), positions)
    labels = rng.integers(0, STATES, size=positions, dtype=np.int32)
    symbols = rng.integers(0, SYMBOLS, size=positions, dtype=np.int32)
    lengths = np.diff(offsets)

    def count() -> object:
        return native.hmm_counts(labels, STATES, offsets, symbols, SYMBOLS)

    def fit() -> object:
        return HMM(Categorical(symbols=SYMBOLS)).fit(symbols, labels, lengths=lengths)

    calls: dict[str, Callable[[], object]] = {"counts": count, "fit": fit}
    return {
        f"{name}, {cores}": Side(call, threads)
        for name, call in calls.items()
        for cores, threads in (("one core", 1), ("two cores", 2))
    }


def _gaussian_counting(positions: int, rng: np.random.Generator) -> dict[str, Side]:
    """Fits of Gaussians to labelled rows, beside hmmlearn's statistics of rows whose states are certain."""
    states, columns = 60, 20
    labels = rng.permutation(np.arange(positions) % states)
    X = rng.normal(size=(states, columns))[labels] + rng.normal(size=(positions, columns))
    lengths, certain = np.full(positions // 100, 100), np.eye(states)[labels]

    def theirs() -> dict[str, Any]:
        model = hmmlearn.GaussianHMM(states, covariance_type="full", params="mc")
        model.n_features = columns
        statistics = model._initialize_sufficient_statistics()
        model._accumulate_sufficient_statistics(statistics, X, certain, certain, certain, certain)
        return dict(statistics)

    def ours(family: str) -> HMM:
        return HMM(family).fit(X, labels, lengths=lengths)

    statistics, means = theirs(), ours("gaussian-full").emissions_.means
    if not np.allclose(statistics["obs"] / statistics["post"][:, None], means, atol=1e-10):
        raise AssertionError("Means of labelled rows differ.")
    return {
        "labelled, gaussian": Side(lambda: ours("gaussian")),
        "labelled, gaussian-full": Side(lambda: ours("gaussian-full")),
        "labelled, hmmlearn's statistics of gaussian-full": Side(theirs),
    }
