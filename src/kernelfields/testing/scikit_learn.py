"""Which of scikit-learn's own checks estimators pass: ``python -m kernelfields.testing.scikit_learn``.

``sklearn.utils.estimator_checks.check_estimator`` gives one two-dimensional X and one label per row. Models
of sequences are given every row as a sequence of one position (`RowFace`), which checks the shape of X as
scikit-learn does; all else is the model's. What a model does otherwise than scikit-learn wants has a reason
in `REASONS`; a check that fails without one is a mistake.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from .. import estimators as kf
from ..arrays import Array
from ..features import Windows
from ..models.clique_types import Edges
from ..models.parts import Parts

TWO = "Training needs two labels; a model of one says nothing."
ROUNDS = "It learns sequence by sequence: one that counts twice is another order of steps."
DENSE = "It takes dense rows only, and says so."
MISSING = "NaN is a missing value to it, not a mistake."
WEIGHTS = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
SPARSE = ("check_estimator_sparse_tag", "check_estimator_sparse_array", "check_estimator_sparse_matrix")

REASONS: Mapping[str, Mapping[str, str]] = {
    "*": {"check_classifiers_one_label": TWO, "check_fit2d_1sample": TWO},
    **{name: dict.fromkeys(WEIGHTS, ROUNDS) for name in ("AROW", "PassiveAggressive", "StochasticCRF")},
    **{name: dict.fromkeys(WEIGHTS, ROUNDS) for name in ("StructuredPerceptron", "KernelPerceptron")},
    "BoostedCRF": {
        **dict.fromkeys(SPARSE, DENSE),
        WEIGHTS[0]: "Leaves hold a number of sequences, whatever they count.",
        WEIGHTS[1]: DENSE,
        "check_estimators_nan_inf": MISSING,
    },
    "Cascade": dict.fromkeys(WEIGHTS, "Folds are drawn over sequences, whatever they count."),
    "HMM": {
        SPARSE[0]: DENSE,
        WEIGHTS[1]: DENSE,
        "check_estimators_nan_inf": MISSING,
        "check_classifiers_one_label_sample_weights": TWO,
    },
    "HiddenStates": dict.fromkeys(WEIGHTS, "The objective is not convex: equal to six digits, not to seven."),
    "HiddenUnitCRF": dict.fromkeys(WEIGHTS, "The objective is not convex, and units start at random."),
    "KernelLogisticRegression": {
        "check_parameters_default_constructible": "The defaults of run and parts are frozen, safe to share."
    },
    "SequencePipeline": dict.fromkeys(
        WEIGHTS, "Transformers do not see weights, as in scikit-learn's pipelines."
    ),
    "TransductiveSVM": {
        **dict.fromkeys(WEIGHTS, "The objective is not convex."),
        "check_non_transformer_estimators_n_iter": "Steps are in history_; there is no n_iter_.",
    },
}
"""Why checks do not hold, by estimator; "*" for all of them."""


class RowFace(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A model of sequences as a classifier of rows: every row is a sequence of one position."""

    def __init__(self, estimator: Any = None) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> RowFace:
        """Fit a clone of the model."""
        X, y = validate_data(self, X, y, accept_sparse="csr", ensure_all_finite=False)
        check_classification_targets(y)
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        self.estimator_ = clone(self.estimator).fit(_rows(X), [[label] for label in y.tolist()], **given)
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Array:
        """Return the label of every row."""
        rows = self._read(X)
        return np.array([labels[0] for labels in self.estimator_.predict(rows)])

    def predict_proba(self, X: Any) -> Array:
        """Return p(y|x) of every row."""
        rows = self._read(X)
        return np.concatenate(self.estimator_.predict_marginals(rows))

    def _read(self, X: Any) -> list[Any]:
        check_is_fitted(self)
        return _rows(validate_data(self, X, accept_sparse="csr", reset=False, ensure_all_finite=False))

    def __sklearn_tags__(self) -> Any:
        """Say that sparse matrices are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _rows(X: Any) -> list[Any]:
    return [X[n : n + 1] for n in range(X.shape[0])]


MODELS: Mapping[str, Callable[[], Any]] = {
    "AROW": lambda: kf.AROW(random_state=0),
    "BoostedCRF": lambda: kf.BoostedCRF(3, min_samples_leaf=2, random_state=0),
    "CRF": kf.CRF,
    "Cascade": lambda: kf.Cascade(kf.CRF(), kf.CRF(), folds=2, random_state=0),
    "ClassifierMarkovModel": lambda: kf.ClassifierMarkovModel(kf.KernelLogisticRegression("linear")),
    "GPSequenceClassifier": lambda: kf.GPSequenceClassifier(tol=1e-10),
    "HMM": kf.HMM,
    "HiddenStates": lambda: kf.HiddenStates(kf.CRF(), n_init=1, random_state=0),
    "HiddenUnitCRF": lambda: kf.HiddenUnitCRF(n_units=2, random_state=0),
    "KernelCRF": lambda: kf.KernelCRF(tol=1e-10),
    "KernelLogisticRegression": kf.KernelLogisticRegression,
    "KernelPerceptron": lambda: kf.KernelPerceptron(max_iter=5, random_state=0),
    "MEMM": kf.MEMM,
    "PassiveAggressive": lambda: kf.PassiveAggressive(random_state=0),
    "SelfTraining": lambda: kf.SelfTraining(kf.CRF()),
    "SequenceAdaBoost": lambda: kf.SequenceAdaBoost(20),
    "SequencePipeline": lambda: kf.SequencePipeline([_scaler(), Windows(3)], kf.CRF()),
    "StochasticCRF": lambda: kf.StochasticCRF(random_state=0),
    "StructureLearner": lambda: kf.StructureLearner(
        kf.KernelCRF(parts=Parts(edges=None), tol=1e-10), candidates=[Edges()]
    ),
    "StructuredPerceptron": lambda: kf.StructuredPerceptron(random_state=0),
    "StructuredSVM": kf.StructuredSVM,
    "TransductiveSVM": kf.TransductiveSVM,
}
OF_ROWS = ("KernelLogisticRegression", "TransductiveSVM")
"""Classifiers of rows, which need no `RowFace`."""


def _scaler() -> Any:
    from sklearn.preprocessing import StandardScaler

    from ..features import each

    return each(StandardScaler(with_mean=False))


class CheckOutcome(NamedTuple):
    """What one of scikit-learn's checks found."""

    check: str
    status: str
    """passed, skipped, xfail (there is a reason) or failed."""
    reason: str
    """Why it does not hold, or what went wrong."""


def scikit_learn_checks(name: str) -> list[CheckOutcome]:
    """Run scikit-learn's checks on one of `MODELS`."""
    reasons = {**REASONS["*"], **REASONS.get(name, {})} if name not in OF_ROWS else REASONS.get(name, {})
    model = MODELS[name]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = check_estimator(
            model if name in OF_ROWS else RowFace(model),
            on_fail=None,
            on_skip=None,
            expected_failed_checks=dict(reasons),
        )
    return [_outcome(one) for one in found]


def _outcome(found: Mapping[str, Any]) -> CheckOutcome:
    reason = found["expected_to_fail_reason"] if found["status"] == "xfail" else found["exception"]
    return CheckOutcome(found["check_name"], found["status"], " ".join(str(reason or "").split())[:200])


def table(outcomes: Mapping[str, Iterable[CheckOutcome]]) -> str:
    """Return the outcomes of some estimators as a table in Markdown, with the reasons below."""
    rows = ["| estimator | passed | do not hold, for a reason | skipped | failed |", "|---|---|---|---|---|"]
    notes: dict[str, list[str]] = {}
    for name, found in outcomes.items():
        counts = {status: [o for o in found if o.status == status] for status in STATUSES}
        rows.append(f"| {name} | " + " | ".join(str(len(counts[status])) for status in STATUSES) + " |")
        for one in (*counts["xfail"], *counts["failed"]):
            notes.setdefault(f"`{one.check}`: {one.reason}", []).append(name)
    lines = [f"- {note} ({', '.join(who)})" for note, who in sorted(notes.items())]
    return "\n".join([*rows, "", *lines]) + "\n"


STATUSES = ("passed", "xfail", "skipped", "failed")


if __name__ == "__main__":  # pragma: no cover
    print(table({name: scikit_learn_checks(name) for name in MODELS}), end="")
