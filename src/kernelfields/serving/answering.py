"""Answers to requests, those of the same kind together."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from ..errors import InfeasibleError, InputError, ScoreError
from ..web import RefusedError
from ._base import Operation
from .lane import Job, JobOutcome
from .limits import Limits
from .questions import Question, read_question
from .served import ServedModel

log = logging.getLogger(__name__)
CHUNK = 4096
"""Positions that are predicted at once: enough to be fast, few enough for memory."""
WRONG = (InputError, InfeasibleError, ScoreError)
"""What is wrong with a request; all else is wrong with the server."""


@dataclass(frozen=True)
class _Asked:
    job: Job
    question: Question


class Answering:
    """Reads requests, predicts, and writes answers.

    Parameters
    ----------
    limits : Limits
        How much one request may ask for.
    elsewhere : callable, optional
        Takes over jobs that would keep others waiting; refuses by `RefusedError` what it cannot take.
    """

    def __init__(self, limits: Limits, elsewhere: Callable[[Job], None] | None = None) -> None:
        self.limits, self.elsewhere = limits, elsewhere

    def __call__(self, jobs: Sequence[Job]) -> list[JobOutcome]:
        """Answer jobs; none of them spoils the others."""
        outcomes: list[JobOutcome] = []
        groups: dict[tuple[int, Operation], list[_Asked]] = {}
        for job in jobs:
            try:
                question = read_question(job.body, job.operation, job.served, self.limits)
                job.sequences, job.positions = len(question.inputs), question.positions
                if self.elsewhere is not None and not question.operation.is_ready(job.served):
                    self.elsewhere(job)
                    outcomes.append(JobOutcome(job, None))
                    continue
            except Exception as error:
                outcomes.append(JobOutcome(job, _refused(error)))
                continue
            groups.setdefault((id(job.served), question.operation), []).append(_Asked(job, question))
        for (_, operation), asked in groups.items():
            outcomes += _together(asked[0].job.served, operation, asked)
        return outcomes


def _together(served: ServedModel, operation: Operation, asked: list[_Asked]) -> list[JobOutcome]:
    """Answer requests of one kind at once; if that fails, each by itself, to find out whose fault it is."""
    try:
        found = _predicted(served, operation, [x for one in asked for x in one.question.inputs])
        answers = [_written(served, operation, one, found) for one in asked]
    except Exception as error:
        if len(asked) == 1:
            return [JobOutcome(asked[0].job, _refused(error))]
        return [outcome for one in asked for outcome in _together(served, operation, [one])]
    return [JobOutcome(one.job, answer) for one, answer in zip(asked, answers, strict=True)]


def _predicted(served: ServedModel, operation: Operation, inputs: list[Any]) -> dict[str, Iterator[Any]]:
    """Return the answers to all inputs, one after the other, under each name."""
    parts = [operation.answers(served, chunk) for chunk in _chunks(inputs)]
    names = parts[0] if parts else operation.answers(served, [])
    return {name: chain.from_iterable([part[name] for part in parts]) for name in names}


def _chunks(inputs: list[Any]) -> Iterator[list[Any]]:
    """Cut inputs so that each part has few positions, or one input."""
    chunk: list[Any] = []
    count = 0
    for x in inputs:
        size = len(getattr(x, "features", x))
        if chunk and count + size > CHUNK:
            yield chunk
            chunk, count = [], 0
        chunk.append(x)
        count += size
    if chunk:
        yield chunk


def _written(
    served: ServedModel, operation: Operation, asked: _Asked, found: dict[str, Iterator[Any]]
) -> bytes:
    """Take the answers to one request from those to all, and write them."""
    count = len(asked.question.inputs)
    answer: dict[str, Any] = {name: list(islice(values, count)) for name, values in found.items()}
    answer = {"model": asked.job.name, **operation.common(served), **answer}
    if asked.question.notes:
        answer["notes"] = asked.question.notes
    return json.dumps(answer, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _refused(error: Exception) -> RefusedError:
    """Return what a client is told."""
    if isinstance(error, RefusedError):
        return error
    if isinstance(error, WRONG):
        return RefusedError(422, _sentence(str(error)))
    if isinstance(error, MemoryError):
        return RefusedError(422, "There is not enough memory to answer this request; ask for less.")
    log.error("A request failed.", exc_info=error)
    return RefusedError(500, "The server failed to answer this request; its log says why.")


def _sentence(text: str) -> str:
    first = text.strip().split("\n")[0] or "The request cannot be answered."
    return first if first.endswith(".") else f"{first}."
