"""Tables and files of arrays: whatever is in them, sequences or one of our own errors, in few words."""

from __future__ import annotations

import io

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kernelfields.io import read_csv, read_npz
from tests.robustness.test_readers import outcome, quiet

PIECES = [
    *(
        b"\n",
        b"\r\n",
        b"\r",
        b",",
        b",,",
        b'"',
        b'""',
        b" ",
        b"\t",
        b"\xef\xbb\xbf",
        b"\xff",
        b"\x00",
        b"\x1c",
    ),
    *(b"sequence", b"label", b"x", b"a", b"b", b"1", b"-0.5", b"1e999", b"nan", b"inf", b"1_0", "٣".encode()),
    *(b"sequence,label,x\n", b"sequence,x\n", b"a,A,1\n", b"a,1\n", b"b,B,\n", b"9" * 5000, b"y" * 200_000),
]
tables = st.one_of(st.binary(max_size=200), st.lists(st.sampled_from(PIECES), max_size=30).map(b"".join))


@quiet
@given(tables)
def test_tables(data: bytes) -> None:
    for frames in outcome(read_csv, io.BytesIO(data)) or []:
        assert frames.numbers.shape == (len(frames.numbers), len(frames.columns))
        assert len(frames.numbers) > 0
        assert frames.labels is None or len(frames.labels) == len(frames.numbers)


@quiet
@given(st.booleans(), st.lists(st.tuples(st.integers(0), st.integers(0, 255)), max_size=4), st.integers(0))
def test_files_of_arrays(tmp_path_factory, packed: bool, changes, cut: int) -> None:
    """Single bytes changed, or the end cut off."""
    target = io.BytesIO()
    save = np.savez_compressed if packed else np.savez
    save(target, X=np.arange(6.0).reshape(3, 2), lengths=np.array([1, 2]), y=np.array(["a", "b", "a"]))
    content = bytearray(target.getvalue())
    for place, byte in changes:
        content[place % len(content)] = byte
    path = tmp_path_factory.getbasetemp() / "fuzzed.npz"
    path.write_bytes(content if changes else content[: cut % len(content)])
    for arrays in outcome(lambda: [read_npz(path)]) or []:
        assert arrays.lengths.sum() == len(arrays.X)
        assert arrays.y is None or len(arrays.y) == len(arrays.X)


@quiet
@given(st.binary(max_size=200))
def test_files_of_anything(tmp_path_factory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "anything.npz"
    for start in (b"", b"PK\x03\x04", b"\x93NUMPY\x01\x00"):
        path.write_bytes(start + data)
        assert outcome(lambda: [read_npz(path)]) is None


def test_lengths_that_overflow(tmp_path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, X=np.zeros((2, 1)), lengths=np.array([2**62, 2**62, 2**62, 2**62, 2]))
    assert outcome(lambda: [read_npz(path)]) is None
