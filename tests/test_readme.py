"""The Python examples of the README run and print what they say."""

import re

from tests.conftest import ROOT


def test_readme_examples_run(capsys, monkeypatch, tmp_path):
    text = (ROOT / "README.md").read_text()
    monkeypatch.chdir(tmp_path)  # one of them writes a report
    for code in re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL):
        names: dict[str, object] = {}
        exec(compile(code, "README.md", "exec"), names)
    tagged = names["tagger"].predict([[("A", "DT"), ("cat", "NN"), ("sleeps", "VB")]])
    assert tagged == [["B-NP", "I-NP", "B-VP"]]
    output = capsys.readouterr().out
    assert float(output.split("%")[0]) < 25
    assert "above the optimum" in output
    assert (tmp_path / "report.html").stat().st_size > 50_000
