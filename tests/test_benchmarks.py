"""Benchmarks run and report in the one agreed form; how fast anything is, is not tested."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("hmmlearn")
ROOT = Path(__file__).parents[1]
SIGNED = (
    "f1_minus_crfsuite",
    "worst_f1_difference",
    "exponent_n",
    "exponent_data",
    "exponent_labels_per_pair",
    "points_lost",
)


@pytest.mark.parametrize(
    "name",
    [
        "assignment",
        "chain_inference",
        "graph_bp",
        "parsing",
        "segments",
        "serve",
        "serve_hostile",
        "trees",
        "graph_exact",
        "graph_kernel",
        "graph_map",
        "viterbi",
        "label",
        "linear_crf_cost",
        "linear_crf_tag",
        "linear_crf_train",
        "linear_online",
        "one_by_one",
        "compat",
        "distributed",
        "out_of_core",
        "crfsuite_files",
        "gram",
        "kernel_dense",
        "kernel_sparse",
        "selection_cost",
        "defaults",
    ],
)
def test_last_line_is_one_object_of_the_agreed_form(name):
    command = [sys.executable, "-m", "benchmarks", name, "--quick", "--json"]
    output = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    result = json.loads(output.splitlines()[-1])
    assert list(result) == ["benchmark", "bars", "details"]
    assert result["benchmark"] == name
    # One reports exponents, the others have rivals in environments of their own.
    assert result["bars"] or name in ("defaults", "linear_crf_cost", "graph_bp", "parsing")
    for bar in result["bars"]:
        assert set(bar) in ({"name", "value", "at_least"}, {"name", "value", "at_most"})
        assert bar["value"] >= 0 or bar["name"] in SIGNED


def test_table_ends_in_the_bars():
    command = [sys.executable, "-m", "benchmarks", "viterbi", "--quick"]
    output = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert "f64_long_two_cores_L9" in output.splitlines()[-2]
