"""The middleware: only valid pushes reach the application, on every path, and invalid ones are not read to the end."""

from __future__ import annotations

import asyncio

import httpx
import pytest
from servers.pushing import AUDIENCE, BODY, GOOD, OWN, headers, token, verifier
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Mount, Route

from gcpx_push import Certificates, PushMiddleware, PushVerifier, receive
from gcpx_push.receiver import check_body_start

CHUNK = b" " * 1024
BAD = headers("Bearer a.b.c")


class Connection:
    """An ASGI connection: it has the events that the client sends, and records what is answered."""

    def __init__(self, *events, sent=GOOD, method="POST", query=b"", kind="http"):
        encoded = [(name.lower().encode(), value.encode()) for name, value in sent.items()]
        self.scope = {"type": kind, "method": method, "path": "/push", "query_string": query, "headers": encoded}
        self.events, self.read, self.sent = iter(events), 0, []

    async def receive(self):
        event = next(self.events, {"type": "http.disconnect"})
        self.read += len(event.get("body", b""))
        return event

    async def send(self, message):
        self.sent.append(message)

    def through(self, app, by=None):
        asyncio.run(PushMiddleware(app, by or verifier())(self.scope, self.receive, self.send))
        return self

    @property
    def status(self):
        return self.sent[0]["status"]


async def _never(_scope, _receive, _send):
    pytest.fail("a refused push reached the application")


def _part(body, *, more=True):
    return {"type": "http.request", "body": body, "more_body": more}


def _endless(start=b""):
    return [_part(start), *(_part(CHUNK) for _ in range(20 << 10))]


def _ask(app, path, method="POST", **request):
    async def send():
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://receiver") as client:
            return await client.request(method, path, **request)

    return asyncio.run(send())


async def _take(request):
    return Response(request.scope["gcpx.push"].text, headers={"length": str(len(await request.body()))})


ROUTED = Starlette(routes=[
    Mount("/hooks", PushMiddleware(Starlette(routes=[Route("/{path:path}", _take, methods=["POST"])]), verifier())),
    Route("/free", lambda _: Response("free")),
])  # fmt: skip
PATHS = ["/push", "/push%0A", "/push/", "//push", "/", "/PUSH", "/other", "/%70ush", "/push?x=/free"]


@pytest.mark.parametrize("path", PATHS)
def test_nothing_passes_without_a_token_on_any_path(path):
    assert _ask(PushMiddleware(_never, verifier()), path, content=BODY, headers=headers(None)).status_code == 400
    assert _ask(ROUTED, f"/hooks{path}", content=BODY, headers=headers(None)).status_code == 400


def test_a_framework_can_guard_some_of_its_routes():
    answer = _ask(ROUTED, "/hooks/push", content=BODY, headers=GOOD)

    assert (answer.status_code, answer.text, answer.headers["length"]) == (200, "hello", str(len(BODY)))
    assert _ask(ROUTED, "/free", "GET").text == "free"


def test_the_answer_to_another_method_names_the_allowed_one():
    answer = _ask(PushMiddleware(_never, verifier()), "/push", "GET", headers=GOOD)

    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


def test_a_websocket_is_refused():
    connection = Connection({"type": "websocket.connect"}, kind="websocket").through(_never)

    assert [message["type"] for message in connection.sent] == ["websocket.close"]


def test_lifespan_events_are_passed_on():
    seen = []

    async def app(scope, _receive, _send):
        seen.append(scope["type"])

    Connection(kind="lifespan").through(app)
    assert seen == ["lifespan"]


def test_a_connection_of_an_unknown_type_does_not_pass():
    with pytest.raises(ValueError, match="type"):
        Connection(kind="tunnel").through(_never)


REFUSED = {
    "another method": ({"method": "PUT"}, 405), "no header": ({"sent": headers(None)}, 400),
    "an invalid token": ({"sent": BAD}, 400), "a form": ({"sent": headers(GOOD["Authorization"], "text/plain")}, 400),
    "a length that is too long": ({"sent": {**GOOD, "Content-Length": str(17 << 20)}}, 413),
    "a length with many digits": ({"sent": {**GOOD, "Content-Length": "9" * 5000}}, 413),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_the_body_is_not_read_if_the_head_is_invalid(case):
    request, status = REFUSED[case]
    connection = Connection(*_endless(), **request).through(_never)

    assert (connection.status, connection.read) == (status, 0)


def test_the_body_is_not_read_if_the_verification_token_is_wrong():
    own = PushVerifier(verification_token=OWN, authenticated=False)
    connection = Connection(*_endless(), sent=headers(None), query=b"token=other").through(_never, own)

    assert (connection.status, connection.read) == (400, 0)


def test_the_body_is_not_read_while_the_keys_cannot_be_fetched():
    unreachable = PushVerifier(AUDIENCE, "a@example.com", certificates=Certificates("http://127.0.0.1:1/"))
    connection = Connection(*_endless(), sent=headers(f"Bearer {token()}")).through(_never, unreachable)

    assert (connection.status, connection.read) == (503, 0)


@pytest.mark.parametrize("start", [b"a=b", b"[", b'"', b"\xef\xbb\xbf{", b"\xff\xfe{\x00", b""])
def test_a_body_that_cannot_become_a_push_is_not_read_to_the_end(start):
    connection = Connection(*_endless(start)).through(_never)

    assert connection.status == 400
    assert connection.read <= 64 << 10


def test_a_body_that_never_ends_is_too_long():
    connection = Connection(*_endless(b"{")).through(_never)

    assert connection.status == 413
    assert connection.read <= (16 << 20) + len(CHUNK)


def test_white_space_before_an_object_is_looked_at_once():
    looked_at, rest = b"what was white space", b" \n {"

    assert check_body_start(b" \t" + rest) == len(b" \t") + 3
    assert check_body_start(looked_at + rest, len(looked_at)) == len(looked_at) + 3


@pytest.mark.parametrize("pieces", [[b" \t", b"\r\n", BODY], [b"", BODY[:1], b"", BODY[1:]]])
def test_white_space_and_empty_parts_before_an_object_are_accepted(pieces):
    seen = []

    async def app(_scope, receive, _send):
        seen.append((await receive())["body"])

    Connection(*(_part(piece, more=piece is not pieces[-1]) for piece in pieces)).through(app)
    assert seen == [b"".join(pieces)]


def test_a_disconnected_client_gets_no_answer():
    connection = Connection(_part(BODY[:5]), {"type": "http.disconnect"}).through(_never)

    assert connection.sent == []


def test_the_application_reads_the_body_again_and_then_later_events():
    seen = []

    async def app(_scope, receive, _send):
        seen.extend([await receive(), await receive()])

    Connection(_part(BODY[:9]), _part(BODY[9:], more=False)).through(app)
    assert seen == [{"type": "http.request", "body": BODY, "more_body": False}, {"type": "http.disconnect"}]


def test_a_refused_push_is_logged_without_its_token(caplog):
    Connection(_part(BODY, more=False), sent=BAD).through(_never)
    Connection(_part(BODY, more=False), sent=headers("Bearer hunter2")).through(_never)
    answer = receive(verifier(), "GET", BAD, "token=hunter2", b"hunter2")

    logged = [(record.name, record.levelname) for record in caplog.records]
    assert logged == [("gcpx_push", "WARNING")] * 3
    assert f"answered a push with status 405: {answer.reason}" in caplog.text
    assert "hunter2" not in caplog.text
    assert "a.b.c" not in caplog.text


def test_an_accepted_push_is_not_logged(caplog):
    assert receive(verifier(), "POST", GOOD, "", BODY).status == 204
    assert not caplog.records
