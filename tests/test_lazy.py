"""What is imported when it is first used: every name leads where it says, and little is imported at once."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import kernelfields
from kernelfields import tables
from kernelfields.checks import Table
from kernelfields.estimators.registry import KINDS, REGISTRY
from kernelfields.kernels.specification import NAMES
from kernelfields.lazy import class_at, found_at, lazily
from kernelfields.persistence.objects import full_name

ROOT = Path(kernelfields.__file__).parent
LAZY = sorted(
    f"kernelfields.{path.parent.name}"
    for path in ROOT.glob("*/__init__.py")
    if "lazily(" in path.read_text(encoding="utf-8")
)
MODULES = 150
"""Of the package, at most, for the most common model."""


def statements(package):
    """Return what a type checker sees of a lazy package, and the table that Python sees."""
    tree = ast.parse(Path(import_module(package).__file__).read_text(encoding="utf-8"))
    (branch,) = (node for node in tree.body if isinstance(node, ast.If))
    seen = {
        ("." * (node.level - 1) + (node.module or ""), alias.name)
        for node in branch.body
        for alias in getattr(node, "names", ())
    }
    table = ast.literal_eval(branch.orelse[0].value.args[1])
    return seen, {(home, name) for home, names in table.items() for name in names.split()}


@pytest.mark.parametrize("package", LAZY)
def test_both_tables_of_a_package_say_the_same(package):
    seen, table = statements(package)
    assert seen == table
    module = import_module(package)
    assert {name for _, name in table} <= set(module.__all__)
    assert set(module.__all__) <= set(dir(module))


@pytest.mark.parametrize("package", LAZY)
def test_names_are_no_modules_whoever_is_imported_first(package):
    """A module that is imported becomes an attribute of its package: a name like it would be lost."""
    _, table = statements(package)
    folder = ROOT / package.partition(".")[2]
    assert [name for _, name in table if (folder / f"{name}.py").exists()] == []
    for name in import_module(package).__all__:
        assert type(getattr(import_module(package), name)).__name__ != "module", name


def test_unknown_names_are_refused_and_modules_found():
    find, listed = lazily("kernelfields.losses", {"log": "LogLoss"})
    assert find("LogLoss").__name__ == "LogLoss"
    assert find("pseudo").__name__ == "kernelfields.losses.pseudo"
    assert "LogLoss" in listed()
    with pytest.raises(AttributeError, match=r"'kernelfields\.losses' has no attribute 'Lag'"):
        find("Lag")


@pytest.mark.parametrize("place", [*REGISTRY.recipes.values(), *(row.kind for row in REGISTRY.stored)])
def test_places_in_the_registry_are_those_where_classes_are_defined(place):
    """Else an object would not be found by its class, and could not be saved."""
    assert full_name(class_at(place)) == full_name(place)


def test_kinds_are_classes():
    assert all(isinstance(found_at(kind), type) for kind in KINDS.values() if isinstance(kind, str))


@pytest.mark.parametrize("name", [name for name, one in vars(tables).items() if isinstance(one, Table)])
def test_entries_of_tables_are_of_their_kinds(name):
    table = getattr(tables, name)
    for entry in table:
        assert isinstance(table[entry], table.kinds), entry
        assert table[entry] is table[entry]


def test_kernels_are_found():
    for make in NAMES.values():
        assert make() is not make(), "kernels can be changed: no two users may have the same one"


def test_the_commonest_model_imports_little():
    code = "import sys; from kernelfields import CRF; print(*sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert sum(name.startswith("kernelfields") for name in said.split()) <= MODULES
