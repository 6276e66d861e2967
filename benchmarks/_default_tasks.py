"""Small tasks of many kinds, for choosing defaults: none of them was tuned on."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kernelfields.datasets import data_folder, load_cb513, load_gestures, load_letters
from kernelfields.features import stack_windows

MOST = 1500
"""Positions of a training set."""


class Task(NamedTuple):
    """Sequences to learn from, and others to label."""

    name: str
    X: list[Any]
    y: list[list[Any]]
    X_test: list[Any]
    y_test: list[list[Any]]


def tasks(quick: bool) -> Iterator[Task]:
    """Yield the tasks; of those that need the data folder, the ones that it has."""
    yield from (_blobs(scale) for scale in ((1.0,) if quick else (1e-3, 1.0, 1e3)))
    yield _forty_columns()
    yield _letters(40 if quick else MOST)
    if quick:
        return
    folder = data_folder()
    readers: list[tuple[str, Callable[[Path], Task]]] = [
        ("gesture_phase", _gestures),
        ("eeg_eye_state", _eeg),
        ("kasteren", _house),
        ("qian_sejnowski", _residues),
        ("cb513", _profiles),
    ]
    for name, read in readers:
        if (folder / name).exists():
            yield read(folder)


def _cut(name: str, X: list[Any], y: list[list[Any]], most: int = MOST) -> Task:
    """Use every second sequence to learn from, up to a number of positions, and the others to test."""
    parts: list[tuple[list[Any], list[list[Any]]]] = [([], []), ([], [])]
    for n, (one, labels) in enumerate(zip(X, y, strict=True)):
        kept = parts[n % 2]
        if sum(map(len, kept[1])) < most:
            kept[0].append(one)
            kept[1].append(labels)
    return Task(name, *parts[0], *parts[1])


def _in_pieces(X: Any, y: list[Any], size: int) -> tuple[list[Any], list[list[Any]]]:
    starts = range(0, len(y), size)
    return [X[a : a + size] for a in starts], [list(y[a : a + size]) for a in starts]


def _chain_labels(random: np.random.Generator, sequences: int, length: int, labels: int) -> list[list[int]]:
    found = []
    for _ in range(sequences):
        steps = np.cumsum(random.random(length) < 0.3) + random.integers(labels)
        found.append((steps % labels).tolist())
    return found


def _blobs(scale: float) -> Task:
    """Two clouds for every label, which no linear model tells apart, in eight columns of any unit."""
    random = np.random.default_rng(0)
    y = _chain_labels(random, 80, 25, 3)
    centres = random.normal(0, 2.0, (3, 2, 8))
    X = [
        scale * np.array([centres[label, random.integers(2)] + random.normal(0, 1.5, 8) for label in labels])
        for labels in y
    ]
    return _cut(f"clouds, unit {scale:g}", X, y)


def _forty_columns() -> Task:
    """Labels that are linear in four of forty columns of standard deviation 5."""
    random = np.random.default_rng(1)
    centres = np.pad(random.normal(0, 5.0, (3, 4)), ((0, 0), (0, 36)))
    y = _chain_labels(random, 80, 25, 3)
    X = [centres[labels] + random.normal(0, 5.0, (len(labels), 40)) for labels in y]
    return _cut("forty columns", X, y)


def _letters(most: int) -> Task:
    letters = load_letters()
    return _cut("letters", *letters.split(0), most=most)


def _gestures(folder: Path) -> Task:
    data = load_gestures(folder)
    X, y = [], []
    for one, labels in zip(data.positions, data.labels, strict=True):
        pieces = _in_pieces(one, labels, 100)
        X += pieces[0]
        y += pieces[1]
    return _cut("gestures, raw", X, y)


def _eeg(folder: Path) -> Task:
    """Raw micro-volts: every column has an offset of thousands, four rows are outliers of 100 times that."""
    with gzip.open(folder / "eeg_eye_state" / "eeg_eye_state.arff.gz", "rt") as lines:
        rows = [line.split(",") for line in lines if line[:1].isdigit()]
    table = np.array(rows, dtype=float)
    return _cut("brain waves, raw", *_in_pieces(table[:, :-1], table[:, -1].astype(int).tolist(), 100))


def _house(folder: Path) -> Task:
    """Binary sensors of a house by the minute, most of them off most of the time; activities."""
    with gzip.open(folder / "kasteren" / "houseA.sensors.gz", "rt") as lines:
        sensors = [tuple(map(int, line.split())) for line in lines]
    activities = [
        tuple(map(int, line.split()))
        for line in (folder / "kasteren" / "houseA.activities").read_text().splitlines()
    ]
    start = min(a for a, _, _ in activities)
    minutes = (max(a + b for a, b, _ in activities) - start) // 60 + 1
    columns = {name: n for n, name in enumerate(sorted({name for _, _, name in sensors}))}
    X, y = np.zeros((minutes, len(columns))), [0] * minutes
    for a, b, name in sensors:
        X[max((a - start) // 60, 0) : max((a + b - start) // 60 + 1, 0), columns[name]] = 1
    for a, b, name in activities:
        for minute in range((a - start) // 60, (a + b - start) // 60 + 1):
            y[minute] = name
    return _cut("house, binary", *_in_pieces(X, y, 240), most=3000)


def _residues(folder: Path) -> Task:
    """Windows of thirteen residues, one column of 0 and 1 each."""
    with open(folder / "qian_sejnowski" / "qian_sejnowski.tsv") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    letters = {letter: n for n, letter in enumerate(sorted({c for row in rows for c in row["sequence"]}))}
    one_hot = [np.eye(len(letters))[[letters[c] for c in row["sequence"]]] for row in rows]
    return _cut("residues, one-hot windows", stack_windows(one_hot, 13), [list(row["ss"]) for row in rows])


def _profiles(folder: Path) -> Task:
    data = load_cb513(folder)
    return _cut("profiles, windows", stack_windows(data.profiles, 13), data.labels)
