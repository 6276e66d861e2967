"""Model files that change while they are served."""

import os
import shutil
from pathlib import Path

import pytest

from kernelfields import CRF
from kernelfields.errors import InputError
from kernelfields.serving import model_files

from ._client import AppClient
from .conftest import TEMPLATES, app_of, shelf_of, words


@pytest.fixture
def copied(folder, tmp_path):
    return shutil.copy(folder / "words.kf", tmp_path / "words.kf")


def refreshed(shelf):
    """A change is taken once the file has been left alone between two looks."""
    shelf.refresh()
    shelf.refresh()
    return shelf.health()["words"]


def other_model(path):
    X, y = words()
    CRF(features=TEMPLATES).fit(X, [["X" + label for label in labels] for labels in y]).save(path)


def test_a_new_file_takes_the_place_of_the_old_one(copied):
    shelf = shelf_of(copied)
    before = shelf["words"]
    assert refreshed(shelf)["reloads"] == 0
    assert shelf["words"] is before
    other_model(copied)
    assert refreshed(shelf)["reloads"] == 1
    assert shelf["words"].classes == ["XB-PER", "XI-PER", "XO"]
    assert before.model.predict([[("Ana", "A")]]) == [["B-PER"]]  # who has the old one may go on with it


@pytest.mark.parametrize("damage", ["empty", "cut", "flipped", "text", "gone", "folder"])
def test_a_bad_file_leaves_the_old_model_in_place(copied, damage):
    shelf = shelf_of(copied)
    before, content = shelf["words"], copied.read_bytes()
    if damage in ("gone", "folder"):
        copied.unlink()
    if damage == "folder":
        copied.mkdir()
    if damage not in ("gone", "folder"):
        flipped = content[:-40] + bytes([content[-40] ^ 1]) + content[-39:]
        bad = {"empty": b"", "cut": content[: len(content) // 2], "flipped": flipped, "text": b"hello"}
        copied.write_bytes(bad[damage])  # in place: a model that maps this very file would not survive it
    health = refreshed(shelf)
    assert health["error"].startswith(str(copied))
    assert (health["failures"], refreshed(shelf)["failures"]) == (1, 1)
    assert shelf["words"] is before
    assert before.model.predict([[("Ana", "A")]]) == [["B-PER"]]
    if damage == "folder":
        copied.rmdir()
    other_model(copied)
    assert refreshed(shelf)["error"] is None
    assert shelf["words"] is not before


def test_only_regular_files_are_copied(copied, tmp_path):
    with pytest.raises(InputError, match=r"Not a regular file\.$"):
        shelf_of(Path("/dev/zero"))
    shelf = shelf_of(copied)
    copied.unlink()
    os.mkfifo(copied)
    assert refreshed(shelf)["error"] == f"{copied}: Not a regular file."


def test_a_file_that_comes_back_unchanged_is_well_again(copied):
    shelf = shelf_of(copied)
    away = copied.rename(copied.with_suffix(".away"))
    assert refreshed(shelf)["error"] is not None
    away.rename(copied)
    assert refreshed(shelf)["error"] is None


def test_the_service_says_so(copied):
    shelf = shelf_of(copied)
    with AppClient(app_of(shelf)) as client:
        first = client.get("/openapi.json").json()
        copied.write_bytes(b"hello")
        refreshed(shelf)
        health = client.get("/health")
        assert (health.status_code, health.json()["status"]) == (200, "degraded")
        assert client.post("/models/words/tag", json={"sequences": [["Ana"]]}).status_code == 200
        other_model(copied)
        refreshed(shelf)
        assert client.get("/health").json()["status"] == "ok"
        found = client.post("/models/words/tag", json={"sequences": [["Ana"]]}).json()
        assert found["labels"][0][0].startswith("X")
        assert client.get("/openapi.json").json() != first
        assert 'kf_model_reloads_total{model="words"} 1' in client.get("/metrics").text


def test_files_are_looked_at_by_themselves(copied):
    shelf = shelf_of(copied)
    shelf.watch(0.01)
    try:
        other_model(copied)
        for _ in range(500):
            if shelf.version:
                break
            shelf._end.wait(0.01)
    finally:
        shelf.close()
    assert shelf["words"].classes[0] == "XB-PER"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["a/m.kf", "b/m.kf"], "same name, m"),
        (["x=a.kf", "x=b.kf"], "same name, x"),
        (["=a.kf"], "no name"),
        (["a b.kf"], "no name"),
        (["..=a.kf"], "no name"),
        (["\u00e4.kf"], "no name"),
        (["a/b=c.kf"], "no name"),
    ],
)
def test_names(arguments, said):
    with pytest.raises(InputError, match=said):
        model_files(arguments)
    assert [file.name for file in model_files(["a/m.kf", "n=b/m.kf"])] == ["m", "n"]
