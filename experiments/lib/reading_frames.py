"""Open reading frames of a bacterium as candidate genes, and what speaks for each of them.

A candidate gene is a start codon (ATG, GTG, TTG) and the first stop codon behind it in its frame, on either
strand. What tells true genes from chance ones is measured on training sequences: how bases follow each other
in codons, and what surrounds true starts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kernelfields.arrays import Array

from .genes import genes, words

STARTS, STOPS = (14, 46, 62), (48, 50, 56)  # ATG GTG TTG, TAA TAG TGA, numbers of words over ACGT
UPSTREAM, DOWNSTREAM = 24, 9
"""Bases before and from a start codon on that its surroundings reach over."""
SHINE_DALGARNO = (0, 2, 2, 0, 2, 2, 3)  # AGGAGGT
PSEUDOCOUNT = 1.0
ORDER = 5
"""How many bases before it a base depends on."""


class ReadingFrames(NamedTuple):
    """Candidate genes of one sequence."""

    spans: Array
    """(C, 2): begin and end on the strand that is given."""
    reverse: Array
    """(C,): whether the gene is on the other strand."""


class Strand(NamedTuple):
    """Candidates of one strand, read in its own direction."""

    bases: Array
    begin: Array
    end: Array
    rank: Array
    """(C,): how many start codons of the same stop codon are before it."""


def candidates_on(bases: Array, shortest: int) -> Strand:
    """Return all candidates of one strand with at least so many bases."""
    codon = words(bases, 3, 2)
    inside = np.arange(len(bases)) <= len(bases) - 3
    begins, ends, ranks = [], [], []
    for frame in range(3):
        places = np.arange(frame, len(bases), 3)
        places = places[inside[places]]
        stops = np.isin(codon[places], STOPS)
        starts = np.flatnonzero(np.isin(codon[places], STARTS))
        at = np.flatnonzero(stops)
        following = np.searchsorted(at, starts)
        known = following < len(at)
        starts, following = starts[known], following[known]
        first = np.searchsorted(following, following)  # the first start of the same stop codon
        begin, end = places[starts], places[at[following]] + 3
        long = end - begin >= shortest
        begins.append(begin[long])
        ends.append(end[long])
        ranks.append((np.arange(len(starts)) - first)[long])
    return Strand(bases, *(np.concatenate(part) for part in (begins, ends, ranks)))


def both_strands(bases: Array, shortest: int) -> tuple[Strand, Strand]:
    """Return the candidates of this strand and of the other."""
    return candidates_on(bases, shortest), candidates_on(complement(bases), shortest)


def complement(bases: Array) -> Array:
    """Return the other strand, in its own direction."""
    return (3 - bases)[::-1]


def frames_of(strands: tuple[Strand, Strand]) -> ReadingFrames:
    """Return candidates as spans of the strand that is given, this strand's first."""
    ahead, back = strands
    length = len(ahead.bases)
    spans = np.concatenate(
        [np.stack([ahead.begin, ahead.end], 1), np.stack([length - back.end, length - back.begin], 1)]
    )
    return ReadingFrames(spans, np.arange(len(spans)) >= len(ahead.begin))


class Evidence(NamedTuple):
    """Log-odds that were measured on training sequences."""

    coding: Array
    """(3, 4^6): of a base after the five before it, in each position of a codon."""
    start: Array
    """(UPSTREAM + DOWNSTREAM, 4): of the bases around a start."""

    @classmethod
    def of(cls, sequences: Sequence[Array], labels: Sequence[Array], shortest: int) -> Evidence:
        """Measure them on sequences whose genes are known."""
        coding, between = np.zeros((3, 4 ** (ORDER + 1))), np.zeros(4 ** (ORDER + 1))
        true, false = (np.zeros((UPSTREAM + DOWNSTREAM, 4)) for _ in range(2))
        for bases, mine in zip(sequences, labels, strict=True):
            known = genes(mine)
            for backwards, name in ((False, "C"), (True, "R")):
                strand = complement(bases) if backwards else bases
                spans = [
                    (len(bases) - b, len(bases) - a) if backwards else (a, b)
                    for a, b, label in known
                    if label == name
                ]
                _count_codons(strand, spans, coding)
                between += np.bincount(
                    words(strand, ORDER + 1)[(mine[::-1] if backwards else mine) == "N"],
                    minlength=len(between),
                )
                _count_starts(candidates_on(strand, shortest), spans, true, false)
        odds = np.log(conditional(coding)) - np.log(conditional(between[None]))
        return cls(odds, np.log(_shares(true)) - np.log(_shares(false)))


def features_of(strand: Strand, evidence: Evidence) -> Array:
    """Return what speaks for every candidate of a strand, (C, 24)."""
    bases, begin, end, rank = strand
    length = (end - begin).astype(float)
    coding = _coding_sums(bases, begin, end, evidence.coding)
    before = _coding_sums(bases, np.maximum(begin - 60, begin % 3), begin, evidence.coding)
    codon = words(bases, 3, 2)[begin]
    match, gap = _shine_dalgarno(bases, begin)
    around = _around(bases, begin)
    start = evidence.start[np.arange(around.shape[1]), around].sum(axis=1)
    columns = [
        np.ones(len(begin)),
        coding / 100,
        coding / length,
        np.minimum(coding, 50.0) / 50,
        before / 20,
        start / 5,
        np.log(length / 900),
        np.log(length / 900) ** 2,
        *(codon == number for number in STARTS),
        *(np.minimum(rank, 4) == k for k in range(5)),
        *((match >= k) & (gap >= 4) & (gap <= 12) for k in (3, 4, 5, 6)),
        match / 6,
        *(np.abs(gap - middle) <= 1 for middle in (5, 8, 11)),
    ]
    return np.stack(columns, axis=1).astype(np.float64)


def _count_codons(bases: Array, spans: list[tuple[int, int]], into: Array) -> None:
    """Count words of six bases by the codon position of the last."""
    word = words(bases, ORDER + 1)
    for a, b in spans:
        for position in range(3):
            np.add.at(into[position], word[a + 3 + position : b - 3 : 3], 1)


def _count_starts(strand: Strand, spans: list[tuple[int, int]], true: Array, false: Array) -> None:
    """Count bases around true starts, and around other start codons of the same genes."""
    ends = {b: a for a, b in spans}
    chosen = np.array([ends.get(int(end), -1) for end in strand.end], dtype=np.int64)
    around = _around(strand.bases, strand.begin)
    for table, rows in (
        (true, around[strand.begin == chosen]),
        (false, around[(chosen >= 0) & (strand.begin != chosen)]),
    ):
        for column in range(around.shape[1]):
            table[column] += np.bincount(rows[:, column], minlength=4)


def _around(bases: Array, begin: Array) -> Array:
    """Return the bases around each start; A beyond the ends."""
    padded = np.pad(bases.astype(np.int64), (UPSTREAM, DOWNSTREAM))
    return padded[begin[:, None] + np.arange(UPSTREAM + DOWNSTREAM)]


def _coding_sums(bases: Array, begin: Array, end: Array, odds: Array) -> Array:
    """Return the log-odds of the bases from each begin to each end, in the frame of the begin."""
    word = words(bases, ORDER + 1)
    result = np.zeros(len(begin))
    for frame in range(3):
        position = (np.arange(len(bases)) - frame) % 3
        sums = np.concatenate([[0.0], np.cumsum(odds[position, word])])
        mine = begin % 3 == frame
        result[mine] = sums[end[mine]] - sums[begin[mine]]
    return result


def _shine_dalgarno(bases: Array, begin: Array) -> tuple[Array, Array]:
    """Return the longest piece of AGGAGGT before each start, and how far before it the piece ends."""
    reach = 18
    padded = np.pad(bases.astype(np.int64), (reach, 0), constant_values=-1)
    before = padded[begin[:, None] + np.arange(reach)]
    best, gap = np.zeros(len(begin)), np.zeros(len(begin))
    for shift in range(-(len(SHINE_DALGARNO) - 1), reach):
        run = np.zeros(len(begin))
        for k, base in enumerate(SHINE_DALGARNO):
            if not 0 <= shift + k < reach:
                continue
            run = np.where(before[:, shift + k] == base, run + 1, 0)
            longer = run > best
            best, gap = np.where(longer, run, best), np.where(longer, reach - 1 - shift - k, gap)
    return best, gap


def conditional(counts: Array) -> Array:
    """Return probabilities of the last base of a word given the others."""
    table = counts.reshape(len(counts), -1, 4) + PSEUDOCOUNT
    return (table / table.sum(axis=2, keepdims=True)).reshape(len(counts), -1)


def _shares(counts: Array) -> Array:
    table = counts + PSEUDOCOUNT
    return np.asarray(table / table.sum(axis=1, keepdims=True))
