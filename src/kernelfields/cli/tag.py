"""``kf tag``: label sequences with a model file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import InputError
from ._data import batches, format_of, read_items
from ._errors import plain_errors
from ._loaded import load_labeller, suited, warning_of
from ._tagged import Answer, Writer

BATCH = 256


def tag(
    model: Annotated[Path, typer.Argument(help="The model file.")],
    data: Annotated[str, typer.Argument(help="Sequences to label; - is the standard input.")] = "-",
    out: Annotated[Path | None, typer.Option("-o", "--out", help="Where to write; standard output.")] = None,
    abstain: Annotated[
        float | None, typer.Option(help="Leave labels less probable than this open.", min=0.0, max=1.0)
    ] = None,
    kbest: Annotated[int | None, typer.Option(help="Also give the k best labellings.", min=1)] = None,
    marginals: Annotated[
        bool, typer.Option("--marginals", help="Also give every label's probability.")
    ] = False,
    allowed: Annotated[
        bool,
        typer.Option("--allowed", help="The last column, or labels, say what is known; _ and null is open."),
    ] = False,
    labelled: Annotated[
        bool, typer.Option("--labelled", help="The last column has labels; it is kept.")
    ] = False,
    data_format: Annotated[
        str | None, typer.Option("--format", help="Of the input: conll, jsonl, csv, npz.")
    ] = None,
    to: Annotated[str | None, typer.Option(help="Of the output: conll, jsonl, csv; as the input.")] = None,
    encoding: Annotated[str, typer.Option(help="Of CoNLL columns.")] = "utf-8",
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    """Label sequences as they come, with probabilities; what was read is kept beside the labels.

    Models that learn no probabilities (ssvm, perceptron) give a softmax of their scores, and say so.

    Examples: kf tag ner.kf news.conll, cat news.conll | kf tag ner.kf --abstain 0.9, kf tag ner.kf
    news.jsonl --kbest 3 -o tagged.jsonl
    """
    with plain_errors(debug):
        estimator = load_labeller(model)
        warning = warning_of(estimator)
        if warning is not None:
            typer.echo(warning, err=True)
        kind = format_of(data if data != "-" else "", data_format)
        source: Any = sys.stdin.buffer if data == "-" else Path(data)
        items = read_items(source, kind, labelled=labelled or allowed, encoding=encoding)
        with Writer.to(out, to or ("jsonl" if kind == "npz" else kind), estimator, marginals) as writer:
            for batch in batches(items, BATCH):
                inputs = suited(estimator, [item.x for item in batch])
                known = [_known(item.y) for item in batch] if allowed else None
                for item, answer in zip(
                    batch, _answers(estimator, inputs, known, abstain, kbest), strict=True
                ):
                    writer.write(item, answer)


def _known(labels: list[Any] | None) -> list[Any]:
    if labels is None:
        raise InputError("--allowed needs a column of labels that says what is known.")
    return [None if label in ("_", None) else label for label in labels]


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
