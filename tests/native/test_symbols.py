"""Objects compiled per instruction set may not share code with others.

The linker keeps one copy of a weak symbol, such as an inline function or a template instance. If it
came from the AVX-512 object, a processor without AVX-512 would stop at an illegal instruction.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def symbols(path: Path) -> list[tuple[str, str]]:
    """(kind, name) of all symbols that an object defines."""
    if shutil.which("nm") is None:
        pytest.skip("nm is not installed.")
    text = subprocess.run(
        ["nm", "-C", "--defined-only", path], capture_output=True, text=True, check=True
    ).stdout
    return [(line.split(maxsplit=2)[1], line.split(maxsplit=2)[2]) for line in text.splitlines()]


@pytest.fixture(scope="module")
def objects() -> list[Path]:
    found = sorted(ROOT.glob("build/*/CMakeFiles/kf_isa_*.dir/**/*.o"))
    if not found:
        pytest.skip("No objects under build/*/CMakeFiles/kf_isa_*.dir: build with pip install -e . first.")
    return found


def test_no_weak_symbols(objects: list[Path]) -> None:
    for path in objects:
        weak = [name for kind, name in symbols(path) if kind in "WVuU" and kind != "U"]
        assert not weak, f"{path.parent.name} defines {weak}"


def test_only_tables_are_global(objects: list[Path]) -> None:
    for path in objects:
        names = {name for kind, name in symbols(path) if kind.isupper()}
        isa = path.relative_to(ROOT / "build").parts[2].removeprefix("kf_isa_").removesuffix(".dir")
        kind_of_table = path.name.removesuffix(".cpp.o")  # chain, sparse
        scalars = (
            ("double",)
            if kind_of_table
            in (
                "assignment",
                "constituency",
                "dependency",
                "emissions",
                "grammar",
                "graph",
                "messages",
                "segments",
            )
            else ("double", "float")
        )
        wanted = {f"kernelfields::{kind_of_table}_{scalar}_{isa}" for scalar in scalars}
        assert wanted <= names, path
        assert all(name.endswith(f"_{isa}") for name in names), f"{path.parent.name} defines {names}"


def test_nm_sees_weak_symbols(objects: list[Path]) -> None:
    """Bindings are full of templates: were there none, the tests above could not fail."""
    bindings = sorted(ROOT.glob("build/*/CMakeFiles/_core.dir/**/bindings/chain.cpp.o"))
    assert bindings
    assert any(kind == "W" for kind, _ in symbols(bindings[0]))
