"""Sentences in tables of lists: what is read, and what is refused in which words."""

import builtins
import json
import re
from pathlib import Path

import pytest

from kernelfields.errors import InputError
from kernelfields.io import ConllSentences, ParquetSentences, Record, read_parquet, stored_sentences
from kernelfields.io import parquet as reader

pa = pytest.importorskip("pyarrow")
feather = pytest.importorskip("pyarrow.feather")
parquet = pytest.importorskip("pyarrow.parquet")

TOKENS = [["the", "dog"], [], ["dogs", "bark", "a lot"]]
POS = [["DT", "NN"], [], ["NNS", "VBP", "RB"]]
LABELS = [["B", "I"], [], ["B", "O", "O"]]
PAIRS = [
    (list(zip(*pair, strict=True)), y) for pair, y in zip(zip(TOKENS, POS, strict=True), LABELS, strict=True)
]


def write_stream(table, path):
    with pa.ipc.new_stream(str(path), table.schema) as stream:
        stream.write_table(table)


WRITERS = {
    "a.parquet": parquet.write_table,
    "a.PQ": parquet.write_table,
    "a.feather": feather.write_feather,
    "a.arrow": write_stream,
}


def sentences(path):
    return list(ParquetSentences((path,)))


def stored(path, **columns):
    parquet.write_table(pa.table(columns), path)
    return path


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_twice(tmp_path, name):
    table = pa.table(
        {"id": [1, 2, 3], "tokens": TOKENS, "labels": LABELS, "pos": POS, "text": ["", "a", None]}
    )
    WRITERS[name](table, tmp_path / name)
    found = stored_sentences([tmp_path / name])
    assert isinstance(found, ParquetSentences)
    assert list(found) == list(found) == PAIRS


@pytest.mark.parametrize(
    "kind",
    [
        pa.list_(pa.large_string()),
        pa.large_list(pa.string()),
        pa.list_(pa.dictionary(pa.int8(), pa.string())),
        pa.list_view(pa.string()),
    ],
    ids=str,
)
def test_every_type_of_lists(tmp_path, kind):
    table = pa.table({"tokens": pa.array(TOKENS, kind), "pos": pa.array(POS, kind), "labels": LABELS})
    feather.write_feather(table, tmp_path / "a.feather")
    assert sentences(tmp_path / "a.feather") == PAIRS


def test_lists_of_one_length(tmp_path):
    path = stored(
        tmp_path / "a.pq", tokens=pa.array([["a", "b"]], pa.list_(pa.string(), 2)), labels=[["A", "B"]]
    )
    assert sentences(path) == [([("a",), ("b",)], ["A", "B"])]


def test_one_column_is_that_of_conll(tmp_path):
    (tmp_path / "a.conll").write_text("the B\ndog I\n\ndogs B\n")
    path = stored(tmp_path / "a.parquet", labels=[["B", "I"], ["B"]], tokens=[["the", "dog"], ["dogs"]])
    assert sentences(path) == list(ConllSentences((tmp_path / "a.conll",)))


@pytest.mark.parametrize("name", WRITERS)
def test_some_rows_at_a_time(tmp_path, monkeypatch, name):
    """However rows are cut into groups, batches and pieces."""
    monkeypatch.setattr(reader, "ROWS", 7)
    tokens = [[f"w{n}.{t}" for t in range(n % 4)] for n in range(50)]
    table = pa.table({"tokens": tokens, "labels": tokens})
    WRITERS[name](table, tmp_path / name)
    assert [labels for _, labels in sentences(tmp_path / name)] == tokens
    tokens[44] = [None]
    WRITERS[name](pa.table({"tokens": tokens, "labels": table["labels"]}), tmp_path / name)
    with pytest.raises(InputError, match="row 44: tokens has a null in its list"):
        sentences(tmp_path / name)


def test_records(tmp_path):
    path = stored(tmp_path / "a.parquet", tokens=TOKENS, labels=LABELS)
    assert list(read_parquet(path)) == [Record(x, y) for x, y in zip(TOKENS, LABELS, strict=True)]
    path = stored(tmp_path / "b.parquet", tokens=TOKENS[:1], pos=POS[:1])
    assert list(read_parquet(str(path))) == [Record([["the", "DT"], ["dog", "NN"]], None)]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"id": [0], "tokens": [["a"]], "tags": [["A"]]},
            " has no column labels; its columns are id, tokens, tags.",
        ),
        ({"id": [0], "labels": [["A"]]}, " has no column of tokens, which are lists of strings."),
        ({"tokens": [["a"]], "labels": ["A"]}, ": the column labels is of string, not of lists of strings."),
        ({"tokens": [["a"]], "labels": [[1]]}, ": the column labels has lists of int64, not of strings."),
        (
            {"tokens": [["a"]], "labels": [["A"]], "vectors": [[[0.5]]]},
            ": the column vectors has lists of list<element: double>, not of strings.",
        ),
        (
            {"tokens": [["a"], ["a", "b"]], "labels": [["A"]] * 2},
            ", row 1: tokens has 2 entries, but labels has 1.",
        ),
        (
            {"tokens": [["a"]] * 2, "pos": [["A"], []], "labels": [["A"]] * 2},
            ", row 1: tokens has 1 entries, but pos has 0.",
        ),
        ({"tokens": [["a"]] * 3, "labels": [["A"], ["A"], None]}, ", row 2: labels is null."),
        ({"tokens": [["a"], None], "labels": [["A"]] * 2}, ", row 1: tokens is null."),
        (
            {"tokens": [[], ["a", "b"]], "labels": [[], ["A", None]]},
            ", row 1: labels has a null in its list.",
        ),
        (
            {"tokens": [["a"], ["b" * 100_001]], "labels": [["A"]] * 2},
            ", row 1: a string of tokens has 100,001 characters, more than the limit of 100,000.",
        ),
    ],
)
def test_what_is_refused(tmp_path, columns, message):
    path = stored(tmp_path / "a.parquet", **columns)
    with pytest.raises(InputError, match=re.escape(f"{path}{message}") + "$"):
        sentences(path)


def with_class_names(path, numbers):
    """Write tokens and numbers of labels as Hugging Face's datasets does."""
    feature = {"feature": {"names": ["O", "B-PER"], "_type": "ClassLabel"}, "_type": "Sequence"}
    told = json.dumps({"info": {"features": {"labels": feature}}})
    table = pa.table({"tokens": [["a"] * len(one) for one in numbers], "labels": numbers})
    parquet.write_table(table.replace_schema_metadata({"huggingface": told}), path)
    return path


def test_numbers_that_stand_for_names(tmp_path):
    path = with_class_names(tmp_path / "a.parquet", [[1, 0], [0]])
    assert [record.labels for record in read_parquet(path)] == [["B-PER", "O"], ["O"]]
    assert [labels for _, labels in sentences(path)] == [["B-PER", "O"], ["O"]]
    for wrong in (2, -2):
        path = with_class_names(tmp_path / "b.parquet", [[1, wrong]])
        with pytest.raises(InputError, match=f"labels has {wrong}, but there are names for 0 to 1"):
            list(read_parquet(path))


def test_labels_that_were_not_observed(tmp_path):
    """Records may lack labels; sentences for training in a stream may not."""
    strings = stored(tmp_path / "a.parquet", tokens=[["a"], ["a", "b"]], labels=[["O"], [None, "B-PER"]])
    numbers = with_class_names(tmp_path / "b.parquet", [[0], [-1, 1]])
    nulls = with_class_names(tmp_path / "c.parquet", [[0], [None, 1]])
    for path in (strings, numbers, nulls):
        assert [record.labels for record in read_parquet(path)] == [["O"], [None, "B-PER"]]
        with pytest.raises(InputError, match="row 1: labels has a null in its list"):
            sentences(path)


def test_files_that_are_not_alike(tmp_path):
    one = stored(tmp_path / "a.parquet", tokens=TOKENS, pos=POS, labels=LABELS)
    two = stored(tmp_path / "b.parquet", pos=POS, tokens=TOKENS, labels=LABELS)
    with pytest.raises(
        InputError, match=r"b\.parquet has the lists pos, tokens, labels, but .*a\.parquet has tok"
    ):
        list(ParquetSentences((one, two)))
    with pytest.raises(InputError, match=r"a\.parquet and some\.conll are in different formats"):
        stored_sentences([Path("some.conll"), one])
    twice = pa.Table.from_arrays([pa.array(TOKENS)] * 2, names=["tokens", "tokens"])
    feather.write_feather(twice, tmp_path / "c.feather")
    with pytest.raises(InputError, match="has two columns tokens"):
        sentences(tmp_path / "c.feather")


def test_files_that_are_damaged(tmp_path):
    path = tmp_path / "a.parquet"
    for content in (b"", b"the DT B-NP\n"):
        path.write_bytes(content)
        with pytest.raises(InputError, match=r"a\.parquet is neither a Parquet nor an Arrow file\.$"):
            sentences(path)
    for name, write in WRITERS.items():
        write(pa.table({"tokens": TOKENS, "labels": LABELS}), tmp_path / name)
        content = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(content[: len(content) // 2])
        with pytest.raises(InputError, match=f"{name} cannot be read, it is damaged or unusual: .*\\.$"):
            sentences(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        sentences(tmp_path / "none.parquet")


def test_text_that_is_none(tmp_path):
    bad = pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff\xfe"]).buffers())
    lists = pa.ListArray.from_arrays(pa.array([0, 1], pa.int32()), bad)
    write_stream(pa.table({"tokens": lists, "labels": [["A"]]}), tmp_path / "a.arrow")
    with pytest.raises(InputError, match=r"cannot be read, it is damaged or unusual: .*UTF8"):
        sentences(tmp_path / "a.arrow")


def test_without_pyarrow(tmp_path, monkeypatch):
    path = stored(tmp_path / "a.parquet", tokens=TOKENS, labels=LABELS)
    real = builtins.__import__

    def refuse(name, *others):
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *others)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(InputError, match=r'needs the package pyarrow.*pip install "kernelfields\[parquet\]"'):
        sentences(path)
