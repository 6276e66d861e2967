"""Candidate exons of a gene, with what speaks for each, and the same evidence base by base."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kernelfields.arrays import Array
from kernelfields.datasets import MouseGene

from .exon_sites import (
    BEGINS,
    ENDS,
    WINDOWS,
    SiteOdds,
    Sites,
    coding_sums,
    measure_codons,
    measure_sites,
    next_stops,
    sites_of,
)

SHORTEST, LONGEST = 9, 3000
FLANK = 60
"""Bases before and behind an exon that should not look like codons."""
USUAL = 135.0
"""Bases of an exon, about."""


class ExonEvidence(NamedTuple):
    """What was measured on training genes."""

    codons: Array
    sites: dict[str, SiteOdds]

    @classmethod
    def of(cls, genes: Sequence[MouseGene]) -> ExonEvidence:
        """Measure it."""
        return cls(measure_codons(genes), {kind: measure_sites(genes, kind) for kind in WINDOWS})


class ExonCandidates(NamedTuple):
    """Spans that may be exons: a frame without a stop codon between two sites."""

    begin: Array
    end: Array
    left: Array
    """(C,) whether it begins with a start codon."""
    right: Array
    """(C,) whether it ends with a stop codon."""
    scores: Array
    """(C, 2) of both sites."""
    coding: Array
    """(C,) log-odds of its bases in the best of its frames."""
    frame: Array
    """(C,) where the codons of that frame begin, modulo 3."""


def candidates_of(bases: Array, evidence: ExonEvidence) -> ExonCandidates:
    """Return all candidates of a sequence."""
    stops, sums = next_stops(bases), coding_sums(bases, evidence.codons)
    found = {kind: sites_of(bases, kind, evidence.sites[kind]) for kind in WINDOWS}
    parts = [
        _between(begins == "start", ends == "stop", found[begins], found[ends], stops, sums)
        for begins in BEGINS
        for ends in ENDS
    ]
    return _distinct(ExonCandidates(*(np.concatenate(part) for part in zip(*parts, strict=True))))


def _distinct(found: ExonCandidates) -> ExonCandidates:
    """Keep the most likely kind of spans that are of several kinds."""
    likely = np.argsort(-(found.coding + found.scores.sum(axis=1)), kind="stable")
    _, first = np.unique(np.stack([found.begin, found.end])[:, likely], axis=1, return_index=True)
    return ExonCandidates(*(one[likely[first]] for one in found))


def _between(start: bool, stop: bool, left: Sites, right: Sites, stops: Array, sums: Array) -> ExonCandidates:
    """Return the spans between sites of two kinds that have an open frame."""
    shifts = np.arange(1 if start else 3)
    at = np.minimum(left.place[:, None] + shifts, len(stops) - 1)
    # A span is open up to the bases of a stop codon, or to its end if it is to end with one.
    open_to = stops[at] + (3 if stop else 2)
    first = np.searchsorted(right.place, left.place + SHORTEST)
    last = np.searchsorted(right.place, np.minimum(open_to.max(axis=1), left.place + LONGEST), side="right")
    count = np.maximum(last - first, 0)
    i = np.repeat(np.arange(len(count)), count)
    j = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count) + first[i]
    begin, end = left.place[i], right.place[j]
    fits = open_to[i] == end[:, None] if stop else open_to[i] >= end[:, None]
    frame = (begin[:, None] + shifts) % 3
    coding = np.where(fits, sums[frame, end[:, None]] - sums[frame, begin[:, None]], -np.inf)
    best, rows = coding.argmax(axis=1), np.arange(len(i))
    kept = fits.any(axis=1)
    scores = np.stack([left.score[i], right.score[j]], axis=1)
    every = (np.full(len(i), start), np.full(len(i), stop), scores, coding[rows, best], frame[rows, best])
    return ExonCandidates(begin[kept], end[kept], *(one[kept] for one in every))


def exon_features(found: ExonCandidates, bases: Array, evidence: ExonEvidence) -> Array:
    """Return what speaks for every candidate, (C, F)."""
    sums, length = coding_sums(bases, evidence.codons), (found.end - found.begin).astype(float)
    before = np.maximum(found.begin - FLANK, 0)
    behind = np.minimum(found.end + FLANK, len(bases))
    flanks = [
        sums[found.frame, found.begin] - sums[found.frame, before],
        sums[found.frame, behind] - sums[found.frame, found.end],
    ]
    kinds = np.eye(4)[2 * found.left.astype(int) + found.right.astype(int)]
    columns = [
        kinds,
        kinds * found.coding[:, None] / 20,
        kinds * found.scores[:, :1] / 5,
        kinds * found.scores[:, 1:] / 5,
        np.stack([*flanks, np.minimum(found.coding, 20.0)], axis=1) / 20,
        np.stack([found.coding / length, np.log(length / USUAL), np.log(length / USUAL) ** 2], axis=1),
    ]
    return np.hstack(columns)


def base_features(bases: Array, evidence: ExonEvidence) -> Array:
    """Return the same evidence for every base, (T, 11): codons around it, and sites right behind it."""
    sums, place = coding_sums(bases, evidence.codons), np.arange(len(bases))
    columns = [np.ones(len(bases))]
    for reach in (15, 45):
        low, high = np.maximum(place - reach, 0), np.minimum(place + reach + 1, len(bases))
        columns.append((sums[:, high] - sums[:, low]).max(axis=0) / 20)
    for kind in WINDOWS:
        sites = sites_of(bases, kind, evidence.sites[kind])
        inside = (sites.place > 0) & (sites.place < len(bases))
        there, score = np.zeros(len(bases)), np.zeros(len(bases))
        there[sites.place[inside] - 1] = 1.0
        score[sites.place[inside] - 1] = sites.score[inside] / 5
        columns += [there, score]
    return np.stack(columns, axis=1).astype(np.float32)
