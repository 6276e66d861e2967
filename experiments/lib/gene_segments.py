"""Genes of a bacterium as segments among open reading frames."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kernelfields import FreeScores, Parts
from kernelfields.arrays import Array
from kernelfields.datasets import Genome, load_genome
from kernelfields.estimators import CRF
from kernelfields.structures import CandidateSegments

from .genes import genes, possible
from .reading_frames import Evidence, both_strands, features_of, frames_of

PARTS = 4
"""Log-odds of training sequences are measured on those of other parts: their own would flatter them."""


class GenePart(NamedTuple):
    """How the genome is cut into pieces, and the settings of the model."""

    piece: int
    n_pieces: int
    shortest: int
    penalty: float
    tol: float


def find_genes(settings: GenePart) -> tuple[dict[str, float], float]:
    """Train on four fifths of the pieces; return what was found in the others, and the gap of the fit."""
    pieces, shortest = load_genome().cut(settings.piece)[: settings.n_pieces], settings.shortest
    train = [one for n, one in enumerate(pieces) if n % 5 != 4]
    test = [one for n, one in enumerate(pieces) if n % 5 == 4]
    parts = np.arange(len(train)) % PARTS
    measured = [
        Evidence.of(*_known([one for k, one in zip(parts, train, strict=True) if k != part]), shortest)
        for part in range(PARTS)
    ]
    X = [_item(one, measured[part], shortest) for part, one in zip(parts, train, strict=True)]
    # Few are no candidates: those with other start codons, or stops inside.
    y = [possible(item[1], one.labels.tolist()) for item, one in zip(X, train, strict=True)]
    # Scores of single bases would add up along genes, and drown what candidates say of themselves.
    structure = CandidateSegments(only=[name for name in ("C", "R") if any(name in labels for labels in y)])
    model = CRF(
        settings.penalty,
        structure=structure,
        parts=Parts(bias=None, edges=FreeScores(penalty=1e4), durations=FreeScores(penalty=1e4)),
        tol=settings.tol,
    ).fit(X, y)
    evidence = Evidence.of(*_known(train), shortest)
    found = model.predict([_item(one, evidence, shortest) for one in test])
    assert model.certificate_ is not None
    return _counts(test, [np.array(labels) for labels in found]), model.certificate_.relative_gap


def _known(pieces: list[Genome]) -> tuple[list[Array], list[Array]]:
    return [one.bases for one in pieces], [one.labels for one in pieces]


def _item(piece: Genome, evidence: Evidence, shortest: int) -> Any:
    """Return a sequence with its candidates, each of one strand."""
    strands = both_strands(piece.bases, shortest)
    spans, reverse = frames_of(strands)
    seen = np.concatenate([features_of(strand, evidence) for strand in strands])
    named = [(a, b, "R" if other else "C") for (a, b), other in zip(spans.tolist(), reverse, strict=True)]
    return np.zeros((len(piece.bases), 1), np.float32), named, seen


def _counts(pieces: list[Genome], paths: list[Array]) -> dict[str, float]:
    """Return how many genes are found, and how the others fail."""
    true, exact, found, stops = 0, 0, 0, 0
    right = []
    for piece, path in zip(pieces, paths, strict=True):
        mine, its = genes(path), genes(piece.labels)
        true, exact, found = true + len(its), exact + len(mine & its), found + len(mine)
        stops += len({_stop(gene) for gene in mine} & {_stop(gene) for gene in its})
        right.append(path == piece.labels)
    return {
        "exact %": 100 * exact / max(true, 1),
        "of predicted %": 100 * exact / max(found, 1),
        "wrong start %": 100 * (stops - exact) / max(true, 1),
        "missed %": 100 * (true - stops) / max(true, 1),
        "false %": 100 * (found - stops) / max(found, 1),
        "base accuracy %": 100 * float(np.concatenate(right).mean()),
    }


def _stop(gene: tuple[int, int, str]) -> tuple[int, str]:
    """Return where a gene stops, and its strand."""
    a, b, strand = gene
    return (b if strand == "C" else a), strand
