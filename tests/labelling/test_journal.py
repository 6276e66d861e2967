"""What was acknowledged is there after any crash; what was not never is half there."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelfields.errors import InputError
from kernelfields.labelling import journal as module
from kernelfields.labelling.journal import Journal, read_entries, read_journal, written
from kernelfields.labelling.repair import repaired

ABOUT = {"data": "x", "labels": ["Ä", "\t\n"]}
EVENTS = [{"do": "set", "n": k, "text": "ß\u2028\t"} for k in range(5)]


def filled(path):
    journal = Journal(path, ABOUT)
    for event in EVENTS:
        journal.append(event)
    journal.close()
    return path.read_bytes()


def test_events_come_back(tmp_path) -> None:
    filled(tmp_path / "j")
    journal = Journal(tmp_path / "j", {"other": 1})
    assert journal.entries == EVENTS
    assert journal.header == {"journal": "kf label", "format": 1, **ABOUT}
    assert journal.mended == 0
    assert read_journal(tmp_path / "j").entries == EVENTS
    journal.close()


def test_every_cut_leaves_whole_events(tmp_path) -> None:
    raw = filled(tmp_path / "j")
    ends = [k + 1 for k, byte in enumerate(raw) if byte == 10]
    for cut in [*range(0, len(raw), 3), *(end + k for end in ends for k in (-1, 0) if end + k < len(raw))]:
        path = tmp_path / "cut"
        path.write_bytes(raw[:cut])
        journal = Journal(path, ABOUT)
        whole = sum(end <= cut for end in ends)
        assert journal.entries == EVENTS[: max(0, whole - 1)], cut
        journal.append({"do": "after"})
        journal.close()
        assert read_journal(path).entries == [*EVENTS[: max(0, whole - 1)], {"do": "after"}]


def test_a_last_line_of_zeros_is_removed(tmp_path) -> None:
    """Some file systems extend a file before its bytes arrive."""
    raw = filled(tmp_path / "j")
    (tmp_path / "j").write_bytes(raw + b"\0" * 30 + b"\n")
    journal = Journal(tmp_path / "j", ABOUT)
    assert journal.entries == EVENTS
    assert journal.mended == 31
    journal.close()
    assert (tmp_path / "j").read_bytes() == raw


@given(st.data())
def test_a_changed_byte_is_never_believed(data) -> None:
    lines = [written({"journal": "kf label", "format": 1, **ABOUT}), *map(written, EVENTS)]
    raw = bytearray(b"".join(lines))
    place = data.draw(st.integers(0, len(raw) - 1))
    raw[place] ^= data.draw(st.integers(1, 255))
    try:
        found = read_entries(bytes(raw), "j")
    except InputError as error:
        assert str(error).startswith("j, line ")  # noqa: PT017
    else:
        assert found.entries == EVENTS[: len(found.entries)]
        assert len(found.entries) >= len(EVENTS) - 1


def test_damage_in_the_middle_names_its_line(tmp_path) -> None:
    raw = filled(tmp_path / "j")
    (tmp_path / "j").write_bytes(raw.replace(b'"n":1', b'"n":7'))
    with pytest.raises(InputError, match="j, line 3: the journal is damaged here"):
        Journal(tmp_path / "j", ABOUT)
    assert len((tmp_path / "j").read_bytes()) == len(raw)


@pytest.mark.parametrize("content", [b"hello\n", b"hello", b'{"a":1}\n'])
def test_other_files_are_left_alone(tmp_path, content) -> None:
    (tmp_path / "j").write_bytes(content)
    with pytest.raises(InputError, match="j, line 1: "):
        Journal(tmp_path / "j", ABOUT)
    assert (tmp_path / "j").read_bytes() == content


def test_a_second_one_is_refused_until_the_first_closes(tmp_path) -> None:
    first = Journal(tmp_path / "j", ABOUT)
    with pytest.raises(InputError, match="is in use by another process"):
        Journal(tmp_path / "j", ABOUT)
    first.append(EVENTS[0])
    first.close()
    second = Journal(tmp_path / "j", ABOUT)
    assert second.entries == EVENTS[:1]
    second.close()


def test_what_the_disk_refuses_is_not_there(tmp_path, monkeypatch) -> None:
    journal = Journal(tmp_path / "j", ABOUT)
    journal.append(EVENTS[0])
    calls = []

    def full(_):
        calls.append(1)
        if len(calls) == 1:
            raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(module.os, "fsync", full)
        with pytest.raises(OSError, match="No space left"):
            journal.append(EVENTS[1])
    journal.append(EVENTS[2])
    journal.close()
    assert read_journal(tmp_path / "j").entries == [EVENTS[0], EVENTS[2]]


WRITER = """
import sys
from pathlib import Path
from kernelfields.labelling.journal import Journal
journal = Journal(Path(sys.argv[1]), {})
for n in range(10**9):
    journal.append({"n": n, "text": "x" * (n % 5000)})
    print(n, flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="There is no SIGKILL.")
def test_nothing_acknowledged_is_lost_by_sigkill(tmp_path) -> None:
    path = tmp_path / "j"
    for least in (0, 40, 200):
        path.unlink(missing_ok=True)
        command = [sys.executable, "-c", WRITER, str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout:
                if int(line) >= least:
                    process.send_signal(signal.SIGKILL)
                    break
            said = [least, *map(int, process.stdout.read().split())]
        journal = Journal(path, {})  # the lock went with its process
        numbers = [entry["n"] for entry in journal.entries]
        journal.close()
        assert numbers == list(range(len(numbers)))
        assert len(numbers) > said[-1]


def put_aside(path):
    path.rename(path.with_name("elsewhere"))


def replace(path):
    put_aside(path)
    path.write_bytes(path.with_name("elsewhere").read_bytes())


@pytest.mark.skipif(os.name != "posix", reason="Windows does not let go of open files.")
@pytest.mark.parametrize(
    ("happens", "sentence"),
    [
        (put_aside, "moved, deleted or replaced"),
        (lambda path: path.unlink(), "moved, deleted or replaced"),
        (replace, "moved, deleted or replaced"),
        (lambda path: os.truncate(path, 60), "another program has changed"),
        (lambda path: path.write_bytes(path.read_bytes() + b"x"), "another program has changed"),
    ],
)
def test_nothing_is_acknowledged_without_the_journal(tmp_path, happens, sentence) -> None:
    journal = Journal(tmp_path / "j", ABOUT)
    journal.append(EVENTS[0])
    assert journal.trouble is None
    happens(tmp_path / "j")
    with pytest.raises(OSError, match=sentence):
        journal.append(EVENTS[1])
    assert sentence in journal.trouble
    journal.close()
    for path in tmp_path.iterdir():
        assert b'"n":1' not in path.read_bytes()


@pytest.mark.skipif(os.name != "posix", reason="Windows does not let go of open files.")
def test_a_journal_that_is_put_back_goes_on(tmp_path) -> None:
    journal = Journal(tmp_path / "j", ABOUT)
    put_aside(tmp_path / "j")
    with pytest.raises(OSError, match="put it back"):
        journal.append(EVENTS[0])
    (tmp_path / "elsewhere").rename(tmp_path / "j")
    journal.append(EVENTS[1])
    journal.close()
    assert read_journal(tmp_path / "j").entries == EVENTS[1:2]


def test_damaged_lines_are_left_out_and_kept_beside(tmp_path) -> None:
    path = tmp_path / "j"
    raw = filled(path)
    path.write_bytes(raw.replace(b'"n":1', b'"n":7').replace(b'"n":3', b'"n":8'))
    assert repaired(path) == [3, 5]
    assert read_journal(path).entries == [EVENTS[0], {"do": "lost"}, EVENTS[2], {"do": "lost"}, EVENTS[4]]
    kept = (tmp_path / "j.damaged").read_bytes().splitlines()
    assert [line.partition(b":")[0] for line in kept] == [b"3", b"5"]
    assert b'"n":7' in kept[0]
    assert repaired(path) == []
    assert sorted(one.name for one in tmp_path.iterdir()) == ["j", "j.damaged"]


@pytest.mark.parametrize("content", [b"hello\nyou\n", b'{"a":1}\n', b""])
def test_other_files_are_not_repaired(tmp_path, content) -> None:
    (tmp_path / "j").write_bytes(content)
    with pytest.raises(InputError, match="j, line 1: "):
        repaired(tmp_path / "j")
    assert (tmp_path / "j").read_bytes() == content


def test_a_journal_in_use_is_not_repaired(tmp_path) -> None:
    journal = Journal(tmp_path / "j", ABOUT)
    with pytest.raises(InputError, match="is in use"):
        repaired(tmp_path / "j")
    journal.close()
