"""A small panel of models, tried on held-out data."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from ..errors import InputError
from ..metrics import token_error
from ._data import Data
from ._loaded import suited
from ._models import DENSE_LIMIT, Choice, build

HELD_OUT = 0.2


PANEL = (
    "Tried are crf, perceptron and ssvm on tokens, with up to 15,000 of them kernel-crf too; "
    "crf, hmm, boosted and kernel-crf on numbers, hmm and boosted alone where some are missing."
)
"""What `panel` does, for those who ask for help."""


def panel(data: Data) -> list[str]:
    """Name the models worth trying, by what the data are.

    Tokens have features enough for linear models; kernels are tried on some thousand of them. Numbers may
    need curved functions. Only trees and Gaussians take numbers that are missing.
    """
    if data.is_sparse:
        small = data.n_positions <= DENSE_LIMIT
        return ["crf", "perceptron", "ssvm", "kernel-crf"] if small else ["crf", "perceptron", "ssvm"]
    if any(np.isnan(item.x).any() for item in data.items):
        return ["hmm", "boosted"]
    return ["crf", "hmm", "boosted", "kernel-crf"]


def choose_model(console: Console, training: Data, held_out: Data | None, choice: Choice) -> str:
    """Fit the panel, show how it did on held-out data, and give the name of the best."""
    if held_out is None:
        order = np.random.default_rng(choice.seed).permutation(len(training.items))
        count = max(1, round(HELD_OUT * len(order)))
        training, held_out = training.take(order[count:]), training.take(order[:count])
    rows = {}
    for name in panel(training):
        try:
            rows[name] = try_model(name, training, held_out, choice)
        except InputError as error:  # data that one model refuses may suit another
            console.print(f"{name} was left out: {error}")
    if not rows:
        raise InputError("No model of the panel takes these data.")
    best = min(rows, key=lambda name: rows[name]["token_error"])
    table = Table("model", "held-out token error", "seconds", title="auto: the panel")
    for name, row in rows.items():
        table.add_row(name, f"{row['token_error']:.2%}", f"{row['seconds']:.1f}")
    console.print(table)
    console.print(f"Chosen: {best}, the fewest errors on {len(held_out.items)} held-out sequences.")
    return best


def try_model(name: str, training: Data, held_out: Data, choice: Choice) -> dict[str, Any]:
    """Fit one model and test it."""
    started = time.perf_counter()
    model = build(name, training, choice)
    model.fit(suited(model, training.inputs), training.labels)
    seconds = time.perf_counter() - started
    answers = model.predict(suited(model, held_out.inputs))
    wrong = [
        sum(a != b for a, b in zip(one, truth, strict=True))
        for one, truth in zip(answers, held_out.labels, strict=True)
    ]
    return {
        "token_error": token_error(held_out.labels, answers),
        "wrong": wrong,
        "seconds": seconds,
        "model": model,
    }
