"""Proteins: chains of residues, labelled with their secondary structure."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..checks import require_whole
from ..features.windows import stack_windows
from .folder import data_file

EXTRA = b"d3arcz_"
"""Chains in the files of the JPred4 blind set that are not in the published set."""

STATES = {"H": "H", "G": "H", "I": "H", "E": "E", "B": "E", "T": "-", "S": "-", "_": "-"}
"""The eight states of DSSP mapped to three: all helices, all strands, the rest."""


class Proteins(NamedTuple):
    """Protein chains with evolutionary profiles."""

    ids: list[str]
    profiles: list[Array]
    """One (T, D) float32 array per chain, a row per residue."""
    labels: list[list[str | None]]
    """"H" helix, "E" strand, "-" neither; None where it is unknown."""
    fold: Array
    """Fold of every chain, from 1; 0 for chains to test on, where the data set has some."""

    def split(self, *folds: int, window: int = 15) -> tuple[list[Array], list[list[str | None]]]:
        """Return features and labels of the chains in some folds: profiles in windows of residues."""
        chosen = np.flatnonzero(np.isin(self.fold, folds))
        return stack_windows([self.profiles[i] for i in chosen], window), [self.labels[i] for i in chosen]


def load_jpred4(folder: str | Path | None = None) -> Proteins:
    """Load the training and blind sets of JPred4: PSI-BLAST and HMMER profiles, three states.

    1,348 chains in the authors' seven folds, and 149 blind ones as fold 0. A profile has 44 columns: 20
    log-odds of PSI-BLAST and 24 emission scores of HMMER, each passed through the logistic function as for
    the authors' networks. Windows of 15 residues have 660 features.

    Parameters
    ----------
    folder : path, optional
        Folder that has ``jpred4``; the one in KERNELFIELDS_DATA if not given.
    """
    with np.load(data_file("jpred4", "jpred4_pssm.npz", folder)) as data:
        ids, offsets, fold = data["ids"], data["offsets"], data["fold"]
        states = np.array(["H", "E", "-"])[data["ss3"]].tolist()
        pssm = _logistic(data["pssm"])
    with np.load(data_file("jpred4", "jpred4_hmm.npz", folder)) as data:
        profile = np.concatenate([pssm, _logistic(data["hmm100"] / np.float32(100))], axis=1)
    chains = [(a, b) for name, (a, b) in zip(ids, pairwise(offsets), strict=True) if name != EXTRA]
    return Proteins(
        [name.decode() for name in ids if name != EXTRA],
        [profile[a:b] for a, b in chains],
        [states[a:b] for a, b in chains],
        fold[ids != EXTRA].astype(np.int64),
    )


def load_cb513(
    folder: str | Path | None = None,
    states: Mapping[str, str] = STATES,
    n_folds: int = 7,
    *,
    rs126: bool = False,
    psiblast: bool = False,
) -> Proteins:
    """Load CB513: 513 chains with profiles of the residues aligned to theirs.

    A profile has 21 columns, the shares of the twenty residues and of gaps among aligned sequences; or 20,
    log-odds s of PSI-BLAST scaled to 0…1, in tenths: 0 below −5, 1 above 5, 0.5 + 0.1 s between [kim2003].
    The set has no published folds: chains of one protein, which share the first four letters of their
    names, are put into one fold. Some chains are in JPred4's sets too: do not train on one and test on the
    other.

    Parameters
    ----------
    folder : path, optional
        Folder that has ``cb513``; the one in KERNELFIELDS_DATA if not given.
    states : mapping
        Label of each of the eight states of DSSP. Papers differ, and their accuracies with them.
    n_folds : int
        Number of folds.
    rs126 : bool
        Whether to return only the 117 chains from the set of Rost and Sander.
    psiblast : bool
        Whether profiles are those of PSI-BLAST.
    """
    n_folds = require_whole("n_folds", n_folds)
    with np.load(data_file("cb513", "cb513.npz", folder)) as data:
        ids, offsets = [name.decode() for name in data["ids"]], data["offsets"]
        labels = [states.get(chr(code)) for code in data["dssp8"].tolist()]
        counts = data["align_counts"]
        wanted = data["from_rs126"].astype(bool) if rs126 else np.ones(len(ids), dtype=bool)
    profile = _psiblast(folder) if psiblast else _shares(counts)
    chains = [chain for chain, kept in zip(pairwise(offsets), wanted, strict=True) if kept]
    ids = [name for name, kept in zip(ids, wanted, strict=True) if kept]
    proteins = list(dict.fromkeys(name[:4] for name in ids))
    number = {protein: 1 + k % n_folds for k, protein in enumerate(proteins)}
    return Proteins(
        ids,
        [profile[a:b] for a, b in chains],
        [labels[a:b] for a, b in chains],
        np.array([number[name[:4]] for name in ids]),
    )


def _psiblast(folder: str | Path | None) -> Array:
    with np.load(data_file("cb513", "cb513_psiblast.npz", folder)) as data:
        return np.asarray(data["pssm_tenths"], dtype=np.float32) / np.float32(10)


def _shares(counts: Array) -> Array:
    counts = counts.astype(np.float32)
    return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)


def _logistic(values: Array) -> Array:
    return 1 / (1 + np.exp(-values.astype(np.float32)))
