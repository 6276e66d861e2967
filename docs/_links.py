"""Names in docstrings' backquotes are links where they name one public thing, wherever that is described."""

from __future__ import annotations

from typing import Any

KINDS = ("class", "function", "exception", "method", "attribute", "property", "data", "module")


def process(app: Any, env: Any, node: Any, content: Any) -> Any:
    """Return a link to the only thing whose name ends so; classes and functions come before their members."""
    if node.get("refdomain") != "py":
        return None
    target = str(node.get("reftarget")).removesuffix("()")
    objects = env.domains["py"].objects
    found = [
        (name, entry)
        for name, entry in objects.items()
        if (name == target or name.endswith(f".{target}")) and not entry.aliased and entry.objtype in KINDS
    ]
    places = {(entry.docname, entry.node_id) for _, entry in found}
    if len(places) > 1:  # a member of many classes
        found = [
            (name, entry) for name, entry in found if entry.objtype in ("class", "function", "exception")
        ]
        places = {(entry.docname, entry.node_id) for _, entry in found}
    if len(places) != 1:
        return None
    from sphinx.util.nodes import make_refnode

    name, entry = found[0]
    return make_refnode(app.builder, node["refdoc"], entry.docname, entry.node_id, content, name)


def setup(app: Any) -> dict[str, bool]:
    """Connect."""
    app.connect("missing-reference", process)
    return {"parallel_read_safe": True}
