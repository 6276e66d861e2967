"""Videos of hands that move."""

from pathlib import Path

import numpy as np

from ._files import offsets_of, write_arrays
from .molecules import runs

VIDEOS = (b"a1", b"a2", b"a3", b"b1", b"b3", b"c1", b"c3")


def write_gestures(folder: Path, rng: np.random.Generator) -> None:
    """Positions of 18 coordinates, and velocities and accelerations of some of them: four frames fewer."""
    lengths = rng.integers(260, 320, len(VIDEOS)).tolist()
    phases = [runs(length, 5, 9, rng).astype(np.uint8) for length in lengths]
    for phase in phases:
        phase[:45] = np.repeat(rng.permutation(5), 9)  # every video has every phase
    steps = [(0.02 + 0.3 * (phase[:, None] > 0)) * rng.normal(size=(len(phase), 18)) for phase in phases]
    raw = [np.cumsum(step, axis=0).astype(np.float32) for step in steps]
    motion = [np.hstack([step, step[:, :14] ** 2])[4:].astype(np.float32) for step in steps]
    write_arrays(
        folder / "gesture_phase" / "gesture_phase.npz",
        videos=np.array(VIDEOS),
        raw_offsets=offsets_of(lengths),
        raw=np.concatenate(raw),
        raw_phase=np.concatenate(phases),
        va3_offsets=offsets_of([length - 4 for length in lengths]),
        va3=np.concatenate(motion),
        va3_phase=np.concatenate([phase[4:] for phase in phases]),
    )
