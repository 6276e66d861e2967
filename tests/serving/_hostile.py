"""Requests that nobody sends by mistake, as bytes."""

import json

GOOD = json.dumps({"sequences": [["Ana", "Diaz", "saw", "the"]]}).encode()
PATHS = ("/models/words/tag", "/models/words/kbest", "/models/numbers/tag", "/models/attributes/marginals")
HOSTS = (
    "evil.example",
    "127.0.0.1.evil.example",
    "",
    "localhost, evil.example",
    "\u202elocalhost",
    "a" * 5000,
)
TRAVERSALS = (
    "/../../../../etc/passwd",
    "/models/../../etc/passwd",
    "/%2e%2e/%2e%2e/etc/passwd",
    "/models/..%2f..%2fetc%2fpasswd/tag",
    "/models/%00/tag",
    "//etc/passwd",
    "/models/words%2ftag",
    "/" + "a/" * 2000,
    "/models/" + "%41" * 3000,
    "/\\..\\..\\windows\\win.ini",
)


def request(body=GOOD, path=PATHS[0], method="POST", host="localhost", headers=(), length=None):
    """One request; its length may be a lie."""
    size = len(body) if length is None else length
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", "Content-Type: application/json"]
    lines += [f"Content-Length: {size}", *headers, "", ""]
    return "\r\n".join(lines).encode("utf-8", "surrogateescape") + body


def chunked(parts, path=PATHS[0], sizes=None):
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", "Content-Type: application/json"]
    head = "\r\n".join([*lines, "Transfer-Encoding: chunked", "", ""])
    sizes = sizes or [f"{len(part):x}" for part in parts]
    return head.encode() + b"".join(
        size.encode() + b"\r\n" + part + b"\r\n" for size, part in zip(sizes, parts, strict=True)
    )


def malformed(rng):
    """A good body with bytes changed, removed, repeated, or the end cut off."""
    body = bytearray(GOOD)
    for _ in range(int(rng.integers(1, 6))):
        place = int(rng.integers(len(body) + 1))
        kind = int(rng.integers(4))
        if kind == 0:
            body[place : place + 1] = bytes([int(rng.integers(256))])
        elif kind == 1:
            del body[place : place + int(rng.integers(1, 9))]
        elif kind == 2:
            body[place:place] = body[place : place + int(rng.integers(1, 20))]
        else:
            del body[max(place, 1) :]
    return request(bytes(body), str(rng.choice(PATHS)))


def odd_value(rng, depth=0):
    """Any JSON value, and some that are none."""
    kinds = [
        "NaN",
        "-Infinity",
        "1e999",
        "9" * 400,
        "null",
        "true",
        '"\\ud800"',
        '"\\u0000"',
        "-0",
        "[]",
        "{}",
    ]
    kind = int(rng.integers(len(kinds) + (3 if depth < 4 else 0)))
    if kind < len(kinds):
        return kinds[kind]
    if kind == len(kinds):
        return "[" + ",".join(odd_value(rng, depth + 1) for _ in range(int(rng.integers(4)))) + "]"
    if kind == len(kinds) + 1:
        keys = ("sequences", "k", "abstain", "error_at_most", "__proto__", "w")
        return "{" + ",".join(f'"{rng.choice(keys)}":{odd_value(rng, depth + 1)}' for _ in range(3)) + "}"
    return json.dumps("".join(map(chr, rng.integers(1, 0xD7FF, size=int(rng.integers(30))))))


def wrong_types(rng):
    keys = {"sequences": odd_value(rng), str(rng.choice(["k", "abstain", "confidence", "x"])): odd_value(rng)}
    body = "{" + ",".join(f'"{key}":{value}' for key, value in keys.items()) + "}"
    return request(body.encode("utf-8", "replace"), str(rng.choice(PATHS)))


def nested(rng):
    depth = int(rng.choice([50, 1000, 100_000]))
    opening, closing = (b"[", b"]") if rng.random() < 0.5 else (b'{"a":', b"}")
    body = b'{"sequences":' + opening * depth + (b"1" + closing * depth + b"}" if rng.random() < 0.5 else b"")
    return request(body, str(rng.choice(PATHS)))


def bad_text(rng):
    junk = rng.integers(128, 256, size=int(rng.integers(1, 50))).astype("uint8").tobytes()
    return request(b'{"sequences":[["' + junk + b'"]]}', str(rng.choice(PATHS)))


def huge(rng):
    size = int(rng.choice([300_000, 5_000_000]))
    body = b'{"sequences":[[' + b'"a",' * (size // 4) + b'"a"]]}'
    if rng.random() < 0.5:
        return request(body)
    return chunked([*(body[a : a + 65536] for a in range(0, len(body), 65536)), b""])


def lying(rng):
    """Lengths that are not those of bodies."""
    length = rng.choice(["-1", "99999999999999999999", "1e3", "0x10", "5", "1, 2", ""])
    return request(length=str(length))


def bad_chunks(rng):
    sizes = [str(rng.choice(["zz", "-1", "ffffffffffffffff", "5;x=y", ""])), "3"]
    return chunked([GOOD, b"abc"], sizes=sizes)


def other_host(rng):
    return request(host=str(rng.choice(HOSTS)))


def other_site(rng):
    origin = str(rng.choice(["http://evil.example", "null", "http://localhost:1"]))
    return request(headers=[f"Origin: {origin}", "Sec-Fetch-Site: cross-site"])


def traversal(rng):
    return request(b"", str(rng.choice(TRAVERSALS)), str(rng.choice(["GET", "POST"])))


def strange_method(rng):
    return request(
        method=str(rng.choice(["PUT", "DELETE", "TRACE", "CONNECT", "PROPFIND", "G\u00cbT", "get"]))
    )


def smuggled(rng):
    """Two lengths, two hosts, and a second request inside the first."""
    more = rng.choice(
        ["Content-Length: 5", "Transfer-Encoding: chunked", "Host: evil.example", "Expect: 100-continue"]
    )
    return request(headers=[str(more)]) + request(path="/metrics", method="GET", body=b"")


def noise(rng):
    return rng.integers(0, 256, size=int(rng.integers(1, 2000))).astype("uint8").tobytes() + b"\r\n\r\n"


def long_headers(rng):
    return request(headers=[f"X-{n}: {'a' * 200}" for n in range(int(rng.choice([100, 2000])))])


def web_socket(_):
    headers = [
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Key: AAAA",
        "Sec-WebSocket-Version: 13",
    ]
    return request(b"", "/", "GET", headers=headers)


def costly(rng):
    """As much work as a small request can ask for."""
    tokens = [["Ana"] * 200 for _ in range(3)]
    return request(json.dumps({"sequences": tokens, "k": 100}).encode(), "/models/words/kbest")


KINDS = {
    "malformed": (malformed, 30),
    "wrong types": (wrong_types, 30),
    "nested": (nested, 5),
    "bad UTF-8": (bad_text, 8),
    "huge": (huge, 1),
    "lying lengths": (lying, 5),
    "bad chunks": (bad_chunks, 4),
    "wrong host": (other_host, 5),
    "other site": (other_site, 3),
    "traversal": (traversal, 5),
    "methods": (strange_method, 3),
    "smuggled": (smuggled, 4),
    "noise": (noise, 4),
    "long headers": (long_headers, 1),
    "web socket": (web_socket, 1),
    "costly": (costly, 1),
}
"""What is sent, and how often of a hundred or so."""
INCOMPLETE = ("lying lengths", "bad chunks", "smuggled", "noise")
"""What a server may wait for the rest of."""
