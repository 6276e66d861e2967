"""What ``kf label`` labels: any file that ``kf`` reads, plain text, or the letters of the package."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from ..datasets import load_letters
from ..errors import InputError
from ..files.items import FileData, Item
from ..files.kinds import ending_of
from ..files.reading import Reading, read_items
from ..files.tagged_text import TaggedText
from ..labelling.material import Material, material_of
from ._token_features import features_of

LETTERS = "letters"
"""The name of the letters of the package, unless a file has it."""
TOKENS = ("words", "blanks")
"""What plain text is cut into: words and marks, or all that stands between blanks."""
SIDES = re.compile(r"(\d{1,4})[x×](\d{1,4})")


def read_material(
    name: Path,
    reading: Reading,
    labelled: bool,
    image: str | None,
    features: str | None,
    spans: bool | None,
    tokens: str = "words",
) -> Material:
    """Read sequences, with features of all of them."""
    if tokens not in TOKENS:
        raise InputError(f"--tokens is {tokens!r}; it must be one of {', '.join(TOKENS)}.")
    if str(name) == LETTERS and not name.exists():
        if image is not None or features is not None:
            raise InputError("The letters of the package need neither --image nor --features.")
        return material_of(_letters(), shape=(16, 8))
    shape = None if image is None else _shape(image)
    data = _read(name, reading, labelled, tokens)
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


def _read(name: Path, reading: Reading, labelled: bool, tokens: str) -> FileData:
    if not name.exists():
        raise InputError(f"There is no file {name}.")
    plain = ending_of(name.name) == "txt" and reading.format is None
    kind = "text" if plain else reading.kind(name)
    items = list(read_items(name, kind, reading, labelled=labelled or kind != "conll"))
    if not items:
        raise InputError(f"{name} has no sequences.")
    return FileData([_at_blanks(item) for item in items] if tokens == "blanks" else items, kind)


def _at_blanks(item: Item) -> Item:
    """Return a text whose tokens are all that stands between blanks."""
    if not isinstance(item.source, TaggedText):
        raise InputError("--tokens blanks is for plain text, a sentence per line; other files have tokens.")
    text = item.source.document.text
    places = [found.span() for found in re.finditer(r"\S+", text)]
    words = [text[start:end] for start, end in places]
    return Item(words, None, words, replace(item.source, places=places))


def _shape(image: str) -> tuple[int, int]:
    found = SIDES.fullmatch(image)
    if found is None or not int(found[1]) * int(found[2]):
        raise InputError(f"--image is {image!r}; it must be height and width, as in 16x8.")
    return int(found[1]), int(found[2])
