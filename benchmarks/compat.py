"""Trainings with one changed import: sklearn-crfsuite's tutorial on CoNLL-2002, the original and compat.

Both sides get the same dictionaries and take the same steps; tags of the test set must be the same. Time is
processor time of ``fit`` and of ``predict``, reading the dictionaries included, on one thread, in turn.
"""

from __future__ import annotations

import ctypes
import platform
import time
from statistics import median
from typing import Any

import sklearn_crfsuite
from threadpoolctl import threadpool_limits

from kernelfields.compat import sklearn_crfsuite as compat

from . import _entities as entities
from ._run import Bar, Result

SETTINGS: dict[str, dict[str, Any]] = {
    "lbfgs": {
        "algorithm": "lbfgs",
        "c1": 0.1,
        "c2": 0.1,
        "max_iterations": 50,
        "all_possible_transitions": True,
    },
    "l2sgd": {"algorithm": "l2sgd", "c2": 0.5, "max_iterations": 10},
    "ap": {"algorithm": "ap", "max_iterations": 10},
    "pa": {"algorithm": "pa", "max_iterations": 10},
    "arow": {"algorithm": "arow", "max_iterations": 10},
}
SIDES = {"original": sklearn_crfsuite.CRF, "compat": compat.CRF}


def run(quick: bool) -> Result:
    rounds, limit = (1, 60) if quick else (3, 1000)
    training, test = entities.read("train", limit), entities.read("testb", limit)
    rows = []
    for name, settings in SETTINGS.items():
        runs = [{side: _side(side, settings, training, test) for side in SIDES} for _ in range(rounds)]
        row: dict[str, Any] = {"algorithm": name}
        for k, what in enumerate(("fit", "predict")):
            seconds = {side: median(each[side][k] for each in runs) for side in SIDES}
            row |= {f"{side}_{what}_seconds": seconds[side] for side in SIDES}
            row[f"{what}_speedup"] = seconds["original"] / seconds["compat"]
        expected, found = runs[-1]["original"][2], runs[-1]["compat"][2]
        row["alike"] = sum(map(_equal, expected, found)) / len(found)
        rows.append(row)
    bars = [Bar(f"{row['algorithm']}_fit_speedup", row["fit_speedup"], at_least=1) for row in rows]
    bars.append(Bar("share_of_sentences_tagged_alike", min(row["alike"] for row in rows), at_least=0.995))
    return Result("compat", bars, {"sentences": len(training.items), "rounds": rounds, "algorithms": rows})


def _equal(one: Any, other: Any) -> bool:
    return list(one) == list(other)


def _side(side: str, settings: dict[str, Any], training: Any, test: Any) -> tuple[float, float, Any]:
    if platform.libc_ver()[0] == "glibc":
        ctypes.CDLL(None).srand(1)  # the order of a new process
    with threadpool_limits(1):
        started = time.process_time()
        model = SIDES[side](**settings).fit(*training)
        fitted = time.process_time()
        tags = model.predict(test.items)
    return fitted - started, time.process_time() - fitted, tags
