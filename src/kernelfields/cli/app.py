"""The commands, put together."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ._lazy import HELP_NAMES, LazyCommands, LazyGroup

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
}
"""Names, which are also those of modules and of functions in them, and what they are for in one line."""


class KernelfieldsGroup(LazyGroup):
    """The commands of ``kf``."""

    lazy = LazyCommands(COMMANDS)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find a command; experiments are not in the package."""
        if args[0] == "reproduce":
            line = " ".join(["python -m experiments", *args[1:]])
            typer.echo(f"Experiments are run from a checkout of the repository, with: {line}", err=True)
            raise typer.Exit(2)
        return super().resolve_command(ctx, args)


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
