"""The page: one file of HTML with its style and script inside, which loads nothing else."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files

SCRIPTS = ("keys.js", "draw.js", "chart.js", "unsent.js", "conflict.js", "script.js")
"""In this order."""


def page() -> bytes:
    """Return the page."""
    text = _piece("page.html")
    return text.replace("/* style */", _piece("style.css")).replace("/* script */", _script()).encode()


def policy() -> str:
    """Return the Content-Security-Policy that lets this page do what it does, and no more."""
    script, style = _hash(_script()), _hash(_piece("style.css"))
    return (
        f"default-src 'none'; script-src '{script}'; style-src '{style}'; connect-src 'self'; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _script() -> str:
    return '"use strict";\n' + "\n".join(_piece(name) for name in SCRIPTS)


def _piece(name: str) -> str:
    return (files(__package__) / "template" / name).read_text(encoding="utf-8")
