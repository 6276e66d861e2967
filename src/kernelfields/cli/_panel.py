"""A small panel of models, tried on held-out data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from ..errors import InputError
from ..files.items import FileData
from ._bounded import End, fit_within
from ._models import CHAINS, OPTIONS, Choice, build, require_model
from ._suited import Suit
from ._token_features import features_of

HELD_OUT = 0.2
SECONDS = 60.0
"""Time of a fit, unless a user gives it more."""


PANEL = (
    "Tried are crf, perceptron and, where tokens are words, hmm; on numbers crf, hmm, boosted and "
    "kernel-crf, hmm and boosted alone where some are missing. ssvm, gp and, on tokens, kernel-crf take too "
    "long to be tried unasked. A fit that takes more than --seconds counts as far as it came. "
    "hmm is tried on sequences only."
)
"""What `panel` does, for those who ask for help."""


def panel(data: FileData) -> list[str]:
    """Name the models worth trying, by what the data are.

    Tokens have features enough for linear models. Numbers may need curved functions. Only boosted trees and
    Gaussians take numbers that are missing. Hidden Markov models are for sequences.
    """
    return [name for name in _by_features(data) if not (data.structure != "chain" and name in CHAINS)]


def _by_features(data: FileData) -> list[str]:
    if data.is_text:
        return ["crf", "perceptron", "hmm"]
    if data.is_sparse:
        return ["crf", "perceptron"]
    if any(np.isnan(item.x).any() for item in data.items):
        return ["hmm", "boosted"]
    return ["crf", "hmm", "boosted", "kernel-crf"]


class PanelTrial(NamedTuple):
    """The result of one model on one split of the data."""

    name: str
    refused: str | None
    """Why the model does not take these data; then nothing else is known."""
    model: Any = None
    end: End = End.DONE
    wrong: tuple[int, ...] = ()
    """Wrong labels of every held-out sequence."""
    observed: int = 0
    """Held-out labels that were observed."""
    seconds: float = 0.0
    note: str = ""

    @property
    def error(self) -> float:
        """Share of held-out labels that are wrong."""
        return sum(self.wrong) / max(self.observed, 1)


def try_model(
    name: str, training: FileData, held_out: FileData, choice: Choice, seconds: float | None = SECONDS
) -> PanelTrial:
    """Fit one model and test it."""
    try:
        model = build(name, training, choice.fitting(name))
        done = fit_within(model, Suit(model, _ignore)(training.inputs), training.labels, seconds)
        answers = model.predict(Suit(model, _ignore)(held_out.inputs))
    except InputError as error:  # data that one model refuses may suit another
        return PanelTrial(name, str(error))
    wrong = [
        sum(a != b for a, b in zip(one, truth, strict=True) if b is not None)
        for one, truth in zip(answers, held_out.labels, strict=True)
    ]
    note = (
        f"stopped after {done.seconds:.0f} s" if done.end is End.OUT_OF_TIME else " ".join(done.warnings[:1])
    )
    return PanelTrial(name, None, model, done.end, tuple(wrong), len(held_out.known), done.seconds, note)


def _ignore(sentence: str) -> None:
    """Do nothing: training and held-out sequences are of one kind."""


def in_turn(tasks: list[tuple[Any, ...]], jobs: int) -> Iterator[PanelTrial]:
    """Try models on several splits in parallel; yield results in order, each as soon as it is ready."""
    if jobs == 1:
        yield from (try_model(*task) for task in tasks)
        return
    from joblib import Parallel, delayed

    yield from Parallel(n_jobs=jobs, return_as="generator")(delayed(try_model)(*task) for task in tasks)


def require_options(names: list[str], choice: Choice, data: FileData) -> None:
    """Refuse what no model of a panel understands."""
    if choice.features is not None or choice.clusters is not None:
        features_of(data, choice.features, choice.clusters)
    for name in names:
        require_model(name)
    for option in choice.given:
        if not any(option in OPTIONS[name] for name in names):
            raise InputError(f"--{option.replace('_', '-')} is for none of {', '.join(names)}.")


class PanelChoice(NamedTuple):
    """The model that a panel came out in favour of."""

    name: str
    fitted: Any
    """The model as it was tried, if Ctrl-C left no time for another fit; else None."""


def choose_model(
    console: Console, training: FileData, held_out: FileData | None, choice: Choice, seconds: float, jobs: int
) -> PanelChoice:
    """Fit the panel, show how it did on held-out data, and name the best; after Ctrl-C, of those tried."""
    training, held_out = (training, held_out) if held_out is not None else _divide(training, choice.seed)
    names = panel(training)
    require_options(names, choice, training)
    trials: list[PanelTrial] = []
    interrupted = False
    try:
        for trial in in_turn([(name, training, held_out, choice, seconds) for name in names], jobs):
            if trial.refused is not None:
                console.print(f"{trial.name} was left out: {trial.refused}")
                continue
            trials.append(trial)
            console.print(f"{trial.name}: {trial.error:.2%} wrong, {trial.seconds:.1f} s")
            if trial.end is End.INTERRUPTED:
                raise KeyboardInterrupt
    except KeyboardInterrupt:
        if not trials:
            raise
        interrupted = True
    if not trials:
        raise InputError("No model of the panel takes these data.")
    best = min(trials, key=lambda trial: trial.error)
    console.print(_table(trials))
    why = f"the fewest errors on {len(held_out.items)} held-out {held_out.noun}"
    if interrupted:
        console.print(
            f"Interrupted. Chosen of those tried so far: {best.name}, {why}, as it was fitted for that."
        )
    else:
        console.print(f"Chosen: {best.name}, {why}.")
    return PanelChoice(best.name, best.model if interrupted else None)


def _divide(data: FileData, seed: int) -> tuple[FileData, FileData]:
    if len(data.items) < 2:
        raise InputError(f"auto holds out some {data.noun} to choose by, and there is one only.")
    order = np.random.default_rng(seed).permutation(len(data.items))
    count = max(1, round(HELD_OUT * len(order)))
    return data.take(order[count:]), data.take(order[:count])


def _table(trials: list[PanelTrial]) -> Table:
    table = Table("model", "held-out token error", "seconds", "note", title="auto: the panel")
    for trial in trials:
        table.add_row(trial.name, f"{trial.error:.2%}", f"{trial.seconds:.1f}", trial.note)
    return table
