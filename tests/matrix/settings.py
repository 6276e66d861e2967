"""What options are set to: values with a name that a command line can carry."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from kernelfields.constraints import Constraints
from kernelfields.decoders import Abstain, Best, MinimumRisk, Posterior

PART = "parts__"
"""Before the name of a part, the option that it is."""


class Setting(NamedTuple):
    """An option and a value for it."""

    option: str
    text: str
    make: Callable[[], Any]
    """The value, a new one every time: nothing is shared between models."""

    def __str__(self) -> str:
        return f"{self.option}={self.text}"


def options(**values: Any) -> list[Setting]:
    """Give settings: an option has one value, a tuple of values, or a dictionary of functions by name."""
    result = []
    for option, given in values.items():
        if isinstance(given, dict):
            result += [Setting(option, text, make) for text, make in given.items()]
        else:
            several = given if isinstance(given, tuple) else (given,)
            result += [Setting(option, str(value), lambda value=value: value) for value in several]
    return result


def of_parts(**values: Any) -> list[Setting]:
    """Give settings of parts by name: each is an option of its own, and goes with those of other parts."""
    return options(**{PART + name: given for name, given in values.items()})


def rule() -> Constraints:
    """A rule that the training set obeys, and an unconstrained model does not."""
    return Constraints([("O", "I-x"), ("I-x", "I-x")], forbidden_starts=["I-x"], forbidden_ends=["I-x"])


def pairs() -> Constraints:
    """A rule that graphs can have, too, where nothing is first or last."""
    return Constraints([("O", "I-x"), ("I-x", "I-x")])


def errors(truth: Any, guess: Any) -> float:
    """The number of wrong labels."""
    return float((truth != guess).sum())


def ignore(progress: Any) -> None:
    """A callback that does nothing."""


def new_path() -> Path:
    """A file that is not there yet."""
    return Path(tempfile.mkdtemp(prefix="matrix")) / "checkpoint"


DECODERS = {
    "viterbi": lambda: "viterbi",
    "posterior": lambda: "posterior",
    "abstain": lambda: Abstain(Posterior(), 0.5),
    "risk": lambda: MinimumRisk(errors, Best(5)),
}
CONSTRAINTS = {"iob2": lambda: "iob2", "rule": rule, "pairs": pairs}
CLASS_WEIGHTS = {"balanced": lambda: "balanced", "dict": lambda: {"I-x": 3.0, "O": 0.5}}
CALLBACK = {"ignore": lambda: ignore}
CHECKPOINT = {"file": new_path}
