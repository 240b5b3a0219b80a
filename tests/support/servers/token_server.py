"""A server that issues access tokens in every way that Google's credentials know, and that can misbehave."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import attrs

ROBOT = "robot@demo-project.iam.gserviceaccount.com"


@attrs.frozen
class Asked:
    """A request for a token."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@attrs.frozen
class Answer:
    """An answer of the server."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = attrs.Factory(dict)

    def send(self, handler: BaseHTTPRequestHandler) -> None:
        """Write it as the response to the request of a handler."""
        handler.send_response_only(self.status)
        for name, value in {"Content-Type": "application/json", **self.headers}.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(self.body)))
        handler.end_headers()
        handler.wfile.write(self.body)
        handler.wfile.flush()


@attrs.define
class TokenServer:
    """Issues tokens `token-1`, `token-2` and so on.

    Attributes:
        asked: the requests, in order.
        lifetime: how many seconds a token lives.
        skew: how many seconds the server's clock is ahead.
        next: the answers of the next requests, instead of tokens.
        before: called before each answer.
    """

    url: str
    asked: list[Asked] = attrs.Factory(list)
    lifetime: int = 3600
    skew: float = 0.0
    next: list[Answer] = attrs.Factory(list)
    before: Callable[[], object] = lambda: None

    def answer(self, asked: Asked) -> Answer:
        self.asked.append(asked)
        self.before()
        date = {"Date": formatdate(time.time() + self.skew, usegmt=True), "Metadata-Flavor": "Google"}
        if self.next:
            given = self.next.pop(0)
            return attrs.evolve(given, headers=date | given.headers)
        return Answer(200, json.dumps(self._found(asked)).encode(), date)

    def _found(self, asked: Asked) -> Any:
        if asked.path.startswith("/subject"):
            return {"token": "subject-of-url"}
        if asked.path.startswith("/computeMetadata") and "token" not in asked.path:
            return {"email": ROBOT, "scopes": []}
        token = f"token-{len(self.asked)}"
        ends = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + self.skew + self.lifetime))
        issued = {"access_token": token, "expires_in": self.lifetime, "token_type": "Bearer"}
        return {**issued, "accessToken": token, "expireTime": ends}


@contextmanager
def token_server() -> Iterator[TokenServer]:
    """Run a token server in a thread."""
    found = TokenServer("")
    with _serving(lambda: found) as port:
        found.url = f"http://127.0.0.1:{port}"
        yield found


@contextmanager
def _serving(server: Callable[[], TokenServer]) -> Iterator[int]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            text = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            body = (
                json.loads(text) if text.startswith("{") else {name: item[0] for name, item in parse_qs(text).items()}
            )
            path = urlsplit(self.path)
            answer = server().answer(Asked(self.path, dict(self.headers), body or dict(parse_qs(path.query))))
            answer.send(self)

        do_GET = do_POST  # noqa: N815 - the name that the standard library calls

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        thread = threading.Thread(target=listening.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield listening.server_address[1]
        finally:
            listening.shutdown()
            thread.join()
