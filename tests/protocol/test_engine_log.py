"""The plugin's messages reach the engine, whatever the environment says.

Holds settings.md: "Calls to this machine".
"""

from __future__ import annotations

import pytest
from engines import driver
from engines.clock import HANGS

NOBODY = "http://127.0.0.1:9"


@pytest.mark.parametrize("variable", ["grpc_proxy", "http_proxy", "https_proxy"])
def test_no_proxy_lies_between_the_plugin_and_the_engine(monkeypatch, variable):
    monkeypatch.setenv(variable, NOBODY)
    for exception in ("no_proxy", "no_grpc_proxy"):
        monkeypatch.delenv(exception, raising=False)
    with driver.connected() as engine:
        sender = driver.Sender(HANGS)
        sender.connect(engine.log.address)
        sender.warn("urn:pulumi:dev::t::gcpx:compute:InstanceTemplate::web", "a warning")

        assert engine.log.lasting == ["a warning"]
