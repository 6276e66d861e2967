"""Pairs of options on trees, by the tables of the matrix: sums, rules in all decoders, files; or a refusal.

KERNELFIELDS_PAIRS says how many of each estimator are tried, 0 for all of them.
"""

import os
import random

import numpy as np
import pytest

from kernelfields import InputError, load
from kernelfields.decoders import Abstain, Best, MinimumRisk, Posterior, Viterbi
from tests.matrix import data
from tests.matrix.asking import fitted, marginals, predictions
from tests.matrix.cases import Case, combined
from tests.matrix.checks import HOLD_FUNCTIONS
from tests.matrix.inputs import KINDS, Given
from tests.matrix.learners import LEARNERS
from tests.matrix.running import of_ours
from tests.matrix.settings import errors

NAMES = [name for name, learner in LEARNERS.items() if "structure" in learner.make._parameter_names()]
COUNT = int(os.environ.get("KERNELFIELDS_PAIRS", "25"))


def left_out(setting):
    """Whether an option says what X is, or has sequences without labels: test_unlabelled has these."""
    return setting.option in ("structure", "features", "X_unlabelled") or str(setting) == "labels=whole"


def parents_of(count):
    """Return a forest: parents before or after their children in number, now and then two roots."""
    parents = [(v - 1) // 2 if v % 3 else v - 1 for v in range(count)]
    parents = [-1 if v == 0 or (v == 3 and count == 5) else p for v, p in enumerate(parents)]
    return [-1 if p < 0 else count - 1 - p for p in parents][::-1] if count % 2 else parents


def as_trees(X):
    return [(x, parents_of(len(x))) for x in X]


def obeyed(forbidden, parents, path):
    """Whether no pair of parent and child, no root and no leaf is forbidden, wherever something is said."""
    for v, (parent, label) in enumerate(zip(parents, path, strict=True)):
        if label is None:
            continue
        if parent >= 0 and path[parent] is not None and forbidden.pairs[path[parent], label]:
            return False
        if (parent < 0 and forbidden.starts[label]) or (v not in parents and forbidden.ends[label]):
            return False
    return True


def labels_on_trees(labels):
    """Return labels that obey the rules of the matrix on any tree: without "I-x"."""
    return [["O" if label == "I-x" else label for label in one] for one in labels]


def run(case, tmp_path):
    """Fit and check; what is refused is refused in one sentence, by an error of the package."""
    arguments = case.training()
    arguments["X"] = as_trees(arguments["X"])
    if case.to_fit().get("labels") != "numbers":
        arguments["y"] = labels_on_trees(arguments["y"])
    if "X_dev" in arguments:
        arguments["X_dev"] = as_trees(arguments["X_dev"])
        if case.to_fit().get("labels") != "numbers":
            arguments["y_dev"] = labels_on_trees(arguments["y_dev"])
    known = {"classes": ["O", "B-x", "I-x"]} if "classes" in case.learner.make._parameter_names() else {}
    if case.to_fit().get("labels") == "numbers":
        known = {}
    try:
        model = case.learner.make(**known | case.parameters() | {"structure": "tree"})
        fitted(model, arguments)
    except (InputError, TypeError) as error:
        if of_ours(error):
            return
        raise
    asked = Given(as_trees(case.given(data.asked()).X), None, None)
    for each in marginals(model, asked):
        assert np.isfinite(each).all()
        np.testing.assert_allclose(each.sum(axis=1), 1.0, atol=1e-5)
    check_rules(model, asked)
    if not any(str(setting) in HOLD_FUNCTIONS for setting in case.settings):
        model.save(tmp_path / "model.kf")
        other = load(tmp_path / "model.kf")
        for a, b in zip(marginals(model, asked), marginals(other, asked), strict=True):
            np.testing.assert_array_equal(a, b)
        assert predictions(model, asked) == predictions(other, asked)


def check_rules(model, asked):
    forbidden = getattr(model, "forbidden_", None)
    if forbidden is None:
        return
    decoders = (Viterbi(), Posterior(), Abstain(Posterior(), 0.4), MinimumRisk(errors, Best(4)))
    answers = [predictions(model, asked, decoder=decoder) for decoder in decoders]
    answers += [predictions(model, asked), *model.sample(asked.X, 3)]
    best = model.predict_kbest(asked.X, 3)
    answers += [[few[min(k, len(few) - 1)][0] for few in best] for k in range(3)]
    number = {label: k for k, label in enumerate(model.classes_.tolist())}
    for answer in answers:
        for (_, parents), labels in zip(asked.X, answer, strict=True):
            assert obeyed(forbidden, parents, [number.get(label) for label in labels])


@pytest.mark.parametrize("name", NAMES)
def test_pairs(name, tmp_path):
    learner, chance = LEARNERS[name], random.Random(name)
    pairs = [pair for pair in combined(learner) if not any(map(left_out, pair))]
    chosen = pairs if COUNT == 0 else chance.sample(pairs, min(COUNT, len(pairs)))
    wrong = []
    for settings in chosen:
        case = Case(learner, KINDS["f64"], settings)
        try:
            run(case, tmp_path)
        except Exception as error:
            wrong.append(f"{case}: {type(error).__name__} {str(error)[:200]}")
    assert not wrong, "\n".join(wrong)
