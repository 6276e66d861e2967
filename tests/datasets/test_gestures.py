"""Gestures: the counts that are known, and frames whose positions and velocities belong together."""

import numpy as np
import pytest

from kernelfields.datasets import load_gestures
from kernelfields.errors import MissingDataError


@pytest.mark.data
def test_videos_are_as_published(data_dir):
    found = load_gestures(data_dir)
    assert found.names == ["a1", "a2", "a3", "b1", "b3", "c1", "c3"]
    assert [len(y) for y in found.labels] == [1743, 1260, 1830, 1069, 1420, 1107, 1444]
    assert [x.shape for x in found.motion] == [(len(y), 32) for y in found.labels]
    assert [x.shape for x in found.positions] == [(len(y), 18) for y in found.labels]
    assert set(np.concatenate(found.labels)) == {"rest", "preparation", "stroke", "hold", "retraction"}


def test_hands_that_move_have_velocities(sample_dir):
    found = load_gestures(sample_dir)
    for x, v in zip(found.positions, found.motion, strict=True):
        moved = np.linalg.norm(x[1:, :6] - x[:-1, :6], axis=1)
        speed = np.linalg.norm(v[1:, :6], axis=1)
        assert np.corrcoef(moved, speed)[0, 1] > 0.5


def test_missing_gestures_are_said(tmp_path):
    with pytest.raises(MissingDataError, match="gesture_phase"):
        load_gestures(tmp_path)
