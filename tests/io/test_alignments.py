"""Pharaoh's and the NAACL's alignments, and sentences side by side."""

import gzip
import io

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernelfields.errors import InputError
from kernelfields.io import (
    AlignmentLink,
    SentencePair,
    WordAlignment,
    read_naacl,
    read_parallel,
    read_pharaoh,
    write_naacl,
    write_parallel,
    write_pharaoh,
)

quiet = settings(
    max_examples=50, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)


def stream(text):
    return io.BytesIO(text.encode())


def written(write, *arguments, **options):
    file = io.BytesIO()
    write(*arguments, file, **options)
    return file.getvalue().decode()


def test_pharaoh():
    one, empty, two = read_pharaoh(stream("0-0 3?1  2p2\t1-0\n\n10-11\n"))
    assert one.links == (
        *(AlignmentLink(0, 0), AlignmentLink(3, 1, False), AlignmentLink(2, 2, False), AlignmentLink(1, 0)),
    )
    assert (one.sure, one.possible) == ([(0, 0), (1, 0)], [(0, 0), (3, 1), (2, 2), (1, 0)])
    assert empty == WordAlignment()
    assert two.sure == [(10, 11)]


def test_pharaoh_counted_from_one():
    [one] = read_pharaoh(stream("1-1 2p3"), first=1)
    assert one.possible == [(0, 0), (1, 2)]
    assert written(write_pharaoh, [one], first=1, possible="p") == "1-1 2p3\n"
    with pytest.raises(InputError, match="line 1: '0-1' has word 0, but words are counted from 1"):
        list(read_pharaoh(stream("0-1"), first=1))


def test_pharaoh_comes_back_to_the_byte():
    text = "0-0 3?1 2-2\n\n\n10-11\n"
    assert written(write_pharaoh, read_pharaoh(stream(text))) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0-0\n1-x", "line 2: '1-x' is not a link such as 0-1"),
        ("0--1", "line 1: '0--1' is not a link"),
        ("-1-1", "line 1: '-1-1' is not a link"),
        ("0 1", "line 1: '0' is not a link"),
        ("0s1", "is not a link"),
        ("١-1", "is not a link"),
        ("0-1\u00a01-1", "is not a link"),
        ("9999999999-1", "is not a link"),
        ("0-1 1-1 0-1", "line 1: the link '0-1' is there twice"),
        ("0-1 0?1", "line 1: the link '0\\?1' is there twice"),
    ],
)
def test_what_is_no_pharaoh(tmp_path, text, message):
    path = tmp_path / "broken.align"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message) as caught:
        list(read_pharaoh(path))
    assert str(caught.value).startswith(f"{path}, line ")


def test_naacl():
    found = read_naacl(stream("0001 1 1 S\n0001 2 4 P 0.25\n\n3 5 5\n2 0 7 S\n1 3 3 P\n"))
    assert list(found) == [1, 3, 2]
    assert found[1].links == (
        *(AlignmentLink(0, 0), AlignmentLink(1, 3, False, 0.25), AlignmentLink(2, 2, False)),
    )
    assert found[3].sure == [(4, 4)]
    assert found[2] == WordAlignment()  # a word that belongs to none


def test_naacl_comes_back_to_the_byte():
    text = "1 1 1 S\n1 2 4 P 0.25\n7 5 5 S 1\n"
    assert written(write_naacl, read_naacl(stream(text))) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 1", "line 1: expected 'sentence i j'"),
        ("1 1 1 S\n1 1 x S", "line 2: expected 'sentence i j'"),
        ("1 1 1 S 0.5 6", "line 1: expected 'sentence i j'"),
        ("1 -1 1", "expected 'sentence i j'"),
        ("1 1 1 Q", "line 1: 'Q' is neither S .sure. nor P"),
        ("1 1 1 0.5", "'0.5' is neither S"),
        ("1 1 1 S nan", "the confidence is 'nan', which is not a number"),
        ("1 1 1 S 1_0", "the confidence is '1_0'"),
        ("1 1 1 S 1e999", "the confidence is '1e999'"),
        ("1 1 2 S\n01 1 2 P", "line 2: the link of words 1 and 2 of pair 1 is there twice"),
    ],
)
def test_what_is_no_naacl(text, message):
    with pytest.raises(InputError, match=message):
        read_naacl(stream(text))


LINKS = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), unique=True, max_size=6)
ALIGNMENTS = st.builds(
    lambda links, sure: WordAlignment(
        tuple(AlignmentLink(i, j, s) for (i, j), s in zip(links, sure, strict=False))
    ),
    LINKS,
    st.lists(st.booleans(), min_size=6, max_size=6),
)


@quiet
@given(st.lists(ALIGNMENTS, max_size=4), st.integers(0, 1), st.sampled_from("?p"))
def test_round_trips(alignments, first, possible):
    text = written(write_pharaoh, alignments, first=first, possible=possible)
    assert list(read_pharaoh(stream(text), first=first)) == alignments
    kept = {n: one for n, one in enumerate(alignments) if one.links}
    assert read_naacl(stream(written(write_naacl, kept))) == kept


@pytest.mark.parametrize(
    ("links", "message"),
    [
        ([AlignmentLink(-1, 0)], "The source of a link of sentence pair 0 is -1"),
        ([AlignmentLink(0, 10**9)], "The target of a link of sentence pair 0 is 1000000000"),
        ([AlignmentLink(0, 1), AlignmentLink(0, 1, False)], "has the link of words 0 and 1 twice"),
    ],
)
def test_links_that_could_not_be_read_again(links, message):
    with pytest.raises(InputError, match=message):
        written(write_pharaoh, [WordAlignment(tuple(links))])
    with pytest.raises(InputError, match=message):
        written(write_naacl, {0: WordAlignment(tuple(links))})


def test_odd_options():
    for call, option in ((read_pharaoh, {"first": 2}), (read_parallel, {"first": "a"})):
        with pytest.raises(InputError, match="first is"):
            list(call(stream(""), **option))
    with pytest.raises(InputError, match="possible is '-'"):
        written(write_pharaoh, [], possible="-")


def test_parallel():
    text = "the house ||| das  Haus ||| 0-0 1?1\na|||b ||| c\n ||| \nx y\tz\t0-0\n||| a\n"
    one, two, empty, tabs, half = read_parallel(stream(text))
    assert one == (
        ["the", "house"],
        ["das", "Haus"],
        WordAlignment(((0, 0, True, None), (1, 1, False, None))),
    )
    assert two == (["a|||b"], ["c"], None)
    assert empty == ([], [], None)
    assert tabs.alignment.sure == [(0, 0)]
    assert half == ([], ["a"], None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a b", "line 1: expected two sentences with '|||' or a tab between them: 'a b'"),
        ("", None),
        ("a ||| b ||| 0-0 ||| c", "expected two sentences"),
        ("a ||| b\n\n", "line 2: expected two sentences"),
        (
            "a ||| b ||| 0-1",
            "line 1: a link joins words 0 and 1, counted from 0, but the sentences",
        ),
        ("a ||| b ||| x", "line 1: 'x' is not a link"),
        ("a" * 100_001 + " ||| b", "line 1: a word has 100,001 characters"),
    ],
)
def test_what_is_no_pair(text, message):
    if message is None:
        assert list(read_parallel(stream(text))) == []
        return
    with pytest.raises(InputError) as caught:
        list(read_parallel(stream(text)))
    assert message in str(caught.value)


SIDES = st.lists(st.text("ab|日", min_size=1, max_size=3).filter(lambda word: word != "|||"), max_size=4)


@quiet
@given(st.lists(st.tuples(SIDES, SIDES, st.booleans()), max_size=3), st.integers(0, 1))
def test_parallel_round_trip(sides, first):
    pairs = [
        SentencePair(
            a, b, WordAlignment((AlignmentLink(0, 0, False),) if a and b else ()) if linked else None
        )
        for a, b, linked in sides
    ]
    text = written(write_parallel, pairs, first=first)
    assert list(read_parallel(stream(text), first=first)) == pairs


@pytest.mark.parametrize("word", ["", "a b", "a\tb", "|||", "a\n"])
def test_words_that_could_not_be_read_again(word):
    with pytest.raises(InputError, match="Sentence pair 0 has"):
        written(write_parallel, [SentencePair([word], ["b"])])


def test_files_of_the_hansards(sample_dir):
    """By counts of what their lines are made of."""
    folder = sample_dir / "word_alignment" / "hansards_en_fr"
    texts = {
        name: gzip.decompress((folder / f"{name}.gz").read_bytes()).decode()
        for name in ("test.src-tgt", "test.gold", "dev.wa.nonullalign")
    }
    pairs = list(read_parallel(folder / "test.src-tgt.gz"))
    assert [f"{' '.join(pair.source)} ||| {' '.join(pair.target)}" for pair in pairs] == texts[
        "test.src-tgt"
    ].splitlines()
    links = list(read_pharaoh(folder / "test.gold.gz", first=1))
    assert len(links) == len(pairs) == 20
    assert sum(len(one.sure) for one in links) == texts["test.gold"].count("-") > 0
    assert sum(len(one.possible) for one in links) == len(texts["test.gold"].split())
    trial = read_naacl(folder / "dev.wa.nonullalign.gz")
    lines = texts["dev.wa.nonullalign"].splitlines()
    assert sum(len(one.sure) for one in trial.values()) == sum(line.endswith(" S") for line in lines) > 0
    assert sum(len(one.possible) for one in trial.values()) == len(lines)
