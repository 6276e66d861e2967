"""A small panel of models, tried on held-out data."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from ..errors import InputError
from ..files.items import FileData
from ..trials.clock import BudgetClock, duration
from ..trials.comparing import BestModel, best_model
from ..trials.model_race import Contestant
from ..trials.splits import Split, TrialSequences
from ._models import CHAINS, OPTIONS, Choice, build, require_model
from ._status import StatusLine
from ._suited import Suit
from ._token_features import features_of

HELD_OUT = 0.2


PANEL = (
    "Tried are crf, perceptron and, where tokens are words, hmm; on numbers crf, hmm, boosted and "
    "kernel-crf, hmm and boosted alone where some are missing. ssvm, gp and, on tokens, kernel-crf take too "
    "long to be tried unasked. A fit that takes more than its share of --budget counts as far as it came. "
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


def contestants_of(
    names: list[str], data: FileData, inputs: list[Any], choice: Choice
) -> tuple[list[Contestant], dict[str, str]]:
    """Return models with defaults that suit the data, and why others do not take these."""
    found, refused = [], {}
    for name in names:
        try:
            model = build(name, data, choice.fitting(name))
            found.append(Contestant(name, model, Suit(model, _ignore)(inputs)))
        except InputError as error:  # data that one model refuses may suit another
            refused[name] = str(error)
    return found, refused


def _ignore(sentence: str) -> None:
    """Do nothing: training and held-out sequences are of one kind."""


def choose_model(
    console: Console, training: FileData, held_out: FileData | None, choice: Choice, budget: float, jobs: int
) -> PanelChoice:
    """Fit the panel, show how it did on held-out data, and name the best; after Ctrl-C, of those tried."""
    training, held_out = (training, held_out) if held_out is not None else divide(training, choice.seed)
    names = panel(training)
    require_options(names, choice, training)
    every = [*training.inputs, *held_out.inputs]
    contestants, refused = contestants_of(names, training, every, choice)
    for name, reason in refused.items():
        console.print(f"{name} was left out: {reason}")
    if not contestants:
        raise InputError("No model of the panel takes these data.")
    count = len(training.items)
    data = TrialSequences(every, [*training.labels, *held_out.labels], count)
    split = Split(np.arange(count), np.arange(count, len(every)))
    console.print(
        f"Trying {', '.join(one.name for one in contestants)}, for {duration(budget)} at most (--budget); "
        "Ctrl-C takes the best so far."
    )
    with StatusLine(console) as line:
        found = best_model(contestants, data, split, BudgetClock(budget), jobs, choice.seed, line)
    _show(console, found, held_out)
    return PanelChoice(found.name, found.fitted if found.interrupted else None)


def _show(console: Console, found: BestModel, held_out: FileData) -> None:
    for name, reason in found.refused.items():
        console.print(f"{name} was left out: {reason}")
    console.print(_table(found))
    for note in found.notes:
        console.print(note)
    why = f"the fewest errors on {len(held_out.items)} held-out {held_out.noun}"
    if found.instead_of is not None:
        why = f"within chance of {found.instead_of}, which made {why} but learns no probabilities"
    if found.interrupted:
        console.print(
            f"Interrupted. Chosen of those tried so far: {found.name}, {why}, as it was fitted for that."
        )
    else:
        console.print(f"Chosen: {found.name}, {why}.")


def divide(data: FileData, seed: int) -> tuple[FileData, FileData]:
    """Return data to train on, and a fifth of the items, or of their groups, to judge by."""
    group = (
        np.arange(len(data.items)) if data.groups is None else np.unique(data.groups, return_inverse=True)[1]
    )
    n_groups = len(np.unique(group))
    if n_groups < 2:
        what = data.noun if data.groups is None else "groups"
        raise InputError(f"auto holds out some {what} to choose by, and there is one only.")
    order = np.random.default_rng(seed).permutation(n_groups)
    held = np.isin(group, order[: max(1, round(HELD_OUT * n_groups))])
    return data.take(np.flatnonzero(~held)), data.take(np.flatnonzero(held))


def _table(found: BestModel) -> Table:
    table = Table("model", "held-out token error", "seconds", "note", title="auto: the panel")
    for name, row in found.rows.items():
        table.add_row(name, f"{row.token_error:.2%}", f"{row.seconds:.1f}", row.note)
    return table
