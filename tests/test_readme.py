"""The Python example of the README runs and prints what it says."""

import re

from tests.conftest import ROOT


def test_readme_example_runs(capsys):
    text = (ROOT / "README.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    exec(compile(code, "README.md", "exec"), {})
    output = capsys.readouterr().out
    assert float(output.split("%")[0]) < 25
    assert "above the optimum" in output
