"""The container against the safetensors library, and against broken files."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import load_file

from kernelfields.errors import ModelFormatError
from kernelfields.io import container
from kernelfields.io.container import Container, write_container
from kernelfields.io.strings import Strings, pack_strings, unpack_strings

ARRAYS = {
    "a": np.arange(6.0).reshape(2, 3),
    "b": np.array([True, False]),
    "c": np.array(3, dtype=np.int32),
    "d": np.zeros((0, 4), dtype=np.float32),
    "e": np.array([1, 2, 3], dtype=np.uint8),
    "f": np.asfortranarray(np.arange(4.0).reshape(2, 2)),
    "g": np.array([1.5], dtype=">f8"),
}
HEADER = {"text": "ä\ud800", "list": [1, None, True, 1.5]}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write_container(tmp_path / "file", ARRAYS, HEADER)
    return tmp_path / "file"


def test_reads_what_was_written(path: Path) -> None:
    found = Container(path)
    found.check()
    assert found.header == HEADER
    assert set(found.tensors) == set(ARRAYS)
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(found.array(name), array)
        assert found.array(name).dtype == array.dtype.newbyteorder("=")


def test_the_safetensors_library_reads_it_too(tmp_path: Path) -> None:
    write_container(tmp_path / "file", ARRAYS, {"plain": "ä"})
    for name, array in load_file(tmp_path / "file").items():
        np.testing.assert_array_equal(array, ARRAYS[name])
    with safe_open(tmp_path / "file", "numpy") as file:
        assert json.loads(file.metadata()["kernelfields"]) == {"plain": "ä"}


def test_arrays_are_aligned_views(path: Path) -> None:
    found = Container(path)
    for name, array in ARRAYS.items():
        if array.size:
            assert found.array(name).flags.aligned
            assert not found.array(name).flags.owndata
            assert found.array(name).flags.writeable


def test_writing_to_an_array_leaves_the_file(path: Path) -> None:
    before = path.read_bytes()
    Container(path).array("a")[:] = 7
    assert path.read_bytes() == before


def test_a_file_that_is_replaced_stays_readable(path: Path) -> None:
    old = Container(path).array("a")
    write_container(path, {"a": np.ones(3)}, None)
    np.testing.assert_array_equal(old, ARRAYS["a"])
    np.testing.assert_array_equal(Container(path).array("a"), np.ones(3))


def test_a_failed_write_leaves_the_old_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = path.read_bytes()

    def full(handle: int) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(container.os, "fsync", full)
    with pytest.raises(OSError, match="no space"):
        write_container(path, {"a": np.ones(3)}, None)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_every_truncation_is_refused(path: Path) -> None:
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(ModelFormatError):
            Container(path)
    path.write_bytes(whole + b"\0")
    with pytest.raises(ModelFormatError, match="bytes follow the header"):
        Container(path)


def test_every_changed_byte_is_noticed(path: Path) -> None:
    """But for spaces behind the header, which mean nothing."""
    whole = path.read_bytes()
    length = int.from_bytes(whole[:8], "little")
    padding = range(8 + len(whole[8 : 8 + length].rstrip(b" ")), 8 + length)
    for place in range(len(whole)):
        broken = bytearray(whole)
        broken[place] ^= 1 << (place % 8)
        path.write_bytes(broken)
        if place in padding and bytes(broken[place : place + 1]) in b"\t\n\r ":
            continue
        with pytest.raises(ModelFormatError):
            Container(path).check()


def rewritten(path: Path, table: Any, data: bytes = b"", texts: Any = None) -> Path:
    """A file with any table, its checksums in order."""
    texts = {"kernelfields": "{}", "data_crc32": "00000000"} if texts is None else texts
    if isinstance(table, dict) and isinstance(texts, dict):
        texts["header_crc32"] = container._check_of_header(table, texts)
        table = {"__metadata__": texts, **table}
    text = json.dumps(table).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    return path


def tensor(dtype: Any = "F64", shape: Any = (2,), offsets: Any = (0, 16)) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets}


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ({"a": tensor("F128")}, "unknown type"),
        ({"a": tensor(["F64"])}, "unknown type"),
        ({"a": tensor(shape=[3])}, "does not fit"),
        ({"a": tensor(shape=[2**62, 2**62, 0], offsets=[0, 0])}, "bytes follow the header"),
        ({"a": tensor(shape=[-2])}, "an invalid shape or place"),
        ({"a": tensor(shape=[2.0])}, "an invalid shape or place"),
        ({"a": tensor(shape=[True, 2])}, "an invalid shape or place"),
        ({"a": tensor(shape=[1] * 9 + [2])}, "an invalid shape or place"),
        ({"a": tensor(shape=2)}, "an invalid shape or place"),
        ({"a": tensor(offsets=[16, 32])}, "begins at byte 16"),
        ({"a": tensor(offsets=[0, 16, 32])}, "an invalid shape or place"),
        ({"a": tensor(shape=[2**60], offsets=[0, 2**63 - 8])}, "does not fit"),
        ({"a": tensor(), "b": tensor()}, "begins at byte 0"),
        ({"a": tensor("U8", [1], [0, 1]), "b": tensor(shape=[1], offsets=[1, 9])}, "middle of a number"),
        ({"a": tensor(shape=[1], offsets=[0, 8])}, "bytes follow the header"),
        ({"a": 7}, "not described"),
        ({"a": {**tensor(), "more": 1}}, "not described"),
    ],
)
def test_hostile_tables(table: Any, reason: str, tmp_path: Path) -> None:
    with pytest.raises(ModelFormatError, match=reason):
        Container(rewritten(tmp_path / "file", table, bytes(16)))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "too few"),
        (b"1234567", "too few"),
        ((2**63).to_bytes(8, "little") + b"{}", "should take"),
        ((2).to_bytes(8, "little") + b"[]", "not written by kernelfields"),
        ((2).to_bytes(8, "little") + b"{}", "not written by kernelfields"),
        ((2).to_bytes(8, "little") + b"{x", "not valid JSON"),
        ((3).to_bytes(8, "little") + b"NaN", "NaN is not a number"),
        ((2).to_bytes(8, "little") + b"\xff\xff", "not valid JSON"),
        ((100_000).to_bytes(8, "little") + b"[" * 100_000, "not valid JSON"),
        ((15).to_bytes(8, "little") + b'{"a":1, "a": 2}', "occurs twice"),
    ],
)
def test_hostile_beginnings(content: bytes, reason: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(ModelFormatError, match=reason):
        Container(tmp_path / "file")


def test_unknown_tensors_are_refused(path: Path) -> None:
    for name in ("z", 3, None, ["a"]):
        with pytest.raises(ModelFormatError, match="no tensor"):
            Container(path).array(name)


@given(st.lists(st.text()))
def test_strings_come_back(strings: list[str]) -> None:
    assert unpack_strings(pack_strings(strings)) == strings


@given(st.binary(max_size=8), st.lists(st.integers(-(2**62), 2**62), max_size=4))
def test_any_table_of_strings_is_read_or_refused(text: bytes, ends: list[int]) -> None:
    table = Strings(np.frombuffer(text, np.uint8), np.array(ends, dtype=np.int64))
    try:
        found = unpack_strings(table)
    except ModelFormatError:
        return
    assert "".join(found).encode("utf-8", "surrogatepass") == text
    assert len(found) == len(ends)


@given(content=st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(content: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("any") / "file"
    path.write_bytes(content)
    with pytest.raises(ModelFormatError):
        Container(path)
