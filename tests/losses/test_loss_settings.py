"""A loss of somebody else, in one file: its settings, its search, what it refuses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from kernelfields import CRF, InputError, KernelCRF, MarkovField, Run, distributed, load, register
from kernelfields.constraints import Constraints
from kernelfields.losses import LogLoss, Loss, LossSettings, observed_log
from kernelfields.persistence import registered
from kernelfields.structures import ChainBatch, Dependency
from kernelfields.tables import LOSSES, loss_settings
from kernelfields.testing import check_loss

rng = np.random.default_rng(0)
X = [rng.normal(size=(n, 2)) for n in (4, 3, 5, 2, 4, 6)]
y = [["a" if x[0] > 0 else "b" for x in one] for one in X]
ROUNDS: list[str] = []


class Halved(Loss):
    """Half a log loss, which is searched for from the minimum of a whole one."""

    convex = True

    def __init__(self, inner: Any) -> None:
        self.inner, self.structure = inner, inner.structure

    def at(self, scores: Any) -> Any:
        found = self.inner.at(scores)
        gradient = {name: part / 2 for name, part in found.gradient.items()}
        return found._replace(values=found.values / 2, value=found.value / 2, gradient=gradient)

    def curvature(self, scores: Any, direction: Any) -> Any:
        return {name: part / 2 for name, part in self.inner.curvature(scores, direction).items()}

    def take(self, ids: Any) -> Any:
        return type(self)(self.inner.take(ids))

    def search(self, minimiser: Any, start: Any) -> Any:
        ROUNDS.append("whole")
        first = minimiser.minimise(self.inner, start)
        ROUNDS.append("half")
        return minimiser.minimise(self, first.element).add_rounds(first.iterations)


class HalvedHere(Halved):
    """The same, which cannot be shared out: its search needs another loss."""

    shareable = False


@dataclass(frozen=True)
class Half(LossSettings):
    """Settings of it."""

    learns_without_labels: ClassVar[bool] = True
    labelling_only: ClassVar[bool] = True
    unruled: ClassVar[str] = "halves know no rules"
    kind: ClassVar[type[Halved]] = Halved

    def bind(self, batch, outputs, *, classes, weights):
        assert list(classes) == ["a", "b"]
        return self.kind(observed_log(batch, outputs, weights))


@dataclass(frozen=True)
class HalfHere(Half):
    kind: ClassVar[type[Halved]] = HalvedHere


@pytest.fixture(autouse=True)
def _fresh(monkeypatch):
    monkeypatch.setattr(registered, "_by_name", {})
    ROUNDS.clear()


def make(loss: Any, kernel: bool, **settings: Any) -> Any:
    given = {"loss": loss, "tol": 1e-9, **settings}
    return (
        KernelCRF("linear", penalty=0.1, run=Run(dtype="float64"), **given) if kernel else CRF(0.1, **given)
    )


@pytest.mark.parametrize("kernel", [False, True])
def test_estimators_search_as_the_loss_wants_it(kernel):
    model = make(Half(), kernel).fit(X, y)
    assert ROUNDS == ["whole", "half"]
    by_weight = make("log", kernel).fit(X, y, sample_weight=np.full(len(X), 0.5))
    for one, other in zip(model.predict_marginals(X), by_weight.predict_marginals(X), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-4)
    assert model.n_iter_ > make("log", kernel).fit(X, y).n_iter_  # both rounds count


@pytest.mark.parametrize("kernel", [False, True])
def test_settings_say_what_goes_with_a_loss(kernel):
    with pytest.raises(InputError, match="constraints do not go with Half: halves know no rules"):
        make(Half(), kernel, constraints=Constraints([("a", "c")])).fit(X, y)
    arcs = [rng.normal(size=(n * (n + 1), 2)) for n in (2, 3)]
    with pytest.raises(InputError, match="loss=Half is about labels of vertices, which Dependency has not"):
        make(Half(), kernel, structure=Dependency()).fit(arcs, [[0, 1], [0, 1, 2]])


def test_sequences_without_labels_reach_losses_that_learn_from_them():
    bound = []

    class Watching(Half):
        def bind(self, batch, outputs, **given):
            bound.append(outputs)
            return super().bind(batch, outputs, **given)

    CRF(0.1, loss=Watching()).fit(X, [None, *y[1:]])
    CRF(0.1, loss=Watching()).fit(X, y, X_unlabelled=X[:1])
    assert [int((outputs < 0).sum()) for outputs in bound] == [len(X[0]), len(X[0])]
    with pytest.raises(InputError, match="X_unlabelled is for losses that learn from it"):
        CRF(0.1).fit(X, y, X_unlabelled=X[:1])


def test_losses_that_are_no_sums_over_shards_are_refused_there():
    with distributed.use("threads", shards=2):
        with pytest.raises(InputError, match="HalvedHere is not learnt on shards"):
            CRF(0.1, loss=HalfHere()).fit(X, y)
        assert ROUNDS == []


def test_estimators_without_a_loss_take_none():
    with pytest.raises(InputError, match="method is Half"):
        MarkovField(method=Half()).fit(X, y)


def test_registered_settings_are_saved(tmp_path):
    model = make(Half(), kernel=False).fit(X, y)
    with pytest.raises(InputError, match="loss is of type Half"):
        model.save(tmp_path / "half.kf")
    register("tests.Half")(Half)
    model.save(tmp_path / "half.kf")
    again = load(tmp_path / "half.kf")
    assert again.loss == Half()
    assert again.predict(X) == model.predict(X)


def test_held_out_labels_are_judged_by_the_likelihood_or_by_the_loss_itself():
    batch, outputs = ChainBatch([0, 2, 4], n_labels=2), np.array([0, 1, 1, 0])
    kept = {}
    for name in LOSSES:
        loss = loss_settings(name).bind(batch, outputs, classes=np.array(["a", "b"]), weights=None)
        judge = loss.judge(batch, outputs)
        kept[name] = None if judge is None else type(judge).__name__
    assert kept == {
        "log": None,
        "marginal-log": None,
        "pseudo": "PseudoLikelihoodLoss",
        "piecewise": "PiecewiseLoss",
        "pseudo-em": "PseudoLikelihoodLoss",
        "entropy": None,
    }


def test_a_bound_loss_passes_all_checks(rng):
    batch = ChainBatch([0, 3, 5], n_labels=2)
    scores = {name: rng.normal(size=shape) for name, shape in batch.shapes.items()}
    check_loss(Halved(LogLoss(batch, np.array([0, 1, 1, 0, 0]))), scores, rng)
