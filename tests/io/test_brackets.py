"""Penn brackets: what is read, what is refused by file and line, and that writing is the inverse."""

import gzip
import io
import re
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernelfields.errors import InputError
from kernelfields.io import read_brackets, write_brackets
from kernelfields.io.phrases import leaves_of, phrases_of

quiet = settings(
    max_examples=50, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)


def read(text, **options):
    return list(read_brackets(io.BytesIO(text.encode()), **options))


DOG = ("S", ("NP-SBJ-1", ("DT", "The"), ("NN", "dog")), ("VP", ("VBZ", "barks"), ("NP=2", ("-NONE-", "*-1"))))
TEXT = "(S (NP-SBJ-1 (DT The) (NN dog)) (VP (VBZ barks) (NP=2 (-NONE- *-1))))"


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        f"( {TEXT} )",
        f"({TEXT})",
        TEXT.replace(" ", "\n"),
        TEXT.replace(" ", "\r\n\t  "),
        TEXT.replace("(", " ( "),
        "\ufeff\n\n" + TEXT + "\n\n",
    ],
)
def test_forms_of_the_same_tree(text):
    assert read(text) == [DOG]
    assert read(text + text.removeprefix("\ufeff")) == [DOG, DOG]


def test_what_is_stripped():
    assert read(TEXT, functions=False, traces=False) == [
        ("S", ("NP", ("DT", "The"), ("NN", "dog")), ("VP", ("VBZ", "barks")))
    ]
    assert read(TEXT, traces=False) == [(*DOG[:2], ("VP", ("VBZ", "barks")))]
    assert read("(X-Y (-LRB- -LRB-) (A-B c-d))", functions=False) == [
        ("X", ("-LRB-", "-LRB-"), ("A-B", "c-d"))
    ]


def test_only_a_bracket_around_one_tree_is_taken_off():
    assert read("( (A a) (B b))") == [("", ("A", "a"), ("B", "b"))]
    assert read("((( (A a))))") == [("", ("", ("A", "a")))]
    assert read("(TOP (A a))") == [("TOP", ("A", "a"))]
    assert read("(A a)") == [("A", "a")]


def test_only_ascii_separates():
    assert read("(A a\u00a0b)(B c\u2028d)(C \x0b)") == [("A", "a\u00a0b"), ("B", "c\u2028d"), ("C", "\x0b")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(A a)\n)", "line 2: a bracket is closed that was not opened"),
        ("(A a))", "line 1: a bracket is closed that was not opened"),
        ("(A a)\n(S\n(B b)\n", "line 2: the tree that begins here ends with 1 brackets still open"),
        ("(((((", "line 1: the tree that begins here ends with 5 brackets still open"),
        ("(A a) word", "line 1: 'word' is outside of all brackets"),
        ("\nword", "line 2: 'word' is outside of all brackets"),
        ("(A a\nb)", "line 2: 'b' stands beside another word"),
        ("(A a (B b))", "line 1: 'a' stands beside a bracket"),
        ("(A (B b) a)", "line 1: 'a' stands beside another word or a bracket"),
        ("((A a) b)", "line 1: 'b' stands beside another word or a bracket"),
        ("(S ())", "line 1: a bracket is empty"),
        ("()", "line 1: a bracket is empty"),
        ("(S\n (NP))", "line 2: nothing is below 'NP'"),
        (f"(A {'a' * 100_001})", "line 1: a word or label has 100,001 characters"),
    ],
)
def test_what_is_refused_by_line(tmp_path, text, message):
    path = tmp_path / "broken.mrg"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message) as caught:
        list(read_brackets(path))
    assert str(caught.value).startswith(f"{path}, line ")


def test_a_tree_of_traces_has_no_words():
    with pytest.raises(InputError, match="line 1: the tree that ends here has no words, only traces"):
        read("(S (NP (-NONE- *)))", traces=False)


def test_trees_before_a_fault_are_read():
    trees = read_brackets(io.BytesIO(b"(A a)\n(B"))
    assert next(trees) == ("A", "a")
    with pytest.raises(InputError):
        next(trees)


def test_trees_deeper_than_the_stack():
    depth = 3 * sys.getrecursionlimit()
    text = "(X-Y " * depth + "(A a)" + ")" * depth
    [tree] = read(text)
    file = io.BytesIO()
    write_brackets([tree], file, outer=False)
    assert file.getvalue().decode() == text + "\n"
    [bare] = read(text, functions=False, traces=False)
    assert [phrase.label for phrase in phrases_of(bare)] == ["X"] * depth
    assert leaves_of(bare) == [("A", "a")]


WORDS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="() \t\n\r\ufeff"), min_size=1, max_size=4
)
LEAVES = st.tuples(WORDS, WORDS)
TREES = st.recursive(
    LEAVES,
    lambda below: st.builds(
        lambda label, rest: (label, *rest), WORDS, st.lists(below, min_size=1, max_size=3)
    ),
)


@quiet
@given(st.lists(TREES, max_size=3), st.booleans())
def test_round_trip(trees, outer):
    file = io.BytesIO()
    write_brackets(trees, file, outer=outer)
    text = file.getvalue().decode()
    assert read(text) == trees
    again = io.BytesIO()
    write_brackets(read(text), again, outer=outer)
    assert again.getvalue().decode() == text


@quiet
@given(TREES)
def test_phrases_are_the_words_below(tree):
    words = leaves_of(tree)

    def walk(node):
        if isinstance(node[1], str):
            return [], [tuple(node)]
        parts = [walk(child) for child in node[1:]]
        inner = [word for _, below in parts for word in below]
        return [(node[0], inner), *(one for found, _ in parts for one in found)], inner

    expected, leaves = walk(tree)
    assert words == leaves
    assert [(label, words[a:b]) for label, a, b in phrases_of(tree)] == expected


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (("A", "a b"), "Tree 0 has 'a b', which may not be empty or contain a bracket"),
        (("A", ""), "Tree 0 has ''"),
        (("", "a"), "Tree 0 has ''"),
        (("A", ("B", "(")), r"Tree 0 has '\('"),
        (("A\n", "a"), r"Tree 0 has 'A\\n'"),
        (("A",), "Tree 0 has 'A' without a word or a subtree below it"),
        ("A", "Tree 0 has 'A' in the place of a subtree"),
    ],
)
def test_what_could_not_be_read_again_is_refused(tree, message):
    with pytest.raises(InputError, match=message):
        write_brackets([tree], io.BytesIO())


def test_files_of_the_penn_treebank(sample_dir):
    """Against what is found in their text by regular expressions."""
    path = sample_dir / "ptb_sample" / "trees.tsv.gz"
    text = "\n".join(line.split("\t")[1] for line in gzip.decompress(path.read_bytes()).decode().splitlines())
    words = re.findall(r"\(([^() ]+) ([^() ]+)\)", text)
    assert [leaf for tree in read(text) for leaf in leaves_of(tree)] == words
    bare = read(text, functions=False, traces=False)
    assert [leaf for tree in bare for leaf in leaves_of(tree)] == [w for w in words if w[0] != "-NONE-"]
    labels = {re.split("[-=]", label)[0] for label in re.findall(r"\(([^() -][^() ]*) \(", text)}
    assert {phrase.label for tree in bare for phrase in phrases_of(tree)} == labels
    assert labels == {"S", "NP", "VP", "PP"}
