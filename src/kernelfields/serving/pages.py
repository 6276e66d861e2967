"""The page that a browser sees."""

from __future__ import annotations

import json
from html import escape
from typing import Any

from ..web.security_headers import NOTHING
from ._base import Form
from .forms import AttributeForm, RowForm, WordForm
from .shelf import Shelf

STYLE = (
    "body{font:1rem/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem}"
    ":root{color-scheme:light dark}"
    "pre{overflow-x:auto;padding:.8rem;border:1px solid #8888;border-radius:.4rem}"
)
POLICY = NOTHING.replace("'none';", "'none'; style-src 'unsafe-inline';", 1)
"""The page has no script."""


def index(shelf: Shelf, address: str) -> str:
    """Return the page: models, and how to ask them."""
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>kernelfields</title>'
        '<meta name="viewport" content="width=device-width">'
        f"<style>{STYLE}</style><h1>kernelfields</h1>"
        '<p>A service that labels sequences. <a href="/openapi.json">Description (OpenAPI)</a>, '
        '<a href="/models">models</a>, <a href="/health">health</a>, <a href="/metrics">metrics</a>.</p>'
        + "".join(_model(name, shelf, address) for name in shelf.names)
    )


def _model(name: str, shelf: Shelf, address: str) -> str:
    served = shelf[name]
    body = json.dumps({"sequences": [_example(served.form, served.structure)]}, ensure_ascii=False)
    command = f"curl {address}/models/{name}/tag -H 'Content-Type: application/json' \\\n  -d '{body}'"
    labels = ", ".join(map(str, served.classes[:30])) + (", …" if len(served.classes) > 30 else "")
    return (
        f"<h2>{escape(name)}</h2><p>{escape(served.kind)} of {escape(served.form.name)}; "
        f"labels: {escape(labels)}.</p><pre>{escape(command)}</pre>"
    )


def _example(form: Form, structure: str) -> Any:
    """Return an item of one position."""
    token: Any = "a"
    if isinstance(form, WordForm) and len(form.columns) > 1:
        token = list(form.columns)
    elif isinstance(form, AttributeForm):
        token = {"word": "a"}
    elif isinstance(form, RowForm):
        token = [0.0] * (form.width or 1)
    links: dict[str, dict[str, Any]] = {"tree": {"parents": [-1]}, "graph": {"edges": []}}
    return [token] if structure == "chain" else {"tokens": [token], **links[structure]}
