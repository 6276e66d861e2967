"""How a fit is run: one frozen setting, of which every estimator heeds some and refuses the others."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from kernelfields import CRF, HMM, HiddenStates, InputError, KernelCRF, KernelLogisticRegression, Run, load
from kernelfields.fitting.copies import silent_copy
from tests.house.toys import Toy, public_estimators, toys

TOYS = toys()
RUN = {name for name, kind in public_estimators().items() if "run" in kind._parameter_names()}
OTHER = {
    "dtype": "float64",
    "memory_limit": 10**9,
    "patience": 3,
    "callback": lambda progress: None,
    "checkpoint": "state.ckpt",
    "checkpoint_seconds": 1.0,
    "quick_start": 1,
}
X, Y = TOYS["CRF"].data


class Uncopied(list[Any]):
    """A list of records that a copy would not be told about."""

    def __deepcopy__(self, memo: Any) -> Any:
        raise AssertionError("copied")

    def __call__(self, progress: Any) -> None:
        self.append(progress)


def trained(toy: Toy, **settings: Any) -> Any:
    return clone(toy.model).set_params(**settings).fit(*toy.data)


def test_every_setting_has_another_value_here() -> None:
    assert [field.name for field in fields(Run)] == list(OTHER)
    assert len(RUN) == 21


@pytest.mark.parametrize("name", public_estimators())
def test_what_is_heeded_is_a_setting_of_run(name: str) -> None:
    kind = public_estimators()[name]
    assert (name in RUN) == bool(kind._heeds)
    assert kind._heeds <= OTHER.keys()
    assert not kind._heeds & getattr(kind, "_lacks", {}).keys()
    assert not OTHER.keys() & set(kind._parameter_names())


@pytest.mark.parametrize("setting", OTHER)
@pytest.mark.parametrize("name", sorted(RUN))
def test_settings_are_heeded_or_refused(name: str, setting: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    toy, given = TOYS[name], {f"run__{setting}": OTHER[setting]}
    if setting in type(toy.model)._heeds:
        assert hasattr(trained(toy, **given), "classes_")
        return
    model = clone(toy.model).set_params(**given)
    with pytest.raises(InputError, match=rf"^{name} does not heed {setting}: [^.]+\.$"):
        model.fit(*toy.data)
    assert not hasattr(model, "classes_")
    with pytest.raises(InputError, match="run is None; it must be a Run"):
        model.set_params(run=None).fit(*toy.data)


@pytest.mark.parametrize("name", sorted(RUN))
def test_a_callback_sees_progress_and_stays_behind(name: str, tmp_path: Path) -> None:
    toy, seen = TOYS[name], Uncopied()
    if "callback" not in type(toy.model)._heeds:
        return
    model = trained(toy, run__callback=seen)
    model.save(tmp_path / "model.kf")
    assert load(tmp_path / "model.kf").run == Run()
    if name != "HMM":  # which counts labels
        assert seen


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"dtype": "int8"}, "dtype is 'int8'"),
        ({"memory_limit": "1GB"}, "memory_limit is '1GB'"),
        ({"patience": 0}, "patience is 0"),
        ({"callback": 3}, "callback is 3"),
        ({"checkpoint_seconds": -1.0}, "checkpoint_seconds is -1.0"),
        ({"quick_start": -1}, "quick_start is -1"),
    ],
)
def test_values_that_mean_nothing_are_refused_at_once(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=f"^{message}; it must be"):
        Run(**settings)
    model = KernelCRF()
    with pytest.raises(InputError, match=f"^{message}; it must be"):
        model.set_params(**{f"run__{name}": value for name, value in settings.items()})
    assert model.run == Run()


def test_it_is_a_value() -> None:
    run = Run(patience=3)
    assert (run, hash(run)) == (Run(patience=3), hash(Run(patience=3)))
    assert replace(run, dtype="float64") == Run("float64", patience=3)
    assert pickle.loads(pickle.dumps(run)) == run
    with pytest.raises(FrozenInstanceError):
        run.patience = 4  # type: ignore[misc]


def test_its_settings_are_settings_of_the_estimator() -> None:
    model = CRF(run=Run(patience=3))
    assert model.get_params()["run__patience"] == 3
    assert "run__patience" not in model.get_params(deep=False)
    copy = clone(model).set_params(run__checkpoint_seconds=1.0)
    assert (model.run, copy.run) == (Run(patience=3), Run(patience=3, checkpoint_seconds=1.0))
    assert repr(copy) == "CRF(run=Run(patience=3, checkpoint_seconds=1.0))"
    assert repr(CRF()) == "CRF()"
    with pytest.raises(InputError, match="Run has no parameter 'pace'; it has dtype, memory_limit"):
        model.set_params(run__pace=3)


def test_grid_search_over_one_of_them() -> None:
    X, Y = TOYS["KernelCRF"].data
    search = GridSearchCV(KernelCRF(), {"run__dtype": ["float32", "float64"]}, cv=2).fit(X, Y)
    assert search.best_estimator_.run.dtype in ("float32", "float64")


def test_clones_share_the_callback_and_silent_copies_have_none() -> None:
    seen = Uncopied()
    model = CRF(run=Run(callback=seen, checkpoint="state.ckpt"), verbose=1)
    assert clone(model).run.callback is seen
    quiet = silent_copy(HiddenStates(model), estimator__penalty=2.0)
    assert (quiet.estimator.run, quiet.estimator.verbose, quiet.estimator.penalty) == (Run(), 0, 2.0)


def test_precision_is_that_of_the_estimator_unless_it_is_given() -> None:
    rows = TOYS["KernelLogisticRegression"]
    assert trained(TOYS["KernelCRF"]).basis_.dtype == np.float32
    assert trained(TOYS["KernelCRF"], run__dtype="float64").basis_.dtype == np.float64
    assert trained(rows).sequence_model().basis_.dtype == np.float64
    assert trained(rows, run__dtype=np.float32).sequence_model().basis_.dtype == np.float32
    assert KernelLogisticRegression().fit(*rows.data).run == Run()


def test_files_hold_all_but_callback_and_checkpoint(tmp_path: Path) -> None:
    data = TOYS["KernelCRF"].data
    kept = Run(np.float64, 10**8, 7, checkpoint_seconds=5.0)
    run = replace(kept, callback=print, checkpoint=tmp_path / "state")
    KernelCRF(run=run).fit(*data).save(tmp_path / "model.kf")
    assert load(tmp_path / "model.kf").run == kept


def test_compact_models_have_no_callback() -> None:
    model = KernelCRF(run=Run(patience=3, callback=lambda progress: None)).fit(*TOYS["KernelCRF"].data)
    assert pickle.loads(pickle.dumps(model.compact())).run == Run(patience=3)
    assert model.run.callback is not None


def test_hidden_states_refuse_a_checkpoint_of_their_estimator() -> None:
    model = HiddenStates(CRF(run=Run(checkpoint="state.ckpt")))
    with pytest.raises(InputError, match=r"does not go with run__checkpoint=.* of estimator"):
        model.fit(*TOYS["HiddenStates"].data)


def test_the_reason_is_told() -> None:
    with pytest.raises(InputError, match=r"^HMM does not heed checkpoint: training starts from start"):
        HMM(run=Run(checkpoint="state.ckpt")).fit(*TOYS["HMM"].data)
