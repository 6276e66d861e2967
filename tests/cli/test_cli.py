"""The command line, as a user runs it."""

import subprocess
import sys
from importlib.metadata import version

from typer.testing import CliRunner

from kernelfields.cli.app import app


def test_version():
    result = CliRunner().invoke(app, ["--version"])
    assert result.output.strip() == f"kernelfields {version('kernelfields')}"


def test_installed_command_runs():
    kf = f"{sys.prefix}/bin/kf"
    result = subprocess.run([kf, "--help"], capture_output=True, text=True, check=True)
    assert "demo" in result.stdout
