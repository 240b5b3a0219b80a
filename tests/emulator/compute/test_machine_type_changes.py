"""Which machine types bring local SSDs, and which an instance can change to, is the same for gcpx and the emulator."""

from __future__ import annotations

import pytest
from values.programs import PROJECT

from gcpx.compute.instance_properties.machines import can_change_machine_type, includes_local_ssds
from gcpx_emulator.compute.machine_types import can_change


@pytest.fixture
def with_ssds(http):
    """The machine types of all zones, and whether they include local SSDs."""
    url, found, token = f"/compute/v1/projects/{PROJECT}/aggregated/machineTypes", {}, ""
    while True:
        page = http.get(url, params={"pageToken": token}).json()
        items = [item for scope in page["items"].values() for item in scope.get("machineTypes", ())]
        found |= {item["name"]: "bundledLocalSsds" in item for item in items}
        if not (token := page.get("nextPageToken", "")):
            return found


def test_the_types_with_local_ssds_are_known(with_ssds):
    assert len(with_ssds) > 100
    assert {name: includes_local_ssds(name) for name in with_ssds} == with_ssds


@pytest.mark.parametrize(
    "present", ["e2-small", "n1-standard-1", "custom-2-4096", "c3-standard-4", "z3-highmem-14-standardlssd"]
)
def test_the_types_that_an_instance_can_change_to_are_known(with_ssds, present):
    wanted = {
        name: can_change(present, name) and not has_ssds for name, has_ssds in with_ssds.items() if name != present
    }

    assert {name: can_change_machine_type(present, name) for name in wanted} == wanted
    assert can_change_machine_type(present, present)
