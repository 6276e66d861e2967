"""The description of a service in OpenAPI 3.1: exactly what its models take and answer."""

from __future__ import annotations

from typing import Any

from .. import __version__
from .items import sequence_schema
from .limits import Limits
from .served import ServedModel
from .shelf import Shelf

REFUSALS = {
    400: "The body is not JSON in UTF-8.",
    401: "The token is missing or wrong.",
    403: "A page of another site asks.",
    408: "The body did not arrive in time.",
    413: "The body is too large.",
    415: "The body is not said to be application/json.",
    421: "The Host header is not a name of this server.",
    422: "The body asks for what the model has not; the sentence names sequence and position.",
    500: "The server failed; its log says why.",
    503: "The server is busy: come back after Retry-After seconds.",
}
READING = (401, 421, 500, 503)
"""Refusals of requests without a body."""
SHARE = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}
NULL = {"type": "null"}
TEXT = {"type": "string"}


def document(shelf: Shelf, limits: Limits, secured: bool) -> dict[str, Any]:
    """Return the description of a service as it is now."""
    paths: dict[str, Any] = {
        "/": {"get": _reading("index", "This service, for people.", "text/html", TEXT)},
        "/openapi.json": {
            "get": _reading("openapi", "This document.", "application/json", {"type": "object"})
        },
        "/health": {"get": _reading("health", "Whether it works.", "application/json", _health())},
        "/metrics": {"get": _reading("metrics", "Numbers for Prometheus.", "text/plain", TEXT)},
        "/models": {"get": _reading("models", "The models.", "application/json", _listed())},
    }
    for name in shelf.names:
        paths |= _model_paths(name, shelf[name], limits)
    components: dict[str, Any] = {
        "schemas": {"Refused": _object({"error": {"type": "string", "minLength": 1}}, "error")},
        "responses": {str(code): _refused(text) for code, text in REFUSALS.items()},
    }
    result: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": "kernelfields", "version": __version__, "description": "Labels for sequences."},
        "paths": paths,
        "components": components,
    }
    if secured:
        components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        result["security"] = [{"token": []}]
    return result


def _model_paths(name: str, served: ServedModel, limits: Limits) -> dict[str, Any]:
    base, post = f"/models/{name}", _Posts(name, served, limits)
    described = _reading(f"{name}_description", f"What {name} is.", "application/json", {"type": "object"})
    paths = {base: {"get": described}, f"{base}/tag": post.tag()}
    if served.has_marginals:
        paths[f"{base}/marginals"] = post.marginals()
    if served.has_kbest:
        paths[f"{base}/kbest"] = post.kbest()
    return paths


class _Posts:
    """What can be asked of one model."""

    def __init__(self, name: str, served: ServedModel, limits: Limits) -> None:
        self.name, self.served, self.limits = name, served, limits
        self.label = {"enum": served.classes}

    def tag(self) -> dict[str, Any]:
        options: dict[str, Any] = {"probabilities": {"type": "boolean", "default": True}}
        if self.served.has_marginals:
            share = {"anyOf": [{"type": "number", "minimum": 0, "maximum": 1}, NULL]}
            options["abstain"] = {**share, "description": "Leave labels less probable than this open."}
        answer = {
            "labels": _lists({"enum": [*self.served.classes, None]}),
            "probabilities": _lists(_number()),
        }
        kinds = [self._body(options)]
        if self.served.calibrated:
            promise = {"error_at_most": SHARE, "confidence": {"anyOf": [SHARE, NULL], "default": 0.95}}
            promise["probabilities"] = options["probabilities"]
            kinds.append(self._body(promise, "error_at_most"))
            answer["guarantees"] = {"type": "object"}
        said = "Labels, null where the model is not sure enough, with their probabilities."
        return self._post("tag", said, kinds, answer, "labels")

    def marginals(self) -> dict[str, Any]:
        rows = {"type": "array", "items": _number()}
        answer = {"marginals": _lists(rows), "classes": {"const": self.served.classes}}
        said = "The probability of every label at every position."
        return self._post("marginals", said, [self._body({})], answer, "marginals", "classes")

    def kbest(self) -> dict[str, Any]:
        k = {"type": "integer", "minimum": 1, "maximum": self.limits.kbest}
        labels = {"type": "array", "items": self.label}
        one = _object({"labels": labels, "log_probability": {"type": "number"}}, "labels", "log_probability")
        said = "The k most probable labellings, best first."
        return self._post("kbest", said, [self._body({"k": k}, "k")], {"kbest": _lists(one)}, "kbest")

    def _body(self, options: dict[str, Any], *needed: str) -> dict[str, Any]:
        item = sequence_schema(self.served.form, self.served.structure, self.limits)
        sequences = {"type": "array", "items": item, "maxItems": self.limits.sequences}
        return _object({"sequences": sequences, **options}, "sequences", *needed)

    def _post(
        self, name: str, said: str, kinds: list[dict[str, Any]], answer: dict[str, Any], *given: str
    ) -> dict[str, Any]:
        properties = {"model": {"const": self.name}, "notes": {"type": "array", "items": TEXT}, **answer}
        found = _object(properties, "model", *given)
        body = kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
        operation = _answering(f"{self.name}_{name}", said, "application/json", found, tuple(REFUSALS))
        content = {"application/json": {"schema": body}}
        return {"post": {**operation, "requestBody": {"required": True, "content": content}}}


def _reading(name: str, said: str, kind: str, schema: dict[str, Any]) -> dict[str, Any]:
    return _answering(name, said, kind, schema, READING)


def _answering(
    name: str, said: str, kind: str, schema: dict[str, Any], refusals: tuple[int, ...]
) -> dict[str, Any]:
    good = {"description": said, "content": {kind: {"schema": schema}}}
    refused = {str(code): {"$ref": f"#/components/responses/{code}"} for code in refusals}
    return {"operationId": name, "summary": said, "responses": {"200": good, **refused}}


def _refused(said: str) -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/Refused"}
    return {"description": said, "content": {"application/json": {"schema": schema}}}


def _object(properties: dict[str, Any], *needed: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(needed),
        "additionalProperties": False,
    }


def _lists(item: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a list for every sequence."""
    return {"type": "array", "items": {"type": "array", "items": item}}


def _number() -> dict[str, Any]:
    return {"type": "number", "minimum": 0, "maximum": 1}


def _health() -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"status": {"enum": ["ok", "degraded"]}, "models": {"type": "object"}},
        "required": ["status", "models"],
    }


def _listed() -> dict[str, Any]:
    return _object({"models": {"type": "object", "additionalProperties": {"type": "object"}}}, "models")
