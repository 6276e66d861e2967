"""Chromium without a window, for the page of ``kf label``."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage"
)


def missing() -> str | None:
    """Say what is missing, if anything is."""
    if shutil.which("chromium") is None or shutil.which("chromedriver") is None:
        return "No browser: apt-get install chromium chromium-driver."
    try:
        import selenium  # noqa: F401
    except ImportError:
        return "No selenium: pip install selenium."
    return None


@contextmanager
def chromium(folder: Path) -> Iterator[Any]:
    """Start a browser that keeps its files in a folder."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for flag in [*FLAGS.split(), f"--user-data-dir={folder}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(shutil.which("chromedriver"), log_output=os.devnull)
    started = webdriver.Chrome(options=options, service=service)
    try:
        yield started
    finally:
        started.quit()


def look(browser: Any, width: int, scheme: str = "light", height: int = 800) -> None:
    """Look as a phone or a desktop does, by day or by night."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})


def wait(browser: Any, condition: str, seconds: float = 30.0) -> Any:
    """Wait until an expression of the page holds, and return its value."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = browser.execute_script(f"return {condition}")
        if found:
            return found
        time.sleep(0.01)
    raise TimeoutError(f"{condition} did not come true in {seconds:g} seconds.")


def press(browser: Any, *keys: str) -> None:
    """Press keys, as somebody at the keyboard does."""
    from selenium.webdriver.common.action_chains import ActionChains

    ActionChains(browser).send_keys(*keys).perform()


def hold(browser: Any, held: str, key: str) -> None:
    """Press a key while another is held down."""
    from selenium.webdriver.common.action_chains import ActionChains

    ActionChains(browser).key_down(held).send_keys(key).key_up(held).perform()
