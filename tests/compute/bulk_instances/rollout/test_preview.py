"""Previews of rollouts say what the update then does."""

from __future__ import annotations

from typing import Any

from programs import FLEET
from rollouts import DELETE, STOP, rolling


def said(engine: Any) -> str:
    return "\n".join(text for severity, _, text in engine.log.messages if severity == "INFO")


def test_setting_the_properties_back_names_only_the_members_that_have_the_new_ones(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(4, {"pauseAfter": 1}))
    paused = engine.update(created, rolling(4, {"pauseAfter": 1}, machineType="e2-medium"))
    engine.log.messages.clear()
    engine.preview_update(paused, rolling())
    assert "1 member is restarted: web-001" in said(engine)

    cloud.emulator.requests.kept.clear()
    engine.update(paused, rolling())
    assert len(cloud.calls(STOP)) == 1


def test_another_spelling_of_the_same_properties_is_announced_as_what_else_changes(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(networkInterfaces=[{"network": "default"}]))
    spelled = rolling(networkInterfaces=[{"network": "global/networks/default"}], labels={"a": "1"})
    engine.log.messages.clear()
    engine.preview_update(created, spelled)
    assert "4 members are changed while they run" in said(engine)
    assert "replaced" not in said(engine)

    cloud.emulator.requests.kept.clear()
    engine.update(created, spelled)
    assert cloud.calls(DELETE) == []
