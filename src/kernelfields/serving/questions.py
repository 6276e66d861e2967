"""Bodies of requests, read and checked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import InputError, quoted
from ..io.jsonl import kind_of, parse_value, unique_keys
from ..web import RefusedError
from ._base import Operation
from .budget import require_room
from .costs import Cost, room_of, size_of, total_cost
from .items import read_items, require_characters, take_items
from .limits import Limits
from .served import ServedModel

HALF = re.compile(rb"\\u[dD][89a-fA-F]")
"""How JSON names half of a character."""
PARSED = 24
"""Bytes of objects that one byte of JSON becomes, at most."""
READ_BYTE = 1e-7
"""Seconds to read a byte of JSON."""
OPTIONS = {
    "tag": ("abstain", "error_at_most", "confidence", "probabilities"),
    "marginals": (),
    "kbest": ("k",),
}
"""Keys beside "sequences", by operation."""


@dataclass(frozen=True)
class Question:
    """What one request asks for."""

    operation: Operation
    inputs: list[Any]
    """As the model takes them."""
    positions: int
    notes: list[str]
    costs: list[Cost]
    """Of every input."""
    cost: Cost
    """Of the whole request, with its body."""


def read_question(body: bytes, name: str, served: ServedModel, limits: Limits) -> Question:
    """Read a request.

    Raises
    ------
    RefusedError
        With status 400 where the body is no JSON, 422 where the answer would take too much.
    InputError
        If it asks for what the model has not, or for too much.
    """
    _require_flat(body, limits)
    value = _parsed(body)
    if not isinstance(value, dict):
        raise InputError(f'The body is {kind_of(value)}, not an object with "sequences".')
    operation = _operation(name, value, served, limits)
    if "sequences" not in value:
        raise InputError('The object has no "sequences".')
    items = take_items(value["sequences"], served.structure, limits)
    positions = sum(map(size_of, items))
    _require_small(operation.numbers(served, positions), limits)
    _require_quick(served.search_seconds(items), limits)
    costs = served.costs_of(operation, items)
    cost = total_cost([Cost(READ_BYTE * len(body), 0, PARSED * len(body)), *costs])
    _require_affordable(cost, costs, limits)  # before every position is looked at, which takes longest
    if HALF.search(body):
        require_characters(value["sequences"])
    inputs, notes = served.suited(read_items(items, served.form, served.structure))
    return Question(operation, inputs, positions, notes, costs, cost)


def _require_flat(body: bytes, limits: Limits) -> None:
    """Refuse what takes long to read, by counting brackets, also those in strings."""
    count = body.count(b"[") + body.count(b"{") if len(body) > limits.nested else 0
    if count > limits.nested:
        raise InputError(f"The body has {count} lists and objects, at most {limits.nested} are read.")


def _require_affordable(cost: Cost, costs: list[Cost], limits: Limits) -> None:
    """Refuse what would take too long, or what has an item that takes more memory than there is."""
    _require_quick(cost.seconds, limits)
    require_room(cost.bytes + max((room_of([one]) for one in costs), default=0), limits.memory)


def _require_quick(seconds: float, limits: Limits) -> None:
    if seconds > limits.seconds:
        raise too_long(f"would take about {seconds:.0f} seconds", limits)


def too_long(what: str, limits: Limits) -> RefusedError:
    """Return the refusal of what takes more time than a request may."""
    return RefusedError(
        422,
        f"The answer {what}, at most {limits.seconds:g} are spent on one request: send shorter or fewer "
        "sequences, or ask for a smaller k.",
    )


def _parsed(body: bytes) -> Any:
    try:
        return parse_value(body.decode("utf-8"), unique_keys)
    except UnicodeDecodeError as error:
        raise RefusedError(400, f"The body is not UTF-8: {error.reason} at byte {error.start}.") from None
    except InputError as error:
        raise RefusedError(400, f"The body cannot be read: {error}") from None


def _operation(name: str, value: Mapping[str, Any], served: ServedModel, limits: Limits) -> Operation:
    for key in value:
        if key != "sequences" and key not in OPTIONS[name]:
            known = ", ".join(("sequences", *OPTIONS[name]))
            raise InputError(f"There is no option {quoted(key, 40)}; {name} takes {known}.")
    if name == "tag":
        return _tag(value, served)
    if name == "marginals":
        _require_able(served.has_marginals, "probabilities", served)
        return MarginalOperation()
    _require_able(served.has_kbest, "k best labellings", served)
    k: Any = value.get("k")
    if type(k) not in (int, float) or not 1 <= k <= limits.kbest or k % 1:  # 3.0 is whole, to JSON
        raise InputError(f"k must be a whole number from 1 to {limits.kbest}.")
    return BestOperation(int(k))


def _tag(value: Mapping[str, Any], served: ServedModel) -> TagOperation:
    abstain = _share(value, "abstain", inclusive=True)
    error, confidence = _share(value, "error_at_most"), _share(value, "confidence")
    probabilities = value.get("probabilities", True)
    if type(probabilities) is not bool:
        raise InputError(f"probabilities is {kind_of(probabilities)}, not true or false.")
    if confidence is not None and error is None:
        raise InputError("confidence is that of error_at_most, which is missing.")
    if abstain is not None and error is not None:
        raise InputError("abstain does not go with error_at_most.")
    if error is not None and not served.calibrated:
        raise InputError("error_at_most needs a calibrated model: see kf calibrate.")
    if abstain is not None:
        _require_able(served.has_marginals, "probabilities", served)
    return TagOperation(abstain, error, confidence, probabilities)


def _share(value: Mapping[str, Any], name: str, *, inclusive: bool = False) -> float | None:
    """Return a probability; null says that there is none."""
    given = value.get(name)
    if given is None:
        return None
    fits = type(given) in (int, float) and (0 <= given <= 1 if inclusive else 0 < given < 1)
    if not fits:
        raise InputError(f"{name} must be a number {'from 0 to 1' if inclusive else 'above 0 and below 1'}.")
    return float(given)


def _require_able(able: bool, what: str, served: ServedModel) -> None:
    if not able:
        raise InputError(f"This model, a {type(served.model).__name__}, gives no {what}.")


def _require_small(count: int, limits: Limits) -> None:
    if count > limits.numbers:
        raise InputError(
            f"The answer would have {count} numbers or labels, at most {limits.numbers} are given."
        )


DIGITS = 6
"""Of probabilities."""


@dataclass(frozen=True)
class TagOperation(Operation):
    """Labels, with their probabilities, and null where the model is not sure enough."""

    abstain: float | None = None
    """Labels less probable than this are left open."""
    error_at_most: float | None = None
    """So many labels are left open that at most this share of the others is wrong."""
    confidence: float | None = None
    """How surely."""
    probabilities: bool = True

    def answers(self, served: ServedModel, inputs: list[Any]) -> dict[str, list[Any]]:
        """Return labels and, if they are asked for and there are any, probabilities."""
        labels = served.model.predict(inputs, **self._unsure(served))
        if not self.probabilities or not served.has_marginals:
            return {"labels": labels}
        marginals = served.model.predict_marginals(inputs)
        pairs = zip(labels, marginals, strict=True)
        return {"labels": labels, "probabilities": [_probabilities(served, y, p) for y, p in pairs]}

    def numbers(self, served: ServedModel, positions: int) -> int:
        """Return one for each position."""
        del served
        return positions

    def common(self, served: ServedModel) -> dict[str, Any]:
        """Return what is promised, if anything was asked for."""
        if self.error_at_most is None:
            return {}
        found = served.guarantees(self.error_at_most, self.confidence)
        promised = {
            "all" if name is None else str(name): {"holds": one.holds, "answered": one.answered}
            for name, one in found.items()
        }
        return {"guarantees": promised}

    def is_ready(self, served: ServedModel) -> bool:
        """Return whether the guarantee has been asked for before."""
        return self.error_at_most is None or served.knows(self.error_at_most, self.confidence)

    def _unsure(self, served: ServedModel) -> dict[str, Any]:
        if self.error_at_most is not None:
            return {"error_at_most": served.guarantees(self.error_at_most, self.confidence)}
        return {} if self.abstain is None else {"abstain": self.abstain}


@dataclass(frozen=True)
class MarginalOperation(Operation):
    """The probability of every label at every position."""

    def answers(self, served: ServedModel, inputs: list[Any]) -> dict[str, list[Any]]:
        """Return a matrix for each input."""
        found = served.model.predict_marginals(inputs)
        return {"marginals": [_rounded(np.asarray(p)) for p in found]}

    def numbers(self, served: ServedModel, positions: int) -> int:
        """Return one for each label and position."""
        return positions * len(served.classes)

    def common(self, served: ServedModel) -> dict[str, Any]:
        """Return the labels, in the order of columns."""
        return {"classes": served.classes}


@dataclass(frozen=True)
class BestOperation(Operation):
    """The k most probable labellings."""

    k: int

    def answers(self, served: ServedModel, inputs: list[Any]) -> dict[str, list[Any]]:
        """Return labellings with log-probabilities, best first."""
        found = served.model.predict_kbest(inputs, self.k)
        return {"kbest": [[{"labels": y, "log_probability": p} for y, p in several] for several in found]}

    def numbers(self, served: ServedModel, positions: int) -> int:
        """Return k for each position."""
        del served
        return positions * self.k


def _probabilities(served: ServedModel, labels: list[Any], marginals: Array) -> list[float]:
    """Return the probabilities of labels, or of the most probable one where the model abstained."""
    p = np.asarray(marginals).reshape(len(labels), len(served.classes))
    columns = np.array([served.place.get(label, -1) for label in labels], dtype=np.int64)
    columns = np.where(columns < 0, p.argmax(axis=1), columns)
    result: list[float] = _rounded(p[np.arange(len(labels)), columns])
    return result


def _rounded(p: Array) -> Any:
    return np.round(p.astype(np.float64), DIGITS).tolist()
