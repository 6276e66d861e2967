"""Runs of the matrix that end go on where they were."""

from __future__ import annotations

from pathlib import Path

from .__main__ import _all
from .journal import Journal
from .worker import numbered

NAME, SHARE = "MEMM", 2000


def test_goes_on_behind_the_last_case(tmp_path: Path) -> None:
    whole = _all(NAME, Journal.of(tmp_path / "whole", NAME), SHARE)
    lines = (tmp_path / "whole" / f"{NAME}.jsonl").read_text().splitlines(keepends=True)
    assert len(lines) == whole.cases == len(numbered(NAME, SHARE)) > 2
    (tmp_path / "cut").mkdir()
    (tmp_path / "cut" / f"{NAME}.jsonl").write_text("".join(lines[:2]) + lines[2][:20])
    again = _all(NAME, Journal.of(tmp_path / "cut", NAME), SHARE)
    assert (again.cases, again.fits, again.refusals) == (whole.cases, whole.fits, whole.refusals)
    assert len((tmp_path / "cut" / f"{NAME}.jsonl").read_text().splitlines()) == whole.cases


def test_runs_what_failed_again_if_asked_to(tmp_path: Path) -> None:
    numbers = [number for number, _ in numbered(NAME, SHARE)]
    journal = Journal.of(tmp_path, NAME)
    for number in numbers:
        failures = {"fit": "it did"} if number == numbers[1] else {}
        journal.write({"number": number, "case": f"{NAME} f64", "refusal": None, "failures": failures})
    kept = _all(NAME, journal, SHARE)
    assert (kept.cases, kept.failed) == (len(numbers), 1)
    mended = _all(NAME, journal, SHARE, again=True)
    assert (mended.cases, mended.failed) == (len(numbers), 0)
    assert len(journal.read()) == len(numbers)
