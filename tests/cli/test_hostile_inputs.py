"""Odd options, characters and files: a sentence each, never a traceback, and nothing lost."""

from __future__ import annotations

import json
from io import BytesIO, StringIO
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kernelfields import InputError
from kernelfields.cli._console import plain_console, printable
from kernelfields.cli._options import reading_of
from kernelfields.io.csv import read_csv
from kernelfields.io.gff3 import read_gff3
from kernelfields.io.jsonl import read_jsonl
from kernelfields.io.label_studio import read_label_studio
from kernelfields.io.lines import read_lines
from kernelfields.models.stream_chunks import COLUMNS, columns_within


@pytest.mark.parametrize("size", [float("inf"), 1e308])
def test_any_size(size: float) -> None:
    assert reading_of(None, "utf-8", "_", None, size).limit > 2**40


@pytest.mark.parametrize("encoding", ["undefined", "punycode", "idna", "utf-16", "hex"])
def test_encodings_that_are_none(encoding: str) -> None:
    with pytest.raises(InputError, match="encoding"):
        list(read_lines(BytesIO(b"a\n"), encoding))


def test_escape_sequences_are_shown() -> None:
    assert printable("a\x1b[2Jb\u202ec\x9bd\te\n") == "a\\x1b[2Jb\\u202ec\\x9bd\te\n"
    console = plain_console()
    with console.capture() as said:
        console.print("label \x1b]0;title\x07")
    assert "\x1b" not in said.get()
    assert "\\x1b" in said.get()


def test_keys_that_occur_twice() -> None:
    with pytest.raises(InputError, match="line 2: the key 'labels' is given twice"):
        list(read_jsonl(StringIO('{"tokens": []}\n{"tokens": ["a"], "labels": ["A"], "labels": ["B"]}\n')))


def test_regions_of_html_are_refused(tmp_path: Path) -> None:
    value = {"start": "/div[1]/text()[1]", "end": "/div[1]/text()[1]", "startOffset": 0, "endOffset": 3}
    region = {"type": "hypertextlabels", "value": value | {"hypertextlabels": ["PER"]}}
    task = {"id": 7, "data": {"text": "Ana sleeps"}, "annotations": [{"result": [region]}]}
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps([task]))
    with pytest.raises(InputError, match="region 0 has hypertextlabels"):
        list(read_label_studio(path))


def test_a_sequence_implies_fasta() -> None:
    line = "chr1\t.\tgene\t1\t9\t.\t+\t.\tID=a\n"
    assert len(list(read_gff3(StringIO(line + ">chr1\nACGT\n")))) == 1


def test_line_ends_between_quotes() -> None:
    [one] = read_csv(StringIO('sequence,label,x\n"a\nb",A,1\n"a\nb",B,2\n'))
    assert (one.name, one.labels) == ("a\nb", ["A", "B"])
    with pytest.raises(InputError, match="line 2: a quotation mark"):
        list(read_csv(StringIO('sequence,label,x\n"a,A,1\n')))


def test_fewer_columns_fit_less_memory() -> None:
    assert columns_within(2**32, 2) == COLUMNS
    assert 2**12 <= columns_within(2**30, 9) < COLUMNS


def test_texts_without_marks_are_left_out(tmp_path: Path) -> None:
    from kernelfields.cli.app import app

    source = tmp_path / "a.json"
    marked = {"data": {"text": "Ana"}, "annotations": [{"result": []}]}
    source.write_text(json.dumps([marked, {"data": {"text": "Rome"}}]))
    for ending in ("conll", "jsonl"):
        out = tmp_path / f"o.{ending}"
        result = CliRunner().invoke(app, ["convert", str(source), "-o", str(out)])
        assert result.exit_code == 0, result.output
        assert "Ana" in out.read_text()
        assert "Rome" not in out.read_text()
