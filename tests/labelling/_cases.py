"""Small things to label."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from kernelfields.features import TemplateFeatures
from kernelfields.features.sets import ner
from kernelfields.files.items import FileData, Item
from kernelfields.labelling.desk import Desk
from kernelfields.labelling.material import Material, material_of
from kernelfields.labelling.opening import open_desk
from kernelfields.labelling.settings import DeskSettings
from kernelfields.labelling.tags import Tags

PEOPLE = ["Ada", "Emmy", "Kurt", "Alan"]
PLACES = ["Rome", "Oslo", "Lima", "Bonn"]
VERBS = ["saw", "left", "liked"]
TAGS = Tags(("PER", "LOC"), spans=True)


def sentences(count: int, seed: int = 0) -> tuple[list[list[str]], list[list[str]]]:
    """Return sentences with people and places, some of two words, and their tags."""
    rng = np.random.default_rng(seed)
    words, tags = [], []
    for _ in range(count):
        person, place = rng.choice(PEOPLE), rng.choice(PLACES)
        second = rng.random() < 0.5
        words.append([person, *(["Noether"] if second else []), rng.choice(VERBS), "old", place, "."])
        tags.append(["B-PER", *(["I-PER"] if second else []), "O", "O", "B-LOC", "O"])
    return [list(map(str, one)) for one in words], tags


def text_material(count: int = 30, seed: int = 0) -> tuple[Material, list[list[str]]]:
    """Return sentences to label, and their tags."""
    words, tags = sentences(count, seed)
    data = FileData([Item(x, None, x, None) for x in words], "jsonl")
    return material_of(data, TemplateFeatures(ner(False), dtype=np.float32)), tags


def number_material(count: int = 20, seed: int = 0) -> tuple[Material, list[list[str]]]:
    """Return rows of numbers whose sign is their label."""
    rng = np.random.default_rng(seed)
    rows = [rng.normal(size=(int(rng.integers(2, 9)), 3)) for _ in range(count)]
    data = FileData([Item(x, None, [str(t) for t in range(len(x))], None) for x in rows], "npz")
    return material_of(data), [["up" if row[0] > 0 else "down" for row in x] for x in rows]


def open_text(folder: Path, count: int = 30, **settings: Any) -> tuple[Desk, list[list[str]]]:
    """Return a desk with sentences."""
    material, tags = text_material(count)
    check = settings.pop("check", None)
    desk = open_desk(material, folder / "journal", lambda: TAGS, DeskSettings(**settings), check=check)
    return desk, tags


def settle(desk: Desk) -> None:
    """Wait until the model has learnt all it can."""
    assert desk.trainer.wait(desk._taught, 60, settled=True)
