"""Rules about labels as offsets of scores, and the refusal of training labels that break them."""

from __future__ import annotations

from typing import NoReturn

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..constraints import Forbidden
from ..errors import InputError
from ..objective import Offsets
from ..structures import EdgeBatch
from .labels import UNOBSERVED


def offset_of(forbidden: Forbidden, chain: EdgeBatch, dtype: npt.DTypeLike) -> dict[str, Array]:
    """Scores that are −inf where a rule forbids and 0 elsewhere; zeros take no memory."""
    zero = np.zeros((), dtype)
    offset = {clique: np.broadcast_to(zero, shape) for clique, shape in chain.shapes.items()}
    if forbidden.pairs.any():
        offset["edge"] = np.broadcast_to(_barred(forbidden.pairs, dtype), chain.shapes["edge"])
    if forbidden.starts.any() or forbidden.ends.any():
        node = np.zeros(chain.shapes["node"], dtype)
        node[chain.sources] += _barred(forbidden.starts, dtype)
        node[chain.sinks] += _barred(forbidden.ends, dtype)
        offset["node"] = node
    return offset


def forbid(forbidden: Forbidden, batch: EdgeBatch, theta: dict[str, Array]) -> None:
    """Make the scores of what a rule forbids −inf; those of answers in place."""
    dtype = theta["node"].dtype
    if forbidden.pairs.any():
        theta["edge"] = theta["edge"] + _barred(forbidden.pairs, dtype)
    for mask, ends in ((forbidden.starts, batch.sources), (forbidden.ends, batch.sinks)):
        if mask.any():
            theta["node"][ends] += _barred(mask, dtype)


def barred_scores(forbidden: Forbidden) -> Offsets:
    """The same for the linear chain."""
    small = np.stack([np.zeros_like(forbidden.starts), forbidden.starts, forbidden.ends])
    return Offsets(_barred(small, np.float64), _barred(forbidden.pairs, np.float64))


def _barred(mask: Array, dtype: npt.DTypeLike) -> Array:
    return np.where(mask, -np.inf, 0).astype(dtype)


def require_respected(
    forbidden: Forbidden, chain: EdgeBatch, labels: Array, classes: Array, of: str = ""
) -> None:
    """Refuse labels that break a rule, by instance and vertex; unobserved ones break none."""
    seen = labels != UNOBSERVED
    first, second = chain.edge_tails, chain.edge_heads
    bad = seen[first] & seen[second] & forbidden.pairs[labels[first], labels[second]]
    if bad.any():
        t = int(second[bad][0])
        before, after = classes[labels[[first[bad][0], t]]].tolist()
        _refuse(chain, t, of, f"has the forbidden label pair {before!r} → {after!r}")
    for verb, mask, ends in (
        ("starts", forbidden.starts, chain.sources),
        ("ends", forbidden.ends, chain.sinks),
    ):
        bad = seen[ends] & mask[labels[ends]]
        if bad.any():
            t = int(ends[bad][0])
            _refuse(chain, t, of, f"{verb} with the forbidden label {classes[labels[[t]]].tolist()[0]!r}")


def _refuse(chain: EdgeBatch, t: int, of: str, what: str) -> NoReturn:
    s = int(np.searchsorted(chain.offsets, t, side="right")) - 1
    words = chain.words
    raise InputError(f"{words.name(s, of)} {what} at {words.place} {t - int(chain.offsets[s])}.")
