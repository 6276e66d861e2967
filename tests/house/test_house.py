"""Every meter notices planted cases."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from .annotations import count_annotations, share_of_any
from .clients import single_client_modules
from .commands import run_command
from .duplicates import duplicate_pairs
from .entered import files_entered
from .imports import private_imports
from .layout import comment_lines, count_lines, files_of_largest_folder, layers, rooms
from .loading import modules_loaded
from .names import names_defined_twice
from .prose import PATTERNS, prose_hits
from .sources import read_modules
from .toys import count_parameters, public_estimators, toys
from .walks import longest
from .words import is_participle_or_preposition, participle_names

EQUAL = "".join(f"step_{number} = {number}\n" for number in range(11))
EXAMPLES = {
    "be had": ("sums are to be had", "what cannot be had"),
    "come true": ("it comes true",),
    "gives back": ("gives the rows back", "gave back"),
    "hang together": ("what hangs together",),
    "in one sentence": ("in a sentence", "in one sentence"),
    "is no": ("what is no bound of it",),
    "is none": ("that is none", "they are none"),
    "is worth": ("what it is worth",),
    "one behind the other": ("one after the other", "one behind another"),
    "says what": ("says what", "told why"),
    "sure": ("how sure", "surer"),
    "there is no … that": ("there is no label that",),
}
"""Examples of the patterns that their names do not match, or not alone."""
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
        "def fit_from_cache():\n"
        "    from planted.cached import compute\n"
        "    return compute()\n"
    ),
    "cached.py": (
        "from functools import cache\n"
        "from planted.checks import check\n"
        "@cache\n"
        "def compute():\n"
        "    return check(2)\n"
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
    "clients/__init__.py": "from .offered import offer\nfrom .far import reach\n",
    "clients/offered.py": "def offer(): ...\n",  # one reader here, others outside
    "clients/far.py": "def reach(): ...\n",
    "clients/split.py": "def help(): ...\n",
    "clients/late.py": "def help(): ...\n",
    "clients/shared.py": "def help(): ...\n",
    "clients/named.py": "from . import shared\n",  # nobody imports it
    "clients/user.py": (
        "from .. import words\n"
        "from .offered import offer\n"
        "from .split import help\n"
        "from .shared import help as second\n"
        "def use():\n"
        "    from planted.clients.late import help\n"
    ),
    "typed/__init__.py": "",
    "typed/rules.py": (
        "import typing\n"
        "from typing import Any\n"
        "class Typed:\n"
        "    def set(self, a: Any, *b: list[Any], c: 'Any' = 1, **d: typing.Any) -> None:\n"
        "        def inner(e: Any | None, f, g: None | Any) -> dict[str, Any]: ...\n"
    ),
    "equal/__init__.py": "",
    "equal/left.py": f"import ast\n{EQUAL}x = 1\n",
    "equal/right.py": "y = 2\nclass Indented:\n    " + EQUAL.replace("\n", "\n\n    # why\n    ", 5),
    "equal/short.py": "".join(EQUAL.splitlines(keepends=True)[:9]),
    "equal/imports.py": "import a\n" * 20,
    "words/__init__.py": "",
    "words/functions.py": (
        "class Named:\n"
        "    def of(self): ...\n"
        "    def feed(self): ...\n"
        "    @property\n"
        "    def fitted(self): ...\n"
        "    @fitted.setter\n"
        "    def fitted(self, x): ...\n"
        "def _joined():\n"
        "    def in_(): ...\n"
        "async def found(): ...\n"
        "def memory_of(): ...\n"
        "def open(): ...\n"
    ),
    "words/prose.py": (
        "'''Made anew, where there\n    is none; `anew`.\n\n    >>> anew\n    '''\n"
        "x = 'anew'  # anew\n"
        "'''Whether x is None; sums of its own.'''\n"
    ),
    "words/comments.py": "# why\nx = 1  # not alone\ny = '''\n# text\n'''\nif x:\n    # because\n    pass\n",
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


def test_files_behind_a_cache_are_entered_every_time(planted: Path) -> None:
    from planted import fit

    expected = ["cached.py", "checks.py", "fit.py"]
    assert [files_entered(fit.fit_from_cache, planted) for _ in range(2)] == [expected] * 2


def test_classes_of_one_name_in_two_modules_are_found(planted: Path) -> None:
    """Classes of a function are its own affair; those under try are not."""
    assert names_defined_twice(read_modules(planted)) == ["Rule: one/_own.py, two/rules.py"]


def test_private_imports_are_found(planted: Path) -> None:
    assert private_imports(read_modules(planted)) == [
        "one/deep/below.py:1 planted.one._own",
        "two/rules.py:2 planted.one._own",
        "two/rules.py:3 planted.one._own",
        "two/rules.py:5 planted.one._own",
        "two/rules.py:7 planted.one._closed.inside",
    ]


def test_modules_with_one_client_are_found(planted: Path) -> None:
    """Also by imports inside functions; not what packages pass on, what two import, or what nobody does."""
    inside = [place for place in single_client_modules(read_modules(planted)) if "clients" in place]
    assert inside == ["clients/late < clients/user", "clients/split < clients/user"]


def test_bare_any_is_counted(planted: Path) -> None:
    """Alone, quoted, and in a union; not as an item of something else."""
    counts = count_annotations(read_modules(planted))
    assert counts["typed"] == {True: 5, False: 3}
    assert share_of_any([counts["typed"]]) == share_of_any(counts.values()) == 0.625
    assert share_of_any([]) == 0


def test_equal_lines_are_found(planted: Path) -> None:
    """Whatever their indentation, and whatever blank lines and comments are between them."""
    assert duplicate_pairs(read_modules(planted)) == ["11 lines: equal/left.py:2 and equal/right.py:3"]


def test_equal_lines_of_one_file_do_not_overlap(tmp_path: Path) -> None:
    (tmp_path / "same.py").write_text("x = 1\n" * 19)
    assert duplicate_pairs(read_modules(tmp_path)) == []
    (tmp_path / "same.py").write_text(f"{EQUAL}between = 1\n{EQUAL}")
    assert duplicate_pairs(read_modules(tmp_path)) == ["11 lines: same.py:1 and same.py:13"]


def test_participles_and_prepositions_are_found(planted: Path) -> None:
    """As whole names of functions, not of properties."""
    names = [place.split(":")[0] for place in participle_names(read_modules(planted)) if "words" in place]
    assert names == ["_joined", "found", "in_", "of"]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("settled", True),
        ("chosen", True),
        ("kept", True),
        ("within", True),
        ("seed", False),
        ("train", False),
    ],
)
def test_words_are_told_apart(word: str, expected: bool) -> None:
    assert is_participle_or_preposition(word) is expected


def test_turns_of_phrase_are_found(planted: Path, tmp_path: Path) -> None:
    """In docstrings and pages, across lines; not in code."""
    page = tmp_path / "page.md"
    page.write_text("Nobody writes `anew`\nat\nonce.\n\n    nobody()\n\n```\nnobody\n```\n")
    hits = [hit.split(": ")[:2] for hit in prose_hits(read_modules(planted), [page])]
    assert sorted(hits) == [
        ["anew", "words/prose.py:1"],
        ["at once", "page.md"],
        ["is none", "words/prose.py:1"],
        ["nobody", "page.md"],
        ["of its own", "words/prose.py:7"],
    ]


@pytest.mark.parametrize("name", PATTERNS)
def test_patterns_find_examples(name: str) -> None:
    for text in EXAMPLES.get(name, (name,)):
        assert PATTERNS[name].search(text)


@pytest.mark.parametrize("text", ["x is None", "there is no bound", "in the mean square", "some hundred of"])
def test_patterns_leave_plain_english_alone(text: str) -> None:
    assert not [name for name, pattern in PATTERNS.items() if pattern.search(text)]


def test_lines_comments_and_folders_are_counted(planted: Path) -> None:
    modules = read_modules(planted)
    assert "_core" not in [module.path.stem for module in modules]  # generated
    assert [place for place in comment_lines(modules) if "words" in place] == [
        "words/comments.py:1 # why",
        "words/comments.py:7 # because",
    ]
    assert rooms(modules) == ["clients", "equal", "one", "two", "typed", "words"]
    assert len(files_of_largest_folder(modules)) == 8
    assert files_of_largest_folder(modules)[0] == "clients/__init__.py"
    assert count_lines([module for module in modules if module.room == "words"]) == 12 + 7 + 8


def test_layers_are_those_of_the_longest_contract(tmp_path: Path) -> None:
    contract = "[[tool.importlinter.contracts]]\n"
    (tmp_path / "pyproject.toml").write_text(f"{contract}layers = ['a', 'b | c']\n{contract}")
    assert layers(tmp_path / "pyproject.toml") == ["a", "b | c"]


def test_modules_that_an_import_loads_are_found(planted: Path) -> None:
    loaded = modules_loaded("from planted.cached import compute", "planted", planted.parent)
    assert loaded == ["planted", "planted.cached", "planted.checks"]
    assert modules_loaded("import json", "planted", planted.parent) == []


def test_parameters_of_constructors_are_counted() -> None:
    class Estimator:
        def __init__(self, a: int, *, b: int = 2): ...

    assert count_parameters(Estimator) == 2


def test_every_public_estimator_has_a_toy() -> None:
    assert public_estimators().keys() <= toys().keys()


def test_a_command_that_fails_is_an_error(tmp_path: Path) -> None:
    """It enters few files, which would look like progress."""
    with pytest.raises(RuntimeError, match="kf inspect ended with 2"):
        run_command("inspect", [tmp_path / "missing.kf"])


def test_the_longest_walk_is_that_with_most_files() -> None:
    assert longest({"a": ["x"], "b": ["y", "z"], "c": ["x", "z"]}) == ["b: y", "b: z"]
