from __future__ import annotations

import os
from pathlib import Path

import pytest
from records import client_record
from servers import (
    lean_compute,  # noqa: F401 - before tests import compute_v1
    plain_http,
)


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
