"""Cliques of proteins selected one by one."""

import numpy as np
import pytest

from experiments.lib.intervals import paired_interval
from experiments.lib.protein_fields import EDGES, VERTICES, Chains, FieldSettings
from experiments.lib.protein_paths import CURVES, GREEDY, greedy_field, least_lead, path_rows
from kernelfields.metrics import token_error


def chains(rng: np.random.Generator, count: int) -> Chains:
    X = [rng.normal(size=(12, 2)) for _ in range(count)]
    return Chains(X, [["-EH"[int(k)] for k in (x[:, 0] > 0).astype(int) + (x[:, 1] > 0.5)] for x in X])


@pytest.mark.parametrize("name", [VERTICES, EDGES])
def test_curves_end_with_the_model_that_has_not_seen_test_chains(name, rng):
    train, test = chains(rng, 4), chains(rng, 5)
    settings = FieldSettings(0.5, 0.3, 1.0, 0.5)
    model, curves = greedy_field(name, settings, train, test, 15)
    assert sum(one.size for one in model.selected_.values()) == 15
    assert ("edge_kernel" in model.selected_) == (name == EDGES)
    risk, likelihood, right = (curves[curve] for curve in CURVES)
    assert len(risk) == 16
    assert risk[-1] == pytest.approx(model.certificate_.value / 48, rel=2e-3)
    assert likelihood[-1] == pytest.approx(np.sum(model.sequence_log_proba(*test)) / 60, rel=0.05)
    assert right[-1] == pytest.approx(100 * (1 - token_error(test.y, model.predict(test.X))), abs=4)
    alone = settings if name == EDGES else settings._replace(edge_kernel_penalty=None)
    whole = alone.field(name, 1e-3).set_params(basis=model.basis).fit(*train)
    for a, b in zip(whole.predict_marginals(test.X), model.predict_marginals(test.X), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)


def test_leads_are_intervals_over_trials():
    without = [[1.0, 0.8, 0.7], [1.2, 1.0, 0.9], [0.9, 0.8, 0.6]]
    with_edges = [[1.0, 0.7, 0.5], [1.2, 0.8, 0.6], [0.9, 0.75, 0.45]]
    curves = {
        GREEDY + VERTICES: dict.fromkeys(CURVES, without),
        GREEDY + EDGES: dict.fromkeys(CURVES, with_edges),
    }
    first, last = paired_interval([0.1, 0.2, 0.05]), paired_interval([0.2, 0.3, 0.15])
    assert least_lead({"a": curves}, "risk", [1, 2], -1.0) == pytest.approx(min(first[0], last[0]))
    assert least_lead({"a": curves}, "risk", [2], -1.0) == pytest.approx(last[0])
    row = path_rows("a", 5, curves, [2])[1]
    assert row["risk"] == pytest.approx(1.55 / 3)
    assert row["risk above vertices"] == f"{-last[1]:+.4f} … {-last[0]:+.4f}"
