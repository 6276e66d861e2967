"""The originals beside ours."""

import ctypes
import platform
import re

import pytest

from kernelfields.compat import pycrfsuite as ours

theirs = pytest.importorskip("pycrfsuite")

BOTH = pytest.mark.parametrize("module", [theirs, ours], ids=["original", "compat"])

same_shuffle = pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc", reason="CRFsuite shuffles with the numbers of the C library."
)


def as_in_a_new_process():
    """Let the C library's random numbers begin anew, as those of compat do at every training."""
    if platform.libc_ver()[0] == "glibc":
        ctypes.CDLL(None).srand(1)


def messages(module, X, y, path, algorithm, params, held_out=None):
    """Train; give all that was said."""
    said = []

    class Listening(module.BaseTrainer):
        def message(self, message):
            said.append(message)

    trainer = Listening(algorithm=algorithm, params=params)
    for xseq, yseq in zip(X, y, strict=True):
        trainer.append(xseq, yseq)
    for xseq, yseq in zip(*held_out, strict=True) if held_out else ():
        trainer.append(xseq, yseq, 1)
    as_in_a_new_process()
    trainer.train(str(path), 1 if held_out else -1)
    return said


def tagger(module, path):
    result = module.Tagger()
    result.open(str(path))
    return result


def without_seconds(said):
    """Texts and numbers of messages, times left out.

    Counts of weights that are not zero are left out too: what is zero in one sum is 1e-17 in another.
    """
    text = re.sub(r"(econds required[^:]*: |ctive \w+: )[\d.]+", r"\1", "".join(said))
    parts = re.split(r"(-?\d+\.\d+)", text)
    return parts[::2], [float(number) for number in parts[1::2]]
