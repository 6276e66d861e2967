"""Where coding exons may begin and end, and what speaks for that: codons, splice sites, starts.

An exon begins behind AG or with ATG, and ends before GT or with a stop codon. What tells true sites from
chance ones, and coding bases from others, is measured on training genes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kernelfields.arrays import Array
from kernelfields.datasets import MouseGene

from .genes import words
from .reading_frames import ORDER, STOPS, conditional

ATG, AG, GT = 14, 2, 11  # numbers of words over ACGT
WINDOWS = {"acceptor": (-24, 4), "start": (-9, 7), "donor": (-4, 7), "stop": (-3, 4)}
"""Bases around a boundary that are looked at: it is where an exon begins, or right behind its end."""
BEGINS, ENDS = ("acceptor", "start"), ("donor", "stop")
LOST, SLACK = 0.02, 2.0
"""Sites are left out that score less, by the slack, than the lowest of true ones, but for this share: new
sites are less like those that were measured."""


class Sites(NamedTuple):
    """Boundaries of one kind in one sequence."""

    place: Array
    """(S,)."""
    score: Array
    """(S,) log-odds of their surroundings."""


class SiteOdds(NamedTuple):
    """Log-odds of the surroundings of a kind of site."""

    table: Array
    """(W, 16): of a base after the one before it."""
    least: float
    """Below it sites are left out."""


def places_of(bases: Array, kind: str) -> Array:
    """Return all boundaries that have the bases that they need."""
    pair, codon = words(bases, 2, 1), words(bases, 3, 2)
    here = {
        "acceptor": np.flatnonzero(pair == AG) + 2,
        "start": np.flatnonzero(codon == ATG),
        "donor": np.flatnonzero(pair == GT),
        "stop": np.flatnonzero(np.isin(codon, STOPS)) + 3,
    }[kind]
    return here[here <= len(bases) - (3 if kind == "start" else 0)]


def true_places(gene: MouseGene, kind: str) -> Array:
    """Return the boundaries of this kind of a gene that are right."""
    begins, ends = gene.exons[:, 0], gene.exons[:, 1]
    right = {"acceptor": begins[1:], "start": begins[:1], "donor": ends[:-1], "stop": ends[-1:]}[kind]
    return np.intersect1d(right, places_of(gene.bases, kind))


def measure_sites(genes: Sequence[MouseGene], kind: str) -> SiteOdds:
    """Measure surroundings of true sites against those of others."""
    width = WINDOWS[kind][1] - WINDOWS[kind][0]
    counts = np.zeros((2, width, 16))
    right = []
    for gene in genes:
        every, true = places_of(gene.bases, kind), true_places(gene, kind)
        for table, places in zip(counts, (true, np.setdiff1d(every, true)), strict=True):
            for column, pairs in enumerate(_around(gene.bases, places, kind).T):
                table[column] += np.bincount(pairs, minlength=16)
        right.append(_around(gene.bases, true, kind))
    odds = np.log(conditional(counts[0])) - np.log(conditional(counts[1]))
    scores = odds[np.arange(width), np.concatenate(right)].sum(axis=1)
    return SiteOdds(odds, float(np.quantile(scores, LOST)) - SLACK if len(scores) else -np.inf)


def sites_of(bases: Array, kind: str, odds: SiteOdds) -> Sites:
    """Return the sites of a sequence that are like true ones."""
    places = places_of(bases, kind)
    scores = odds.table[np.arange(len(odds.table)), _around(bases, places, kind)].sum(axis=1)
    kept = scores >= odds.least
    return Sites(places[kept], scores[kept])


def measure_codons(genes: Sequence[MouseGene]) -> Array:
    """Return log-odds of a base after the five before it, (3, 4^6) by its position in the codon."""
    coding, others = np.zeros((3, 4 ** (ORDER + 1))), np.zeros(4 ** (ORDER + 1))
    for gene in genes:
        word, done = words(gene.bases, ORDER + 1), 0
        for begin, end in gene.exons:
            position = (np.arange(begin, end) - begin + done) % 3
            for k in range(3):
                coding[k] += np.bincount(word[begin:end][position == k], minlength=len(others))
            done += int(end - begin)
        others += np.bincount(word[gene.labels == "N"], minlength=len(others))
    return np.asarray(np.log(conditional(coding)) - np.log(conditional(others[None])))


def coding_sums(bases: Array, odds: Array) -> Array:
    """Return cumulated log-odds, (3, T + 1): in row r codons begin at places that are r modulo 3."""
    word, place = words(bases, ORDER + 1), np.arange(len(bases))
    sums = [np.concatenate([[0.0], np.cumsum(odds[(place - r) % 3, word])]) for r in range(3)]
    return np.stack(sums)


def next_stops(bases: Array) -> Array:
    """Return the first stop codon at or behind each place in its frame; the length where there is none."""
    length = len(bases)
    found = np.full(length + 3, length)
    stops = places_of(bases, "stop") - 3
    found[stops] = stops
    for frame in range(3):
        mine = found[frame::3]
        mine[:] = np.minimum.accumulate(mine[::-1])[::-1]
    return found


def _around(bases: Array, places: Array, kind: str) -> Array:
    """Return numbers of pairs of neighbours around each place; A beyond the ends."""
    low, high = WINDOWS[kind]
    padded = np.pad(bases.astype(np.int64), (1 - low, high))
    at = places[:, None] + np.arange(high - low)[None] + 1
    return 4 * padded[at - 1] + padded[at]
