"""Settings by the evidence, and averages over the posterior, for the command line."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

from ..errors import InputError
from ..files.items import FileData
from ..fitting.evidence_tuning import tune_by_evidence
from ..kernels import RBF
from ..observations import stacked
from ..posterior import Laplace, PosteriorMethod, Variational
from ..spaces import as_floats
from ..trials.preparing import inner, prepared

POSTERIORS: dict[str, PosteriorMethod] = {
    "laplace": Laplace(),
    "folds": Laplace(folds=3),
    "variational": Variational(),
}


def evident(console: Console, estimator: Any, data: FileData) -> Any:
    """Return a model with the settings of the highest evidence, after a table of what was tried."""
    whole, inputs = estimator, data.inputs
    estimator, inputs, _ = prepared(estimator, inputs, data.labels, [])
    kernel = estimator.get_params(deep=False).get("kernel")
    if isinstance(kernel, RBF):
        # a number, which the evidence can change: the width that the kernel has on these observations
        settled = kernel.on(stacked([as_floats(one) for one in inputs])) if kernel.looks_first else kernel
        estimator.set_params(kernel=RBF(gamma=float(settled.inverse_width)))
    found = tune_by_evidence(estimator, inputs, data.labels, refit=False)
    names = list(found.settings)
    table = Table(*(name.replace("kernel__gamma", "γ") for name in names), "log-evidence", title="evidence")
    for step in found.path:
        cells = [f"{step.settings[name]:.3g}" for name in names]
        value = f"{step.log_evidence:.1f}"
        table.add_row(*cells, value, style="bold" if step.log_evidence == found.log_evidence else "")
    console.print(table)
    estimator.set_params(**found.settings)
    return whole


def set_posterior(estimator: Any, name: str, posterior: str | None) -> None:
    """Let a model average over its posterior, if it has one."""
    if posterior is None:
        return
    if posterior not in POSTERIORS:
        raise InputError(f"--posterior is {posterior!r}; it must be one of {', '.join(POSTERIORS)}.")
    estimator = inner(estimator)
    if "posterior" not in estimator.get_params(deep=False):
        raise InputError(f"{name} has no posterior to average over.")
    estimator.set_params(posterior=POSTERIORS[posterior])
