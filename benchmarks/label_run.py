"""A recorded run of ``kf label`` in Chromium: 60 words of the letters labelled by keys, through two kill -9.

A script sits at the keyboard: it types the letters of every word that the page asks for, and presses Enter.
Half way through a word, and at the end, the server is killed with SIGKILL and started again on the same
journal; what the page had called saved must be there. The labels are exported by the page and by the command
line, compared with what was typed, and given to ``kf train``. With KERNELFIELDS_SHOTS, screenshots go to that
folder.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from kernelfields.datasets import load_letters

from ._chromium import chromium, look, missing, press, wait
from ._run import Bar, Result

ENTER = "\ue007"
KF = [sys.executable, "-m", "kernelfields"]


class Server:
    """A ``kf label`` of its own process."""

    def __init__(self, *options: str, journal: Path, port: int = 0) -> None:
        self.options, self.journal = options, journal
        command = [*KF, "label", *options, "--journal", str(journal), "--no-browser", f"--port={port}"]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        self.said: list[str] = []
        for line in self.process.stderr:
            self.said.append(line.strip())
            if line.startswith("Open "):
                self.address = line.split()[1]
                return
        raise RuntimeError(" ".join(self.said))

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.address.rstrip("/").rpartition(":")[2])

    def kill(self) -> None:
        """End the process as kill -9 does."""
        self.process.send_signal(signal.SIGKILL)
        self._end()

    def stop(self) -> None:
        """End the process as a user does."""
        self.process.send_signal(signal.SIGINT)
        self._end()

    def _end(self) -> None:
        try:
            self.process.wait(20)
        finally:
            if self.process.poll() is None:
                self.process.kill()
            assert self.process.stderr is not None
            self.process.stderr.close()


@contextmanager
def serving(*options: str, journal: Path) -> Iterator[list[Server]]:
    """Start a server; more may be appended, and the last one is ended."""
    servers = [Server(*options, journal=journal)]
    try:
        yield servers
    finally:
        if servers[-1].process.poll() is None:
            servers[-1].stop()


def run(quick: bool) -> Result:
    lacking = missing()
    if lacking is not None:
        raise SystemExit(lacking)
    words = 10 if quick else 60
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with chromium(folder / "chromium") as browser:
            found = recorded(browser, folder, words, few_words(folder) if quick else ("letters",))
        trained = _trained(folder, found["exported"]) if not quick else {}
    bars = [
        Bar("typed_and_exported", found["kept"] / words, at_least=1.0),
        Bar("last_error_by_first", found["last_error"] / max(found["first_error"], 1e-9), at_most=0.8),
    ]
    details = {key: value for key, value in found.items() if key != "exported"} | trained
    return Result("label_run", bars if not quick else bars[:1], details)


def few_words(folder: Path, count: int = 60) -> tuple[str, ...]:
    """Write the first words of the letters to a file, and return how to label it."""
    images = load_letters().images[:count]
    path = folder / "few.npz"
    np.savez(path, X=np.concatenate(images), lengths=[len(one) for one in images])
    return str(path), "--image=16x8", "--labels=" + ",".join("abcdefghijklmnopqrstuvwxyz")


def recorded(browser: Any, folder: Path, words: int, data: Sequence[str] = ("letters",)) -> dict[str, Any]:
    """Label words by keys, with a server that is killed half way and at the end.

    ``data`` are the letters of the package, or the first words of them in a file, with options.
    """
    letters, journal = load_letters().labels, folder / "letters.labels"
    typed: dict[int, str] = {}
    start = time.perf_counter()
    with serving(*data, journal=journal) as servers:
        look(browser, 1200)
        browser.get(servers[-1].address)
        for n in range(words):
            item = int(wait(browser, "item && !waiting && !accepting && String(item.item)"))
            typed[item] = "".join(letters[item])
            if n == words // 2:
                press(browser, typed[item][:2])
                wait(browser, "!waiting")
                _kill_and_go_on(servers)
                browser.refresh()
                assert int(wait(browser, "item && String(item.item)")) == item, (
                    "a word that was begun is lost"
                )
                begun = "".join(tag or "·" for tag in browser.execute_script("return item.tags.slice(0, 2)"))
                assert begun == typed[item][:2], f"{typed[item][:2]} was saved, but {begun} is there"
            press(browser, "\ue011", typed[item], ENTER)
            wait(browser, f"item.item !== {item} && !waiting && !accepting")
            _shoot(browser, n)
        wait(browser, "document.getElementById('learning').textContent === 'model up to date'")
        time.sleep(1)
        curve = browser.execute_script("return view.curve")
        by_page = browser.execute_async_script(
            "fetch('/api/export?format=jsonl').then(r => r.text()).then(arguments[0])"
        )
        seconds = time.perf_counter() - start
        _kill_and_go_on(servers)
        browser.get(servers[-1].address)
        done = int(wait(browser, "item && document.querySelector('#progress b').textContent").split()[0])
    exported = folder / "letters.jsonl"
    subprocess.run([*KF, "label", *data, "--journal", journal, "--export", exported], check=True)
    by_command = exported.read_text(encoding="utf-8")
    assert by_page == by_command, "the page and the command export different labels"
    found = ["".join(json.loads(line)["labels"]) for line in by_command.splitlines()]
    shares = [point["wrong"] / point["of"] for point in curve]
    return {
        "words": words,
        "seconds": seconds,
        "done_after_kill": done,
        "kept": done if sorted(found) == sorted(typed.values()) else 0,
        "first_error": shares[0] if shares else 1.0,
        "last_error": shares[-1] if shares else 1.0,
        "curve": [
            {"accepted": point["labelled"], "checks": point["sequences"], "error": share}
            for point, share in zip(curve, shares, strict=True)
        ][:: max(1, len(curve) // 12)],
        "exported": exported,
    }


def _kill_and_go_on(servers: list[Server]) -> None:
    last = servers[-1]
    last.kill()
    servers.append(Server(*last.options, journal=last.journal, port=last.port))


def _shoot(browser: Any, n: int) -> None:
    folder = os.environ.get("KERNELFIELDS_SHOTS")
    if folder is None or n not in (0, 29, 59):
        return
    for width, scheme in ((1200, "light"), (1200, "dark"), (400, "light"), (400, "dark")):
        look(browser, width, scheme)
        time.sleep(0.3)
        browser.save_screenshot(str(Path(folder) / f"letters_{n + 1}_{width}_{scheme}.png"))
    look(browser, 1200)


def _trained(folder: Path, exported: Path) -> dict[str, Any]:
    """Give the export to ``kf train``."""
    model = folder / "letters.kf"
    command = [*KF, "train", str(exported), "-o", str(model), "--json"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {"kf_train": "accepted the export" if json.loads(output.splitlines()[-1]) else ""}
