"""Gestures of people who tell stories, frame by frame."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from .folder import data_file

PHASES = np.array(["rest", "preparation", "stroke", "hold", "retraction"])


class Gestures(NamedTuple):
    """Videos with the phase of every frame."""

    names: list[str]
    """One letter for the person and the number of the story: "a1"."""
    positions: list[Array]
    """One (T, 18) float32 array per video: x, y, z of both hands, head, spine and both wrists, left first."""
    motion: list[Array]
    """One (T, 32) float32 array per video: velocities and accelerations of hands and wrists."""
    labels: list[list[str]]
    """Phases: rest, preparation, stroke, hold, retraction."""


def load_gestures(folder: str | Path | None = None) -> Gestures:
    """Load seven videos of three people, 9,873 frames, segmented into the phases of gestures.

    The first four frames of every video, whose velocities are not known, are left out.

    Parameters
    ----------
    folder : path, optional
        Folder that has ``gesture_phase``; the one in KERNELFIELDS_DATA if not given.
    """
    with np.load(data_file("gesture_phase", "gesture_phase.npz", folder)) as data:
        names = [name.decode() for name in data["videos"]]
        phases, motion, raw = PHASES[data["va3_phase"]].tolist(), data["va3"], data["raw"]
        frames, raw_frames = list(pairwise(data["va3_offsets"])), list(pairwise(data["raw_offsets"]))
    return Gestures(
        names,
        [raw[b - (d - c) : b] for (_, b), (c, d) in zip(raw_frames, frames, strict=True)],
        [motion[a:b] for a, b in frames],
        [phases[a:b] for a, b in frames],
    )
