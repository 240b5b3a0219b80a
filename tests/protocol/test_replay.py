"""The plugin still gives the same responses to the recorded sessions of the real engine."""

from __future__ import annotations

import json

import demo
import driver
import pytest
from programs import PROJECT
from replay import SESSIONS, replay


def test_recorded_sessions_cover_the_protocol():
    assert SESSIONS
    methods = {json.loads(line)["method"] for path in SESSIONS for line in path.read_text().splitlines()}
    assert methods >= {"Handshake", "CheckConfig", "Configure", "Check", "Diff", "Create", "Read", "Update", "Delete"}


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: path.parent.name)
def test_a_recorded_session_gets_the_same_responses(cloud, path, monkeypatch):
    cloud.emulator.store.reset()
    demo.prepare(cloud.host)
    monkeypatch.setenv("GCPX_EMULATOR_HOST", cloud.host)
    monkeypatch.setenv("GOOGLE_PROJECT", PROJECT)
    with driver.engine() as engine:
        replay(engine.stub, path)
