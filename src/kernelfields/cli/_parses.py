"""Sentences with trees, and pairs of sentences with links, as the commands see them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError
from ..files.reading import Reading, Source
from ..report import ParseEvaluation, evaluate


class ParseItem(NamedTuple):
    """One sentence, or one pair of sentences."""

    x: Any
    """What models take: tokens, tuples of columns; or a pair of lists of tokens."""
    y: Any
    """The true tree or links; None where the file has none."""
    texts: Any
    """What to show."""
    extra: Any
    """What scores need besides: parts of speech, or links that are possible; None for nothing."""
    source: Any
    """As it was read, to be written again with an answer."""


@dataclass(frozen=True)
class ParseFile:
    """All items of a file."""

    items: list[ParseItem]

    @property
    def inputs(self) -> list[Any]:
        """What models take."""
        return [item.x for item in self.items]

    @property
    def outputs(self) -> list[Any]:
        """True trees or links."""
        return [item.y for item in self.items]

    @property
    def texts(self) -> list[Any]:
        """What to show."""
        return [item.texts for item in self.items]

    @property
    def extras(self) -> list[Any]:
        """What scores need besides."""
        return [item.extra for item in self.items]

    def take(self, ids: Any) -> ParseFile:
        """Return some of the items."""
        return ParseFile([self.items[i] for i in ids])


class ParseAnswer(NamedTuple):
    """What a model says about one item."""

    number: int
    """Of the item in its file, counted from 0."""
    item: ParseItem
    output: Any
    marginals: Any
    """None of models without probabilities."""
    kbest: list[tuple[Any, float]] | None
    """The k best outputs with their log-probabilities, if a user wants them."""
    classes: list[Any]


class ParseTask(ABC):
    """What the commands do with one structure."""

    name: str
    """As ``--structure`` has it."""
    noun: str
    """What an item is called."""
    format: str
    """The name of its files' format, as ``--format`` has it."""
    outputs: tuple[str, ...] = ()
    """The names of other formats in which answers can be written, as ``--to`` has them."""
    lists: tuple[str, ...] = ()
    """The names of formats that have a place for the k best answers."""
    extra: str | None = None
    """The parameter of `evaluate` that takes what scores need besides."""
    cliques: str
    """The ready-made templates of its features."""

    @abstractmethod
    def read(self, source: Source, reading: Reading) -> Iterator[ParseItem]:
        """Read items one by one."""

    @abstractmethod
    def structure(self, data: ParseFile) -> Any:
        """Return the structure for the trees or links of a training set."""

    @abstractmethod
    def takes(self, structure: Any) -> bool:
        """Return whether a fitted structure is of this kind."""

    @abstractmethod
    def error(self, y_true: list[Any], y_pred: list[Any]) -> float:
        """Return the share that is wrong, to be watched while training."""

    @abstractmethod
    def lines(self, answer: ParseAnswer, to: str) -> Iterable[str]:
        """Return the lines that an answer is written as, in one of the formats."""

    def notes(self, structure: Any) -> list[str]:
        """Return what a user should know about the structure."""
        return []

    def require_format(self, given: str | None) -> None:
        """Refuse the names of other formats."""
        if given not in (None, self.format):
            raise InputError(f"--structure {self.name} reads {self.format}, not {given}.")

    def require_output(self, given: str | None) -> str:
        """Return the name of the format in which answers are written."""
        if given not in (None, self.format, *self.outputs):
            known = ", ".join((self.format, *self.outputs))
            raise InputError(f"There is no output format {given!r} of {self.name}; choose one of {known}.")
        return given or self.format

    def require_list(self, kbest: int | None, to: str) -> None:
        """Refuse several answers where a format has no place for them."""
        if kbest is not None and to not in self.lists:
            known = f"; choose --to {', '.join(self.lists)}" if self.lists else ""
            raise InputError(f"--kbest has no place in {to}{known}.")

    def judged(self, model: Any, data: ParseFile, **options: Any) -> ParseEvaluation:
        """Test a model on the items of a file."""
        extra: dict[str, Any] = {} if self.extra is None else {self.extra: data.extras}
        found: ParseEvaluation = evaluate(model, data.inputs, data.outputs, data.texts, **extra, **options)
        return found


def require_parser_options(task: ParseTask, given: dict[str, Any]) -> None:
    """Refuse options that are for labels of positions."""
    for option, value in given.items():
        if value:
            raise InputError(f"--{option} is not for --structure {task.name}.")


def require_readable(task: ParseTask, reading: Reading) -> None:
    """Refuse formats, and names of columns, that trees and links are not read from."""
    task.require_format(reading.format)
    sequence, label, drop = reading.table
    require_parser_options(task, {"sequence-column": sequence, "label-column": label, "drop": drop})


def read_parse_files(task: ParseTask, sources: Sequence[Path], reading: Reading) -> ParseFile:
    """Read all items of some files."""
    parts = [read_parses(task, one, reading) for one in sources]
    return ParseFile([item for part in parts for item in part.items])


def read_parses(task: ParseTask, source: Source, reading: Reading) -> ParseFile:
    """Read all items of a file, each with its tree or links."""
    require_readable(task, reading)
    items = list(task.read(source, reading))
    if not items:
        raise InputError(f"{source} has no {task.noun}s.")
    bare = next((n for n, item in enumerate(items) if item.y is None), None)
    if bare is not None:
        what = "links" if task.name == "matching" else "tree"
        raise InputError(f"{source}: {task.noun} {bare} has no {what}.")
    return ParseFile(items)


def split_parses(data: ParseFile, holdout: float, seed: int, noun: str) -> tuple[ParseFile, ParseFile | None]:
    """Hold some items out."""
    if holdout == 0:
        return data, None
    total = len(data.items)
    count = round(holdout * total)
    if count == 0:
        raise InputError(f"--holdout {holdout:g} holds out none of {total} {noun}s.")
    if count == total:
        raise InputError("Nothing is left to train on; hold out less.")
    order = np.random.default_rng(seed).permutation(total)
    return data.take(np.sort(order[count:])), data.take(np.sort(order[:count]))
