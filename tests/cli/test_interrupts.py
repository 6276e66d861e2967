"""Signals that come at odd moments: while modules are imported, and while files of features are there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kernelfields import load

from ._files import write_columns

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals are of Unix")

IMPORTING = """
import builtins, signal, sys

place, number, take = sys.argv.pop(1), getattr(signal, sys.argv.pop(1)), builtins.__import__

def interrupted(name, *more):
    if name == place:
        builtins.__import__ = take
        signal.raise_signal(number)
    return take(name, *more)

signal.signal(signal.SIGINT, signal.default_int_handler)
builtins.__import__ = interrupted
from kernelfields.cli import main
main()
"""
"""``kf``, which gets a signal when it imports a module."""
LEARNING = """
import signal, sys
from pathlib import Path
from kernelfields.cli import main
from kernelfields.cli._progress import LiveLine
from kernelfields.models import stream_chunks
from kernelfields.models.fit import stream

place, number, folder = sys.argv.pop(1), sys.argv.pop(1), Path(sys.argv.pop(1))
stream_chunks.COLUMNS = 2**10

def end(*_):
    assert any(one.is_dir() for one in folder.iterdir())
    print("files of features are there")
    signal.raise_signal(getattr(signal, number))

if place == "writing":
    stream.write_shard = end
else:
    LiveLine.__call__ = lambda line, progress: end() if progress.iteration == 2 else None
main()
"""
"""``kf``, which gets a signal while features are written to files, or while it learns from them."""


def run(script: str, *words: Any, **more: Any) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-c", script, *map(str, words)]
    return subprocess.run(line, capture_output=True, text=True, timeout=300, check=False, **more)


@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM", "SIGHUP"])
@pytest.mark.parametrize("module", ["app", "typer", "pydantic", "numpy", "scipy"])
def test_signals_while_modules_are_imported(module: str, number: str, tmp_path: Path) -> None:
    if module == "pydantic":
        pytest.importorskip("typer._adapters", reason="This typer reads words without pydantic.")
    data = write_columns(tmp_path / "a.conll")
    done = run(IMPORTING, module, number, "train", data, "-o", tmp_path / "a.kf")
    assert done.stderr.strip() == "Interrupted; nothing was written."
    assert (done.returncode, done.stdout) == (128 + getattr(signal, number), "")
    assert not (tmp_path / "a.kf").exists()


@pytest.mark.parametrize("number", ["SIGTERM", "SIGHUP"])
@pytest.mark.parametrize("place", ["writing", "learning"])
def test_files_of_features_are_put_away(place: str, number: str, tmp_path: Path) -> None:
    data, folder = write_columns(tmp_path / "a.conll"), tmp_path / "temporary"
    folder.mkdir()
    words = (place, number, folder, "train", data, "--memory-limit", "4G", "--penalty", "1e-6")
    done = run(LEARNING, *words, "-o", tmp_path / "a.kf", env=os.environ | {"TMPDIR": str(folder)})
    assert done.stdout.startswith("files of features are there\n"), done.stderr
    assert not any(folder.iterdir())
    if place == "learning":
        assert done.returncode == 0
        assert "Interrupted; the best point so far was kept." in done.stderr
        assert load(tmp_path / "a.kf").n_iter_ == 2
        return
    assert done.returncode == 128 + getattr(signal, number)
    assert done.stderr.endswith("Interrupted; nothing was written.\n")
    assert not (tmp_path / "a.kf").exists()
