"""Settings of an instance's machine, most of which change only while it is stopped."""

from __future__ import annotations

import pytest
from google.api_core import exceptions
from google.cloud import compute_v1
from servers.google_clients import insert_instance
from values.programs import PROJECT, ZONE, properties

WHERE = {"project": PROJECT, "zone": ZONE, "instance": "vm"}
PATH = f"projects/{PROJECT}/zones/{ZONE}/instances/vm"
SCHEDULING = {"maxRunDuration": {"seconds": "3600"}, "instanceTerminationAction": "STOP"}
POLICY = f"projects/{PROJECT}/regions/us-east1/resourcePolicies/nightly"
NEED_A_STOP = [
    ("setMachineType", {"machineType": f"zones/{ZONE}/machineTypes/n2-standard-4"}, "machine type"),
    ("setMinCpuPlatform", {"minCpuPlatform": "Intel Ice Lake"}, "minimum CPU platform"),
    ("setServiceAccount", {"email": "web@demo-project.iam.gserviceaccount.com", "scopes": []}, "service account"),
    ("setScheduling", SCHEDULING, "scheduling.instanceTerminationAction"),
    (
        "setScheduling",
        {"preemptible": True, "automaticRestart": False, "onHostMaintenance": "TERMINATE"},
        "scheduling.preempt",
    ),
    ("setMachineResources", {"guestAccelerators": []}, "accelerators"),
    ("updateShieldedInstanceConfig", {"enableSecureBoot": True}, "shieldedInstanceConfig"),
    ("updateDisplayDevice", {"enableDisplay": True}, "displayDevice"),
]


@pytest.fixture
def instances(cloud):
    return insert_instance(cloud)


def _send(http, method, body, version="v1"):
    verb = "PATCH" if method.startswith("update") else "POST"
    return http.request(verb, f"/compute/{version}/{PATH}/{method}", json=body)


def _stop(http, **query):
    assert http.post(f"/compute/v1/{PATH}/stop", params=query).status_code == 200


@pytest.mark.parametrize("version", ["v1", "beta"])
@pytest.mark.parametrize(("method", "body", "what"), NEED_A_STOP)
def test_a_setting_of_the_machine_changes_only_while_the_instance_is_stopped(
    cloud, http, instances, version, method, body, what
):
    before = cloud.get(PATH)
    refused = _send(http, method, body, version)
    after = cloud.get(PATH)
    _stop(http)
    accepted = _send(http, method, body, version)

    assert instances.get(**WHERE).status == "TERMINATED"
    assert refused.status_code == 400
    assert "must be stopped before" in refused.json()["error"]["message"]
    assert what in refused.json()["error"]["message"]
    assert before == after
    assert (accepted.status_code, accepted.json()["operationType"]) == (200, method)


def test_what_is_changed_shows_on_the_instance(http, instances):
    instances.stop(**WHERE).result()
    request = compute_v1.InstancesSetMachineTypeRequest(machine_type=f"zones/{ZONE}/machineTypes/n2-standard-4")
    instances.set_machine_type(**WHERE, instances_set_machine_type_request_resource=request).result()
    platform = compute_v1.InstancesSetMinCpuPlatformRequest(min_cpu_platform="Intel Ice Lake")
    instances.set_min_cpu_platform(**WHERE, instances_set_min_cpu_platform_request_resource=platform).result()
    account = compute_v1.InstancesSetServiceAccountRequest(email="web@example.com", scopes=["cloud-platform"])
    instances.set_service_account(**WHERE, instances_set_service_account_request_resource=account).result()
    shield = compute_v1.ShieldedInstanceConfig(enable_secure_boot=True)
    instances.update_shielded_instance_config(**WHERE, shielded_instance_config_resource=shield).result()
    display = compute_v1.DisplayDevice(enable_display=True)
    instances.update_display_device(**WHERE, display_device_resource=display).result()
    instances.start(**WHERE).result()
    found = instances.get(**WHERE)

    assert found.machine_type.endswith(f"/{PROJECT}/zones/{ZONE}/machineTypes/n2-standard-4")
    assert (found.min_cpu_platform, found.cpu_platform) == ("Intel Ice Lake", "Intel Ice Lake")
    assert [(item.email, list(item.scopes)) for item in found.service_accounts] == [
        ("web@example.com", ["cloud-platform"])
    ]
    assert (found.shielded_instance_config.enable_secure_boot, found.display_device.enable_display) == (True, True)


@pytest.mark.parametrize("none", ["", "Automatic"])
def test_a_platform_and_a_service_account_can_be_removed(http, instances, none):
    _stop(http)
    for body in ({"minCpuPlatform": "Intel Ice Lake"}, {"minCpuPlatform": none}):
        _send(http, "setMinCpuPlatform", body)
    for body in ({"email": "web@example.com", "scopes": ["cloud-platform"]}, {}):
        _send(http, "setServiceAccount", body)
    found = http.get(f"/compute/v1/{PATH}").json()

    assert {"minCpuPlatform", "serviceAccounts"} & found.keys() == set()


@pytest.mark.parametrize(("link", "words"), [
    ("", "required"), (f"zones/{ZONE}/machineTypes/none", "does not exist"),
    ("zones/us-east1-c/machineTypes/e2-small", f"must be in the zone '{ZONE}'"),
    (f"zones/{ZONE}/machineTypes/custom-3-1024", "Custom machine types"),
])  # fmt: skip
def test_a_machine_type_must_exist_in_the_zone(http, instances, link, words):
    _stop(http)
    answer = _send(http, "setMachineType", {"machineType": link})

    assert answer.status_code == 400
    assert words in answer.json()["error"]["message"]


@pytest.mark.parametrize("name", ["c3-standard-4", "c3-standard-4-lssd", "n4-standard-2"])
def test_a_machine_type_of_another_kind_of_hardware_is_refused(http, instances, name):
    _stop(http)
    answer = _send(http, "setMachineType", {"machineType": f"zones/{ZONE}/machineTypes/{name}"})

    assert answer.status_code == 400
    assert f"cannot be changed to {name}" in answer.json()["error"]["message"]


def test_an_instance_gets_the_local_ssds_of_its_machine_type(http, cloud):
    insert_instance(cloud, machine="c3-standard-8-lssd")
    disks = http.get(f"/compute/v1/{PATH}").json()["disks"]

    assert [(disk["type"], disk["index"]) for disk in disks] == [("PERSISTENT", 0), ("SCRATCH", 1), ("SCRATCH", 2)]
    assert {disk["diskSizeGb"] for disk in disks[1:]} == {"375"}
    _stop(http, discardLocalSsd="true")
    assert _send(http, "setMachineType", {"machineType": f"zones/{ZONE}/machineTypes/c3-standard-8"}).status_code == 400


@pytest.mark.parametrize(
    "scheduling", [{"automaticRestart": False}, {"onHostMaintenance": "TERMINATE", "automaticRestart": True}]
)
def test_restart_and_maintenance_change_on_a_running_instance(http, instances, scheduling):
    before = http.get(f"/compute/v1/{PATH}").json()["scheduling"]
    answer = _send(http, "setScheduling", scheduling)
    after = http.get(f"/compute/v1/{PATH}").json()

    assert (answer.status_code, after["status"]) == (200, "RUNNING")
    assert after["scheduling"] == before | scheduling


def test_scheduling_is_merged_and_a_null_removes_a_value(http, instances):
    _stop(http)
    before = http.get(f"/compute/v1/{PATH}").json()["scheduling"]
    _send(http, "setScheduling", SCHEDULING)
    limited = http.get(f"/compute/v1/{PATH}").json()["scheduling"]
    _send(http, "setScheduling", {"maxRunDuration": None, "instanceTerminationAction": None})

    assert limited == before | SCHEDULING
    assert http.get(f"/compute/v1/{PATH}").json()["scheduling"] == before


@pytest.mark.parametrize("body", [
    {"provisioningModel": "SPOT"}, {"onHostMaintenance": "MIGRATE", "provisioningModel": "SPOT"},
    {**SCHEDULING, "terminationTime": "2100-01-01T00:00:00Z"}, {"hostErrorTimeoutSeconds": 91}, {"unknown": 1},
])  # fmt: skip
def test_scheduling_that_no_instance_can_have_is_refused(http, instances, body):
    _stop(http)

    assert _send(http, "setScheduling", body).status_code == 400


def test_a_stopped_instance_becomes_a_spot_instance(http, instances):
    _stop(http)
    _send(
        http,
        "setScheduling",
        {"provisioningModel": "SPOT", "automaticRestart": False, "onHostMaintenance": "TERMINATE"},
    )

    assert http.get(f"/compute/v1/{PATH}").json()["scheduling"]["preemptible"] is True


def test_accelerators_need_an_instance_that_is_not_migrated(http, instances):
    _stop(http)
    _send(http, "setMachineType", {"machineType": f"zones/{ZONE}/machineTypes/n1-standard-1"})
    link = f"zones/{ZONE}/acceleratorTypes/nvidia-tesla-p100"
    accelerators = {"guestAccelerators": [{"acceleratorType": link, "acceleratorCount": 1}]}
    refused = _send(http, "setMachineResources", accelerators)
    _send(http, "setScheduling", {"onHostMaintenance": "TERMINATE"})
    accepted = _send(http, "setMachineResources", accelerators)
    found = http.get(f"/compute/v1/{PATH}").json()["guestAccelerators"]

    assert (refused.status_code, accepted.status_code) == (400, 200)
    assert found[0]["acceleratorType"].endswith(f"/{PROJECT}/zones/{ZONE}/acceleratorTypes/nvidia-tesla-p100")


def test_deletion_protection_is_set_and_removed_on_a_running_instance(instances):
    place = {"project": PROJECT, "zone": ZONE, "resource": "vm"}
    instances.set_deletion_protection(**place).result()
    with pytest.raises(exceptions.BadRequest, match="protected"):
        instances.delete(**WHERE)
    request = compute_v1.SetDeletionProtectionInstanceRequest(**place, deletion_protection=False)
    instances.set_deletion_protection(request=request).result()
    instances.delete(**WHERE).result()


def test_resource_policies_are_added_and_removed(http, instances):
    added = _send(http, "addResourcePolicies", {"resourcePolicies": [POLICY]})
    found = http.get(f"/compute/beta/{PATH}").json()["resourcePolicies"]
    refused = [
        _send(http, "addResourcePolicies", {"resourcePolicies": [POLICY]}),
        _send(http, "addResourcePolicies", {"resourcePolicies": ["a", "b"]}),
        _send(http, "removeResourcePolicies", {"resourcePolicies": ["other"]}),
    ]
    removed = _send(http, "removeResourcePolicies", {"resourcePolicies": [POLICY]})

    assert (added.status_code, [answer.status_code for answer in refused]) == (200, [400, 400, 400])
    assert found == [f"https://www.googleapis.com/compute/beta/{POLICY}"]
    assert (removed.status_code, http.get(f"/compute/v1/{PATH}").json()["resourcePolicies"]) == (200, [])


def test_an_instance_has_the_default_account_by_its_address(http, cloud):
    account, base = {"email": "default", "scopes": ["https://www.googleapis.com/auth/compute"]}, f"projects/{PROJECT}"
    template = {"name": "web", "properties": properties(serviceAccounts=[account])}
    http.post(f"/compute/v1/{base}/global/instanceTemplates", json=template)
    source = f"{base}/global/instanceTemplates/web"
    http.post(f"/compute/v1/{base}/zones/{ZONE}/instances?sourceInstanceTemplate={source}", json={"name": "vm"})
    address = http.get(f"/compute/v1/{base}").json()["defaultServiceAccount"]
    created = cloud.get(PATH)["serviceAccounts"]
    _stop(http)
    _send(http, "setServiceAccount", {"email": "web@example.com"})
    other = cloud.get(PATH)["serviceAccounts"][0]["email"]
    _send(http, "setServiceAccount", account)

    assert (cloud.get(source)["properties"]["serviceAccounts"], other) == ([account], "web@example.com")
    assert created == cloud.get(PATH)["serviceAccounts"] == [{**account, "email": address}]
