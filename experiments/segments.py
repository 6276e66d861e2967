"""Chains against segments: phases of gestures, by video, genes among open reading frames, and exons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from kernelfields import FreeScores, Parts
from kernelfields.estimators import CRF
from kernelfields.metrics import segment_scores
from kernelfields.structures import Chain, Segments, Structure

from .lib.claims import Claim
from .lib.exon_segments import ExonPart, find_exons
from .lib.experiment import Experiment, Report
from .lib.gene_segments import GenePart, find_genes
from .lib.gesture_frames import Videos, frames_of_gestures
from .lib.intervals import paired_interval
from .lib.results import Outcome, Row

THRESHOLDS = (0.1, 0.25, 0.5)


@dataclass(frozen=True)
class SegmentSettings:
    """What is compared, and how settings are chosen."""

    n_videos: int
    """Videos that are used; each is tested on once."""
    frames: int
    """Frames of each that are used, at most."""
    penalties: list[float]
    """Of features, to choose from."""
    edge_penalties: list[float]
    """Of label pairs and of lengths, likewise."""
    max_length: int
    """Up to which lengths of phases are told apart."""
    tol: float
    piece: int
    """Bases in a piece of the genome, about; every fifth piece is for testing."""
    n_pieces: int
    """Pieces that are used; all if there are fewer."""
    shortest: int
    """Bases of a candidate gene, at least."""
    gene_penalty: float
    n_mouse_genes: int
    """Genes of the mouse that are used, at most."""
    longest_mouse_gene: int
    """Bases of such a gene, at most."""
    mouse_folds: int
    """Parts that they are divided into; each is tested on once."""
    exon_penalty: float


def run(settings: SegmentSettings, report: Report) -> Outcome:
    """Leave one video out at a time; train on four fifths of the genome."""
    videos = frames_of_gestures(settings.n_videos, settings.frames)
    rows: list[Row] = []
    for k in range(len(videos.X)):
        report(f"video {k + 1} of {len(videos.X)}")
        rows.append(video_row(videos, k, settings))
    means = {name: float(np.mean([row[name] for row in rows])) for name in rows[0] if name != "part"}
    report("genes")
    genes, gap = find_genes(
        GenePart(settings.piece, settings.n_pieces, settings.shortest, settings.gene_penalty, settings.tol)
    )
    report("exons")
    exons = find_exons(
        ExonPart(
            settings.n_mouse_genes,
            settings.longest_mouse_gene,
            settings.mouse_folds,
            settings.exon_penalty,
            settings.tol,
        )
    )
    gaps = [gap, exons.gap, *(row["largest gap"] for row in rows)]
    better = [row["chain error %"] - row["segments error %"] for row in rows]
    sharper = {
        threshold: [row[f"segments F1@{threshold:g}"] - row[f"chain F1@{threshold:g}"] for row in rows]
        for threshold in THRESHOLDS
    }
    claims = [
        Claim("frame_error_below_chain_points", float(np.mean(better)), at_least=0.01),
        Claim("frame_error_below_chain_low", paired_interval(better)[0], at_least=0.0),
        *(
            Claim(f"segment_f1_{100 * t:g}_above_chain_low", paired_interval(gain)[0], at_least=0.0)
            for t, gain in sharper.items()
        ),
        Claim("genes_exact", genes["exact %"], at_least=75.0),
        Claim("exon_f1_above_chain_points", float(np.mean(exons.gains)), at_least=0.01),
        Claim("exon_f1_above_chain_low", paired_interval(exons.gains)[0], at_least=0.0),
        Claim("largest_relative_gap", max(gaps), at_most=settings.tol),
    ]
    table = [*rows, {"part": "all videos", **means}, {"part": "genes", **genes}]
    table += [{"part": f"exons, {name}", **counts} for name, counts in exons.rows.items()]
    return Outcome("segments", claims, table, {"better": better, "exons": exons.gains}, _NOTES)


class Penalised(NamedTuple):
    """Settings of one model."""

    structure: Structure
    penalty: float
    edge_penalty: float


def video_row(videos: Videos, k: int, settings: SegmentSettings) -> Row:
    """Train on all videos but one, and test on that."""
    others = [v for v in range(len(videos.X)) if v != k]
    row: dict[str, Any] = {"part": f"video {k + 1}"}
    gaps: list[float] = []
    structures: dict[str, Structure] = {"chain": Chain(), "segments": Segments(settings.max_length)}
    for name, structure in structures.items():
        penalties = product(settings.penalties, settings.edge_penalties)
        tried = [Penalised(structure, *pair) for pair in penalties]
        errors = [_inner_error(videos, others, one, settings.tol) for one in tried]
        choice = tried[int(np.argmin(errors))]
        model = _fitted(videos, others, choice, settings.tol)
        found = model.predict([videos.X[k]])[0]
        row |= {f"{name} error %": _error(videos.y[k], found)}
        for threshold in THRESHOLDS:
            score = segment_scores([videos.y[k]], [found], overlap=threshold)
            row[f"{name} F1@{threshold:g}"] = 100 * score.f1
        row |= {f"{name} λ": choice.penalty, f"{name} λ of labels": choice.edge_penalty}
        assert model.certificate_ is not None
        gaps.append(model.certificate_.relative_gap)
    return {**row, "largest gap": max(gaps)}


def _inner_error(videos: Videos, ids: list[int], choice: Penalised, tol: float) -> float:
    """Return the frame error on training videos, a third of them left out at a time."""
    wrong = []
    for held_out in (ids[n::3] for n in range(min(3, len(ids)))):
        model = _fitted(videos, [v for v in ids if v not in held_out], choice, tol)
        found = model.predict([videos.X[v] for v in held_out])
        wrong += [_error(videos.y[v], mine) for v, mine in zip(held_out, found, strict=True)]
    return float(np.mean(wrong))


def _pairs(choice: Penalised) -> Parts:
    """Return scores of label pairs, and of durations where there are some, with their penalty."""
    scores = FreeScores(penalty=choice.edge_penalty)
    durations = {"durations": scores} if isinstance(choice.structure, Segments) else {}
    return Parts(durations, edges=scores)


def _fitted(videos: Videos, ids: Sequence[int], choice: Penalised, tol: float) -> CRF:
    model = CRF(
        choice.penalty,
        structure=choice.structure,
        parts=_pairs(choice),
        tol=tol,
    )
    return model.fit([videos.X[v] for v in ids], [videos.y[v] for v in ids])


def _error(true: Sequence[Any], found: Sequence[Any]) -> float:
    return 100 * float(np.mean(np.asarray(true) != np.asarray(found)))


_NOTES = [
    "Videos: each is tested on once, by models of the other videos, whose penalties were chosen on "
    "thirds of these; F1@q counts phases that overlap a true one of their label by intersection over "
    "union ≥ q. That lengths up to 64 frames are enough, and about which penalties are worth a try, was "
    "seen in single runs on the same videos. Genes: open reading frames on either strand are candidates, "
    "a fifth of the genome is for testing; exact if begin, end and strand are right. Exons: those of mouse "
    "genes, each gene by models of others. A chain sees codons and sites base by base, segments see them "
    "for every span between sites that has an open frame; the gain is that of a gene's F1 of exact exons."
]


def draw(outcome: Outcome, figure: Any) -> None:
    """Draw the frame errors of both models for every video."""
    rows = [row for row in outcome.rows if str(row["part"]).startswith("video")]
    panel = figure.subplots()
    places = np.arange(len(rows))
    for shift, name in ((-0.2, "chain"), (0.2, "segments")):
        panel.bar(places + shift, [row[f"{name} error %"] for row in rows], 0.38, label=name)
    panel.set_xticks(places, [row["part"] for row in rows])
    panel.set_ylabel("frame error, percent")
    panel.grid(axis="y", alpha=0.3)
    panel.legend()


SEGMENTS = Experiment(
    "segments",
    "Segments against chains: phases of gestures, genes among open reading frames, exons",
    "gesture_phase and strep_genome and mouse_genes",
    SegmentSettings,
    run,
    draw,
)
