"""Pages of the gallery: their code runs, shows what it says, and draws a picture."""

import re
import runpy

import matplotlib as mpl
import pytest

from tests.conftest import ROOT

GALLERY = ROOT / "docs" / "gallery"
MAKE = runpy.run_path(str(GALLERY / "make.py"))
EVERY = sorted(path.stem for path in GALLERY.glob("*.md") if path.stem != "index")


def needs_data(name):
    text = (GALLERY / f"{name}.md").read_text()
    return bool(set(re.findall(r"\b(?:load_\w+|data_file)\b", text)) - {"load_letters"})


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.data) if needs_data(name) else name for name in EVERY]
)
def test_a_page_shows_what_its_code_gives(name, tmp_path):
    mpl.use("agg")
    said = MAKE["draw"](GALLERY / f"{name}.md", tmp_path)
    assert not said.startswith("left as it is")
    assert "IT SAYS" not in said
    assert (tmp_path / f"gallery-{name}.png").stat().st_size > 5_000


@pytest.mark.parametrize("name", ["chunking", "entities", "gestures", "parses", "proteins"])
def test_a_page_runs_on_samples(name, tmp_path):
    """Those whose code takes data of any size; what it says is of real data."""
    mpl.use("agg")
    assert not MAKE["draw"](GALLERY / f"{name}.md", tmp_path).startswith("left as it is")
    assert (tmp_path / f"gallery-{name}.png").stat().st_size > 5_000


def test_there_is_one_for_every_field():
    assert len(EVERY) >= 12
    index = (GALLERY / "index.md").read_text()
    for name in EVERY:
        text = (GALLERY / f"{name}.md").read_text()
        assert len(text.splitlines()) <= 60
        assert f"(gallery-{name}.png)" in text
        assert (GALLERY / f"gallery-{name}.png").stat().st_size < 120_000
        assert "../experiments/" in text
        assert re.search(r"^\*\*[\d.]+ %\*\*", text, flags=re.MULTILINE), f"{name} has no number"
        assert f"](gallery-{name}.png)" in index
        assert f"]({name}.md)" in index


def test_numbers_agree_up_to_the_last_digits(tmp_path):
    assert MAKE["agrees"]("{'a': 56.6}", "{'a': 56.4}")
    assert not MAKE["agrees"]("{'a': 56.6}", "{'a': 57.4}")
    assert not MAKE["agrees"]("{'a': 56.6}", "{'b': 56.6}")
    page = tmp_path / "page.md"
    page.write_text("```python\nx = 2\nx + 1  # → 5\n```\n")
    assert "IT SAYS 5, NOT 3" in MAKE["draw"](page, tmp_path)


def test_missing_data_are_said_so(tmp_path, monkeypatch):
    monkeypatch.setenv("KERNELFIELDS_DATA", str(tmp_path))
    assert MAKE["draw"](GALLERY / "gestures.md", tmp_path).startswith(
        "left as it is. The data set gesture_phase"
    )
