"""Who may ask a guarded application: hosts, sites, tokens, and headers of the answers."""

import asyncio

import httpx
import pytest

from kernelfields.errors import InputError
from kernelfields.web import Guards, RefusedError, choose_token, guarded, is_loopback

TOKEN = "correct-horse-battery"


async def plain(scope, receive, send):
    body = (await receive()).get("body", b"")
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"got " + body})


def ask(guards=None, method="GET", url="/", app=plain, base="http://127.0.0.1:8000", **request):
    async def asked():
        transport = httpx.ASGITransport(guarded(app, guards or Guards()))
        async with httpx.AsyncClient(transport=transport, base_url=base) as client:
            return await client.request(method, url, **request)

    return asyncio.run(asked())


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost", "LOCALHOST:1", "[::1]:8000", "127.0.0.1"])
def test_own_names_are_answered(host):
    assert ask(headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8000",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "localhost@evil.example",
        "evil.example, localhost",
        "localhost:8000/x",
        "localhost:999999",
        "",
        " ",
        "10.0.0.7",
        "\u00e9",
    ],
)
def test_other_names_are_refused(host):
    answer = ask(headers={"host": host.encode()})
    assert answer.status_code == 421
    assert answer.json()["error"].endswith(".")


def test_two_host_headers_are_refused():
    assert ask(headers=[("host", "localhost"), ("host", "evil.example")]).status_code == 421


def test_a_server_on_all_interfaces_answers_by_numbers_and_given_names_only():
    guards = Guards("0.0.0.0", TOKEN, names=("Labels.example",))
    for host, status in (("10.0.0.7:80", 200), ("labels.example", 200), ("evil.example", 421)):
        answer = ask(guards, headers={"host": host, "authorization": f"Bearer {TOKEN}"})
        assert answer.status_code == status, host


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:8001"},
        {"origin": "file://127.0.0.1:8000"},
        {"origin": "127.0.0.1:8000"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "cross-site", "origin": "http://127.0.0.1:8000"},
    ],
)
def test_other_sites_change_nothing(method, headers):
    assert ask(method=method, headers=headers).status_code == 403


@pytest.mark.parametrize(
    "headers",
    [{}, {"origin": "http://127.0.0.1:8000", "sec-fetch-site": "same-origin"}, {"sec-fetch-site": "none"}],
)
def test_own_pages_and_programs_may_post(headers):
    assert ask(method="POST", headers=headers, content=b"x").content == b"got x"


@pytest.mark.parametrize(
    "given", [None, "Bearer", "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}x", "Bearer \xe9"]
)
def test_wrong_tokens_are_refused(given):
    headers = {} if given is None else {"authorization": given.encode("latin-1")}
    answer = ask(Guards(token=TOKEN), headers=headers)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")


def test_the_token_opens():
    assert ask(Guards(token=TOKEN), headers={"authorization": f"bearer {TOKEN}"}).status_code == 200


def test_a_page_keeps_the_token_in_a_cookie():
    guards = Guards(token=TOKEN, page=True)
    answer = ask(guards, url=f"/items/a%20b?token={TOKEN}")
    assert (answer.status_code, answer.headers["location"]) == (303, "/items/a%20b")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert ask(guards, headers={"cookie": cookie.partition(";")[0]}).status_code == 200
    assert ask(guards, url="/?token=wrong").status_code == 401
    assert ask(guards, "POST", f"/?token={TOKEN}").status_code == 401
    assert ask(Guards(token=TOKEN), headers={"cookie": cookie.partition(";")[0]}).status_code == 401


def test_the_welcome_leads_to_no_other_server():
    answer = ask(Guards(token=TOKEN, page=True), url=f"http://127.0.0.1:8000//evil.example/?token={TOKEN}")
    assert answer.headers["location"] == "/evil.example/"


def test_nobody_listens_to_others_without_a_token():
    with pytest.raises(ValueError, match="needs a token"):
        guarded(plain, Guards("0.0.0.0"))
    assert choose_token("127.0.0.1", None) is None
    assert len(choose_token("0.0.0.0", None)) >= 16
    assert choose_token("0.0.0.0", None) != choose_token("0.0.0.0", None)
    with pytest.raises(InputError, match="16 characters"):
        choose_token("0.0.0.0", "short")


@pytest.mark.parametrize(
    ("host", "own"), [("::1", True), ("127.9.9.9", True), ("::", False), ("a.example", False)]
)
def test_loopback(host, own):
    assert is_loopback(host) == own


def test_every_answer_has_the_headers_and_keeps_its_own():
    async def cached(scope, receive, send):
        await send(
            {"type": "http.response.start", "status": 200, "headers": [(b"Cache-Control", b"max-age=9")]}
        )
        await send({"type": "http.response.body", "body": b""})

    for answer in (ask(), ask(headers={"host": "evil.example"}), ask(app=cached)):
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert ask(app=cached).headers.get_list("cache-control") == ["max-age=9"]


def test_failures_are_one_sentence_and_are_logged(caplog):
    async def broken(scope, receive, send):
        raise RuntimeError("secret path")

    answer = ask(app=broken)
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert "secret path" in caplog.text


def test_refusals_pass_through():
    async def refusing(scope, receive, send):
        raise RefusedError(409, "Somebody else was first.", {"retry-after": "3"})

    answer = ask(app=refusing)
    assert (answer.status_code, answer.json()) == (409, {"error": "Somebody else was first."})
    assert answer.headers["retry-after"] == "3"


def test_a_crowd_is_asked_to_come_back():
    async def both():
        entered, leave = asyncio.Event(), asyncio.Event()

        async def slow(scope, receive, send):
            entered.set()
            await leave.wait()
            await plain(scope, receive, send)

        transport = httpx.ASGITransport(guarded(slow, Guards(requests=1)))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            first = asyncio.create_task(client.get("/"))
            await entered.wait()
            second = await client.get("/")
            leave.set()
            return (await first).status_code, second, (await client.get("/")).status_code

    first, second, third = asyncio.run(both())
    assert (first, second.status_code, third) == (200, 503, 200)
    assert second.headers["retry-after"] == "1"


def test_start_and_stop_are_not_guarded():
    seen = []

    async def starting(scope, receive, send):
        seen.append((scope["type"], await receive()))

    async def receive():
        return {"type": "lifespan.startup"}

    asyncio.run(guarded(starting, Guards(token=TOKEN))({"type": "lifespan"}, receive, None))
    assert seen == [("lifespan", {"type": "lifespan.startup"})]


def test_web_sockets_are_closed():
    sent = []

    async def send(message):
        sent.append(message)

    asyncio.run(guarded(plain, Guards())({"type": "websocket", "headers": []}, None, send))
    assert [message["type"] for message in sent] == ["websocket.close"]
