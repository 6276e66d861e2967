"""The rows of a table on named entities, and what the paper says about them [altun2004gp, Table 1]."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np

from .claims import Claim
from .folds import mean_of
from .intervals import paired_interval
from .ner_sparse import PUBLISHED, SPARSE, WHOLE, Size, columns
from .results import Row

WITHOUT, WITH, DEGREE1, DEGREE2 = "CRF without prior", "CRF with prior", "DGPS degree 1", "DGPS degree 2"
PAPER = {
    WITHOUT: 4.92,
    WITH: 4.56,
    DEGREE1: 4.58,
    DEGREE2: 4.39,
    SPARSE: 4.48,
    PUBLISHED: 4.48,
    WHOLE: 7.3,
}
"""Token error in percent [altun2004gp, Table 1]."""


class EntityTest(NamedTuple):
    """One model on one fold of one draw."""

    error: float
    """Wrong labels in percent."""
    seconds: float
    """Processor time of the fit."""
    value: float
    """R."""
    gap: float
    size: Size | None
    """Of a sparse model."""


EntityTests = Mapping[str, list[EntityTest]]
"""What was found, by system: draw by draw, fold by fold."""


class TriedPenalty(NamedTuple):
    """What a penalty gave on sentences that no draw has, means over folds."""

    error: float
    """Wrong labels in percent."""
    log_likelihood: float
    """Per word."""


def chosen_penalty(tried: Mapping[float, TriedPenalty], slack: float) -> float:
    """Return the likeliest of those penalties that are within some points of the fewest errors.

    Errors hardly change over two orders of magnitude of λ: a few words would decide, likelihoods tell.
    """
    least = min(one.error for one in tried.values())
    good = [penalty for penalty, one in tried.items() if one.error <= least + slack]
    return max(sorted(good, reverse=True), key=lambda penalty: tried[penalty].log_likelihood)


def points_above(found: EntityTests, name: str, other: str) -> list[float]:
    """Return by how many points the error of one model exceeds that of another, fold by fold."""
    return [a.error - b.error for a, b in zip(found[name], found[other], strict=True)]


def row_of(name: str, penalty: float, found: EntityTests) -> Row:
    """Return the line of a system, with the interval by which it is above degree 2."""
    tests = found[name]
    error = mean_of([test.error for test in tests])
    low, high = paired_interval(points_above(found, name, DEGREE2 if DEGREE2 in found else name))
    return {
        "model": name,
        "error %": error.mean,
        "standard error": error.standard_error,
        "paper %": PAPER[name],
        "above degree 2": f"{low:+.2f} … {high:+.2f}",
        "λ": penalty,
        "processor seconds": mean_of([test.seconds for test in tests]).mean,
        "largest gap": max(test.gap for test in tests),
        **columns([test.size for test in tests]),
    }


def claims_about(
    found: EntityTests, chosen: Mapping[str, float], grids: Mapping[str, Collection[float]]
) -> list[Claim]:
    """Return what the paper says of the systems that were run, and whether grids of λ were wide enough."""
    ends = sum(chosen[name] in (min(grid), max(grid)) for name, grid in grids.items())
    return [
        *_lower_ends(found),
        *_objectives(found),
        *_within(found),
        *_costs(found),
        Claim("penalties_chosen_at_ends_of_grids", ends, at_most=0),
    ]


def _lower_ends(found: EntityTests) -> list[Claim]:
    """Claim that one model is worse than another, and not by chance."""
    return [
        Claim(
            name,
            paired_interval(points_above(found, worse, better))[0],
            paper=round(PAPER[worse] - PAPER[better], 2),
            at_least=0.0,
        )
        for name, worse, better in (
            ("prior_below_no_prior_points_lower_end", WITHOUT, WITH),
            ("degree2_below_crf_points_lower_end", WITH, DEGREE2),
            ("degree2_below_degree1_points_lower_end", DEGREE1, DEGREE2),
            ("whole_sequences_above_sgps_points_lower_end", WHOLE, SPARSE),
        )
        if worse in found and better in found
    ]


def _objectives(found: EntityTests) -> list[Claim]:
    if DEGREE1 not in found:
        return []
    pairs = zip(found[WITH], found[DEGREE1], strict=True)
    apart = max(abs(a.value / b.value - 1) for a, b in pairs)
    return [Claim("degree1_objective_is_that_of_crf", apart, at_most=2e-3)]


def _within(found: EntityTests) -> list[Claim]:
    """Claim that SGPS of either kind is within 0.1 points of the dense model; the upper end decides."""
    claims = []
    for name, system in (("sgps", SPARSE), ("sgps_as_published", PUBLISHED)):
        if system in found:
            above = points_above(found, system, DEGREE2)
            mean, high = float(np.mean(above)), paired_interval(above)[1]
            claims.append(Claim(f"{name}_above_dense_points", mean, paper=0.09, at_most=0.1))
            claims.append(Claim(f"{name}_above_dense_points_upper_end", high, at_most=0.1))
    return claims


def _costs(found: EntityTests) -> list[Claim]:
    """Claim that whole sequences had as much time as SGPS."""
    if SPARSE not in found or WHOLE not in found:
        return []
    whole, sparse = (mean_of([test.seconds for test in found[name]]).mean for name in (WHOLE, SPARSE))
    return [Claim("whole_sequences_over_sgps_seconds", whole / sparse, at_least=0.9)]
