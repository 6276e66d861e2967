"""``kf evaluate``: how good a model is on labelled data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from ..files.reading import note_of, read_files
from ..metrics import EntityScores
from ..report import Evaluation, write_report
from ..report import evaluate as judge
from ._baseline import baseline_warning
from ._console import plain_console
from ._errors import plain_errors
from ._loaded import load_labeller, reading_for, require_calibrated
from ._options import (
    MAX_SIZE,
    MISSING,
    AsJson,
    Columns,
    Confidence,
    Debug,
    Dense,
    Drop,
    Encoding,
    ErrorAtMost,
    Flat,
    Format,
    Group,
    LabelColumn,
    Labels,
    MaxSize,
    Missing,
    Offsets,
    Parents,
    SequenceColumn,
    Spans,
    Types,
    reading_of,
    table_of,
)
from ._parse_answers import evaluate_parses
from ._parse_tasks import task_of
from ._parses import require_parser_options
from ._suited import Suit

SHOWN = 5


def evaluate(
    model: Annotated[Path, typer.Argument(help="The model file.")],
    data: Annotated[
        list[Path], typer.Argument(help="Labelled sequences or trees, one file or more, or a folder of them.")
    ],
    report: Annotated[Path | None, typer.Option(help="Also write a page of HTML.")] = None,
    threshold: Annotated[
        float, typer.Option(help="Of the abstaining figures: leave less probable labels open.", min=0, max=1)
    ] = 0.9,
    error_at_most: ErrorAtMost = None,
    confidence: Confidence = None,
    data_format: Format = None,
    encoding: Encoding = "utf-8",
    missing: Missing = MISSING,
    columns: Columns = None,
    sequence_column: SequenceColumn = None,
    label_column: LabelColumn = None,
    drop: Drop = None,
    parents: Parents = None,
    spans: Spans = "refuse",
    offsets: Offsets = "characters",
    labels: Labels = None,
    types: Types = None,
    flat: Flat = False,
    group: Group = None,
    dense: Dense = None,
    max_size: MaxSize = MAX_SIZE,
    by_label: Annotated[
        bool, typer.Option("--by-label", help="Of entities, also show B-, I- and O one by one.")
    ] = False,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Test a model: errors, entities, calibration, what abstaining would be worth.

    Models that learn no probabilities (ssvm, perceptron) are judged by a softmax of their scores, which is
    said. Calibrated models (kf calibrate) say what they guarantee, at most 5 % of errors if not told
    otherwise, and what came of it. Positions whose label was not observed are not judged. Sequences and
    trees are counted from 0.

    For example:
        kf evaluate ner.kf esp.testb
        kf evaluate ner.kf esp.testb --report ner.html --json
        kf evaluate proteins.kf test/*.pssm --labels test.fa
    """
    console = plain_console(stderr=as_json)
    with plain_errors(debug):
        estimator = load_labeller(model)
        texts = (spans, offsets, labels, types, group, dense)
        table = table_of(sequence_column, label_column, drop)
        reading = reading_of(data_format, encoding, missing, columns, max_size, parents, *texts, table=table)
        reading = reading_for(estimator, reading)
        task = task_of(estimator)
        if task is not None:
            unfit = {"error-at-most": error_at_most, "confidence": confidence}
            require_parser_options(task, {"parents": parents, "flat": flat, **unfit})
            evaluate_parses(console, task, estimator, data, reading, threshold, report, as_json)
            return
        sequences = read_files(data, reading)
        sequences = sequences.flat() if flat else sequences
        note = note_of(sequences, reading)
        if note is not None:
            console.print(note)
        inputs = Suit(estimator, console.print)(sequences.inputs)
        if error_at_most is not None or confidence is not None:
            require_calibrated(estimator)
        found = judge(
            estimator,
            inputs,
            sequences.labels,
            sequences.texts,
            threshold=threshold,
            error_at_most=error_at_most,
            confidence=confidence,
            names=sequences.names,
        )
        if found.warning is not None:
            console.print(found.warning, style="yellow")
        warning = baseline_warning(sequences, found.token_error, "Here,")
        if warning is not None:
            console.print(warning, style="yellow")
        console.print(_scores(found))
        if found.guaranteed is not None:
            console.print(found.guaranteed.sentence)
        if found.entities is not None:
            console.print(_by_type(found.entities))
        if found.entities is None or by_label:
            console.print(_by_label(found))
        _examples(console, found)
        if report is not None:
            write_report(found, report)
            console.print(f"Written to {report}.")
        if as_json:
            typer.echo(json.dumps(found.as_dict() | {"baseline_warning": warning}))


def _scores(found: Evaluation) -> Table:
    table = Table("score", "value", title=found.model)
    table.columns[1].justify = "right"
    table.add_row("token error", f"{found.token_error:.2%}")
    table.add_row(f"{found.noun} error", f"{found.sequence_error:.2%}")
    if found.entities is not None:
        e = found.entities.overall
        table.add_row("entity precision / recall", f"{e.precision:.2%} / {e.recall:.2%}")
        table.add_row("entity F1", f"{e.f1:.2%}")
    for least, segments in (found.segments or {}).items():
        table.add_row(f"segment F1 at overlap {least}", f"{segments.f1:.2%}")
    table.add_row("negative log-likelihood per token", f"{found.nll:.4f}")
    table.add_row("expected calibration error", f"{found.ece:.2%}")
    n = round(found.threshold * 100)
    curve = found.answered
    table.add_row(
        f"answered at probability {found.threshold:g} or more",
        f"{curve.answered[n]:.1%}, error {curve.error[n]:.2%}",
    )
    return table


def _by_type(scores: EntityScores) -> Table:
    table = Table("entities", "precision", "recall", "F1", "count", title="entities")
    for column in table.columns[1:]:
        column.justify = "right"
    for kind, one in scores.by_type.items():
        shares = (f"{value:.2%}" for value in (one.precision, one.recall, one.f1))
        table.add_row(kind or "entity", *shares, str(one.n_true))
    return table


def _by_label(found: Evaluation) -> Table:
    table = Table("label", "precision", "recall", "F1", "count", title="labels")
    for column in table.columns[1:]:
        column.justify = "right"
    scores = found.labels
    for k, label in enumerate(scores.labels):
        shares = (f"{values[k]:.2%}" for values in (scores.precision, scores.recall, scores.f1))
        table.add_row(str(label), *shares, str(scores.support[k]))
    return table


def _examples(console: Console, found: Evaluation) -> None:
    if found.worst and found.worst[0].wrong:
        console.print(
            "Most errors: "
            + ", ".join(f"{found.noun} {r.sequence} ({r.wrong} of {r.length})" for r in found.worst[:SHOWN])
        )
    if found.slowest:
        console.print(
            "Slowest: "
            + ", ".join(
                f"{found.noun} {r.sequence} ({1e3 * (r.seconds or 0):.1f} ms)" for r in found.slowest[:SHOWN]
            )
        )
