"""Instances: where their properties, networks and fingerprints come from."""

from __future__ import annotations

import pytest
from google.api_core import exceptions
from google.cloud import compute_v1
from servers.google_clients import connect
from values.programs import DEBIAN, PROJECT, ZONE, properties

BASE = f"/compute/v1/projects/{PROJECT}"


@pytest.fixture
def template(cloud):
    for scope in ("global", "regions/us-east1"):
        cloud.post(f"{BASE}/{scope}/instanceTemplates", {"name": "web", "properties": properties()})
    return f"projects/{PROJECT}/global/instanceTemplates/web"


@pytest.mark.parametrize(("zone", "status"), [("us-east1-b", 200), ("us-central1-a", 400)])
def test_an_instance_is_created_from_a_template(cloud, http, template, zone, status):
    link = "regions/us-east1/instanceTemplates/web"
    answer = http.post(
        f"{BASE}/zones/{zone}/instances",
        params={"sourceInstanceTemplate": link},
        json={"name": "vm", "labels": {"a": "b"}},
    )

    assert answer.status_code == status
    made = cloud.get(f"projects/{PROJECT}/zones/{zone}/instances/vm") or {}
    assert (made.get("labels"), made.get("machineType", "").rpartition("/")[2]) == (
        ({"a": "b"}, "e2-small") if status == 200 else (None, "")
    )


@pytest.mark.parametrize(("nic", "network"), [
    ({"subnetwork": "regions/us-east1/subnetworks/default"}, f"projects/{PROJECT}/global/networks/default"),
    ({"subnetwork": "projects/host/regions/us-east1/subnetworks/inside"}, "projects/host/global/networks/vpc"),
    ({}, f"projects/{PROJECT}/global/networks/default"), ({"network": "global/networks/default"}, f"projects/{PROJECT}/global/networks/default"),
])  # fmt: skip
def test_the_network_follows_from_the_subnetwork(cloud, nic, network):
    cloud.post("/compute/v1/projects/host/global/networks", {"name": "vpc", "autoCreateSubnetworks": False})
    inside = {"name": "inside", "network": "global/networks/vpc", "ipCidrRange": "10.9.0.0/24"}
    cloud.post("/compute/v1/projects/host/regions/us-east1/subnetworks", inside)
    instances = connect(compute_v1.InstancesClient, cloud)
    body = {
        "name": "vm",
        "machineType": f"zones/{ZONE}/machineTypes/e2-medium",
        "disks": [{"boot": True, "initializeParams": {"sourceImage": DEBIAN}}],
        "networkInterfaces": [nic],
    }
    cloud.post(f"{BASE}/zones/{ZONE}/instances", body)

    assert (
        instances.get(project=PROJECT, zone=ZONE, instance="vm").network_interfaces[0].network.endswith(f"/{network}")
    )
    with pytest.raises(exceptions.NotFound):
        instances.get(project=PROJECT, zone=ZONE, instance="none")


def test_a_fingerprint_that_is_sent_with_a_new_interface_does_not_count(cloud):
    instances = connect(compute_v1.InstancesClient, cloud)
    nic = compute_v1.NetworkInterface(network="global/networks/default", fingerprint="AAAAAAAAAAA=")
    disk = compute_v1.AttachedDisk(
        boot=True, initialize_params=compute_v1.AttachedDiskInitializeParams(source_image=DEBIAN)
    )
    vm = compute_v1.Instance(
        name="vm", machine_type=f"zones/{ZONE}/machineTypes/e2-medium", disks=[disk], network_interfaces=[nic]
    )
    instances.insert(project=PROJECT, zone=ZONE, instance_resource=vm).result()
    found = instances.get(project=PROJECT, zone=ZONE, instance="vm").network_interfaces[0]

    assert found.fingerprint not in {"", nic.fingerprint}
