"""The layers of architecture, as import-linter sees them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def lint_imports(config: Path) -> subprocess.CompletedProcess[str]:
    program = shutil.which("lint-imports", path=Path(sys.executable).parent) or shutil.which("lint-imports")
    if program is None:
        pytest.skip("lint-imports is not installed (pip install import-linter).")
    return subprocess.run(
        [program, "--config", config, "--no-cache"], cwd=ROOT, capture_output=True, text=True, timeout=120
    )


def test_layers_hold() -> None:
    result = lint_imports(ROOT / "pyproject.toml")
    assert result.returncode == 0, result.stdout + result.stderr


def test_linter_sees_imports(tmp_path: Path) -> None:
    """Structures call the native core, so a contract that forbids it must be broken."""
    config = tmp_path / "contract.toml"
    config.write_text(
        '[tool.importlinter]\nroot_package = "kernelfields"\n'
        '[[tool.importlinter.contracts]]\nname = "Upside down"\ntype = "layers"\n'
        'containers = ["kernelfields"]\nlayers = ["native", "structures"]\n'
    )
    result = lint_imports(config)
    assert result.returncode == 1, result.stdout + result.stderr
    assert "kernelfields.structures.chain" in result.stdout
