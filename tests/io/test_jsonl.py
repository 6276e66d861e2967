"""JSON lines: what is read, what is refused, and that writing is the inverse of reading."""

import io

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernelfields.errors import InputError
from kernelfields.io import Record, read_jsonl, write_jsonl

# Making the first text takes a while on a busy machine.
quiet = settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])


def read(text):
    return list(read_jsonl(io.BytesIO(text if isinstance(text, bytes) else text.encode())))


def test_tokens_labels_and_the_rest():
    text = (
        '\ufeff{"tokens": ["a", "b"], "labels": ["X", null], "id": 7}\r\n\n'
        '{"tokens": [{"w": "a", "n": 1.5, "b": true}]}\n{"tokens": [], "labels": []}\n'
        '{"tokens": [["a", "NN"], ["b", "VB"]]}'
    )
    assert read(text) == [
        Record(["a", "b"], ["X", None], {"id": 7}),
        Record([{"w": "a", "n": 1.5, "b": True}]),
        Record([], []),
        Record([["a", "NN"], ["b", "VB"]]),
    ]
    assert read('{"tokens": ["a"], "labels": null}') == [Record(["a"])]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"tokens": ["a"', "not JSON: .* at column 16"),
        (b"tokens", "not JSON"),
        (b'["a"]', "expected an object with tokens, but found a list"),
        (b"3", "but found a number"),
        (b'{"labels": []}', 'the object has no "tokens"'),
        (b'{"tokens": "a b"}', '"tokens" is a string, not a list'),
        (b'{"tokens": ["a", 1]}', "token 1 is a number: neither a string, a list of columns nor an"),
        (b'{"tokens": [["a"], ["b", "c"]]}', "token 1 has 2 columns, but token 0 has 1"),
        (b'{"tokens": [["a", 1]]}', "token 0 is a list of columns, all of which must be strings"),
        (b'{"tokens": [[]]}', "token 0 is a list of columns, all of which must be strings"),
        (b'{"tokens": ["a", ["b"]]}', "token 1 is a list, but token 0 is a string"),
        (
            b'{"tokens": ["' + b"a" * 100_001 + b'"]}',
            "a text has 100,001 characters, more than the limit of 100,000",
        ),
        (b'{"tokens": ["a", {}]}', "token 1 is an object, but token 0 is a string"),
        (b'{"tokens": [{}, "a"]}', "token 1 is a string, but token 0 is an object"),
        (b'{"tokens": ["a"], "labels": "X"}', '"labels" is a string, not a list'),
        (b'{"tokens": ["a"], "labels": ["X", "Y"]}', "there are 1 tokens, but 2 labels"),
        (b'{"tokens": ["a"], "labels": [["X"]]}', "label 0 is a list, not a string or a number"),
        (b'{"tokens": ["a"], "labels": [NaN]}', "NaN is not JSON"),
        (b'{"tokens": ["a"], "labels": [' + b"1" * 5000 + b"]}", "digits"),
        (b'{"tokens": ' + b"[" * 200_000, "nested too deeply"),
        (b'{"tokens": ["\xff"]}', r"byte 14 \(ff\) is not utf-8"),
    ],
)
def test_malformed_lines_are_named(tmp_path, line, message):
    path = tmp_path / "broken.jsonl"
    path.write_bytes(b'{"tokens": ["fine"]}\n\n' + line + b"\n")
    with pytest.raises(InputError, match=message) as caught:
        list(read_jsonl(path))
    assert str(caught.value).startswith(f"{path}, line 3: ")


SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=4
)


@st.composite
def records(draw):
    tokens = draw(st.lists(st.text()) | st.lists(st.dictionaries(st.text(), SCALARS, max_size=3)))
    labels = draw(st.none() | st.lists(SCALARS, min_size=len(tokens), max_size=len(tokens)))
    names = st.text().filter(lambda key: key not in ("tokens", "labels"))
    return Record(tokens, labels, draw(st.dictionaries(names, VALUES, max_size=2)))


@quiet
@given(st.lists(records(), max_size=4))
def test_round_trip(given_records):
    file = io.BytesIO()
    write_jsonl(given_records, file)
    file.seek(0)
    assert list(read_jsonl(file)) == given_records


def test_files(tmp_path):
    given_records = [Record(["日本", "a:b\\"], ["X", "Y"])]
    for name in ("x.jsonl", "x.jsonl.gz"):
        write_jsonl(given_records, tmp_path / name)
        assert list(read_jsonl(tmp_path / name)) == given_records
    text = (tmp_path / "x.jsonl").read_text(encoding="utf-8")
    assert text == '{"tokens": ["日本", "a:b\\\\"], "labels": ["X", "Y"]}\n'


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (Record(["a"], ["X", "Y"]), "Record 1 cannot be written: there are 1 tokens, but 2 labels"),
        (Record("ab"), '"tokens" is a string'),
        (Record(["a"], [np.int64(1)]), "label 0 is a int64"),
        (Record(["a"], [float("nan")]), "Record 1 cannot be written"),
        (Record([{"x": {1}}]), "Record 1 cannot be written: .*set"),
        (Record(["a"], None, {"labels": []}), '"labels" cannot be another key'),
        (Record(["\ud800"]), r"line 2: '\\ud800' cannot be written as utf-8"),
    ],
)
def test_what_is_not_json_is_refused(record, message):
    with pytest.raises(InputError, match=message):
        write_jsonl([Record(["a"]), record], io.BytesIO())
