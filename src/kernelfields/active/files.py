"""Active learners as folders: the labels that were told, and the last model."""

from __future__ import annotations

import json
import os
from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import Any

from ..errors import InputError, ModelFormatError
from ..estimators import load
from ..fitting.digest import digest
from .pool import LabelPool

LABELS, MODEL, FORMAT = "labels.json", "model.kf", 1


def write_learner(
    folder: str | os.PathLike[str], pool: LabelPool, skipped: Iterable[tuple[int, int | None]], model: Any
) -> None:
    """Write labels and model; the labels appear last and at once, and belong to the model beside them."""
    place = Path(folder)
    names = list(dict.fromkeys(label for one in pool.labels for label in one if label is not None))
    odd = next((name for name in names if type(name) not in (str, int, float, bool)), None)
    if odd is not None:
        raise InputError(f"The label {odd!r} cannot be saved: labels must be texts or numbers.")
    index: dict[Hashable, int | None] = {name: k for k, name in enumerate(names)}
    index[None] = None
    place.mkdir(parents=True, exist_ok=True)
    if model is not None:
        model.save(place / MODEL)
    content = {
        "format": FORMAT,
        "pool": digest([pool.X]),
        "names": names,
        "labels": [[index[label] for label in one] for one in pool.labels],
        "skipped": sorted([list(one) for one in skipped], key=repr),
        "model": model is not None,
    }
    draft = place / (LABELS + ".new")
    draft.write_text(json.dumps(content), encoding="utf-8")
    draft.replace(place / LABELS)


def read_learner(folder: str | os.PathLike[str], pool: LabelPool) -> tuple[list[Any], Any]:
    """Give a pool its labels; return the questions nobody could answer, and the model."""
    place = Path(folder)
    try:
        content = json.loads((place / LABELS).read_text(encoding="utf-8"))
        names, labels, skipped = content["names"], content["labels"], content["skipped"]
        read = [[None if k is None else names[k] for k in one] for one in labels]
        known = content["format"] == FORMAT
        same = content["pool"] == digest([pool.X]) and [*map(len, read)] == [*map(len, pool.labels)]
        fitted = content["model"]
    except OSError as error:
        raise InputError(f"The labels in {place} cannot be read: {error}.") from None
    except (ValueError, LookupError, TypeError) as error:
        raise ModelFormatError(f"{place / LABELS} holds no labels of an active learner: {error!r}.") from None
    if not known:
        raise ModelFormatError(f"{place / LABELS} has format {content['format']}; this one reads {FORMAT}.")
    if not same:
        raise InputError(f"The labels in {place} are those of another pool.")
    model = load(place / MODEL) if fitted else None
    pool.labels = read
    return skipped, model
