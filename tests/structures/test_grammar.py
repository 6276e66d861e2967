"""Grammars read off trees, and what their charts give, beside sums written down by hand."""

import math
from collections import Counter

import numpy as np
import pytest

from experiments.lib.pcfg import PCFG, shape_of
from kernelfields.errors import InfeasibleError, InputError
from kernelfields.structures import Grammar, GrammarBatch, count_symbols, symbol_spans, tree_of
from tests._listed_parses import ListedDerivations, row_of

TREE = (
    "S",
    ("NP", ("DT", "the"), ("JJ", "old"), ("JJ", "grey"), ("NN", "dog")),
    ("VP", ("VBZ", "wants"), ("S", ("VP", ("TO", "to"), ("VP", ("VB", "sleep"))))),
)
OTHER = ("S", ("NP", ("NNS", "dogs")), ("VP", ("VBP", "sleep")))
ONE = ("FRAG", ("NP", ("NN", "sleep")))


def test_symbols_of_a_tree():
    words = [(0, "DT"), (1, "JJ"), (2, "JJ"), (3, "NN"), (4, "VBZ"), (5, "TO"), (6, "VP+VB")]
    common = [(k, k + 1, symbol) for k, symbol in words]
    common += [(0, 7, "S"), (0, 4, "NP"), (4, 7, "VP"), (5, 7, "S+VP")]
    assert sorted(symbol_spans(TREE, horizontal=2)) == sorted(
        [*common, (1, 4, "@NP:DT"), (2, 4, "@NP:DT:JJ")]
    )
    assert sorted(symbol_spans(TREE, horizontal=1)) == sorted([*common, (1, 4, "@NP:DT"), (2, 4, "@NP:JJ")])
    assert sorted(symbol_spans(TREE, horizontal=0)) == sorted([*common, (1, 4, "@NP"), (2, 4, "@NP")])
    above = {symbol for _, _, symbol in symbol_spans(TREE, 0, 2)}
    assert above == {"S", "NP^S", "@NP^S", "VP^S", "S+VP^VP", "DT", "JJ", "NN", "VBZ", "TO", "VP+VB"}


def test_counts():
    counts = count_symbols([TREE, OTHER, ONE, ()], horizontal=0)
    assert counts.roots == Counter({"S": 2, "FRAG+NP+NN": 1})
    assert counts.rules["@NP", "JJ", "@NP"] == counts.rules["@NP", "JJ", "NN"] == 1
    assert counts.rules["S", "NP+NNS", "VP+VBP"] == 1
    assert counts.rules.total() == 6 + 1
    grammar = Grammar.from_counts(counts)
    assert grammar == Grammar.of([TREE, OTHER, ONE], horizontal=0)
    named = dict(zip(grammar.symbols, grammar.labels, strict=True))
    assert named["@NP"] == named["DT"] == ""
    assert named["FRAG+NP+NN"] == "FRAG+NP"
    assert named["S+VP"] == "S+VP"


@pytest.mark.parametrize("vertical", [1, 2, 3])
@pytest.mark.parametrize("horizontal", [0, 1, 5])
def test_trees_come_back(horizontal, vertical):
    grammar = Grammar.of([TREE, OTHER, ONE], horizontal, vertical)
    for tree, words in ((TREE, 7), (OTHER, 2), (ONE, 1)):
        spans = symbol_spans(tree, horizontal, vertical)
        leaves = flat(tree)
        again = tree_of(((i, j, grammar.labels[grammar.index[a]]) for i, j, a in spans), leaves)
        assert again == tree
        output = np.array(
            sorted(row_of(words, i, j) * len(grammar.symbols) + grammar.index[a] for i, j, a in spans)
        )
        rules = GrammarBatch([words], grammar).rules(output)
        assert len(rules) == words - 1
        assert (rules >= 0).all()


def flat(tree):
    return [tree] if isinstance(tree[1], str) else [leaf for child in tree[1:] for leaf in flat(child)]


def test_rules_of_an_output_are_those_of_its_tree(rng):
    grammar = Grammar(("A", "B"), (("A", "B", "A"), ("A", "A", "B"), ("B", "A", "A")), ("A",), ("A", "B"))
    for n in (1, 2, 3, 5):
        batch = ListedDerivations([n], grammar)
        for y in batch.every_output():
            spans = [(*np.array(np.triu_indices(n)).T[row], a) for row, a in zip(y // 2, y % 2, strict=True)]
            at = {(int(i), int(j) + 1): "AB"[a] for i, j, a in spans}
            wanted = []
            for (i, j), a in sorted(at.items()):
                if j - i > 1:
                    k = max(e for b, e in at if b == i and e < j)
                    wanted.append(grammar.rules.index((a, at[i, k], at[k, j])))
            assert batch.rules(y).tolist() == wanted
    batch = GrammarBatch([2], grammar)
    assert batch.rules(np.array([1, 3, 5])).tolist() == [-1]  # B over B and B is no rule
    scores = {name: np.zeros(shape) for name, shape in batch.shapes.items()}
    assert batch.score(scores, np.array([1, 3, 5]))[0] == -np.inf
    with pytest.raises(InputError, match="a rule that the grammar does not have"):
        batch.parts(np.array([1, 3, 5]))
    for bad in ([0, 0, 4], [0, 2, 3], [2, 4, 4], [-1, 2, 4]):
        with pytest.raises(ValueError, match="no tree for sentence 0"):
            batch.rules(np.array(bad))


def test_probabilities_of_a_grammar_sum_to_one():
    """A → A A with 1/3, A → a with 2/3: all sentences together have probability 1."""
    grammar = Grammar(("A",), (("A", "A", "A"),), ("A",), ("A",))
    batch = GrammarBatch(np.arange(1, 200), grammar)
    span = np.zeros(batch.shapes["span"])
    for first, n in zip(batch.offsets.tolist(), batch.lengths.tolist(), strict=False):
        span[[first + row_of(n, k, k + 1) for k in range(n)]] = math.log(2 / 3)
    value = batch.log_partition({"span": span, "rule": np.log([1 / 3])})
    assert np.exp(value).sum() == pytest.approx(1.0, abs=1e-8)
    assert np.exp(value[:3]) == pytest.approx([2 / 3, 4 / 27, 2 * 8 / 243])


def test_counted_probabilities():
    model = PCFG(horizontal=0, smoothing=0.0).fit([TREE, OTHER, ONE])
    batch, scores = model.batch([flat(OTHER)])
    symbols, n = model.grammar.index, len(model.grammar.symbols)
    output = np.array([symbols["NP+NNS"], n + symbols["S"], 2 * n + symbols["VP+VBP"]])
    # A third of the trees is FRAG+NP+NN, S has two rules; each word was the only one of its symbol.
    assert batch.score(scores, output)[0] == pytest.approx(math.log(2 / 3 * 1 / 2))
    assert model.predict([flat(OTHER), flat(TREE), flat(ONE)]) == [
        ("S", ("NP", 0), ("VP", 1)),
        ("S", ("NP", 0, 1, 2, 3), ("VP", 4, ("S", ("VP", 5, ("VP", 6))))),
        ("FRAG", ("NP", 0)),
    ]


def test_unknown_words_are_known_by_their_shape():
    model = PCFG(horizontal=0).fit([TREE, OTHER, ONE])
    assert model.predict([[("?", "cats"), ("?", "sleep")]]) == [("S", ("NP", 0), ("VP", 1))]
    assert shape_of("cats") == shape_of("dogs") != shape_of("Cats")
    given = PCFG(horizontal=0, given_tags=True).fit([TREE, OTHER, ONE])
    assert given.predict([[("NNS", "cats"), ("VBP", "purr")]]) == [("S", ("NP", 0), ("VP", 1))]
    assert given.predict([[("XX", "cats"), ("VBP", "purr")]]) == [("S", 0, 1)]  # no tree: a flat one


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (("S", 0, ("A", "a")), "Tree 0 has the word '0', expected"),
        (("S", ("A+B", "a"), ("A", "a")), r"expected \(tag, word\), no '\+' in tags"),
        (("S^T", ("A", "a"), ("A", "a")), "has the label 'S\\^T'"),
        (("@S", ("A", "a"), ("A", "a")), "has the label '@S'"),
        (("A", ("A", "a"), ("A", "a")), "'A' is the symbol of a phrase and of a single word"),
        (("S", ("A", "a"), None), "in the place of a phrase"),
    ],
)
def test_bad_trees_are_named(tree, message):
    with pytest.raises(InputError, match=message):
        Grammar.of([tree])


def test_what_cannot_be_is_refused():
    with pytest.raises(InputError, match="every symbol once"):
        Grammar(("A", "A"), (), (), ())
    with pytest.raises(InputError, match="every rule once"):
        Grammar(("A",), (("A", "A", "A"), ("A", "A", "A")), (), ())
    with pytest.raises(InputError, match="no symbol 'B'"):
        Grammar(("A",), (("A", "A", "B"),), (), ())
    with pytest.raises(InputError, match="must be a Grammar"):
        GrammarBatch([1], "S")
    grammar = Grammar(("A", "B"), (("A", "B", "B"),), ("A",), ("B",))
    batch = GrammarBatch([2, 1], grammar)
    scores = {name: np.zeros(shape) for name, shape in batch.shapes.items()}
    for oracle in (batch.argmax, batch.log_partition, batch.marginals, batch.entropy):
        with pytest.raises(InfeasibleError, match="Sentence 1 has no allowed tree"):
            oracle(scores)
    scores["rule"][0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        batch.take([0]).log_partition(batch.cut(scores, [0]))
