"""Updates of a whole instance, and the access configs of its interfaces."""

from __future__ import annotations

import pytest
from values.programs import VM

URL = f"/compute/beta/{VM}"
NIC = {"networkInterface": "nic0"}


@pytest.fixture
def read(http, vm):
    """Read the instance."""
    return lambda: http.get(URL).json()


def test_an_update_changes_what_differs_and_removes_what_is_left_out(http, read):
    changed = http.put(URL, json={**read(), "description": "new", "canIpForward": True})
    first = read()
    without = {name: value for name, value in first.items() if name != "description"}
    removed = http.put(URL, json=without)

    assert (changed.status_code, removed.status_code) == (200, 200), changed.text
    assert (first["description"], first["canIpForward"]) == ("new", True)
    assert "description" not in read()
    assert read()["canIpForward"] is True


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"labels": {"a": "b"}}, 501),
        ({"fingerprint": "AAAAAAAAAAA="}, 412),
        ({"fingerprint": ""}, 400),
        ({"advancedMachineFeatures": {"threadsPerCore": 1}}, 400),
    ],
)
def test_an_update_that_is_not_possible_is_refused(http, read, change, status):
    before = read()

    assert http.put(URL, json={**before, **change}).status_code == status
    assert read() == before


def test_an_update_changes_the_machine_type_of_a_stopped_instance(http, read):
    wanted = read()["machineType"].rpartition("/")[0] + "/e2-standard-4"
    refused = http.put(URL, json={**read(), "machineType": wanted})
    http.post(f"{URL}/stop")
    changed = http.put(URL, json={**read(), "machineType": wanted})
    unknown = http.put(URL, json={**read(), "machineType": f"{wanted}0"})

    assert (refused.status_code, "must be stopped" in refused.text) == (400, True)
    assert (changed.status_code, read()["machineType"]) == (200, wanted)
    assert unknown.status_code == 400


def test_an_update_that_restarts_the_instance_is_not_emulated(http, read):
    assert http.put(URL, params={"minimalAction": "RESTART"}, json=read()).status_code == 501


def test_an_interface_has_one_access_config_at_most(http, read):
    body = {"type": "ONE_TO_ONE_NAT"}
    added = http.post(f"{URL}/addAccessConfig", params=NIC, json=body)
    (config,) = read()["networkInterfaces"][0]["accessConfigs"]
    again = http.post(f"{URL}/addAccessConfig", params=NIC, json=body)
    missing = http.post(f"{URL}/deleteAccessConfig", params={**NIC, "accessConfig": "other"})
    deleted = http.post(f"{URL}/deleteAccessConfig", params={**NIC, "accessConfig": config["name"]})

    assert [answer.status_code for answer in (added, again, missing, deleted)] == [200, 400, 400, 200]
    assert config["natIP"]
    assert "accessConfigs" not in read()["networkInterfaces"][0]


def test_an_update_without_node_affinities_changes_none_on_a_running_instance(http, read):
    scheduling = {"nodeAffinities": [None], "onHostMaintenance": "TERMINATE", "automaticRestart": False}

    assert http.post(f"{URL}/setScheduling", json=scheduling).status_code == 200
    assert "nodeAffinities" not in read()["scheduling"]
