"""Coding exons of the mouse: segments among candidates, and a chain that sees the same base by base."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kernelfields import FreeScores, LinearScores, Parts
from kernelfields.arrays import Array
from kernelfields.datasets import MouseGene, load_mouse_genes
from kernelfields.estimators import CRF
from kernelfields.structures import CandidateSegments

from .exon_candidates import ExonEvidence, base_features, candidates_of, exon_features
from .genes import genes, possible

PARTS = 4
"""Evidence on training genes is measured on those of other parts: their own would flatter them."""
EXON = "E"
FEW_WEIGHTS = "newton-cg"
"""Sites are rare and decide all: weights are few, and of very different curvature."""


class ExonPart(NamedTuple):
    """Genes that are used, how they are divided, and the settings of the models."""

    n_genes: int
    longest: int
    """Bases of a gene, at most."""
    n_folds: int
    penalty: float
    tol: float


class ExonScores(NamedTuple):
    """What both models find in every gene, those of one fold by models of the others."""

    rows: dict[str, dict[str, float]]
    """Counts over all genes, by model."""
    gains: list[float]
    """By gene, how much higher the F1 of exons is that segments find."""
    gap: float


def find_exons(settings: ExonPart) -> ExonScores:
    """Leave one fold of genes out at a time."""
    chosen = [gene for gene in load_mouse_genes() if len(gene.bases) <= settings.longest][: settings.n_genes]
    found: dict[str, dict[int, Array]] = {"chain": {}, "segments": {}}
    gaps = []
    for fold in range(settings.n_folds):
        test = [n for n in range(len(chosen)) if n % settings.n_folds == fold]
        train = [gene for n, gene in enumerate(chosen) if n % settings.n_folds != fold]
        for name, paths in found.items():
            labels, gap = _label(name, train, [chosen[n] for n in test], settings)
            paths.update(zip(test, labels, strict=True))
            gaps.append(gap)
    each = {name: [_counts(gene, paths[n]) for n, gene in enumerate(chosen)] for name, paths in found.items()}
    gains = [100 * (s.exon_f1 - c.exon_f1) for s, c in zip(each["segments"], each["chain"], strict=True)]
    return ExonScores({name: _summary(counts) for name, counts in each.items()}, gains, max(gaps))


def _label(
    name: str, train: list[MouseGene], test: list[MouseGene], settings: ExonPart
) -> tuple[list[Array], float]:
    """Train one model, and label other genes."""
    parts = np.arange(len(train)) % PARTS
    measured = [
        ExonEvidence.of([gene for k, gene in zip(parts, train, strict=True) if k != part])
        for part in range(PARTS)
    ]
    item = _bases if name == "chain" else _spans
    X = [item(gene, measured[part]) for part, gene in zip(parts, train, strict=True)]
    y = [gene.labels.tolist() for gene in train]
    if name == "chain":
        model = CRF(
            settings.penalty, parts=Parts(edge_features=LinearScores()), solver=FEW_WEIGHTS, tol=settings.tol
        )
    else:
        y = [possible(spans, labels) for (_, spans, _), labels in zip(X, y, strict=True)]
        # Scores of single bases would add up along exons, and drown what candidates say of themselves.
        structure = CandidateSegments(only=[EXON])
        model = CRF(
            settings.penalty,
            structure=structure,
            parts=Parts(bias=None, edges=FreeScores(penalty=1e4), durations=FreeScores(penalty=1e4)),
        )
        model.set_params(solver=FEW_WEIGHTS, tol=settings.tol)
    model.fit(X, y)
    assert model.certificate_ is not None
    evidence = ExonEvidence.of(train)
    paths = model.predict([item(gene, evidence) for gene in test])
    return [np.array(path) for path in paths], model.certificate_.relative_gap


def _bases(gene: MouseGene, evidence: ExonEvidence) -> Any:
    return base_features(gene.bases, evidence)


def _spans(gene: MouseGene, evidence: ExonEvidence) -> Any:
    found = candidates_of(gene.bases, evidence)
    spans = [(a, b, EXON) for a, b in zip(found.begin.tolist(), found.end.tolist(), strict=True)]
    seen = exon_features(found, gene.bases, evidence)
    return np.zeros((len(gene.bases), 1), np.float32), spans, seen


class _Counts(NamedTuple):
    """How many exons and bases there are, are found, and are found rightly."""

    exons: Array
    bases: Array

    @property
    def exon_f1(self) -> float:
        return _f1(self.exons)


def _counts(gene: MouseGene, path: Array) -> _Counts:
    true, mine = genes(gene.labels), genes(path)
    is_exon, said = gene.labels == EXON, path == EXON
    return _Counts(
        np.array([len(true), len(mine), len(true & mine)]),
        np.array([is_exon.sum(), said.sum(), (is_exon & said).sum()]),
    )


def _f1(counts: Array) -> float:
    true, found, right = counts
    return float(2 * right / (true + found)) if true + found else 1.0


def _summary(each: list[_Counts]) -> dict[str, float]:
    exons, bases = (np.sum([getattr(one, name) for one in each], axis=0) for name in ("exons", "bases"))
    return {
        "exons exact %": 100 * exons[2] / max(exons[0], 1),
        "of predicted %": 100 * exons[2] / max(exons[1], 1),
        "exon F1 %": 100 * _f1(exons),
        "base F1 %": 100 * _f1(bases),
    }
