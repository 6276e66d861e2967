"""Elements of HTML and SVG as text. Labels and tokens come from anywhere: everything is escaped."""

from __future__ import annotations

import html
import json
import re
from typing import Any

# Not allowed in HTML, or ends of lines to some.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


def escape(text: object) -> str:
    """Text as content or as the value of an attribute."""
    return html.escape(_CONTROL.sub("\N{REPLACEMENT CHARACTER}", str(text)), quote=True)


def element(name: str, *content: str, **attributes: object) -> str:
    """Return an element around markup; ``class_`` and ``text_anchor`` become class and text-anchor.

    Content is taken as it is: texts go through `escape` first, attributes here.

    Examples
    --------
    >>> element("text", escape("a < b"), x=1.25, class_="tick")
    '<text x="1.25" class="tick">a &lt; b</text>'
    """
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_number(value))}"'
        for key, value in attributes.items()
    )
    return f"<{name}{given}>{''.join(content)}</{name}>"


def embedded(value: Any) -> str:
    """JSON for a script element: no character of it can end the element or begin another."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _number(value: object) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
