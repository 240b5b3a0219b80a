"""A git repository at an address such as `git.example.com/acme/gcpx.git`, served over TLS on this machine."""

from __future__ import annotations

import os
import select
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import attrs
from servers.tls_proxy import certificates

HOST = "git.example.com"


@attrs.frozen
class GitHost:
    """The server.

    Attributes:
        variables: environment variables with which programs reach the server by its name, and trust it.
        asked: the paths of the requests to the server.
    """

    variables: dict[str, str]
    asked: list[str]


class _Handler(BaseHTTPRequestHandler):
    """A proxy that answers for one host itself, and connects to all others."""

    protocol_version = "HTTP/1.1"

    def __init__(self, secure: ssl.SSLContext, folder: Path, asked: list[str], *arguments: Any) -> None:
        self._secure, self._folder, self._asked = secure, folder, asked
        super().__init__(*arguments)

    def do_CONNECT(self) -> None:
        host, _, port = self.path.partition(":")
        if host != HOST:
            self._connect(host, int(port))
            return
        self.send_response_only(200)
        self.end_headers()
        self.connection = self._secure.wrap_socket(self.connection, server_side=True)
        self.rfile, self.wfile = self.connection.makefile("rb"), self.connection.makefile("wb", buffering=0)

    def finish(self) -> None:
        super().finish()
        self.connection.close()

    def _connect(self, host: str, port: int) -> None:
        self.close_connection = True
        with socket.create_connection((host, port)) as other:
            self.send_response_only(200)
            self.end_headers()
            ways = {self.connection: other, other: self.connection}
            while True:
                for source in select.select(list(ways), [], [])[0]:
                    data = source.recv(1 << 16)
                    if not data:
                        return
                    ways[source].sendall(data)

    def do_GET(self) -> None:
        self._asked.append(self.path)
        service = b"# service=git-upload-pack\n"
        refs = self._upload_pack("--advertise-refs")
        self._send("advertisement", b"%04x%b0000%b" % (len(service) + 4, service, refs))

    def do_POST(self) -> None:
        self._asked.append(self.path)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self._send("result", self._upload_pack(given=body))

    def _upload_pack(self, *options: str, given: bytes = b"") -> bytes:
        """Let git answer a request of the protocol "smart HTTP"."""
        path = self._folder / self.path.lstrip("/").partition(".git/")[0]
        command = ["git", "upload-pack", "--stateless-rpc", *options, f"{path}.git"]
        variables = {**os.environ, "GIT_PROTOCOL": self.headers.get("Git-Protocol", "")}
        return subprocess.run(command, input=given, env=variables, stdout=subprocess.PIPE, check=True).stdout

    def _send(self, kind: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", f"application/x-git-upload-pack-{kind}")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def git_host(folder: Path, source: Path, version: str) -> Iterator[GitHost]:
    """Serve the files in `source` as the repository `acme/gcpx.git`, with the tag of a version."""
    repository = folder / "served" / "acme" / "gcpx.git"
    _commit(source, version)
    _git(folder, "clone", "--quiet", "--bare", str(source), str(repository))
    trusted, own = certificates(folder, HOST)
    secure, asked = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), []
    secure.load_cert_chain(own)
    handler = partial(_Handler, secure, folder / "served", asked)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield GitHost(
                {"HTTPS_PROXY": f"http://127.0.0.1:{server.server_port}", "SSL_CERT_FILE": _bundle(trusted)}, asked
            )
        finally:
            server.shutdown()
            thread.join()


def _bundle(trusted: Path) -> str:
    """Add the usual authorities to the file, for the other hosts; return its path."""
    usual = ssl.get_default_verify_paths().cafile
    with trusted.open("ab") as file:
        file.write(Path(usual).read_bytes() if usual else b"")
    return str(trusted)


def _commit(source: Path, version: str) -> None:
    _git(source, "init", "--quiet")
    _git(source, "add", "--all")
    author = ("-c", "user.name=test", "-c", "user.email=test@example.com")
    _git(source, *author, "commit", "--quiet", "--message", "A version")
    _git(source, "tag", f"v{version}")


def _git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)
