"""The page in a real browser: Chromium, without a window."""

from __future__ import annotations

import os
import re
import shutil
from itertools import pairwise

import numpy as np
import pytest

from kernelfields import CRF
from kernelfields.report import evaluate, write_report
from tests.report._stand_in import random_case
from tests.report.test_page import hostile_model

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage"
)
NAMES = ("B-PER", "I-PER", "B-a-very-long-name-of-a-type-of-entity", "O")
RECORDS = [{"value": 10.0 + 90 / n, "lower_bound": 10.0 - 90 / n**2} for n in range(1, 30)]


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """Start Chromium, or skip and say why."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="No selenium: pip install selenium.")
    program = shutil.which("chromium") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if program is None or driver is None:
        pytest.skip("No browser: reports are not looked at; apt-get install chromium chromium-driver.")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for flag in FLAGS.split():
        options.add_argument(flag)
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('chromium')}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(driver, log_output=os.devnull)
    started = webdriver.Chrome(options=options, service=service)
    yield started
    started.quit()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """One report of ordinary size and one of hostile tokens."""
    folder = tmp_path_factory.mktemp("pages")
    rng = np.random.default_rng(7)
    model, y = random_case(rng, NAMES, sizes=rng.integers(1, 40, 60).tolist())
    words = [["w" * (1 + t * t % 90) for t in range(len(labels))] for labels in y]
    write_report(evaluate(model, model.inputs, y, words, path=RECORDS), folder / "plain.html")
    write_report(hostile_model(), folder / "hostile.html", title="<script>alert(1)</script>")
    forest = [(["root", "leaf", "deeper"], [-1, 0, 1]), (["child", "head"], [1, -1])]
    tree = CRF(features="pos", structure="tree").fit(forest, [["A", "B", "A"], ["B", "A"]])
    write_report(evaluate(tree, forest, [["A", "B", "B"], ["B", "A"]]), folder / "trees.html")
    return folder


def show(browser, page, width: int = 400) -> None:
    """Open a page as a phone or a desktop would."""
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get_log("browser")
    browser.get(page.as_uri())


def text(browser, name: str) -> str:
    return browser.execute_script("return document.getElementById(arguments[0]).textContent", name)


def put(browser, name: str, value: str, event: str) -> None:
    browser.execute_script(
        "const e = document.getElementById(arguments[0]); e.value = arguments[1];"
        "e.dispatchEvent(new Event(arguments[2], {bubbles: true}))",
        *(name, value, event),
    )


def numbers(browser) -> tuple[int, int, int]:
    """Answered, of how many, wrong."""
    found = re.match(
        r"([\d,]+) of ([\d,]+) labels answered \(.*?\), ([\d,]+) of them", text(browser, "counts")
    )
    assert found
    return tuple(int(group.replace(",", "")) for group in found.groups())


def states(browser) -> dict[str, int]:
    """How many tokens have each colour."""
    return {
        kind: browser.execute_script(f"return document.querySelectorAll('.token.{kind}').length")
        for kind in ("right", "wrong", "unsure")
    }


def show_all(browser) -> None:
    for _ in range(10):
        browser.execute_script("const b = document.getElementById('more'); if (!b.hidden) b.click()")


def test_the_slider_recounts_and_recolours(browser, pages) -> None:
    show(browser, pages / "plain.html")
    show_all(browser)
    before, mark = numbers(browser), text_of_mark(browser)
    assert states(browser)["unsure"] == before[1] - before[0] > 0  # all sequences are shown
    assert states(browser)["wrong"] == before[2]
    for value in ("0", "50", "100"):
        put(browser, "threshold", value, "input")
        answered, total, wrong = numbers(browser)
        assert total == before[1]
        assert states(browser) == {"right": answered - wrong, "wrong": wrong, "unsure": total - answered}
        assert text_of_mark(browser) != mark or value == "100"
        assert text(browser, "value") == f"{int(value) / 100:.2f}"
    put(browser, "threshold", "0", "input")
    assert numbers(browser)[0] == before[1] > before[0]


def text_of_mark(browser) -> str:
    return browser.execute_script("return document.getElementById('mark').getAttribute('cx')")


def test_the_filter_filters(browser, pages) -> None:
    show(browser, pages / "plain.html")
    show_all(browser)
    count = "return document.querySelectorAll('.sequence').length"
    everything, total = browser.execute_script(count), numbers(browser)[1]
    put(browser, "filter", "2", "change")
    show_all(browser)
    some = browser.execute_script(count)
    assert 0 < some < everything == 60
    answers = browser.execute_script(
        "return [...document.querySelectorAll('.sequence')].map(s => "
        "[...s.querySelectorAll('.answer')].map(a => a.textContent).join(' '))"
    )
    assert all(NAMES[2] in answer for answer in answers)
    chosen = browser.execute_script("return document.querySelectorAll('.token.chosen').length")
    assert chosen == numbers(browser)[1] < total
    put(browser, "filter", "", "change")
    show_all(browser)
    assert browser.execute_script(count) == everything


def test_only_answered_errors(browser, pages) -> None:
    show(browser, pages / "plain.html")
    browser.execute_script("document.getElementById('wrong').click()")
    show_all(browser)
    errors = browser.execute_script(
        "return [...document.querySelectorAll('.sequence')]"
        ".map(s => s.querySelectorAll('.token.wrong').length)"
    )
    assert errors
    assert min(errors) > 0
    put(browser, "threshold", "100", "input")
    assert browser.execute_script("return document.querySelectorAll('.sequence').length") == 0
    assert text(browser, "sequences") == "None of the sequences here."


def test_a_token_tells_its_numbers(browser, pages) -> None:
    show(browser, pages / "plain.html")
    click = "document.querySelector('.token').click()"
    detail = "return [...document.querySelectorAll('.detail')].map(d => d.textContent)"
    browser.execute_script(click)
    [said] = browser.execute_script(detail)
    assert re.match(r"true \S+; probabilities: \S+ \d", said)
    browser.execute_script(click)
    assert browser.execute_script(detail) == []


@pytest.mark.parametrize("name", ["plain", "hostile"])
@pytest.mark.parametrize("width", [320, 400, 1280])
def test_nothing_overflows(browser, pages, name: str, width: int) -> None:
    show(browser, pages / f"{name}.html", width)
    browser.execute_script(
        "document.querySelectorAll('details').forEach(d => d.open = true);"
        "document.querySelectorAll('.token').forEach(t => t.click())"
    )
    show_all(browser)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    beyond = browser.execute_script(
        "return [...document.querySelectorAll('body *')].filter(e => !e.closest('.scroll')"
        " && !e.closest('svg') && e.getBoundingClientRect().right > innerWidth + 1).map(e => e.className)"
    )
    assert beyond == []


def test_texts_stay_inside_their_plots(browser, pages) -> None:
    show(browser, pages / "plain.html")
    outside = browser.execute_script(
        "return [...document.querySelectorAll('svg.plot')].flatMap(s => {"
        "const b = s.getBoundingClientRect();"
        "return [...s.querySelectorAll('text')].filter(t => { const r = t.getBoundingClientRect();"
        "return r.left < b.left - 1 || r.right > b.right + 1 || r.top < b.top - 1 || r.bottom > b.bottom + 1;"
        "}).map(t => t.textContent); })"
    )
    assert outside == []
    assert browser.execute_script("return document.querySelectorAll('svg.plot').length") == 5


@pytest.mark.parametrize("name", ["plain", "hostile"])
def test_no_complaints_and_nothing_loaded(browser, pages, name: str) -> None:
    show(browser, pages / f"{name}.html")
    put(browser, "threshold", "30", "input")
    put(browser, "filter", "1", "change")
    assert browser.get_log("browser") == []
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert browser.title != ""  # an alert would have raised


def test_light_and_dark(browser, pages) -> None:
    colours = []
    for scheme in ("light", "dark"):
        feature = {"name": "prefers-color-scheme", "value": scheme}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        show(browser, pages / "plain.html")
        colours.append(browser.execute_script("return getComputedStyle(document.body).backgroundColor"))
    light, dark = (sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in colours)
    assert light > 600
    assert dark < 150


def test_positions_without_a_label_are_neither_right_nor_wrong(browser, tmp_path) -> None:
    model, y = random_case(np.random.default_rng(3))
    y = [[None if t % 3 == 0 else label for t, label in enumerate(labels)] for labels in y]
    write_report(evaluate(model, model.inputs, y), tmp_path / "page.html")
    show(browser, tmp_path / "page.html")
    show_all(browser)
    put(browser, "threshold", "0", "input")
    answered, total, wrong = numbers(browser)
    assert answered == total == sum(label is not None for labels in y for label in labels)
    assert states(browser) == {"right": total - wrong, "wrong": wrong, "unsure": 0}
    browser.execute_script("document.querySelector('.token').click()")
    assert browser.execute_script("return document.querySelector('.detail').textContent").startswith(
        "true label not known; probabilities: "
    )
    assert browser.get_log("browser") == []


def test_children_stand_below_their_parents_further_right(browser, pages) -> None:
    show(browser, pages / "trees.html")
    places = browser.execute_script(
        "return [...document.querySelectorAll('.sequence')].map(s => [s.querySelector('h3').textContent, "
        "[...s.querySelectorAll('.token')].map(b => [b.querySelector('.text').textContent, "
        "b.getBoundingClientRect().left, b.getBoundingClientRect().top])])"
    )
    names = {head.split(",")[0]: [word for word, *_ in words] for head, words in places}
    assert names == {"tree 0": ["root", "leaf", "deeper"], "tree 1": ["head", "child"]}
    for _, words in places:
        assert all(b[1] > a[1] and b[2] > a[2] for a, b in pairwise(words))
    assert browser.get_log("browser") == []
