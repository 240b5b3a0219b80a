"""Two nodes of a cluster, from its network and key pair to their removal, with Ray's node provider."""
# ruff: noqa: SLF001 - the parts of the preparation are called one by one

import os
import tempfile

os.environ["HOME"] = tempfile.mkdtemp()  # Ray writes key pairs there

from ray.autoscaler._private.gcp import config as preparation
from ray.autoscaler._private.gcp.node_provider import GCPNodeProvider
from steps import IMAGE, PROJECT, REGION, ZONE, step

PROVIDER = {"type": "gcp", "project_id": PROJECT, "region": REGION, "availability_zone": ZONE}
TAGS = {
    "ray-node-type": "head",
    "ray-node-name": "ray-head",
    "ray-node-status": "up-to-date",
    "ray-user-node-type": "head",
    "ray-launch-config": "abc",
}
disk = {"boot": True, "autoDelete": True, "initializeParams": {"diskSizeGb": 50, "sourceImage": IMAGE}}
cluster = {
    "cluster_name": "ray",
    "provider": PROVIDER,
    "auth": {"ssh_user": "ubuntu"},
    "head_node_type": "head",
    "available_node_types": {"head": {"node_config": {"machineType": "n1-standard-2", "disks": [disk]}}},
}

with step("connect"):
    projects, accounts, compute, _ = preparation.construct_clients_from_provider_config(PROVIDER)
    provider = GCPNodeProvider({**PROVIDER, "cache_stopped_nodes": True}, "ray")
with step("read the project"):
    preparation._configure_project(cluster, projects)
with step("create a service account with roles"):
    head = preparation._configure_iam_role({**cluster, "head_node": {}}, projects, accounts)["head_node"]
    assert head["serviceAccounts"][0]["email"] == f"ray-autoscaler-sa-v1@{PROJECT}.iam.gserviceaccount.com"
with step("find the service account and its roles again"):
    assert preparation._configure_iam_role({**cluster, "head_node": {}}, projects, accounts)["head_node"] == head
with step("give the project's instances a key pair"):
    cluster = preparation._configure_key_pair(cluster, compute)
    metadata = compute.projects().get(project=PROJECT).execute()["commonInstanceMetadata"]
    assert [item["key"] for item in metadata["items"]] == ["ssh-keys"]
with step("choose a subnetwork"):
    node = preparation._configure_subnet(cluster, compute)["available_node_types"]["head"]["node_config"]
    assert node["networkInterfaces"][0]["subnetwork"].endswith("/subnetworks/default")
with step("create two nodes"):
    assert len(provider.create_node(node, TAGS, 2)) == 2
with step("list the nodes"):
    names = sorted(provider.non_terminated_nodes({"ray-node-type": "head"}))
    assert len(names) == 2
with step("read the addresses of the nodes"):
    assert all(provider.is_running(name) and not provider.is_terminated(name) for name in names)
    assert all(provider.external_ip(name) and provider.internal_ip(name) for name in names)
with step("tag a node"):
    provider.set_node_tags(names[0], {"stage": "test"})
    assert provider.non_terminated_nodes({"stage": "test"}) == [names[0]]
with step("stop the nodes"):
    provider.terminate_nodes(names)
    assert provider.non_terminated_nodes({}) == []
with step("start the stopped nodes"):
    assert sorted(provider.create_node(node, TAGS, 2)) == names
with step("delete the nodes"):
    provider.cache_stopped_nodes = False
    provider.terminate_nodes(names)
    assert provider.non_terminated_nodes({}) == []
