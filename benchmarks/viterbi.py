"""Best labellings of ragged batches, against hmmlearn's compiled Viterbi."""

from __future__ import annotations

import numpy as np
from hmmlearn import _hmmc

from . import _run, _torch_struct
from ._chains import Batch, Task, compare


def viterbi(batch: Batch) -> None:
    """Sequence after sequence, as in hmmlearn's ``decode``."""
    for frame in batch.log_frames:
        _hmmc.viterbi(batch.start, batch.transitions, frame)


def check(batch: Batch) -> None:
    """Refuse to time sides that disagree in paths or their scores."""
    labels, value = batch.chain.argmax(batch.scores["float64"])
    for s, frame in enumerate(batch.log_frames):
        score, path = _hmmc.viterbi(batch.start, batch.transitions, frame)
        np.testing.assert_allclose(value[s], score, rtol=1e-9)
        np.testing.assert_array_equal(labels[batch.chain.offsets[s] : batch.chain.offsets[s + 1]], path)


TASK = Task(
    name="viterbi",
    ours=lambda batch, dtype: batch.chain.argmax(batch.scores[dtype]),
    rival=viterbi,
    check=check,
    slow_rivals={},
    flops=2,
    numbers=1,
    torch_struct=_torch_struct.argmax,
)


def run(quick: bool) -> _run.Result:
    return compare(TASK, quick)
