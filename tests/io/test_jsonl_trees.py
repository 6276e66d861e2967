"""Trees as JSON lines: parents are read, written, and refused by file and line."""

from io import BytesIO, StringIO

import numpy as np
import pytest

from kernelfields.errors import InputError
from kernelfields.io import Record, read_jsonl, write_jsonl
from kernelfields.io.parents import require_parents


def test_parents_are_read_and_written_again(tmp_path):
    records = [
        Record(["dogs", "bark"], ["N", None], {"id": 3}, [1, -1]),
        Record([], [], parents=[]),
        Record([{"x": 1.5}], parents=[-1]),
        Record(["a", "b"], ["X", "Y"]),
    ]
    path = tmp_path / "trees.jsonl"
    write_jsonl(records, path)
    assert list(read_jsonl(path)) == records
    first = path.read_text(encoding="utf-8").splitlines()[0]
    assert first == '{"tokens": ["dogs", "bark"], "labels": ["N", null], "parents": [1, -1], "id": 3}'
    [bare] = read_jsonl(StringIO('{"tokens": ["a"], "parents": null}'))
    assert bare == Record(["a"])


@pytest.mark.parametrize(
    ("parents", "message"),
    [
        ('"0"', '"parents" is not a list'),
        ("[-1]", "there are 2 tokens, but 1 parents"),
        ("[-1, 2]", "the parent of token 1 is 2, expected -1 to 1"),
        ("[-2, 0]", "the parent of token 0 is -2, expected -1 to 1"),
        ("[-1, 0.0]", "the parent of token 1 is not a whole number"),
        ("[-1, true]", "the parent of token 1 is not a whole number"),
        ("[-1, null]", "the parent of token 1 is not a whole number"),
        ("[-1, 1]", "token 1 is its own ancestor"),
        ("[1, 0]", "token 0 is its own ancestor"),
    ],
)
def test_what_is_no_tree_is_refused_by_line(parents, message):
    text = '{"tokens": ["a"]}\n{"tokens": ["a", "b"], "parents": ' + parents + "}\n"
    with pytest.raises(InputError, match=f"line 2: {message}"):
        list(read_jsonl(BytesIO(text.encode())))


def test_what_is_no_tree_is_not_written(tmp_path):
    with pytest.raises(InputError, match="Record 0 cannot be written: token 0 is its own ancestor"):
        write_jsonl([Record(["a"], parents=[0])], tmp_path / "a.jsonl")
    with pytest.raises(InputError, match='"parents" cannot be another key'):
        write_jsonl([Record(["a"], other={"parents": [-1]})], tmp_path / "a.jsonl")


def test_circles_are_found_wherever_they_are(rng):
    """By another way to find them: the powers of the matrix of parents vanish only without circles."""
    for _ in range(300):
        count = int(rng.integers(1, 6))
        parents = rng.integers(-1, count, size=count).tolist()
        above = np.zeros((count, count), dtype=int)
        for child, parent in enumerate(parents):
            if parent >= 0:
                above[child, parent] = 1
        if np.linalg.matrix_power(above, count).any():
            with pytest.raises(InputError, match="its own ancestor"):
                require_parents(parents, count)
        else:
            require_parents(parents, count)


def test_a_long_path_is_no_burden():
    require_parents([*range(1, 200_000), -1], 200_000)
