"""Profile hidden Markov models of HH-suite (.hhm).

    NAME  d1mvfd_
    SEQ
    >ss_dssp
    CCEEE
    >d1mvfd_
    QLRWE
    #
    HMM    A  C  D  …  Y
           M->M  M->I  …  Neff_D
           0  *  *  …
    Q 1    *  *  4321  …  1
           0  *  *  …
    //

A number v stands for the probability 2^(−v/1000), "*" for 0; the numbers of effective sequences (Neff) are
in thousandths.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from ..errors import quoted
from .lines import Source, TextLine, read_lines
from .profiles import GAPS, ResidueProfile

TRANSITIONS = ("M->M", "M->I", "M->D", "I->M", "I->I", "D->M", "D->D")
EFFECTIVE = ("Neff", "Neff_I", "Neff_D")
LETTERS = "ACDEFGHIKLMNPQRSTVWY"
STRUCTURE = "ss_dssp"
"""The sequence among those of SEQ that has labels."""
_VALUE = re.compile(r"\*|\d{1,9}", re.ASCII)


def read_hhm(source: Source) -> Iterator[ResidueProfile]:
    """Read models one by one: rows of 20 probabilities of amino acids, 7 of transitions, and 3 of Neff.

    Secondary structure by DSSP, if the file has it, is the labels. Malformed input raises an `InputError`
    that names file, line and reason.

    Parameters
    ----------
    source : path, or file opened for reading
        A path that ends with .gz is decompressed.
    """
    lines: list[TextLine] = []
    for line in read_lines(source, "utf-8"):
        if line.text.startswith("//"):
            if lines:
                yield _profile(lines)
            lines = []
        elif line.text.strip():
            lines.append(line)
    if lines:
        raise lines[-1].error("the model ends without '//'.")


def _profile(lines: list[TextLine]) -> ResidueProfile:
    starts = [n for n, line in enumerate(lines) if line.text.startswith("HMM ")]
    if not starts:
        raise lines[0].error("the model has no line 'HMM' with the amino acids.")
    first = starts[0]
    if "".join(lines[first].text.split()[1:]) != LETTERS:
        raise lines[first].error(f"expected the amino acids {' '.join(LETTERS)}.")
    body = lines[first + 3 :]
    if len(lines) < first + 3 or len(body) % 2 or not body:
        raise lines[-1].error("expected two lines for every residue after 'HMM' and two more.")
    letters: list[str] = []
    rows: list[list[float]] = []
    for above, below in zip(body[::2], body[1::2], strict=True):
        letters.append(_residue(above, len(letters) + 1))
        emitted = _values(above, above.text.split()[2:22], 20)
        moved = _values(below, below.text.split(), 10)
        rows.append(
            [_probability(v) for v in (*emitted, *moved[:7])] + [v / 1000 for v in map(_count, moved[7:])]
        )
    name = next(
        (
            line.text.split()[1]
            for line in lines
            if line.text.startswith("NAME ") and len(line.text.split()) > 1
        ),
        "",
    )
    labels = _labels(lines[:first], len(letters))
    return ResidueProfile(
        name or "profile", "".join(letters), np.array(rows), (*LETTERS, *TRANSITIONS, *EFFECTIVE), labels
    )


def _residue(line: TextLine, number: int) -> str:
    words = line.text.split()
    if len(words) < 22 or len(words[0]) != 1 or words[1] != str(number):
        raise line.error(f"expected residue {number} and 20 numbers, but found {quoted(line.text)}.")
    return words[0]


def _values(line: TextLine, words: list[str], count: int) -> list[str]:
    if len(words) != count or not all(_VALUE.fullmatch(word) for word in words):
        raise line.error(f"expected {count} numbers or '*', but found {quoted(line.text)}.")
    return words


def _probability(word: str) -> float:
    return 0.0 if word == "*" else float(2.0 ** (-int(word) / 1000))


def _count(word: str) -> int:
    return 0 if word == "*" else int(word)


def _labels(lines: list[TextLine], length: int) -> list[str | None] | None:
    """Return the secondary structure of the residues, which the gaps of its line are not."""
    parts: list[str] | None = None
    last: TextLine | None = None
    for line in lines:
        if line.text.startswith(">"):
            if parts is not None:
                break
            if line.text[1:].split()[:1] == [STRUCTURE]:
                parts, last = [], line
        elif line.text.startswith("#"):
            break
        elif parts is not None:
            parts.append(line.text.strip())
    if parts is None or last is None:
        return None
    text = "".join(parts)
    if len(text) != length:
        raise last.error(f"{STRUCTURE} has {len(text)} letters, but there are {length} residues.")
    return [None if letter in GAPS else letter for letter in text]
