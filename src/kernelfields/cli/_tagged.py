"""Sequences with their new labels, in the format they came in or another."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from ..errors import InputError
from ..io.conll import Sentence
from ..io.csv import Frames
from ..io.jsonl import Record
from ._data import Item

OPEN = "_"
"""Instead of a label where the model abstains."""


class Answer(NamedTuple):
    """What a model says about a sequence."""

    labels: list[Any]
    """None where it abstains."""
    probabilities: list[float]
    """Of the labels; the largest one where there is none."""
    marginals: Any
    kbest: list[tuple[list[Any], float]] | None


class Writer:
    """Writes sequence after sequence.

    Parameters
    ----------
    file : text file
        Where to.
    kind : "conll", "jsonl" or "csv"
        In which format.
    classes : list
        Labels, as columns of marginals.
    marginals : bool
        Whether every label's probability is written.
    """

    def __init__(self, file: TextIO, kind: str, classes: list[Any], marginals: bool) -> None:
        writers = {"conll": self._conll, "jsonl": self._jsonl, "csv": self._csv}
        if kind not in writers:
            raise InputError(f"There is no output format {kind!r}; choose one of {', '.join(writers)}.")
        self.file, self.classes, self.marginals = file, classes, marginals
        self.write = writers[kind]
        self._rows = csv.writer(file, lineterminator="\n")
        self._count = 0

    @classmethod
    @contextmanager
    def to(cls, path: Path | None, kind: str, estimator: Any, marginals: bool) -> Iterator[Writer]:
        """Open a file, or take the standard output."""
        classes = estimator.classes_.tolist()
        if path is None:
            yield cls(sys.stdout, kind, classes, marginals)
            sys.stdout.flush()
            return
        with path.open("w", encoding="utf-8", newline="") as file:
            yield cls(file, kind, classes, marginals)

    def _conll(self, item: Item, answer: Answer) -> None:
        """The columns as they were, label, probability; k best labellings as further columns."""
        source = item.source
        columns = source.columns if isinstance(source, Sentence) else [item.texts]
        if isinstance(source, Sentence) and source.document is not None:
            self.file.write(source.document + "\n\n")
        several = answer.kbest or []
        for n, (labels, log_proba) in enumerate(several):
            self.file.write(f"# {n + 1}: {log_proba:.4f} {' '.join(map(str, labels))}\n")
        for t, label in enumerate(answer.labels):
            fields = [column[t] for column in columns]
            fields += [OPEN if label is None else str(label), f"{answer.probabilities[t]:.4f}"]
            if self.marginals:
                fields += [
                    f"{name}:{p:.4f}" for name, p in zip(self.classes, answer.marginals[t], strict=True)
                ]
            self.file.write(self._separator(columns).join(fields) + "\n")
        self.file.write("\n")

    @staticmethod
    def _separator(columns: list[list[str]]) -> str:
        return "\t" if any(" " in field or not field for column in columns for field in column) else " "

    def _jsonl(self, item: Item, answer: Answer) -> None:
        """Give the object as it was, with predictions."""
        source = item.source
        value: dict[str, Any] = {"tokens": item.texts}
        if isinstance(source, Record):
            value = {"tokens": source.tokens, **source.other}
            value |= {} if source.labels is None else {"labels": source.labels}
        value["predicted"] = answer.labels
        value["probabilities"] = [round(p, 6) for p in answer.probabilities]
        if self.marginals:
            value["classes"] = self.classes
            value["marginals"] = [[round(float(p), 6) for p in row] for row in answer.marginals]
        if answer.kbest is not None:
            value["kbest"] = [{"labels": labels, "log_probability": p} for labels, p in answer.kbest]
        self.file.write(json.dumps(value, ensure_ascii=False) + "\n")

    def _csv(self, item: Item, answer: Answer) -> None:
        """Rows as they were, label, probability."""
        frames = item.source if isinstance(item.source, Frames) else None
        names = list(frames.columns) if frames else ["token"]
        if self._count == 0:
            known = ["label"] if frames and frames.labels else []
            extra = [f"p({name})" for name in self.classes] if self.marginals else []
            self._rows.writerow(["sequence", *known, *names, "predicted", "probability", *extra])
        for t, label in enumerate(answer.labels):
            kept = list(frames.numbers[t]) if frames else [item.texts[t]]
            known = [frames.labels[t]] if frames and frames.labels else []
            extra = [f"{p:.6f}" for p in answer.marginals[t]] if self.marginals else []
            name = frames.name if frames else str(self._count)
            shown = "" if label is None else label
            self._rows.writerow([name, *known, *kept, shown, f"{answer.probabilities[t]:.6f}", *extra])
        self._count += 1
