"""What README and docs show runs, and says what it says."""

import re
import runpy
import shlex
import sys

import pytest
import typer

from kernelfields.cli.app import app
from tests._documents import Block, blocks_of, run_console, run_page, run_python
from tests.conftest import ROOT

PAGES = sorted(
    path
    for path in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md"))
    if not {"_build", "gallery"} & set(path.parts)  # test_gallery.py has the latter
    and {"python", "console"} & {b.language for b in blocks_of(path.read_text())}
)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_blocks_run(path, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # some write files
    run_page(path)


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_examples_run(path, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(sys, "argv", [path.name, str(tmp_path / "out.html")])
    main = runpy.run_path(str(path))["main"]
    every = {"report.py": 20, "trees.py": 500, "graphs.py": 4, "guarantee.py": 4}[path.name]
    monkeypatch.setitem(main.__globals__, "EVERY", every)
    main()
    assert re.search(r"(letters|tags|pixels) wrong; see", capsys.readouterr().out)
    assert (tmp_path / "out.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_pages_are_found():
    names = {path.name for path in PAGES}
    assert {"README.md", "quick_start.md", "command_line.md"} <= names


def test_a_block_that_does_not_run_is_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("Text\n\n```python\nx = 1\n```\n\n```python\ny = x + nothing\n```\n")
    with pytest.raises(NameError, match="nothing"):
        run_page(page)


def test_a_value_that_differs_is_noticed():
    run_python(Block("python", "x = 2\nx + 1  # → 3\n", 1), "page.md", {})
    with pytest.raises(AssertionError, match=r"page.md:7: 3, not 4"):
        run_python(Block("python", "x = 2\nx + 1  # → 4\n", 6), "page.md", {})


def test_a_command_that_fails_is_noticed():
    run_console(Block("console", "$ kf --version\nkernelfields 0.1.0\n", 1), "page.md")
    with pytest.raises(AssertionError, match=r"nowhere\.kf"):
        run_console(Block("console", "$ kf inspect nowhere.kf\n", 1), "page.md")


def test_links_of_pages_lead_somewhere():
    for path in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text()):
            assert (path.parent / target).exists(), f"{path.name}: {target}"


def test_commands_of_the_readme_exist():
    commands = typer.main.get_command(app).commands
    lines = re.findall(r"^    (?:cat \S+ \| )?(kf .*)$", (ROOT / "README.md").read_text(), flags=re.MULTILINE)
    assert len(lines) >= 10
    for line in lines:
        _, name, *arguments = shlex.split(line, comments=True)
        options = {option for parameter in commands[name].params for option in parameter.opts}
        unknown = {word for word in arguments if word.startswith("-")} - options
        assert not unknown, f"{line}: {unknown}"


def test_docstrings_become_restructured_text():
    rewritten = runpy.run_path(str(ROOT / "docs" / "_docstrings.py"))["rewritten"]
    description = "A model of |x|.\n\n    p(y|x) * Z_\n\nSee classes_ and ``coef_``.\n\n"
    text = description + "Notes\n-----\nK*\n\n    deep_\n\n>>> a_ * 2\n4"
    assert rewritten(text.split("\n")) == [
        *("A model of \\|x\\|.", "", "::", "", "    p(y|x) * Z_", "", "See classes\\_ and ``coef_``.", ""),
        *("Notes", "-----", "K\\*", "", "    deep\\_", "", ">>> a_ * 2", "4"),
    ]
