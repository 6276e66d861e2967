"""Run one benchmark and print a table, or one JSON object as the last line."""

from __future__ import annotations

import argparse
import importlib
import json
from collections.abc import Sequence

from . import _run

# Name on the command line -> module with ``run(quick: bool) -> _run.Result``.
BENCHMARKS = {
    "assignment": "benchmarks.assignment",
    "boosting": "benchmarks.boosting",
    "chain_inference": "benchmarks.chain_inference",
    "compat": "benchmarks.compat",
    "defaults": "benchmarks.defaults",
    "distributed": "benchmarks.distributed",
    "distributed_cost": "benchmarks.distributed_cost",
    "out_of_core": "benchmarks.out_of_core",
    "crfsuite_files": "benchmarks.crfsuite_files",
    "first_contact": "benchmarks.first_contact",
    "gram": "benchmarks.gram",
    "graph_bp": "benchmarks.graph_bp",
    "graph_exact": "benchmarks.graph_exact",
    "graph_kernel": "benchmarks.graph_kernel",
    "graph_map": "benchmarks.graph_map",
    "hmm": "benchmarks.hmm",
    "kernel_dense": "benchmarks.kernel_dense",
    "label": "benchmarks.label",
    "label_run": "benchmarks.label_run",
    "linear_crf_cost": "benchmarks.linear_crf_cost",
    "kernel_sparse": "benchmarks.kernel_sparse",
    "selection_cost": "benchmarks.selection_cost",
    "linear_crf_tag": "benchmarks.linear_crf_tag",
    "linear_crf_train": "benchmarks.linear_crf_train",
    "linear_online": "benchmarks.linear_online",
    "model_files": "benchmarks.model_files",
    "one_by_one": "benchmarks.one_by_one",
    "order2": "benchmarks.order2",
    "parsing": "benchmarks.parsing",
    "segments": "benchmarks.segments",
    "serve": "benchmarks.serve",
    "serve_hostile": "benchmarks.serve_hostile",
    "svm": "benchmarks.svm",
    "trees": "benchmarks.trees",
    "viterbi": "benchmarks.viterbi",
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("name", choices=BENCHMARKS)
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    parser.add_argument(
        "--quick", action="store_true", help="tiny sizes: checks that everything runs, says no more"
    )
    parser.add_argument(
        "--hostile", action="store_true", help="serve and others who attack it: serve_hostile"
    )
    options = parser.parse_args(arguments)
    name = f"{options.name}_hostile" if options.hostile else options.name
    if name not in BENCHMARKS:
        parser.error(f"{options.name} has no --hostile")
    result: _run.Result = importlib.import_module(BENCHMARKS[name]).run(quick=options.quick)
    if options.json:
        print(json.dumps(result.as_json()))
    else:
        _run.show(result)


if __name__ == "__main__":
    main()
