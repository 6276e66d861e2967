"""Code blocks of Markdown pages, to be run.

Blocks of ``python`` are executed, all of a page in one namespace; where the last line of a statement
ends with ``# → text``, that is the repr of its value. In blocks of ``console``, lines that begin with
``$ kf`` or ``$ python -m experiments`` are run as a shell would run them. Other languages, and indented
blocks, are left alone.
"""

import ast
import re
import shlex
from typing import NamedTuple

from typer.testing import CliRunner

import experiments.__main__ as experiments
from kernelfields.cli.app import app

_FENCE = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```", flags=re.DOTALL | re.MULTILINE)
_SHOWN = "  # → "
PROMPT = "$ "
PROGRAMS = {("kf",): app, ("python", "-m", "experiments"): experiments.app}


class Block(NamedTuple):
    language: str
    code: str
    line: int


def blocks_of(text):
    return [
        Block(found[1], found[2], text.count("\n", 0, found.start()) + 2) for found in _FENCE.finditer(text)
    ]


def run_page(path):
    """Run all blocks of a page in the order in which they stand there; give its names."""
    names = {"__name__": "__main__"}
    for block in blocks_of(path.read_text(encoding="utf-8")):
        if block.language == "python":
            run_python(block, path, names)
        elif block.language == "console":
            run_console(block, path)
    return names


def run_python(block, path, names):
    lines = block.code.splitlines()
    tree = ast.parse(block.code)
    ast.increment_lineno(tree, block.line - 1)
    for statement in tree.body:
        _, _, shown = lines[statement.end_lineno - block.line].partition(_SHOWN)
        if shown:
            assert isinstance(statement, ast.Expr), f"{path}:{statement.lineno}: nothing to show"
            value = eval(compile(ast.Expression(statement.value), str(path), "eval"), names)
            assert repr(value) == shown, f"{path}:{statement.lineno}: {value!r}, not {shown}"
        else:
            exec(compile(ast.Module([statement], []), str(path), "exec"), names)


def run_console(block, path):
    for line in block.code.splitlines():
        if line.startswith(PROMPT):
            words = shlex.split(line.removeprefix(PROMPT), comments=True)
            program = next((program for program in PROGRAMS if words[: len(program)] == [*program]), None)
            assert program is not None, f"{path}: {line}"
            result = CliRunner().invoke(PROGRAMS[program], words[len(program) :])
            assert result.exit_code == 0, f"{path}: {line}\n{result.output}\n{result.exception!r}"
