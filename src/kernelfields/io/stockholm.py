"""Multiple alignments in Stockholm format, as profiles.

    # STOCKHOLM 1.0
    #=GF ID   globin
    HBA_HUMAN        VLSPADKTNV
    HBB_HUMAN        VHLTPEEKSA
    #=GC SS_cons     HHHHHHCCCC
    //

A row of the profile is about a column of the alignment that is part of the first sequence (or that
``#=GC RF`` marks): for every letter a the probability (c_a + λ q_a)/(c + λ), with counts c_a in which
sequences that resemble many others count less (position-based weights [henikoff1994]), the
composition q of the whole alignment and λ pseudocounts; and the share of gaps.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..checks import require_positive
from ..errors import InputError, quoted
from .lines import Source, TextLine, read_lines
from .profiles import AMINO_ACIDS, GAPS, NUCLEOTIDES, ResidueProfile

PSEUDOCOUNTS = 5.0
HEADER = "# STOCKHOLM"
GAP = "gap"


class _Alignment(NamedTuple):
    """What the lines of an alignment say."""

    first: TextLine
    name: str
    rows: dict[str, str]
    columns: dict[str, str]
    """Annotations of columns (#=GC)."""
    residues: dict[tuple[str, str], str]
    """Annotations of residues (#=GR), by sequence and kind."""


def read_stockholm(source: Source, *, pseudocounts: float = PSEUDOCOUNTS) -> Iterator[ResidueProfile]:
    """Read alignments one by one, as profiles; secondary structure (SS, SS_cons), if there is any, is labels.

    Malformed input raises an `InputError` that names file, line and reason.

    Parameters
    ----------
    source : path, or file opened for reading
        A path that ends with .gz is decompressed.
    pseudocounts : float
        λ, how many sequences the composition of the alignment is worth.
    """
    require_positive("pseudocounts", pseudocounts)
    lines: list[TextLine] = []
    for line in read_lines(source, "utf-8"):
        if not lines and line.text.strip() and not line.text.startswith(HEADER):
            raise line.error(f"expected '{HEADER} 1.0', but found {quoted(line.text, 40)}.")
        if line.text.strip() == "//":
            yield _profile(_read(lines), pseudocounts)
            lines = []
        elif line.text.strip():
            lines.append(line)
    if lines:
        raise lines[-1].error("the alignment ends without '//'.")


def _read(lines: list[TextLine]) -> _Alignment:
    """Join the blocks of an alignment."""
    found = _Alignment(lines[0], "", {}, {}, {})
    name, where = "", {}
    for line in lines[1:]:
        words = line.text.split()
        if words[0] == "#=GF" and words[1:2] == ["ID"] and len(words) > 2:
            name = words[2]
        elif words[0] == "#=GC" and len(words) == 3:
            found.columns[words[1]] = found.columns.get(words[1], "") + words[2]
        elif words[0] == "#=GR" and len(words) == 4:
            pair = (words[1], words[2])
            found.residues[pair] = found.residues.get(pair, "") + words[3]
        elif not line.text.startswith("#"):
            if len(words) != 2:
                raise line.error(f"expected a name and letters, but found {quoted(line.text)}.")
            found.rows[words[0]] = found.rows.get(words[0], "") + words[1]
            where[words[0]] = line
    if not found.rows:
        raise lines[0].error("the alignment has no sequences.")
    width = len(next(iter(found.rows.values())))
    for key, letters in found.rows.items():
        if len(letters) != width:
            raise where[key].error(
                f"{quoted(key, 40)} has {len(letters)} columns, but the first sequence has {width}."
            )
    return found._replace(name=name or next(iter(found.rows)))


def _profile(alignment: _Alignment, pseudocounts: float) -> ResidueProfile:
    letters = np.array([list(row.upper()) for row in alignment.rows.values()])
    head = next(iter(alignment.rows))
    mark = alignment.columns.get("RF", alignment.rows[head])
    kept = _places(alignment, mark, letters.shape[1])
    present = set(letters.ravel()) - set(GAPS)
    alphabet = NUCLEOTIDES if present <= set("ACGTUN") else AMINO_ACIDS
    codes = _codes(letters, alphabet)
    numbers = _numbers(codes, kept, len(alphabet), pseudocounts)
    labels = alignment.residues.get((head, "SS"), alignment.columns.get("SS_cons"))
    known = None if labels is None else _labels(alignment, labels, kept, letters.shape[1])
    return ResidueProfile(alignment.name, "".join(letters[0, kept]), numbers, (*alphabet, GAP), known)


def _places(alignment: _Alignment, mark: str, width: int) -> Array:
    if len(mark) != width:
        raise alignment.first.error(f"#=GC RF has {len(mark)} columns, but sequences have {width}.")
    kept = np.flatnonzero([letter not in GAPS for letter in mark])
    if not len(kept):
        raise alignment.first.error("no column of the alignment counts: all are gaps.")
    return kept


def _codes(letters: Array, alphabet: str) -> Array:
    """Return numbers of letters in the alphabet, −1 for gaps and −2 for other letters."""
    codes = np.full(letters.shape, -2)
    for code, letter in enumerate(alphabet):
        codes[letters == letter] = code
    if "T" in alphabet and len(alphabet) == len(NUCLEOTIDES):
        codes[letters == "U"] = alphabet.index("T")
    codes[np.isin(letters, list(GAPS))] = -1
    return codes


def _numbers(codes: Array, kept: Array, size: int, pseudocounts: float) -> Array:
    weights = _weights(codes, size)
    counts = np.stack([(weights[:, None] * (codes == k)).sum(axis=0) for k in range(size)], axis=1)
    composition = (counts.sum(axis=0) + 1) / (counts.sum() + size)
    total = counts.sum(axis=1, keepdims=True)
    probabilities = (counts + pseudocounts * composition) / (total + pseudocounts)
    gaps = (weights[:, None] * (codes == -1)).sum(axis=0) / weights.sum()
    result: Array = np.column_stack([probabilities, gaps])[kept]
    return result


def _weights(codes: Array, size: int) -> Array:
    """Return weights of sequences: a letter that occurs s times in a column of r kinds gives 1/(rs)."""
    total = np.zeros(len(codes))
    for column in codes.T:
        counts = np.bincount(column[column >= 0], minlength=size)
        kinds = np.count_nonzero(counts)
        there = column >= 0
        if kinds:
            total[there] += 1 / (kinds * counts[column[there]])
    mean = total.mean()
    return total / mean if mean > 0 else np.ones(len(codes))


def _labels(alignment: _Alignment, text: str, kept: Array, width: int) -> list[str | None]:
    if len(text) != width:
        raise InputError(
            f"{alignment.first.file}, line {alignment.first.number}: the secondary structure of "
            f"{quoted(alignment.name, 40)} has {len(text)} columns, but sequences have {width}."
        )
    return [None if text[t] in ".~" else text[t] for t in kept.tolist()]
