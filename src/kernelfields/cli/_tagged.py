"""Sequences with their new labels, in the format they came in or another."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from ..errors import InputError
from ..files.items import Item
from ..files.writing import columns_of, record_of, require_sequences
from ..io.conll import Sentence
from ..io.csv import Frames
from ..io.jsonl import Record
from ._answers import Answer
from ._output import data_output
from ._tool_answers import PLACE, AnswerPlace, tool_writers

HEADINGS = ("sequence", "label")
"""Columns of tables made of sequences that had none."""
OPEN = "_"
"""Instead of a label where the model abstains."""


class Writer:
    """Writes predictions, one sequence at a time.

    Parameters
    ----------
    file : text file
        Where to.
    kind : "conll", "conllu", "jsonl", "csv", "gff3", "bed" or a format of marked texts
        In which format.
    classes : list
        Labels, as columns of marginals.
    marginals : bool
        Whether every label's probability is written.
    place : AnswerPlace
        What formats for tools need to know.
    """

    def __init__(
        self, file: TextIO, kind: str, classes: list[Any], marginals: bool, place: AnswerPlace = PLACE
    ) -> None:
        writers = {"conll": self._conll, "jsonl": self._jsonl, "csv": self._csv}
        tools = tool_writers(file, place)
        if kind not in writers and kind not in tools:
            raise InputError(
                f"There is no output format {kind!r}; choose one of {', '.join((*writers, *tools))}."
            )
        self.file, self.classes, self.marginals = file, classes, marginals
        self._tool = tools[kind]() if kind in tools else None
        if self._tool is not None and marginals:
            raise InputError(f"{kind} has no place for --marginals; choose one of {', '.join(writers)}.")
        self.write = writers[kind] if self._tool is None else self._tool.write
        self._rows = csv.writer(file, lineterminator="\n")
        self._count = 0

    @classmethod
    @contextmanager
    def to(
        cls, path: Path | None, kind: str, estimator: Any, marginals: bool, place: AnswerPlace = PLACE
    ) -> Iterator[Writer]:
        """Open a file, or take the standard output."""
        classes, place = estimator.classes_.tolist(), place._replace(path=path)
        with data_output(None if kind == "brat" else path) as file:  # brat has several files
            writer = cls(file, kind, classes, marginals, place)
            yield writer
            writer.end()

    def end(self) -> None:
        """Write what follows the last sequence."""
        if self._tool is not None:
            self._tool.end()

    def _conll(self, item: Item, answer: Answer) -> None:
        """Write the columns that were read, label and probability; k best labellings as further columns."""
        columns = self._columns(item)
        if isinstance(item.source, Sentence):  # parents are one of the columns
            before = [] if item.source.document is None else [item.source.document, ""]
            self.file.writelines(f"{line}\n" for line in (*before, *item.source.comments))
        spaces = isinstance(item.source, Sentence) and not item.source.tabs
        separator = " " if spaces else "\t"  # other tokens may hold spaces
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
            self.file.write(separator.join(fields) + "\n")
        self.file.write("\n")

    @staticmethod
    def _columns(item: Item) -> list[list[str]]:
        """Return all columns that were read, objects and numbers as they are shown, and labels."""
        if isinstance(item.source, Sentence):
            return item.source.columns
        require_sequences([item], "conll")
        text = all(isinstance(token, str | tuple) for token in item.x)
        columns = columns_of(item, 0) if text else [item.texts]
        return columns if item.y is None else [*columns, [OPEN if y is None else str(y) for y in item.y]]

    def _jsonl(self, item: Item, answer: Answer) -> None:
        """Return the object as it was, with predictions."""
        numbers = item.source is None  # those of arrays have no names
        record = record_of(item)
        value: dict[str, Any] = {"tokens": item.texts if numbers else record.tokens, **record.other}
        value |= {} if item.y is None else {"labels": item.y}
        parents = item.source.parents if isinstance(item.source, Record) else item.parents
        value |= {} if parents is None else {"parents": parents}
        edges = item.source.edges if isinstance(item.source, Record) else item.edges
        value |= {} if edges is None else {"edges": edges}
        if isinstance(item.source, Sentence) and item.source.comments:
            value["comments"] = list(item.source.comments)
        value["predicted"] = answer.labels
        value["probabilities"] = [round(p, 6) for p in answer.probabilities]
        if self.marginals:
            value["classes"] = self.classes
            value["marginals"] = [[round(float(p), 6) for p in row] for row in answer.marginals]
        if answer.kbest is not None:
            value["kbest"] = [{"labels": labels, "log_probability": p} for labels, p in answer.kbest]
        self.file.write(json.dumps(value, ensure_ascii=False) + "\n")

    def _csv(self, item: Item, answer: Answer) -> None:
        """Write the rows that were read, label and probability."""
        require_sequences([item], "csv")
        frames = item.source if isinstance(item.source, Frames) else None
        kept = self._kept(item)
        if self._count == 0:
            more = [f"column{c}" for c in range(1, len(kept[0]))] if kept else []
            names = [*frames.columns, *(name for name, _ in frames.aside)] if frames else ["token", *more]
            named = frames.headings if frames else HEADINGS
            known = [] if item.y is None else [named[1]]
            extra = [f"p({name})" for name in self.classes] if self.marginals else []
            self._rows.writerow([named[0], *known, *names, "predicted", "probability", *extra])
        for t, label in enumerate(answer.labels):
            known = [] if item.y is None else ["" if item.y[t] is None else item.y[t]]
            extra = [f"{p:.6f}" for p in answer.marginals[t]] if self.marginals else []
            name = frames.name if frames else str(self._count)
            shown = "" if label is None else label
            self._rows.writerow([name, *known, *kept[t], shown, f"{answer.probabilities[t]:.6f}", *extra])
        self._count += 1

    @staticmethod
    def _kept(item: Item) -> list[list[Any]]:
        """Return rows as they were read: numbers, missing ones empty, and other columns; or tokens."""
        if isinstance(item.source, Frames):
            numbers = [["" if x != x else x for x in row] for row in item.source.numbers.tolist()]
            return [[*row, *(fields[t] for _, fields in item.source.aside)] for t, row in enumerate(numbers)]
        pairs = zip(item.x, item.texts, strict=True)
        return [list(token) if isinstance(token, tuple) else [text] for token, text in pairs]
