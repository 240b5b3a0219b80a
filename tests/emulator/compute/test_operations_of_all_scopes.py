"""What lists and masks of all scopes show, and what the service names itself."""

from __future__ import annotations

import socket

from values.programs import PROJECT, ZONE, properties

BASE = f"/compute/v1/projects/{PROJECT}"


def test_operations_of_all_scopes_are_listed_together(http, vm):
    http.post(f"{BASE}/global/networks", json={"name": "vpc", "autoCreateSubnetworks": False})
    http.post(f"/compute/v1/{vm}/stop")
    answer = http.get(f"{BASE}/aggregated/operations").json()
    kinds = {
        scope: [item["operationType"] for item in found["operations"]]
        for scope, found in answer["items"].items()
        if "operations" in found
    }

    assert answer["kind"] == "compute#operationAggregatedList"
    assert ("insert" in kinds["global"], "stop" in kinds[f"zones/{ZONE}"]) == (True, True)


def test_a_mask_leaves_out_the_scopes_that_it_empties(http, vm):
    answer = http.get(f"{BASE}/aggregated/instances?fields=items.*.instances(name)").json()

    assert answer == {"items": {f"zones/{ZONE}": {"instances": [{"name": "example-vm"}]}}}


def test_the_service_names_the_interfaces(http):
    body = properties(networkInterfaces=[{"name": "mine", "network": "global/networks/default"}])
    machine = {**body, "name": "web", "machineType": f"zones/{ZONE}/machineTypes/e2-small"}
    http.post(f"{BASE}/zones/{ZONE}/instances", json=machine)

    assert http.get(f"{BASE}/zones/{ZONE}/instances/web").json()["networkInterfaces"][0]["name"] == "nic0"


def test_a_template_made_from_an_instance_has_the_sizes_of_its_disks(http, vm):
    link = vm.partition(f"{PROJECT}/")[2]
    http.post(f"{BASE}/global/instanceTemplates", json={"name": "copy", "sourceInstance": link})
    (instance, template) = (http.get(f"/compute/v1/{vm}"), http.get(f"{BASE}/global/instanceTemplates/copy"))
    sizes = [disk["diskSizeGb"] for disk in instance.json()["disks"]]

    assert [disk["diskSizeGb"] for disk in template.json()["properties"]["disks"]] == sizes


def test_a_post_without_a_length_is_refused(cloud):
    host, port = cloud.host.split(":")
    with socket.create_connection((host, int(port))) as connection:
        head = f"POST {BASE}/zones/{ZONE}/instances/x/stop HTTP/1.1\r\nHost: {cloud.host}\r\nConnection: close\r\n\r\n"
        connection.sendall(head.encode())
        answer = connection.makefile("rb").readline()

    assert answer.split()[1] == b"411"
