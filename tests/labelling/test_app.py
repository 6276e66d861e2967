"""The desk over HTTP: what it answers, and what it refuses."""

from __future__ import annotations

import asyncio
import json
import re

import pytest

testclient = pytest.importorskip(
    "starlette.testclient", reason="No starlette: pip install kernelfields[web]."
)

from kernelfields.labelling.app import application  # noqa: E402
from kernelfields.labelling.changes import ConflictError, Sender  # noqa: E402
from kernelfields.labelling.leases import SECONDS, Leases  # noqa: E402
from kernelfields.labelling.news import OF_ONE, Newsroom  # noqa: E402
from kernelfields.labelling.page import page, policy  # noqa: E402
from kernelfields.web import Guards, guarded  # noqa: E402
from tests.labelling._cases import open_text  # noqa: E402

HOST = "http://127.0.0.1:8765"
TOKEN = "a-token-of-twenty-characters"


@pytest.fixture
def desk(tmp_path):
    found, _ = open_text(tmp_path)
    yield found
    found.close()


@pytest.fixture
def client(desk):
    guards = Guards(policy=policy(), page=True, most=20_000, private="/api/")
    return testclient.TestClient(guarded(application(desk, Newsroom()), guards), base_url=HOST)


def test_a_sequence_is_labelled(client, desk) -> None:
    asked = client.get("/api/next").json()["next"]
    item, n = asked["item"], len(asked["tags"])
    assert asked["states"] == [None] * n
    set_one = client.post("/api/set", json={"item": item, "at": 0, "length": 1, "label": "PER"}).json()
    assert (set_one["tags"][0], set_one["states"][0]) == ("B-PER", "manual")
    answer = client.post("/api/accept", json={"item": item, "labels": set_one["tags"]}).json()
    assert answer["next"]["item"] != item
    assert desk.session.sheets[item].done
    shown = client.get(f"/api/items/{item}").json()
    assert shown["states"] == ["manual", *["reviewed"] * (n - 1)]
    overview = client.get("/api/overview").json()
    assert (overview["done"], overview["sequences"], overview["recent"][0]["item"]) == (1, 30, item)
    export = client.get("/api/export?format=conll")
    assert export.headers["content-disposition"] == 'attachment; filename="labels.conll"'
    assert export.text.startswith("# states = manual")
    assert client.post("/api/undo", json={}).json()["item"] == item
    assert client.post("/api/skip", json={"item": item}).json()["next"]["item"] != item


def test_the_page_needs_nothing_else(client) -> None:
    answer = client.get("/")
    assert answer.content == page()
    assert "'unsafe" not in answer.headers["content-security-policy"]
    text = answer.text
    assert re.findall(r"(?:src|href)=\"(?!data:)", text) == []
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)
    assert "innerHTML" not in text


@pytest.mark.parametrize(
    ("path", "body", "status", "sentence"),
    [
        ("/api/set", b"no json", 400, "not JSON"),
        ("/api/set", b"[" * 9000, 400, "not JSON"),
        ("/api/set", b"[1]", 400, "not an object"),
        ("/api/set", b"{}", 422, "item is null"),
        ("/api/set", {"item": True, "at": 0, "length": 1, "label": "PER"}, 422, "item is true"),
        ("/api/set", {"item": 0, "at": -1, "length": 1, "label": "PER"}, 422, "at is -1"),
        ("/api/set", {"item": 0, "at": 0, "length": 10**30, "label": "PER"}, 422, "length is 1000"),
        ("/api/set", {"item": 0, "at": 0, "length": 99, "label": "PER"}, 422, "positions"),
        ("/api/set", {"item": 0, "at": 0, "length": 1, "label": ["PER"]}, 422, "label is"),
        ("/api/set", {"item": 0, "at": 0, "length": 1, "label": "<b>"}, 422, "no label '<b>'"),
        ("/api/set", {"item": 30, "at": 0, "length": 1, "label": None}, 422, "no sequence 30"),
        ("/api/accept", {"item": 0, "labels": ["O"]}, 422, "positions"),
        ("/api/accept", {"item": 0, "labels": [1, 2]}, 422, "labels is"),
        ("/api/accept", {"item": 0, "labels": "O"}, 422, "labels is"),
        ("/api/mark", {"item": 0, "at": 5, "length": 9, "label": "PER"}, 422, "positions"),
        ("/api/undo", {}, 422, "nothing to undo"),
        ("/api/set", b"x" * 20_001, 413, "larger than"),
    ],
)
def test_odd_bodies_change_nothing(client, desk, path, body, status, sentence) -> None:
    answer = client.post(path, content=body if isinstance(body, bytes) else json.dumps(body))
    assert answer.status_code == status
    assert sentence in answer.json()["error"]
    assert desk.session.version == 0
    assert len(desk.journal.path.read_bytes().splitlines()) == 1


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/../../etc/passwd", 404),
        ("GET", "/%2e%2e/%2e%2e/etc/passwd", 404),
        ("GET", "/api/items/..%2f..%2fetc", 404),
        ("GET", "/api/items/-1", 404),
        ("GET", "/api/items/31", 404),
        ("GET", "/api/items/99999999999999999999999", 404),
        ("GET", "/api/items/" + "9" * 5000, 404),
        ("GET", "/api/export?format=../../x", 422),
        ("GET", "/api/export?format=xml", 422),
        ("GET", "/api/export", 422),
        ("GET", "/api/set", 405),
        ("POST", "/api/overview", 405),
        ("DELETE", "/", 405),
    ],
)
def test_odd_addresses(client, method, path, status) -> None:
    answer = client.request(method, path)
    assert answer.status_code == status
    assert set(answer.json()) == {"error"}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 421),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://127.0.0.1:9999"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"origin": HOST, "sec-fetch-site": "same-origin"}, 200),
        ({}, 200),
    ],
)
def test_other_sites_cannot_label(client, desk, headers, status) -> None:
    body = {"item": 0, "at": 0, "length": 1, "label": "PER"}
    assert client.post("/api/set", json=body, headers=headers).status_code == status
    assert desk.session.version == (status == 200)


@pytest.mark.parametrize(
    "path", ["/api/events", "/api/export?format=jsonl&auto=1", "/api/next", "/api/overview"]
)
@pytest.mark.parametrize(
    "headers",
    [{"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"}, {"origin": "https://evil.example"}],
)
def test_other_sites_cannot_keep_the_server_busy(client, path, headers) -> None:
    assert client.get(path, headers=headers).status_code == 403
    assert client.get("/", headers=headers).status_code == 200  # a link to the page is fine


def test_one_address_cannot_take_all_streams() -> None:
    async def listen() -> None:
        room = Newsroom()
        streams = [room.listen("one") for _ in range(OF_ONE)]
        assert room.is_full("one")
        assert not room.is_full("other")
        await anext(streams[0])
        await streams[0].aclose()
        assert not room.is_full("one")
        streams[0] = room.listen("one")
        assert room.is_full("one")
        streams.pop()  # which has not begun
        assert not room.is_full("one")

    asyncio.run(listen())


def test_one_address_cannot_take_all_streams_at_once(desk) -> None:
    statuses: list[int] = []

    async def ask(app, every: asyncio.Event) -> None:
        request = iter([{"type": "http.request", "body": b"", "more_body": False}])

        async def receive():
            if (message := next(request, None)) is not None:
                return message
            await every.wait()
            return {"type": "http.disconnect"}

        async def send(message) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])
            if len(statuses) == 40:
                every.set()

        scope = {"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET"}
        scope |= {"scheme": "http", "path": "/api/events", "raw_path": b"/api/events", "query_string": b""}
        scope |= {"root_path": "", "client": ("127.0.0.1", 9), "server": ("127.0.0.1", 8765)}
        await app(scope | {"headers": [(b"host", b"127.0.0.1:8765")]}, receive, send)

    async def ask_at_once() -> None:
        room, every = Newsroom(), asyncio.Event()
        app = guarded(application(desk, room), Guards(page=True, private="/api/"))
        await asyncio.gather(*(ask(app, every) for _ in range(40)))
        assert not room.is_full("127.0.0.1")

    asyncio.run(ask_at_once())
    assert (statuses.count(200), statuses.count(503)) == (OF_ONE, 40 - OF_ONE)


def test_two_windows_get_different_sequences(client, desk) -> None:
    first = {name: client.get(f"/api/begin?window={name}").json()["next"]["item"] for name in ("a", "b")}
    assert first["a"] != first["b"]
    assert client.get("/api/begin?window=a").json()["next"]["item"] == first["a"]  # loaded again
    seen = list(first.values())
    for _ in range(6):
        for window, item in first.items():
            labels = ["O"] * len(desk.session.sheets[item].tags)
            answer = client.post("/api/accept", json={"item": item, "labels": labels, "window": window})
            first[window] = answer.json()["next"]["item"]
            seen.append(first[window])
    assert len(set(seen)) == len(seen)


def test_a_lease_ends(desk) -> None:
    now = [0.0]
    desk.leases = Leases(lambda: now[0])
    one = desk.ask("a")["next"]["item"]
    assert desk.ask("b")["next"]["item"] != one
    now[0] = SECONDS - 1
    assert one in desk.leases.of_others("b")
    now[0] = SECONDS + 1
    assert desk.leases.of_others("b") == set()


def test_what_is_left_elsewhere_is_said(tmp_path) -> None:
    desk, _ = open_text(tmp_path, 1)
    assert desk.ask("a")["next"]["item"] == 0
    assert desk.ask("b") == {"next": None, "elsewhere": 1}
    desk.close()


def test_the_second_of_two_answers_hears_of_the_first(client, desk) -> None:
    shown = {window: client.get(f"/api/items/3?window={window}").json() for window in "ab"}
    n = len(shown["a"]["tags"])
    body = {"item": 3, "revision": shown["a"]["revision"], "number": 0}
    post = client.post("/api/accept", json={**body, "labels": ["O"] * n, "window": "a"})
    assert post.status_code == 200
    late = {**body, "labels": ["B-PER", *["O"] * (n - 1)], "window": "b"}
    for path, more in (("accept", {}), ("set", {"at": 0, "length": 1, "label": "PER"}), ("skip", {})):
        answer = client.post(f"/api/{path}", json={**late, **more})
        assert answer.status_code == 409
        assert "was accepted in another window" in answer.json()["error"]
        conflict = answer.json()["conflict"]
        assert (conflict["window"], conflict["item"]["tags"]) == ("a", ["O"] * n)
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", conflict["when"])
    assert desk.session.sheets[3].tags == ("O",) * n
    chosen = {**late, "revision": conflict["item"]["revision"]}
    assert client.post("/api/accept", json=chosen).status_code == 200
    assert desk.session.sheets[3].tags[0] == "O"  # accepted labels are somebody's: set it to change it


def test_a_change_that_is_sent_again_is_made_once(client, desk) -> None:
    one = {"item": 0, "at": 0, "length": 1, "label": "PER", "window": "a"}
    for number in (0, 0, 1, 1):
        assert client.post("/api/set", json={**one, "number": number}).status_code == 200
    assert desk.session.version == 2
    n = len(desk.session.sheets[0].tags)
    accept = {"item": 0, "labels": ["O"] * n, "window": "a", "number": 2, "revision": 0}
    for _ in range(2):
        assert client.post("/api/accept", json=accept).json()["next"]["item"] != 0
    assert desk.session.version == 3
    for _ in range(2):
        assert client.post("/api/undo", json={"window": "a", "number": 3}).status_code == 200
    assert desk.session.version == 4
    assert desk.session.sheets[0].tags[0] == "B-PER"


def test_what_was_sent_is_known_after_a_restart(tmp_path) -> None:
    desk, _ = open_text(tmp_path)
    desk.set(0, 0, 1, "PER", Sender("a", 7, 0))
    desk.close()
    again, _ = open_text(tmp_path)
    assert again.session.log.is_done(Sender("a", 7))
    assert not again.session.log.is_done(Sender("a", 8))
    with pytest.raises(ConflictError):
        again.set(0, 0, 1, "LOC", Sender("b", 0, 0))
    again.close()


def test_a_page_of_something_else_is_refused(client, desk) -> None:
    body = {"item": 0, "at": 0, "length": 1, "label": "PER", "session": "other"}
    assert client.post("/api/set", json=body).status_code == 410
    assert client.post(
        "/api/set", json={**body, "session": client.get("/api/overview").json()["session"]}
    ).is_success


def test_nothing_is_acknowledged_without_the_journal(client, desk) -> None:
    desk.journal.path.unlink()
    answer = client.post("/api/set", json={"item": 0, "at": 0, "length": 1, "label": "PER"})
    assert answer.status_code == 507
    assert "moved, deleted or replaced" in answer.json()["error"]
    assert desk.session.version == 0


def test_others_need_the_token(desk) -> None:
    with pytest.raises(ValueError, match="needs a token"):
        guarded(application(desk, Newsroom()), Guards(host="0.0.0.0"))
    guards = Guards(host="0.0.0.0", token=TOKEN, page=True)
    client = testclient.TestClient(guarded(application(desk, Newsroom()), guards), base_url=HOST)
    for path in ("/", "/api/overview", "/api/events", "/api/export", "/?token=wrong"):
        assert client.get(path).status_code == 401
    assert client.post("/api/undo", json={}).status_code == 401
    welcome = client.get(f"/?token={TOKEN}", follow_redirects=False)
    assert (welcome.status_code, welcome.headers["location"]) == (303, "/")
    assert client.get("/api/overview").status_code == 200


def test_a_full_disk_is_said(client, desk, monkeypatch) -> None:
    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(desk.journal, "append", full)
    answer = client.post("/api/set", json={"item": 0, "at": 0, "length": 1, "label": "PER"})
    assert answer.status_code == 507
    assert "No space left on device" in answer.json()["error"]
    assert desk.session.version == 0


def test_news_reach_all_and_those_behind_are_told_so() -> None:
    async def listen() -> list[list[str]]:
        room = Newsroom()
        streams = [room.listen() for _ in range(2)]
        for stream in streams:
            await anext(stream)
        room.tell({"type": "model"})
        first = [await anext(stream) for stream in streams]
        for n in range(200):
            room.tell({"type": "n", "n": n})
        await asyncio.sleep(0)
        room.end()
        rest = [[one async for one in stream] for stream in streams]
        assert not room._queues
        return [[one.decode() for one in [a, *b]] for a, b in zip(first, rest, strict=True)]

    for found in asyncio.run(listen()):
        assert found[0] == 'data: {"type": "model"}\n\n'
        assert len(found) < 80
        assert any("behind" in one for one in found)
        assert '"n": 199' in found[-1]
