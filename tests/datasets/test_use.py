"""Every data set is there to be fitted, scored and evaluated; some have labels that are not known."""

import functools

import numpy as np
import pytest

from kernelfields import CRF, HMM, InputError, StructuredPerceptron
from kernelfields.datasets import (
    Genome,
    load_cb513,
    load_conll2002,
    load_genome,
    load_jpred4,
    load_letters,
    load_mouse_genes,
    load_prosody,
    load_ptb_sample,
    load_ud_ewt,
    load_ud_trees,
    prosody_templates,
    spelling_templates,
)
from kernelfields.metrics import token_accuracy_scorer
from kernelfields.report import evaluate


def letters(folder):
    return CRF(), *load_letters().split(0)


def proteins(load, folder):
    return CRF(), *load(folder).split(*range(1, 8), window=3)


def entities(folder):
    return CRF(features=spelling_templates()), *load_conll2002("testa", 80, folder=folder)


def tagged(load, folder):
    return StructuredPerceptron(features="pos", random_state=0), *load(folder=folder)


def parsed(folder):
    words, labels, parents, *_ = load_ud_trees("dev", folder)
    trees = list(zip(words, parents, strict=True))
    return StructuredPerceptron(features="pos", structure="tree", random_state=0), trees, labels


def prosody(folder):
    return CRF(features=prosody_templates()), *load_prosody("test", 80, folder=folder)[:2]


def genome(folder):
    pieces = load_genome(folder).cut(2000)
    return HMM("categorical"), [piece.bases for piece in pieces], [piece.labels for piece in pieces]


def exons(folder):
    genes = sorted(load_mouse_genes(folder), key=lambda gene: -len(gene.bases))  # 40 for learning
    return HMM("categorical"), [gene.bases for gene in genes], [gene.labels for gene in genes]


USES = {
    "letters": letters,
    "mouse genes": exons,
    "jpred4": functools.partial(proteins, load_jpred4),
    "cb513": functools.partial(proteins, load_cb513),
    "conll2002": entities,
    "ptb": functools.partial(tagged, load_ptb_sample),
    "ud-ewt": functools.partial(tagged, functools.partial(load_ud_ewt, "dev")),
    "ud-trees": parsed,
    "prosody": prosody,
    "genome": genome,
}
WRONG = {
    "letters": 0.6,
    "jpred4": 0.5,
    "cb513": 0.5,
    "conll2002": 0.2,
    "ptb": 0.3,
    "ud-ewt": 0.4,
    "prosody": 0.4,
}
"""Shares of labels that are wrong, with some room; bases one by one say nothing of genes."""


@pytest.mark.parametrize("name", USES)
def test_data_sets_are_fitted_and_evaluated(name, sample_dir):
    model, X, y = USES[name](sample_dir)
    fitted = model.fit(X[:40], y[:40])
    found = evaluate(fitted, X[40:80], y[40:80])
    assert found.n_tokens == sum(map(len, y[40:80]))
    assert token_accuracy_scorer(fitted, X[40:80], y[40:80]) == 1 - found.token_error
    assert fitted.score(X[40:80], y[40:80]) == pytest.approx(1 - found.token_error, abs=1e-12)
    assert found.token_error < WRONG.get(name, 0.8)


def test_unknown_states_of_proteins_are_not_scored(sample_dir):
    found = load_cb513(sample_dir)
    odd = [s for s, labels in enumerate(found.labels) if None in labels]
    X, y = [found.profiles[s] for s in odd], [found.labels[s] for s in odd]
    unknown = sum(labels.count(None) for labels in y)
    assert unknown > 0
    judged = evaluate(CRF().fit(X, y), X, y)
    assert judged.n_unobserved == unknown
    assert np.isfinite(judged.nll)
    assert judged.labels.support.sum() == judged.n_tokens - unknown


def test_numbers_of_folds_and_bases_are_whole(sample_dir):
    with pytest.raises(InputError, match="n_folds is 0"):
        load_cb513(sample_dir, n_folds=0)
    with pytest.raises(InputError, match="length is -5"):
        Genome(np.zeros(3, np.int8), np.array(["N", "C", "N"])).cut(-5)
