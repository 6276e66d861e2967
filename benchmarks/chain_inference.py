"""Forward-backward with all marginals on ragged batches, against hmmlearn's compiled routines.

Both sides compute log-likelihoods, forward and backward messages and the sums of edge marginals; this
project also node marginals, which hmmlearn leaves to NumPy outside the clock.
"""

from __future__ import annotations

import numpy as np
from hmmlearn import _hmmc

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
    value, parts = batch.chain.marginals(batch.scores["float64"])
    edge = np.zeros_like(parts["edge"])
    for s, frame in enumerate(batch.frames):
        log_likelihood, forward, scale = _hmmc.forward_scaling(batch.start, batch.transitions, frame)
        backward = _hmmc.backward_scaling(batch.start, batch.transitions, frame, scale)
        np.testing.assert_allclose(value[s], log_likelihood, rtol=1e-9)
        node = forward * backward
        node /= node.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(
            parts["node"][batch.chain.offsets[s] : batch.chain.offsets[s + 1]], node, atol=1e-9
        )
        if len(frame) > 1:
            edge += _hmmc.compute_scaling_xi_sum(forward, batch.transitions, backward, frame)
    np.testing.assert_allclose(parts["edge"], edge, rtol=1e-7)


TASK = Task(
    name="chain_inference",
    ours=lambda batch, dtype: batch.chain.marginals(batch.scores[dtype]),
    rival=scaling,
    check=check,
    slow_rivals={"hmmlearn_log": logarithms},
    flops=6,
    numbers=2,
    bars={("one_core", 9): 5.0, ("one_core", 26): 5.0, ("two_cores", 9): 8.0, ("two_cores", 26): 8.0},
    torch_struct=_torch_struct.marginals,
)


def run(quick: bool) -> _run.Result:
    return compare(TASK, quick)
