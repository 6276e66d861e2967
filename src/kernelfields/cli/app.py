"""The commands, put together."""

from __future__ import annotations

from typing import Annotated

import typer

from .. import __version__
from .demo import demo
from .reproduce import reproduce

app = typer.Typer(
    help="Structured prediction with calibrated probabilities.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(demo)
app.command()(reproduce)


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
