"""Going on after the end, whatever the end was; labels that come with the data; odd requests."""

from __future__ import annotations

import errno
import json

import numpy as np
import pytest

from kernelfields.errors import InputError
from kernelfields.files.items import FileData, Item
from kernelfields.files.reading import Reading, read_items
from kernelfields.labelling.material import Look, material_of
from kernelfields.labelling.opening import open_desk, sheets_of, tags_for
from kernelfields.labelling.settings import DeskSettings
from kernelfields.labelling.tags import Tags
from tests.labelling._cases import TAGS, number_material, open_text, settle, text_material


def test_everything_comes_back(tmp_path) -> None:
    desk, truth = open_text(tmp_path)
    asked = desk.ask()["next"]
    for _ in range(7):
        asked = desk.accept(asked["item"], truth[asked["item"]])["next"]
    desk.set(asked["item"], 0, 1, "LOC")
    desk.skip((asked["item"] + 1) % 30)
    settle(desk)
    sheets, points, accepted = desk.session.sheets, desk.curve.points(), desk.session.accepted
    assert points
    desk.close()
    again, _ = open_text(tmp_path)
    assert again.session.sheets == sheets
    assert again.curve.points() == points
    assert again.session.accepted == accepted
    settle(again)
    assert again.trainer.snapshot.model is not None
    assert again.overview()["begun"] == [asked["item"]]
    again.close()


def test_undo_of_an_acceptance_is_unlearnt(tmp_path) -> None:
    desk, truth = open_text(tmp_path)
    first = desk.ask()["next"]["item"]
    desk.accept(first, truth[first])
    settle(desk)
    assert desk.trainer.snapshot.model is not None
    assert desk.undo()["item"] == first
    settle(desk)
    assert desk.trainer.snapshot.model is None
    assert not desk.session.sheets[first].done
    desk.close()


def test_what_the_disk_refuses_did_not_happen(tmp_path, monkeypatch) -> None:
    desk, truth = open_text(tmp_path)

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(desk.journal, "append", full)
    with pytest.raises(OSError, match="No space"):
        desk.accept(0, truth[0])
    assert desk.session.n_done == 0
    assert desk.session.version == 0
    desk.close()


def test_marking_all_marks_the_same_words(tmp_path) -> None:
    desk, _ = open_text(tmp_path)
    texts = desk.material.data.texts
    item = next(k for k, words in enumerate(texts) if words[-2] == "Rome")
    at = len(texts[item]) - 2
    found = desk.mark(item, at, 1, "LOC")
    places = [(k, words.index("Rome")) for k, words in enumerate(texts) if "Rome" in words]
    assert found["marked"] == len(places) > 1
    for k, t in places:
        assert desk.session.sheets[k].tags[t] == "B-LOC"
    assert sum(any(sheet.states) for sheet in desk.session.sheets) == len(places)
    assert desk.session.n_done == 0
    desk.undo()
    assert all(sheet.is_blank for sheet in desk.session.sheets)
    desk.close()


def test_numbers_have_no_words(tmp_path) -> None:
    material, _ = number_material()
    desk = open_desk(material, tmp_path / "j", lambda: Tags(("up", "down")))
    with pytest.raises(InputError, match="Only words occur again"):
        desk.mark(0, 0, 1, "up")
    item = desk.item(0)
    assert len(item["curves"]) == 3
    assert len(item["curves"][0]) == len(item["tags"])
    desk.close()


def test_other_data_other_share_and_fewer_labels_are_refused(tmp_path) -> None:
    desk, truth = open_text(tmp_path)
    desk.accept(0, truth[0])
    desk.close()
    before = (tmp_path / "journal").read_bytes()
    other, _ = text_material(31)
    same, _ = text_material(30)
    for material, tags, check, message in (
        (other, TAGS, None, "is about other data"),
        (same, TAGS, 0.5, "holds out 0.2 of the sequences"),
        (same, Tags(("PER",), True), None, "'B-LOC' has been given"),
        (same, Tags(("PER", "LOC"), False), None, "'B-LOC' has been given"),
    ):
        with pytest.raises(InputError, match=message):
            open_desk(material, tmp_path / "journal", lambda tags=tags: tags, check=check)
        assert (tmp_path / "journal").read_bytes() == before


def test_labels_of_the_data_must_be_among_those_given(tmp_path) -> None:
    data = FileData([Item(["a"], ["X"], ["a"], None)], "jsonl")
    with pytest.raises(InputError, match="Sequence 0 has the label 'X' at position 0"):
        open_desk(text_like(data), tmp_path / "j", lambda: Tags(("Z",)))
    assert not (tmp_path / "j").exists()


def test_labels_can_be_added(tmp_path) -> None:
    desk, truth = open_text(tmp_path)
    desk.accept(0, truth[0])
    desk.close()
    wide = Tags(("PER", "LOC", "ORG"), True)
    material, _ = text_material(30)
    for _ in range(2):
        desk = open_desk(material, tmp_path / "journal", lambda: wide)
        assert desk.session.tags == wide
        assert desk.session.n_done == 1
        settle(desk)
        desk.close()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"strategy": "odd"}, "strategy"),
        ({"error_at_most": 0.0}, "error_at_most"),
        ({"confidence": 1.0}, "confidence"),
        ({"penalty": 0.0}, "penalty"),
        ({"check": 1.5}, "check"),
    ],
)
def test_odd_settings_are_refused(settings, message) -> None:
    with pytest.raises(InputError, match=message):
        DeskSettings(**settings)


def test_labels_of_the_data_are_read(tmp_path) -> None:
    lines = [
        {"tokens": ["Ada", "left"], "labels": ["B-PER", "O"]},
        {"tokens": ["Rome"], "labels": ["B-LOC"], "states": ["auto"], "status": "open"},
        {"tokens": ["Ada", "saw"], "labels": ["B-PER", "O"], "states": ["manual", "auto"], "status": "open"},
        {"tokens": ["Oslo"], "labels": [None], "states": [None], "status": "skipped"},
        {"tokens": []},
        {"tokens": ["Bonn"]},
    ]
    path = tmp_path / "some.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    data = FileData(list(read_items(path, "jsonl", Reading(), labelled=True)), "jsonl")
    material = text_like(data)
    tags = tags_for(material, None)
    assert tags == Tags(("LOC", "PER"), True)
    sheets = sheets_of(data, tags)
    assert [sheet.done for sheet in sheets] == [True, False, False, False, False, False]
    assert [sheet.skipped for sheet in sheets] == [False, False, False, True, False, False]
    assert sheets[1].tags == (None,)
    assert sheets[2].tags == ("B-PER", None)


def text_like(data):
    from kernelfields.features import TemplateFeatures
    from kernelfields.features.sets import ner

    return material_of(data, TemplateFeatures(ner(False), dtype=np.float32))


@pytest.mark.parametrize(
    ("names", "spans", "expected"),
    [
        (["PER", "LOC"], None, Tags(("PER", "LOC"), True)),
        (["PER", "LOC"], False, Tags(("PER", "LOC"), False)),
        (["B-PER", "I-PER", "O"], None, Tags(("PER",), True)),
        (["B-PER", "I-PER", "O"], False, Tags(("B-PER", "I-PER", "O"), False)),
    ],
)
def test_labels_of_tokens_are_spans_unless_said_otherwise(names, spans, expected) -> None:
    assert tags_for(text_material(3)[0], names, spans) == expected


def test_labels_of_numbers_are_not_and_none_are_refused() -> None:
    material, _ = number_material()
    assert material.look is Look.NUMBERS
    assert tags_for(material, ["a", "b"]) == Tags(("a", "b"))
    with pytest.raises(InputError, match="Say which labels there are"):
        tags_for(material, None)


def test_trees_are_labelled_too(tmp_path) -> None:
    words, tags = [["a", "b", "c"], ["b", "a"]] * 6, [["x", "y", "x"], ["y", "x"]] * 6
    parents = [[-1, 0, 0], [1, -1]] * 6
    items = [Item(w, None, w, None, p) for w, p in zip(words, parents, strict=True)]
    desk = open_desk(text_like(FileData(items, "jsonl")), tmp_path / "j", lambda: Tags(("x", "y")), check=0.0)
    asked = desk.ask()["next"]
    for _ in range(4):
        asked = desk.accept(asked["item"], tags[asked["item"]])["next"]
    settle(desk)
    assert desk.trouble is None
    assert asked["tags"] == tags[asked["item"]]
    desk.close()


@pytest.mark.parametrize("x", [np.zeros((0, 2)), np.array([[1.0, np.inf]])])
def test_numbers_that_cannot_be_used_are_refused(x) -> None:
    with pytest.raises(InputError, match=r"nothing to label|infinite"):
        material_of(FileData([Item(x, None, ["0"] * len(x), None)], "npz"))


def test_missing_and_constant_numbers_are_filled() -> None:
    x = np.array([[1.0, np.nan], [1.0, 3.0], [1.0, 5.0]])
    material = material_of(FileData([Item(x, None, ["0", "1", "2"], None)], "npz"))
    assert np.isfinite(material.features).all()
    with pytest.raises(InputError, match="do not fit rows of 2"):
        material_of(material.data, shape=(2, 2))
