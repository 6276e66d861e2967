"""The page in a real browser, with servers that are killed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import urllib.request

import pytest

from benchmarks import _chromium
from benchmarks.label_run import ENTER, KF, Server, few_words, recorded
from tests.labelling._cases import sentences

pytest.importorskip("uvicorn", reason="No uvicorn: pip install kernelfields[web].")
posix = pytest.mark.skipif(os.name != "posix", reason="There is no SIGKILL.")
RIGHT, SHIFT, CONTROL, HOME = "\ue014", "\ue008", "\ue009", "\ue011"
SPANS = "--labels=PER,LOC"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """Start Chromium, or skip and say why."""
    lacking = _chromium.missing()
    if lacking is not None:
        pytest.skip(lacking)
    with _chromium.chromium(tmp_path_factory.mktemp("chromium")) as started:
        yield started


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "some.txt"
    lines = [" ".join(words) for words in sentences(30)[0]]
    lines[7] = "<script>alert(1)</script> " + "w" * 300 + " " + " ".join(["many"] * 60)
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def server(text):
    """A server that several tests share."""
    found = Server(str(text), SPANS, journal=text.with_suffix(".labels"))
    yield found
    found.stop()


def get(server: Server, path: str):
    with urllib.request.urlopen(server.address + path, timeout=120) as answer:
        return json.loads(answer.read())


def post(server: Server, path: str, body):
    request = urllib.request.Request(server.address + path, json.dumps(body).encode(), method="POST")
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.loads(answer.read())


def idle(browser) -> dict:
    return _chromium.wait(browser, "item && !waiting && !accepting && item")


@posix
def test_kill_loses_nothing_and_a_second_process_is_refused(text, tmp_path) -> None:
    server = Server(str(text), SPANS, journal=tmp_path / "j")
    asked = get(server, "api/next")["next"]
    body = {"item": asked["item"], "labels": ["O"] * len(asked["tags"])}
    after = post(server, "api/accept", body)["next"]
    post(server, "api/set", {"item": after["item"], "at": 0, "length": 1, "label": "PER"})
    command = [*KF, "label", str(text), "--journal", str(tmp_path / "j"), "--no-browser", "--port=0"]
    second = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert second.returncode == 2
    assert "is in use by another process" in second.stderr
    server.kill()
    with open(tmp_path / "j", "ab") as file:
        file.write(b'{"do":"set","item":')  # what a crash in the middle of a write leaves
    again = Server(str(text), journal=tmp_path / "j")
    try:
        assert "The last line of the journal was cut short by a crash, and was removed." in again.said
        overview = get(again, "api/overview")
        assert (overview["done"], overview["begun"]) == (1, [after["item"]])
        assert get(again, f"api/items/{after['item']}")["tags"][0] == "B-PER"
    finally:
        again.stop()


@posix
def test_words_are_typed_through_a_kill(browser, tmp_path) -> None:
    found = recorded(browser, tmp_path, 4, few_words(tmp_path, 40))
    assert found["kept"] == found["done_after_kill"] == 4


def test_keys_do_everything(browser, server) -> None:
    browser.get_log("browser")
    _chromium.look(browser, 1200)
    browser.get(server.address)
    idle(browser)
    browser.execute_script("visit(0)")
    _chromium.wait(browser, "item.item === 0 && !waiting")
    words = browser.execute_script("return item.texts")
    _chromium.hold(browser, SHIFT, RIGHT)  # extends
    assert browser.execute_script("return range()") == [0, 1]
    _chromium.press(browser, "p")
    _chromium.wait(browser, "!waiting")
    assert idle(browser)["tags"][:3] == ["B-PER", "I-PER", "O"]
    assert idle(browser)["states"][:3] == ["manual", "manual", None]
    assert browser.execute_script("return cursor") == 2
    _chromium.hold(browser, CONTROL, "z")
    _chromium.wait(browser, "!waiting && item.states[0] === null")
    _chromium.press(browser, HOME, "p", HOME, "*")  # the first word is a person, everywhere
    _chromium.wait(browser, "!waiting && document.getElementById('detail').textContent.includes('place')")
    said = browser.execute_script("return document.getElementById('detail').textContent")
    assert f"“{words[0]}” is PER in " in said
    assert int(re.search(r"(\d+) place", said)[1]) > 1
    _chromium.press(browser, ENTER)
    _chromium.wait(browser, "item.item !== 0 && !waiting && !accepting")
    assert get(server, "api/items/0")["done"]
    _chromium.press(browser, "?")
    assert browser.execute_script("return document.querySelector('dialog[open]').id") == "keys"
    _chromium.press(browser, "\ue00c")
    skipped = idle(browser)["item"]
    _chromium.press(browser, "\ue00f")
    _chromium.wait(browser, f"item.item !== {skipped} && !waiting")
    _chromium.press(browser, "\ue00e")
    _chromium.wait(browser, f"item.item === {skipped}")
    overview = get(server, "api/overview")
    assert (overview["done"], overview["skipped"]) == (1, 1)
    _chromium.hold(browser, CONTROL, "z")  # it is asked for again
    _chromium.wait(browser, "!waiting && !item.skipped")
    assert get(server, "api/overview")["skipped"] == 0
    assert browser.get_log("browser") == []


def test_news_and_shades_arrive(browser, server) -> None:
    _chromium.look(browser, 1200)
    browser.get(server.address)
    # Which sentences are checks, whose errors are counted, is drawn; other tests may have answered some.
    for _ in range(20):
        overview = get(server, "api/overview")
        if overview["done"] >= 5 and overview["checks"] >= 1:
            break
        item = idle(browser)["item"]
        words = browser.execute_script("return item.texts")
        _chromium.press(browser, HOME, "p" if words[0][0] in "AEK" else "l", ENTER)
        _chromium.wait(browser, f"item.item !== {item} && !waiting && !accepting")
    _chromium.wait(browser, "document.getElementById('learning').textContent === 'model up to date'")
    _chromium.wait(browser, "document.getElementById('how').textContent.startsWith('Counted in')")
    shades = browser.execute_script(
        "return [...document.querySelectorAll('.token.auto')].map(t => [item.probability[t.dataset.at],"
        "Number(t.style.getPropertyValue('--strength')), t.classList.contains('labelled')])"
    )
    assert shades
    for probability, strength, is_labelled in shades:
        assert strength == (pytest.approx(max(0.08, probability)) if is_labelled else 0)


@pytest.mark.parametrize("width", [320, 400, 1200])
def test_nothing_overflows_and_all_has_names(browser, server, width) -> None:
    _chromium.look(browser, width)
    browser.get(server.address)
    idle(browser)
    browser.execute_script("visit(7)")
    _chromium.wait(browser, "item.item === 7")
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    beyond = browser.execute_script(
        "return [...document.querySelectorAll('main *')].filter(e => e.getBoundingClientRect().right >"
        " innerWidth + 1 && !e.closest('svg') && !e.closest('.summary')).map(e => e.className || e.id)"
    )
    assert beyond == []
    nameless = browser.execute_script(
        "const named = (e) => e.getAttribute('aria-label') || e.getAttribute('aria-labelledby')"
        " || e.textContent.trim() || e.closest('label') || e.role === 'status';"
        "return [...document.querySelectorAll('button, input, [role], svg')]"
        ".filter((e) => e.offsetParent !== null && !named(e)).map((e) => e.outerHTML)"
    )
    assert nameless == []
    assert browser.execute_script("return document.activeElement.id") in ("sequence", "")


def contrast(one, other) -> float:
    """The contrast of two colours as WCAG defines it."""

    def light(colour) -> float:
        parts = [int(x) / 255 for x in re.findall(r"\d+", colour)[:3]]
        linear = [x / 12.92 if x <= 0.03928 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted([light(one), light(other)], reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_can_be_read(browser, server, scheme) -> None:
    _chromium.look(browser, 1200, scheme)
    browser.get(server.address)
    idle(browser)
    colours = browser.execute_script(
        "const s = (q, p) => getComputedStyle(document.querySelector(q))[p];"
        "return [[s('#progress', 'color'), s('body', 'backgroundColor')],"
        "[s('.token .text', 'color'), s('#work', 'backgroundColor')],"
        "[s('#how', 'color'), s('aside', 'backgroundColor')],"
        "[s('#accept', 'color'), s('#accept', 'backgroundColor')],"
        "[s('button.label', 'color'), s('button.label', 'backgroundColor')]]"
    )
    for text_colour, back in colours:
        assert contrast(text_colour, back) >= 4.5
    back = colours[0][1]
    assert (contrast(back, "rgb(255,255,255)") < 1.5) == (scheme == "light")
