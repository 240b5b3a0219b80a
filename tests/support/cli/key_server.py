"""A stand-in for HashiCorp Vault, whose keys the CLI uses as it uses those of the real one.

With a passphrase, the CLI derives a key in each command, in a million rounds, which takes more than a third of its time.
Here, a command sends one request instead. The secrets in the state are encrypted as usual; only the key that they are
encrypted with is not protected. The demo, and the stacks of `make test-languages`, have a passphrase.

Source: https://developer.hashicorp.com/vault/api-docs/secret/transit
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

_PREFIX: Final = "vault:v1:"


class _Transit(BaseHTTPRequestHandler):
    def do_PUT(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path.startswith("/v1/transit/encrypt/"):
            data = {"ciphertext": _PREFIX + body["plaintext"]}
        else:
            data = {"plaintext": body["ciphertext"].removeprefix(_PREFIX)}
        answer = json.dumps({"data": data}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        """Write no line for each request."""


@contextmanager
def key_server() -> Iterator[dict[str, str]]:
    """Serve keys during the block; gives the environment variables with which new stacks have one."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Transit) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield {
            "PULUMI_OPTION_SECRETS_PROVIDER": "hashivault://tests",
            "VAULT_SERVER_URL": f"http://127.0.0.1:{server.server_port}",
            "VAULT_SERVER_TOKEN": "tests",
        }
        server.shutdown()
