"""Fixtures that all tests share."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

# No test is about time: machines are shared.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def rng() -> np.random.Generator:
    """The one source of randomness; KERNELFIELDS_SEED reruns everything with other numbers."""
    return np.random.default_rng(int(os.environ.get("KERNELFIELDS_SEED", "20240229")))


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder with data sets, or a skip that says where it was sought."""
    given = os.environ.get("KERNELFIELDS_DATA")
    folder = Path(given) if given else ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"No data: {folder} is not a folder; set KERNELFIELDS_DATA to one.")
    return folder
