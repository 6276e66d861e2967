"""Forward-backward with all marginals on ragged batches, against hmmlearn's compiled routines.

Both sides compute log-likelihoods, forward and backward messages and the sums of edge marginals; this
project also node marginals, which hmmlearn leaves to NumPy outside the clock. Ours is what fits call, for
whole batches; predictions are rounded as if every sequence were alone, and take longer where labels are few.
"""

from __future__ import annotations

import numpy as np
from hmmlearn import _hmmc

from kernelfields import native

from . import _run, _torch_struct
from ._chains import Batch, Task, compare


def scaling(batch: Batch) -> None:
    """Forward, backward and edge sums as in hmmlearn's ``implementation="scaling"``."""
    for frame in batch.frames:
        _, forward, scale = _hmmc.forward_scaling(batch.start, batch.transitions, frame)
        backward = _hmmc.backward_scaling(batch.start, batch.transitions, frame, scale)
        _hmmc.compute_scaling_xi_sum(forward, batch.transitions, backward, frame)


def logarithms(batch: Batch) -> None:
    """Do the same as in hmmlearn's ``implementation="log"``, its default."""
    for frame in batch.log_frames:
        _, forward = _hmmc.forward_log(batch.start, batch.transitions, frame)
        backward = _hmmc.backward_log(batch.start, batch.transitions, frame)
        _hmmc.compute_log_xi_sum(forward, batch.transitions, backward, frame)


def check(batch: Batch) -> None:
    """Refuse to time sides that disagree in log-likelihoods, node or edge marginals."""
    value, *parts = together(batch, "float64")
    edge = np.zeros_like(parts[1])
    for s, frame in enumerate(batch.frames):
        log_likelihood, forward, scale = _hmmc.forward_scaling(batch.start, batch.transitions, frame)
        backward = _hmmc.backward_scaling(batch.start, batch.transitions, frame, scale)
        np.testing.assert_allclose(value[s], log_likelihood, rtol=1e-9)
        node = forward * backward
        node /= node.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(
            parts[0][batch.chain.offsets[s] : batch.chain.offsets[s + 1]], node, atol=1e-9
        )
        if len(frame) > 1:
            edge += _hmmc.compute_scaling_xi_sum(forward, batch.transitions, backward, frame)
    np.testing.assert_allclose(parts[1], edge, rtol=1e-7)


def together(batch: Batch, dtype: str) -> object:
    """Return all marginals as fits do."""
    scores = batch.scores[dtype]
    return native.chain_marginals(scores["node"], scores["edge"], batch.chain.offsets, together=True)


TASK = Task(
    name="chain_inference",
    ours=together,
    rival=scaling,
    check=check,
    slow_rivals={"hmmlearn_log": logarithms},
    flops=6,
    numbers=2,
    torch_struct=_torch_struct.marginals,
)


def rules(quick: bool) -> list[dict[str, float]]:
    """Seconds where rules leave a fifth of the label pairs over those with all pairs, on one core."""
    rows = []
    for labels in (30, 60, 200):
        batch = Batch.draw(labels, 25, 200 if quick else 20_000)
        edge = batch.scores["float64"]["edge"]
        allowed = np.random.default_rng(labels).random(edge.shape) < 0.2
        np.fill_diagonal(allowed, val=True)  # each label has one that may follow
        ruled = Batch(batch.chain, batch.scores["float64"]["node"], np.where(allowed, edge, -np.inf))
        check(ruled)
        sides = {
            f"{name}_{dtype}": _run.Side(lambda part=part, dtype=dtype: together(part, dtype))
            for dtype in ("float64", "float32")
            for name, part in (("all", batch), ("rules", ruled))
        }
        seconds = _run.alternate(sides, 2 if quick else 7)
        over = {t: seconds[f"rules_{t}"] / seconds[f"all_{t}"] for t in ("float64", "float32")}
        rows.append({"L": labels, "allowed": float(allowed.mean()), **over})
    return rows


def run(quick: bool) -> _run.Result:
    result = compare(TASK, quick)
    result.details["rules_over_all_pairs"] = rules(quick)
    return result
