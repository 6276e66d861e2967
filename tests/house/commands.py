"""Five commands on a file of a few words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from typer.testing import CliRunner

from kernelfields.cli.app import app

from .toys import ENTITIES, WORDS


def commands(folder: Path) -> dict[str, Callable[[], None]]:
    """Return the commands by their names, to be called in this order; what they write goes to `folder`."""
    labelled, words, model = folder / "toy.conll", folder / "words.conll", folder / "toy.kf"
    rows = [
        [(*token, label) for token, label in zip(tokens, labels, strict=True)]
        for tokens, labels in zip(WORDS * 5, ENTITIES * 5, strict=True)
    ]
    write_columns(labelled, rows)
    write_columns(words, WORDS)
    arguments: dict[str, list[object]] = {
        "train": [labelled, "--features", "ner", "-o", model],
        "tag": [model, words, "-o", folder / "tagged.conll"],
        "evaluate": [model, labelled],
        "inspect": [model],
        "convert": [labelled, "-o", folder / "toy.jsonl"],
    }
    return {name: partial(run_command, name, given) for name, given in arguments.items()}


def write_columns(path: Path, sentences: Sequence[Sequence[Sequence[str]]]) -> None:
    """Write a line per token, with an empty one between sentences."""
    blocks = ["\n".join(" ".join(columns) for columns in sentence) for sentence in sentences]
    path.write_text("\n\n".join(blocks) + "\n", encoding="utf-8")


def run_command(name: str, arguments: Sequence[object]) -> None:
    """Run ``kf`` in this process, without output."""
    result = CliRunner().invoke(app, [name, *map(str, arguments)])
    if result.exit_code:
        raise RuntimeError(f"kf {name} ended with {result.exit_code}: {result.output}") from result.exception
