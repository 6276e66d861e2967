"""Whatever is in a file, a reader gives sequences or one of our own errors, in few words."""

from __future__ import annotations

import gzip
import io
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernelfields import CRF
from kernelfields.errors import InputError
from kernelfields.features import parse_templates
from kernelfields.io import (
    Record,
    Sentence,
    read_brackets,
    read_conll,
    read_conllu,
    read_jsonl,
    read_naacl,
    read_parallel,
    read_pharaoh,
    write_brackets,
    write_conll,
    write_conllu,
    write_jsonl,
    write_naacl,
    write_parallel,
    write_pharaoh,
)

# KERNELFIELDS_EXAMPLES=20000 tries more, and others each time.
EXAMPLES = os.environ.get("KERNELFIELDS_EXAMPLES")
quiet = settings(
    deadline=None,
    derandomize=EXAMPLES is None,
    max_examples=int(EXAMPLES or 150),
    suppress_health_check=[HealthCheck.too_slow],
    database=None,
)

LONGEST_MESSAGE = 2_000

# Pieces that mean something to one reader or another, or to none.
PIECES = [
    *(b"\n", b"\r\n", b"\r", b" ", b"\t", b"  ", b"\xef\xbb\xbf", b"\xff", b"\xc3", b"\x00", b"\xed\xa0\x80"),
    *(b"a", b"B-PER", b"#", b"# text", b"-DOCSTART-", b"\xe2\x80\xa8", b"\xc2\x85", b"\x1c", b"\x0c"),
    *(b"{", b"}", b"[", b"]", b":", b",", b'"', b'"tokens"', b'"labels"', b"null", b"NaN", b"1e999", b"true"),
    *(
        b'{"tokens": ["a", "b"], "labels": ["x", null]}',
        b'{"tokens": [{"w": 1}]}',
        b"\\ud800",
        b"-1",
        b"9" * 5000,
    ),
]
TEMPLATE_PIECES = [
    *(
        "columns:",
        "w",
        "pos",
        "0",
        "1",
        "[",
        "]",
        "(",
        ")",
        "..",
        "&",
        "bias",
        "begin",
        "end",
        "#",
        "\n",
        " ",
    ),
    *(
        "[0]",
        "[-1..1]",
        "lower",
        "suffix3",
        "word",
        "-",
        "+",
        "\ufeff",
        "\x00",
        "\u2028",
        "٣",
        "²",
        "9" * 5000,
    ),
    *("columns: w pos\n", "w[0]", "\nw[-1] & pos[0]", "lower(w[0])", "is_title(w[1])\n"),
]

files = st.one_of(st.binary(max_size=300), st.lists(st.sampled_from(PIECES), max_size=40).map(b"".join))
texts = st.one_of(st.text(max_size=100), st.lists(st.sampled_from(TEMPLATE_PIECES), max_size=30).map("".join))


def outcome(read, *arguments, **options):
    """What a reader gives, or None and a check of what it says; anything else is a failure."""
    try:
        return list(read(*arguments, **options))
    except InputError as error:
        message = str(error)
        assert 0 < len(message) < LONGEST_MESSAGE
        assert message.count("\n") == 0
        return None


@quiet
@given(files, st.booleans(), st.sampled_from(["-DOCSTART-", None]))
def test_columns(data: bytes, comments: bool, mark: str | None) -> None:
    found = outcome(read_conll, io.BytesIO(data), comments=comments, document_mark=mark)
    for sentence in found or []:
        assert len({len(column) for column in sentence.columns}) == 1
        assert sentence.columns[0]


def same_but_for_tabs(left: list[Sentence], right: list[Sentence]) -> bool:
    """Whether sentences say the same, whatever stood between their columns."""
    plain = [[sentence._replace(tabs=False, line=None) for sentence in some] for some in (left, right)]
    return plain[0] == plain[1]


@quiet
@given(files)
def test_what_was_read_can_be_written_and_read_again(data: bytes) -> None:
    found = outcome(read_conll, io.BytesIO(data))
    if found:
        target = io.BytesIO()
        try:
            write_conll(found, target, separator="\t" if len(found[0].columns) > 1 else " ")
        except InputError:
            return
        again = outcome(read_conll, io.BytesIO(target.getvalue()))
        assert again is not None
        assert same_but_for_tabs(again, found)


TREE_PIECES = [
    *(b"\n", b"\r\n", b"\t", b" ", b"\xff", b"\x00", b"\xc2\x85", b"\xef\xbb\xbf", b"9" * 5000, b"_", b"#"),
    *(b"1", b"2", b"0", b"1-2", b"1.1", b"1-" + b"9" * 5000, b"-1", b"\xd9\xa1", b"# x\n", b"\n\n"),
    *(
        b"1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n",
        b"2\tb\t_\t_\t_\t_\t1\tx\t_\t_\n",
        b"1-2\t_\t_\t_\t_\t_\t_\t_\t_\t_\n",
    ),
    *(b"(", b")", b"(NP", b"(DT the)", b"( (S (A a)))", b"(-NONE- *)", b"((((", b"))))"),
    *(
        b"0-0",
        b"1?2",
        b"3p4",
        b"1-1 1-1",
        b"1 1 1 S\n",
        b"2 3 4 P 0.5\n",
        b"1e999",
        b"nan",
        b"|||",
        b" ||| ",
        b"a ||| b",
    ),
]
tree_files = st.one_of(
    st.binary(max_size=300), st.lists(st.sampled_from(TREE_PIECES), max_size=30).map(b"".join)
)


@quiet
@given(
    tree_files,
    st.sampled_from(
        [
            (read_conllu, write_conllu),
            (read_brackets, write_brackets),
            (read_pharaoh, write_pharaoh),
            (read_parallel, write_parallel),
        ]
    ),
)
def test_trees_and_alignments(data: bytes, both) -> None:
    """What is read can be written, unless it is half a character, and comes back."""
    read, write = both
    found = outcome(read, io.BytesIO(data))
    if not found:
        return
    target = io.BytesIO()
    try:
        write(found, target)
    except InputError:
        return
    assert outcome(read, io.BytesIO(target.getvalue())) == found


@quiet
@given(tree_files)
def test_links_line_by_line(data: bytes) -> None:
    found = dict(outcome(lambda source: read_naacl(source).items(), io.BytesIO(data)) or {})
    kept = {pair: alignment for pair, alignment in found.items() if alignment.links}
    target = io.BytesIO()
    write_naacl(kept, target)
    assert list(read_naacl(io.BytesIO(target.getvalue()))) == list(kept)


@quiet
@given(files)
def test_json_lines(data: bytes) -> None:
    found = outcome(read_jsonl, io.BytesIO(data))
    for record in found or []:
        assert isinstance(record, Record)
        assert record.labels is None or len(record.labels) == len(record.tokens)
    if found:
        target = io.BytesIO()
        try:
            write_jsonl(found, target)
        except InputError:  # half a character, a number too large
            return
        assert outcome(read_jsonl, io.BytesIO(target.getvalue())) == found


@quiet
@given(st.text(max_size=100))
def test_files_opened_as_text(text: str) -> None:
    outcome(read_conll, io.StringIO(text))
    outcome(read_jsonl, io.StringIO(text))


@settings(quiet, max_examples=40)
@given(st.binary(max_size=200), st.integers(0, 60), st.integers(0, 255))
def test_damaged_archives(tmp_path_factory, data: bytes, place: int, byte: int) -> None:
    packed = bytearray(gzip.compress(data + b"a X\n", mtime=0))
    packed[place % len(packed)] = byte
    path = tmp_path_factory.mktemp("packed") / "file.gz"
    for content in (packed, packed[: place % len(packed)], data):
        path.write_bytes(content)
        outcome(read_conll, path)
        outcome(read_jsonl, path)


@quiet
@given(texts)
def test_templates(text: str) -> None:
    found = outcome(lambda: [parse_templates(text)])
    if found:
        assert parse_templates(str(found[0])) == found[0]


@quiet
@given(st.lists(st.text(st.characters(), max_size=5), min_size=1, max_size=4))
def test_tokens_of_any_characters(words: list[str]) -> None:
    sentence = [(word,) for word in words]
    outcome(TAGGER.predict, [sentence])
    outcome(DICTIONARY_TAGGER.predict, [[{word: word} for word in words]])


TAGGER = CRF(features=parse_templates("0[-1..1]\nsuffix3(0[0])\nshape(0[0])")).fit(
    [[("a",), ("b",)]], [["x", "y"]]
)
DICTIONARY_TAGGER = CRF().fit([[{"w": "a"}, {"w": "b"}]], [["x", "y"]])

LONG = 10_000_000


@pytest.mark.parametrize(
    ("read", "data", "fits"),
    [
        (read_conll, b"a" * 100_000 + b" X\n", True),  # as long as a token may be
        (read_conll, b"a" * LONG + b" X\n", False),
        (read_conll, b"a X\n" + b"b " * (LONG // 2), False),
        (read_conll, b"\xff" * LONG, False),
        (read_conll, b"\x00" * LONG + b" X", False),
        (read_conll, b"#" * LONG, False),
        (read_conll, b" " * LONG, False),
        (read_jsonl, b'{"tokens": ["' + b"a" * LONG + b'"]}', False),
        (read_jsonl, b'{"tokens": ["' + b"a" * LONG, False),
        (read_jsonl, b"[" * LONG, False),
        (read_jsonl, b'{"tokens":' * (LONG // 10), False),
        (read_jsonl, b"\x00" * LONG, False),
        (read_jsonl, b" " * LONG, True),
    ],
    ids=lambda value: (
        value.__name__ if callable(value) else repr(value[:16]) if isinstance(value, bytes) else ""
    ),
)
def test_long_lines(read, data: bytes, fits: bool) -> None:
    assert (outcome(read, io.BytesIO(data)) is not None) is fits


@pytest.mark.parametrize(
    "text",
    ["x" * LONG, "0[0]&" * 10_000, "(" * LONG, "9" * LONG + "[0]", "#" * LONG, "columns: " + "9" * LONG],
)
def test_long_templates(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_templates(text)
    assert len(str(caught.value)) < LONGEST_MESSAGE


def test_the_same_sentences_however_lines_end() -> None:
    plain = "a X\nb Y\n\nc Z\n"
    wanted = outcome(read_conll, io.BytesIO(plain.encode()))
    for text in (
        "\ufeff" + plain,
        plain.replace("\n", "\r\n"),
        "\n\n" + plain + "\n\n",
        plain.replace(" ", "\t"),
    ):
        found = outcome(read_conll, io.BytesIO(text.encode()))
        assert found is not None
        assert same_but_for_tabs(found, wanted)
    assert parse_templates("\ufeffcolumns: w\r\nw[0]\r\n") == parse_templates("columns: w\nw[0]")


def test_infinite_labels_are_refused() -> None:
    with pytest.raises(InputError, match="line 1: label 0 is inf, not a finite number"):
        list(read_jsonl(io.BytesIO(b'{"tokens": ["a"], "labels": [1e999]}')))
