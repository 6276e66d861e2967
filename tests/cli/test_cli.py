"""The command line, as a user runs it."""

import subprocess
import sys
from importlib.metadata import version

from typer.testing import CliRunner

from kernelfields.cli.app import app


def test_version():
    result = CliRunner().invoke(app, ["--version"])
    assert result.output.strip() == f"kernelfields {version('kernelfields')}"


def test_demo_prints_what_it_promises():
    output = CliRunner().invoke(app, ["demo"]).output
    for words in ("letter error, Viterbi", "letter error, posterior", "word error", "certified relative gap"):
        assert words in output
    error = float(output.split("letter error, Viterbi")[1].split("%")[0].strip(" │"))
    assert 15 < error <= 19.6


def test_installed_command_runs():
    kf = f"{sys.prefix}/bin/kf"
    result = subprocess.run([kf, "--help"], capture_output=True, text=True, check=True)
    assert "demo" in result.stdout
