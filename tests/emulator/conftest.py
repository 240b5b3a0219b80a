from __future__ import annotations

import httpx
import pytest
from clock import HANGS


@pytest.fixture
def http(cloud):
    """A client of the emulator's HTTP interface."""
    # Without certificates, which it does not need, a client is made at once.
    with httpx.Client(base_url=f"http://{cloud.host}", trust_env=False, verify=False, timeout=HANGS) as client:
        yield client
