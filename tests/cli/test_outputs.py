"""Every output is written beside and renamed: a command that fails leaves the old file, and nothing else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import IO, Any, get_args, get_type_hints

import pytest
from typer.testing import CliRunner

from kernelfields.cli.app import COMMANDS, app
from kernelfields.io import replacing as mechanism

PRECIOUS = b"precious\n"
DATA = "".join(f"w{n % 17}\t{'AB'[n % 2]}\n" + ("\n" if n % 6 == 5 else "") for n in range(600))

COMMAND_LINES = {
    ("train", "out"): "train {data} --max-iter 2 -o {out}",
    ("calibrate", "out"): "calibrate {model} {data} -o {out}",
    ("tag", "out"): "tag {model} {data} --labelled -o {out}",
    ("evaluate", "report"): "evaluate {model} {data} --report {out}",
    ("convert", "out"): "convert {data} --to jsonl -o {out}",
    ("clusters", "out"): "clusters {data} -o {out}",
}
"""A command for every option that names a file to write."""
NO_FILES = {
    ("train", "data"): "input",
    ("train", "dev"): "input",
    ("train", "clusters"): "input",
    ("train", "labels"): "input",
    ("train", "checkpoint"): "of a search that is to go on: tests/estimators/test_checkpoint.py",
    ("calibrate", "model"): "input",
    ("calibrate", "data"): "input",
    ("calibrate", "labels"): "input",
    ("tag", "model"): "input",
    ("evaluate", "model"): "input",
    ("evaluate", "data"): "input",
    ("evaluate", "labels"): "input",
    ("compare", "data"): "input",
    ("compare", "labels"): "input",
    ("convert", "source"): "input",
    ("convert", "labels"): "input",
    ("clusters", "data"): "input",
    ("inspect", "model"): "input",
    ("demo", "report"): "a page, written by write_report as that of evaluate",
    ("label", "data"): "input",
    ("label", "journal"): "appended to: tests/labelling",
    ("label", "export"): "written by the writers of convert",
}
"""Other options with paths."""


def paths_of_commands() -> Iterator[tuple[str, str]]:
    """Yield every command and option whose value is a path."""
    for name in COMMANDS:
        function = getattr(import_module(f"kernelfields.cli.{name}"), name)
        for option, kind in get_type_hints(function).items():
            if Path in (kind, *get_args(kind)):
                yield name, option


def test_every_path_is_an_input_or_in_the_table() -> None:
    assert set(paths_of_commands()) == {*COMMAND_LINES, *NO_FILES}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("outputs")
    data, model = folder / "data.conll", folder / "model.kf"
    data.write_text(DATA)
    result = CliRunner().invoke(app, ["train", str(data), "--max-iter", "3", "-o", str(model)])
    assert result.exit_code == 0, result.output
    return {"data": data, "model": model}


@pytest.fixture
def out(tmp_path: Path) -> Path:
    path = tmp_path / "out"
    path.write_bytes(PRECIOUS)
    return path


def _untouched(out: Path) -> bool:
    return out.read_bytes() == PRECIOUS and [one.name for one in out.parent.iterdir()] == [out.name]


def _words(line: str, files: dict[str, Path], out: Path) -> list[str]:
    return [word.format(**files, out=out) for word in line.split()]


@pytest.mark.parametrize("line", COMMAND_LINES.values(), ids=lambda line: line.split()[0])
def test_success_replaces_the_file(line: str, files: dict[str, Path], out: Path) -> None:
    result = CliRunner().invoke(app, _words(line, files, out))
    assert result.exit_code == 0, result.output
    assert out.read_bytes() != PRECIOUS
    assert [one.name for one in out.parent.iterdir()] == [out.name]


@pytest.mark.parametrize("line", COMMAND_LINES.values(), ids=lambda line: line.split()[0])
def test_a_missing_input(line: str, files: dict[str, Path], out: Path) -> None:
    gone = files | {"data": out.with_name("none.conll")}
    result = CliRunner().invoke(app, _words(line, gone, out))
    assert result.exit_code == 2
    assert "none.conll" in result.stderr
    assert _untouched(out)


@pytest.mark.parametrize("line", COMMAND_LINES.values(), ids=lambda line: line.split()[0])
def test_a_bad_record_at_the_end(
    line: str, files: dict[str, Path], out: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    bad = tmp_path_factory.mktemp("bad") / "bad.conll"
    bad.write_bytes(DATA.encode() * 20 + b"\xff\xff\tA\n")
    result = CliRunner().invoke(app, _words(line, files | {"data": bad}, out))
    assert result.exit_code == 2
    assert "line 14001" in result.stderr
    assert _untouched(out)


class _Full:
    """A file on a disk that is full after some bytes."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._left = file, 40

    def write(self, content: Any) -> int:
        if memoryview(content).nbytes > self._left:
            raise OSError(28, "No space left on device")
        self._left -= memoryview(content).nbytes
        return self._file.write(content)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __enter__(self) -> _Full:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()


@pytest.mark.parametrize("line", COMMAND_LINES.values(), ids=lambda line: line.split()[0])
def test_a_full_disk(line: str, files: dict[str, Path], out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    create = mechanism._created

    monkeypatch.setattr(mechanism, "_created", lambda beside: _Full(create(beside)))
    result = CliRunner().invoke(app, _words(line, files, out))
    assert result.exit_code == 2, result.output
    assert str(out) in result.stderr.replace("\n", "")
    assert "No space left" in result.stderr
    assert _untouched(out)


SLOW = """
import sys, time
from kernelfields.io import replacing as mechanism

create, place = mechanism._created, sys.argv.pop(1)

class Slow:
    def __init__(self, file):
        self._file = file
    def write(self, content):
        self._file.write(b"half")
        self._file.flush()
        time.sleep(180)
    def __getattr__(self, name):
        return getattr(self._file, name)
    def __enter__(self):
        return self
    def __exit__(self, *error):
        self._file.close()

def created(beside):
    file = Slow(create(beside))
    if place == "creating":
        file.write(b"")
    return file

mechanism._created = created
from kernelfields.cli import main
main()
"""
"""``kf``, which waits in the middle of writing, or before it has begun."""


@pytest.mark.skipif(os.name == "nt", reason="signals are of Unix")
@pytest.mark.parametrize(
    ("line", "number", "place"),
    [
        (COMMAND_LINES["tag", "out"], "SIGTERM", "creating"),
        (COMMAND_LINES["tag", "out"], "SIGHUP", "writing"),
        (COMMAND_LINES["tag", "out"], "SIGINT", "writing"),
        (COMMAND_LINES["tag", "out"], "SIGKILL", "writing"),
        *((line, "SIGTERM", "writing") for line in COMMAND_LINES.values()),
    ],
)
def test_a_kill(line: str, number: str, place: str, files: dict[str, Path], out: Path) -> None:
    words = _words(line, files, out)
    with subprocess.Popen([sys.executable, "-c", SLOW, place, *words], stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + 120
        while not any(one.stat().st_size for one in out.parent.glob("*.part")):
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(getattr(signal, number))
        said = process.communicate(timeout=120)[1].decode()
    assert out.read_bytes() == PRECIOUS
    if number == "SIGKILL":  # the next one puts away what is left
        result = CliRunner().invoke(app, words)
        assert result.exit_code == 0, result.output
        assert [one.name for one in out.parent.iterdir()] == [out.name]
        return
    assert process.returncode == 128 + getattr(signal, number)
    assert said.endswith("Interrupted; nothing was written.\n")
    assert _untouched(out)


def test_what_another_process_writes_stays(out: Path) -> None:
    other = out.with_name(f"{out.name}.1.2.part")
    fcntl = pytest.importorskip("fcntl")
    with other.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        mechanism.write_file(out, "new")
        assert other.exists()
    mechanism.write_file(out, "newer")
    assert not other.exists()
    assert out.read_text() == "newer"


def test_links_stay_links_and_permissions_permissions(out: Path) -> None:
    link = out.with_name("link")
    link.symlink_to(out)
    out.chmod(0o640)
    mechanism.write_file(link, "new")
    assert link.is_symlink()
    assert out.read_text() == "new"
    assert out.stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize(
    "line",
    [
        "--help",
        "--version",
        "train --help",
        "inspect {model}",
        "tag {model} {data} --labelled",
        "evaluate {model} {data}",
    ],
)
def test_a_full_standard_output(line: str, files: dict[str, Path], out: Path) -> None:
    words = [sys.executable, "-m", "kernelfields", *_words(line, files, out)]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, timeout=120, check=False)
    assert done.stderr.decode() == "The standard output: No space left on device.\n"
    assert done.returncode == 2


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="there is no /dev/stdout")
def test_devices_are_written_directly(files: dict[str, Path], out: Path) -> None:
    words = [sys.executable, "-m", "kernelfields", "tag", str(files["model"]), str(files["data"])]
    words += ["--labelled"]
    plain = subprocess.run(words, capture_output=True, timeout=120, check=True).stdout
    said = subprocess.run([*words, "-o", "/dev/stdout"], capture_output=True, timeout=120, check=True).stdout
    assert said == plain


OVERWRITTEN = """
import sys
from kernelfields import load

path, X = sys.argv[1], [[("w1",), ("w2",), ("w3",)]]
model = load(path)
before = load(path).predict(X)
with open(path, "r+b") as file:
    size = file.seek(0, 2)
    file.seek(0)
    file.write(b"\\xff" * size)
    file.flush()
    overwritten = model.predict(X)
    file.truncate(0)
assert overwritten == model.predict(X) == before
"""


def test_a_loaded_model_does_not_depend_on_its_file(files: dict[str, Path], tmp_path: Path) -> None:
    copy = tmp_path / "model.kf"
    copy.write_bytes(files["model"].read_bytes())
    words = [sys.executable, "-c", OVERWRITTEN, str(copy)]
    done = subprocess.run(words, stderr=subprocess.PIPE, timeout=120, check=False)
    assert (done.returncode, done.stderr.decode()) == (0, "")
    assert copy.stat().st_size == 0


def test_data_are_utf8_whatever_the_locale(files: dict[str, Path], tmp_path: Path) -> None:
    data = tmp_path / "data.conll"
    data.write_text("Žižek\tA\n東京\tB\n", encoding="utf-8")
    words = [sys.executable, "-m", "kernelfields", "tag", str(files["model"]), str(data), "--labelled"]
    found = {
        encoding: subprocess.run(
            words,
            capture_output=True,
            timeout=120,
            check=False,
            env=os.environ | {"PYTHONIOENCODING": encoding},
        )
        for encoding in ("ascii", "utf-8")
    }
    assert [done.returncode for done in found.values()] == [0, 0]
    assert found["ascii"].stdout == found["utf-8"].stdout
    assert "東京" in found["ascii"].stdout.decode("utf-8")
