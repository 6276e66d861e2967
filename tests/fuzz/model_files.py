"""Fuzz the reader of model files with atheris (``pip install atheris``):

    python -m tests.fuzz.model_files FOLDER -max_total_time=600

Seeds are the files of ``tests/regression``; FOLDER takes what libFuzzer finds interesting, of which
``corpus`` has some. A file is read
or refused by `ModelFormatError`; a model that was read may refuse to predict, but must not crash, and
nothing may take more than the memory below.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import warnings
from pathlib import Path
from types import FunctionType

import atheris
import numpy as np

import kernelfields
from kernelfields.errors import ModelFormatError
from tests.fuzz.mutations import mutate, repair

SEEDS = Path(__file__).parents[1] / "regression"
MEMORY = 4 * 2**30
PLACE = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None)) / "model.kf"
counts = {"tried": 0, "read": 0, "predicted": 0}


def one(content: bytes) -> None:
    """Read it, and if it is a model, use it."""
    counts["tried"] += 1
    if counts["tried"] % 10_000 == 0:
        print(counts, flush=True)
    PLACE.write_bytes(content)
    try:
        model = kernelfields.load(PLACE)
    except ModelFormatError:
        return
    counts["read"] += 1
    width = getattr(model, "n_features_in_", 0)
    inputs = [np.zeros((2, width))] if isinstance(width, int) and 0 <= width < 1000 else []
    words = [["the", "cat"]] if getattr(model, "features_", None) is not None else inputs
    try:
        model.predict(words)
        counts["predicted"] += 1
    except MemoryError:
        raise
    except Exception:  # settings that no model has are refused when they are used
        return


def change(content: bytes, size: int, seed: int) -> bytes:
    """Mostly what gets past the checksums."""
    if seed % 4 == 0:
        return bytes(atheris.Mutate(content, size))
    if seed % 4 == 1:
        return repair(bytes(atheris.Mutate(content, size)))[:size]
    return mutate(content, seed)[:size]


def instrument() -> None:
    """Have the reader tell where it goes; atheris cannot do so itself in an editable install."""
    for name, module in list(sys.modules.items()):
        if name.startswith(("kernelfields.io", "kernelfields.persistence")):
            own = [thing for thing in vars(module).values() if getattr(thing, "__module__", "") == name]
            methods = [part for thing in own if isinstance(thing, type) for part in vars(thing).values()]
            for thing in (*own, *methods):
                if isinstance(thing, FunctionType):
                    atheris.instrument_func(thing)


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")
    instrument()
    arguments = [sys.argv[0], *sys.argv[1:], str(SEEDS), "-max_len=65536"]
    atheris.Setup(arguments, one, custom_mutator=change)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
