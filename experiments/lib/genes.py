"""Genes as states of a chain: start codon, codons, stop codon, on either strand."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np
from scipy import sparse

from kernelfields.arrays import Array
from kernelfields.constraints import Constraints

# N is between genes. A gene on this strand is A1 A2 A3 (start codon), C1 C2 C3 again and again, Z1 Z2 Z3
# (stop codon); on the other strand it is read backwards, so that the stop codon comes first.
STATES = ["N", *(f"{part}{n}" for part in ("A", "C", "Z", "z", "r", "a") for n in (1, 2, 3))]
STRANDS = np.array([0] + [1] * 9 + [2] * 9)
"""Label of every state, as an index into "NCR"."""
LABELS = np.array(["N", "C", "R"])
_FIRST = {"C": (1, 4, 7), "R": (10, 13, 16)}


def states_of(labels: Array) -> Array:
    """Return the state of every base, from the labels "N", "C" and "R"."""
    states = np.zeros(len(labels), dtype=np.int64)
    change = np.flatnonzero(labels[1:] != labels[:-1]) + 1
    for a, b in pairwise([0, *change.tolist(), len(labels)]):
        if labels[a] == "N":
            continue
        begin, inner, end = _FIRST[str(labels[a])]
        states[a:b] = inner + np.arange(b - a) % 3
        states[a : a + 3] = begin + np.arange(3)
        states[b - 3 : b] = end + np.arange(3)
    return states


def steps() -> Array:
    """Say which states may follow one another, (19, 19)."""
    allowed = np.zeros((19, 19), dtype=bool)
    allowed[0, 0] = True
    for begin, inner, end in _FIRST.values():
        allowed[0, begin] = allowed[end + 2, 0] = True
        for first in (begin, inner, end):
            allowed[first, first + 1] = allowed[first + 1, first + 2] = True
        allowed[begin + 2, inner] = allowed[inner + 2, inner] = allowed[inner + 2, end] = True
    return allowed


def grammar() -> Constraints:
    """Return the same as a rule; sequences start between genes."""
    pairs = [(int(a), int(b)) for a, b in np.argwhere(~steps())]
    return Constraints(forbidden_pairs=pairs, forbidden_starts=range(1, 19))


def words(bases: Array, length: int, shift: int = 0) -> Array:
    """Return the number of the word of ``length`` bases that ends ``shift`` after each; A beyond the ends."""
    code = np.zeros(len(bases), dtype=np.int64)
    padded = np.pad(bases.astype(np.int64), (length + abs(shift), abs(shift)))
    for n in range(length):
        start = abs(shift) + shift + 1 + n
        code = 4 * code + padded[start : start + len(bases)]
    return code


def word_features(pieces: list[Array]) -> sparse.csr_matrix:
    """Return indicators of the six bases up to each base, the six from it on, and triplets within nine."""
    columns, width = [], 0
    for length, shift in [(6, 0), (6, 5), *((3, shift) for shift in range(-9, 12, 3))]:
        columns.append(width + np.concatenate([words(piece, length, shift) for piece in pieces]))
        width += 4**length
    indices = np.stack(columns, axis=1).ravel().astype(np.int32)
    count = len(columns[0])
    indptr = np.arange(count + 1, dtype=np.int64) * len(columns)
    return sparse.csr_matrix((np.ones(len(indices), dtype=bool), indices, indptr), shape=(count, width))


def genes(labels: Array) -> set[tuple[int, int, str]]:
    """Return start, end and label of all genes: of runs of anything but "N"."""
    change = np.flatnonzero(labels[1:] != labels[:-1]) + 1
    runs = pairwise([0, *change.tolist(), len(labels)])
    return {(a, b, str(labels[a])) for a, b in runs if labels[a] != "N"}


def possible(candidates: Iterable[tuple[int, int, str]], labels: list[str]) -> list[str]:
    """Call what is not among the candidates no gene."""
    for a, b, _ in genes(np.array(labels)) - set(candidates):
        labels[a:b] = ["N"] * (b - a)
    return labels
