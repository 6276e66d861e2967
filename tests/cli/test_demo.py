"""``kf demo``: seven models on handwritten words."""

import json
from itertools import chain

import numpy as np
import pytest
from typer.testing import CliRunner

from kernelfields.cli.app import app
from kernelfields.cli.demo import ENTRIES, DemoRow, answers, size_of, verdict, words
from kernelfields.datasets import draw_letter, load_letters

NAMES = [
    "HMM",
    "perceptron",
    "CRF",
    "structured SVM",
    "kernel CRF, dense",
    "kernel CRF, sparse",
    "kernel CRF, strokes",
]


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    page = tmp_path_factory.mktemp("demo") / "page.html"
    result = CliRunner().invoke(app, ["demo", "--quick", "--json", "--report", str(page)])
    assert result.exit_code == 0, result.output
    return result, json.loads(result.stdout.splitlines()[-1]), page


def test_table_has_every_model(ran):
    result, found, _ = ran
    assert [row["name"] for row in found["models"]] == NAMES
    for row in found["models"]:
        assert f"{row['letter_error']:.1%}" in result.stderr
        assert f"{row['log_likelihood']:.3f}" in result.stderr
        assert 0 < row["letter_error"] < 0.7
        assert row["log_likelihood"] < 0 < row["calibration_error"]
        assert row["seconds"] > 0


def test_kernels_make_fewer_errors_than_all_linear_models(ran):
    rows = {row["name"]: row for row in ran[1]["models"]}
    linear = min(row["letter_error"] for row in rows.values() if row["linear"])
    assert rows["kernel CRF, dense"]["letter_error"] < linear
    assert [name for name, row in rows.items() if not row["linear"]] == NAMES[-3:]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_answers_are_predictions(entry):
    training, test = words(quick=True)
    model = entry.make().fit(entry.inputs(training[0]), training[1])
    inputs = entry.inputs(test[0])
    marginals = model.predict_marginals(inputs)
    predicted = model.predict(inputs)
    assert answers(model, inputs, marginals) == predicted
    if model.decoder == "posterior":  # nor is the rest of the model asked
        assert answers(model, [], marginals) == predicted


def test_sizes_are_those_of_files(ran, tmp_path):
    rows = {row["name"]: row for row in ran[1]["models"]}
    assert rows["CRF"]["bytes"] > 8 * 26 * (128 + 26)  # weights and label pairs in double precision
    assert rows["kernel CRF, dense"]["bytes"] > rows["CRF"]["bytes"]
    assert size_of(object()) is None


def test_report_is_of_the_best_model_and_says_what_next(ran):
    result, found, page = ran
    assert found["report"] == str(page)
    best = min(found["models"], key=lambda row: row["letter_error"])
    text = page.read_text()
    assert f"Handwritten words, read by a {best['name']}" in text
    drawn = {draw_letter(image) for word in words(quick=True)[1][0] for image in word}
    assert any(json.dumps(letter)[1:-1] in text for letter in drawn)
    assert "kf train DATA" in result.stderr


def test_words_to_learn_from_are_not_tested_on():
    letters = load_letters()
    training, test = words(quick=False)
    assert len(training[0]) == (letters.fold == 0).sum()
    assert len(training[0]) + len(test[0]) == len(letters.fold)
    few, _ = words(quick=True)
    assert 10 * len(few[0]) - len(training[0]) in range(10)
    assert set(chain(*few[1])) == set(chain(*training[1]))


def test_verdict_compares_the_best_of_both_kinds():
    def row(name, linear, error, strokes=False):
        return DemoRow(name, linear, strokes, error, -1.0, 0.1, 1.0, None)

    rows = [row("a", True, 0.3), row("b", True, 0.2), row("c", False, 0.15), row("d", False, 0.4)]
    other = row("e", False, 0.05, strokes=True)
    said = verdict([*rows, other])
    assert "b, gets 20.0% of the letters wrong, c 15.0%: 25% fewer errors" in said
    assert said.endswith("it is 5.0%.")
    said = verdict([*rows[:2], rows[3], other])
    assert "b, gets 20.0% of the letters wrong, d 40.0%: 100% more errors" in said


def test_letters_are_drawn_dot_by_dot():
    image = np.zeros((16, 8))
    image[0, 7] = image[9, 2] = image[15, 7] = 1
    assert draw_letter(image.ravel()).splitlines() == ["⠀⠀⠀⠈", "⠀⠀⠀⠀", "⠀⠂⠀⠀", "⠀⠀⠀⢀"]
