"""Error against share answered, with what was promised."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import metrics
from ..errors import InputError
from ..report import Evaluation
from ..report.guaranteed import GuaranteedAnswers, judge_guarantee
from .axes import GREY, RIGHT, WRONG, axes
from .tested import labels_of, probabilities_of


def answered(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    error_at_most: float | None = None,
    confidence: float | None = None,
    ax: Any = None,
) -> Any:
    """Draw the share of wrong labels among those answered, if a model abstains where it is not sure.

    Of a calibrated model, a dashed line is the share of errors that it promises to stay below, and a cross
    what came of that promise on the test data.

    Parameters
    ----------
    model : fitted model, Evaluation or metrics.AnsweredCurve
        A model that has probabilities; the last two have what is drawn already.
    X, y : lists, optional
        Test items with their labels, of a model.
    error_at_most, confidence : float, optional
        The promise, of a calibrated model: 0.05 and 0.95 if not given.
    ax : Axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    Axes
        The first line is the curve; with a promise, the second is its level and the third the cross.
    """
    curve, promise = _measured(model, X, y, error_at_most, confidence)
    ax = axes(ax, 5.2, 3.6)
    known = np.isfinite(curve.error)
    ax.plot(curve.answered[known], curve.error[known], color=RIGHT, label="wrong among the answered")
    if promise is not None:
        _promise(ax, promise)
    percent = "{x:.0%}"
    ax.xaxis.set_major_formatter(percent)
    ax.yaxis.set_major_formatter(percent)
    ax.set(xlim=(0, 1.01), xlabel="share of labels answered", ylabel="share of them that is wrong")
    ax.set_ylim(bottom=0)
    return ax


def _measured(
    model: Any, X: Any, y: Any, error_at_most: float | None, confidence: float | None
) -> tuple[metrics.AnsweredCurve, GuaranteedAnswers | None]:
    """Return the curve, and what came of a promise where there is one."""
    known = isinstance(model, metrics.AnsweredCurve | Evaluation)
    if known and (error_at_most is not None or confidence is not None):
        raise InputError("error_at_most and confidence are for a model; evaluate takes them, too.")
    if isinstance(model, metrics.AnsweredCurve):
        return model, None
    tested = labels_of(model, X, y)
    if isinstance(model, Evaluation):
        return model.answered, model.guaranteed
    p = probabilities_of(tested.labeller, tested.inputs)
    curve = metrics.answered_curve(tested.true, p, np.asarray(tested.labeller.classes_).tolist())
    judged = tested.labeller, tested.inputs, tested.true, tested.answers
    return curve, judge_guarantee(*judged, error_at_most, confidence)


def _promise(ax: Any, promise: GuaranteedAnswers) -> None:
    said = f"promised: at most {promise.error_at_most:.3g}, confidence {promise.confidence:.3g}"
    ax.axhline(promise.error_at_most, color=GREY, linestyle="--", linewidth=1, label=said)
    if promise.holds:
        text = f"kept: {promise.answered:.1%} answered, {promise.error:.2%} wrong"
        if promise.error > promise.error_at_most:
            text = text.replace("kept", "here")
        ax.plot([promise.answered], [promise.error], "x", color=WRONG, markersize=9, label=text)
    ax.legend(frameon=False)
