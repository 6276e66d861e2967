"""Reads a page as a browser's parser would, as far as Python's can."""

from __future__ import annotations

import json
from html.parser import HTMLParser

VOID = {"meta", "input", "br"}


class Page(HTMLParser):
    """Elements with their attributes, and the text of scripts; complains of what does not nest."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.scripts: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += data
        else:
            self.texts.append(data)

    @property
    def data(self):
        """What the page's script reads."""
        return json.loads(self.scripts[0])
