"""CRF on tokens: templates, dictionaries, and CRFsuite's optimum on real text."""

import pickle
import re

import numpy as np
import pycrfsuite
import pytest
from sklearn.base import clone

from kernelfields import CRF, InputError, Parts
from kernelfields.features import DictFeatures, TemplateFeatures
from kernelfields.io import read_conll
from kernelfields.metrics import token_error

SENTENCES = [
    [("The", "DT"), ("dog", "NN"), ("barks", "VB")],
    [("Dogs", "NN"), ("bark", "VB")],
    [("No", "DT")],
] * 5
LABELS = [["O", "S", "V"], ["S", "V"], ["O"]] * 5


def as_dicts(sentences):
    return [[{"w": w, "tag": t, "len": len(w) / 10} for w, t in sentence] for sentence in sentences]


@pytest.mark.parametrize(
    "features", ["chunking", "columns: w t\nw[0]\nt[-1] & t[0]", TemplateFeatures("columns: w t\nt[0]")]
)
def test_templates_turn_tokens_into_features(features):
    model = CRF(penalty=0.1, features=features).fit(SENTENCES, LABELS)
    assert model.predict(SENTENCES) == LABELS
    assert model.predict([[("A", "DT"), ("thing", "NN"), ("moves", "VB")]]) == [["O", "S", "V"]]
    restored = pickle.loads(pickle.dumps(model))
    assert restored.predict(SENTENCES) == LABELS
    assert clone(model).fit(SENTENCES, LABELS).predict(SENTENCES) == LABELS


def test_the_extractor_that_was_given_stays_as_it_was():
    extractor = DictFeatures()
    CRF(features=extractor).fit(as_dicts(SENTENCES), LABELS)
    with pytest.raises(InputError, match="Call fit first"):
        extractor.names()


def test_dictionaries_and_lists_of_attributes_need_no_features():
    model = CRF(penalty=0.1).fit(as_dicts(SENTENCES), LABELS)
    assert model.predict(as_dicts(SENTENCES)) == LABELS
    assert set(model.features_.names()) >= {"w:dog", "tag:NN", "len"}
    lists = [[[f"w={w}", f"t={t}"] for w, t in sentence] for sentence in SENTENCES]
    assert CRF(penalty=0.1).fit(lists, LABELS).predict(lists) == LABELS


def test_odd_tokens_are_features_like_others():
    odd = [[{"w": "a:b"}, {"w": "c\\d"}, {}, {"w": "Zürich"}, {"x": -2.5}]]
    model = CRF(penalty=0.01).fit(odd, [["1", "2", "3", "4", "5"]])
    assert model.predict(odd) == [["1", "2", "3", "4", "5"]]


def test_plain_strings_ask_for_features():
    with pytest.raises(InputError, match="features='pos'"):
        CRF().fit([["a", "b"]], [["x", "y"]])
    with pytest.raises(InputError, match="neither the name"):
        CRF(features=3).fit(SENTENCES, LABELS)


def test_one_long_sequence_and_many_attributes(rng):
    """20,000 tokens, a million attributes."""
    tokens = [[{f"a{k}": True for k in rng.integers(10**6, size=50)} for _ in range(20000)]]
    labels = [[("x", "y")[int(t % 7 == 0)] for t in range(20000)]]
    model = CRF(max_iter=3, tol=1e-2, observed_only=True)
    with pytest.warns(UserWarning, match="limit of iterations"):
        model.fit(tokens, labels)
    assert model.n_features_in_ > 600_000
    assert token_error(labels, model.predict(tokens)) < 0.2


def crfsuite(sentences, labels, folder):
    """A tagger trained to convergence, and its final loss."""
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=True)
    lines = []
    trainer.message = lines.append
    for tokens, sequence in zip(sentences, labels, strict=True):
        trainer.append(pycrfsuite.ItemSequence(tokens), sequence)
    trainer.set_params({"c1": 0.0, "c2": 1.0, "epsilon": 1e-7, "delta": 1e-8, "max_iterations": 1000})
    trainer.train(str(folder / "model"))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(folder / "model"))
    return tagger, float(re.findall(r"Loss: ([\d.]+)", "".join(lines))[-1])


def test_text_has_crfsuites_optimum_and_tags(sample_dir, tmp_path):
    """CoNLL-2000, 400 sentences: same attributes, observed pairs only, as CRFsuite does by default."""
    read = {
        part: [s.columns for s in read_conll(sample_dir / "conll2000" / f"{part}.txt.gz")]
        for part in ("train", "test")
    }
    train, test = read["train"][:400], read["test"][:400]
    extractor = TemplateFeatures("columns: w t\nw[-1..1]\nt[-2..2]\nt[-1] & t[0]")
    tokens = {
        name: [list(zip(c[0], c[1], strict=True)) for c in part]
        for name, part in (("train", train), ("test", test))
    }
    labels = [c[2] for c in train]
    options = {"parts": Parts(bias=None, boundaries=None), "observed_only": True, "tol": 1e-6}
    model = CRF(penalty=2.0, features=extractor, **options).fit(tokens["train"], labels)

    def attributes(sentences):
        X, lengths = model.features_.transform(sentences)
        names, ends = model.features_.names(), np.cumsum(lengths)
        rows = [[names[k] for k in X.indices[a:b]] for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True)]
        return [rows[a:b] for a, b in zip(ends - lengths, ends, strict=True)]

    tagger, loss = crfsuite(attributes(tokens["train"]), labels, tmp_path)
    assert model.certificate_.value == pytest.approx(loss, rel=1e-4)
    theirs = [tagger.tag(sentence) for sentence in attributes(tokens["test"])]
    assert token_error(theirs, model.predict(tokens["test"])) <= 0.001
