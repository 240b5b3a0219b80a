"""The credentials of a machine in Google Cloud, from its metadata server.

Holds settings.md: "Plain http is allowed"; "Calls to this machine"; "The metadata server is".
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from servers.token_server import ROBOT, token_server

ASK = """
from gcpx.gcp.request import COMPUTE
from gcpx.gcp.connections import Connections
from gcpx.gcp.credentials import Credentials
from gcpx.gcp.settings import Settings

credentials = Credentials(Settings(), Connections())
print(credentials.header(COMPUTE.scope), credentials.principal)
"""
"""google-auth reads the variables when it is imported, so this runs in a process of its own."""


@pytest.mark.parametrize("proxy", ["", "http://192.0.2.1:1"], ids=["no proxy", "proxy"])
def test_the_token_comes_from_the_metadata_server_without_a_proxy(tmp_path, proxy):
    with token_server() as tokens:
        host = tokens.url.removeprefix("http://")
        environment = {
            **os.environ,
            "CLOUDSDK_CONFIG": str(tmp_path),
            "GCE_METADATA_HOST": host,
            "GCE_METADATA_IP": host,
            "NO_GCE_CHECK": "",
            "HTTP_PROXY": proxy,
        }
        environment.pop("GOOGLE_APPLICATION_CREDENTIALS", None)
        ran = subprocess.run([sys.executable, "-c", ASK], env=environment, capture_output=True, text=True, check=False)

    assert ran.returncode == 0, ran.stderr
    assert "Bearer token-" in ran.stdout
    assert ROBOT in ran.stdout, "the principal of errors"
    (asked,) = [asked for asked in tokens.asked if "/token" in asked.path]
    assert "compute" in asked.path
    assert asked.headers["metadata-flavor"] == "Google"
