"""``kf calibrate``: held-out data make a model's probabilities and errors trustworthy."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console

from ..errors import InputError
from ..estimators import SequenceLabeller
from ..files.reading import note_of, read_files
from ..report.evaluation import plain
from ..report.guaranteed import CONFIDENCE, ERROR_AT_MOST
from ..trials.preparing import inner
from ._console import plain_console
from ._errors import plain_errors
from ._fitting import require_folder
from ._loaded import load_labeller, reading_for
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
from ._scaling import SCALINGS, scaling_options
from ._suited import Suit

SHARE = 0.2


def calibrate(
    model: Annotated[Path, typer.Argument(help="The model file.")],
    data: Annotated[
        list[Path],
        typer.Argument(help="Labelled sequences that the model was not trained on, one file or more."),
    ],
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="The model file to write; that which was read.")
    ] = None,
    recalibrate: Annotated[
        str | None, typer.Option(help=f"First rescale scores: {', '.join(SCALINGS)}.")
    ] = None,
    share: Annotated[
        float | None, typer.Option(help=f"Part of the data for --recalibrate; {SHARE}.", min=0.0, max=1.0)
    ] = None,
    method: Annotated[str, typer.Option(help="Of the tests: betting or hoeffding-bentkus.")] = "betting",
    units: Annotated[str, typer.Option(help="What an answer is: positions or entities.")] = "positions",
    per_label: Annotated[
        bool, typer.Option("--per-label", help="A threshold for every label, or type of entity.")
    ] = False,
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
    seed: Annotated[int, typer.Option(help="Of the draw of --share.", min=0)] = 0,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Calibrate a model on held-out data, so that kf tag --error-at-most can keep a promise about errors.

    The model file keeps how sure the model was and where it was wrong; any share of errors and any
    confidence can be asked for later, and those given here are only shown. With --recalibrate, scores are
    rescaled first, on a random part of the data that the guarantee then does not use; also those of models
    that learn no probabilities (ssvm, perceptron), so that theirs mean something.

    For example:
        kf calibrate ner.kf esp.testa -o sure.kf
        kf calibrate svm.kf dev.conll --recalibrate temperature
        kf calibrate ner.kf esp.testa --units entities --error-at-most 0.1
    """
    console = plain_console(stderr=as_json)
    with plain_errors(debug):
        estimator = _labeller(model)
        texts = (spans, offsets, labels, types, group, dense)
        table = table_of(sequence_column, label_column, drop)
        reading = reading_of(data_format, encoding, missing, columns, max_size, parents, *texts, table=table)
        reading = reading_for(estimator, reading)
        require_folder(out or model)
        sequences = read_files(data, reading)
        sequences = sequences.flat() if flat else sequences
        note = note_of(sequences, reading)
        if note is not None:
            console.print(note)
        X, y = Suit(estimator, console.print)(sequences.inputs), sequences.labels
        first, rest = _parts(len(y), recalibrate, share, seed)
        if recalibrate is not None:
            estimator.recalibrate(_some(X, first), _some(y, first), **scaling_options(recalibrate))
        estimator.calibrate(_some(X, rest), _some(y, rest), method=method, units=units, per_label=per_label)
        sure = CONFIDENCE if confidence is None else confidence
        found = estimator.guarantees(ERROR_AT_MOST if error_at_most is None else error_at_most, sure)
        estimator.save(out or model)
        _show(console, estimator, found)
        console.print(f"Written to {out or model}.")
        if as_json:
            typer.echo(json.dumps(_summary(estimator, found, out or model)))


def _labeller(path: Path) -> Any:
    found = load_labeller(path)
    if not isinstance(inner(found), SequenceLabeller):
        raise InputError(f"{path} holds a {type(found).__name__}, which cannot be calibrated.")
    return found


def _parts(n: int, recalibrate: str | None, share: float | None, seed: int) -> tuple[list[int], list[int]]:
    """Return which sequences rescale scores, and which make the guarantee."""
    if recalibrate is None:
        if share is not None:
            raise InputError("--share is for --recalibrate.")
        return [], list(range(n))
    count = round(n * (SHARE if share is None else share))
    if not 0 < count < n:
        raise InputError(
            f"--share {share} of {n} sequences leaves nothing to recalibrate, or to calibrate, with."
        )
    order = np.random.default_rng(seed).permutation(n).tolist()
    return sorted(order[:count]), sorted(order[count:])


def _some(items: Sequence[Any], ids: list[int]) -> list[Any]:
    return [items[k] for k in ids]


def _show(console: Console, estimator: Any, guarantees: dict[Any, Any]) -> None:
    scaling = getattr(estimator, "scaling_", None)
    if scaling is not None:
        console.print(
            f"Temperature {scaling.temperature:.4g}: held-out log-likelihood {scaling.before:.4f} before, "
            f"{scaling.after:.4f} after."
        )
    for name, found in guarantees.items():
        what = "" if name is None else f"{name}: "
        promise = f"at most {100 * found.error_at_most:g} % with confidence {100 * found.confidence:g} %"
        if found.holds:
            console.print(f"{what}Answers {100 * found.answered:.3g} %, errs on {promise} of those.")
        else:
            console.print(f"{what}No threshold is proved to err on {promise}.", style="yellow")


def _summary(estimator: Any, guarantees: dict[Any, Any], out: Path) -> dict[str, Any]:
    """Return everything as JSON."""
    return {
        "model": str(out),
        "sequences": estimator.calibration_.answers.n_sequences,
        "units": estimator.calibration_.units,
        "temperature": getattr(getattr(estimator, "scaling_", None), "temperature", None),
        "guarantees": {
            "all" if name is None else str(name): plain(
                {**found._asdict(), "threshold": found.threshold.least, "holds": found.holds}
            )
            for name, found in guarantees.items()
        },
    }
