"""Answers to requests, those of the same kind together."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from ..errors import InfeasibleError, InputError, ScoreError
from ..web import RefusedError
from ._base import Operation
from .budget import BUSY, RETRY, MemoryBudget
from .costs import pieces, room_of, size_of
from .lane import Job, JobOutcome
from .limits import Limits
from .questions import Question, read_question, too_long
from .served import ServedModel

log = logging.getLogger(__name__)
ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
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
    budget : MemoryBudget, optional
        What all requests share; one of its own if not given.
    elsewhere : callable, optional
        Takes over jobs that would keep others waiting; refuses by `RefusedError` what it cannot take.
    """

    def __init__(
        self,
        limits: Limits,
        elsewhere: Callable[[Job], None] | None = None,
        budget: MemoryBudget | None = None,
    ) -> None:
        self.limits, self.elsewhere = limits, elsewhere
        self.budget = budget or MemoryBudget(limits.memory)

    def __call__(self, jobs: Sequence[Job]) -> list[JobOutcome]:
        """Answer jobs; none of them spoils the others."""
        outcomes: list[JobOutcome] = []
        groups: dict[tuple[int, Operation], list[_Asked]] = {}
        for job in jobs:
            try:
                question = self._question(job)
                if self.elsewhere is not None and not self._is_cheap(job, question):
                    self.elsewhere(job)
                    outcomes.append(JobOutcome(job, None))
                    continue
            except Exception as error:
                outcomes.append(JobOutcome(job, _refused(error)))
                continue
            groups.setdefault((id(job.served), question.operation), []).append(_Asked(job, question))
        for (_, operation), asked in groups.items():
            outcomes += self._together(asked[0].job.served, operation, asked)
        return outcomes

    def _question(self, job: Job) -> Question:
        """Read a request once."""
        if job.question is None:
            job.question = read_question(job.body, job.operation, job.served, self.limits)
        question: Question = job.question
        job.sequences, job.positions = len(question.inputs), question.positions
        return question

    def _is_cheap(self, job: Job, question: Question) -> bool:
        return question.operation.is_ready(job.served) and question.cost.seconds <= self.limits.cheap

    def _together(self, served: ServedModel, operation: Operation, asked: list[_Asked]) -> list[JobOutcome]:
        """Answer requests of one kind at once; if that fails, each by itself, to see whose fault it is."""
        costs = [cost for one in asked for cost in one.question.costs]
        sizes = [size_of(x) for one in asked for x in one.question.inputs]
        cut = pieces(costs, sizes, self.limits.piece, CHUNK)
        room = max((room_of(costs[piece]) for piece in cut), default=0)
        try:
            with self.budget.taken(room + sum(one.question.cost.bytes for one in asked)):
                for one in asked:
                    one.job.begun = True
                found = self._predicted(served, operation, asked, cut)
                answers = [_written(served, operation, one, found) for one in asked]
        except Exception as error:
            if len(asked) == 1:
                return [JobOutcome(asked[0].job, _refused(error))]
            return [outcome for one in asked for outcome in self._together(served, operation, [one])]
        return [JobOutcome(one.job, answer) for one, answer in zip(asked, answers, strict=True)]

    def _predicted(
        self, served: ServedModel, operation: Operation, asked: list[_Asked], cut: list[slice]
    ) -> dict[str, Iterator[str]]:
        """Return the answers to all inputs as JSON, one after the other, under each name."""
        inputs = [x for one in asked for x in one.question.inputs]
        costs = [cost for one in asked for cost in one.question.costs]
        parts: list[dict[str, list[str]]] = []
        first = time.thread_time()
        for piece in cut:
            if not any(one.job.is_wanted for one in asked):
                raise RefusedError(503, BUSY, RETRY)
            began = time.thread_time()
            if began - first > self.limits.seconds * len(asked):
                raise too_long(f"was not complete after {self.limits.seconds:g} seconds", self.limits)
            found = operation.answers(served, inputs[piece])
            parts.append({name: [*map(_text, values)] for name, values in found.items()})
            estimated = sum(cost.seconds for cost in costs[piece])
            served.pace_of(type(operation)).learn(estimated, time.thread_time() - began)
        names = parts[0] if parts else operation.answers(served, [])
        return {name: chain.from_iterable([part[name] for part in parts]) for name in names}


def _written(
    served: ServedModel, operation: Operation, asked: _Asked, found: dict[str, Iterator[str]]
) -> bytes:
    """Take the answers to one request from those to all, and join them."""
    count = len(asked.question.inputs)
    answer = {"model": asked.job.name, **operation.common(served)}
    fields = [f"{_text(name)}:{_text(value)}" for name, value in answer.items()]
    fields += [f"{_text(name)}:[{','.join(islice(values, count))}]" for name, values in found.items()]
    if asked.question.notes:
        fields.append(f'"notes":{_text(asked.question.notes)}')
    return ("{" + ",".join(fields) + "}").encode()


def _text(value: Any) -> str:
    """Return JSON; rows of a table one by one, between which other threads have their turn."""
    if isinstance(value, list) and value and isinstance(value[0], list | dict):
        return f"[{','.join(map(_text, value))}]"
    return ENCODER.encode(value)


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
