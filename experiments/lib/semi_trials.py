"""Trials in which a few sequences of a pool have labels, every method the same ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelfields.arrays import Array

from .experiment import Report
from .few_labels import cross_validated, wrong_labels
from .folds import mean_of, pick
from .intervals import paired_interval
from .results import Outcome, Row
from .semi_methods import SemiMethod
from .semi_pool import SequencePool


@dataclass(frozen=True)
class TrialPlan:
    """Numbers of labelled sequences and of trials."""

    sizes: Sequence[int]
    n_trials: int
    n_test: int
    """Most sequences that a trial is tested on, of those without labels."""
    n_folds: int
    """Of the labelled sequences, to choose settings with."""
    seed: int

    def draws(self, pool: SequencePool) -> list[Array]:
        """Return, for every trial, the sequences in random order."""
        random = np.random.default_rng(self.seed)
        return [random.permutation(len(pool.y)) for _ in range(self.n_trials)]

    def split(self, order: Array, size: int) -> tuple[Array, Array]:
        """Return labelled sequences and those to test on: fewer labels are some of the many."""
        most = max(self.sizes)
        return order[:size], order[most : most + self.n_test]


Errors = dict[str, Array]
"""Wrong labels in percent of every method, (n_trials, n_sizes)."""


def run_trials(
    pool: SequencePool, methods: Mapping[str, SemiMethod], plan: TrialPlan, report: Report
) -> Errors:
    """Return the errors of all methods; settings are chosen by cross-validation of a trial's own labels."""
    errors = {name: np.empty((plan.n_trials, len(plan.sizes))) for name in methods}
    for trial, order in enumerate(plan.draws(pool)):
        for column, size in enumerate(plan.sizes):
            report(f"trial {trial + 1} of {plan.n_trials}, {size} labelled")
            few, test = plan.split(order, size)
            truth = pick(pool.y, test)
            total = sum(map(len, truth))
            for name, method in methods.items():
                chosen = cross_validated(method.choices, method.label, pool.y, few, plan.n_folds, plan.seed)
                wrong = wrong_labels(truth, method.label(chosen, few, test))
                errors[name][trial, column] = 100 * wrong / total
    return errors


def error_rows(errors: Errors, plan: TrialPlan, rival: str, what: str, **more: Any) -> list[Row]:
    """Return means, and 95 % intervals of the trial-by-trial differences from a rival."""
    rows: list[Row] = []
    for column, size in enumerate(plan.sizes):
        for name, found in errors.items():
            mean = mean_of(found[:, column].tolist())
            low, high = paired_interval((errors[rival] - found)[:, column].tolist())
            rows.append(
                {
                    **more,
                    what: size,
                    "method": name,
                    "error %": mean.mean,
                    "standard error": mean.standard_error,
                    f"points below {rival}": None if name == rival else f"{low:+.2f} … {high:+.2f}",
                }
            )
    return rows


def draw_errors(outcome: Outcome, figure: Any, xlabel: str, ylabel: str) -> None:
    """Draw the errors of all methods, with standard errors, against the number of labelled sequences."""
    panel = figure.subplots()
    sizes = outcome.details["settings"]["sizes"]
    styles = {"kernel CRF": "o-", "structured": "s-", "SVC": "s--"}
    for number, (name, found) in enumerate(outcome.details["errors"].items()):
        means = [mean_of(column.tolist()) for column in np.asarray(found).T]
        style = next((style for start, style in styles.items() if name.startswith(start)), "^:")
        panel.errorbar(
            sizes,
            [m.mean for m in means],
            [m.standard_error for m in means],
            fmt=style,
            color=f"C{number}",
            ms=4,
            label=name,
        )
    panel.set(xlabel=xlabel, ylabel=ylabel, xscale="log")
    panel.set_xticks(sizes, sizes)
    panel.minorticks_off()
    panel.grid(alpha=0.3)
    figure.legend(loc="outside right upper", fontsize="small")
