"""What held-out data said about a model, in words and numbers."""

from __future__ import annotations

from typing import Any

from .guaranteed import CONFIDENCE, ERROR_AT_MOST


def trust_of(model: Any) -> dict[str, Any]:
    """Return temperature, biases and guarantee of a model, as far as it has them."""
    return {**_scaling(model), **_calibration(model)}


def _scaling(model: Any) -> dict[str, Any]:
    found = getattr(model, "scaling_", None)
    if found is None:
        return {}
    labels = model.classes_.tolist()
    result: dict[str, Any] = {
        "temperature": found.temperature,
        "recalibrated_by": f"{found.n_sequences} sequences",
    }
    if found.bias is not None:
        pairs = zip(labels, found.bias.tolist(), strict=True)
        result["biases"] = {str(label): round(value, 4) for label, value in pairs}
    return result


def _calibration(model: Any) -> dict[str, Any]:
    record = getattr(model, "calibration_", None)
    if record is None:
        return {}
    found = model.guarantees(ERROR_AT_MOST, CONFIDENCE)
    result: dict[str, Any] = {"calibrated_by": f"{record.answers.n_sequences} sequences, {record.units}"}
    answered = {str(name): _words(one) for name, one in found.items()}
    result["answers_with_5_percent_errors"] = answered if record.per_label else _words(found[None])
    return result


def _words(guarantee: Any) -> str:
    if not guarantee.holds:
        return "none"
    return f"{100 * guarantee.answered:.3g} % (probability {guarantee.threshold.least:.4g} or more)"
