"""Files that are wrong somewhere give a plain error, or are read; never anything else."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from kernelfields import read
from kernelfields.errors import InputError
from kernelfields.io import TextDocument, TextSpan
from tests.io.test_profiles import ALIGNED, hhm_text

from ._documents import TOOLS, random_document

N = 250
NAMES = ["a.sto", "a.hhm", "a.pssm", "a.fa", "a.conll", "a.jsonl", "b.jsonl", "a.json"]
ODD = b"\\ud800", b"-1", b"9" * 30, b"null", b"1e999", b"NaN", b"\xf0\x9f\x98\x80", b"[" * 3000, b"//"
INSERTS = [*ODD, *(bytes([code]) for code in b'\x00\xff\n\r\t []{}">#')]


def mutated(content: bytes, seed: int) -> bytes:
    """Cut, repeat, overwrite or insert something, once to three times."""
    draw = random.Random(seed)
    for _ in range(draw.randint(1, 3)):
        a = draw.randrange(len(content) + 1)
        b = min(len(content), a + draw.randint(0, 20))
        middle = draw.choice([b"", content[a:b] * 2, draw.choice(INSERTS), bytes([draw.randrange(256)])])
        content = content[:a] + middle + content[b:]
    return content


def attempt(path: Path, **options: Any) -> str | None:
    """Read a file; return what is wrong with it."""
    try:
        read(path, **options)
    except InputError as error:
        return str(error)
    return None


def pssm() -> str:
    rows = [f"  {t} M " + " -1" * 20 + "  5" * 20 + " 0.1 0.2\n" for t in range(1, 6)]
    return "\n\n      " + "  ".join("ARNDCQEGHILKMFPSTWYV" * 2) + "\n" + "".join(rows)


def originals(folder: Path) -> dict[str, bytes]:
    """A good file of each format."""
    found = {"a.sto": (ALIGNED * 2).encode(), "a.hhm": hhm_text().encode(), "a.pssm": pssm().encode()}
    found["a.fa"] = b">c1 x\nACGTACGT\nACGT\n>c2\nACGT\n"
    found["a.conll"] = b"-DOCSTART- X\n\nAna B-PER\nran O\n\nIn O\n"
    for tool, name in (("doccano", "a.jsonl"), ("prodigy", "b.jsonl"), ("labelstudio", "a.json")):
        TOOLS[tool][1]([random_document(seed) for seed in range(4)], folder / name)
        found[name] = (folder / name).read_bytes()
    return found


@pytest.mark.parametrize("name", NAMES)
def test_nothing_but_plain_errors(name: str, tmp_path: Path) -> None:
    good = originals(tmp_path)[name]
    path, said = tmp_path / name, []
    for seed in range(N):
        path.write_bytes(mutated(good, seed))
        said.append(attempt(path))
    reasons = [one for one in said if one is not None]
    assert len(reasons) > N // 10  # mutations do harm
    for one in reasons:
        assert "\n" not in one
        assert len(one) < 700
        assert str(path) in one or one.startswith("There is one column"), one


@pytest.mark.parametrize("mutate", ["a.txt", "a.ann"])
def test_brat(mutate: str, tmp_path: Path) -> None:
    TOOLS["brat"][1]([random_document(3, gaps=True)], tmp_path / "a.ann")
    good, said = (tmp_path / mutate).read_bytes(), []
    for seed in range(N):
        (tmp_path / mutate).write_bytes(mutated(good, seed))
        said.append(attempt(tmp_path / "a.ann", spans="mend"))
    reasons = [one for one in said if one is not None]
    assert len(reasons) > N // 10
    assert all(str(tmp_path / "a.") in one for one in reasons)


def test_features_beside_letters(tmp_path: Path) -> None:
    (tmp_path / "a.fa").write_text(">c1\nACGTACGTAC\n")
    good = b"##gff-version 3\nc1\t.\tCDS\t2\t3\t0.5\t+\t.\tID=a\nc1\t.\tCDS\t6\t6\t.\t-\t.\t.\n"
    said = []
    for seed in range(N):
        (tmp_path / "a.gff3").write_bytes(mutated(good, seed))
        said.append(attempt(tmp_path / "a.fa", labels=tmp_path / "a.gff3"))
    reasons = [one for one in said if one is not None]
    assert len(reasons) > N // 10
    assert all("a.gff3" in one for one in reasons)


def test_values_of_json_of_any_kind(tmp_path: Path) -> None:
    """Every value of an object of every tool, replaced by one of another kind."""
    odd = [None, True, -1, 2**70, 1.5, "x", [[]], {}, {"text": 1}, [{"start": 0}]]
    given = TextDocument("Ana saw 👩‍🚀", (TextSpan(0, 3, "PER", 0.5), TextSpan(4, 7, "V")))
    for tool in ("doccano", "prodigy", "labelstudio"):
        path = tmp_path / TOOLS[tool][2]
        TOOLS[tool][1]([given], path)
        value = json.loads(path.read_text())
        for place in _places(value):
            for other in odd:
                path.write_text(json.dumps(_with(value, place, other)))
                said = attempt(path, format=tool, spans="mend")
                assert said is None or str(path) in said


def _places(value: object, start: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [start, *(place for key, one in items for place in _places(one, (*start, key)))]


def _with(value: object, place: tuple[object, ...], other: object) -> object:
    if not place:
        return other
    copy = dict(value) if isinstance(value, dict) else list(value)  # type: ignore[call-overload]
    copy[place[0]] = _with(copy[place[0]], place[1:], other)
    return copy
