"""Files of arrays: what they may unpack to, and which labels they may hold."""

import zipfile

import numpy as np
import pytest

from kernelfields.errors import InputError
from kernelfields.io import read_npz


def test_sizes_are_looked_up_before_anything_is_unpacked(tmp_path, monkeypatch):
    path = tmp_path / "large.npz"
    np.savez_compressed(path, X=np.zeros((200_000, 10)), lengths=[200_000], other=np.zeros(10**6))
    assert path.stat().st_size < 50_000
    size = 200_000 * 10 * 8 + 8

    def refuse(*args, **settings):
        raise AssertionError("The arrays were read.")

    assert read_npz(path, limit=size + 1000).X.shape == (200_000, 10)
    monkeypatch.setattr(np, "load", refuse)
    with pytest.raises(
        InputError, match=r"the arrays would take 16,000,\d+ bytes, more than the limit of 1,000,000"
    ):
        read_npz(path, limit=10**6)


def test_a_header_that_lies_is_believed_for_the_worse(tmp_path):
    """An array that says it is huge, in a file of some bytes."""
    path = tmp_path / "lie.npz"
    with zipfile.ZipFile(path, "w") as archive, archive.open("X.npy", "w") as file:
        header = {"descr": "<f8", "fortran_order": False, "shape": (4, 200_000_000)}
        np.lib.format.write_array_header_1_0(file, header)
    with pytest.raises(InputError, match="would take 6,400,000,"):
        read_npz(path)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.array([0.0, np.inf]), "y has infinity in row 1; labels must be finite, or NaN if unobserved"),
        (np.array([b"a", b"b"]), "must be numbers or texts"),
        (np.array([1j, 2j]), "must be numbers or texts"),
        (np.array([[1], [2]]), r"y has shape \(2, 1\), expected \(2,\)"),
    ],
)
def test_labels_that_are_none(tmp_path, y, message):
    np.savez(tmp_path / "a.npz", X=np.zeros((2, 1)), lengths=[2], y=y)
    with pytest.raises(InputError, match=message):
        read_npz(tmp_path / "a.npz")
