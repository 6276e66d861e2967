"""The page while its server is away, beside a second window, and with more columns than it draws."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import numpy as np
import pytest

from benchmarks import _chromium
from benchmarks.label_run import ENTER, Server
from tests.labelling.test_browser import SPANS, browser, get, idle, text

pytest.importorskip("uvicorn", reason="No uvicorn: pip install kernelfields[web].")
posix = pytest.mark.skipif(os.name != "posix", reason="There is no SIGKILL.")
HOME = "\ue011"
__all__ = ["browser", "text"]


def shoot(browser, name: str) -> None:
    """Keep a picture of a state of the page, where one is asked for."""
    folder = os.environ.get("KERNELFIELDS_SHOTS")
    if folder is not None:
        browser.save_screenshot(str(Path(folder) / f"{name}.png"))


def said(browser, name: str) -> str:
    return browser.execute_script(f"return document.getElementById('{name}').textContent")


@pytest.fixture
def server(text, tmp_path):
    found = Server(str(text), SPANS, journal=tmp_path / "j")
    yield found
    if found.process.poll() is None:
        found.stop()


@posix
@pytest.mark.parametrize("reload", [False, True])
def test_labels_set_while_the_server_was_away_are_sent(browser, server, text, reload) -> None:
    _chromium.look(browser, 1200)
    browser.get(server.address)
    item = idle(browser)["item"]
    server.kill()
    _chromium.press(browser, HOME, "p", "l")
    _chromium.wait(browser, "document.getElementById('status').textContent === '2 unsaved'")
    assert "2 changes are not saved yet" in said(browser, "trouble")
    shoot(browser, "unsaved")
    again = Server(str(text), SPANS, journal=server.journal, port=server.port)
    try:
        if reload:
            from selenium.common.exceptions import NoAlertPresentException

            browser.execute_script("location.reload()")
            with contextlib.suppress(NoAlertPresentException):  # the page may ask first
                browser.switch_to.alert.accept()
        _chromium.wait(browser, "item && !waiting && document.getElementById('trouble').hidden")
        assert get(again, f"api/items/{item}")["tags"][:2] == ["B-PER", "B-LOC"]
        assert get(again, f"api/items/{item}")["states"][:2] == ["manual", "manual"]
        assert browser.execute_script("return item.item") == item
        _chromium.press(browser, ENTER)
        _chromium.wait(browser, f"item.item !== {item} && !waiting && !accepting")
        assert get(again, "api/overview")["done"] == 1
    finally:
        again.stop()


@posix
def test_the_banner_counts_what_the_status_counts(browser, server) -> None:
    _chromium.look(browser, 1200)
    browser.get(server.address)
    idle(browser)
    server.kill()
    _chromium.press(browser, HOME, "p")
    _chromium.wait(browser, "failures > 0 && !sending")
    # In one turn of the page: the next attempt to send, which counts anew, cannot have failed yet.
    status, trouble = browser.execute_script(
        "label('LOC'); return ['status', 'trouble'].map((id) => document.getElementById(id).textContent)"
    )
    assert status == "2 unsaved"
    assert "2 changes are not saved yet" in trouble


def test_an_answer_that_is_cut_off_is_none(browser, server) -> None:
    """As where the server ends between the head of an answer and its body."""
    _chromium.look(browser, 1200)
    browser.get(server.address)
    item = idle(browser)["item"]
    browser.execute_script(
        "const whole = fetch; window.fetch = async (...asked) => {"
        "  const answer = await whole(...asked);"
        "  return new Response((await answer.text()).slice(0, 9), { status: answer.status });"
        "}; window.whole = whole; return refresh()"
    )
    assert "The server does not answer" in said(browser, "trouble")
    _chromium.press(browser, HOME, "p")
    _chromium.wait(browser, "document.getElementById('status').textContent === '1 unsaved'")
    browser.execute_script("window.fetch = whole; return flush()")
    _chromium.wait(browser, "!waiting && document.getElementById('trouble').hidden")
    assert get(server, f"api/items/{item}")["tags"][0] == "B-PER"


def test_two_windows_share_the_work_and_hear_of_each_other(browser, server) -> None:
    _chromium.look(browser, 1200)
    browser.get(server.address)
    one, first = browser.current_window_handle, idle(browser)["item"]
    browser.switch_to.new_window("tab")
    try:
        browser.get(server.address)
        assert idle(browser)["item"] != first
        browser.execute_script(f"visit({first})")
        _chromium.wait(browser, f"item.item === {first} && !waiting")
        _chromium.press(browser, ENTER)
        _chromium.wait(browser, f"item.item !== {first} && !waiting && !accepting")
    finally:
        browser.close()
        browser.switch_to.window(one)
    assert browser.execute_script("return item.item") == first
    _chromium.press(browser, HOME, "p")
    _chromium.wait(browser, "document.getElementById('conflict').open")
    assert f"Sequence {first} was accepted in another window" in said(browser, "conflict-what")
    shoot(browser, "conflict")
    assert get(server, f"api/items/{first}")["tags"][0] == "O"
    browser.execute_script("document.getElementById('keep-mine').click()")
    _chromium.wait(browser, "!waiting && !document.getElementById('conflict').open")
    assert get(server, f"api/items/{first}")["tags"][0] == "B-PER"


def test_all_columns_can_be_drawn(browser, tmp_path) -> None:
    rng = np.random.default_rng(0)
    names = [f"sensor_{d}" for d in range(18)]
    rows = [",".join(["sequence", "label", *names])]
    for name in ("c3_01", "c3_02"):
        walks = np.cumsum(rng.normal(size=(40, 18)), axis=0)
        rows += [",".join([name, "", *(f"{x:.3f}" for x in row)]) for row in walks]
    (tmp_path / "some.csv").write_text("\n".join(rows))
    server = Server(str(tmp_path / "some.csv"), "--labels=rest,walk", journal=tmp_path / "j")
    try:
        _chromium.look(browser, 1200)
        browser.get(server.address)
        item = idle(browser)
        assert said(browser, "name") == item["name"] == ("c3_01", "c3_02")[item["item"]]
        legend = "document.querySelector('#sequence .names b').textContent"
        assert browser.execute_script(f"return {legend}") == "8 of 18 columns shown"
        browser.execute_script("document.querySelectorAll('#sequence .names input')[17].click()")
        assert browser.execute_script(f"return {legend}") == "9 of 18 columns shown"
        assert browser.execute_script("return document.querySelectorAll('#sequence path.line').length") == 9
        assert "position 0 of 0 to 39" in said(browser, "detail")
        _chromium.press(browser, "w", "r")
        _chromium.wait(browser, "!waiting")
        assert idle(browser)["tags"][:2] == ["walk", "rest"]
        shoot(browser, "columns")
    finally:
        server.stop()
