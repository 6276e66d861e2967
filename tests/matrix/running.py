"""Running a case: it is fitted or refused, and what is fitted is checked."""

from __future__ import annotations

import traceback
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import kernelfields
from kernelfields.errors import InputError

from .asking import fitted
from .before import earlier_fit
from .cases import Case
from .checks import CHECKS, Fitted, all_parameters
from .snapshots import snapshot

HERE = str(Path(kernelfields.__file__).parent)


class Outcome(NamedTuple):
    """What became of a case."""

    refusal: str | None
    """The sentence it was refused with."""
    failures: dict[str, str]
    """Of every check that failed, why."""


def run(case: Case) -> Outcome:
    """Fit, and look at everything that a fitted model must do."""
    model, arguments = case.make(), case.training()
    before = snapshot((model.get_params(deep=False), arguments))
    try:
        fitted(model, arguments)
    except Exception as error:
        if not of_ours(error):
            return Outcome(None, {"fit": brief(error)})
        return Outcome(str(error), _failures_of_refusal(case))
    try:
        done = Fitted.of(case, model)
    except Exception as error:
        if of_ours(error) and case.kind.sums != "exact":
            return Outcome(str(error), {})  # a way to decode that needs exact sums
        return Outcome(None, {"predict": brief(error)})
    failures = _failures_of_twin(done)
    if failures is None:
        failures = _failures_of_checks(done)
    if snapshot((model.get_params(deep=False), arguments)) != before:
        failures["inputs"] = "what was given was changed"
    return Outcome(None, failures)


def _failures_of_checks(done: Fitted) -> dict[str, str]:
    """Run all checks."""
    failures = {}
    for name, check in CHECKS.items():
        try:
            check(done)
        except Exception as error:
            failures[name] = brief(error)
    return failures


def _failures_of_twin(done: Fitted) -> dict[str, str] | None:
    """The same numbers in another form make the same model; None if this is no other form.

    What holds for a model holds for another that has learnt the very same: no check is made twice, but for
    frames, whose names are known besides.
    """
    if done.case.kind.twin is None:
        return None
    twin = _twin_of(done.case.learner.name, done.case.kind.twin, *map(str, done.case.settings))
    if twin is None:
        return {"twin": "the same numbers in another form are refused"}
    try:
        for ours, theirs in zip(done.marginals, twin.marginals, strict=True):
            np.testing.assert_allclose(ours, theirs, atol=1e-6)
    except AssertionError as error:
        return {"twin": brief(error)}
    same = snapshot(_learnt(done.model)) == snapshot(_learnt(twin.model))
    return {} if same and done.case.kind.name != "frames" else None


@lru_cache(maxsize=4)
def _twin_of(*words: str) -> Fitted | None:
    case = Case.read(list(words))
    try:
        return Fitted.of(case, fitted(case.make(), case.training()))
    except (InputError, TypeError):
        return None


def _failures_of_refusal(case: Case) -> dict[str, str]:
    """A fit that is refused leaves a fitted model as it was."""
    try:
        model = earlier_fit(case)
        kept = snapshot(_learnt(model))
        with suppress(InputError, TypeError):
            fitted(model.set_params(**all_parameters(case)), case.training())
        assert snapshot(_learnt(model)) == kept, "a fit that was refused changed the model"
    except Exception as error:
        return {"refused refit": brief(error)}
    return {}


def _learnt(model: Any) -> dict[str, Any]:
    """What a fit leaves behind, but for when it was and how long it took, and names that only frames have."""
    left_out = {*model.get_params(deep=False), "_growth", "provenance_", "feature_names_in_", "path_"}
    return {name: value for name, value in vars(model).items() if name not in left_out}


def of_ours(error: Exception) -> bool:
    """Whether an error is a refusal in one line by the package."""
    text, last = str(error), traceback.extract_tb(error.__traceback__)[-1]
    one_line = "\n" not in text and text.endswith(".")
    return one_line and last.filename.startswith(HERE) and isinstance(error, InputError)


def brief(error: Exception) -> str:
    """Type, first lines and place of an error."""
    words = " ".join(str(error).split())[:240]
    places = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(HERE)]
    where = f" [{Path(places[-1].filename).name}:{places[-1].lineno}]" if places else ""
    return f"{type(error).__name__}: {words}{where}"
