"""Tables of trials: equal folds beside each other, and the choice in words."""

import numpy as np
import pytest

from kernelfields import CRF, HMM, KernelCRF, compare, tune
from kernelfields.kernels import RBF
from kernelfields.trials.comparing import Comparison
from kernelfields.trials.grid import chosen_words, edge_notes
from kernelfields.trials.model_race import ComparedModel
from kernelfields.trials.text_tables import comparison_rows


def toy(n=20, seed=0):
    rng = np.random.default_rng(seed)
    y = [rng.integers(2, size=6).tolist() for _ in range(n)]
    return [np.array(one, dtype=float)[:, None] + 0.8 * rng.standard_normal((6, 1)) for one in y], y


def test_settings_stand_beside_the_chosen_ones_on_the_same_folds():
    X, y = toy()
    found = tune(CRF(), X, y, settings={"penalty": [100.0, 10.0, 1.0, 0.1]}, budget=600, refit=False)
    best = found.tried[0]
    assert best.chosen_mean == best.mean
    assert [one.folds for one in found.tried] == sorted((one.folds for one in found.tried), reverse=True)
    early = [one for one in found.tried if one.folds < best.folds]
    assert early
    assert all(one.mean <= one.chosen_mean for one in early)
    alone = tune(CRF(), X, y, settings={"penalty": [best.settings["penalty"]]}, budget=600, refit=False)
    assert alone.tried[0].mean == pytest.approx(best.mean, rel=1e-2)


def test_the_choice_is_named_and_its_edge_said():
    X, y = toy()
    found = tune(CRF(), X, y, settings={"penalty": [1e4, 1e3, 1e2]}, budget=600, refit=False)
    assert found.settings == {"penalty": 100.0}
    assert found.sentence.startswith("Chosen: penalty = 100: ")
    assert "penalty = 100 is the smallest value tried: a smaller one may be better." in found.notes
    text = repr(found)
    assert "chosen, same folds" in text
    assert found.sentence in text


def test_edges_of_kernels_and_of_pipelines_have_names():
    grid = {
        "estimator__kernel": [RBF(gamma=g) for g in (0.1, 1.0, 4.0)],
        "estimator__penalty": [3.0, 1.0, 0.3],
    }
    settings = {"estimator__kernel": RBF(gamma=4.0), "estimator__penalty": 1.0}
    assert chosen_words(settings) == "penalty = 1, gamma = 4"
    assert edge_notes(settings, grid) == ["gamma = 4 is the largest value tried: a larger one may be better."]
    assert edge_notes({"solver": "lbfgs"}, {"solver": ["lbfgs", "newton-cg", "subspace"]}) == []
    assert edge_notes({"penalty": 1.0}, {"penalty": [1.0, 2.0]}) == []


@pytest.mark.parametrize("rule", ["median", "scale"])
def test_widths_by_a_rule_are_named_with_their_factor(rule):
    X, y = toy()
    found = tune(KernelCRF(RBF(rule)), X, y, budget=600, refit=False)
    factor = found.settings["kernel"].factor
    assert f"gamma = {factor:g} × {rule}" in found.sentence
    grid = {"kernel": [RBF(rule, factor=f) for f in (0.25, 1.0, 4.0)]}
    notes = {f: edge_notes({"kernel": RBF(rule, factor=f)}, grid) for f in (0.25, 1.0, 4.0)}
    assert notes[0.25] == [f"gamma = 0.25 × {rule} is the smallest value tried: a smaller one may be better."]
    assert notes[1.0] == []
    assert notes[4.0] == [f"gamma = 4 × {rule} is the largest value tried: a larger one may be better."]
    assert set(notes[factor]) <= set(found.notes)


def test_widths_by_several_rules_have_no_edges():
    grid = {"kernel": [RBF("median"), RBF("scale", factor=2.0), RBF(4.0)]}
    assert edge_notes({"kernel": RBF(4.0)}, grid) == []
    assert chosen_words({"kernel": RBF(2.0, factor=2.0)}) == "gamma = 4"


def test_errors_on_fewer_folds_are_marked_and_come_last():
    rows = {
        "crf": ComparedModel(0.2, 0.01, 0.0, 1.0, 1.0, 3, ""),
        "hmm": ComparedModel(0.1, 0.01, 0.05, 0.5, 1.0, 1, "left out after 1 of 3 folds"),
    }
    crf, hmm = comparison_rows(rows)
    assert crf[1:3] == ("20.00%", "1.00%")
    assert hmm[1:3] == ("(10.00%)", "(1.00%)")
    assert (crf[5], hmm[5]) == ("3", "1 of 3")
    assert "(10.00%)" in repr(Comparison(rows, {}, [], False))


def test_comparisons_show_a_table():
    X, y = toy()
    told = []
    models = {"crf": CRF(), "hmm": HMM("gaussian")}
    text = repr(compare(models, X, y, folds=2, budget=600, callback=told.append))
    assert all(" s left   fold " in line[:20] for line in told)  # first: terminals cut the end off
    assert text.splitlines()[0].split()[:3] == ["model", "token", "error"]
    assert "(" not in text
