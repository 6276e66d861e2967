"""``kf demo``: train on a tenth of the OCR letters, test on the rest."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from ..datasets import load_letters
from ..estimators import CRF
from ..solvers import Progress

TRAINING_FOLD = 0


def demo() -> None:
    """Train a linear CRF on handwritten words and show what it is worth.

    Example: kf demo
    """
    console = Console()
    letters = load_letters()
    X, y = letters.split(TRAINING_FOLD)
    X_test, y_test = letters.split(*(fold for fold in range(10) if fold != TRAINING_FOLD))
    console.print(
        f"Handwritten words, letter by letter: {len(X)} words to learn from, {len(X_test)} to test on."
    )
    model, seconds = train(console, X, y)
    console.print("", results(model, X_test, y_test, seconds))
    console.print(examples(model, X_test, y_test))


def train(console: Console, X: list[Any], y: list[list[str]]) -> tuple[CRF, float]:
    """Fit with a live line of progress."""
    started = time.perf_counter()
    with Live(console=console, refresh_per_second=10) as live:
        model = CRF(penalty=2.0, tol=1e-4, callback=lambda progress: live.update(line(progress)))
        model.fit(X, y)
    return model, time.perf_counter() - started


def line(progress: Progress) -> Text:
    """One line: iteration, objective, certified gap."""
    return Text(
        f"iteration {progress.iteration:3d}   objective {progress.value:10.2f}   "
        f"certified gap {progress.relative_gap:8.1e}   {progress.seconds:5.1f} s"
    )


def letter_error(guesses: Sequence[Sequence[object]], truth: Sequence[Sequence[object]]) -> float:
    """Share of letters read wrong."""
    pairs = zip(chain.from_iterable(guesses), chain.from_iterable(truth), strict=True)
    return float(np.mean([guess != letter for guess, letter in pairs]))


def results(model: CRF, X: list[Any], y: list[list[str]], seconds: float) -> Table:
    """Errors, log-likelihood, cost."""
    viterbi, posterior = (model.predict(X, decoder=decoder) for decoder in ("viterbi", "posterior"))
    words = np.mean([guess != word for guess, word in zip(viterbi, y, strict=True)])
    letters = sum(map(len, y))
    assert model.certificate_ is not None
    rows = {
        "letter error, Viterbi": f"{letter_error(viterbi, y):.2%}",
        "letter error, posterior": f"{letter_error(posterior, y):.2%}",
        "word error": f"{words:.2%}",
        "negative log-likelihood per letter": f"{-model.sequence_log_proba(X, y).sum() / letters:.4f}",
        "training time": f"{seconds:.1f} s",
        "iterations": f"{model.n_iter_}",
        "certified relative gap": f"{model.certificate_.relative_gap:.1e}",
    }
    table = Table("linear CRF", "value", title="Tested on nine folds")
    table.columns[1].justify = "right"
    for name, value in rows.items():
        table.add_row(name, value)
    return table


def examples(model: CRF, X: list[Any], y: list[list[str]], count: int = 3) -> Table:
    """Some words with the probability of every letter, as many read right as wrong."""
    words = {"".join(word): s for s, word in enumerate(y)}  # one sample of each word
    guesses = {s: model.predict(X[s : s + 1], decoder="posterior")[0] for s in words.values()}
    right = [s for s, guess in guesses.items() if guess == y[s]]
    wrong = [s for s, guess in guesses.items() if guess != y[s]]
    table = Table("word", "read as, with the probability of each letter", title="Some words")
    for s in right[:count] + wrong[:count]:
        marginals = model.predict_marginals(X[s : s + 1])[0].max(axis=1)
        read = Text()
        for letter, guess, p in zip(y[s], guesses[s], marginals, strict=True):
            read.append(f"{guess} {p:4.0%} ", "green" if guess == letter else "bold red")
        table.add_row("".join(y[s]), read)
    return table
