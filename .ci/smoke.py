"""What an installed package must do: learn, certify, save, load, label, and the same on the command line."""

import json
import subprocess
import sys
import sysconfig
from pathlib import Path

import kernelfields
from kernelfields import CRF, KernelCRF, load
from kernelfields.datasets import load_letters
from kernelfields.kernels import RBF

assert ".." not in kernelfields.__file__
assert Path(sysconfig.get_paths()["purelib"]) in Path(kernelfields.__file__).parents, kernelfields.__file__

letters = load_letters()
X, y = (part[:80] for part in letters.split(0))
X_test, y_test = (part[:60] for part in letters.split(1))
model = KernelCRF(RBF(gamma=0.03), penalty=0.05).fit(X, y)
assert model.certificate_.relative_gap < 1e-3
assert model.score(X_test, y_test) > CRF(penalty=2.0).fit(X, y).score(X_test, y_test)
model.save("letters.kf")
assert load("letters.kf").predict(X_test) == model.predict(X_test)

words = [["Anna", "sees", "Rome"], ["Rome", "sleeps"], ["Ben", "sees", "Anna"]] * 5
tags = [["B-PER", "O", "B-LOC"], ["B-LOC", "O"], ["B-PER", "O", "B-PER"]] * 5
rows = [json.dumps({"tokens": w, "labels": t}) for w, t in zip(words, tags, strict=True)]
Path("train.jsonl").write_text("\n".join(rows) + "\n")
kf = str(Path(sys.executable).parent / "kf")
for command in (
    ["train", "train.jsonl", "-o", "names.kf"],
    ["evaluate", "names.kf", "train.jsonl"],
    ["tag", "names.kf", "train.jsonl", "-o", "tagged.jsonl"],
):
    done = subprocess.run([kf, *command], capture_output=True, text=True)
    assert done.returncode == 0, (command, done.stdout, done.stderr)
assert len(Path("tagged.jsonl").read_text().splitlines()) == len(words)
print(f"kernelfields {kernelfields.__version__} works with Python {sys.version.split()[0]}")
