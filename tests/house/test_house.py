"""The counts notice planted cases, and those of the package do not rise."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from .__main__ import LIMITS, broken
from .entered import files_entered
from .imports import private_imports
from .names import names_defined_twice

ROOT = Path(__file__).parents[2]

REACHED = {
    "files_kernel_fit": 34,
    "files_linear_fit": 27,
    "estimator_files": 23,
    "names_defined_twice": 0,
    "private_imports": 0,
}
"""What the package has come to; to be lowered towards `LIMITS`, never raised."""

PLANTED = {
    "__init__.py": "",
    "checks.py": "def check(x):\n    return x\n\ndef marked(f):\n    return f\n",
    "lazy.py": "from planted.checks import marked\n\n@marked\nclass Late:\n    x = marked(1)\n",
    "threads.py": "def work():\n    pass\n",
    "fit.py": (
        "import threading\n"
        "def fit():\n"
        "    import planted.lazy\n"
        "    from planted.threads import work\n"
        "    thread = threading.Thread(target=work)\n"
        "    thread.start()\n"
        "    thread.join()\n"
        "def fit_checked():\n"
        "    from planted.checks import check\n"
        "    return check(1)\n"
    ),
    "one/__init__.py": "from ._own import Rule\n",  # its own folder
    "one/_own.py": "class Rule: ...\nclass Once: ...\n",
    "one/open.py": "from planted.one import _own\nfrom .. import _core\nimport json._x\n",  # nobody else's
    "one/deep/__init__.py": "",
    "one/deep/below.py": "from .._own import Rule\n",  # of the parent's folder
    "one/_closed/__init__.py": "from .inside import x\n",
    "one/_closed/inside.py": "from planted.one._closed._hidden import x\n",  # from inside
    "one/_closed/_hidden.py": "x = 1\n",
    "_core.py": "",
    "two/__init__.py": "",
    "two/rules.py": (
        "from typing import TYPE_CHECKING\n"
        "import planted.one._own\n"
        "from planted.one import _own, open\n"
        "if TYPE_CHECKING:\n"
        "    from ..one._own import Rule as R\n"
        "def late():\n"
        "    from ..one._closed import inside\n"
        "    class Once: ...\n"
        "try:\n"
        "    class Rule: ...\n"
        "except ValueError:\n"
        "    pass\n"
    ),
}


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    package = tmp_path / "planted"
    for name, text in PLANTED.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.split(".")[0] == "planted"]:
        monkeypatch.delitem(sys.modules, name)
    return package


def test_files_entered_are_those_whose_functions_run(planted: Path) -> None:
    """Threads count; modules, classes and decorators that run because of an import do not."""
    from planted import fit  # type: ignore[import-not-found]

    assert files_entered(fit.fit, planted) == ["fit.py", "threads.py"]
    assert files_entered(fit.fit_checked, planted) == ["checks.py", "fit.py"]
    assert files_entered(lambda: None, planted) == []
    assert sys.getprofile() is None


def test_classes_of_one_name_in_two_modules_are_found(planted: Path) -> None:
    """Classes of a function are its own affair; those under try are not."""
    assert names_defined_twice(planted) == ["Rule: one/_own.py, two/rules.py"]


def test_private_imports_are_found(planted: Path) -> None:
    assert private_imports(planted) == [
        "one/deep/below.py:1 planted.one._own",
        "two/rules.py:2 planted.one._own",
        "two/rules.py:3 planted.one._own",
        "two/rules.py:5 planted.one._own",
        "two/rules.py:7 planted.one._closed.inside",
    ]


def test_a_limit_is_broken_by_one_more() -> None:
    assert broken(LIMITS, LIMITS) == []
    assert broken({**LIMITS, "estimator_files": 26}, LIMITS) == ["estimator_files"]


@cache
def printed() -> tuple[int, dict[str, int]]:
    """Run the script in a process of its own, where nothing is cached yet."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.house", "--json"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode in (0, 1), done.stderr
    return done.returncode, json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("key", LIMITS)
def test_the_package_does_not_get_worse(key: str) -> None:
    _, values = printed()
    assert 0 <= values[key] <= REACHED[key], f"see `python -m tests.house` for what counts as {key}"


def test_exit_says_whether_limits_are_kept() -> None:
    code, values = printed()
    assert list(values) == list(LIMITS)
    assert code == (1 if broken(values, LIMITS) else 0)
