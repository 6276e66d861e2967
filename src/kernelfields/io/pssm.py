"""Position-specific scoring matrices as PSI-BLAST writes them (``-out_ascii_pssm``).

               A   R   N   D  …   V    A   R   N   D  …   V
    1 M       -1  -2  -2  -3  …   1    0   0   0   0  …   0  0.56 0.34

Twenty log-odds in half bits, the percentages of the amino acids, information and weight.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from ..errors import quoted
from .lines import Source, TextLine, error_at, name_of, read_lines
from .profiles import AMINO_ACIDS, ResidueProfile

_ROW = re.compile(r"\s*(\d{1,9})\s+([A-Za-z*])\s+(.*)", re.ASCII)
_NUMBER = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+|inf|nan)", re.ASCII | re.IGNORECASE)
SIZES = (20, 40, 41, 42, 44)
"""Numbers that versions of the program write per residue."""
PERCENT = "%"


def read_pssm(source: Source, *, percentages: bool = False) -> ResidueProfile:
    """Read the matrix of one protein.

    Malformed input raises an `InputError` that names file, line and reason.

    Parameters
    ----------
    source : path, or file opened for reading
        A path that ends with .gz is decompressed. The protein is called as the file is.
    percentages : bool
        Whether the observed percentages follow the log-odds, as further columns.
    """
    order: list[str] = []
    letters: list[str] = []
    rows: list[list[float]] = []
    file, count = name_of(source), 0
    for line in read_lines(source, "utf-8"):
        words = line.text.split()
        if not order:
            order = words[:20] if sorted(words[:20]) == sorted(AMINO_ACIDS) else order
            continue
        found = _ROW.fullmatch(line.text)
        if found is None:
            if words and not letters:
                raise line.error(f"expected a number and an amino acid, but found {quoted(line.text)}.")
            if letters:
                break  # statistics follow
            continue
        if int(found[1]) != len(letters) + 1:
            raise line.error(f"residue {found[1]} follows residue {len(letters)}.")
        numbers = _numbers(line, found[3], count)
        count = len(numbers)
        if percentages and count < 40:
            raise line.error("the matrix has no percentages.")
        letters.append(found[2])
        rows.append(numbers[: 40 if percentages else 20])
    if not letters:
        reason = "there is no line with the twenty amino acids" if not order else "there are no residues"
        raise error_at(file, 1, f"not a matrix of PSI-BLAST: {reason}.")
    columns = (*order, *(f"{PERCENT}{letter}" for letter in order)) if percentages else tuple(order)
    return ResidueProfile(_stem(file), "".join(letters), np.array(rows, dtype=np.float64), columns)


def _numbers(line: TextLine, text: str, count: int) -> list[float]:
    """Return the numbers of a residue, which old versions write without spaces before a minus."""
    numbers = [float(number) for number in _NUMBER.findall(text)]
    if _NUMBER.sub("", text).strip() or len(numbers) not in SIZES or (count and len(numbers) != count):
        wanted = str(count) if count else "20 or 42"
        raise line.error(f"expected {wanted} numbers, but found {quoted(text)}.")
    if not np.isfinite(numbers[:40]).all():
        raise line.error("a score is not finite.")
    return numbers


def _stem(file: str) -> str:
    return Path(file.removesuffix(".gz")).stem or "profile"
