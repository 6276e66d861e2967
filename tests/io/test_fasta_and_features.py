"""FASTA, GFF3 and BED."""

from __future__ import annotations

from io import BytesIO, StringIO
from pathlib import Path

import pytest

from kernelfields.errors import InputError
from kernelfields.io import (
    LetterSequence,
    SequenceFeature,
    read_fasta,
    read_gff3,
    write_bed,
    write_fasta,
    write_gff3,
)


def test_letters_come_back(tmp_path: Path) -> None:
    given = [LetterSequence("chr1", "acgtN*-" * 50, "a plasmid"), LetterSequence("p|2", "M")]
    write_fasta(given, tmp_path / "a.fa.gz")
    assert list(read_fasta(tmp_path / "a.fa.gz")) == given


def test_lines_and_comments_do_not_matter() -> None:
    text = b"\xef\xbb\xbf;old comment\r\n>a  b c \r\nAC\r\n\r\nGT\r\n>b\nA"
    assert list(read_fasta(BytesIO(text))) == [LetterSequence("a", "ACGT", "b c"), LetterSequence("b", "A")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ACGT", "line 1: expected '>' and a name"),
        (">\nA", "line 1: no name follows"),
        (">a\n>b\nA", "line 1: 'a' has no letters"),
        (">a\nA\n>a\nC", "line 3: the name 'a' is there twice"),
        (">a\nA C", "line 2: ' ' is not a letter"),
        (">a\nAÄ", "line 2: 'Ä' is not a letter"),
    ],
)
def test_bad_fasta_is_named(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        list(read_fasta(StringIO(text)))


def test_features_come_back(tmp_path: Path) -> None:
    given = [
        SequenceFeature("chr 1;%", 0, 66, "CDS", "+", 0.25, {"ID": "a=b;c", "Note": "x, y&z"}, "me"),
        SequenceFeature("chr2", 99, 100, "tRNA", "-"),
    ]
    write_gff3(given, tmp_path / "a.gff3")
    assert [one._replace(line=0) for one in read_gff3(tmp_path / "a.gff3")] == given


def test_coordinates() -> None:
    """The first base alone: 1 to 1 in GFF3, 0 to 1 in BED."""
    out = StringIO()
    write_gff3([SequenceFeature("c", 0, 1, "CDS", "+", 0.9731)], out)
    assert out.getvalue() == "##gff-version 3\nc\t.\tCDS\t1\t1\t0.9731\t+\t.\t.\n"
    out = StringIO()
    write_bed([SequenceFeature("c", 0, 1, "CDS", "+", 0.9731), SequenceFeature("c", 4, 9, "x", "?")], out)
    assert out.getvalue() == "c\t0\t1\tCDS\t973\t+\nc\t4\t9\tx\t0\t.\n"


def test_letters_after_features_are_left_out() -> None:
    text = "##gff-version 3\n\nc\t.\tg\t1\t2\t.\t.\t.\t.\n##FASTA\n>c\nACGT\n"
    assert [one.type for one in read_gff3(StringIO(text))] == ["g"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("c\t.\tg\t0\t2\t.\t.\t.\t.", "line 1: the start is '0'"),
        ("c\t.\tg\t3\t2\t.\t.\t.\t.", "line 1: the feature ends, at 2, before it starts, at 3"),
        ("c\t.\tg\t1\t2\tnan\t.\t.\t.", "line 1: the score is 'nan'"),
        ("c\t.\tg\t1\t2\t.\tx\t.\t.", "line 1: the strand is 'x'"),
        ("c . g 1 2 . . . .", "line 1: expected 9 columns"),
        ("c\t.\tg\t1\t2\t.\t.\t.\tID", "line 1: the attribute 'ID' has no '='"),
        ("c\t.\t\t1\t2\t.\t.\t.\t.", "line 1: the name of the sequence or the type is empty"),
    ],
)
def test_bad_features_are_named(line: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        list(read_gff3(StringIO(line)))


def test_features_that_cannot_be_written_are_refused() -> None:
    with pytest.raises(InputError, match="goes from 3 to 3"):
        write_gff3([SequenceFeature("c", 3, 3, "x")], StringIO())
    with pytest.raises(InputError, match="cannot be a name in BED"):
        write_bed([SequenceFeature("c\t", 3, 4, "x")], StringIO())
