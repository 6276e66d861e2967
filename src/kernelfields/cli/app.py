"""The commands, put together."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from ._lazy import HELP_NAMES, LazyCommands, LazyGroup

INTERRUPTED = 130
"""Exit code: Ctrl-C before a command has begun."""
COMMANDS = {
    "train": "Train a model on labelled data and write it to a file.",
    "calibrate": "Make probabilities and promises hold, by held-out data.",
    "tag": "Label sequences or trees as they come, with probabilities.",
    "serve": "Serve models as a JSON service.",
    "evaluate": "Test a model: errors, entities, calibration; a report in HTML.",
    "compare": "Compare models on the same folds, with standard errors.",
    "label": "Label sequences in the browser while a model learns.",
    "inspect": "Show what is in a model file.",
    "convert": "Turn models of CRFsuite, or data, into another format.",
    "clusters": "Find Brown clusters of words.",
    "demo": "Train seven models on handwritten words and compare them.",
    "reproduce": "Run an experiment of the papers; without a name, list them.",
}
"""Names, which are also those of modules and of functions in them, and what they are for in one line."""


class KernelfieldsGroup(LazyGroup):
    """The commands of ``kf``."""

    lazy = LazyCommands(COMMANDS)


app = typer.Typer(
    cls=KernelfieldsGroup,
    help="Structured prediction with probabilities.",
    no_args_is_help=True,
    context_settings=HELP_NAMES,
)


def _version(wanted: bool) -> None:
    if wanted:
        from .. import __version__

        typer.echo(f"kernelfields {__version__}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Structured prediction with probabilities."""
    from ._session import session  # here, because it takes a moment, and --help need not wait for it

    context.with_resource(session())


def main() -> None:
    """Run ``kf``."""
    try:
        app(prog_name="kf")
    except KeyboardInterrupt:  # while commands are still being imported
        sys.exit(INTERRUPTED)
