"""A restart that a member does not need, because it keeps or already has what changes: preview and update agree."""

from __future__ import annotations

from typing import Any

import pytest
from engines.driver import failing
from engines.stack import Declared, Stack
from rolling.fleets import instance_path
from rolling.preview_words import PreviewWords
from rolling.rollouts import SET_LABELS, START, STOP, rolling
from values.programs import DEBIAN, FLEET, PROJECT, one_at_a_time, properties

SET_TYPE = "compute.instances.setMachineType"
REFRESHED = "changed without a restart"


class _Online(Stack):
    """A stack whose previews may ask Google."""

    @property
    def _config(self) -> dict[str, str]:
        return {**super()._config, "validateOnline": "true"}


def _make_template(cloud: Any, name: str, **more: Any) -> None:
    boot = {"boot": True, "autoDelete": True, "initializeParams": {"sourceImage": DEBIAN}}
    given = properties(**{"disks": [boot], "machineType": "n2-standard-2", **more})
    cloud.post(f"/compute/v1/projects/{PROJECT}/global/instanceTemplates", {"name": name, "properties": given})


def _of_template(name: str) -> dict[str, Any]:
    return {
        "region": "us-east1", "count": 2, "namePattern": "web-###", "updatePolicy": one_at_a_time(),
        "sourceInstanceTemplate": f"global/instanceTemplates/{name}",
    }  # fmt: skip


TYPE, PLATFORM = {"machineType": "n2-standard-4"}, {"minCpuPlatform": "Intel Ice Lake"}
IGNORED = {
    "the type": ("instanceProperties.machineType", TYPE, False),
    "the type of another series": ("instanceProperties.machineType", {"machineType": "c3-standard-4"}, False),
    "the type, and not the platform": ("instanceProperties.machineType", {**TYPE, **PLATFORM}, True),
    "the platform": ("instanceProperties.minCpuPlatform", PLATFORM, False),
    "all": ("instanceProperties", {**TYPE, **PLATFORM}, False),
    "labels": ("instanceProperties.labels", TYPE, True),
}
"""By what a program ignores: the path, what the new template changes, and whether members are restarted for that."""


@pytest.mark.parametrize(("ignored", "change", "restarts"), IGNORED.values(), ids=IGNORED)
def test_a_new_template_restarts_nobody_for_what_the_program_ignores(cloud, ignored, change, restarts):
    _make_template(cloud, "old")
    _make_template(cloud, "new", **change)
    stack = _Online(cloud)
    stack.up({"workers": Declared(FLEET, _of_template("old"))})
    cloud.emulator.requests.kept.clear()
    stack.up({"workers": Declared(FLEET, _of_template("new"), ignore_changes=(ignored,))})
    said = PreviewWords.among(stack.messages)

    assert stack.failed is None
    assert said.members("restarted" if restarts else REFRESHED).names == {"web-001", "web-002"}
    assert len(said.of) == 1
    assert all(item.certain for item in said.of.values())
    assert len(cloud.calls(STOP)) == len(cloud.calls(START)) == (2 if restarts else 0)
    assert cloud.calls(SET_LABELS)


def _resize(cloud: Any, name: str) -> None:
    """Give an instance the machine type that the program changes to afterwards, as somebody might by hand."""

    def change(body: dict[str, Any]) -> None:
        body["machineType"] = body["machineType"].replace("n2-standard-2", "n2-standard-4")

    cloud.change(instance_path(name), change)


def _grown(engine: Any, cloud: Any) -> Any:
    """Return a refreshed fleet of two members, of which web-002 has the machine type that the program will want."""
    created = engine.create(FLEET, "workers", rolling(2, machineType="n2-standard-2"))
    _resize(cloud, "web-002")
    refreshed = engine.refresh(created)
    engine.log.messages.clear()
    cloud.emulator.requests.kept.clear()
    return refreshed


@pytest.mark.parametrize(
    "more", [{}, {"labels": {"tier": "web"}}, {"scheduling": {"automaticRestart": False}}], ids=str
)
def test_a_member_that_was_given_the_new_machine_type_by_hand_is_not_restarted(engine, cloud, more):
    fleet, program = _grown(engine, cloud), rolling(2, **TYPE, **more)
    engine.preview_update(fleet, program)
    said = PreviewWords.among([text for _, _, text in engine.log.messages])
    assert said.members("restarted").names == {"web-001"}
    assert said.members(REFRESHED).names == {"web-002"}
    assert "set back" not in said.of

    engine.update(fleet, program)
    assert (len(cloud.calls(STOP)), len(cloud.calls(SET_TYPE))) == (1, 1)


@pytest.mark.parametrize("more", [PLATFORM, {"scheduling": {"maxRunDuration": {"seconds": 3600}}}], ids=str)
def test_a_member_that_has_the_new_machine_type_is_restarted_for_another_change(engine, cloud, more):
    fleet, program = _grown(engine, cloud), rolling(2, **TYPE, **more)
    engine.preview_update(fleet, program)
    said = PreviewWords.among([text for _, _, text in engine.log.messages])
    assert said.members("restarted").names == {"web-001", "web-002"}

    engine.update(fleet, program)
    assert (len(cloud.calls(STOP)), len(cloud.calls(SET_TYPE))) == (2, 1)
    (name,) = more
    found = [cloud.get(instance_path(member))[name] for member in ("web-001", "web-002")]
    assert all("maxRunDuration" in item if isinstance(item, dict) else item == more[name] for item in found)


def test_a_restart_under_a_policy_that_allows_none_is_refused_although_one_member_needs_none(engine, cloud):
    fleet = _grown(engine, cloud)
    with failing() as failed:
        engine.preview_update(fleet, rolling(2, {"mostDisruptiveAction": "REFRESH"}, **TYPE))

    assert "does not allow this change, which needs RESTART" in failed[0].message
