"""What ``kf`` says before it does anything: help, completion, versions, and how soon."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import kernelfields
from kernelfields.cli.app import COMMANDS, app
from kernelfields.errors import DistributedError

from ._files import write_columns

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "command_line.md"
SERVERS = ("label", "serve")
"""Commands that end when a user ends them."""
HEAVY = ("numpy", "scipy", "sklearn", "rich", "kernelfields.estimators", "experiments")


def run(*words, **environment):
    return CliRunner().invoke(app, list(words), env=environment, prog_name="kf")


def modules_after(code):
    found = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\nprint(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(found.stdout.split("\n")[-2].split())


def test_help_fits_a_screen():
    said = run("--help", COLUMNS="80").output
    lines = said.splitlines()
    assert len(lines) <= 23
    assert max(map(len, lines)) <= 80
    assert all(f"\n  {name} " in said for name in COMMANDS)


def test_help_and_import_load_nothing_heavy():
    assert not modules_after("import kernelfields").intersection(HEAVY)
    assert not modules_after("from kernelfields.cli.app import app").intersection(HEAVY)
    assert "numpy" in modules_after("from kernelfields import CRF")


def test_every_name_is_there_when_asked_for():
    for name in kernelfields.__all__:
        assert getattr(kernelfields, name) is not None
    assert set(kernelfields.__all__) <= set(dir(kernelfields))
    assert kernelfields.kernels.RBF.__name__ == "RBF"
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = kernelfields.nonsense


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_examples_and_json(name):
    said = run(name, "--help", COLUMNS="100", TERMINAL_WIDTH="100").output
    assert f"\nFor example:\n  kf {name}" in said
    assert "--json" in said or name in SERVERS


def test_the_module_is_the_command():
    said = subprocess.run(
        [sys.executable, "-m", "kernelfields", "--version"], capture_output=True, text=True, check=True
    )
    assert said.stdout == run("--version").output


def test_a_mistyped_command_is_corrected():
    refused = run("tran")
    assert refused.exit_code == 2
    assert "'train'" in refused.output


def test_reproduce_says_where_experiments_are():
    refused = run("reproduce", "letters", "--quick")
    assert refused.exit_code == 2
    assert refused.stderr.endswith("with: python -m experiments letters --quick\n")
    assert refused.output.count("\n") == 1


def test_json_of_commands_that_write_files(tmp_path):
    data = write_columns(tmp_path / "a.conll", 8)
    said = run("convert", str(data), "-o", str(tmp_path / "a.jsonl"), "--json")
    assert json.loads(said.stdout) == {
        "out": str(tmp_path / "a.jsonl"),
        "sequences": 8,
        "positions": len(data.read_text().split()) // 2,
    }
    said = run("clusters", str(data), "-o", str(tmp_path / "paths"), "-n", "3", "--json")
    assert json.loads(said.stdout) == {"out": str(tmp_path / "paths"), "words": 9, "clusters": 3}
    model = tmp_path / "m.kf"
    run("train", str(data), "-o", str(model))
    said = run("tag", str(model), str(data), "--labelled", "--json")
    assert len([json.loads(line) for line in said.stdout.splitlines()]) == 8
    refused = run("tag", str(model), str(data), "--labelled", "--json", "--to", "conll")
    assert (refused.exit_code, refused.output) == (2, "--json writes JSON lines, but --to says conll.\n")


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("kf tr", {"train"}),
        ("kf train a.csv --model k", {"kernel-crf"}),
        ("kf train a.csv --model ", {"crf", "auto", "hmm"}),
        ("kf train a.csv --format la", {"labelstudio"}),
        ("kf train a.csv --structure tr", {"tree"}),
        ("kf train a.csv --decoder p", {"posterior"}),
        ("kf compare a.csv --models crf,h", {"crf,hmm"}),
        ("kf train a.csv --rec", {"--recalibrate"}),
    ],
)
def test_names_are_completed(words, found):
    last = len(words.split()) - (not words.endswith(" "))
    told = {"_KF_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(last)}
    result = CliRunner().invoke(app, [], env=told, prog_name="kf")
    assert found <= set(result.output.split()), result.output


def test_exit_codes(tmp_path, monkeypatch):
    """Those of the table in the guide."""
    data, model = write_columns(tmp_path / "a.conll", 8), tmp_path / "m.kf"
    assert run("train", str(data), "-o", str(model)).exit_code == 0
    assert run("train", str(data), "--nonsense").exit_code == 2
    assert run("train", str(tmp_path / "nowhere.conll")).exit_code == 2
    assert run("tag", str(data), str(data)).exit_code == 2

    def lost(*_):
        raise DistributedError("Workers were lost; try again.")

    monkeypatch.setattr("kernelfields.CRF.fit", lost)
    assert run("train", str(data), "-o", str(model)).exit_code == 3

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("kernelfields.CRF.fit", interrupt)
    assert run("train", str(data), "-o", str(model)).exit_code == 130
    codes = {int(code) for code in re.findall(r"^\| (\d+) \|", GUIDE.read_text(), flags=re.MULTILINE)}
    assert codes == {0, 2, 3, 130}
