"""``kf clusters``, and ``kf train --clusters``."""

import json

import pytest
from typer.testing import CliRunner

from kernelfields import load
from kernelfields.cli.app import app
from kernelfields.features import BrownClusters

from ._files import sentences, write_columns, write_json, write_table


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_from_text_to_features(tmp_path):
    data, more, paths = (
        write_columns(tmp_path / "a.conll"),
        write_json(tmp_path / "b.jsonl", seed=1),
        tmp_path / "p",
    )
    done = run("clusters", data, more, "-o", paths, "--clusters", 4, "--min-count", 2)
    assert (done.exit_code, done.output) == (0, f"{paths}: 9 words in 4 clusters.\n")
    text = [[w for w, _ in one] for seed in (0, 1) for one in sentences(30, seed)]
    assert BrownClusters.read(paths).paths == BrownClusters(4, 2).fit(text).paths
    trained = run("train", data, "-o", tmp_path / "m.kf", "--features", "ner", "--clusters", paths, "--json")
    assert trained.exit_code == 0, trained.output
    json.loads(trained.output.splitlines()[-1])
    model = load(tmp_path / "m.kf")
    assert model.features_.clusters.paths == BrownClusters.read(paths).paths
    assert run("tag", tmp_path / "m.kf", more).exit_code == 0


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["train", "a.conll", "--clusters", "none"], "none"),
        (["train", "a.conll", "--clusters", "a.conll"], "a.conll, line 1: expected a path"),
        (["train", "a.csv", "--clusters", "p"], "--clusters is for tokens"),
        (
            ["train", "a.conll", "--features", "own", "--clusters", "p"],
            "--features own asks for no --clusters",
        ),
        (["train", "a.conll", "--features", "asks"], "--features asks asks for Brown clusters"),
        (["clusters", "a.csv", "-o", "q"], "a.csv has numbers or features"),
        (["clusters", "a.conll", "-o", "q", "--clusters", "0"], "n_clusters is 0"),
        (["clusters", "none", "-o", "q"], "none"),
    ],
)
def test_what_is_refused(tmp_path, monkeypatch, words, reason):
    monkeypatch.chdir(tmp_path)
    write_columns(tmp_path / "a.conll")
    write_table(tmp_path / "a.csv")
    (tmp_path / "p").write_text("01\tthe\t3\n")
    (tmp_path / "own").write_text("columns: w\nw[0]\n")
    (tmp_path / "asks").write_text("columns: w\ncluster4(w[0])\n")
    refused = run(*words)
    assert refused.exit_code == 2
    assert reason in refused.output
    assert len(refused.output.splitlines()) == 1
    assert not (tmp_path / "q").exists()
