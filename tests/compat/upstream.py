"""Run python-crfsuite's and sklearn-crfsuite's own tests with the import changed.

    python tests/compat/upstream.py           downloads their sources
    python tests/compat/upstream.py FOLDER    takes the archives or unpacked sources in a folder

Their tests run in the folder of their sources, untouched: `upstream_names` is a pytest plugin that makes
``import pycrfsuite`` and ``import sklearn_crfsuite`` mean the packages of ``kernelfields.compat``. Nothing of
theirs is kept. The status is 0 if all tests pass, 1 if some fail, 2 if sources were not at hand.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

PROJECTS = ("python_crfsuite", "sklearn_crfsuite")
PLUGIN = "upstream_names"


def main(arguments: list[str]) -> int:
    with tempfile.TemporaryDirectory() as temporary:
        sources = Path(arguments[0]) if arguments else downloaded(Path(temporary) / "archives")
        folders = {name: find_tests(name, sources, Path(temporary) / "sources") for name in PROJECTS}
        missing = [name for name, folder in folders.items() if folder is None]
        failed = [name for name, folder in folders.items() if folder is not None and not passes(name, folder)]
    for name in missing:
        print(f"{name}: NOT RUN, its sources (with their tests) are not in {sources}.")
    for name in failed:
        print(f"{name}: some of its own tests fail.")
    return 1 if failed else 2 if missing else 0


def downloaded(folder: Path) -> Path:
    """Fetch the archives; without a network the folder stays empty."""
    folder.mkdir()
    names = [name.replace("_", "-") for name in PROJECTS]
    pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:"]
    subprocess.run([*pip, "-d", str(folder), *names], check=False)
    return folder


def find_tests(name: str, sources: Path, target: Path) -> Path | None:
    """Find a project's folder of tests, unpacking its archive if there is one."""
    for archive in sources.glob(f"{name}-*.tar.gz"):
        with tarfile.open(archive) as file:
            file.extractall(target, filter="data")
    found = [*target.glob(f"{name}-*/tests"), *sources.glob(f"{name}-*/tests")]
    return found[0] if found else None


def passes(name: str, folder: Path) -> bool:
    """Run the tests of one project, in a process of their own; doctests are among them."""
    print(f"{name}: {folder.parent.name}, own tests on kernelfields.compat", flush=True)
    options = ["-p", PLUGIN, "-p", "no:cacheprovider", "-q", "--doctest-modules", "--import-mode=importlib"]
    python_path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            *options,
            "-c",
            os.devnull,
            "--rootdir",
            str(folder.parent),
            str(folder),
        ],
        cwd=folder.parent,
        env={**os.environ, "PYTHONPATH": python_path},
        check=False,
    )
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
