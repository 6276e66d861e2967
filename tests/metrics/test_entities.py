"""Entities against seqeval and against a second implementation of conlleval's rules."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import precision_recall_fscore_support as seqeval_scores

from kernelfields.errors import InputError
from kernelfields.io import read_conll
from kernelfields.metrics import entity_f1, entity_scores, has_entities


class Reader:
    """One side of the evaluation, read label by label: the rules of the script's description.

    A chunk can be in IOB (B begins a chunk, I continues one of its type or begins one), in IOE (E
    ends a chunk, I begins one after it), in brackets (each a chunk of one word), and in IOBES.
    """

    def __init__(self):
        self.tag, self.kind = "O", ""

    def read(self, label):
        """Read a label; return whether a chunk ended before it, and whether it begins one."""
        tag, _, kind = label.partition("-")
        other = kind != self.kind
        step = self.tag + tag
        ended = step in ("BB", "BO", "IB", "IO", "EE", "EI", "EO") or self.tag in ("[", "]")
        begins = step in ("BB", "IB", "OB", "OI", "EE", "EI", "OE") or tag in ("[", "]")
        ended |= other and self.tag not in ("O", ".")
        begins |= other and tag not in ("O", ".")
        # IOBES: S stands alone, and nothing continues what E has ended.
        ended |= self.tag == "S" or step in ("BS", "IS", "ES", "EB")
        begins |= tag == "S" or step in ("SI", "SE", "SB", "EB")
        self.tag, self.kind = tag, kind
        return ended, begins


def conlleval(y_true, y_pred):
    """Counts of true, predicted and correct chunks by type, in one pass over the lines of a file."""
    n_true, n_predicted, n_correct = Counter(), Counter(), Counter()
    for true, predicted in zip(y_true, y_pred, strict=True):
        left, right, on_trial = Reader(), Reader(), False
        for a, b in zip([*true, "O"], [*predicted, "O"], strict=True):
            kind = left.kind
            (a_ended, a_begins), (b_ended, b_begins) = left.read(a), right.read(b)
            if on_trial and a_ended and b_ended:
                n_correct[kind] += 1
                on_trial = False
            if a_ended or b_ended or left.kind != right.kind:
                on_trial = False
            if a_begins and b_begins and left.kind == right.kind:
                on_trial = True
            n_true[left.kind] += a_begins
            n_predicted[right.kind] += b_begins
        n_correct[left.kind] += on_trial
    return n_true, n_predicted, n_correct


def assert_like_conlleval(y_true, y_pred):
    scores = entity_scores(y_true, y_pred)
    n_true, n_predicted, n_correct = conlleval(y_true, y_pred)
    counts = (n_true.total(), n_predicted.total(), n_correct.total())
    assert scores.overall[3:] == counts
    assert list(scores.by_type) == sorted(set(+n_true) | set(+n_predicted))
    for kind, score in scores.by_type.items():
        assert score[3:] == (n_true[kind], n_predicted[kind], n_correct[kind])
    precision = counts[2] / counts[1] if counts[1] else 0.0
    recall = counts[2] / counts[0] if counts[0] else 0.0
    f1 = 2 * precision * recall / (precision + recall) if counts[2] else 0.0
    assert scores.overall[:3] == pytest.approx((precision, recall, f1), rel=1e-14)


def labels_of(tags, plain="O", kinds=("X", "Y", "Y-Z")):
    return [*plain, *(f"{tag}-{kind}" for tag in tags for kind in kinds)]


def problems(labels):
    """Truths, and predictions that differ in some places."""
    pair = st.one_of(
        st.sampled_from(labels).map(lambda a: (a, a)),
        st.tuples(st.sampled_from(labels), st.sampled_from(labels)),
    )
    return st.lists(st.lists(pair, max_size=8), max_size=6)


def apart(problem):
    return tuple([[pair[side] for pair in sequence] for sequence in problem] for side in (0, 1))


SCHEMES = {
    "IOB": labels_of("IB"),
    "IOE": labels_of("IE"),
    "IOBES": labels_of("BIES"),
    "open": labels_of("[", "."),
    "close": labels_of("]", "."),
    "untyped": ["O", "B", "I", "E", "S", "B-X", "I-X"],
    "all": labels_of("BIES[]", ["O", ".", "B", "I", "?", "O-X", ".-X", "?-X", "-X", "", "BI-X"]),
}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_counts_are_those_of_conlleval(scheme):
    @settings(max_examples=200, deadline=None, derandomize=True)
    @given(problems(SCHEMES[scheme]))
    def check(problem):
        assert_like_conlleval(*apart(problem))

    check()


# seqeval's default mode has the rules for B, I, E, S and O, but gives untyped entities the type "_".
@pytest.mark.parametrize("scheme", ["IOB", "IOE", "IOBES"])
def test_scores_are_those_of_seqeval(scheme):
    @settings(max_examples=200, deadline=None, derandomize=True)
    @given(problems(SCHEMES[scheme]))
    def check(problem):
        true, guess = apart(problem)
        scores = entity_scores(true, guess)
        if not scores.by_type:
            return
        for average in ("micro", None):
            expected = seqeval_scores(true, guess, average=average, zero_division=0)
            rows = [scores.overall] if average else list(scores.by_type.values())
            for column, values in enumerate(expected):
                found = [row[column] for row in rows]
                assert found == pytest.approx(list(values) if average is None else [values], rel=1e-12)

    check()


CASES = {
    "inside after outside begins": (["O", "I-X", "I-X"], ["O", "B-X", "I-X"], (1, 1, 1)),
    "inside after another type begins": (["B-X", "I-Y"], ["B-X", "B-Y"], (2, 2, 2)),
    "inside at the start begins": (["I-X"], ["B-X"], (1, 1, 1)),
    "begin splits": (["B-X", "B-X"], ["B-X", "I-X"], (2, 1, 0)),
    "too long": (["B-X", "I-X", "O"], ["B-X", "I-X", "I-X"], (1, 1, 0)),
    "too short": (["B-X", "I-X", "O"], ["B-X", "O", "O"], (1, 1, 0)),
    "wrong type": (["B-X", "I-X"], ["B-Y", "I-Y"], (1, 1, 0)),
    "type changes in the middle": (["B-X", "I-X"], ["B-X", "I-Y"], (1, 2, 0)),
    "E splits": (["I-X", "E-X", "I-X"], ["B-X", "I-X", "B-X"], (2, 2, 2)),
    "E alone": (["O", "E-X", "E-X"], ["O", "B-X", "B-X"], (2, 2, 2)),
    "B after E": (["B-X", "E-X", "B-X", "E-X"], ["B-X", "I-X", "B-X", "I-X"], (2, 2, 2)),
    "S stands alone": (["S-X", "S-X", "I-X"], ["B-X", "B-X", "B-X"], (3, 3, 3)),
    "brackets": (["[-X", "[-X", "O"], ["B-X", "B-X", "O"], (2, 2, 2)),
    "hyphens in types": (["B-X-Y", "I-X-Y"], ["B-X-Y", "I-X-Z"], (1, 2, 0)),
    "no types": (["B", "I", "O"], ["I", "I", "O"], (1, 1, 1)),
    "nothing": (["O", "O"], ["O", "O"], (0, 0, 0)),
    "abstained": (["B-X", "I-X"], ["B-X", None], (1, 1, 0)),
}


@pytest.mark.parametrize("case", CASES)
def test_counts_by_hand(case):
    true, guess, counts = CASES[case]
    assert entity_scores([true], [guess]).overall[3:] == counts


def test_entities_do_not_cross_sequences():
    assert entity_scores([["B-X"], ["I-X"]], [["B-X"], ["B-X"]]).overall[3:] == (2, 2, 2)
    assert entity_scores([["B-X"], [], ["I-X"]], [["B-X"], [], ["O"]]).overall[3:] == (2, 1, 1)


def test_nothing_at_all_scores_zero():
    for y in ([], [[]], [["O"]]):
        assert entity_f1(y, y) == 0.0
        assert entity_scores(y, y).by_type == {}


def test_labels_must_be_strings():
    with pytest.raises(InputError, match="Sequence 1 has the label 3 at position 1; entities need strings"):
        entity_scores([["O"], ["O", "O"]], [["O"], ["O", 3]])


def test_lengths_must_agree():
    with pytest.raises(InputError, match="Sequence 1 has 1 labels in y_true, but 2 in y_pred"):
        entity_f1([["O"], ["O"]], [["O"], ["O", "O"]])


# One I- tag begins an entity in each Spanish file, so that there is one more than B- tags.
NAMES = {"esp.train": 18_798, "esp.testa": 4_352, "esp.testb": 3_559, "ned.train": 13_344, "ned.testb": 3_941}


def tags_of(folder, name):
    return [sentence.columns[2] for sentence in read_conll(folder / "conll2002" / f"{name}.gz")]


@pytest.mark.data
def test_entities_of_conll_2002(data_dir):
    tags = {name: tags_of(data_dir, name) for name in NAMES}
    assert {name: entity_scores(rows, rows).overall.n_true for name, rows in tags.items()} == NAMES


@pytest.mark.parametrize("name", ["esp.train", "ned.testa"])
def test_entities_of_a_file(sample_dir, name):
    tags = tags_of(sample_dir, name)
    scores = entity_scores(tags, tags)
    count = sum(tag.startswith("B-") for row in tags for tag in row)
    assert scores.overall == (1.0, 1.0, 1.0, count, count, count)
    assert list(scores.by_type) == ["LOC", "MISC", "ORG", "PER"]
    assert_like_conlleval(tags, [["O", *row[:-1]] for row in tags])


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["B-PER", "O", "I-PER"], True),
        (["B-A\nB", "O"], True),
        (["B", "I", "O"], True),
        (["O"], False),
        (["B", "I"], False),
        (["a", "b"], False),
        (["B-PER", "x"], False),
        (["H", "E", "O"], False),
        ([0, 1], False),
        (["B-PER", 1], False),
    ],
)
def test_what_has_entities(labels, expected):
    assert has_entities(labels) is expected
