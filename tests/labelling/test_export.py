"""What is exported can be read again, trained on, and labelled further."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from kernelfields.cli.app import app
from kernelfields.errors import InputError
from kernelfields.files.items import FileData
from kernelfields.files.reading import Reading, read_data, read_items
from kernelfields.io import read_conll
from kernelfields.labelling.export import fitted, write_labels
from kernelfields.labelling.opening import open_desk, sheets_of
from kernelfields.labelling.tags import Tags
from tests.labelling._cases import TAGS, number_material, open_text

run = CliRunner().invoke


@pytest.fixture
def labelled(tmp_path):
    desk, truth = open_text(tmp_path)
    for k in range(8):
        if k == 3:
            desk.set(k, 0, 1, "PER")
        desk.accept(k, truth[k])
    desk.set(20, 0, 1, "LOC")
    desk.close()
    return desk, truth


def test_jsonl_round_trip_keeps_states(labelled, tmp_path) -> None:
    desk, truth = labelled
    path = tmp_path / "out.jsonl"
    assert write_labels(path, "jsonl", desk.material, desk.session) == 8
    records = [json.loads(line) for line in path.read_text().splitlines()]
    assert [record["labels"] for record in records] == truth[:8]
    assert records[3]["states"][:2] == ["manual", "reviewed"]
    data = FileData(list(read_items(path, "jsonl", Reading(), labelled=True)), "jsonl")
    assert sheets_of(data, TAGS) == desk.session.sheets[:8]


def test_the_model_labels_the_rest(labelled, tmp_path) -> None:
    desk, truth = labelled
    path = tmp_path / "all.jsonl"
    model, learner = fitted(desk.material, desk.session)
    assert write_labels(path, "jsonl", desk.material, desk.session, model, learner) == 30
    records = [json.loads(line) for line in path.read_text().splitlines()]
    right = [record["labels"] == tags for record, tags in zip(records, truth, strict=True)]
    assert sum(right) >= 25
    assert {state for record in records[8:20] for state in record["states"]} == {"auto"}
    assert records[20]["labels"][0] == "B-LOC"
    assert records[20]["states"][:2] == ["manual", "auto"]
    assert records[20]["probability"][0] is None
    assert 0 < records[20]["probability"][1] <= 1
    data = FileData(list(read_items(path, "jsonl", Reading(), labelled=True)), "jsonl")
    assert sheets_of(data, TAGS) == desk.session.sheets  # what the model said is not taken for an answer


def test_conll_has_states_in_comments(labelled, tmp_path) -> None:
    desk, truth = labelled
    path = tmp_path / "out.conll"
    write_labels(path, "conll", desk.material, desk.session)
    sentences = list(read_conll(path, comments=None))
    assert [one.columns[-1] for one in sentences] == truth[:8]
    assert sentences[3].comments[0].split()[:4] == ["#", "states", "=", "manual"]
    assert read_data(path, Reading()).labels == truth[:8]


@pytest.mark.parametrize("kind", ["jsonl", "conll"])
def test_kf_train_takes_exported_tokens(labelled, tmp_path, kind) -> None:
    desk, _ = labelled
    path = tmp_path / f"out.{kind}"
    write_labels(path, kind, desk.material, desk.session)
    result = run(app, ["train", str(path), "-o", str(tmp_path / "m.kf")])
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("kind", ["jsonl", "csv", "npz"])
def test_kf_train_takes_exported_numbers(tmp_path, kind) -> None:
    material, truth = number_material()
    desk = open_desk(material, tmp_path / "j", lambda: Tags(("up", "down")))
    for k in range(10):
        desk.accept(k, truth[k])
    desk.close()
    path = tmp_path / f"out.{kind}"
    write_labels(path, kind, material, desk.session)
    assert [list(map(str, one)) for one in read_data(path, Reading()).labels] == truth[:10]
    result = run(app, ["train", str(path), "-o", str(tmp_path / "m.kf")])
    assert result.exit_code == 0, result.output


def test_nothing_to_export_and_odd_formats(tmp_path) -> None:
    desk, _ = open_text(tmp_path)
    desk.close()
    with pytest.raises(InputError, match="nothing to export"):
        write_labels(tmp_path / "x.jsonl", "jsonl", desk.material, desk.session)
    with pytest.raises(InputError, match="nothing to learn from"):
        fitted(desk.material, desk.session)
    with pytest.raises(InputError, match="no format 'xml'"):
        write_labels(tmp_path / "x.xml", "xml", desk.material, desk.session)
    assert not (tmp_path / "x.jsonl").exists()


def test_command_line_exports_and_refuses_plainly(tmp_path) -> None:
    text = tmp_path / "some.txt"
    text.write_text("Ada left Rome.\nKurt saw Oslo.\n", encoding="utf-8")
    for arguments, sentence in (
        ([str(text), "--export", str(tmp_path / "x.jsonl")], "There are no labels yet"),
        ([str(text), "--auto"], "--auto is for --export"),
        ([str(tmp_path / "none.txt")], "There is no file"),
        ([str(text), "--no-browser"], "Say which labels there are"),
        ([str(text), "--labels", "A,,B", "--no-browser"], "cannot be a label"),
        ([str(text), "--labels", "A,B", "--image", "3", "--no-browser"], "--image is '3'"),
        ([str(text), "--labels", "A,B", "--image", "2x2", "--no-browser"], "Tokens are no images"),
        ([str(text), "--labels", "A,B", "--host", "nowhere.invalid", "--no-browser"], "There is no host"),
        (
            [str(text), "--export", str(tmp_path / "x.jsonl"), "--journal", str(text)],
            "not a journal of kf label",
        ),
    ):
        result = run(app, ["label", *arguments])
        assert result.exit_code == 2, (arguments, result.output)
        assert sentence in " ".join(result.output.split()), (arguments, result.output)
        assert "Traceback" not in result.output


def test_pre_tokenised_text_is_cut_at_blanks(tmp_path) -> None:
    from kernelfields.cli.label import read_material
    from kernelfields.files.reading import Reading

    (tmp_path / "a.txt").write_text("In '81 it was n't so .\n")
    found = read_material(tmp_path / "a.txt", Reading(), False, None, None, None, "blanks")
    assert found.data.texts == [["In", "'81", "it", "was", "n't", "so", "."]]
