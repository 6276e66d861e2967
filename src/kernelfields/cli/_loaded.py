"""Models loaded for ``kf``, whatever inputs they take and whatever they can answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from ..emissions import CategoricalEmissions
from ..errors import InputError, ModelFormatError, quoted
from ..estimators import (
    HMM,
    KernelLogisticRegression,
    SelfTraining,
    SequenceClustering,
    StructureLearner,
    load,
)
from ..files.reading import Reading
from ..models.scaling import has_probabilities
from ..persistence.table_columns import remember_columns, remembered_columns
from ..report.evaluation import NOT_PROBABILISTIC

Answer = TypeVar("Answer")


def read_model(path: Path, ask: Callable[[Any], Answer]) -> Answer:
    """Ask what a model file holds; whatever is odd about it is a `ModelFormatError`.

    Headers are checked, but checks cannot foresee all that a file may say with the right checksum.
    """
    try:
        return ask(load(path))
    except (ModelFormatError, OSError, MemoryError):
        raise
    except Exception as error:
        reason = quoted(str(error) or type(error).__name__)[1:-1]
        raise ModelFormatError(f"{path} holds no model that can be used: {reason}.") from error


def load_labeller(path: Path) -> Any:
    """Read a model file; logistic regression labels sequences row by row, other classifiers are refused."""
    found = read_model(path, _labeller)
    if not hasattr(found, "predict_marginals") or isinstance(found, SequenceClustering):
        raise InputError(
            f"{path} holds a {type(found).__name__}, which is no model of sequences; use it from Python."
        )
    return found


def _labeller(model: Any) -> Any:
    if isinstance(model, StructureLearner):
        return model.model_
    if isinstance(model, SelfTraining):
        return _labeller(model.estimator_)
    return model.sequence_model() if isinstance(model, KernelLogisticRegression) else model


def reading_for(model: Any, reading: Reading) -> Reading:
    """Return how files are read for a model: with the columns of tables that it remembers."""
    return replace(reading, usual=remembered_columns(model))


def remember_reading(model: Any, reading: Reading, kind: str) -> None:
    """Let a model remember the columns of the tables that it learnt from; groups are no features."""
    named = reading.named
    if kind == "csv" and reading.group is not None:
        named = named._replace(drop=tuple(dict.fromkeys((*named.drop, reading.group))))
    remember_columns(model, named)


def require_calibrated(model: Any) -> None:
    """Refuse models that held-out data have not calibrated."""
    if getattr(model, "calibration_", None) is None:
        raise InputError("--error-at-most needs a calibrated model: see kf calibrate.")


def takes_symbols(model: Any) -> bool:
    """Return whether a model takes symbols as positions."""
    if not isinstance(model, HMM):
        return False
    given = getattr(model, "emissions_", None)
    return isinstance(given, CategoricalEmissions) or (given is None and _names_symbols(model.emissions))


def _names_symbols(emissions: Any) -> bool:
    from ..emissions import Categorical

    return emissions == "categorical" or isinstance(emissions, Categorical | CategoricalEmissions)


def warning_of(model: Any) -> str | None:
    """Return a note for models whose training does not make probabilities."""
    return None if has_probabilities(model) else NOT_PROBABILISTIC.format(type(model).__name__)
