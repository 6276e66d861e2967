"""The terms of a chain's problem, as the core knows them: inputs, and scores of labels alone."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..spaces import Boundary, Expansion, Free, LabelEmbedding, LinearFeatures
from .geometry import Term


class ChainTerms(NamedTuple):
    """Functions of the input, and what else there is: bias, scores of first and last labels, of pairs."""

    inputs: Term
    kinds: dict[str, Term]
    """All of them: "inputs", "bias", "boundaries", "edges"."""

    @classmethod
    def of(cls, problem: Any) -> ChainTerms | None:
        """Return them; None if there is another, two of a kind, no input or a penalty that is no square."""
        terms = problem.terms
        if any(term.penalty <= 0 or term.norm for term in terms):
            return None
        kinds = {_kind(term): term for term in terms}
        if None in kinds or len(kinds) < len(terms) or "inputs" not in kinds:
            return None
        return cls(kinds["inputs"], {str(kind): term for kind, term in kinds.items()})

    @property
    def penalties(self) -> tuple[float, float, float, float]:
        """λ of inputs, bias, boundaries, edges; inf for what there is not, which stays zero."""

        def penalty(kind: str) -> float:
            return float(self.kinds[kind].penalty) if kind in self.kinds else np.inf

        return penalty("inputs"), penalty("bias"), penalty("boundaries"), penalty("edges")


def _kind(term: Term) -> str | None:
    """Return which part of a model a term is; None if it is none that the core knows."""
    space = term.space
    if isinstance(space, LinearFeatures) and space.clique == "node":
        return "inputs"
    if isinstance(space, Expansion) and space.clique == "node":
        return "inputs" if _plain(space.embedding) else None
    if isinstance(space, Free) and space.members is None and space.support is None:
        return {"node": "bias", "edge": "edges"}.get(space.clique)
    return "boundaries" if isinstance(space, Boundary) else None


def _plain(embedding: LabelEmbedding) -> bool:
    """Whether labels learn for themselves, up to a constant for each position, which no loss notices."""
    vectors = embedding.vectors
    if vectors is None:
        return True
    L = len(vectors)
    return vectors.shape == (L, L - 1) and np.allclose(vectors @ vectors.T, np.eye(L) - 1 / L)
