"""``kf convert``: models of other programs to model files of ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..compat.convert import convert_model
from ..errors import ModelFormatError

CANNOT_READ = 2
"""Exit code where the model cannot be read or written."""


def convert(
    source: Annotated[Path, typer.Argument(help="A model file that CRFsuite wrote.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The model file to write.")],
) -> None:
    """Turn a model that CRFsuite trained into one of kernelfields: the same tags and probabilities.

    Example: kf convert model.crfsuite -o model.kf
    """
    try:
        model = convert_model(source, out)
    except (ModelFormatError, OSError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(CANNOT_READ) from error
    typer.echo(f"{out}: {len(model.classes_)} labels, {model.n_features_in_} attributes.")
