"""``kf train`` for structures whose outputs are trees or links."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console

from ..errors import InputError
from ..files.reading import Reading
from ._fitting import Keeping, fit_shown, set_checkpoint
from ._models import Choice
from ._parse_models import build_parser
from ._parses import ParseFile, ParseTask, read_parse_files, read_parses, split_parses
from ._summary import held_out_parses, summary_of


class ParserPaths(NamedTuple):
    """Files and folders of a training."""

    data: Sequence[Path]
    dev: Path | None
    out: Path


def train_parser(
    console: Console,
    task: ParseTask,
    model: str,
    paths: ParserPaths,
    choice: Choice,
    reading: Reading,
    holdout: float,
    keep: Keeping,
) -> dict[str, Any]:
    """Train a model and write it; return what there is to say about it."""
    training, held_out = _split(task, paths, reading, holdout, choice.seed)
    structure = task.structure(training)
    estimator = build_parser(model, task, structure, training, choice)
    set_checkpoint(estimator, model, keep)
    for note in task.notes(structure):
        console.print(note)

    def judge(draft: Any) -> float:
        assert held_out is not None
        return task.error(held_out.outputs, draft.predict(held_out.inputs))

    inputs, outputs = training.inputs, training.outputs
    fitted = fit_shown(console, estimator, inputs, outputs, None if held_out is None else judge)
    fitted.model.save(paths.out)
    summary = summary_of(fitted.model, paths.out, fitted.seconds, fitted.notes)
    if held_out is not None:
        summary |= held_out_parses(task.judged(fitted.model, held_out))
    return summary


def _split(
    task: ParseTask, paths: ParserPaths, reading: Reading, holdout: float, seed: int
) -> tuple[ParseFile, ParseFile | None]:
    """Return training and held-out items."""
    if paths.dev is not None and holdout:
        raise InputError("--dev and --holdout exclude each other.")
    data = read_parse_files(task, paths.data, reading)
    if paths.dev is not None:
        return data, read_parses(task, paths.dev, reading)
    return split_parses(data, holdout, seed, task.noun)
