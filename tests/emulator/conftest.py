from __future__ import annotations

import json
import os
from importlib import resources
from pathlib import Path

import httplib2
import pytest
from engines.clock import HANGS
from googleapiclient import discovery
from records import client_record
from servers import (
    lean_compute,  # noqa: F401 - before tests import compute_v1
    plain_http,
)

DOCUMENTS = resources.files("googleapiclient") / "discovery_cache" / "documents"
PATHS = {"compute.v1": "/compute/v1/", "storage.v1": "/storage/v1/"}
"""The paths of APIs that are not served at the root."""


@pytest.fixture
def client(cloud):
    """Make the client of an API, such as `compute.v1`."""

    http = httplib2.Http(timeout=HANGS)

    def make(api):
        described = json.loads((DOCUMENTS / f"{api}.json").read_text())
        endpoint = {"api_endpoint": f"http://{cloud.host}{PATHS.get(api, '/')}"}
        return discovery.build_from_document(described, http=http, client_options=endpoint)

    yield make
    http.close()


@pytest.fixture
def http(cloud):
    """A client of the emulator's HTTP interface."""
    with plain_http.client(f"http://{cloud.host}") as client:
        yield client


@pytest.fixture(autouse=True)
def _recorded_libraries(request):
    """Fail if one of Google's libraries calls a method for which it is not recorded, or write that into a file."""
    yield
    cloud = request.node.funcargs.get("cloud")
    seen = client_record.seen_libraries(cloud.emulator.requests.kept) if cloud is not None else set()
    if "GCPX_RECORD" in os.environ:
        with Path(os.environ["GCPX_RECORD"]).open("a") as file:
            file.writelines(f"{method} {library}\n" for method, library in seen)
    else:
        assert seen - client_record.recorded() == set(), "run `make emulator-record`"
