"""All training chains of JPred4: one kernel CRF of low rank, and a cascade of two."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from kernelfields import FreeScores, Parts
from kernelfields.approximation import Nystroem
from kernelfields.arrays import Array
from kernelfields.datasets import Proteins, load_jpred4
from kernelfields.estimators import Cascade, KernelCRF
from kernelfields.features.windows import stack_windows
from kernelfields.kernels import RBF
from kernelfields.metrics import expected_calibration_error, log_likelihood, transition_accuracy

from .experiment import Report
from .folds import mean_of
from .results import Row

ONE, CASCADE = "kernel CRF", "cascade"


@dataclass(frozen=True)
class AllSettings:
    """Settings of the inputs and of both models, all chosen on the seven training folds."""

    window: int
    reach: float
    """σ of the weights exp(−d²/2σ²) of a residue d places away in the window."""
    gamma: float
    penalty: float
    edge_penalty: float
    rank: int
    """Landmarks."""
    folds: int
    """Number of first models of the cascade, each fitted without some of JPred4's folds."""
    second_window: int
    second_weight: float
    """Of marginals beside profiles."""
    second_gamma: float
    second_penalty: float
    second_edge_penalty: float
    second_rank: int
    tol: float
    train_folds: list[int]
    max_chains: int
    """Of every fold, for short runs."""
    seed: int


def run_all(settings: AllSettings, report: Report) -> list[Row]:
    """Fit both models to all training folds; test each once on the blind chains."""
    proteins = load_jpred4()
    train = _some(proteins, settings.train_folds, settings.max_chains)
    X, y = inputs(proteins, train, settings), [proteins.labels[i] for i in train]
    blind = _some(proteins, [0], settings.max_chains)
    rows: list[Row] = []
    for name, model in models(settings).items():
        report(f"{name}: {sum(map(len, y))} residues")
        started = perf_counter()
        model.fit(X, y, **({"groups": proteins.fold[train]} if name == CASCADE else {}))
        seconds = perf_counter() - started
        truth = [proteins.labels[i] for i in blind]
        judged = judge(model, inputs(proteins, blind, settings), truth)
        gap = largest_gap(model)
        rows.append(
            {
                "data": "JPred4 blind",
                "chains": len(train),
                "model": name,
                **judged,
                "gap": gap,
                "seconds": seconds,
            }
        )
    return rows


def models(settings: AllSettings) -> dict[str, Any]:
    """Return one kernel CRF, and the cascade that begins with it."""
    first = KernelCRF(
        RBF(settings.gamma),
        penalty=settings.penalty,
        parts=Parts(edges=FreeScores(penalty=settings.edge_penalty), bias=None),
        basis=Nystroem(settings.rank),
        tol=settings.tol,
        random_state=settings.seed,
        decoder="posterior",
    )
    second = KernelCRF(
        RBF(settings.second_gamma),
        penalty=settings.second_penalty,
        parts=Parts(edges=FreeScores(penalty=settings.second_edge_penalty), bias=None),
        basis=Nystroem(settings.second_rank),
        tol=settings.tol,
        random_state=settings.seed,
        decoder="posterior",
    )
    cascade = Cascade(
        first,
        second,
        window=settings.second_window,
        folds=settings.folds,
        keep_inputs=True,
        weight=settings.second_weight,
        refit=False,
        random_state=settings.seed,
    )
    return {ONE: first, CASCADE: cascade}


def inputs(proteins: Proteins, ids: Array, settings: AllSettings) -> list[Array]:
    """Return profiles in windows, in which distant positions count less."""
    return windowed([proteins.profiles[i] for i in ids], settings)


def windowed(profiles: list[Array], settings: AllSettings) -> list[Array]:
    """Return rows of every position in a window, weighted by their distance."""
    away = np.arange(settings.window) - settings.window // 2
    weights = np.exp(-0.5 * (away / settings.reach) ** 2).astype(np.float32)
    return stack_windows(profiles, settings.window, weights=weights)


def judge(model: Any, X: list[Array], y: list[Any]) -> dict[str, float]:
    """Return the accuracy over residues, and over chains with its standard error."""
    predicted, lengths = model.predict(X), [len(labels) for labels in y]
    right = [np.mean(np.asarray(a) == np.asarray(b)) for a, b in zip(y, predicted, strict=True)]
    by_chain = mean_of([100 * float(share) for share in right])
    return {
        "Q3 %": float(100 * np.average(right, weights=lengths)),
        "mean over chains %": by_chain.mean,
        "standard error": by_chain.standard_error,
        "transitions %": 100 * transition_accuracy(y, predicted),
        "log-likelihood": log_likelihood(model.sequence_log_proba(X, y), lengths),
        "calibration error": expected_calibration_error(y, model.predict_marginals(X), model.classes_),
    }


def largest_gap(model: Any) -> float | None:
    """Return the certified relative gap, for a cascade the largest of its models; None without one."""
    fitted = [*model.first_, model.second_] if isinstance(model, Cascade) else [model]
    certificates = [getattr(one, "certificate_", None) for one in fitted]
    return max((one.relative_gap for one in certificates if one is not None), default=None)


def _some(proteins: Proteins, folds: list[int], most: int) -> Array:
    """Return the chains of some folds, at most ``most`` of each."""
    return np.concatenate([np.flatnonzero(proteins.fold == fold)[:most] for fold in folds])
