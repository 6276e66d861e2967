"""Loaders of proteins: the counts that their authors state, and windows that can be learnt from."""

import numpy as np
import pytest

from kernelfields import KernelCRF
from kernelfields.approximation import Nystroem
from kernelfields.datasets import load_cb513, load_jpred4
from kernelfields.errors import MissingDataError
from kernelfields.kernels import RBF


def counts(labels):
    flat = [label for chain in labels for label in chain]
    return {label: flat.count(label) for label in dict.fromkeys(flat)}


@pytest.mark.data
def test_jpred4_is_as_published(data_dir):
    jpred4 = load_jpred4(data_dir)
    assert np.bincount(jpred4.fold).tolist() == [149, 193, 193, 193, 193, 193, 193, 190]
    training = [labels for labels, fold in zip(jpred4.labels, jpred4.fold, strict=True) if fold]
    assert counts(training) == {"H": 77742, "E": 48588, "-": 92091}
    assert "d3arcz_" not in jpred4.ids
    assert [len(p) for p in jpred4.profiles] == [len(labels) for labels in jpred4.labels]
    assert jpred4.profiles[0].shape[1] == 44
    assert jpred4.profiles[0].dtype == np.float32


def test_profiles_are_the_inputs_of_the_networks(sample_dir):
    found = load_jpred4(sample_dir)
    for name, columns, scale in (("pssm", slice(20), 1), ("hmm", slice(20, 44), 100)):
        with np.load(sample_dir / "jpred4" / f"jpred4_{name}.npz") as data:
            first = data["pssm" if scale == 1 else "hmm100"][data["offsets"][1] : data["offsets"][2]]
        wanted = 1 / (1 + np.exp(-first.astype(float) / scale))
        np.testing.assert_allclose(found.profiles[1][:, columns], wanted, rtol=1e-5)


def test_one_chain_is_left_out(sample_dir):
    found = load_jpred4(sample_dir)
    assert "d3arcz_" not in found.ids
    assert len(found.ids) == len(found.profiles) == len(found.labels) == len(found.fold) == 8 * 12 - 1
    assert [len(p) for p in found.profiles] == [len(labels) for labels in found.labels]


def test_a_little_is_learnt_from_a_few_chains(sample_dir):
    jpred4 = load_jpred4(sample_dir)
    X, y = jpred4.split(1, window=15)
    X_test, y_test = jpred4.split(0)
    assert X[0].shape[1] == 660
    model = KernelCRF(RBF(0.02), penalty=0.1, basis=Nystroem(100), random_state=0, decoder="posterior").fit(
        X[:8], y[:8]
    )
    assert model.score(X_test[:10], y_test[:10]) > 0.6
    assert model.certificate_.relative_gap <= 1e-3


@pytest.mark.data
def test_cb513_is_as_published(data_dir):
    found = load_cb513(data_dir)
    assert len(found.ids) == 513
    assert sum(map(len, found.profiles)) == 84119
    assert counts(found.labels) == {
        "-": 17751 + 9928 + 8256,
        "H": 25971 + 3096 + 30,
        "E": 17897 + 1162,
        None: 28,
    }
    assert len(load_cb513(data_dir, rs126=True).ids) == 117
    profile = np.concatenate(load_cb513(data_dir, psiblast=True).profiles)
    assert profile.shape == (84119, 20)
    assert set(np.round(10 * np.unique(profile)).tolist()) <= set(range(11))


def test_cb513_keeps_proteins_in_one_fold(sample_dir):
    found = load_cb513(sample_dir)
    assert len(found.ids) == 2 * len({name[:4] for name in found.ids})
    folds = {}
    for name, fold in zip(found.ids, found.fold, strict=True):
        assert folds.setdefault(name[:4], fold) == fold
    assert set(found.fold) == set(range(1, 8))
    np.testing.assert_allclose(np.concatenate(found.profiles[:20]).sum(axis=1), 1, rtol=1e-5)


def test_chains_of_rs126_are_some_of_cb513(sample_dir):
    every, some = load_cb513(sample_dir), load_cb513(sample_dir, rs126=True)
    assert len(every.ids) == 3 * len(some.ids) > 0
    place = [every.ids.index(name) for name in some.ids]
    assert some.labels == [every.labels[i] for i in place]
    for mine, i in zip(some.profiles, place, strict=True):
        np.testing.assert_array_equal(mine, every.profiles[i])


def test_psiblast_profiles_are_those_of_the_same_residues(sample_dir):
    found, aligned = load_cb513(sample_dir, rs126=True, psiblast=True), load_cb513(sample_dir, rs126=True)
    assert found.ids == aligned.ids
    assert found.labels == aligned.labels
    np.testing.assert_array_equal(found.fold, aligned.fold)
    assert [p.shape for p in found.profiles] == [(len(labels), 20) for labels in found.labels]
    profile, shares = np.concatenate(found.profiles), np.concatenate(aligned.profiles)[:, :20]
    assert profile.dtype == np.float32
    assert set(np.round(10 * np.unique(profile)).tolist()) <= set(range(11))
    # The residues that are aligned most often have the highest log-odds, if rows belong together.
    common = profile[np.arange(len(profile)), shares.argmax(axis=1)]
    assert common.mean() > profile.mean() + 0.3


def test_missing_data_is_said(tmp_path, monkeypatch):
    monkeypatch.setenv("KERNELFIELDS_DATA", str(tmp_path))
    with pytest.raises(MissingDataError, match="set KERNELFIELDS_DATA"):
        load_jpred4()
    with pytest.raises(MissingDataError, match="there is no file"):
        load_cb513(tmp_path)
