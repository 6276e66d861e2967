"""Every kind of model file is served, or refused in one sentence."""

import asyncio
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from kernelfields.cli.app import app
from kernelfields.cli.serve import read_served
from kernelfields.errors import InputError
from kernelfields.serving import Limits
from kernelfields.serving.answering import Answering
from kernelfields.serving.lane import Job
from tests.cli._files import write_table
from tests.regression.write import models as written

from .conftest import shelf_of

FILES = sorted((Path(__file__).parents[1] / "regression" / "0.1.0").glob("*.kf"))
NOT_SERVED = {
    "label-propagation",
    "label-spreading",
    "markov-field",
    "poisson-learning",
    "sequence-clustering",
    "transductive-svm",
}
"""They label no sequences."""


def as_written(x):
    return x.tolist() if isinstance(x, np.ndarray) else json.loads(json.dumps(x))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_kind_of_model(path):
    if path.stem in NOT_SERVED:
        with pytest.raises(InputError, match=r"\.$"):
            shelf_of(path)
        return
    served = shelf_of(path)[path.stem]
    X = written()[path.stem][1]
    sequences = [
        {"tokens": as_written(x[0]), "parents": as_written(x[1])}
        if served.structure == "tree"
        else as_written(x)
        for x in X
    ]
    loop = asyncio.new_event_loop()
    body = json.dumps({"sequences": sequences}).encode()
    (outcome,) = Answering(Limits())([Job(path.stem, served, "tag", body, loop.create_future())])
    loop.close()
    assert isinstance(outcome.answer, bytes), str(outcome.answer)
    model = read_served(path)
    assert json.loads(outcome.answer)["labels"] == json.loads(json.dumps(model.predict(X)))


@pytest.mark.parametrize("scaling", ["columns", "none"])
def test_columns_of_numbers_have_names(scaling, tmp_path):
    """A scaled table makes a pipeline, whose first transformer saw them."""
    table, path = write_table(tmp_path / "t.csv"), tmp_path / "t.kf"
    CliRunner().invoke(app, ["train", str(table), "--scale", scaling, "-o", str(path)])
    assert shelf_of(path)["t"].description()["columns"] == ["x", "noise"]
