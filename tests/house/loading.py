"""Modules that an import loads."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PRINT = "import sys; print(*sorted(name for name in sys.modules if name.split('.')[0] == {!r}), sep='\\n')"


def modules_loaded(statement: str, package: str, folder: Path) -> list[str]:
    """Return the modules of a package that a statement loads in a fresh process, which starts in `folder`."""
    code = f"{statement}\n{PRINT.format(package)}"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.split()
