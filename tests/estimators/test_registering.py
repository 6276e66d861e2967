"""Classes of other packages in model files."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import numpy as np
import pytest

from kernelfields import CRF, InputError, KernelCRF, ModelFormatError, load, register
from kernelfields.decoders import Decoder
from kernelfields.kernels import Kernel
from kernelfields.losses import CustomLoss, LogLoss
from kernelfields.persistence import registered
from kernelfields.structures import Chain, ChainBatch, Structure

rng = np.random.default_rng(0)
X = [rng.normal(size=(4, 2)) for _ in range(6)]
y = [["a" if x[0] > 0 else "b" for x in one] for one in X]


@pytest.fixture(autouse=True)
def _forget(monkeypatch):
    monkeypatch.setattr(registered, "_by_name", {})
    monkeypatch.setattr(registered, "_searched", [])


class Cauchy(Kernel):
    def __init__(self, scale: float = 1.0):
        self.scale = scale

    def block(self, X, Y):
        return 1 / (1 + ((X[:, None] - Y[None]) ** 2).sum(axis=2) / self.scale)

    def diagonal(self, X):
        return np.ones(len(X), dtype=X.dtype)


@dataclass(frozen=True)
class Largest(Decoder):
    share: float = 0.5

    def choose(self, structure, scores):
        return structure.marginals(scores).parts["node"].argmax(axis=1)


@dataclass(frozen=True)
class Halved(CustomLoss):
    def bind(self, structure, outputs, weights):
        half = np.full(structure.n_instances, 0.5) if weights is None else weights / 2
        return LogLoss(structure, outputs, half)


@dataclass(frozen=True)
class Path(Structure):
    def on(self, offsets, links, n_labels, *, own=frozenset()):
        return ChainBatch(offsets, n_labels, shared_edges="edge" not in own)


def test_models_with_registered_classes_come_back(tmp_path):
    for cls in (Cauchy, Largest, Halved, Path):
        assert register(f"tests.{cls.__name__}")(cls) is cls
    model = KernelCRF(Cauchy(2.0), penalty=0.1, loss=Halved(), structure=Path(), decoder=Largest(0.25))
    model.fit(X, y).save(tmp_path / "own.kf")
    again = load(tmp_path / "own.kf")
    assert again.predict(X) == model.predict(X)
    assert again.get_params()["kernel__scale"] == 2.0
    assert (again.loss, again.structure, again.decoder) == (Halved(), Path(), Largest(0.25))


def test_a_custom_loss_is_what_is_minimised():
    halved = CRF(penalty=0.1, loss=Halved(), tol=1e-9).fit(X, y)
    weighted = CRF(penalty=0.1, tol=1e-9).fit(X, y, sample_weight=np.full(len(X), 0.5))
    np.testing.assert_allclose(halved.coef_, weighted.coef_, atol=1e-6)


def test_unregistered_classes_are_refused_by_their_setting(tmp_path):
    model = KernelCRF(Cauchy(), penalty=0.1).fit(X, y)
    with pytest.raises(InputError, match=r"kernel is of type Cauchy.*kernelfields\.register"):
        model.save(tmp_path / "own.kf")
    assert not (tmp_path / "own.kf").exists()


def test_unknown_names_in_files_say_what_to_do(tmp_path):
    register("tests.Cauchy")(Cauchy)
    KernelCRF(Cauchy(), penalty=0.1).fit(X, y).save(tmp_path / "own.kf")
    registered._by_name.clear()
    with pytest.raises(ModelFormatError, match=r"unknown class 'tests.Cauchy'. Import the module"):
        load(tmp_path / "own.kf")


def test_plugins_of_installed_packages_are_asked(tmp_path, monkeypatch):
    register("tests.Cauchy")(Cauchy)
    KernelCRF(Cauchy(), penalty=0.1).fit(X, y).save(tmp_path / "own.kf")
    registered._by_name.clear()

    class Plugin:
        def load(self):
            register("tests.Cauchy")(Cauchy)

    monkeypatch.setattr(registered, "entry_points", lambda group: [Plugin()])
    assert isinstance(load(tmp_path / "own.kf").kernel, Cauchy)


def test_settings_that_a_class_does_not_take_are_refused(tmp_path):
    register("tests.Cauchy")(Cauchy)
    KernelCRF(Cauchy(), penalty=0.1).fit(X, y).save(tmp_path / "own.kf")
    whole = (tmp_path / "own.kf").read_bytes()
    assert json.dumps("scale").encode() in whole.replace(b"\\", b"")
    (tmp_path / "odd.kf").write_bytes(whole.replace(b"scale", b"scalf"))
    with pytest.raises(ModelFormatError):
        load(tmp_path / "odd.kf")


def test_names_and_classes_are_checked():
    for name in ("Cauchy", "a b.c", ".x", 3):
        with pytest.raises(InputError, match="is not a name like"):
            register(name)
    with pytest.raises(InputError, match="neither a kernel nor a dataclass"):
        register("tests.Odd")(type("Odd", (), {}))
    with pytest.raises(InputError, match="Only classes"):
        register("tests.odd")(len)

    @dataclass
    class Hidden:
        found: int = field(default=0, init=False)

    with pytest.raises(InputError, match="does not take its field 'found'"):
        register("tests.Hidden")(Hidden)


def test_a_name_belongs_to_one_class():
    register("tests.Taken")(Cauchy)
    register("tests.Taken")(Cauchy)  # a module that is imported again
    with pytest.raises(InputError, match="registered already"):
        register("tests.Taken")(Path)


def test_custom_losses_refuse_what_they_do_not_know():
    with pytest.raises(InputError, match="Halved needs every label, but sequence 2"):
        CRF(loss=Halved()).fit(X, [*y[:2], [None, *y[2][1:]], *y[3:]])

    @dataclass(frozen=True)
    class Lost(CustomLoss):
        def bind(self, structure, outputs, weights):
            return None

    with pytest.raises(InputError, match=r"bind\(\) of Lost returned NoneType"):
        CRF(loss=Lost(), structure=Chain()).fit(X, y)
