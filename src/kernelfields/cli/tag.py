"""``kf tag``: label sequences with a model file."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import InputError
from ._data import Item
from ._errors import INTERRUPTED, end, plain_errors
from ._loaded import load_labeller, warning_of
from ._options import (
    MAX_SIZE,
    MISSING,
    Columns,
    Debug,
    Encoding,
    Flat,
    Format,
    MaxSize,
    Missing,
    Parents,
    reading_of,
)
from ._parse_answers import tag_parses
from ._parse_tasks import task_of
from ._parses import require_parser_options
from ._reading import read_items
from ._suited import Suit
from ._tagged import Answer, Writer

BATCH = 256
"""Sequences of a file that are labelled together; those of a stream are labelled as they come."""
HINT = (
    "give one token per line, say --labelled if the last column has labels, or take some columns by --columns"
)


def tag(
    model: Annotated[Path, typer.Argument(help="The model file.")],
    data: Annotated[str, typer.Argument(help="Sequences or trees to label; - is the standard input.")] = "-",
    out: Annotated[Path | None, typer.Option("-o", "--out", help="Where to write; standard output.")] = None,
    abstain: Annotated[
        float | None, typer.Option(help="Leave labels less probable than this open.", min=0.0, max=1.0)
    ] = None,
    kbest: Annotated[int | None, typer.Option(help="Also print the k best labellings.", min=1)] = None,
    marginals: Annotated[
        bool, typer.Option("--marginals", help="Also print the probability of every label.")
    ] = False,
    allowed: Annotated[
        bool,
        typer.Option("--allowed", help="The last column, or labels, say what is known; _ and null is open."),
    ] = False,
    labelled: Annotated[
        bool, typer.Option("--labelled", help="The last column has labels; it is kept.")
    ] = False,
    data_format: Format = None,
    to: Annotated[str | None, typer.Option(help="Of the output: conll, jsonl, csv; as the input.")] = None,
    encoding: Encoding = "utf-8",
    missing: Missing = MISSING,
    columns: Columns = None,
    parents: Parents = None,
    flat: Flat = False,
    max_size: MaxSize = MAX_SIZE,
    debug: Debug = False,
) -> None:
    """Label sequences or trees as they come, with probabilities; what was read is kept beside the labels.

    The standard input is answered sequence by sequence, as soon as one is complete. Models that learn no
    probabilities (ssvm, perceptron) give a softmax of their scores, and say so.

    Examples: kf tag ner.kf news.conll, cat news.conll | kf tag ner.kf --abstain 0.9, kf tag ner.kf
    news.jsonl --kbest 3 -o tagged.jsonl
    """
    with plain_errors(debug):
        reading = reading_of(data_format, encoding, missing, columns, max_size, parents)
        estimator = load_labeller(model)
        warning = warning_of(estimator)
        if warning is not None:
            _say(warning)
        streamed = data == "-"
        source: Any = sys.stdin.buffer if streamed else Path(data)
        task = task_of(estimator)
        if task is not None:
            unfit = {"abstain": abstain, "marginals": marginals, "allowed": allowed}
            unfit |= {"labelled": labelled, "parents": parents, "flat": flat}
            require_parser_options(task, unfit)
            tag_parses(task, estimator, source, reading, out, to, kbest, streamed)
            return
        kind = reading.kind("" if streamed else data)
        items = read_items(source, kind, reading, labelled=labelled or allowed)
        items = (item.flat() for item in items) if flat else items
        suit, done = Suit(estimator, _say, HINT), 0
        with Writer.to(out, to or ("jsonl" if kind == "npz" else kind), estimator, marginals) as writer:
            try:
                for batch in _batches(items, 1 if streamed else BATCH):
                    known = [_known(item.y) for item in batch] if allowed else None
                    asked = partial(
                        _answers, estimator, suit([item.input for item in batch]), known, abstain, kbest
                    )
                    for item, answer in zip(batch, _numbered(done, asked), strict=True):
                        writer.write(item, answer)
                    done += len(batch)
                    if streamed:
                        writer.file.flush()
            except KeyboardInterrupt:
                writer.file.flush()
                end(f"Interrupted; {done} sequences are labelled.", INTERRUPTED)


def _say(sentence: str) -> None:
    typer.echo(sentence, err=True)


def _batches(items: Iterator[Item], size: int) -> Iterator[list[Item]]:
    while batch := list(islice(items, size)):
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


def _answers(
    estimator: Any, inputs: list[Any], known: Any, abstain: float | None, kbest: int | None
) -> list[Answer]:
    """Label some sequences."""
    settings = {} if known is None else {"allowed": known}
    labels = estimator.predict(inputs, **settings, **({} if abstain is None else {"abstain": abstain}))
    marginals = estimator.predict_marginals(inputs, **settings)
    best = estimator.predict_kbest(inputs, kbest, **settings) if kbest else [None] * len(inputs)
    place = {label: n for n, label in enumerate(estimator.classes_.tolist())}
    return [
        Answer(
            one,
            [float(p[t].max() if label is None else p[t, place[label]]) for t, label in enumerate(one)],
            p,
            several,
        )
        for one, p, several in zip(labels, marginals, best, strict=True)
    ]
