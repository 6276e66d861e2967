"""Which width of a Gaussian kernel, and which penalty, do without tuning: on tasks of many kinds.

Every task is learnt by `KernelCRF` with "scale" and with "median" for γ, and with penalties from 3 to
0.03. A table has the share of wrong labels on held-out sequences; its last rows have the largest distance
from the best entry of a task, which is to be small for a default.
"""

from __future__ import annotations

import warnings
from typing import Any

from kernelfields import KernelCRF
from kernelfields.kernels import RBF

from ._default_tasks import Task, tasks
from ._run import Bar, Result

PENALTIES = (3.0, 1.0, 0.3, 0.1, 0.03)
RULES = ("scale", "median")
DEFAULT = ("median", KernelCRF().penalty)
ALLOWED = 1.0
"""Points by which the worst case of the default may be worse than the least worst case."""


def run(quick: bool) -> Result:
    """Fit everything to everything."""
    penalties = (1.0, DEFAULT[1]) if quick else PENALTIES
    cells = sorted({(rule, penalty) for rule in RULES for penalty in (*penalties, DEFAULT[1])})
    table: list[dict[str, Any]] = []
    behind: dict[tuple[str, float], float] = dict.fromkeys(cells, 0.0)
    for task in tasks(quick):
        wrong = {cell: _wrong(task, *cell) for cell in cells}
        best = min(wrong.values())
        behind = {cell: max(behind[cell], wrong[cell] - best) for cell in cells}
        table.append({"task": task.name} | {_named(*cell): round(wrong[cell], 1) for cell in cells})
    table.append({"task": "most behind the best"} | {_named(*cell): round(behind[cell], 1) for cell in cells})
    bars = (
        []
        if quick
        else [Bar("worst_case_above_least_points", behind[DEFAULT] - min(behind.values()), at_most=ALLOWED)]
    )
    return Result("defaults", bars, {"wrong_labels_percent": table})


def _named(rule: str, penalty: float) -> str:
    return f"{rule} {penalty:g}"


def _wrong(task: Task, rule: str, penalty: float) -> float:
    """Return the percentage of wrong labels."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = KernelCRF(RBF(rule), penalty=penalty).fit(task.X, task.y)
    pairs = [
        (found, label)
        for one, labels in zip(model.predict(task.X_test), task.y_test, strict=True)
        for found, label in zip(one, labels, strict=True)
        if label is not None
    ]
    return 100 * sum(a != b for a, b in pairs) / len(pairs)
