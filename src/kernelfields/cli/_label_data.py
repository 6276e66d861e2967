"""What ``kf label`` labels: any file that ``kf`` reads, plain text, or the letters of the package."""

from __future__ import annotations

import re
from pathlib import Path

from ..datasets import load_letters
from ..errors import InputError
from ..files.items import FileData, Item
from ..files.kinds import ending_of
from ..files.reading import Reading, read_items
from ..labelling.material import Material, material_of
from ._token_features import features_of

LETTERS = "letters"
"""The name of the letters of the package, unless a file has it."""
SIDES = re.compile(r"(\d{1,4})[x×](\d{1,4})")


def read_material(
    name: Path, reading: Reading, labelled: bool, image: str | None, features: str | None, spans: bool | None
) -> Material:
    """Read sequences, with features of all of them."""
    if str(name) == LETTERS and not name.exists():
        if image is not None or features is not None:
            raise InputError("The letters of the package need neither --image nor --features.")
        return material_of(_letters(), shape=(16, 8))
    shape = None if image is None else _shape(image)
    data = _read(name, reading, labelled)
    if data.is_text and features is None and not data.known:
        features = "pos" if spans is False else "ner"
    return material_of(data, features_of(data, features), shape)


def default_labels(name: Path) -> list[str] | None:
    """Return the labels of the letters of the package; None for other data."""
    is_letters = str(name) == LETTERS and not name.exists()
    return list("abcdefghijklmnopqrstuvwxyz") if is_letters else None


def journal_of(name: Path) -> Path:
    """Return where labels go unless somebody says it: beside the data."""
    place = name.resolve() if name.name in ("", "..") else name
    return place.with_name(place.name + ".labels")


def _letters() -> FileData:
    words = load_letters().images
    return FileData([Item(x, None, [str(t) for t in range(len(x))], None) for x in words], "npz")


def _read(name: Path, reading: Reading, labelled: bool) -> FileData:
    if not name.exists():
        raise InputError(f"There is no file {name}.")
    plain = ending_of(name.name) == "txt" and reading.format is None
    kind = "text" if plain else reading.kind(name)
    items = list(read_items(name, kind, reading, labelled=labelled or kind != "conll"))
    if not items:
        raise InputError(f"{name} has no sequences.")
    return FileData(items, kind)


def _shape(image: str) -> tuple[int, int]:
    found = SIDES.fullmatch(image)
    if found is None or not int(found[1]) * int(found[2]):
        raise InputError(f"--image is {image!r}; it must be height and width, as in 16x8.")
    return int(found[1]), int(found[2])
