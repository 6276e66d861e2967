"""``kf train``: from a labelled file to a model file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ..errors import InputError
from ..trials.clock import budget_seconds
from ..trials.tuning import BUDGET
from ._cluster import shared_by
from ._completion import budgets, models
from ._completion import constraints as known_constraints
from ._completion import features as known_features
from ._console import plain_console
from ._errors import plain_errors
from ._fitting import Keeping, require_folder
from ._label_training import LabelTask, ModelTrials, split_data
from ._models import Choice, require_model
from ._options import (
    MAX_SIZE,
    MISSING,
    AsJson,
    Columns,
    Debug,
    DecoderName,
    Dense,
    Drop,
    Encoding,
    Format,
    Group,
    LabelColumn,
    Labels,
    MaxSize,
    Missing,
    Offsets,
    Parents,
    Scale,
    SequenceColumn,
    Spans,
    Types,
    Window,
    reading_of,
    table_of,
)
from ._panel import PANEL
from ._parse_tasks import TASKS
from ._parse_training import ParserPaths, train_parser
from ._parses import require_parser_options
from ._streaming import train_stream
from ._structures import StructureName
from ._summary import show_summary


def train(
    data: Annotated[
        list[Path],
        typer.Argument(
            help="Labelled sequences or trees, one file or more: CoNLL columns, .jsonl, .csv, .npz, .parquet."
        ),
    ],
    out: Annotated[Path, typer.Option("-o", "--out", help="The model file to write.")] = Path("model.kf"),
    model: Annotated[
        str,
        typer.Option(
            autocompletion=models,
            help="crf, kernel-crf, gp, ssvm, perceptron, hmm, boosted, or auto; for trees: sgd.",
        ),
    ] = "crf",
    structure: StructureName = None,
    dev: Annotated[Path | None, typer.Option(help="Held-out file to judge the model by.")] = None,
    holdout: Annotated[
        float, typer.Option(help="Share of the data to hold out instead, 0 for none.", min=0.0, max=0.9)
    ] = 0.0,
    features: Annotated[
        str | None,
        typer.Option(
            autocompletion=known_features,
            help="For tokens: ner, pos, chunking, letters, or a file of templates.",
        ),
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
        typer.Option(
            autocompletion=known_constraints,
            help="iob2, iobes, bilou, bmes, or none; repair for iob2 with stray I- made B-; of entities, the "
            "first that all labels obey.",
        ),
    ] = None,
    scale: Scale = None,
    window: Window = None,
    decoder: DecoderName = None,
    tol: Annotated[float | None, typer.Option(help="Certified relative gap at which to stop.")] = None,
    max_iter: Annotated[int | None, typer.Option(help="Limit of iterations or passes.")] = None,
    tune: Annotated[
        bool, typer.Option("--tune", help="Choose penalty and kernel by --dev, else by cross-validation.")
    ] = False,
    tune_by: Annotated[
        str | None,
        typer.Option(
            help="folds, as --tune does, or evidence: the training set alone, in a tenth of the fits."
        ),
    ] = None,
    posterior: Annotated[
        str | None,
        typer.Option(
            help="Average over functions: laplace, folds (laplace, as wide as folds say), variational."
        ),
    ] = None,
    recalibrate: Annotated[
        str | None,
        typer.Option(
            help="Rescale probabilities by folds of the training set: temperature (labels), or sequences."
        ),
    ] = None,
    jobs: Annotated[int | None, typer.Option(help="Fits at a time of --tune and auto; 1.", min=1)] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            autocompletion=budgets,
            help=f"Time for --tune and auto to choose in, as in 30s, 2m, 1h; {BUDGET}.",
        ),
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
        str | None,
        typer.Option(help="Address of a Dask scheduler whose workers share the fit, or the fits of --tune."),
    ] = None,
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
    group: Group = None,
    dense: Dense = None,
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
    unless --structure says otherwise. Numbers measured in time are scaled, and seen in windows, where they
    ask for it, which is said; what was done to them is kept in the model file.
    `--model auto` takes the best of a panel on held-out data. {panel}

    For example:
        kf train ner.conll -o ner.kf
        kf train esp.train --dev esp.testa --features ner
        kf train sensors.csv --tune --budget 5m
        kf train sensors.csv --scale sequence --window 31 --decoder posterior
        kf train sensors.csv --model auto --group person --recalibrate temperature
        kf train ner.conll --checkpoint state --resume
    """
    console = plain_console(stderr=True)
    with plain_errors(debug):
        paths = None if clusters is None else str(clusters)
        settings = (penalty, kernel, gamma, features, constraints, basis, tol, max_iter, seed, structure)
        signals = (scale, window, decoder)
        choice = Choice(*settings, paths, min_count, *signals)
        require_folder(out)
        texts = (spans, offsets, labels, types, group, dense)
        table = table_of(sequence_column, label_column, drop)
        reading = reading_of(data_format, encoding, missing, columns, max_size, parents, *texts, table=table)
        if dask is not None and model == "auto":
            raise InputError("--dask shares out the fits of one model, not of auto: name it.")
        keep = Keeping(checkpoint, checkpoint_seconds, resume)
        if structure in TASKS:
            unfit = {"dask": dask, "parents": parents, "tune": tune, "jobs": jobs, "budget": budget}
            unfit |= {"dense": dense, "tune-by": tune_by, "posterior": posterior, "recalibrate": recalibrate}
            require_parser_options(TASKS[structure], unfit | {"memory-limit": memory_limit})
            files = ParserPaths(data, dev, out)
            summary = train_parser(console, TASKS[structure], model, files, choice, reading, holdout, keep)
        else:
            tune = tune or _named(tune_by)
            _require_sense(model, choice, tune, jobs, budget, checkpoint)
            if memory_limit is not None and dense is not None:
                raise InputError("--dense does not go with --memory-limit, which reads tokens alone.")
            if memory_limit is not None:
                averaged = posterior is not None or recalibrate is not None
                _require_stream(model, dev, holdout, tune or averaged)
                with shared_by(dask):
                    summary = train_stream(console, data, out, choice, memory_limit, reading, keep)
            else:
                parts = split_data(data, dev, holdout, seed, reading, structure)
                task = LabelTask(console, model, choice, *parts).with_checked_tags()
                limit = budget_seconds(budget or BUDGET)
                by_evidence = tune_by == "evidence"
                trials = ModelTrials(
                    tune, dev is not None, jobs or 1, limit, by_evidence, posterior, recalibrate
                )
                summary = task.train(out, reading, trials, keep, dask)
        show_summary(console, summary)
        if as_json:
            typer.echo(json.dumps(summary))


train.__doc__ = str(train.__doc__).format(panel=PANEL)


def _require_sense(
    model: str, choice: Choice, tune: bool, jobs: int | None, budget: str | None, checkpoint: Path | None
) -> None:
    """Refuse options that would have no effect."""
    if choice.min_count is not None:
        raise InputError(f"--min-count is for --structure {', '.join(TASKS)}.")
    automatic = model == "auto"
    if not automatic:
        require_model(model)
    if jobs is not None and not (automatic or tune):
        raise InputError("--jobs is for --tune and --model auto; other fits use all cores anyway.")
    if budget is not None:
        budget_seconds(budget)
    if budget is not None and not (automatic or tune):
        raise InputError(
            "--budget is for --tune and --model auto; Ctrl-C ends other fits, --max-iter limits them."
        )
    if tune and choice.penalty is not None:
        raise InputError("--tune chooses the penalty; leave --penalty out.")
    if automatic and checkpoint is not None:
        raise InputError("--checkpoint needs a model with a name, not auto.")


def _named(tune_by: str | None) -> bool:
    """Return whether settings are to be chosen; refuse ways that are not known."""
    if tune_by not in (None, "folds", "evidence"):
        raise InputError(f"--tune-by is {tune_by!r}; it must be folds or evidence.")
    return tune_by is not None


def _require_stream(model: str, dev: Path | None, holdout: float, tune: bool) -> None:
    """Refuse what would need the whole file in memory."""
    if model != "crf" or tune or holdout or dev is not None:
        raise InputError(
            "--memory-limit is for --model crf without --tune, --posterior, --dev and --holdout."
        )
