"""``kf train`` for structures whose outputs are trees or links."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console

from ..errors import InputError
from ..estimators import CRF, StochasticCRF, StructuredPerceptron, StructuredSVM
from ..features import TemplateFeatures, Templates, parse_templates
from ..features.sets import TEXTS
from ..files.reading import Reading
from ._fitting import Keeping, fit_shown, set_checkpoint
from ._models import Choice
from ._parses import ParseFile, ParseTask, read_parse_files, read_parses, split_parses
from ._summary import held_out_parses, summary_of
from ._token_features import templates_in


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


OPTIONS = {
    "crf": ("penalty", "features", "tol", "max_iter"),
    "ssvm": ("penalty", "features", "tol", "max_iter"),
    "perceptron": ("features", "max_iter"),
    "sgd": ("penalty", "features", "max_iter"),
}
"""Fields of `Choice` that a model of trees or links understands."""


KINDS: dict[str, Any] = {"ssvm": StructuredSVM, "perceptron": StructuredPerceptron, "sgd": StochasticCRF}


def build_parser(name: str, task: ParseTask, structure: Any, data: ParseFile, choice: Choice) -> Any:
    """Return an unfitted model; an option that it does not have is refused."""
    if name not in OPTIONS:
        raise InputError(f"{name} is not for --structure {task.name}: choose one of {', '.join(OPTIONS)}.")
    for option in choice.given:
        if option not in OPTIONS[name] and option != "structure":
            raise InputError(f"--{option.replace('_', '-')} is not for {name} with --structure {task.name}.")
    settings: dict[str, Any] = {"structure": structure, "features": _features(task, data, choice)}
    for option in ("penalty", "tol", "max_iter"):
        if getattr(choice, option) is not None:
            settings[option] = getattr(choice, option)
    if name == "crf":
        return CRF(**settings)
    return KINDS[name](**settings, random_state=choice.seed)


def _features(task: ParseTask, data: ParseFile, choice: Choice) -> TemplateFeatures:
    given = choice.features or task.cliques
    templates = _templates(task, given)
    if templates.cliques.name.lower() != task.cliques:
        raise InputError(
            f"--features {given} has templates of {templates.cliques.name.lower()}; --structure {task.name} "
            f"needs templates of {task.cliques}."
        )
    return TemplateFeatures(templates, choice.min_count or 1, dtype=np.float32)


def _templates(task: ParseTask, given: str) -> Templates:
    if given in TEXTS:
        return parse_templates(TEXTS[given])
    return templates_in(given, task.cliques)
