"""``kf train``: from a labelled file to a model file."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console

from ..errors import InputError
from ..metrics import token_error
from ..report import evaluate
from ._cluster import shared_by
from ._console import plain_console
from ._data import FileData
from ._errors import plain_errors
from ._fitting import fit_shown, require_folder, set_checkpoint
from ._models import Choice, build, require_model
from ._options import (
    MAX_SIZE,
    MISSING,
    AsJson,
    Columns,
    Debug,
    Encoding,
    Format,
    MaxSize,
    Missing,
    Parents,
    reading_of,
)
from ._panel import PANEL, SECONDS, choose_model
from ._parse_tasks import TASKS
from ._parse_training import Keeping, ParserPaths, train_parser
from ._parses import require_parser_options
from ._reading import Reading, note_of, read_data
from ._streaming import train_stream
from ._structures import StructureName, shaped
from ._suited import Suit
from ._summary import held_out_summary, show_summary, summary_of
from ._tuning import tune as tuned

UNTUNED = ("perceptron", "hmm", "gp")
"""Models without a penalty that `tune` could set."""


def train(
    data: Annotated[
        Path, typer.Argument(help="Labelled sequences or trees: CoNLL columns, .jsonl, .csv or .npz.")
    ],
    out: Annotated[Path, typer.Option("-o", "--out", help="The model file to write.")] = Path("model.kf"),
    model: Annotated[
        str,
        typer.Option(help="crf, kernel-crf, gp, ssvm, perceptron, hmm, boosted, or auto; for trees: sgd."),
    ] = "crf",
    structure: StructureName = None,
    dev: Annotated[Path | None, typer.Option(help="Held-out file to judge the model by.")] = None,
    holdout: Annotated[
        float, typer.Option(help="Share of the data to hold out instead, 0 for none.", min=0.0, max=0.9)
    ] = 0.0,
    features: Annotated[
        str | None, typer.Option(help="For tokens: ner, pos, chunking, or a file of templates.")
    ] = None,
    clusters: Annotated[
        Path | None, typer.Option(help="For tokens: a file of Brown clusters, as kf clusters writes it.")
    ] = None,
    min_count: Annotated[
        int | None, typer.Option(help="For trees and links: leave rarer features out.", min=1)
    ] = None,
    penalty: Annotated[float | None, typer.Option(help="λ, the price of large weights.")] = None,
    kernel: Annotated[str | None, typer.Option(help="For kernel models: rbf, polynomial, linear, …")] = None,
    gamma: Annotated[float | None, typer.Option(help="γ of the rbf kernel.")] = None,
    basis: Annotated[int | None, typer.Option(help="Basis functions of a large kernel model.")] = None,
    constraints: Annotated[
        str | None,
        typer.Option(help="iob2, iobes, bilou, bmes, or none; of entities, the first that all labels obey."),
    ] = None,
    tol: Annotated[float | None, typer.Option(help="Certified relative gap at which to stop.")] = None,
    max_iter: Annotated[int | None, typer.Option(help="Limit of iterations or passes.")] = None,
    tune: Annotated[
        bool, typer.Option("--tune", help="Choose penalty and kernel by --dev, else by cross-validation.")
    ] = False,
    jobs: Annotated[int | None, typer.Option(help="Fits at a time of --tune and auto; 1.", min=1)] = None,
    seconds: Annotated[
        float | None, typer.Option(help=f"Time limit of every fit that auto tries; {SECONDS:g}.", min=0.0)
    ] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Folder for the state of training, to go on after a crash.")
    ] = None,
    checkpoint_seconds: Annotated[float, typer.Option(help="Least time between two checkpoints.")] = 30.0,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the checkpoint.")] = False,
    memory_limit: Annotated[
        str | None,
        typer.Option(help="For text larger than memory: 2G, say; features go to files."),
    ] = None,
    dask: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler whose workers share the fit.")
    ] = None,
    data_format: Format = None,
    encoding: Encoding = "utf-8",
    missing: Missing = MISSING,
    columns: Columns = None,
    parents: Parents = None,
    max_size: MaxSize = MAX_SIZE,
    seed: Annotated[int, typer.Option(help="For what is drawn at random.", min=0)] = 0,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Train a model on labelled sequences or trees and write it to a file.

    Held-out data are looked at while training goes on, for a tenth of the time at most. Ctrl-C ends training
    early; the best model so far is written. Labels that were not observed (null in JSON lines, empty in
    tables, _ in columns) are no labels: the model learns from the others. Options that the model does not
    have are refused. Data with parents train a model of trees, those with edges one of graphs,
    unless --structure says otherwise.
    `--model auto` takes the best of a panel on held-out data. {panel}

    Examples: kf train ner.conll -o ner.kf, kf train esp.train --dev esp.testa --features ner, kf train
    sensors.csv --model kernel-crf --tune, kf train ner.conll --checkpoint state --resume
    """
    console = plain_console(stderr=True)
    with plain_errors(debug):
        paths = None if clusters is None else str(clusters)
        settings = (penalty, kernel, gamma, features, constraints, basis, tol, max_iter, seed, structure)
        choice = Choice(*settings, clusters=paths, min_count=min_count)
        require_folder(out)
        reading = reading_of(data_format, encoding, missing, columns, max_size, parents)
        if dask is not None and (tune or model == "auto"):
            raise InputError("--dask shares out one fit; leave out --tune, and name a model.")
        if structure in TASKS:
            unfit = {"dask": dask, "parents": parents, "tune": tune, "jobs": jobs, "seconds": seconds}
            require_parser_options(TASKS[structure], unfit)
            files = ParserPaths(data, dev, out, checkpoint)
            keeping = Keeping(checkpoint_seconds, resume)
            summary = train_parser(console, TASKS[structure], model, files, choice, reading, holdout, keeping)
            show_summary(console, summary)
            if as_json:
                typer.echo(json.dumps(summary))
            return
        _require_sense(model, choice, tune, jobs, seconds, checkpoint)
        if memory_limit is not None:
            if model != "crf" or tune or holdout or dev is not None:
                raise InputError("--memory-limit is for --model crf without --tune, --dev and --holdout.")
            keep = partial(
                set_checkpoint, name=model, folder=checkpoint, seconds=checkpoint_seconds, resume=resume
            )
            with shared_by(dask):
                summary = train_stream(console, data, out, choice, memory_limit, reading, keep)
            show_summary(console, summary)
            if as_json:
                typer.echo(json.dumps(summary))
            return
        training, held_out = _split(data, dev, holdout, seed, reading, structure)
        note = note_of(training, reading)
        if note is not None:
            console.print(note)
        fitted = None
        if model == "auto":
            limit = SECONDS if seconds is None else seconds
            model, fitted = choose_model(console, training, held_out, choice, limit, jobs or 1)
            choice = choice.fitting(model)
            tune = _can_tune(console, model, tune)
        spent, notes = 0.0, list[str]()
        if fitted is None:
            estimator = build(model, training, choice)
            if tune:
                held = held_out if dev is not None else None
                estimator = tuned(console, model, estimator, training, held, jobs or 1, seed)
            set_checkpoint(estimator, model, checkpoint, checkpoint_seconds, resume)
            inputs = Suit(estimator, console.print)(training.inputs)
            by = None if held_out is None else partial(_error, held_out)
            with shared_by(dask):
                fitted, spent, notes = fit_shown(console, estimator, inputs, training.labels, by)
        fitted.save(out)
        summary = summary_of(fitted, out, spent, notes)
        if held_out is not None:
            inputs = Suit(fitted, lambda _: None)(held_out.inputs)
            found = evaluate(fitted, inputs, held_out.labels, held_out.texts)
            summary |= held_out_summary(found)
        show_summary(console, summary)
        if as_json:
            typer.echo(json.dumps(summary))


train.__doc__ = str(train.__doc__).format(panel=PANEL)


def _require_sense(
    model: str, choice: Choice, tune: bool, jobs: int | None, seconds: float | None, checkpoint: Path | None
) -> None:
    """Refuse options that would have no effect."""
    if choice.min_count is not None:
        raise InputError(f"--min-count is for --structure {', '.join(TASKS)}.")
    automatic = model == "auto"
    if not automatic:
        require_model(model)
    if jobs is not None and not (automatic or tune):
        raise InputError("--jobs is for --tune and --model auto; other fits use all cores anyway.")
    if seconds is not None and not automatic:
        raise InputError("--seconds is for --model auto; Ctrl-C ends other fits, --max-iter limits them.")
    if tune and choice.penalty is not None:
        raise InputError("--tune chooses the penalty; leave --penalty out.")
    if automatic and checkpoint is not None:
        raise InputError("--checkpoint needs a model with a name, not auto.")


def _can_tune(console: Console, model: str, wanted: bool) -> bool:
    if wanted and model in UNTUNED:
        console.print(f"{model} has no penalty to tune.")
    return wanted and model not in UNTUNED


def _split(
    path: Path, dev: Path | None, holdout: float, seed: int, reading: Reading, structure: str | None
) -> tuple[FileData, FileData | None]:
    """Return training and held-out sequences or trees."""
    if dev is not None and holdout:
        raise InputError("--dev and --holdout exclude each other.")
    data = shaped(read_data(path, reading), structure)
    if dev is not None:
        held_out = shaped(read_data(dev, reading), structure)
        if held_out.form != data.form:
            raise InputError(f"{path} has {data.form}, but {dev} has {held_out.form}.")
        if held_out.structure != data.structure:
            raise InputError(f"{path} has {data.noun}, but {dev} has {held_out.noun}.")
        return data, held_out
    count = round(holdout * len(data.items))
    if holdout == 0:
        return data, None
    if count == 0:
        raise InputError(f"--holdout {holdout:g} holds out none of {len(data.items)} {data.noun}.")
    order = np.random.default_rng(seed).permutation(len(data.items))
    if count == len(order):
        raise InputError("Nothing is left to train on; hold out less.")
    return data.take(np.sort(order[count:])), data.take(np.sort(order[:count]))


def _error(held_out: FileData, model: Any) -> float:
    """Return the share of held-out positions labelled wrong."""
    return token_error(held_out.labels, model.predict(Suit(model, lambda _: None)(held_out.inputs)))
