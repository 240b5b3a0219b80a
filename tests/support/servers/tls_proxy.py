"""A proxy on this machine that answers for every host of Google, with certificates of its own authority."""

from __future__ import annotations

import datetime as dt
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import attrs
import httpx
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from servers import plain_http
from servers.token_server import Answer, Asked, TokenServer

VARIABLES = (
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
)
"""The environment variables that name proxies and certificates; the first four also count in lower case."""
_PASSED_ON = ("authorization", "content-type", "user-agent")


@attrs.define
class TlsProxy:
    """A running proxy.

    Attributes:
        url: what HTTPS_PROXY names.
        certificates: the file with the certificate of its authority.
        tokens: answers for the hosts that issue tokens.
        connected: the hosts that were asked for, in order.
        refusal: the status with which the proxy refuses connections; 0 to allow them.
    """

    url: str
    certificates: Path
    tokens: TokenServer
    connected: list[str] = attrs.Factory(list)
    refusal: int = 0


def certificates(folder: Path, *hosts: str) -> tuple[Path, Path]:
    """Write a self-signed certificate for hosts, and the same with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "gcpx test authority")])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host) for host in hosts]), critical=False)
        .sign(key, hashes.SHA256())
    )
    public = made.public_bytes(serialization.Encoding.PEM)
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    trusted, own = folder / "authority.pem", folder / "server.pem"
    trusted.write_bytes(public)
    own.write_bytes(public + key.private_bytes(*form))
    return trusted, own


class _Handler(BaseHTTPRequestHandler):
    found: TlsProxy
    secure: ssl.SSLContext
    emulator: str
    protocol_version = "HTTP/1.1"
    host = ""

    def do_CONNECT(self) -> None:
        self.host = self.path.partition(":")[0]
        self.found.connected.append(self.host)
        self.send_response_only(self.found.refusal or 200)
        self.end_headers()
        self.close_connection = bool(self.found.refusal)
        if self.found.refusal:
            return
        try:
            self.connection = self.secure.wrap_socket(self.connection, server_side=True)
        except (ssl.SSLError, OSError):
            self.close_connection = True  # the client does not trust us
            return
        self.rfile, self.wfile = self.connection.makefile("rb"), self.connection.makefile("wb")

    def finish(self) -> None:
        try:
            super().finish()  # fails if the client has closed the connection before the end of a response
        finally:
            self.connection.close()

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        issues = self.host.startswith(("oauth2.", "iamcredentials.", "sts."))
        answer = self._issued(body) if issues else self._emulated(body)
        answer.send(self)

    do_POST = do_PATCH = do_DELETE = do_GET  # noqa: N815 - the names that the standard library calls

    def _issued(self, body: bytes) -> Answer:
        text = body.decode()
        given = httpx.Response(200, text=text).json() if text.startswith("{") else parse_qs(text)
        return self.found.tokens.answer(Asked(f"//{self.host}{self.path}", dict(self.headers), given))

    def _emulated(self, body: bytes) -> Answer:
        headers = {name: value for name, value in self.headers.items() if name.lower() in _PASSED_ON}
        given = plain_http.send(self.command, f"http://{self.emulator}{self.path}", content=body, headers=headers)
        return Answer(given.status_code, given.content)

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def running(folder: Path, emulator: str) -> Iterator[TlsProxy]:
    """Run a proxy that answers for hosts of tokens itself, and for all others through an emulator."""
    trusted, own = certificates(folder, "*.googleapis.com", "*.example.invalid")
    secure = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    secure.load_cert_chain(own)
    found = TlsProxy("", trusted, TokenServer(""))

    handler = type("Handler", (_Handler,), {"found": found, "secure": secure, "emulator": emulator})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        found.url = f"http://127.0.0.1:{server.server_address[1]}"
        try:
            yield found
        finally:
            server.shutdown()
            thread.join()
