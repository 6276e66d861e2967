"""How a training went: values and lower bounds, step by step."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..checks import shown
from ..errors import InputError


class PathStep(NamedTuple):
    """One iteration, or one size of a growing basis."""

    at: float
    """Iteration, or number of basis functions where the record has one (``size`` or ``functions``)."""
    value: float
    """R(f)."""
    lower_bound: float
    """No f' has R(f') below this; −inf where that is not known."""

    @property
    def relative_gap(self) -> float:
        """(value − lower bound) / |value|."""
        return (self.value - self.lower_bound) / max(abs(self.value), 1e-300)


class TrainingPath(NamedTuple):
    """The steps that are known, and where they ended."""

    steps: list[PathStep]
    sized: bool
    """Whether steps are counted in basis functions."""
    value: float | None
    """Of the certificate, as is the bound; None without a certificate."""
    lower_bound: float | None
    reason: str | None
    """Why training stopped."""

    @property
    def relative_gap(self) -> float | None:
        """The certified one."""
        if self.value is None or self.lower_bound is None:
            return None
        return PathStep(0, self.value, self.lower_bound).relative_gap


def path_of(estimator: Any, records: Iterable[Any] | None) -> TrainingPath | None:
    """Read what a fitted model knows of its training; None if that is nothing.

    Parameters
    ----------
    estimator
        Its ``certificate_``, ``stop_reason_`` and, unless there are records, ``path_`` are read.
    records : iterable, optional
        `Progress` records, say from ``callback``, or any others, as objects or dictionaries, with
        ``value`` and perhaps ``lower_bound``, ``iteration``, ``size`` or ``functions``. Those without a
        finite value are left out.
    """
    if records is not None and not isinstance(records, Iterable):
        raise InputError(f"path is {shown(records)}, not a list of records.")
    given = list(records if records is not None else getattr(estimator, "path_", None) or ())
    sized = bool(given) and all(_size(record) is not None for record in given)
    steps = [_step(record, n, sized) for n, record in enumerate(given)]
    certificate = getattr(estimator, "certificate_", None)
    reason = getattr(estimator, "stop_reason_", None)
    known = [step for step in steps if math.isfinite(step.value)]
    if not known and certificate is None:
        return None
    value, bound = _number(certificate, "value"), _number(certificate, "lower_bound")
    return TrainingPath(known, sized, value, bound, None if reason is None else str(reason))


def _step(record: Any, n: int, sized: bool) -> PathStep:
    at = _size(record) if sized else _number(record, "iteration")
    value, bound = _number(record, "value"), _number(record, "lower_bound")
    return PathStep(
        n if at is None else at, math.nan if value is None else value, -math.inf if bound is None else bound
    )


def _size(record: Any) -> float | None:
    """Return the number of functions; steps of a selection have their own word for it."""
    size = _number(record, "size")
    return _number(record, "functions") if size is None else size


def _number(record: Any, name: str) -> float | None:
    value: Any = record.get(name) if isinstance(record, Mapping) else getattr(record, name, None)
    # Of a list, "size" and the like would be methods.
    return float(value) if isinstance(value, (int, float)) or hasattr(value, "dtype") else None
