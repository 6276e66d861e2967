"""CoNLL-U: what is read, what is refused by file and line, and that files come back to the byte."""

import gzip
import io

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernelfields.errors import InputError
from kernelfields.io import ParsedSentence, read_conllu, write_conllu
from kernelfields.io.heads import require_heads

quiet = settings(
    max_examples=50, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)


def row(number, form, head="_", relation="_", tag="X", misc="_"):
    return "\t".join([str(number), form, "_", tag, "_", "_", str(head), relation, "_", misc])


def read(data, **options):
    return list(read_conllu(io.BytesIO(data if isinstance(data, bytes) else data.encode()), **options))


def lines(*rows):
    return "".join(f"{one}\n" for one in rows) + "\n"


ODD = lines(
    "# sent_id = 1",
    "# text = vámonos al mar ",
    row("1-2", "vámonos"),
    row(1, "vamos", 0, "root", "VERB", "SpaceAfter=No"),
    row(2, "nos", 1, "obj", "PRON"),
    row("3-4", "al", misc="A=b|C"),
    row(3, "a", 5, "case", "ADP"),
    row(4, "el", 5, "det", "DET"),
    row(5, "mar o cielo", 1, "obl", "NOUN"),
    row("5.1", "nada"),
    row("5.2", "#"),
)
SMALL = lines(row("0.1", "x"), row(1, "#", 2, "a"), row(2, "b\u2028\u00a0", 0, "c"))


def test_words_and_trees():
    one, two = read(ODD + SMALL)
    assert one.forms == ["vamos", "nos", "a", "el", "mar o cielo"]
    assert one.tags == ["VERB", "PRON", "ADP", "DET", "NOUN"]
    assert one.heads == [0, 1, 5, 5, 1]
    assert one.relations == ["root", "obj", "case", "det", "obl"]
    assert one.comments == ("# sent_id = 1", "# text = vámonos al mar ")
    assert [cells[0] for cells in one.rows] == ["1-2", "1", "2", "3-4", "3", "4", "5", "5.1", "5.2"]
    assert (two.forms, two.heads, two.comments) == (["#", "b\u2028\u00a0"], [2, 0], ())


def test_files_come_back_to_the_byte():
    text = ODD + SMALL + lines(row(1, "bare")) + lines("#", row(1, "x", 0, "r", misc="A=1|B=2"))
    file = io.BytesIO()
    write_conllu(read(text), file)
    assert file.getvalue() == text.encode()


@pytest.mark.parametrize(
    "text",
    [ODD.replace("\n", "\r\n"), "\ufeff" + ODD, ODD.rstrip("\n"), ODD + "\n \t\n", "\n\n" + ODD],
)
def test_forms_of_the_same_sentence(text):
    assert read(text) == read(ODD)


def test_heads_may_be_unknown():
    [sentence] = read(lines(row(1, "a"), row(2, "b")))
    assert (sentence.heads, sentence.relations) == (None, ["_", "_"])
    assert read("") == read("\n") == []


def test_several_roots_if_wanted():
    text = lines(row(1, "a", 0), row(2, "b", 0))
    assert read(text, single_root=False)[0].heads == [0, 0]
    with pytest.raises(InputError, match="line 2: word 2 has the root as its head, and so has word 1"):
        read(text)


def test_new_arcs():
    [sentence] = read(ODD)
    new = sentence.with_arcs([2, 0, 2, 2, 2], ["a", "b", "c", "d", "e"], [0.5, 1.0, 0.25, 0.99996, 0.1])
    assert (new.heads, new.relations) == ([2, 0, 2, 2, 2], ["a", "b", "c", "d", "e"])
    assert [cells[9] for cells in new.words] == [
        "SpaceAfter=No|Probability=0.5000",
        *("Probability=1.0000", "Probability=0.2500", "Probability=1.0000", "Probability=0.1000"),
    ]
    assert [cells for cells in new.rows if not cells[0].isdecimal()] == [
        cells for cells in sentence.rows if not cells[0].isdecimal()
    ]
    again = new.with_arcs([0, 1, 1, 1, 1], probabilities=[0.1] * 5)
    assert again.words[0][6:] == ("0", "_", "_", "SpaceAfter=No|Probability=0.1000")
    assert again.with_arcs([0, 1, 1, 1, 1]).words == again.words
    with pytest.raises(InputError, match="has 5 words, but 2 were given"):
        sentence.with_arcs([0, 1])


A, B, C = row(1, "a", 2, "x"), row(2, "b", 0, "y"), row(3, "c", 2, "z")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (lines(A, B.replace("\t", " ")), "line 2: expected 10 columns between tabs, but found 1: '2 b"),
        (lines(A, B + "\t"), "line 2: expected 10 columns between tabs, but found 11"),
        (lines(A, B.replace("X", "")), "line 2: UPOS is empty; '_' stands for nothing"),
        (lines(A, C), "line 2: ID is '3', expected 2 after word 1"),
        (lines(B), "line 1: ID is '2', expected 1 after word 0"),
        (lines(A, A), "line 2: ID is '1', expected 2 after word 1"),
        (lines(row("01", "a", 0)), "line 1: ID is '01', expected 1"),
        (lines(row("١", "a", 0)), "line 1: ID is '١', expected 1"),
        (lines(row("x", "a", 0)), "line 1: ID is 'x', expected 1"),
        (lines(" " + A), "line 1: ID is ' 1', which begins with a space"),
        (lines(row("2-3", "q"), A, B, C), "line 1: ID is '2-3', expected 1"),
        (lines(row("1-4", "q"), A, B, C), "line 1: the range ends at 4, but the sentence has 3 words"),
        (lines(A, row("2-1", "q"), B), "line 2: ID is '2-1', a range that ends before it begins"),
        (lines(row("1-2", "q"), A, row("2-3", "q"), B, C), "line 3: ID is '2-3', expected 2"),
        (lines(row("1-2", "q"), row("1-2", "q"), A, B), "line 2: ID is '1-2', expected 1"),
        (lines(A, row("2.1", "q"), B), "line 2: ID is '2.1', expected 2"),
        (lines(A, row("1.2", "q"), B), "line 2: ID is '1.2', expected 2"),
        (lines(row("0.1", "q")), "line 1: the sentence has no words"),
        (lines(A, "# c", B), "line 2: a comment is between words"),
        (lines(A, B) + "# c\n\n" + lines(A, B), "line 4: no words follow this comment"),
        (lines(A, B) + "# c", "line 4: no words follow this comment"),
        (lines(A, row(2, "b", "_")), "line 2: HEAD is '_', but that of word 1 is '2'"),
        (lines(row(1, "a"), B), "line 2: HEAD is '0', but that of word 1 is '_'"),
        (lines(A, row(2, "b", "x")), r"line 2: HEAD is 'x', expected 0 \(the root\) to 2"),
        (lines(A, row(2, "b", "-1")), "line 2: HEAD is '-1', expected 0"),
        (lines(A, row(2, "b", "9" * 5000)), "line 2: HEAD is '9999"),
        (lines(A, row(2, "b", "0.5")), "line 2: HEAD is '0.5'"),
        (lines(row(1, "a", 3), B), r"line 1: the head of word 1 is 3, expected 0 \(the root\) to 2"),
        (lines("# c", row(1, "a", 0), row(2, "b", 2)), "line 3: word 2 is its own head"),
        (lines(row(1, "a", 2), row(2, "b", 3), row(3, "c", 1)), "line 1: word 1 is its own ancestor"),
        (lines(A, B, row(3, "c", 4), row(4, "d", 3)), "line 3: word 3 is its own ancestor"),
        (lines(A, B) + lines(row("1-2", "q"), A, row(2, "b", 1)), "line 5: word 1 is its own ancestor"),
        (lines(row(1, "a" * 100_001, 0)), "line 1: FORM has 100,001 characters, more than the limit"),
    ],
)
def test_what_is_refused_by_line(tmp_path, text, message):
    path = tmp_path / "broken.conllu"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message) as caught:
        list(read_conllu(path))
    assert str(caught.value).startswith(f"{path}, line ")
    assert len(str(caught.value)) < len(str(path)) + 400


def test_bytes_that_are_no_text():
    with pytest.raises(InputError, match=r"line 1: byte 3 \(ff\) is not utf-8"):
        read(b"1\t\xff\n")


class CountedHeads(list):
    asked = 0

    def __getitem__(self, m):
        self.asked += 1
        return super().__getitem__(m)


@pytest.mark.parametrize("heads", [range(500), [*range(2, 501), 0], [0, *[1] * 499]])
def test_heads_are_followed_once_each(heads):
    """Not from every word to the root, which would take the square of the length of a path."""
    counted = CountedHeads(heads)
    assert require_heads(counted, True) is None
    assert counted.asked <= 500


FIELDS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r"), min_size=1, max_size=5
)


@st.composite
def sentences(draw):
    heads: list = []
    order = draw(st.permutations(range(1, draw(st.integers(1, 6)) + 1)))
    above = {order[0]: 0} | {word: draw(st.sampled_from(order[:k])) for k, word in enumerate(order) if k}
    heads = [above[m] for m in range(1, len(order) + 1)]
    rows = []
    for m, head in enumerate(heads, 1):
        if draw(st.booleans()):
            rows.append((f"{m}-{m}", *draw(st.lists(FIELDS, min_size=9, max_size=9))))
        cells = draw(st.lists(FIELDS, min_size=8, max_size=8))
        rows.append((str(m), *cells[:5], str(head), *cells[5:]))
    comments = draw(st.lists(FIELDS.map(lambda text: "#" + text), max_size=2))
    return ParsedSentence(tuple(rows), tuple(comments))


@quiet
@given(st.lists(sentences(), max_size=3))
def test_round_trip(given_sentences):
    file = io.BytesIO()
    write_conllu(given_sentences, file)
    file.seek(0)
    assert list(read_conllu(file)) == given_sentences


@pytest.mark.parametrize(
    ("sentence", "message"),
    [
        (ParsedSentence(()), "Sentence 1 has no words"),
        (ParsedSentence((tuple(A.split("\t")),)), "Sentence 1, line 0: the head of word 1 is 2"),
        (ParsedSentence((("1", "a"),)), "Sentence 1, line 0: expected 10 columns"),
        (ParsedSentence((tuple(row(1, "a\tb", 0).split("\t", 9)),)), "may not contain a tab"),
        (ParsedSentence((("1", "a\nb", *"______", "_", "_"),)), "may not contain a tab or the end of a line"),
        (ParsedSentence((tuple(row(1, "a", 0).split("\t")),), ("x",)), "'x' is not a comment"),
        (ParsedSentence((tuple(row(1, "a", 0).split("\t")),), ("#\n",)), "is not a comment"),
    ],
)
def test_what_could_not_be_read_again_is_refused(sentence, message):
    good = read(lines(A, B))
    with pytest.raises(InputError, match=message):
        write_conllu([*good, sentence], io.BytesIO())


def test_compressed_files(tmp_path):
    path = tmp_path / "x.conllu.gz"
    write_conllu(read(ODD), path)
    assert gzip.decompress(path.read_bytes()).decode() == ODD
    assert list(read_conllu(path)) == read(ODD)
