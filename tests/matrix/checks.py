"""What a fitted model must do, whatever it was fitted with. Every check raises an AssertionError."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from kernelfields import KernelLogisticRegression, load
from kernelfields.decoders import Abstain, Best, MinimumRisk, Posterior, Viterbi
from kernelfields.errors import InputError
from kernelfields.fitting.run import heeds, precision_of

from . import data
from .asking import draws, fitted, kbest, marginals, predictions
from .before import earlier_fit
from .cases import Case
from .enumeration import Scores, distribution
from .inputs import Given
from .links import edges_of, ends_of
from .recomputed import scores_of
from .settings import errors

ONLY_PREDICTING = ("decoder", "random_state")
"""Options that `predict` and `sample` go by; all others are for `fit`."""
HOLD_FUNCTIONS = ("decoder=risk", "parts__known=function")
"""Settings that `save` refuses, as it says."""


class Fitted(NamedTuple):
    """A fitted case and what it says."""

    case: Case
    model: Any
    asked: Given
    marginals: list[Any]
    predictions: list[list[Any]]

    @classmethod
    def of(cls, case: Case, model: Any) -> Fitted:
        asked = case.given(data.asked())
        return cls(case, model, asked, marginals(model, asked), predictions(model, asked))

    def same(self, model: Any) -> None:
        """Require another model to say the very same."""
        for ours, theirs in zip(self.marginals, marginals(model, self.asked), strict=True):
            np.testing.assert_array_equal(ours, theirs)
        assert self.predictions == predictions(model, self.asked), "other predictions"


def tolerance(done: Fitted) -> float:
    """How far marginals may be from exact ones."""
    single = done.case.kind.single or _is_single(done.case.make())
    nested = [_parameter(done.case, name) for name in ("first", "second", "estimator")]
    single = single or any(map(_is_single, nested))
    return 2e-4 if single else 1e-8


def _rounding(done: Fitted, found: list[Scores]) -> float:
    """How far marginals are moved by scores in single precision: as far as its steps are at their size.

    Without a penalty the scores of separable data grow into the ten thousands, where a step is 0.001.
    """
    single = tolerance(done) > 1e-8
    largest = max((float(np.abs(s.node[np.isfinite(s.node)]).max(initial=0)) for s in found), default=0.0)
    return float(np.finfo(np.float32).eps) * largest if single else 0.0


def _is_single(model: Any) -> bool:
    """Whether Gram matrices of a model are in single precision."""
    own = "float64" if isinstance(model, KernelLogisticRegression) else "float32"
    return heeds(model, "dtype") and precision_of(model.run, own) == "float32"


def _parameter(case: Case, name: str) -> Any:
    known = case.learner.make._parameter_names()
    return getattr(case.make(), name) if name in known else None


def check_marginals(done: Fitted) -> None:
    """Marginals are those of the documented attributes, by enumeration; so are the best labellings."""
    for given in done.marginals:
        assert np.isfinite(given).all(), "marginals are not finite"
        np.testing.assert_allclose(given.sum(axis=1), 1.0, atol=1e-5)
    found = scores_of(done.model, done.asked) if done.asked.sums == "exact" else None
    if found is None:
        return
    exact, near = [distribution(scores) for scores in found], tolerance(done) + _rounding(done, found)
    for given, right in zip(done.marginals, exact, strict=True):
        np.testing.assert_allclose(given, right.marginals, atol=near)
    best = kbest(done.model, done.asked, 3)
    for few, right in zip(best or [], exact, strict=best is not None):
        log_p = np.sort(right.log_probabilities)[::-1]
        log_p = log_p[log_p > -np.inf][:3]
        np.testing.assert_allclose([p for _, p in few], log_p, atol=20 * near, rtol=1e-4)


def check_constraints(done: Fitted) -> None:
    """No way to decode breaks a rule."""
    forbidden = getattr(done.model, "forbidden_", None)
    if forbidden is None:
        return
    decoders = _decoders(done.asked.sums)
    answers = {str(decoder): predictions(done.model, done.asked, decoder=decoder) for decoder in decoders}
    answers["decoder="] = done.predictions
    if done.asked.sums != "none":
        answers["abstain="] = predictions(done.model, done.asked, decoder="posterior", abstain=0.4)
    answers["kbest"] = [labels for few in kbest(done.model, done.asked, 4) or [] for labels, _ in few]
    answers["sample"] = [labels for draw in draws(done.model, done.asked, 3) for labels in draw]
    number = {label: k for k, label in enumerate(done.model.classes_.tolist())}
    links = {len(y): one for y, one in zip(data.asked().labels, done.asked.links or (), strict=False)}
    for how, labellings in answers.items():
        for labels in labellings:
            path = [number.get(label) for label in labels]
            assert _allowed(forbidden, path, links.get(len(path))), f"{how} gave {labels}"


def _decoders(sums: str) -> list[Any]:
    """Ways to decode that such sums over labellings allow."""
    with_sums = [Posterior(), Abstain(Posterior(), 0.4), Abstain(Viterbi(), 0.4), "posterior"]
    exact = [MinimumRisk(errors, Best(4))] if sums == "exact" else []
    return [Viterbi(), "viterbi", *([] if sums == "none" else with_sums), *exact]


def _allowed(forbidden: Any, path: list[int | None], links: Any = None) -> bool:
    """Whether a labelling obeys the rules wherever it says something."""
    roots, leaves = ends_of(links, len(path))
    if any(path[v] is not None and forbidden.starts[path[v]] for v in roots):
        return False
    if any(path[v] is not None and forbidden.ends[path[v]] for v in leaves):
        return False
    pairs = [(path[a], path[b]) for a, b in zip(*edges_of(links, len(path)), strict=True)]
    return not any(None not in pair and forbidden.pairs[pair] for pair in pairs)


def check_files(done: Fitted) -> None:
    """A model that was saved and loaded, or pickled, says the very same."""
    done.same(pickle.loads(pickle.dumps(done.model)))
    _same_from_file(done, done.model)


def _same_from_file(done: Fitted, model: Any) -> None:
    """Require a file to keep what the model says; no file holds Python functions."""
    if any(str(setting) in HOLD_FUNCTIONS for setting in done.case.settings):
        return
    with tempfile.TemporaryDirectory(prefix="matrix") as folder:
        model.save(Path(folder) / "model.kf")
        done.same(load(Path(folder) / "model.kf"))


def check_columns(done: Fitted) -> None:
    """Columns of frames are known by their names, not by their places; other names are refused."""
    if done.case.kind.name != "frames":
        return
    turned = done.asked._replace(X=[x[x.columns[::-1]] for x in done.asked.X])
    for ours, theirs in zip(done.marginals, marginals(done.model, turned), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    renamed = done.asked._replace(X=[x.rename(columns={"a": "z"}) for x in done.asked.X])
    try:
        marginals(done.model, renamed)
    except InputError:
        return
    raise AssertionError("frames with other columns are taken")


def check_clone(done: Fitted) -> None:
    """A clone, fitted to the same, says the very same."""
    done.same(fitted(clone(done.case.make()), done.case.training()))


def check_refit(done: Fitted) -> None:
    """A model that was fitted with other options to other data is as one that was not."""
    model = earlier_fit(done.case)
    fitted(model.set_params(**all_parameters(done.case)), done.case.training())
    done.same(model)
    left, lacking = vars(model).keys() - vars(done.model).keys(), vars(done.model).keys() - vars(model).keys()
    assert not left, f"left over: {sorted(left)}"
    assert not lacking, f"lacking: {sorted(lacking)}"
    _same_from_file(done, model)


def all_parameters(case: Case) -> dict[str, Any]:
    """Every option of the constructor, those that nobody sets at their defaults."""
    return case.make().get_params(deep=False)


def check_settings_after_fit(done: Fitted) -> None:
    """Options that are set after `fit` change nothing that was fitted; nor do changes inside them."""
    others = other_values(done.case)
    if _unchanged_by(done, others) is None and _unchanged_by(done, _numbers_inside(done.model)) is None:
        return
    for name, value in {**others, **_numbers_inside(done.model)}.items():
        reason = _unchanged_by(done, {name: value})
        assert reason is None, f"set_params({name}=) changed it: {reason}"
    raise AssertionError("settings changed it together, though none did by itself")


def _unchanged_by(done: Fitted, settings: dict[str, Any]) -> str | None:
    """Why a copy of the model with other settings does not say the same; None if it does."""
    model = pickle.loads(pickle.dumps(done.model)).set_params(**settings)
    try:
        done.same(model)
    except Exception as error:
        return _first_line(error)
    return None


def other_values(case: Case) -> dict[str, Any]:
    """For every option of training a value that the case did not have."""
    own = {setting.option for setting in case.settings}
    result: dict[str, Any] = {}
    for setting in case.learner.settings:
        parameter = setting.option.partition("__")[0]
        if parameter in case.learner.make._parameter_names() and parameter not in ONLY_PREDICTING:
            if setting.option in own:
                result.setdefault(parameter, case.learner.default(parameter))
            else:
                result.setdefault(setting.option, setting.make())
    return result


def _numbers_inside(model: Any) -> dict[str, float]:
    """Numbers among the settings of settings, such as the width of a kernel, each with another value.

    Half of it, which may be a share, or one more.
    """
    inside = model.get_params(deep=True)
    return {
        name: 0.5 * value if 0 < value <= 1 else value + 1.0 if value > 1 else 0.5
        for name, value in inside.items()
        if "__" in name
        and isinstance(value, float)
        and "random_state" not in name
        and name.partition("__")[0] not in ONLY_PREDICTING
    }


def _first_line(error: Exception) -> str:
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0] if text else ''}"


CHECKS: dict[str, Callable[[Fitted], None]] = {
    "marginals": check_marginals,
    "constraints": check_constraints,
    "files": check_files,
    "columns": check_columns,
    "clone": check_clone,
    "refit": check_refit,
    "settings after fit": check_settings_after_fit,
}
