"""Which format a file has: by its name, and by its first line where one ending has several."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import InputError
from ..io.jsonl import parse_value, unique_keys
from ..io.lines import read_lines
from ..io.opening import is_pipe
from ..io.parquet import ENDINGS

DOCUMENTS = ("brat", "doccano", "labelstudio", "prodigy", "text")
"""Formats of raw texts."""
PROFILES = ("pssm", "hhm", "stockholm")
"""Formats of numbers along a protein or a gene."""
FORMATS = ("conll", "jsonl", "csv", "npz", "parquet", *DOCUMENTS, "fasta", *PROFILES)
OF_ENDINGS = {
    "json": "jsonl",
    "ann": "brat",
    "sto": "stockholm",
    "stk": "stockholm",
    **dict.fromkeys(("fa", "fna", "faa", "ffn"), "fasta"),
    **{ending.removeprefix("."): "parquet" for ending in ENDINGS},
}
"""Formats of endings that have another name."""


def ending_of(name: str) -> str:
    """Return what a name ends with, compressed or not."""
    return Path(name.removesuffix(".gz")).suffix.removeprefix(".").lower()


def kind_of_name(name: str) -> str | None:
    """Return the format that a name says, if it does."""
    ending = ending_of(name)
    if ending == "text":
        return None
    return OF_ENDINGS.get(ending, ending if ending in FORMATS else None)


def kind_of_file(path: Path | str, sequence: str = "sequence") -> str:
    """Return the format of a file; columns of text if nothing else is known.

    A table has a column that names the ``sequence``.
    """
    if str(path) and Path(path).is_dir():
        return "brat"
    if ending_of(str(path)) == "tsv":
        return "csv" if _has_header(path, sequence) else "conll"
    if Path(path).suffix == ".txt" and Path(path).with_suffix(".ann").is_file():
        return "brat"
    kind = kind_of_name(str(path))
    if kind is None:
        return _kind_of_pipe(path) if is_pipe(path) else "conll"
    return _kind_of_json(path) if kind == "jsonl" and Path(path).exists() else kind


def require_kind(kind: str) -> str:
    """Return the name of a format, or refuse what is none."""
    if kind not in FORMATS:
        raise InputError(f"There is no format {kind!r}; choose one of {', '.join(FORMATS)}.")
    return kind


def _has_header(path: Path | str, sequence: str) -> bool:
    """Return whether a file with tabs has a header: a first line that names the column of sequences."""
    first = next(read_lines(path, "latin-1"), None)
    return first is not None and sequence in first.text.split("\t")


def _kind_of_pipe(path: Path | str) -> str:
    """Tell objects of JSON from columns of text: names that the shell gives to pipes say nothing."""
    try:
        first = _first_line(path)
        return _kind_of_object(parse_value(first, unique_keys)) if first.startswith("{") else "conll"
    except InputError:
        return "conll"


def _kind_of_json(path: Path | str) -> str:
    """Tell the tools that write JSON apart; what is damaged is told by the reader of the plain format."""
    try:
        first = _first_line(path)
        if first.lstrip().startswith("["):
            return "labelstudio"
        return _kind_of_object(parse_value(first, unique_keys))
    except InputError:
        return "jsonl"


def _first_line(path: Path | str) -> str:
    """Return the first line that is not blank."""
    return next((line.text for line in read_lines(path, "utf-8") if line.text.strip()), "")


def _kind_of_object(value: Any) -> str:
    if not isinstance(value, dict) or not isinstance(value.get("text"), str):
        return "labelstudio" if isinstance(value, dict) and isinstance(value.get("data"), dict) else "jsonl"
    tokens = value.get("tokens")
    if isinstance(tokens, list):
        places = all(isinstance(token, dict) and {"start", "end"} <= token.keys() for token in tokens)
        return "prodigy" if places else "jsonl"
    return "doccano" if {"label", "labels", "entities"} & value.keys() else "prodigy"
