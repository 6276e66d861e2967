"""Break the code in small ways and see whether the tests notice: ``make mutants``.

Each mutant replaces one piece of text in a copy of the repository, rebuilds it if the piece is C++
(for the baseline instruction set only), and runs a quick selection of tests. A mutant that survives
is a test that is missing. The mutants stand in tables beside this file, one for each set of tests;
to add one, add a row: Python mutants cost no rebuild.

    python tests/mutants/run.py               all of them
    python tests/mutants/run.py chain_kbest   those whose file or text contains a word
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
import tomllib
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT = 180.0


class Selection(NamedTuple):
    """The tests that should notice."""

    paths: tuple[str, ...]
    deselect: str = ""


class Mutant(NamedTuple):
    """One break: ``old`` occurs exactly once in ``file`` and becomes ``new``."""

    file: str
    old: str
    new: str
    tests: Selection


def read(table: Path) -> list[Mutant]:
    """Read the rows of one table."""
    content = tomllib.loads(table.read_text(encoding="utf-8"))
    tests = Selection(tuple(content["tests"]), content.get("deselect", ""))
    return [Mutant(row["file"], row["old"], row["new"], tests) for row in content["mutant"]]


def all_mutants() -> list[Mutant]:
    tables = sorted(Path(__file__).parent.glob("*.toml"))
    return [mutant for table in tables for mutant in read(table)]


class Copy:
    """A copy of the repository with its own build folder and its own Python environment."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "repository"
        self.build_folder = self.root / "build" / "mutants"
        self.python = folder / "venv" / "bin" / "python"
        self.environment = dict(os.environ)
        self.environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        hidden = shutil.ignore_patterns(".*", "build", "dist", "__pycache__", "*.so")
        shutil.copytree(ROOT, self.root, ignore=hidden)
        self._make_environment(folder)
        # One instruction set, hardly optimised: quicker to build by far, and wrong is wrong.
        self.replace("CMakeLists.txt", "if(processor MATCHES", "if(FALSE AND processor MATCHES")
        self.replace("CMakeLists.txt", "set(flags_baseline -O3)", "set(flags_baseline -O1)")
        self._run(
            [
                "cmake",
                "-S",
                self.root,
                "-B",
                self.build_folder,
                "-G",
                "Ninja",
                f"-DPython_EXECUTABLE={sys.executable}",
            ]
        )

    def _make_environment(self, folder: Path) -> None:
        """Packages of the present environment, without its editable installation of kernelfields."""
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        paths = folder / "venv" / "lib" / version / "site-packages" / "paths.pth"
        paths.write_text(f"{self.root / 'src'}\n{sysconfig.get_path('purelib')}\n")

    def _run(self, command: list[str | Path]) -> None:
        result = subprocess.run(command, env=self.environment, capture_output=True, text=True)
        if result.returncode:
            raise RuntimeError(f"{command[0]} failed:\n{result.stdout[-3000:]}{result.stderr[-3000:]}")

    def build(self) -> None:
        self._run(["cmake", "--build", self.build_folder, "--target", "_core"])
        for module in self.build_folder.glob("_core*.so"):
            shutil.copy(module, self.root / "src" / "kernelfields")

    def replace(self, file: str, old: str, new: str) -> str:
        """Replace text that must occur once; return the text of the file before."""
        path = self.root / file
        text = path.read_text()
        if text.count(old) != 1:
            raise RuntimeError(
                f"{file} has {text.count(old)} times {old!r}, expected once: bring the table up to date."
            )
        path.write_text(text.replace(old, new))
        return text

    def tests_pass(self, tests: Selection) -> bool:
        command = [self.python, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests.paths]
        if tests.deselect:
            command += ["-k", f"not ({tests.deselect})"]
        try:
            result = subprocess.run(
                command, cwd=self.root, env=self.environment, capture_output=True, text=True, timeout=TIMEOUT
            )
        except subprocess.TimeoutExpired:
            return False
        if result.returncode in (2, 3, 4, 5):  # interrupted, internal error, bad usage, nothing collected
            raise RuntimeError(f"pytest could not run:\n{result.stdout[-3000:]}{result.stderr[-3000:]}")
        return result.returncode == 0


def survives(copy: Copy, mutant: Mutant) -> bool:
    before = copy.replace(mutant.file, mutant.old, mutant.new)
    try:
        if mutant.file.startswith("cpp/"):
            copy.build()
        return copy.tests_pass(mutant.tests)
    finally:
        (copy.root / mutant.file).write_text(before)


def in_order(mutants: list[Mutant]) -> list[Mutant]:
    """Python mutants first, while the module is still unbroken."""
    return sorted(mutants, key=lambda mutant: mutant.file.startswith("cpp/"))


def main(words: list[str]) -> int:
    chosen = in_order([m for m in all_mutants() if all(word in m.file + m.old for word in words)])
    survivors = []
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = Copy(Path(folder))
        copy.build()
        for tests in dict.fromkeys(mutant.tests for mutant in chosen):
            if not copy.tests_pass(tests):
                print(f"The tests fail without any mutant: {' '.join(tests.paths)}")
                return 2
        for mutant in chosen:
            start = time.perf_counter()
            survived = survives(copy, mutant)
            survivors += [mutant] if survived else []
            word = "SURVIVED" if survived else "killed"
            name = f"{mutant.file}: {mutant.old.strip()} -> {mutant.new.strip() or '(nothing)'}"
            print(f"{word:9}{time.perf_counter() - start:5.0f} s  {name}", flush=True)
    print(f"{len(chosen) - len(survivors)} of {len(chosen)} mutants killed.")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
