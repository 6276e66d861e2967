"""Predictions in the formats of other tools: marked texts, features of genomes, CoNLL-U."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from ..errors import InputError
from ..files.documents import spaced_document
from ..files.items import Item
from ..files.positions import sequence_name
from ..files.tagged_text import OUTSIDE, label_ranges, marked_text
from ..io.brat import write_brat
from ..io.conll import Sentence
from ..io.conllu import COLUMNS, UPOS, ParsedSentence, conllu_lines
from ..io.doccano import doccano_value
from ..io.gff3 import HEADER, SequenceFeature, bed_line, gff3_line
from ..io.json_documents import json_text
from ..io.label_studio import label_studio_task
from ..io.prodigy import prodigy_value
from ..io.text_documents import TextDocument, require_document
from ..metrics import has_entities
from ._answers import Answer

SOURCE = "kernelfields"
BY_ENDING = {"gff3": "gff3", "gff": "gff3", "bed": "bed", "ann": "brat"}
"""Formats that the name of the output says."""
OTHERWISE = {
    **dict.fromkeys(("npz", "parquet"), "jsonl"),
    **dict.fromkeys(("pssm", "hhm", "stockholm"), "csv"),
    "text": "prodigy",
    "fasta": "gff3",
}
"""Formats of answers to files of formats that are only read."""
ENDINGS = {"labelstudio": "json", "prodigy": "jsonl", "doccano": "jsonl", "brat": "ann"}
"""What names of answers end with, where it is not the format."""
MARKED = ("brat", "doccano", "labelstudio", "prodigy")


class AnswerPlace(NamedTuple):
    """Where answers go."""

    path: Path | None = None
    background: tuple[str, ...] = (OUTSIDE,)
    """Labels of segments that are no features."""
    column: int = UPOS
    """Of CoNLL-U, counted from 0."""


PLACE = AnswerPlace()


class ToolWriter(ABC):
    """Writes predictions for a tool, one sequence at a time."""

    def __init__(self, file: TextIO, place: AnswerPlace) -> None:
        self.file, self.place = file, place
        self.count = 0

    def write(self, item: Item, answer: Answer) -> None:
        """Write the answer to one sequence."""
        if answer.kbest is not None:
            raise InputError("--kbest has a place in conll and jsonl only.")
        self._write(item, answer)
        self.count += 1

    @abstractmethod
    def _write(self, item: Item, answer: Answer) -> None: ...

    def end(self) -> None:  # noqa: B027 - most formats have nothing there
        """Write what follows the last sequence."""

    def lines(self, lines: Iterator[str] | list[str]) -> None:
        """Write lines."""
        self.file.writelines(f"{line}\n" for line in lines)


class _Marked(ToolWriter):
    """A JSON object per text."""

    def __init__(self, file: TextIO, place: AnswerPlace, made: Callable[[TextDocument], Any]) -> None:
        super().__init__(file, place)
        self.made = made

    def _write(self, item: Item, answer: Answer) -> None:
        self.lines([json_text(self.made(predicted_document(item, answer, self.count)), self.count)])


class _Tasks(ToolWriter):
    """A JSON list of tasks."""

    def _write(self, item: Item, answer: Answer) -> None:
        task = label_studio_task(predicted_document(item, answer, self.count), predictions=True)
        self.file.write((",\n" if self.count else "[\n") + json_text(task, self.count))

    def end(self) -> None:
        self.file.write("\n]\n" if self.count else "[]\n")


class _Standoff(ToolWriter):
    """Two files per text; they are written at the end."""

    def __init__(self, file: TextIO, place: AnswerPlace) -> None:
        super().__init__(file, place)
        if place.path is None:
            raise InputError("brat has two files per text: name a folder, or a file .ann, by -o.")
        self.path, self.documents = place.path, list[TextDocument]()

    def _write(self, item: Item, answer: Answer) -> None:
        # relations of spans that are gone would hang in the air
        self.documents.append(replace(predicted_document(item, answer, self.count), kept={}))

    def end(self) -> None:
        write_brat(self.documents, self.path)


class _Features(ToolWriter):
    """A line per segment of equal labels; the score is the mean probability of its labels."""

    def __init__(
        self, file: TextIO, place: AnswerPlace, line: Callable[[SequenceFeature], str], head: str
    ) -> None:
        super().__init__(file, place)
        self.line = line
        if head:
            self.lines([head])

    def _write(self, item: Item, answer: Answer) -> None:
        features = predicted_features(item, answer, self.count, self.place.background)
        self.lines([self.line(one) for one in features])


class _Columns(ToolWriter):
    """CoNLL-U with the label in one of its columns and its probability in MISC."""

    def _write(self, item: Item, answer: Answer) -> None:
        source = item.source
        columns = (source.every or source.columns) if isinstance(source, Sentence) else []
        if not isinstance(source, Sentence) or len(columns) != len(COLUMNS):
            raise InputError("--to conllu is for files of CoNLL-U, with ten columns.")
        sentence = ParsedSentence(tuple(zip(*columns, strict=True)), source.comments)
        column = [("_" if label is None else str(label)) for label in answer.labels]
        self.lines(
            conllu_lines(sentence.with_column(self.place.column, column, answer.probabilities), self.count)
        )


def tool_writers(file: TextIO, place: AnswerPlace) -> dict[str, Callable[[], ToolWriter]]:
    """Return the writers of formats, by their names."""
    return {
        "brat": lambda: _Standoff(file, place),
        "doccano": lambda: _Marked(file, place, doccano_value),
        "labelstudio": lambda: _Tasks(file, place),
        "prodigy": lambda: _Marked(file, place, prodigy_value),
        "gff3": lambda: _Features(file, place, gff3_line, HEADER),
        "bed": lambda: _Features(file, place, bed_line, ""),
        "conllu": lambda: _Columns(file, place),
    }


def predicted_document(item: Item, answer: Answer, n: int) -> TextDocument:
    """Return a text with the spans that a model found, and how sure it is of them."""
    document, places = spaced_document(item, n)
    sure = answer.entities
    if sure is None:
        sure = [answer.probabilities[first] for first, _, _ in label_ranges(answer.labels)]
    kept = {key: value for key, value in document.kept.items() if key != "answer"}  # nobody has accepted them
    found = marked_text(replace(document, kept=kept), places, answer.labels, sure)
    return require_document(found, n)


def predicted_features(
    item: Item, answer: Answer, n: int, background: tuple[str, ...]
) -> Iterator[SequenceFeature]:
    """Return the segments of equal labels that are no background; entities if labels name some."""
    name = sequence_name(item, n)
    for number, (first, stop, label) in enumerate(_segments(answer.labels, background), 1):
        sure = answer.probabilities[first:stop]
        kind, strand = (label[:-1], label[-1]) if len(label) > 1 and label[-1] in "+-" else (label, ".")
        more = {"ID": f"{name}.{number}", "least_probability": f"{min(sure):.6g}"}
        yield SequenceFeature(name, first, stop, kind, strand, sum(sure) / len(sure), more, SOURCE)


def _segments(labels: list[Any], background: tuple[str, ...]) -> Iterator[tuple[int, int, str]]:
    if has_entities(labels):
        yield from (one for one in label_ranges(labels) if one[2] not in background)
        return
    start = 0
    for t in range(1, len(labels) + 1):
        if t == len(labels) or labels[t] != labels[start]:
            if labels[start] is not None and str(labels[start]) not in background:
                yield start, t, str(labels[start])
            start = t
