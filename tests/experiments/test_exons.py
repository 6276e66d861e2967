"""Candidate exons against strings searched by hand."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.lib.exon_candidates import (
    LONGEST,
    SHORTEST,
    ExonEvidence,
    base_features,
    candidates_of,
    exon_features,
)
from experiments.lib.exon_sites import (
    WINDOWS,
    SiteOdds,
    coding_sums,
    measure_codons,
    measure_sites,
    next_stops,
    places_of,
    sites_of,
)
from kernelfields.datasets import MouseGene

STOPS = ("TAA", "TAG", "TGA")


def written(bases) -> str:
    return "".join("ACGT"[k] for k in bases)


def anything(rng) -> ExonEvidence:
    """Return evidence that leaves no site out."""
    sites = {kind: SiteOdds(rng.normal(size=(b - a, 16)), -np.inf) for kind, (a, b) in WINDOWS.items()}
    return ExonEvidence(rng.normal(size=(3, 4**6)), sites)


def open_frames(text: str, a: int, b: int, start: bool, stop: bool) -> list[int]:
    """Return in which frames the span from a up to b has no stop codon but, perhaps, the last."""
    found = []
    for shift in range(1 if start else 3):
        inside = [t for t in range(a + shift, b - 2, 3) if text[t : t + 3] in STOPS]
        if inside == ([b - 3] if stop else []):
            found.append((a + shift) % 3)
    return found


def searched(text: str) -> dict[tuple[int, int], set[tuple[bool, bool]]]:
    """Every span between two sites with an open frame, by the kinds of its sites."""
    found: dict[tuple[int, int], set[tuple[bool, bool]]] = {}
    for a in range(len(text) + 1):
        for b in range(a + SHORTEST, min(a + LONGEST, len(text)) + 1):
            left = [
                start
                for start in (False, True)
                if (text[a : a + 3] == "ATG" if start else a >= 2 and text[a - 2 : a] == "AG")
            ]
            right = [
                stop
                for stop in (False, True)
                if (text[b - 3 : b] in STOPS if stop else text[b : b + 2] == "GT")
            ]
            kinds = {(s, e) for s in left for e in right if open_frames(text, a, b, s, e)}
            if kinds:
                found[a, b] = kinds
    return found


@pytest.mark.parametrize("length", [0, 5, 40, 300])
def test_candidates_are_those_of_a_search(length, rng) -> None:
    bases = rng.integers(4, size=length).astype(np.int8)
    text, evidence = written(bases), anything(rng)
    found, expected = candidates_of(bases, evidence), searched(text)
    spans = list(zip(found.begin.tolist(), found.end.tolist(), strict=True))
    assert len(spans) == len(set(spans))
    assert set(spans) == set(expected)
    sums = coding_sums(bases, evidence.codons)
    for k, (a, b) in enumerate(spans):
        start, stop = bool(found.left[k]), bool(found.right[k])
        assert (start, stop) in expected[a, b]
        frames = open_frames(text, a, b, start, stop)
        assert found.frame[k] in frames
        assert found.coding[k] == pytest.approx(max(sums[r, b] - sums[r, a] for r in frames))
    assert np.isfinite(exon_features(found, bases, evidence)).all()
    assert base_features(bases, evidence).shape == (length, 11)


def test_stop_codons_behind_every_place(rng) -> None:
    text = written(bases := rng.integers(4, size=200).astype(np.int8))
    found = next_stops(bases)
    for t in range(200):
        stops = (u for u in range(t, 198, 3) if text[u : u + 3] in STOPS)
        assert found[t] == next(stops, 200)


def gene_of(rng, n_exons=4) -> MouseGene:
    """Return a gene whose exons have codons of few kinds, and whose introns are random."""
    bases, exons = list(rng.integers(4, size=30)), []
    for k in range(n_exons):
        inside = [0, 3, 2] * (k == 0) + [2, 1, 1] * int(rng.integers(5, 30)) + [3, 0, 0] * (k == n_exons - 1)
        exons.append((len(bases), len(bases) + len(inside)))
        bases += inside
        bases += (
            [2, 3, *rng.integers(4, size=60), 0, 2] if k < n_exons - 1 else list(rng.integers(4, size=30))
        )
    return MouseGene("made", np.array(bases, dtype=np.int8), np.array(exons))


def test_evidence_speaks_for_what_is_true(rng) -> None:
    genes = [gene_of(rng) for _ in range(30)]
    evidence = ExonEvidence.of(genes[:20])
    for gene in genes[20:]:
        assert (gene.labels == "E").sum() == np.diff(gene.exons).sum()
        sums = coding_sums(gene.bases, evidence.codons)
        for a, b in gene.exons:
            assert sums[a % 3, b] - sums[a % 3, a] > 0  # exons here are whole codons
        found = candidates_of(gene.bases, evidence)
        spans = set(zip(found.begin.tolist(), found.end.tolist(), strict=True))
        assert sum((int(a), int(b)) in spans for a, b in gene.exons) >= len(gene.exons) - 1
    codons = measure_codons(genes)
    assert codons.shape == (3, 4**6)
    odds = measure_sites(genes, "donor")
    every = sites_of(genes[0].bases, "donor", odds)
    assert set(every.place) <= set(places_of(genes[0].bases, "donor"))
