"""Profiles of proteins: matrices of PSI-BLAST, models of HH-suite, alignments."""

from __future__ import annotations

import gzip
from collections import Counter
from io import StringIO
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from kernelfields.errors import InputError
from kernelfields.io import read_hhm, read_pssm, read_stockholm
from kernelfields.io.hhm import LETTERS
from kernelfields.io.profiles import AMINO_ACIDS

HEAD = "\nLast position-specific scoring matrix computed\n           " + "   ".join(AMINO_ACIDS * 2) + "\n"
STATISTICS = "\n                      K         Lambda\nStandard Ungapped    0.1345     0.3176\n"


def pssm_text(scores: np.ndarray, letters: str) -> str:
    rows = [
        f"{t:5d} {letter} "
        + "".join(f"{x:4d}" for x in row)
        + "".join(f"{5:4d}" for _ in row)
        + "  0.56 0.34"
        for t, (letter, row) in enumerate(zip(letters, scores.tolist(), strict=True), 1)
    ]
    return HEAD + "\n".join(rows) + "\n" + STATISTICS


def test_real_matrices_come_back(tmp_path: Path, sample_dir: Path) -> None:
    """Proteins of JPred 4, in the columns that PSI-BLAST writes."""
    with np.load(sample_dir / "jpred4" / "jpred4_pssm.npz") as file:
        ends, scores, seq = file["offsets"][:6], file["pssm"], file["seq"].tobytes().decode()
    for start, end in pairwise(ends.tolist()):
        path = tmp_path / "1abc.pssm"
        path.write_text(pssm_text(scores[start:end], seq[start:end]))
        found = read_pssm(path)
        assert (found.name, found.letters, found.columns) == ("1abc", seq[start:end], tuple(AMINO_ACIDS))
        np.testing.assert_array_equal(found.numbers, scores[start:end])
        both = read_pssm(path, percentages=True)
        assert both.numbers.shape == (end - start, 40)
        assert (both.numbers[:, 20:] == 5).all()


def test_profiles_of_real_alignments(tmp_path: Path, sample_dir: Path) -> None:
    """An alignment of CB513 with 20 sequences or more: its most frequent letters are the most probable."""
    with gzip.open(sample_dir / "cb513" / "cb513_alignments.txt.gz", "rt") as file:
        chains = [part.splitlines()[1:] for part in file.read(300_000).split(">")]
    lines = next(one for one in chains if len(one) > 24)
    rows = dict(line.split("\t") for line in lines)
    aligned = {name: row for name, row in rows.items() if name.startswith("align")}
    text = "# STOCKHOLM 1.0\n" + "".join(f"{name} {row}\n" for name, row in aligned.items())
    text += f"#=GR {next(iter(aligned))} SS {rows['DSSP']}\n//\n"
    [found] = read_stockholm(StringIO(text))
    assert found.letters == next(iter(aligned.values()))
    assert found.labels == list(rows["DSSP"])
    np.testing.assert_allclose(found.numbers[:, :20].sum(axis=1), 1)
    top = [found.columns[k] for k in found.numbers[:, :20].argmax(axis=1)]
    counted = [Counter(column).most_common(1)[0][0] for column in zip(*aligned.values(), strict=True)]
    same = [a == b for a, b in zip(top, counted, strict=True) if b in AMINO_ACIDS]
    assert sum(same) > 0.8 * len(same) > 0


def test_scores_without_spaces_between_them() -> None:
    text = HEAD + "    1 M " + "-10-11" + "  0" * 18 + "  5" * 20 + "  0.5 inf\n"
    assert read_pssm(StringIO(text)).numbers[0, :3].tolist() == [-10, -11, 0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: not a matrix of PSI-BLAST: there is no line with the twenty"),
        (HEAD, "there are no residues"),
        (HEAD + "    2 M" + "   1" * 20, "line 4: residue 2 follows residue 0"),
        (HEAD + "    1 M" + "   1" * 19, "line 4: expected 20 or 42 numbers"),
        (HEAD + "    1 M" + "   1" * 19 + " x", "line 4: expected 20 or 42 numbers"),
        (HEAD + "    1 M" + "   1" * 20 + "\n    2 M" + "   1" * 40, "line 5: expected 20 numbers"),
        (HEAD + "    1 M" + "   1" * 19 + " inf", "line 4: a score is not finite"),
        (HEAD + "hello\n", "line 4: expected a number and an amino acid"),
    ],
)
def test_bad_matrices_are_named(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_pssm(StringIO(text))


def hhm_text(labels: str = ">ss_dssp x\nC-\n") -> str:
    start = f"HHsearch 1.5\nNAME  d1 b.1\nSEQ\n{labels}>d1\nQL\n#\nNULL {'3706 ' * 20}\n"
    start += f"HMM    {'  '.join(LETTERS)}\n       M->M M->I M->D I->M I->I D->M D->D Neff Neff_I Neff_D\n"
    start += "       0 * * 0 * 0 * * * *\n"
    rows = [f"Q 1    {'1000 ' * 2}{'* ' * 18}1\n       0 * * * * * * 2500 0 0\n\n"]
    rows += [f"L 2    {'* ' * 19}0 2\n       0 * 3000 * * * * 1000 0 0\n\n"]
    return start + "".join(rows) + "//\n"


def test_models_of_hh_suite() -> None:
    [found] = read_hhm(StringIO(hhm_text()))
    assert (found.name, found.letters, found.labels) == ("d1", "QL", ["C", None])
    assert found.numbers.shape == (2, 30)
    assert found.numbers[0, :3].tolist() == [0.5, 0.5, 0.0]
    assert found.numbers[1, 19] == 1.0
    row = dict(zip(found.columns, found.numbers[1].tolist(), strict=True))
    assert (row["M->M"], row["M->D"], row["Neff"]) == (1.0, 0.125, 1.0)
    assert len(list(read_hhm(StringIO(hhm_text("") * 2)))) == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("//\n", ""), "the model ends without '//'"),
        (("HMM ", "HMN "), "the model has no line 'HMM'"),
        (("L 2 ", "L 3 "), "expected residue 2"),
        (("C-\n", "C\n"), "ss_dssp has 1 letters, but there are 2 residues"),
        (("2500", "x"), "expected 10 numbers or '[*]'"),
        (("HMM    A", "HMM    Z"), "expected the amino acids"),
    ],
)
def test_bad_models_are_named(change: tuple[str, str], message: str) -> None:
    with pytest.raises(InputError, match=rf"line \d+: .*{message}"):
        list(read_hhm(StringIO(hhm_text().replace(*change))))


ALIGNED = "# STOCKHOLM 1.0\n#=GF ID glob\ns1  MK-L\ns2  MKAL\n\ns1  V\n#=GR s1 SS HHHCE\ns2  -\n//\n"


def test_profiles_of_alignments() -> None:
    [found] = read_stockholm(StringIO(ALIGNED), pseudocounts=1e-9)
    assert (found.name, found.letters, found.labels) == ("glob", "MKLV", ["H", "H", "C", "E"])
    np.testing.assert_allclose(found.numbers.sum(axis=1) - found.numbers[:, -1], 1)
    for t, letter in enumerate("MKLV"):
        assert found.numbers[t, found.columns.index(letter)] == pytest.approx(1, abs=1e-6)
    assert found.numbers[:3, -1].tolist() == [0, 0, 0]
    assert 0 < found.numbers[3, -1] < 1


def test_pseudocounts_and_weights() -> None:
    """Three equal sequences and another: position-based weights give each half 3/2 to 5/2 of the counts."""
    text = "# STOCKHOLM 1.0\na ACGT\nb ACGT\nc ACGT\nd AGGT\n//\n"
    [found] = read_stockholm(StringIO(text), pseudocounts=2.0)
    # weights: column 2 gives a-c 1/(2·3), d 1/2; the others 1/4 each
    raw = np.array([3 / 4 + 1 / 6] * 3 + [3 / 4 + 1 / 2])
    w = raw / raw.mean()
    counts = np.zeros((4, 4))
    for weight, row in zip(w, ["ACGT", "ACGT", "ACGT", "AGGT"], strict=True):
        for t, letter in enumerate(row):
            counts[t, "ACGT".index(letter)] += weight
    q = (counts.sum(axis=0) + 1) / (counts.sum() + 4)
    expected = (counts + 2 * q) / (counts.sum(axis=1, keepdims=True) + 2)
    assert found.columns == (*"ACGT", "gap")
    np.testing.assert_allclose(found.numbers[:, :4], expected)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("s1 AC\n//", "line 1: expected '# STOCKHOLM 1.0'"),
        ("# STOCKHOLM 1.0\ns1 AC\ns2 A\n//", "line 3: 's2' has 1 columns, but the first sequence has 2"),
        ("# STOCKHOLM 1.0\ns1 AC\n", "line 2: the alignment ends without"),
        ("# STOCKHOLM 1.0\n//", "line 1: the alignment has no sequences"),
        ("# STOCKHOLM 1.0\ns1 A C\n//", "line 2: expected a name and letters"),
        ("# STOCKHOLM 1.0\ns1 --\n//", "no column of the alignment counts"),
        ("# STOCKHOLM 1.0\ns1 AC\n#=GC RF x\n//", "#=GC RF has 1 columns"),
        ("# STOCKHOLM 1.0\ns1 AC\n#=GC SS_cons x\n//", "the secondary structure of 's1' has 1 columns"),
    ],
)
def test_bad_alignments_are_named(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        list(read_stockholm(StringIO(text)))
