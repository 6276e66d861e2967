"""Letters of FASTA files and rows of profiles, with labels from a file beside them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError, quoted
from ..io.csv import Frames
from ..io.fasta import LetterSequence, read_fasta
from ..io.gff3 import SequenceFeature, read_gff3
from ..io.hhm import read_hhm
from ..io.lines import read_lines
from ..io.profiles import ResidueProfile
from ..io.pssm import read_pssm
from ..io.stockholm import read_stockholm
from .items import Item, NamedColumns
from .kinds import ending_of
from .options import Reading

OUTSIDE = "O"
"""The label of positions that no feature covers."""
FEATURE_ENDINGS = ("gff3", "gff")


class PositionLabels:
    """Labels of positions, by the names of sequences.

    Parameters
    ----------
    path : path
        A FASTA file with a letter per position; or a GFF3 file, by its name or its first line, whose types
        are labels, with the strand behind them if they have one (CDS+, CDS-), and "O" where there is nothing.
    types : tuple of str, optional
        Types of features of a GFF3 file that count; all of them if None.
    missing : str
        The letter of positions whose label is not known.
    """

    def __init__(self, path: Path, types: tuple[str, ...] | None, missing: str) -> None:
        self.path, self.missing = path, missing
        self._letters: dict[str, str] | None = None
        self._features: dict[str, list[SequenceFeature]] = {}
        self._met = False
        if _has_features(path):
            for one in read_gff3(path):
                if types is None or one.type in types:
                    self._features.setdefault(one.sequence, []).append(one)
            if types is not None and not self._features:
                raise InputError(f"{path} has no feature of the type {' or '.join(types)}.")
            return
        if types is not None:
            raise InputError(f"--types is for labels in GFF3, not for {path}.")
        self._letters = {one.name: one.letters for one in read_fasta(path)}

    def of(self, name: str, length: int) -> list[Any]:
        """Return the labels of a sequence of some length."""
        if self._letters is None:
            return self._covered(name, length)
        letters = self._letters.get(name)
        if letters is None:
            raise InputError(f"{self.path} has no labels of {quoted(name, 40)}.")
        if len(letters) != length:
            raise InputError(
                f"{self.path} has {len(letters)} labels of {quoted(name, 40)}, which has {length} letters."
            )
        return [None if letter == self.missing else letter for letter in letters]

    def require_met(self, source: Any) -> None:
        """Refuse features none of which was about a sequence of a file."""
        if self._features and not self._met:
            there = quoted(next(iter(self._features)), 40)
            raise InputError(f"{self.path} has features of {there}, but of no sequence of {source}.")

    def _covered(self, name: str, length: int) -> list[Any]:
        codes = np.zeros(length, dtype=np.int64)
        lines = np.zeros(length, dtype=np.int64)
        names = [OUTSIDE]
        for one in self._features.get(name, []):
            self._met = True
            if one.end > length:
                raise InputError(
                    f"{self.path}, line {one.line}: the feature ends at {one.end}, "
                    f"but {quoted(name, 40)} has {length} letters."
                )
            label = f"{one.type}{one.strand}" if one.strand in ("+", "-") else one.type
            code = names.index(label) if label in names else len(names)
            names += [label] * (code == len(names))
            part = codes[one.start : one.end]
            wrong = np.flatnonzero((part != 0) & (part != code))
            if len(wrong):
                place = one.start + int(wrong[0])
                raise InputError(
                    f"{self.path}, line {one.line}: {label} overlaps the {names[codes[place]]} of line "
                    f"{lines[place]} at position {place + 1}; --types chooses features that do not."
                )
            part[:] = code
            lines[one.start : one.end] = one.line
        return [names[code] for code in codes.tolist()]


def _has_features(path: Path) -> bool:
    """Return whether a file is GFF3; the names of pipes do not say so."""
    if ending_of(path.name) in FEATURE_ENDINGS:
        return True
    first = next(read_lines(path, "utf-8"), None)
    return first is not None and first.text.startswith("##gff")


def _labels_of(reading: Reading) -> PositionLabels | None:
    if reading.labels is None:
        if reading.types is not None:
            raise InputError("--types is about the features of --labels, which is missing.")
        return None
    return PositionLabels(reading.labels, reading.types, reading.missing)


def read_letters(source: Any, reading: Reading, labelled: bool) -> Iterator[Item]:
    """Read the sequences of a FASTA file; models see capital letters."""
    known = _labels_of(reading) if labelled else None
    for one in read_fasta(source):
        labels = None if known is None else known.of(one.name, len(one.letters))
        yield Item(list(one.letters.upper()), labels, list(one.letters), one)
    if known is not None:
        known.require_met(source)


def read_profiles(source: Any, kind: str, reading: Reading, labelled: bool) -> Iterator[Item]:
    """Read the profiles of a file, whose labels are those of the other file if there is one."""
    known = _labels_of(reading) if labelled else None
    for one in _profiles(source, kind):
        labels = one.labels if known is None else known.of(one.name, len(one.letters))
        frames = Frames(one.name, one.numbers, labels, one.columns)
        x = NamedColumns.of(one.numbers, one.columns)
        yield Item(x, labels if labelled else None, list(one.letters), frames)


def _profiles(source: Any, kind: str) -> Iterator[ResidueProfile]:
    if kind == "pssm":
        return iter([read_pssm(source)])
    return read_hhm(source) if kind == "hhm" else read_stockholm(source)


def sequence_name(item: Item, n: int) -> str:
    """Return the name of a sequence, or one that says which it is."""
    if isinstance(item.source, LetterSequence | Frames):
        return item.source.name
    return f"sequence{n}"
