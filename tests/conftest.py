"""Fixtures that all tests share, and the one mark of tests that need data sets."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from kernelfields.datasets.folder import VARIABLE
from tests.samples import write_samples

# No test is about time: machines are shared.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

ROOT = Path(__file__).resolve().parents[1]


def _found() -> Path | None:
    """The folder of real data sets, before tests see the samples in its place; never one that lies beside."""
    given = os.environ.get(VARIABLE)
    return Path(given).resolve() if given and Path(given).is_dir() else None


DATA = _found()
NEEDED = f"Needs the data sets listed in docs/api/datasets.md: set {VARIABLE} to their folder."


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out what is marked as needing data, if there are none; ask for the mark where they are used."""
    for item in items:
        marked = item.get_closest_marker("data") is not None
        if "data_dir" in getattr(item, "fixturenames", ()) and not marked:
            raise pytest.UsageError(f"{item.nodeid} uses data_dir without the mark @pytest.mark.data.")
        if marked and DATA is None:
            item.add_marker(pytest.mark.skip(reason=NEEDED))


@pytest.fixture
def rng() -> np.random.Generator:
    """The one source of randomness; KERNELFIELDS_SEED reruns everything with other numbers."""
    return np.random.default_rng(int(os.environ.get("KERNELFIELDS_SEED", "20240229")))


@pytest.fixture(scope="session", autouse=True)
def sample_dir(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A miniature folder of data sets, made up: what tests find where they look for data."""
    folder = write_samples(tmp_path_factory.mktemp("samples"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, str(folder))
        yield folder


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real data sets, for tests with the mark ``data``."""
    assert DATA is not None
    return DATA


@pytest.fixture(autouse=True)
def _real_data(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests with the mark ``data`` see the real ones."""
    if request.node.get_closest_marker("data") is not None:
        monkeypatch.setenv(VARIABLE, str(DATA))
