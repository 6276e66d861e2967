"""Labels for the sequences of one file or stream."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import InputError
from ..files.items import Item
from ..files.kinds import ending_of
from ..files.reading import Reading, read_items
from ..models.entity_confidence import entity_confidence
from ..report.guaranteed import CONFIDENCE
from ._answers import Answer
from ._errors import say as tell
from ._loaded import load_labeller, reading_for, require_calibrated, warning_of
from ._output import Answered
from ._parse_answers import tag_parses
from ._parse_tasks import task_of
from ._parses import ParseTask, require_parser_options
from ._suited import Suit
from ._tagged import Writer
from ._tool_answers import BY_ENDING, MARKED, OTHERWISE, AnswerPlace

BATCH = 256
"""Sequences of a file that are labelled together; those of a stream are labelled as they come."""
POSITIONS = 200_000
"""Of such sequences, after which no further one is added."""
STREAM = "-"
"""The name of the standard input."""
HINT = (
    "give one token per line, say --labelled if the last column has labels, or take some columns by --columns"
)


class Promise(NamedTuple):
    """A guarantee on errors that is asked for, if any."""

    error_at_most: float | None = None
    confidence: float | None = None

    def of(self, estimator: Any) -> dict[str, Any]:
        """Return what `predict` takes: the guarantee, computed once for all calls."""
        if self.error_at_most is None:
            if self.confidence is not None:
                raise InputError("--confidence is that of --error-at-most, which is missing.")
            return {}
        require_calibrated(estimator)
        sure = CONFIDENCE if self.confidence is None else self.confidence
        return {"error_at_most": estimator.guarantees(self.error_at_most, sure)}


@dataclass(frozen=True)
class Tagging:
    """A model, and what is asked of it."""

    model: Path
    reading: Reading
    to: str | None
    """Format of the output; that of the input if None."""
    abstain: float | None
    kbest: int | None
    marginals: bool
    allowed: bool
    labelled: bool
    flat: bool
    promise: Promise
    background: str | None = None
    """Of features of genomes, labels between which commas are that are no features."""

    def run(self, data: str, out: Path | None, quiet: bool = False) -> None:
        """Label a file, or the standard input."""
        estimator = load_labeller(self.model)
        say = (lambda _: None) if quiet else tell
        warning = warning_of(estimator)
        if warning is not None:
            say(warning)
        task = task_of(estimator)
        if task is None:
            self._label(estimator, data, out, say)
        else:
            self._parse(task, estimator, data, out)

    def _parse(self, task: ParseTask, estimator: Any, data: str, out: Path | None) -> None:
        unfit = {"abstain": self.abstain, "marginals": self.marginals, "allowed": self.allowed}
        unfit |= {"error-at-most": self.promise.error_at_most, "confidence": self.promise.confidence}
        unfit |= {"labelled": self.labelled, "parents": self.reading.parents, "flat": self.flat}
        require_parser_options(task, unfit)
        streamed = data == STREAM
        tag_parses(task, estimator, _source(data), self.reading, out, self.to, self.kbest, streamed)

    def _label(self, estimator: Any, data: str, out: Path | None, say: Callable[[str], None]) -> None:
        streamed = data == STREAM
        if not streamed and out is not None and out.exists() and out.resolve() == Path(data).resolve():
            raise InputError(f"The answers would overwrite {data}: choose another name.")
        reading = reading_for(estimator, self.reading)
        kind = reading.kind("" if streamed else data)
        items = read_items(_source(data), kind, reading, labelled=self.labelled or self.allowed)
        items = (item.flat() for item in items) if self.flat else items
        suit = Suit(estimator, say, HINT)
        unsure = self._unsure(estimator)
        written = self._written(kind, out)
        entities = written in MARKED
        with Writer.to(out, written, estimator, self.marginals, self._place(written)) as writer:
            answered = Answered(writer.file, out, "sequences")
            try:
                for batch in _batches(items, 1 if streamed else BATCH):
                    inputs = suit([item.input for item in batch])
                    asked = partial(self._answers, estimator, inputs, batch, unsure, entities)
                    for item, answer in zip(batch, _numbered(answered.count, asked), strict=True):
                        writer.write(item, answer)
                    answered.add(len(batch))
                    if streamed:
                        writer.file.flush()
            except KeyboardInterrupt as error:
                if written == "brat":  # a folder
                    raise
                answered.end(error, writer.end)

    def _written(self, kind: str, out: Path | None) -> str:
        """Return the format of the answers: as told, as the name says, or as the input."""
        told = None if out is None else BY_ENDING.get(ending_of(out.name))
        if (
            told is None
            and out is not None
            and kind in OTHERWISE
            and ending_of(out.name) in ("conll", "jsonl", "csv")
        ):
            told = ending_of(out.name)
        return self.to or told or OTHERWISE.get(kind, kind)

    def _place(self, written: str) -> AnswerPlace:
        """Return what formats of tools need to know."""
        place = AnswerPlace()
        if self.background is not None:
            if written not in ("gff3", "bed"):
                raise InputError(f"--background is for gff3 and bed, not for {written}.")
            place = place._replace(background=tuple(self.background.split(",")))
        if self.labelled and self.reading.columns is not None:
            place = place._replace(column=self.reading.columns[-1] - 1)
        return place

    def _unsure(self, estimator: Any) -> dict[str, Any]:
        """Return when labels are to be left open."""
        promised = self.promise.of(estimator)
        for option, given in (("abstain", self.abstain is not None), ("allowed", self.allowed)):
            if promised and given:
                raise InputError(f"--{option} does not go with --error-at-most.")
        return promised if self.abstain is None else {"abstain": self.abstain}

    def _answers(
        self,
        estimator: Any,
        inputs: list[Any],
        items: list[Item],
        unsure: dict[str, Any],
        entities: bool = False,
    ) -> list[Answer]:
        """Label some sequences."""
        known = {"allowed": [_known(item.y) for item in items]} if self.allowed else {}
        labels = estimator.predict(inputs, **known, **unsure)
        marginals = estimator.predict_marginals(inputs, **known)
        best = estimator.predict_kbest(inputs, self.kbest, **known) if self.kbest else [None] * len(inputs)
        found = entity_confidence(estimator, inputs, labels, marginals, **known) if entities else None
        sure: Sequence[list[float] | None] = found or [None] * len(labels)
        place = {label: n for n, label in enumerate(estimator.classes_.tolist())}
        return [
            Answer(
                one,
                [float(p[t].max() if label is None else p[t, place[label]]) for t, label in enumerate(one)],
                p,
                several,
                spans,
            )
            for one, p, several, spans in zip(labels, marginals, best, sure, strict=True)
        ]


def _source(data: str) -> Any:
    return sys.stdin.buffer if data == STREAM else Path(data)


def _batches(items: Iterator[Item], size: int) -> Iterator[list[Item]]:
    """Return some sequences at a time: fewer if they are long, as those of genomes are."""
    batch, positions = list[Item](), 0
    for item in items:
        batch.append(item)
        positions += len(item.x)
        if len(batch) == size or positions >= POSITIONS:
            yield batch
            batch, positions = [], 0
    if batch:
        yield batch


def _known(labels: list[Any] | None) -> list[Any]:
    if labels is None:
        raise InputError("--allowed needs labels that say what is known.")
    return labels


def _numbered(first: int, label: Callable[[], list[Answer]]) -> list[Answer]:
    """Label some sequences; errors count from the first of all."""
    try:
        return label()
    except InputError as error:
        message = re.sub(
            r"^(Sequence|Tree|Graph) (\d+)", lambda found: f"{found[1]} {int(found[2]) + first}", str(error)
        )
        raise InputError(message) from error
