"""A sample of the matrix; `make matrix` runs all of it."""

from __future__ import annotations

import pytest

import kernelfields

from .cases import TO_FIT, Case, combined, sampled
from .inputs import KINDS
from .learners import LEARNERS
from .running import of_ours, run

COUNT, SEED = 20, 14


@pytest.mark.parametrize("name", LEARNERS)
def test_sample(name: str) -> None:
    """The plain case fits; others do, or are refused in a sentence; what is fitted passes all checks."""
    plain = run(Case(LEARNERS[name], KINDS["integers" if "categorical" in name else "f64"]))
    assert plain == (None, {})
    outcomes = {str(case): run(case) for case in sampled(LEARNERS[name], COUNT, SEED)}
    wrong = [f"python -m tests.matrix {case}: {o.failures}" for case, o in outcomes.items() if o.failures]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("KernelCRF adjacency-graphs basis=whole", None),  # more edges than vertices
        ("KernelPerceptron reweighted-graphs", None),  # no best labelling but one that is searched for
        ("KernelPerceptron searched-graphs combination=voted", None),
        ("KernelLogisticRegression graphs structure=chain2", "Sequence 0 of X is not an array of numbers"),
        ("CRF graphs constraints=pairs", None),
        ("CRF graphs constraints=rule", "no vertex of a graph is first or last"),
        ("MEMM graphs", "structure must be 'chain' or 'tree'"),
    ],
)
def test_graphs(text: str, refusal: str | None) -> None:
    _judge(text, refusal)


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("KernelCRF f64 kernel=scale X_unlabelled=True", None),
        ("KernelCRF f64 X_unlabelled=True", "X_unlabelled is for kernels that look at observations"),
        ("KernelCRF trees kernel=standardized labels=whole", None),
        ("GPSequenceClassifier flat kernel=standardized X_unlabelled=True", None),
        ("StructuredSVM graphs kernel=scale X_unlabelled=True", None),
        ("KernelPerceptron f64 kernel=scale labels=whole", None),
        ("KernelLogisticRegression f64 kernel=scale X_unlabelled=True", None),
        ("CRF trees labels=whole", None),
    ],
)
def test_sequences_without_labels(text: str, refusal: str | None) -> None:
    _judge(text, refusal)


def _judge(text: str, refusal: str | None) -> None:
    outcome = run(Case.read(text.split()))
    assert outcome.failures == {}
    assert (outcome.refusal is None) == (refusal is None)
    assert refusal is None or refusal in str(outcome.refusal)


WITHOUT_LABELS = ("FieldClustering", "MarkovField", "SequenceClustering")
"""Cases compare predictions with labels; test_clustering and tests/fields have those that take none."""


def test_no_estimator_is_left_out() -> None:
    everything = {getattr(kernelfields, name) for name in kernelfields.__all__}
    estimators = {one for one in everything if hasattr(one, "fit") and one.__name__ not in WITHOUT_LABELS}
    assert estimators == {learner.make for learner in LEARNERS.values()}


@pytest.mark.parametrize("name", LEARNERS)
def test_no_option_is_left_out(name: str) -> None:
    learner = LEARNERS[name]
    options = {setting.option for setting in learner.settings}
    tried = {option.partition("__")[0] for option in options}
    assert {f"run__{name}" for name in learner.make._heeds} == {one for one in options if "run__" in one}
    of_constructor = set(learner.make._parameter_names()) - {"emissions", "n_states"}
    of_fit = set(learner.fit_parameters) - {"self", "X", "y", "lengths", "X_dev", "y_dev"}
    assert of_constructor | of_fit == (tried | of_fit) - {"dev", "labels"}
    assert of_fit <= set(TO_FIT)


def test_pairs_are_complete() -> None:
    """Every two settings of different options occur together."""
    learner = LEARNERS["MEMM"]
    together = {frozenset(map(str, settings)) for settings in combined(learner)}
    for a in learner.settings:
        for b in learner.settings:
            assert a.option == b.option or {str(a), str(b)} in together


def test_texts_lead_back_to_cases() -> None:
    for learner in LEARNERS.values():
        for case in sampled(learner, 5, seed=0):
            assert str(Case.read(str(case).split())) == str(case)


def test_foreign_errors_are_no_refusals() -> None:
    """A TypeError that Python or the compiled core raises is none of ours."""
    with pytest.raises(TypeError) as foreign:
        kernelfields.CRF().fit()  # type: ignore[call-arg]
    assert not of_ours(foreign.value)
    with pytest.raises(kernelfields.InputError) as ours:
        kernelfields.CRF().fit([], [])
    assert of_ours(ours.value)
