"""Tables of mutants are up to date: rows break a text that is there once, and name tests there are."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SPEC = importlib.util.spec_from_file_location("mutants_run", ROOT / "tests" / "mutants" / "run.py")
assert SPEC is not None
assert SPEC.loader is not None
RUN = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(RUN)


@pytest.mark.parametrize("table", sorted((ROOT / "tests" / "mutants").glob("*.toml")), ids=lambda p: p.stem)
def test_rows_match_the_code(table):
    for mutant in RUN.read(table):
        text = (ROOT / mutant.file).read_text(encoding="utf-8")
        assert text.count(mutant.old) == 1, f"{mutant.file}: {mutant.old!r}"
        assert mutant.new != mutant.old
        for path in mutant.tests.paths:
            assert (ROOT / path.split("::")[0]).exists(), path
