"""Every check of the matrix fails where it should."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from kernelfields import CRF

from . import running
from .asking import fitted
from .cases import Case
from .checks import (
    CHECKS,
    Fitted,
    check_columns,
    check_constraints,
    check_marginals,
    check_refit,
    check_settings_after_fit,
)
from .snapshots import snapshot


class Fickle(CRF):
    """A model that goes on looking at its settings."""

    def predict_marginals(self, X: Any, **how: Any) -> list[Any]:
        return [m ** (2 if "bias" in self.parts else 1) for m in super().predict_marginals(X, **how)]


def done(words: str, kind: type[CRF] = CRF) -> Fitted:
    case = Case.read(words.split())
    return Fitted.of(case, fitted(kind(**case.parameters()), case.training()))


@pytest.mark.parametrize("name", CHECKS)
def test_checks_pass_a_sound_model(name: str) -> None:
    CHECKS[name](done("CRF frames constraints=rule"))


@pytest.mark.parametrize("name", ["marginals", "files", "columns", "clone", "refit", "settings after fit"])
def test_other_marginals_are_noticed(name: str) -> None:
    sound = done("CRF frames")
    wrong = sound._replace(marginals=[m[:, ::-1] for m in sound.marginals])
    with pytest.raises(AssertionError):
        CHECKS[name](wrong)


def test_weights_that_are_not_used_are_noticed() -> None:
    model = done("CRF f64")
    model.model.coef_ = model.model.coef_ + 1e-3 * np.eye(3, 4)
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        check_marginals(model)


def test_broken_rules_are_noticed() -> None:
    free = done("CRF f64")
    free.model.forbidden_ = done("CRF f64 constraints=rule").model.forbidden_
    assert free.predictions
    with pytest.raises(AssertionError, match="decoder= gave"):
        check_constraints(free._replace(predictions=[["O", "I-x"]]))


def test_attributes_left_behind_are_noticed() -> None:
    model = done("CRF f64")
    del model.model.mismatch_
    with pytest.raises(AssertionError, match=r"left over: .'mismatch_'"):
        check_refit(model)


def test_settings_that_matter_after_fit_are_noticed() -> None:
    with pytest.raises(AssertionError, match=r"set_params\(parts__bias=\) changed it"):
        check_settings_after_fit(done("CRF f64", Fickle))


def test_columns_by_place_are_noticed() -> None:
    model = done("CRF frames")
    del model.model.feature_names_in_
    with pytest.raises(AssertionError):
        check_columns(model)


def test_foreign_errors_and_warnings_are_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> None:
        len(5)  # type: ignore[arg-type]

    monkeypatch.setattr(CRF, "fit", broken)
    assert "has no len" in running.run(Case.read(["CRF", "f64"])).failures["fit"]
    monkeypatch.setattr(CRF, "fit", lambda *_, **__: np.log(np.zeros(1)))
    assert "divide by zero" in running.run(Case.read(["CRF", "f64"])).failures["fit"]


@pytest.mark.parametrize(
    ("given", "change"),
    [
        (np.zeros(2), lambda x: x.__setitem__(0, 1.0)),
        (sparse.csr_matrix(np.eye(2)), lambda x: x.data.__setitem__(0, 2.0)),
        (pd.DataFrame({"a": [1.0]}), lambda x: x.insert(0, "b", 2.0)),
        ([{"a": 1}], lambda x: x[0].update(b=2)),
        ([["O"]], lambda x: x[0].append("O")),
    ],
)
def test_changed_inputs_are_noticed(given: Any, change: Any) -> None:
    before = snapshot(given)
    assert snapshot(given) == before
    change(given)
    assert snapshot(given) != before
