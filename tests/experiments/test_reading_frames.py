"""Candidate genes against strings searched by hand."""

from __future__ import annotations

import numpy as np

from experiments.lib.reading_frames import (
    Evidence,
    both_strands,
    candidates_on,
    features_of,
    frames_of,
)
from experiments.lib.reading_frames import _coding_sums as coding_sums
from experiments.lib.reading_frames import _shine_dalgarno as shine_dalgarno

STARTS, STOPS = ("ATG", "GTG", "TTG"), ("TAA", "TAG", "TGA")


def searched(text: str, shortest: int) -> set[tuple[int, int]]:
    """Every start codon up to the first stop codon in its frame."""
    found = set()
    for a in range(len(text) - 2):
        if text[a : a + 3] in STARTS:
            stops = (b for b in range(a, len(text) - 2, 3) if text[b : b + 3] in STOPS)
            end = next(stops, None)
            if end is not None and end + 3 - a >= shortest:
                found.add((a, end + 3))
    return found


def turned(text: str) -> str:
    return text[::-1].translate(str.maketrans("ACGT", "TGCA"))


def test_candidates_are_those_of_a_search(rng: np.random.Generator) -> None:
    for length in (0, 2, 30, 400):
        bases = rng.integers(4, size=length).astype(np.int8)
        text = "".join("ACGT"[k] for k in bases)
        strand = candidates_on(bases, 12)
        assert set(zip(strand.begin.tolist(), strand.end.tolist(), strict=True)) == searched(text, 12)
        spans, reverse = frames_of(both_strands(bases, 12))
        other = {(length - b, length - a) for a, b in searched(turned(text), 12)}
        assert {(a, b) for a, b in spans[reverse].tolist()} == other
        for a, b, rank in zip(strand.begin, strand.end, strand.rank, strict=True):
            assert rank == sum(start < a for start, end in searched(text, 3) if end == b)


def test_log_odds_add_up_in_frame(rng: np.random.Generator) -> None:
    bases = rng.integers(4, size=60).astype(np.int8)
    odds = rng.normal(size=(3, 4**6))
    begin, end = np.array([4, 9, 20]), np.array([31, 12, 59])
    found = coding_sums(bases, begin, end, odds)
    padded = np.concatenate([np.zeros(5, np.int64), bases])
    for value, a, b in zip(found, begin, end, strict=True):
        words = [int("".join(map(str, padded[t : t + 6])), 4) for t in range(a, b)]
        expected = sum(odds[(t - a) % 3, word] for t, word in zip(range(a, b), words, strict=True))
        np.testing.assert_allclose(value, expected)


def test_pieces_of_the_ribosome_binding_site() -> None:
    text = "TTTTTTTTTAGGAGCCCCCATG" + "TTTTTTTTTTTTTTTTTTTTCATG"
    bases = np.array(["ACGT".index(letter) for letter in text], dtype=np.int8)
    match, gap = shine_dalgarno(bases, np.array([19, 43]))
    assert match.tolist() == [5.0, 1.0]  # AGGAG, then a T
    assert gap[0] == 5


def test_evidence_tells_genes_from_chance(rng: np.random.Generator) -> None:
    """Codons of a made-up gene are GCA and GAA; what is between genes is anything."""
    pieces, labels = [], []
    for _ in range(20):
        gene = "ATG" + "".join(rng.choice(["GCA", "GAA"], size=40)) + "TAA"
        around = ["".join(rng.choice(list("ACGT"), size=80)) for _ in range(2)]
        text = around[0] + gene + around[1]
        pieces.append(np.array(["ACGT".index(letter) for letter in text], dtype=np.int8))
        labels.append(np.array(["N"] * 80 + ["C"] * len(gene) + ["N"] * 80))
    evidence = Evidence.of(pieces, labels, 30)
    strand = candidates_on(pieces[0], 30)
    coding = features_of(strand, evidence)[:, 1]
    assert strand.begin[np.argmax(coding)] <= 80
    assert strand.end[np.argmax(coding)] == 80 + 126
