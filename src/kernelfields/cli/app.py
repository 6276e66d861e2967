"""The commands, put together."""

from __future__ import annotations

from typing import Annotated

import typer

from .. import __version__
from .compare import compare
from .convert import convert
from .demo import demo
from .evaluate import evaluate
from .inspect import inspect
from .reproduce import reproduce
from .tag import tag
from .train import train

app = typer.Typer(
    help="Structured prediction with calibrated probabilities.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (train, tag, evaluate, compare, inspect, convert, demo, reproduce):
    app.command()(command)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"kernelfields {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Structured prediction with calibrated probabilities."""


def main() -> None:
    """Run ``kf``."""
    app()
