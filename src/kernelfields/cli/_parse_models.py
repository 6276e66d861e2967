"""The models of trees and links that ``kf`` trains."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError
from ..estimators import CRF, StochasticCRF, StructuredPerceptron, StructuredSVM
from ..features import TemplateFeatures, Templates, parse_templates
from ..features.sets import TEXTS
from ._models import Choice
from ._parses import ParseFile, ParseTask
from ._token_features import templates_in

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
