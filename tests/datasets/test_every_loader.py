"""Every public loader reads the samples: none is tested by real data alone."""

import pytest

from kernelfields import datasets

SIZES = {
    "load_alignments": 60,
    "load_cb513": 84,
    "load_citations": 1700,
    "load_conll2002": 700,
    "load_genome": pytest.approx(120_700, abs=800),  # the last gene and what is after it are of any length
    "load_gestures": 7,
    "load_horses": 7,
    "load_jpred4": 95,
    "load_mouse_genes": 48,
    "load_prosody": 400,
    "load_ptb_sample": 398,
    "load_ptb_trees": 398,
    "load_scene": 120,
    "load_snakes": 24,
    "load_ud_ewt": 700,
    "load_ud_trees": 700,
}
"""How many sequences, images or rows the samples have."""

NAMES = {"load_citations": "cora"}
"""What has to be named."""

# Letters come with the package; tests/datasets/test_letters.py counts them.
LOADERS = sorted(name for name in datasets.__all__ if name.startswith("load_") and name != "load_letters")


@pytest.mark.parametrize("loader", LOADERS)
def test_samples_are_read(loader, sample_dir):
    given = [NAMES[loader]] if loader in NAMES else []
    found = getattr(datasets, loader)(*given, folder=sample_dir)
    items = found if isinstance(found, list) else found[0]
    assert (items.shape[0] if hasattr(items, "shape") else len(items)) == SIZES[loader]
