"""A nearby host needs a certificate only if it is called over https; then it needs one that is trusted."""

from __future__ import annotations

import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest
from engines.clock import HANGS
from servers import tls_proxy

from gcpx_http.connections import page


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response_only(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")


@pytest.fixture
def served(tmp_path):
    """A server on this machine, with a certificate that only a file trusts: its URL, and the path of the file."""
    trusted, own = tls_proxy.certificates(tmp_path, "localhost")
    secure = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    secure.load_cert_chain(own)
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        server.daemon_threads = True
        server.socket = secure.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"https://localhost:{server.server_address[1]}/", trusted
        server.shutdown()
        thread.join()


def test_a_nearby_host_that_nobody_trusts_is_not_believed(served):
    with pytest.raises(httpx.ConnectError, match="certificate"):
        page(served[0], HANGS, 100)


def test_a_nearby_host_may_have_a_certificate_that_the_environment_trusts(served, monkeypatch):
    url, trusted = served
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))

    assert page(url, HANGS, 100).body == b"ok"
