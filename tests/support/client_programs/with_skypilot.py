"""A cluster of two instances, from its network to its removal, with the functions of SkyPilot's provisioner."""
# ruff: noqa: SLF001 - the parts of the preparation are called, too

import os
import tempfile

os.environ["HOME"] = tempfile.mkdtemp()  # SkyPilot keeps its own state there
os.environ["SKYPILOT_DISABLE_USAGE_COLLECTION"] = "1"

from sky.provision import gcp
from sky.provision.common import ProvisionConfig, ProvisionerError
from sky.provision.gcp import config as network
from sky.provision.gcp.instance_utils import GCPComputeInstance as Instances
from steps import IMAGE, PROJECT, REGION, ZONE, step

CLUSTER = "train"
PROVIDER = {
    "project_id": PROJECT,
    "region": REGION,
    "availability_zone": ZONE,
    "firewall_rule": f"{CLUSTER}-ports",
    "placement_policy": "compact",
}
compute = network._create_compute()


def config(count, **node):
    """Describe a cluster; `node` has further properties of its instances."""
    properties = {
        "machineType": "n2-standard-2",
        "disks": [{"boot": True, "autoDelete": True, "initializeParams": {"sourceImage": IMAGE, "diskSizeGb": 50}}],
        "metadata": {"items": [{"key": "ssh-keys", "value": "user:ssh-ed25519 AAAA user"}]},
        "labels": {"skypilot-user": "user"},
        "serviceAccounts": [{"email": "default", "scopes": ["https://www.googleapis.com/auth/cloud-platform"]}],
        **node,
    }
    return ProvisionConfig(dict(PROVIDER), {}, {}, properties, count, {"team": "research"}, True, None)


def statuses():
    """Return the status of each instance of the cluster."""
    found = gcp.query_instances(CLUSTER, CLUSTER, PROVIDER, non_terminated_only=False)
    return sorted(status.value for status, _ in found.values())


def has_network(wanted):
    """Return whether SkyPilot finds the network that a configuration names."""
    try:
        network.get_usable_vpc_and_subnet(CLUSTER, REGION, wanted, compute)
    except ProvisionerError:
        return False
    return True


cluster = config(2)
with step("look for a usable network"):
    assert not network._check_firewall_rules(CLUSTER, "default", PROJECT, compute)
with step("create a network with firewall rules"):
    cluster = network._configure_subnet(REGION, CLUSTER, cluster, compute)
    assert cluster.node_config["networkInterfaces"][0]["subnetwork"].endswith("/subnetworks/skypilot-vpc")
with step("find the network again"):
    assert network._check_firewall_rules(CLUSTER, "skypilot-vpc", PROJECT, compute)
    assert network.get_usable_vpc_and_subnet(CLUSTER, REGION, config(2), compute)[0] == "skypilot-vpc"
with step("refuse a network that does not exist"):
    chosen = config(2)
    chosen.provider_config["vpc_name"] = "nothing"
    assert not has_network(chosen)
with step("create a placement policy"):
    cluster = network._configure_placement_policy(REGION, CLUSTER, cluster, compute)
    assert cluster.node_config["resourcePolicies"] == ["train-placement-policy"]
with step("find the placement policy again"):
    assert network._get_placement_policy(PROJECT, REGION, compute, "train-placement-policy")
with step("prepare all of this at once, with a service account"):
    prepared = gcp.bootstrap_instances(REGION, CLUSTER, config(2)).node_config
    assert prepared["networkInterfaces"] == cluster.node_config["networkInterfaces"]
    assert prepared["serviceAccounts"][0]["email"] == f"skypilot-v1@{PROJECT}.iam.gserviceaccount.com"
with step("run two instances"):
    record = gcp.run_instances(REGION, CLUSTER, CLUSTER, cluster)
    assert len(record.created_instance_ids) == 2
with step("wait for the instances"):
    gcp.wait_instances(REGION, CLUSTER, None)
    assert statuses() == ["UP", "UP"]
with step("run the instances again, without a change"):
    again = gcp.run_instances(REGION, CLUSTER, CLUSTER, cluster)
    assert (again.created_instance_ids, again.head_instance_id) == ([], record.head_instance_id)
with step("read the cluster"):
    found = gcp.get_cluster_info(REGION, CLUSTER, PROVIDER)
    assert found.head_instance_id == record.head_instance_id
    assert len(found.get_feasible_ips()) == 2
with step("add a label"):
    Instances.set_labels(PROJECT, ZONE, record.head_instance_id, {"stage": "test"})
with step("resize a disk"):
    node = {"disks": [{"initializeParams": {"diskSizeGb": 60}}]}
    Instances.resize_disk(PROJECT, ZONE, node, record.head_instance_id)
with step("open ports"):
    gcp.open_ports(CLUSTER, ["8080"], PROVIDER)
with step("open other ports"):
    gcp.open_ports(CLUSTER, ["8080", "9000-9010"], PROVIDER)
with step("stop the worker"):
    gcp.stop_instances(CLUSTER, PROVIDER, worker_only=True)
    assert statuses() == ["STOPPED", "UP"]
with step("stop the cluster"):
    gcp.stop_instances(CLUSTER, PROVIDER)
    assert statuses() == ["STOPPED", "STOPPED"]
with step("start the stopped instances"):
    resumed = gcp.run_instances(REGION, CLUSTER, CLUSTER, cluster)
    assert len(resumed.resumed_instance_ids) == 2
    assert statuses() == ["UP", "UP"]
with step("terminate the worker"):
    gcp.terminate_instances(CLUSTER, PROVIDER, worker_only=True)
    assert statuses() == ["UP"]
with step("terminate the cluster"):
    gcp.terminate_instances(CLUSTER, PROVIDER)
    assert statuses() == []
with step("close ports"):
    gcp.cleanup_ports(CLUSTER, [], PROVIDER)
with step("run a spot instance with a GPU"):
    spot = config(
        1,
        machineType="n1-standard-4",
        guestAccelerators=[{"acceleratorType": "nvidia-tesla-t4", "acceleratorCount": 1}],
        scheduling={"provisioningModel": "SPOT", "onHostMaintenance": "TERMINATE", "automaticRestart": False},
    )
    spot.provider_config["availability_zone"] = f"{REGION}-c"
    spot.node_config["networkInterfaces"] = cluster.node_config["networkInterfaces"]
    gcp.run_instances(REGION, "spot", "spot", spot)
    gcp.terminate_instances("spot", spot.provider_config)
