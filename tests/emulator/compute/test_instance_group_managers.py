"""Managed instance groups."""

from __future__ import annotations

import pytest
from values.programs import PROJECT, ZONE, properties

from gcpx_emulator.core.projects import project_number

BASE = f"/compute/v1/projects/{PROJECT}"
HOME = f"{BASE}/zones/{ZONE}"
URL = f"https://www.googleapis.com{HOME}"
MANAGERS, GROUPS, INSTANCES = (f"{HOME}/{kind}" for kind in ("instanceGroupManagers", "instanceGroups", "instances"))
GROUP = f"{MANAGERS}/workers"


@pytest.fixture
def templates(http):
    """The templates `web` and `next`, which differ in the machine type."""
    for name, machine in (("web", "e2-small"), ("next", "e2-medium")):
        made = properties(machineType=machine, labels={"a": "b"})
        body = {"name": name, "properties": made | {"disks": [disk | {"autoDelete": True} for disk in made["disks"]]}}
        assert http.post(f"{BASE}/global/instanceTemplates", json=body).status_code == 200


def _manager(**more):
    return {"name": "workers", "instanceTemplate": "global/instanceTemplates/web", "targetSize": 2, **more}


def _make(http, **more):
    answer = http.post(MANAGERS, json=_manager(**more))
    assert answer.status_code == 200, answer.text
    return _names(http)


def _names(http):
    return [item["name"] for item in http.get(INSTANCES).json().get("items", ())]


def _managed(http):
    return http.post(f"{GROUP}/listManagedInstances").json().get("managedInstances", [])


def _post(http, method, **body):
    answer = http.post(f"{GROUP}/{method}", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_manager_creates_its_instances_from_the_template(http, templates):
    started = http.post(MANAGERS, json=_manager(baseInstanceName="vm", namedPorts=[{"name": "http", "port": 80}]))
    manager, managed = http.get(GROUP).json(), _managed(http)
    instance = http.get(f"{INSTANCES}/{managed[0]['name']}").json()
    group = http.get(f"{GROUPS}/workers").json()

    assert started.json()["operationType"] == "compute.instanceGroupManagers.insert"
    assert (manager["kind"], manager["targetSize"], manager["baseInstanceName"]) == (
        "compute#instanceGroupManager",
        2,
        "vm",
    )
    assert manager["instanceTemplate"] == f"https://www.googleapis.com{BASE}/global/instanceTemplates/web"
    assert manager["versions"] == [{"instanceTemplate": manager["instanceTemplate"]}]
    assert (manager["status"]["isStable"], manager["currentActions"]["none"]) == (True, 2)
    assert [(one["currentAction"], one["instanceStatus"]) for one in managed] == [("NONE", "RUNNING")] * 2
    assert all(len(name) == len("vm-1234") and name.startswith("vm-") for name in _names(http))
    assert (instance["machineType"], instance["labels"]) == (f"{URL}/machineTypes/e2-small", {"a": "b"})
    assert instance["disks"][0]["source"] == f"{URL}/disks/{instance['name']}"
    assert (manager["instanceGroup"], group["size"]) == (group["selfLink"], 2)
    assert group["namedPorts"] == manager["namedPorts"] == [{"name": "http", "port": 80}]
    number = project_number(PROJECT)
    assert instance["metadata"]["items"] == [
        {"key": "instance-template", "value": f"projects/{number}/global/instanceTemplates/web"},
        {"key": "created-by", "value": f"projects/{number}/zones/{ZONE}/instanceGroupManagers/workers"},
    ]
    kinds = [(one["operationType"], one["targetLink"]) for one in http.get(f"{HOME}/operations").json()["items"]]
    assert sorted(kinds)[1:] == [("insert", f"{URL}/instances/{name}") for name in _names(http)]


def test_managers_are_listed_and_deleted_with_their_instances(http, templates):
    _make(http)
    manager = http.get(GROUP).json()
    everywhere = http.get(f"{BASE}/aggregated/instanceGroupManagers").json()["items"]

    assert http.get(MANAGERS).json()["items"] == everywhere[f"zones/{ZONE}"]["instanceGroupManagers"] == [manager]
    assert http.post(MANAGERS, json=_manager()).status_code == 409
    in_use = [http.delete(url) for url in (f"{BASE}/global/instanceTemplates/web", f"{GROUPS}/workers")]
    assert [(one.status_code, "instanceGroupManagers/workers" in one.text) for one in in_use] == [(400, True)] * 2
    assert http.delete(GROUP).json()["operationType"] == "compute.instanceGroupManagers.delete"
    assert (http.get(GROUP).status_code, http.get(f"{GROUPS}/workers").status_code) == (404, 404)
    assert (_names(http), http.get(f"{HOME}/disks").json().get("items")) == ([], None)
    assert http.delete(f"{BASE}/global/instanceTemplates/web").status_code == 200


def test_a_group_is_resized(http, templates):
    first = _make(http)
    assert http.post(f"{GROUP}/resize?size=3").json()["operationType"] == "compute.instanceGroupManagers.resize"
    assert (len(_names(http)), http.get(GROUP).json()["targetSize"]) == (3, 3)
    assert set(first) < set(_names(http))
    http.post(f"{INSTANCES}/{first[0]}/stop")
    http.post(f"{GROUP}/resize?size=1")
    assert (len(_names(http)), first[0] in _names(http)) == (1, False)
    assert [one["name"] for one in _managed(http)] == _names(http)
    http.post(f"{GROUP}/resize?size=0")
    assert (_names(http), _managed(http), http.get(GROUP).json()["targetSize"]) == ([], [], 0)
    assert http.post(f"{GROUP}/resize?size=-1").status_code == 400


def test_a_group_has_at_most_a_thousand_instances(http, templates):
    _make(http, targetSize=1)
    names = [{"name": f"extra-{number}"} for number in range(1000)]
    larger = http.post(f"{GROUP}/resize?size=1001")
    more = http.post(f"{GROUP}/createInstances", json={"instances": names})
    assert [(one.status_code, "1000" in one.text) for one in (larger, more)] == [(400, True)] * 2
    assert len(_names(http)) == 1


def test_instances_are_created_by_name_and_deleted(http, templates):
    first, _ = _make(http)
    _post(http, "createInstances", instances=[{"name": "extra"}])
    assert ("extra" in _names(http), http.get(GROUP).json()["targetSize"]) == (True, 3)
    again = http.post(f"{GROUP}/createInstances", json={"instances": [{"name": "extra"}]})
    state = {"name": "other", "preservedState": {"metadata": {"a": "b"}}}
    stateful = http.post(f"{GROUP}/createInstances", json={"instances": [state]})
    assert (again.status_code, stateful.status_code) == (409, 501)
    _post(http, "deleteInstances", instances=[f"{URL}/instances/extra", first])
    assert (len(_names(http)), http.get(GROUP).json()["targetSize"]) == (1, 1)
    assert {"extra", first}.isdisjoint(_names(http))
    wrong = http.post(f"{GROUP}/deleteInstances", json={"instances": ["none"]})
    elsewhere = http.post(f"{GROUP}/deleteInstances", json={"instances": ["zones/us-west1-a/instances/none"]})
    assert [(one.status_code, "instances[0]" in one.text) for one in (wrong, elsewhere)] == [(400, True)] * 2
    _post(http, "deleteInstances", instances=["none"], skipInstancesOnValidationError=True)
    assert http.get(GROUP).json()["targetSize"] == 1


def test_instances_are_recreated_from_another_template(http, templates):
    first, second = _make(http)
    old = http.get(f"{INSTANCES}/{first}").json()
    _post(http, "setInstanceTemplate", instanceTemplate="global/instanceTemplates/next")
    manager = http.get(GROUP).json()
    assert (manager["instanceTemplate"].rpartition("/")[2], manager["status"]["versionTarget"]) == (
        "next",
        {"isReached": False},
    )
    _post(http, "recreateInstances", instances=[f"zones/{ZONE}/instances/{first}"])
    new = http.get(f"{INSTANCES}/{first}").json()

    assert (new["id"] == old["id"], new["machineType"]) == (False, f"{URL}/machineTypes/e2-medium")
    assert http.get(f"{INSTANCES}/{second}").json()["machineType"] == f"{URL}/machineTypes/e2-small"
    versions = {one["name"]: one["version"]["instanceTemplate"].rpartition("/")[2] for one in _managed(http)}
    assert versions == {first: "next", second: "web"}
    assert http.get(f"{HOME}/disks/{first}").json()["users"] == [new["selfLink"]]
    missing = [
        http.post(f"{GROUP}/setInstanceTemplate", json=body)
        for body in ({}, {"instanceTemplate": "global/instanceTemplates/none"})
    ]
    assert [answer.status_code for answer in missing] == [400, 404]


def test_a_patch_changes_the_size_and_the_template(http, templates):
    first = _make(http)
    fingerprint = http.get(GROUP).json()["fingerprint"]
    body = {"targetSize": 3, "versions": [{"name": "new", "instanceTemplate": "global/instanceTemplates/next"}]}
    body |= {"description": "d", "baseInstanceName": "vm", "fingerprint": fingerprint}
    patched = http.patch(GROUP, json=body)
    manager, (new,) = http.get(GROUP).json(), set(_names(http)) - set(first)

    assert (patched.status_code, patched.json()["operationType"]) == (200, "compute.instanceGroupManagers.patch")
    assert (manager["targetSize"], manager["description"], manager["versions"][0]["name"]) == (3, "d", "new")
    assert http.get(f"{INSTANCES}/{new}").json()["machineType"] == f"{URL}/machineTypes/e2-medium"
    assert new.startswith("vm-")
    http.patch(GROUP, json={"targetSize": 2})
    assert _names(http) == sorted(first)
    assert http.get(GROUP).json()["instanceTemplate"].endswith("/next")


def test_a_patch_keeps_what_it_omits_at_any_depth(http, templates):
    _make(http, updatePolicy={"type": "OPPORTUNISTIC", "minimalAction": "REPLACE"})
    template = http.get(GROUP).json()["instanceTemplate"]
    body = {"updatePolicy": {"replacementMethod": "SUBSTITUTE"}, "versions": [{"name": "new"}]}
    assert http.patch(GROUP, json=body).status_code == 200
    manager = http.get(GROUP).json()
    assert manager["updatePolicy"] == {
        "type": "OPPORTUNISTIC",
        "minimalAction": "REPLACE",
        "replacementMethod": "SUBSTITUTE",
    }
    assert manager["versions"] == [{"name": "new", "instanceTemplate": template}]


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"targetSize": 1, "fingerprint": "YWJj"}, 412, "fingerprint"),
        ({"updatePolicy": {"type": "PROACTIVE"}}, 501, "updatePolicy.type"),
        ({"namedPorts": [{"name": "http", "port": 80}]}, 501, "namedPorts"),
        ({"instanceTemplate": "global/instanceTemplates/none"}, 404, "none"),
        ({"targetSize": -1}, 400, "targetSize"),
    ],
)
def test_a_wrong_patch_is_refused(http, templates, body, status, field):
    names = _make(http)
    answer = http.patch(GROUP, json=body)
    assert (answer.status_code, field in answer.text, _names(http)) == (status, True, names), answer.text


def test_abandoned_instances_stay(http, templates):
    first, second = _make(http)
    _post(http, "abandonInstances", instances=[first])
    assert ([one["name"] for one in _managed(http)], http.get(GROUP).json()["targetSize"]) == ([second], 1)
    http.delete(GROUP)
    assert _names(http) == [first]


def test_an_instance_that_somebody_deleted_is_created_by_the_next_change(http, templates):
    first, _ = _make(http)
    http.delete(f"{INSTANCES}/{first}")
    manager = http.get(GROUP).json()
    assert (manager["status"]["isStable"], manager["currentActions"]["creating"]) == (False, 1)
    http.post(f"{GROUP}/resize?size=2")
    assert (first in _names(http), http.get(GROUP).json()["status"]["isStable"]) == (True, True)


def test_an_instance_with_the_name_of_a_deleted_one_is_not_the_managers(http, templates):
    first, second = _make(http)
    http.delete(f"{INSTANCES}/{first}")
    _instance(http, first)
    foreign = http.get(f"{INSTANCES}/{first}").json()
    http.post(f"{GROUP}/resize?size=2")
    (error,) = http.get(f"{GROUP}/listErrors").json()["items"]

    assert (error["error"]["code"], error["instanceActionDetails"]["instance"]) == (
        "RESOURCE_ALREADY_EXISTS",
        foreign["selfLink"],
    )
    assert http.get(GROUP).json()["currentActions"]["creating"] == 1
    assert http.get(f"{GROUPS}/workers").json()["size"] == 1
    assert {one["name"]: one["currentAction"] for one in _managed(http)} == {first: "CREATING", second: "NONE"}
    assert http.delete(GROUP).status_code == 200
    assert http.get(f"{INSTANCES}/{first}").json() == foreign


def test_instances_without_room_are_missing_until_there_is_room(http, templates):
    http.post("/_emulator/limits", json={"zones": {ZONE: 1}})
    _make(http)
    managed, errors = _managed(http), http.get(f"{GROUP}/listErrors").json()["items"]
    missing = next(one for one in managed if one["currentAction"] == "CREATING")

    assert (len(_names(http)), len(managed)) == (1, 2)
    code = missing["lastAttempt"]["errors"]["errors"][0]["code"]
    assert [(one["error"]["code"], one["instanceActionDetails"]["instance"]) for one in errors] == [
        (code, missing["instance"])
    ]
    http.post("/_emulator/limits", json={"zones": {}})
    http.post(f"{GROUP}/resize?size=2")
    assert [one["currentAction"] for one in _managed(http)] == ["NONE", "NONE"]
    assert "items" not in http.get(f"{GROUP}/listErrors").json()


def test_a_missing_instance_is_abandoned_with_its_error(http, templates):
    http.post("/_emulator/limits", json={"zones": {ZONE: 1}})
    _make(http)
    (error,) = http.get(f"{GROUP}/listErrors").json()["items"]
    _post(http, "abandonInstances", instances=[error["instanceActionDetails"]["instance"]])
    assert "items" not in http.get(f"{GROUP}/listErrors").json()
    assert [one["name"] for one in _managed(http)] == _names(http)


def test_a_list_has_pages_if_the_group_asks_for_them(http, templates):
    _make(http, listManagedInstancesResults="PAGINATED")
    first = http.post(f"{GROUP}/listManagedInstances?maxResults=1").json()
    second = http.post(f"{GROUP}/listManagedInstances", params={"pageToken": first["nextPageToken"]}).json()
    assert [len(page["managedInstances"]) for page in (first, second)] == [1, 1]


def test_while_an_operation_runs_the_group_says_what_it_does(cloud, http, templates):
    first, _ = _make(http)
    cloud.emulator.operations.latency = 100.0
    _post(http, "deleteInstances", instances=[first])
    actions = {one["name"]: one["currentAction"] for one in _managed(http)}
    manager = http.get(GROUP).json()

    assert (actions[first], manager["targetSize"], manager["status"]["isStable"]) == ("DELETING", 1, False)
    assert http.get(f"{INSTANCES}/{first}").json()["status"] == "STOPPING"
    assert http.post(f"{GROUP}/resize?size=5").status_code == 400


def test_a_manager_does_not_replace_a_group_that_an_operation_creates(cloud, http, templates):
    cloud.emulator.operations.latency = 100.0
    assert http.post(GROUPS, json={"name": "workers"}).status_code == 200
    assert http.post(MANAGERS, json=_manager()).status_code == 409


def test_the_template_of_a_manager_that_an_operation_creates_is_in_use(cloud, http, templates):
    cloud.emulator.operations.latency = 100.0
    assert http.post(MANAGERS, json=_manager()).status_code == 200
    answer = http.delete(f"{BASE}/global/instanceTemplates/web")
    assert (answer.status_code, "instanceGroupManagers/workers" in answer.text) == (400, True)


def test_a_change_that_fails_changes_nothing(http, templates):
    names = _make(http)
    error = {"errors": [{"code": "INTERNAL_ERROR", "message": "Injected."}]}
    http.post("/_emulator/faults", json={"method": "compute.instanceGroupManagers.resize", "operation": error})
    http.post(f"{GROUP}/resize?size=3")
    assert (_names(http), http.get(GROUP).json()["targetSize"]) == (names, 2)


@pytest.mark.parametrize(
    ("more", "status", "field"),
    [
        ({"instanceTemplate": None}, 400, "resource.instanceTemplate"),
        ({"instanceTemplate": "global/instanceTemplates/none"}, 404, "none"),
        ({"targetSize": None}, 400, "resource.targetSize"),
        ({"name": "Workers"}, 400, "resource.name"),
        ({"autoHealingPolicies": [{"initialDelaySec": 1}]}, 501, "autoHealingPolicies"),
        ({"targetPools": ["regions/us-east1/targetPools/p"]}, 501, "targetPools"),
        ({"updatePolicy": {"type": "PROACTIVE"}}, 501, "updatePolicy.type"),
        ({"baseInstanceName": "vm-##"}, 501, "baseInstanceName"),
    ],
)
def test_a_wrong_manager_is_refused(http, templates, more, status, field):
    body = {name: value for name, value in _manager(**more).items() if value is not None}
    answer = http.post(MANAGERS, json=body)
    assert (answer.status_code, field in answer.text) == (status, True), answer.text
    assert _names(http) == []


def test_a_version_overrides_the_template(http, templates):
    _make(http, versions=[{"name": "canary", "instanceTemplate": "global/instanceTemplates/next"}])
    manager = http.get(GROUP).json()
    assert (manager["instanceTemplate"].rpartition("/")[2], manager["versions"][0]["name"]) == ("next", "canary")


def _instance(http, name, network="default", zone=ZONE):
    machine = f"zones/{zone}/machineTypes/e2-small"
    body = {
        "name": name,
        **properties(machineType=machine),
        "networkInterfaces": [{"network": f"global/networks/{network}"}],
    }
    answer = http.post(f"{BASE}/zones/{zone}/instances", json=body)
    assert answer.status_code == 200, answer.text
    return {"instance": f"zones/{zone}/instances/{name}"}


def test_instances_are_added_to_a_group_and_removed(http):
    assert http.post(GROUPS, json={"name": "mine", "description": "d"}).json()["operationType"] == "insert"
    members = [_instance(http, name) for name in ("a", "b")]
    added = http.post(f"{GROUPS}/mine/addInstances", json={"instances": members})
    http.post(f"{INSTANCES}/b/stop")
    group, listed = http.get(f"{GROUPS}/mine").json(), http.post(f"{GROUPS}/mine/listInstances").json()
    runs = http.post(f"{GROUPS}/mine/listInstances", json={"instanceState": "RUNNING"}).json()

    assert (added.status_code, group["size"], group["description"]) == (200, 2, "d"), added.text
    assert group["network"] == f"https://www.googleapis.com{BASE}/global/networks/default"
    assert listed["kind"] == "compute#instanceGroupsListInstances"
    assert [(one["instance"], one["status"]) for one in listed["items"]] == [
        (f"{URL}/instances/a", "RUNNING"),
        (f"{URL}/instances/b", "TERMINATED"),
    ]
    assert [one["instance"] for one in runs["items"]] == [f"{URL}/instances/a"]
    twice = http.post(f"{GROUPS}/mine/addInstances", json={"instances": members[:1]})
    assert (twice.status_code, twice.json()["error"]["errors"][0]["reason"]) == (400, "memberAlreadyExists")
    assert http.post(f"{GROUPS}/mine/removeInstances", json={"instances": members[:1]}).status_code == 200
    assert http.post(f"{GROUPS}/mine/removeInstances", json={"instances": members[:1]}).status_code == 400
    http.delete(f"{INSTANCES}/b")
    assert (http.get(f"{GROUPS}/mine").json()["size"], _instance(http, "b")["instance"][-1]) == (0, "b")
    assert http.get(f"{GROUPS}/mine").json()["size"] == 0
    assert http.delete(f"{GROUPS}/mine").status_code == 200
    assert _names(http) == ["a", "b"]


def test_a_group_has_instances_of_one_zone_and_one_network(http):
    http.post(f"{BASE}/global/networks", json={"name": "other", "autoCreateSubnetworks": True})
    http.post(GROUPS, json={"name": "mine"})
    links = [_instance(http, "a"), _instance(http, "b", "other"), _instance(http, "c", zone="us-east1-c")]
    assert http.post(f"{GROUPS}/mine/addInstances", json={"instances": links[:1]}).status_code == 200
    wrong = [
        http.post(f"{GROUPS}/mine/addInstances", json={"instances": [link]})
        for link in (*links[1:], {"instance": "none"})
    ]
    assert [(one.status_code, "instances[0].instance" in one.text) for one in wrong] == [(400, True)] * 3


def test_an_instance_at_a_network_attachment_is_in_no_group(http):
    attachment = f"projects/{PROJECT}/regions/us-east1/networkAttachments/other"
    machine = {"name": "a", **properties(machineType=f"zones/{ZONE}/machineTypes/e2-small")}
    attached = {**machine, "networkInterfaces": [{"networkAttachment": attachment}]}
    assert http.post(INSTANCES, json=attached).status_code == 200
    http.post(GROUPS, json={"name": "mine"})
    answer = http.post(f"{GROUPS}/mine/addInstances", json={"instances": [{"instance": f"{URL}/instances/a"}]})
    assert (answer.status_code, "network attachment" in answer.text) == (400, True)


def test_named_ports_are_replaced(http):
    http.post(GROUPS, json={"name": "mine", "namedPorts": [{"name": "http", "port": 80}]})
    group = http.get(f"{GROUPS}/mine").json()
    ports = {"namedPorts": [{"name": "https", "port": 443}]}
    answers = [
        http.post(f"{GROUPS}/mine/setNamedPorts", json={**ports, **more})
        for more in ({"fingerprint": "YWJj"}, {"fingerprint": group["fingerprint"]})
    ]
    changed = http.get(f"{GROUPS}/mine").json()

    assert [answer.status_code for answer in answers] == [412, 200]
    assert (changed["namedPorts"], changed["fingerprint"] == group["fingerprint"]) == (ports["namedPorts"], False)


def test_the_manager_alone_changes_the_members_of_its_group(http, templates):
    _make(http)
    answer = http.post(f"{GROUPS}/workers/addInstances", json={"instances": [_instance(http, "a")]})
    assert (answer.status_code, "group manager" in answer.text) == (400, True)
