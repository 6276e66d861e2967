"""Columns of text: what is read, what is refused, and that writing is the inverse of reading."""

import gzip
import io
from collections import Counter
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernelfields.errors import InputError
from kernelfields.io import Sentence, read_conll, write_conll

# Making the first text takes a while on a busy machine.
quiet = settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])


def read(data, **options):
    return unplaced(read_conll(io.BytesIO(data if isinstance(data, bytes) else data.encode()), **options))


def unplaced(sentences):
    """Without the lines that they were read from."""
    return [one._replace(line=None) for one in sentences]


def columns(data, **options):
    return [sentence.columns for sentence in read(data, **options)]


TWO = [[["a", "b"], ["X", "Y"]], [["c"], ["Z"]]]


@pytest.mark.parametrize(
    "text",
    [
        "a X\nb Y\n\nc Z\n",
        "a X\nb Y\n\nc Z",
        "a X\nb Y\n\nc Z\n\n\n",
        "\n\na X\nb Y\n\n\n\nc Z\n",
        "a X\r\nb Y\r\n\r\nc Z\r\n",
        "\ufeffa X\nb Y\n\nc Z\n",
        "a   X\n  b Y \n \nc Z\n",
        "a X\nb Y\n \t \nc Z\n",
        "a\tX\nb\tY\n\nc\tZ\n",
        "a\tX\r\nb\tY\r\n \r\nc\tZ",
    ],
)
def test_forms_of_the_same_sentences(text):
    assert columns(text) == TWO


def test_one_column_and_many():
    assert columns("a\nb\n\nc\n") == [[["a", "b"]], [["c"]]]
    assert columns(" ".join(map(str, range(50)))) == [[[str(k)] for k in range(50)]]
    assert columns("") == columns("\n\n") == []


def test_tabs_keep_spaces_and_empty_fields():
    assert columns("New York\t\tB-LOC\n x \ty\tz\n") == [[["New York", " x "], ["", "y"], ["B-LOC", "z"]]]


def test_only_spaces_separate():
    """Unicode has more spaces and more ends of lines than ASCII; they belong to words."""
    words = ["a\u00a0b", "c\u2028d", "e\x0bf", "g\x85h", "\u3000", "i\rj", "\x1c"]
    assert columns("".join(f"{word} X\n" for word in words)) == [[words, ["X"] * len(words)]]


def test_words_of_any_kind():
    words = ["a:b", "\\", "#", "\N{GRINNING FACE}", '"', "-DOCSTART", "日本"]
    assert columns("".join(f"{word} X\n" for word in words))[0][0] == words


def test_comments_stand_before_the_first_token():
    text = "# one\n#two\na X\n# Y\n\n# three\n\nb Z\n"
    assert read(text, comments=True) == [
        Sentence([["a", "#"], ["X", "Y"]], ("# one", "#two")),
        Sentence([["b"], ["Z"]], ("# three",)),
    ]
    assert columns("# #\na X\n") == [[["#", "a"], ["#", "X"]]]


def test_documents_are_kept_apart():
    text = "-DOCSTART- -X- O O\n\na X\n\nb Y\n-DOCSTART-\nc Z\n\n"
    text += "-DOCSTART- empty\n-DOCSTART- last\n\nd W\n-DOCSTART-"
    assert read(text) == [
        Sentence([["a"], ["X"]], document="-DOCSTART- -X- O O"),
        Sentence([["b"], ["Y"]]),
        Sentence([["c"], ["Z"]], document="-DOCSTART-"),
        Sentence([["d"], ["W"]], document="-DOCSTART- last"),
    ]
    assert columns("-DOCSTART- O\na X\n", document_mark=None) == [[["-DOCSTART-", "a"], ["O", "X"]]]
    assert read("<doc>\na X\n", document_mark="<doc>") == [Sentence([["a"], ["X"]], document="<doc>")]


def test_sentences_are_read_one_by_one():
    sentences = read_conll(io.BytesIO(b"a X\n\nb\n"))
    assert next(sentences).columns == [["a"], ["X"]]
    with pytest.raises(InputError):
        next(sentences)


def test_sources(tmp_path):
    plain, packed = tmp_path / "x.conll", tmp_path / "x.conll.gz"
    plain.write_bytes(b"a X\nb Y\n\nc Z\n")
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    with open(plain, encoding="utf-8") as text, open(plain, "rb") as data:
        for source in (plain, str(plain), packed, str(packed), text, data, io.StringIO("a X\nb Y\n\nc Z\n")):
            assert [sentence.columns for sentence in read_conll(source)] == TWO


def test_encodings():
    assert columns("é X\n".encode("latin-1"), encoding="latin-1") == [[["é"], ["X"]]]
    assert columns("é X\n".encode("utf-8-sig"), encoding="utf-8-sig") == [[["é"], ["X"]]]
    with pytest.raises(InputError, match="'utf-16' does not contain ASCII"):
        read("a X\n", encoding="utf-16")
    with pytest.raises(InputError, match="'utf-99' is not known"):
        read("a X\n", encoding="utf-99")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a X\nb\n", "line 2: expected 2 columns, as in line 1, but found 1: 'b'"),
        (b"\n\na X\n\nb Y Z\n", "line 5: expected 2 columns, as in line 3, but found 3"),
        (b"a\tX\nb Y\n", "line 2: expected 2 columns, as in line 1, but found 1: 'b Y'"),
        (b"a X\nb\tY\n", "line 2: expected 2 columns, as in line 1, but found 1"),
        (b"a X\n# comment in the middle\n", "line 2: expected 2 columns"),
        (b"a X\n\xff Y\n", r"line 2: byte 1 \(ff\) is not utf-8"),
        (b"a X\nbc\xe9 Y\n", r"line 2: byte 3 \(e9\) is not utf-8"),
    ],
)
def test_malformed_lines_are_named(tmp_path, data, message):
    path = tmp_path / "broken.conll"
    path.write_bytes(data)
    with pytest.raises(InputError, match=message) as caught:
        list(read_conll(path, comments=True))
    assert str(caught.value).startswith(f"{path}, line ")


def test_text_files_with_other_bytes(tmp_path):
    path = tmp_path / "broken.conll"
    path.write_bytes(b"a X\n\xff Y\n")
    with (
        open(path, encoding="utf-8") as file,
        pytest.raises(InputError, match="line 1: here or later, not utf-8"),
    ):
        list(read_conll(file))


def test_damaged_archives(tmp_path):
    path = tmp_path / "x.gz"
    packed = gzip.compress(b"a X\n" * 100)
    for data in (b"a X\n", packed[:-12], packed[:12] + b"\xff\xff\xff" + packed[15:]):
        path.write_bytes(data)
        with pytest.raises(InputError, match=r"x.gz, line \d+: the compressed file is damaged"):
            list(read_conll(path))


WORDS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters=" \t\n\r\ufeff"), min_size=1, max_size=6
) | st.sampled_from(["a:b", "\\", "\\:", "#", "-DOCSTART", "\u00a0", "\u2028", "日本", "B-X"])
PADDED = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r\ufeff"), max_size=6)


@st.composite
def files(draw, fields, least=1):
    width = draw(st.integers(least, 4))
    row = st.lists(fields, min_size=width, max_size=width).filter(lambda row: any(x.strip(" ") for x in row))
    rows = st.lists(row, min_size=1, max_size=5)
    heading = st.sampled_from([None, "-DOCSTART-", "-DOCSTART- -X- O"])
    sentence = st.builds(
        lambda rows, mark: Sentence([list(column) for column in zip(*rows, strict=True)], (), mark),
        rows,
        heading,
    )
    return draw(st.lists(sentence, max_size=4))


def there_and_back(sentences, **options):
    file = io.BytesIO()
    write_conll(sentences, file, **options)
    file.seek(0)
    options.pop("separator", None)
    return [sentence._replace(tabs=False, line=None) for sentence in read_conll(file, **options)]


@quiet
@given(files(WORDS))
def test_round_trip_with_spaces(sentences):
    assert there_and_back(sentences) == sentences


@quiet
@given(files(WORDS))
def test_round_trip_with_tabs(sentences):
    assert there_and_back(sentences, separator="\t") == sentences


@quiet
@given(files(PADDED, least=2))
def test_round_trip_with_spaces_inside_fields(sentences):
    assert there_and_back(sentences, separator="\t") == sentences


HASHES = st.sampled_from(["#", "#tag", "a", "=", "id", "X", "newdoc"])
REMARKS = st.sampled_from(["# id = 1", "# a b c d e", "# newpar", "# b", "#"])


@quiet
@given(files(HASHES), st.lists(st.lists(REMARKS, max_size=2), min_size=4, max_size=4))
def test_comments_told_by_their_columns_come_back_or_are_refused(sentences, remarks):
    given_sentences = [s._replace(comments=tuple(r)) for s, r in zip(sentences, remarks, strict=False)]
    for separator in (" ", "\t"):
        with suppress(InputError):  # what would be read otherwise
            assert there_and_back(given_sentences, comments=None, separator=separator) == given_sentences


def test_round_trip_with_comments_and_encodings():
    sentences = [
        Sentence([["1", "2"], ["é", "#"]], ("# sent_id = 1", "#"), "-DOCSTART-"),
        Sentence([["1"], ["x"]]),
    ]
    for encoding in ("utf-8", "utf-8-sig", "latin-1"):
        assert there_and_back(sentences, comments=True, encoding=encoding) == sentences


def test_targets(tmp_path):
    sentences = [Sentence(two) for two in TWO]
    for name in ("x.conll", "x.conll.gz"):
        write_conll(sentences, tmp_path / name)
        assert unplaced(read_conll(tmp_path / name)) == sentences
    assert gzip.decompress((tmp_path / "x.conll.gz").read_bytes()) == (tmp_path / "x.conll").read_bytes()
    again = tmp_path / "y.conll.gz"
    write_conll(sentences, str(again))
    assert again.read_bytes() == (tmp_path / "x.conll.gz").read_bytes()
    file = io.StringIO()
    write_conll(iter(sentences), file)
    assert file.getvalue() == "a X\nb Y\n\nc Z\n\n"


@pytest.mark.parametrize(
    ("sentence", "options", "message"),
    [
        (Sentence([["a", "b"], ["X"]]), {}, r"columns of sentence 1 have different lengths: \[2, 1\]"),
        (Sentence([["a"]]), {}, "Sentence 1 has 1 columns, but sentence 0 has 2"),
        (Sentence([[], []]), {}, "Sentence 1 has no tokens"),
        (Sentence([["a b"], ["X"]]), {}, "Sentence 1, token 0: 'a b' cannot be a field"),
        (Sentence([["a"], [""]]), {}, "Sentence 1, token 0: '' cannot be a field"),
        (Sentence([["a\tb"], ["X"]]), {}, "cannot be a field"),
        (Sentence([["a\tb"], ["X"]]), {"separator": "\t"}, "which may not contain a tab or the end"),
        (Sentence([["a\nb"], ["X"]]), {"separator": "\t"}, "cannot be a field"),
        (Sentence([["a"], ["X\r"]]), {}, "cannot be a field"),
        (Sentence([[""], [" "]]), {"separator": "\t"}, "all fields are empty"),
        (Sentence([["-DOCSTART-"], ["X"]]), {}, "read as the mark of a document"),
        (
            Sentence([["a", "-DOCSTART- b"], ["X", "Y"]]),
            {"separator": "\t"},
            "token 1: .* mark of a document",
        ),
        (Sentence([["a"], ["X"]], ("# c",)), {}, "Sentence 1 has comments"),
        (Sentence([["a"], ["X"]], ("c",)), {"comments": True}, "'c' is not a comment"),
        (Sentence([["a"], ["X"]], ("#\nc",)), {"comments": True}, "is not a comment"),
        (Sentence([["#a"], ["X"]]), {"comments": True}, "'#a' would be read as a comment"),
        (Sentence([["a"], ["X"]], (), "doc"), {}, "'doc' is not a line that begins with '-DOCSTART-'"),
        (Sentence([["a"], ["X"]], (), "-DOCSTART-\n"), {}, "is not a line"),
        (
            Sentence([["a"], ["X"]], (), "-DOCSTART-"),
            {"document_mark": None},
            "is not a line that begins with None",
        ),
        (Sentence([["\ud800"], ["X"]]), {}, r"<input>, line 3: '\\ud800' cannot be written as utf-8"),
        (Sentence([["日"], ["X"]]), {"encoding": "latin-1"}, "cannot be written as latin-1"),
        (Sentence([["a"], ["X"]]), {"separator": ","}, "separator is ','"),
    ],
)
def test_what_could_not_be_read_again_is_refused(sentence, options, message):
    with pytest.raises(InputError, match=message):
        write_conll([Sentence([["a"], ["X"]]), sentence], io.BytesIO(), **options)


def test_no_word_may_look_like_a_byte_order_mark():
    with pytest.raises(InputError, match="byte order mark"):
        write_conll([Sentence([["\ufeffa"]])], io.BytesIO())


CHUNKS = {"train.txt": (8_936, 211_727, 106_978, 55_081), "test.txt": (2_012, 47_377, 23_852, 12_422)}


@pytest.mark.data
def test_conll_2000(data_dir):
    found = {}
    for name in CHUNKS:
        sentences = list(read_conll(data_dir / "conll2000" / f"{name}.gz"))
        begun = Counter(tag for s in sentences for tag in s.columns[2] if tag.startswith("B-"))
        assert all(len(s.columns) == 3 for s in sentences)
        found[name] = len(sentences), sum(len(s.columns[0]) for s in sentences), begun.total(), begun["B-NP"]
    assert found == CHUNKS


# Sentences, tokens (document lines among them), document lines, and B- tags of LOC, ORG, PER, MISC.
NAMES = {
    "esp.train": (8_323, 264_715, 0, 4_913, 7_390, 4_321, 2_173),
    "esp.testa": (1_915, 52_923, 0, 984, 1_700, 1_222, 445),
    "esp.testb": (1_517, 51_533, 0, 1_084, 1_400, 735, 339),
    "ned.train": (15_806, 202_931, 287, 3_208, 2_082, 4_716, 3_338),
    "ned.testa": (2_895, 37_761, 74, 479, 686, 703, 748),
    "ned.testb": (5_195, 68_994, 119, 774, 882, 1_098, 1_187),
}


@pytest.mark.data
def test_conll_2002(data_dir):
    found = {}
    for name in NAMES:
        sentences = list(read_conll(data_dir / "conll2002" / f"{name}.gz"))
        documents = sum(s.document is not None for s in sentences)
        tokens = sum(len(s.columns[0]) for s in sentences)
        begun = Counter(tag for s in sentences for tag in s.columns[2])
        kinds = [begun[f"B-{kind}"] for kind in ("LOC", "ORG", "PER", "MISC")]
        found[name] = len(sentences), tokens + documents, documents, *kinds
        assert_written_and_read_again(sentences)
    assert found == NAMES


@pytest.mark.parametrize(
    "name", ["conll2000/train.txt.gz", "conll2000/test.txt.gz", "conll2002/ned.testa.gz"]
)
def test_files_of_shared_tasks(sample_dir, name):
    text = gzip.decompress((sample_dir / name).read_bytes()).decode()
    sentences = list(read_conll(sample_dir / name))
    assert len(sentences) == text.count("\n\n")
    assert [row for s in sentences for row in zip(*s.columns, strict=True)] == [
        tuple(line.split()) for line in text.splitlines() if line
    ]
    assert_written_and_read_again(sentences)


def assert_written_and_read_again(sentences):
    file = io.BytesIO()
    write_conll(sentences, file)
    file.seek(0)
    assert unplaced(read_conll(file)) == unplaced(sentences)


def test_comments_are_told_from_tokens_by_their_columns():
    """None: what has another number of columns, or the form that CoNLL-U gives comments."""
    text = "# sent_id = 1\n# text\tis # here\n1\t#\tX\n\n#\tNN\tY\n2\tb\tZ\n"
    assert read(text, comments=None) == [
        Sentence([["1"], ["#"], ["X"]], ("# sent_id = 1", "# text\tis # here"), tabs=True),
        Sentence([["#", "2"], ["NN", "b"], ["Y", "Z"]], tabs=True),
    ]
    text = "# newpar\n# id = x\n# NN B\n# of O\n\n#tag NN O\n\n# three words more\na NN O\n"
    assert read(text, comments=None) == [
        Sentence([["#", "#"], ["NN", "of"], ["B", "O"]], ("# newpar", "# id = x")),
        Sentence([["#tag"], ["NN"], ["O"]]),
        Sentence([["a"], ["NN"], ["O"]], ("# three words more",)),
    ]
    assert columns("#\n#tag\n\n# a comment\nb\n", comments=None) == [[["#", "#tag"]], [["b"]]]
    assert columns("# #\n# #\n", comments=None) == [[["#", "#"], ["#", "#"]]]


def test_comments_that_are_told_apart_come_back():
    sentences = [Sentence([["1"], ["#"]], ("# sent_id = 1", "# a b c")), Sentence([["#"], ["X"]])]
    assert there_and_back(sentences, comments=None) == sentences
    with pytest.raises(InputError, match="'# b' is not a comment"):
        write_conll([Sentence([["a"], ["X"]], ("# b",))], io.BytesIO(), comments=None)
    with pytest.raises(InputError, match="'#' would be read as a comment"):
        write_conll([Sentence([["#"], ["id"], ["="]])], io.BytesIO(), comments=None)


def test_lines_and_tokens_have_a_limit(tmp_path):
    """A line is refused before it is read whole, a token before it goes into a model."""
    path = tmp_path / "long.conll"
    path.write_bytes(b"a X\n" + b"b" * 100_001 + b" X\n")
    with pytest.raises(
        InputError, match="line 2: a field has 100,001 characters, more than the limit of 100,000"
    ):
        list(read_conll(path))
    path.write_bytes(b"a X\n" + b"b " * 600_000 + b"\n")
    with pytest.raises(
        InputError, match="line 2: the line has more than 1,048,576 bytes, which is the limit"
    ):
        list(read_conll(path))
    path.write_bytes(b"b" * 100_000 + b" X\n")
    assert len(list(read_conll(path))) == 1


def test_sentences_know_their_first_line(tmp_path):
    path = tmp_path / "a.conll"
    path.write_text("# id = 1\na X\nb Y\n\n\n-DOCSTART- -X-\n\nc Z\n", encoding="utf-8")
    for comments in (None, True):
        assert [one.line for one in read_conll(path, comments=comments)] == [2, 8]
