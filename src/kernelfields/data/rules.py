"""Rules about labels as offsets of scores, and the refusal of training labels that break them."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..constraints import Constraints, Forbidden, Rule
from ..errors import InputError, UnsupportedError
from ..objective import Offsets
from ..structures import EdgeBatch, Structure, StructureBatch
from ..tables import CONSTRAINTS, choose
from .labels import UNOBSERVED, Encoded


def read_rules(
    structure: Structure, constraints: str | Rule | None, batch: StructureBatch, encoded: Encoded
) -> Forbidden | None:
    """Return what constraints and the structure itself forbid, which the labels of a training set obey."""
    names, own = encoded.classes.tolist(), structure.forbidden_pairs
    rules = [choose(CONSTRAINTS, constraints, "constraints")] if constraints is not None else []
    masks = [rule.forbidden(names) for rule in (*rules, *([Constraints(own)] if own else []))]
    if not masks:
        return None
    forbidden = Forbidden(*(np.logical_or.reduce(each) for each in zip(*masks, strict=True)))
    require_respected(forbidden, batch, encoded.labels, encoded.classes)
    return forbidden


def offset_of(forbidden: Forbidden, given: StructureBatch, dtype: npt.DTypeLike) -> dict[str, Array]:
    """Scores that are −inf where a rule forbids and 0 elsewhere; zeros take no memory."""
    batch, zero = require_edge_batch(given), np.zeros((), dtype)
    offset = {clique: np.broadcast_to(zero, shape) for clique, shape in batch.shapes.items()}
    if forbidden.pairs.any():
        for name in _pairwise(batch):
            offset[name] = np.broadcast_to(_barred(forbidden.pairs, dtype), batch.shapes[name])
    if forbidden.starts.any() or forbidden.ends.any():
        node = np.zeros(batch.shapes["node"], dtype)
        node[batch.sources] += _barred(forbidden.starts, dtype)
        node[batch.sinks] += _barred(forbidden.ends, dtype)
        offset["node"] = node
    return offset


def forbid(forbidden: Forbidden, batch: EdgeBatch, theta: dict[str, Array]) -> None:
    """Make the scores of what a rule forbids −inf; those of answers in place."""
    dtype = theta["node"].dtype
    if forbidden.pairs.any():
        for name in _pairwise(batch):
            theta[name] = theta[name] + _barred(forbidden.pairs, dtype)
    for mask, ends in ((forbidden.starts, batch.sources), (forbidden.ends, batch.sinks)):
        if mask.any():
            theta["node"][ends] += _barred(mask, dtype)


def barred_scores(forbidden: Forbidden) -> Offsets:
    """The same for the linear chain."""
    small = np.stack([np.zeros_like(forbidden.starts), forbidden.starts, forbidden.ends])
    return Offsets(_barred(small, np.float64), _barred(forbidden.pairs, np.float64))


def _pairwise(batch: EdgeBatch) -> list[str]:
    """Return the clique types of two vertices: edges, of all types.

    Two axes of scores are not enough: lengths of runs have them, too, with labels along one.
    """
    return [
        name
        for name, cliques in batch.cliques.items()
        if name == "edge" or (len(cliques.values) == 2 and cliques.members.shape[1] == 2)
    ]


def _barred(mask: Array, dtype: npt.DTypeLike) -> Array:
    return np.where(mask, -np.inf, 0).astype(dtype)


def require_respected(
    forbidden: Forbidden, given: StructureBatch, labels: Array, classes: Array, of: str = ""
) -> None:
    """Refuse labels that break a rule, by instance and vertex; unobserved ones break none."""
    batch = require_edge_batch(given)
    if not batch.has_ends and (forbidden.starts.any() or forbidden.ends.any()):
        raise InputError(
            f"constraints forbid first or last labels, but no {batch.words.place} of a {batch.words.item} is "
            "first or last."
        )
    seen = labels != UNOBSERVED
    for name in _pairwise(batch):
        first, second = batch.cliques[name].members.T
        bad = seen[first] & seen[second] & forbidden.pairs[labels[first], labels[second]]
        if bad.any():
            t = int(second[bad][0])
            before, after = classes[labels[[first[bad][0], t]]].tolist()
            _refuse(batch, t, of, f"has the forbidden label pair {before!r} → {after!r}")
    for verb, mask, ends in (
        ("starts", forbidden.starts, batch.sources),
        ("ends", forbidden.ends, batch.sinks),
    ):
        bad = seen[ends] & mask[labels[ends]]
        if bad.any():
            t = int(ends[bad][0])
            _refuse(batch, t, of, f"{verb} with the forbidden label {classes[labels[[t]]].tolist()[0]!r}")


def require_possible(batch: Any, labels: Array, classes: Array, of: str = "y") -> None:
    """Refuse labels that vertices of their types cannot have, and runs that are not among the candidates.

    Unobserved labels are fine.
    """
    bound = batch.bound
    if bound is not None and bound.any() and (labels >= 0).all():
        begins = batch.runs(labels)[0]
        there = batch.cliques["segment"].members[batch.candidates.realised(batch.offsets, labels, begins), 0]
        odd = np.setdiff1d(begins[bound[labels[begins]]], there)
        if len(odd):
            t = int(odd[0])
            _refuse(
                batch, t, of, f"has a run of {classes[labels[[t]]].tolist()[0]!r} that is not a candidate"
            )
    sets = batch.label_sets
    if sets is None:
        return
    odd = np.flatnonzero((labels >= 0) & ~sets[np.arange(len(labels)), labels])
    if len(odd):
        t = int(odd[0])
        label = classes[labels[[t]]].tolist()[0]
        _refuse(batch, t, of, f"has the label {label!r}, which its type has not,")


def _refuse(batch: EdgeBatch, t: int, of: str, what: str) -> NoReturn:
    s = int(np.searchsorted(batch.offsets, t, side="right")) - 1
    words = batch.words
    raise InputError(f"{words.name(s, of)} {what} at {words.place} {t - int(batch.offsets[s])}.")


def require_edge_batch(batch: StructureBatch) -> EdgeBatch:
    """Return a batch that has label pairs, and refuse others."""
    if not isinstance(batch, EdgeBatch):
        kind = type(batch).__name__
        raise UnsupportedError(f"{kind} has no pairs of neighbouring labels, which this is about.")
    return batch
