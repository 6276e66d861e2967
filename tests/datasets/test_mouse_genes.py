"""Genes of the mouse: where their exons are."""

import numpy as np
import pytest

from kernelfields.datasets import load_mouse_genes
from kernelfields.errors import MissingDataError


@pytest.mark.data
def test_counts_are_those_of_its_description(data_dir):
    genes = load_mouse_genes(data_dir)
    assert len(genes) == 50
    assert sum(len(gene.bases) for gene in genes) == 1_822_802
    assert sum(len(gene.exons) for gene in genes) == 669
    assert sum((gene.labels == "E").sum() for gene in genes) == 111_575
    assert whole_genes(genes) == 48


def test_coding_parts_begin_with_a_start_codon_and_end_with_a_stop_codon(sample_dir):
    genes = load_mouse_genes(sample_dir)
    assert whole_genes(genes) == len(genes) == 48
    assert max(len(gene.exons) for gene in genes) > 1


def whole_genes(genes):
    """How many have a coding part from start to stop; exons come one after the other in all."""
    whole = 0
    for gene in genes:
        coding = "".join("ACGT"[base] for base in gene.bases[gene.labels == "E"])
        whole += coding.startswith("ATG") and coding[-3:] in ("TAA", "TAG", "TGA") and len(coding) % 3 == 0
        assert (np.diff(gene.exons.ravel()) > 0).all()
    return whole


def test_missing_genes_are_said(tmp_path):
    with pytest.raises(MissingDataError, match="mouse_genes"):
        load_mouse_genes(tmp_path)
