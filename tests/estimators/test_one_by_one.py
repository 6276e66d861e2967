"""Sequences one by one and all at once: the same labels, the same bits."""

import numpy as np
import pytest
from scipy import sparse

from kernelfields import CRF, LinearScores, Parts, StructuredPerceptron, load
from kernelfields.features import DictFeatures, TemplateFeatures

RNG = np.random.default_rng(4)
LENGTHS = RNG.integers(1, 9, 30)
LABELS = [[("a", "b", "c")[k] for k in RNG.integers(3, size=T)] for T in LENGTHS]
ARRAYS = [RNG.normal(size=(T, 6)) for T in LENGTHS]
DICTS = [
    [
        {"w": f"w{k}", "size": float(k) / 7, "list": [f"l{k % 3}", f"l{k % 2}"]}
        for k in RNG.integers(20, size=T)
    ]
    for T in LENGTHS
]
TOKENS = [[(f"w{k}", f"t{k % 4}") for k in RNG.integers(20, size=T)] for T in LENGTHS]

CASES = {
    "arrays": (ARRAYS, {}),
    "single precision": ([x.astype(np.float32) for x in ARRAYS], {}),
    "matrices": ([sparse.csr_matrix(x * (x > 0.5)) for x in ARRAYS], {}),
    "dictionaries": (DICTS, {}),
    "some pairs": (DICTS, {"observed_only": True}),
    "double precision": (DICTS, {"features": DictFeatures(dtype=np.float64)}),
    "tokens": (TOKENS, {"features": "chunking"}),
    "hashed": (TOKENS, {"features": TemplateFeatures("columns: w t\nw[0]\nt[-1]&t[0]", n_hash=64)}),
    "edge features": (DICTS, {"parts": Parts(edge_features=LinearScores())}),
    "second order": (DICTS, {"structure": "chain2"}),
    "no bias": (DICTS, {"parts": Parts(bias=None, boundaries=None)}),
}


@pytest.mark.parametrize("case", CASES)
def test_one_by_one_is_all_at_once(case, tmp_path):
    X, settings = CASES[case]
    fitted = CRF(tol=0.01, **settings).fit(X, LABELS)
    fitted.save(tmp_path / "model")
    tags, marginals = fitted.predict(X), fitted.predict_marginals(X)
    for model in (fitted, load(tmp_path / "model")):
        assert [model.predict([x])[0] for x in X] == tags
        for x, expected in zip(X, marginals, strict=True):
            assert model.predict_marginals([x])[0].tolist() == expected.tolist()


def test_learners_of_one_sequence_at_a_time():
    model = StructuredPerceptron(max_iter=3, random_state=0).fit(DICTS, LABELS)
    assert [model.predict([x])[0] for x in DICTS] == model.predict(DICTS)


@pytest.mark.parametrize("settings", [{}, {"observed_only": True}], ids=["all pairs", "some pairs"])
def test_scores_are_those_of_the_attributes(settings):
    """Computed anew in NumPy: products, bias, ends and label pairs."""
    model = CRF(tol=0.01, features=DictFeatures(dtype=np.float64), **settings).fit(DICTS, LABELS)
    X, lengths = model.features_.transform(DICTS)
    coef = model.coef_.toarray() if sparse.issparse(model.coef_) else model.coef_
    expected = X.toarray() @ coef.T + model.intercept_
    ends = np.cumsum(lengths)
    expected[ends - lengths] += model.start_
    expected[ends - 1] += model.end_
    scores = model._batch(DICTS, None, None).scores
    np.testing.assert_allclose(scores["node"], expected, atol=1e-12)
    np.testing.assert_array_equal(scores["edge"], model.transitions_)


def test_empty_sequences_among_others():
    model = CRF(tol=0.01).fit(DICTS, LABELS)
    assert model.predict([[], DICTS[0], []]) == [[], model.predict([DICTS[0]])[0], []]
    assert model.predict([[]]) == [[]]
    assert model.predict([]) == []


def test_rows_are_the_matrix():
    for extractor, X in ((DictFeatures(), DICTS), (TemplateFeatures("columns: w t\nw[0]\nt[0]"), TOKENS)):
        matrix, lengths = extractor.fit_transform(X)
        rows = extractor.rows(X)
        assert (rows.matrix() != matrix).nnz == 0
        assert rows.shape == matrix.shape
        assert np.diff(rows.offsets).tolist() == lengths.tolist() == LENGTHS.tolist()


def test_attributes_that_come_twice_are_added_up_in_long_rows_too():
    """Short rows are put in order by insertion, long ones are sorted."""
    for size in (3, 64, 65, 400):
        names = [f"a{k}" for k in RNG.integers(size // 2 + 1, size=size)]
        features = DictFeatures()
        X, _ = features.fit_transform([[names]])
        assert X.has_canonical_format
        counted = dict(zip(features.names(), X.toarray()[0].tolist(), strict=True))
        assert counted == {name: names.count(name) for name in names}
        assert features.transform([[names]]).features.toarray().tolist() == X.toarray().tolist()
