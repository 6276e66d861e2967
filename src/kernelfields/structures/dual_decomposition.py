"""The best labelling of graphs by alternating directions, with rules about whole labellings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..arrays import Array
from ..checks import Check, require_positive, shown, whole
from ..errors import InputError
from ._base import Scores
from ._oracles import BoundedLabelling
from ._search_base import MaxSearch, bounded, improved
from .agreement import Agreement
from .factor_tables import FactorTables
from .fusion import PairScores
from .logic import Logic, RuleGroups, kept_by
from .merged_cliques import MergedCliques

LOOK = 10
"""Iterations between two looks at bound and labels."""


def _rules(name: str, value: object) -> object:
    if not isinstance(value, tuple) or not all(isinstance(rule, Logic) for rule in value):
        raise InputError(f"{name} is {shown(value)}; it must be a tuple of rules, (ExactlyOne(1),) say.")
    return value


@dataclass(frozen=True)
class DualDecomposition(MaxSearch):
    """Alternating directions dual decomposition, AD³ [martins2015].

    The linear program over the local polytope, as many small ones that must agree: a vertex has exactly one
    label; a pair of labels is there if both are; and rules such as "exactly one vertex has this
    label" hold. Each of them moves to the nearest point that it can accept, in closed form; the shared
    variables are the means of these, and multipliers remember who disagrees. Whatever the multipliers,
    the sum of the best that each part can do alone bounds the best score from above.

    Every ten iterations vertices take labels, the surest first, each the likeliest that no rule forbids by
    then; without rules also better ones while there are any (ICM). The best labelling of all is kept.
    For graphs with rules; without rules `TreeReweightedMax` is faster.

    Parameters
    ----------
    rules : tuple of Logic
        `ExactlyOne`, `AtMost`, `Implies`, for every instance.
    max_iter : int
        Most iterations.
    tol : float
        Stop once variables move, and disagree with each other, by less than this (root mean square).
    step : float
        Weight of disagreement at first, in units of scores; then it adapts.
    """

    rules: tuple[Logic, ...] = ()
    max_iter: int = 1000
    tol: float = 1e-6
    step: float = 0.1
    _checks: ClassVar[Mapping[str, Check]] = {
        "rules": _rules,
        "max_iter": whole(),
        "tol": require_positive,
        "step": require_positive,
    }

    def find(self, cliques: MergedCliques, scores: Scores) -> BoundedLabelling:
        """Iterate on the whole batch at once."""
        graph, tables = cliques.graph, cliques.tables(scores)
        pairs = PairScores.of(tables)
        rules = [(rule, rule.on(graph)) for rule in self.rules]
        state = Agreement(pairs, rules, self.step)
        S = graph.n_instances
        labels, value, bound = np.zeros(graph.n_vertices, np.int32), np.full(S, -np.inf), np.full(S, np.inf)
        done = np.zeros(S, dtype=bool)
        for iteration in range(1, self.max_iter + 1):
            state.iterate()
            if iteration % LOOK and iteration < self.max_iter:
                continue
            state.adapt()
            bound = np.minimum(bound, state.bound())
            tried = self._rounded(state.node, tables, rules)
            reached = _allowed(pairs.scores(tried), tried, rules)
            better = reached > value
            labels = np.where(np.repeat(better, np.diff(graph.offsets)), tried, labels)
            value = np.where(better, reached, value)
            still = np.maximum(state.moved, state.apart) < self.tol
            done = BoundedLabelling(labels, value, bound, still).certified | (bound == -np.inf) | still
            if done.all():
                break
        found = bounded(cliques, scores, labels, bound, done)
        return found._replace(value=_allowed(found.value, labels, rules))

    def _rounded(self, node: Array, tables: FactorTables, rules: list[tuple[Logic, RuleGroups]]) -> Array:
        """Return a labelling near the shared variables."""
        likely = np.where(tables.node > -np.inf, node, -np.inf)
        labels = likely.argmax(axis=1).astype(np.int32)
        if not rules:
            return improved(tables, labels)
        kept = np.zeros(len(labels), dtype=bool)
        for rule, groups in rules:
            rule.repair(labels, likely, groups, kept)
        return labels


def _allowed(value: Array, labels: Array, rules: list[tuple[Logic, RuleGroups]]) -> Array:
    """Return values, −inf where a rule is broken."""
    for rule, groups in rules:
        value = np.where(kept_by(labels, rule, groups, len(value)), value, -np.inf)
    return value
