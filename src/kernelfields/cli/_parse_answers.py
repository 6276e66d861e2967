"""``kf tag`` and ``kf evaluate`` for models whose outputs are trees or links."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.table import Table

from ..files.reading import Reading, Source
from ..report import ParseEvaluation, write_report
from ..report.judged_parses import marginals_of
from ._output import Answered, data_output
from ._parses import ParseAnswer, ParseTask, read_parse_files, require_readable

BATCH = 64
"""Items of a file that are answered together; those of a stream are answered as they come."""
SHOWN = 5


def tag_parses(
    task: ParseTask,
    estimator: Any,
    source: Source,
    reading: Reading,
    out: Path | None,
    to: str | None,
    kbest: int | None,
    streamed: bool,
) -> None:
    """Answer items as they come, and write them with their probabilities."""
    require_readable(task, reading)
    kind, classes, structure = task.require_output(to), estimator.classes_.tolist(), estimator.structure_
    task.require_list(kbest, kind)
    items = task.read(source, reading)
    with data_output(out) as file:
        answered = Answered(file, out, f"{task.noun}s")
        try:
            while batch := list(islice(items, 1 if streamed else BATCH)):
                inputs = [item.x for item in batch]
                outputs = estimator.predict(inputs)
                marginals = marginals_of(estimator, structure, inputs) or [None] * len(inputs)
                best = estimator.predict_kbest(inputs, kbest) if kbest else [None] * len(inputs)
                for n, said in enumerate(zip(batch, outputs, marginals, best, strict=True), answered.count):
                    answer = ParseAnswer(n, *said, classes)
                    file.writelines(f"{line}\n" for line in task.lines(answer, kind))
                answered.add(len(batch))
                if streamed:
                    file.flush()
        except KeyboardInterrupt as error:
            answered.end(error)


def evaluate_parses(
    console: Console,
    task: ParseTask,
    estimator: Any,
    data: Sequence[Path],
    reading: Reading,
    threshold: float,
    report: Path | None,
    as_json: bool,
) -> None:
    """Print scores and calibration; write a report if it is wanted."""
    file = read_parse_files(task, data, reading)
    found = task.judged(estimator, file, threshold=threshold)
    if found.warning is not None:
        console.print(found.warning, style="yellow")
    console.print(_scores(found))
    if found.by_label:
        console.print(_by_label(found))
    if found.worst and found.worst[0].wrong:
        said = (f"{found.noun} {r.sequence} ({r.wrong} of {r.length})" for r in found.worst[:SHOWN])
        console.print("Most errors: " + ", ".join(said))
    if report is not None:
        write_report(found, report)
        console.print(f"Written to {report}.")
    if as_json:
        typer.echo(json.dumps(found.as_dict()))


def _scores(found: ParseEvaluation) -> Table:
    table = Table("score", "value", title=found.model)
    table.columns[1].justify = "right"
    for name, value in found.known_scores.items():
        table.add_row(found.words.scores[name][0], f"{value:.2%}")
    if found.log_loss is not None:
        table.add_row("log loss per word", f"{found.log_loss:.4f}")
    if found.ece is not None:
        table.add_row("expected calibration error", f"{found.ece:.2%}")
        curve, n = found.answered, found.chosen
        table.add_row(
            f"{found.words.part}s of probability {found.threshold:g} or more",
            f"{curve.answered[n]:.1%}, error {curve.error[n]:.2%}",
        )
    return table


def _by_label(found: ParseEvaluation) -> Table:
    table = Table("label", "precision", "recall", "F1", "count", title=f"{found.words.part}s")
    for column in table.columns[1:]:
        column.justify = "right"
    for one in found.by_label:
        shares = (f"{value:.2%}" for value in (one.precision, one.recall, one.f1))
        table.add_row(one.label, *shares, str(one.n_true))
    return table
