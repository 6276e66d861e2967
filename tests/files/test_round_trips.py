"""Marked texts come back from every tool's files, to the character."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kernelfields.errors import InputError
from kernelfields.io import TextDocument, TextSpan, write_doccano

from ._documents import TOOLS, places, random_document, real_documents


@pytest.mark.parametrize("tool", TOOLS)
def test_odd_texts_come_back(tool: str, tmp_path: Path) -> None:
    """Astral characters, marks, CRLF, spans that overlap and cut words; gaps where the tool has them."""
    read, write, name = TOOLS[tool]
    given = [random_document(seed, gaps=tool == "brat") for seed in range(150)]
    assert any(one.pieces for doc in given for one in doc.spans or ()) == (tool == "brat")
    write(given, tmp_path / name)
    found = list(read(tmp_path / name))
    assert [one.text for one in found] == [one.text for one in given]
    assert [places(one) for one in found] == [places(one) for one in given]
    if tool not in ("doccano",):  # which has no place for them
        sure = [span.probability for one in found for span in one.spans or ()]
        assert sure == [span.probability for one in given for span in one.spans or ()]


@pytest.mark.parametrize("tool", TOOLS)
def test_real_sentences_come_back_and_files_are_stable(tool: str, tmp_path: Path, sample_dir: Path) -> None:
    read, write, name = TOOLS[tool]
    given = real_documents(sample_dir)
    assert sum(len(one.spans or ()) for one in given) > 300
    write(given, tmp_path / name)
    found = list(read(tmp_path / name))
    assert [(one.text, places(one)) for one in found] == [(one.text, places(one)) for one in given]
    (tmp_path / "again").mkdir()
    write(found, tmp_path / "again" / name)
    files = [path for path in (tmp_path / name, *(tmp_path / name).glob("*")) if path.is_file()]
    for path in files:
        assert path.read_bytes() == (tmp_path / "again" / path.relative_to(tmp_path)).read_bytes()


@pytest.mark.parametrize("tool", TOOLS)
def test_texts_nobody_looked_at_stay_so(tool: str, tmp_path: Path) -> None:
    read, write, name = TOOLS[tool]
    write([TextDocument("one"), TextDocument("two", None)], tmp_path / name)
    assert [one.spans for one in read(tmp_path / name)] == [(), None]


@pytest.mark.parametrize("tool", ["doccano", "labelstudio", "prodigy"])
def test_gaps_without_a_place_are_refused(tool: str, tmp_path: Path) -> None:
    gap = TextDocument("a b c", (TextSpan(0, 5, "X", None, ((0, 1), (4, 5))),))
    with pytest.raises(InputError, match=r"'X' at offset 0 has gaps"):
        TOOLS[tool][1]([gap], tmp_path / "x.json")


def test_other_keys_of_a_tool_are_kept_but_not_those_of_another(tmp_path: Path) -> None:
    line = {"text": "Ana ran", "id": 7, "label": [[0, 3, "PER"]], "Comments": ["x"]}
    (tmp_path / "a.jsonl").write_text(json.dumps(line) + "\n")
    read, write, _ = TOOLS["doccano"]
    write(read(tmp_path / "a.jsonl"), tmp_path / "b.jsonl")
    assert json.loads((tmp_path / "b.jsonl").read_text()) == line
    TOOLS["prodigy"][1](read(tmp_path / "a.jsonl"), tmp_path / "c.jsonl")
    assert "Comments" not in json.loads((tmp_path / "c.jsonl").read_text())


def test_relations_of_doccano_refer_to_the_same_spans(tmp_path: Path) -> None:
    entity = {"id": 41, "label": "PER", "start_offset": 0, "end_offset": 3}
    line = {
        "text": "Ana ran",
        "entities": [entity],
        "relations": [{"id": 0, "from_id": 41, "to_id": 41, "type": "r"}],
    }
    (tmp_path / "a.jsonl").write_text(json.dumps(line) + "\n")
    read, write, _ = TOOLS["doccano"]
    [document] = read(tmp_path / "a.jsonl")
    write([replace(document, spans=(*(document.spans or ()), TextSpan(4, 7, "V")))], tmp_path / "b.jsonl")
    found = json.loads((tmp_path / "b.jsonl").read_text())
    assert found["relations"] == line["relations"]
    first, second = (one["id"] for one in found["entities"])
    assert first == 41 < second


def test_utf16_offsets_of_doccano(tmp_path: Path) -> None:
    """The text and the offsets of a report about doccano 1.8: an emoji counts twice there."""
    text = "👨🏻\u200d🚒 firemen drive firetrucks"
    (tmp_path / "a.jsonl").write_text(json.dumps({"text": text, "label": [[22, 32, "X"]]}))
    [document] = TOOLS["doccano"][0](tmp_path / "a.jsonl", offsets="utf-16")
    span = document.spans[0]
    assert (span.start, span.end, text[span.start : span.end]) == (19, 29, "firetrucks")
    with pytest.raises(InputError, match=r"a.jsonl, line 1: the span 'X' goes from start 22 to end 32"):
        list(TOOLS["doccano"][0](tmp_path / "a.jsonl"))
    (tmp_path / "a.jsonl").write_text(json.dumps({"text": text, "label": [[1, 32, "X"]]}))
    with pytest.raises(InputError, match="inside of a character"):
        list(TOOLS["doccano"][0](tmp_path / "a.jsonl", offsets="utf-16"))


def studio(start: int, end: int, words: str, text: str = "💩This is an annotation.") -> Any:
    value = {"start": start, "end": end, "text": words, "labels": ["A"]}
    region = {"id": "r", "from_name": "n", "to_name": "t", "type": "labels", "value": value}
    return [{"id": 1, "data": {"text": text}, "annotations": [{"result": [region]}]}]


@pytest.mark.parametrize(("start", "end"), [(12, 22), (13, 23)])
def test_offsets_of_label_studio_are_those_of_its_words(start: int, end: int, tmp_path: Path) -> None:
    """Older versions count UTF-16, as in the report whose text this is."""
    (tmp_path / "a.json").write_text(json.dumps(studio(start, end, "annotation")))
    [document] = TOOLS["labelstudio"][0](tmp_path / "a.json")
    assert places(document) == [(12, 22, "A", ())]


def test_words_of_label_studio_that_are_elsewhere_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(studio(3, 7, "annotation")))
    with pytest.raises(
        InputError, match=r"a.json, task 0: region 0 has the offsets 3 and 7, where the text is"
    ):
        list(TOOLS["labelstudio"][0](tmp_path / "a.json"))


def test_the_annotation_of_label_studio_that_counts(tmp_path: Path) -> None:
    [task] = studio(1, 5, "This")
    region = task["annotations"][0]["result"]
    cancelled, second = {"result": [], "was_cancelled": True}, {"result": [], "ground_truth": True}
    tasks = [
        {**task, "annotations": [cancelled, {"result": region}]},
        {**task, "annotations": [{"result": region}, second]},
        {**task, "annotations": [cancelled]},
        {**task, "annotations": []},
    ]
    (tmp_path / "a.json").write_text(json.dumps(tasks))
    found = list(TOOLS["labelstudio"][0](tmp_path / "a.json"))
    assert [None if one.spans is None else len(one.spans) for one in found] == [1, 0, None, None]
    TOOLS["labelstudio"][1](found, tmp_path / "b.json", predictions=True)
    again = json.loads((tmp_path / "b.json").read_text())
    assert [one["annotations"] for one in again] == [one["annotations"] for one in tasks]
    assert again[0]["predictions"][0]["result"][0]["value"]["labels"] == ["A"]


def test_json_min_of_label_studio(tmp_path: Path) -> None:
    task = {
        "id": 3,
        "text": "Ana ran",
        "label": [{"start": 0, "end": 3, "text": "Ana", "labels": ["PER", "X"]}],
    }
    (tmp_path / "a.json").write_text(json.dumps([task]))
    [document] = TOOLS["labelstudio"][0](tmp_path / "a.json")
    assert places(document) == [(0, 3, "PER", ()), (0, 3, "X", ())]


def test_answers_of_prodigy(tmp_path: Path) -> None:
    span = [{"start": 0, "end": 3, "label": "PER"}]
    lines = [{"text": "Ana", "spans": span, "answer": answer} for answer in ("accept", "reject", "ignore")]
    (tmp_path / "a.jsonl").write_text("\r\n".join(map(json.dumps, lines)))
    assert [one.spans is None for one in TOOLS["prodigy"][0](tmp_path / "a.jsonl")] == [False, True, True]


def test_lines_of_brat_that_are_no_spans_are_kept(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"Ana saw\r\nRome")
    lines = "T1\tPER 0 3\tAna\r\nT7\tLOC 9 13\tRome\nR1\tIn Arg1:T1 Arg2:T7\n"
    lines += "*\tEquiv T1 T7\n#1\tAnnotatorNotes T1\tsure?\n"
    (tmp_path / "a.ann").write_text(lines, newline="")
    read, write, _ = TOOLS["brat"]
    write(read(tmp_path / "a.ann"), tmp_path / "b.ann")
    assert (tmp_path / "b.txt").read_bytes() == (tmp_path / "a.txt").read_bytes()
    assert (tmp_path / "b.ann").read_text() == lines.replace("\r", "")


@pytest.mark.parametrize(
    ("tool", "text", "message"),
    [
        ("doccano", '\n{"text": "ab", "label": [[0, 3, "A"]]}', "line 2: the span 'A' goes from start 0"),
        ("doccano", '{"text": "ab", "label": [[0, "1", "A"]]}', "line 1: an offset of span 0 is '1'"),
        ("doccano", '{"text": 3, "label": []}', 'line 1: "text" is not a text'),
        ("doccano", "[]", "line 1: expected an object with a text, but found a list"),
        ("doccano", '{"text": "ab", "label": {}}', 'line 1: "label" is an object, not a list'),
        ("doccano", '{"text": "ab", "label": [[0, 1, ""]]}', "line 1: the span at offset 0 has the label ''"),
        ("doccano", '{"text": "a\\ud800", "label": []}', "line 1: the text has half a character at offset 1"),
        ("prodigy", '{"text": "ab", "tokens": [{"text": "x", "start": 0, "end": 1}]}', "line 1: token 0"),
        ("prodigy", '{"text": "ab", "tokens": [{"start": 1, "end": 3}]}', "line 1: token 0 has the offsets"),
        ("prodigy", '{"text": "ab", "spans": [3]}', "line 1: span 0 is a number, not an object"),
        ("prodigy", '{"text": "ab",\n', "line 1: not JSON: .* at column"),
        ("labelstudio", '[\n{"data": {"text": "a"}},\n{"data" 3}]', "line 3: not JSON: .* at column"),
        ("labelstudio", '[{"data": {"a": "x", "b": "y"}}]', 'task 0: "data" has no "text"; its keys are'),
        ("labelstudio", '[{"data": {"text": "a"}, "annotations": [3]}]', "task 0: annotation 0 is a number"),
        ("labelstudio", "", "line 1: not JSON"),
        ("labelstudio", "[3]", "task 0: expected an object with a text, but found a number"),
    ],
)  # fmt: skip
def test_bad_lines_are_named(tool: str, text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text)
    with pytest.raises(InputError, match=rf"bad\.json, {message}"):
        list(TOOLS[tool][0](path))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("T1\tPER 0 3\tAnna", "line 2: the text at these offsets is 'Ana', but the line says 'Anna'"),
        ("T1\tPER 0 30\tAna", "line 2: the span 'PER' goes from start 0 to end 30 in a text of 7"),
        ("T1\tPER 0 3;2 5\tAna", "line 2: the span 'PER' goes from start 2 to end 5"),
        ("T1 PER 0 3 Ana", "line 2: expected 'T1<tab>LABEL start end<tab>text'"),
        ("T0\tX 4 7\tran", "line 2: T0 is there twice"),
        ("PER 0 3", "line 2: not a line of brat"),
    ],
)
def test_bad_lines_of_brat_are_named(line: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Ana ran")
    (tmp_path / "a.ann").write_text(f"T0\tX 4 7\tran\n{line}\n")
    with pytest.raises(InputError, match=rf"a\.ann, {message}"):
        list(TOOLS["brat"][0](tmp_path))


def test_folders_of_brat_must_have_texts(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has no \.txt files"):
        list(TOOLS["brat"][0](tmp_path))
    (tmp_path / "b.txt").write_bytes(b"a\n\xff")
    (tmp_path / "a.ann").write_text("")
    with pytest.raises(InputError, match=r"a\.ann has no text beside it, a\.txt"):
        list(TOOLS["brat"][0](tmp_path))
    (tmp_path / "a.ann").unlink()
    with pytest.raises(InputError, match=r"b\.txt, line 2: byte 3 of the file is not utf-8"):
        list(TOOLS["brat"][0](tmp_path))


def test_names_of_files_do_not_lead_elsewhere(tmp_path: Path) -> None:
    TOOLS["brat"][1]([TextDocument("x", name="../out"), TextDocument("y", name="b")], tmp_path / "in")
    assert sorted(path.name for path in tmp_path.rglob("*.txt")) == [
        "document-00000.txt",
        "document-00001.txt",
    ]
    assert not (tmp_path / "out.txt").exists()


def test_what_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match="Document 0 cannot be written: the span 'A' goes from start 0 to end 9"
    ):
        write_doccano([TextDocument("ab", (TextSpan(0, 9, "A"),))], tmp_path / "x.jsonl")
    with pytest.raises(InputError, match="has a space, which brat has no place for"):
        TOOLS["brat"][1]([TextDocument("ab", (TextSpan(0, 1, "A B"),))], tmp_path / "x.ann")
    with pytest.raises(InputError, match="is one document, but there are 2"):
        TOOLS["brat"][1]([TextDocument("a"), TextDocument("b")], tmp_path / "x.ann")
