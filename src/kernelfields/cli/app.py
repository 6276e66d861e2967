"""The commands, put together."""

from __future__ import annotations

from collections.abc import Callable
from inspect import getdoc
from typing import Annotated

import typer

from .. import __version__
from .calibrate import calibrate
from .clusters import clusters
from .compare import compare
from .convert import convert
from .demo import demo
from .evaluate import evaluate
from .inspect import inspect
from .reproduce import reproduce
from .tag import tag
from .train import train


def _flowing(command: Callable[..., None]) -> str:
    """Return a command's docstring with paragraphs that are as wide as the terminal, not as the source."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in (getdoc(command) or "").split("\n\n"))


app = typer.Typer(
    help="Structured prediction with calibrated probabilities.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (train, calibrate, tag, evaluate, compare, inspect, convert, clusters, demo, reproduce):
    app.command(help=_flowing(command))(command)


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
