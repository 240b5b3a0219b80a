"""What programs around gcpx do with Google's own clients: networks, addresses, snapshots, and instances that use them."""

from __future__ import annotations

import pytest
from google.api_core import exceptions
from google.cloud import compute_v1
from servers.google_clients import connect, insert_instance
from values.programs import PROJECT, ZONE

SCOPE = {"project": PROJECT}
REGION = {**SCOPE, "region": "us-east1"}
SUBNETWORK = "regions/us-east1/subnetworks/workers"


@pytest.fixture
def network(cloud):
    """The client of networks; a network in custom mode exists, with a subnetwork."""
    networks = connect(compute_v1.NetworksClient, cloud)
    network = compute_v1.Network(name="inside", auto_create_subnetworks=False)
    networks.insert(**SCOPE, network_resource=network).result()
    subnetwork = compute_v1.Subnetwork(name="workers", network="global/networks/inside", ip_cidr_range="10.9.0.0/24")
    connect(compute_v1.SubnetworksClient, cloud).insert(**REGION, subnetwork_resource=subnetwork).result()
    return networks


def _nic(**more):
    return compute_v1.NetworkInterface(subnetwork=SUBNETWORK, **more)


def test_an_instance_gets_a_reserved_address_of_a_new_subnetwork(cloud, network):
    addresses = connect(compute_v1.AddressesClient, cloud)
    address = compute_v1.Address(name="front", address_type="INTERNAL", subnetwork=SUBNETWORK)
    addresses.insert(**REGION, address_resource=address).result()
    reserved = addresses.get(**REGION, address="front")
    instances = insert_instance(cloud, network_interfaces=[_nic(network_i_p=reserved.address)])
    nic = instances.get(**SCOPE, zone=ZONE, instance="vm").network_interfaces[0]
    used = addresses.get(**REGION, address="front")

    assert (nic.network_i_p, nic.stack_type) == ("10.9.0.2", "IPV4_ONLY")
    assert nic.network.endswith(f"/projects/{PROJECT}/global/networks/inside")
    assert (used.status, [user.rpartition("/")[2] for user in used.users]) == ("IN_USE", ["vm"])
    listed = {scope: group.addresses for scope, group in addresses.aggregated_list(**SCOPE) if group.addresses}
    assert {scope: [item.name for item in found] for scope, found in listed.items()} == {"regions/us-east1": ["front"]}


def test_a_network_is_changed_and_deleted_with_all_that_is_in_it(cloud, network):
    firewalls = connect(compute_v1.FirewallsClient, cloud)
    rule = compute_v1.Firewall(
        name="ssh", network="global/networks/inside", allowed=[compute_v1.Allowed(I_p_protocol="tcp", ports=["22"])]
    )
    firewalls.insert(**SCOPE, firewall_resource=rule).result()
    firewalls.patch(**SCOPE, firewall="ssh", firewall_resource=compute_v1.Firewall(disabled=True)).result()
    found = firewalls.get(**SCOPE, firewall="ssh")
    routing = compute_v1.Network(routing_config=compute_v1.NetworkRoutingConfig(routing_mode="GLOBAL"))
    network.patch(**SCOPE, network="inside", network_resource=routing).result()
    changed = network.get(**SCOPE, network="inside")

    assert (found.disabled, found.allowed[0].ports) == (True, ["22"])
    assert (changed.routing_config.routing_mode, len(changed.subnetworks)) == ("GLOBAL", 1)
    with pytest.raises(exceptions.GoogleAPICallError, match="is already being used by"):
        network.delete(**SCOPE, network="inside").result()
    firewalls.delete(**SCOPE, firewall="ssh").result()
    connect(compute_v1.SubnetworksClient, cloud).delete(**REGION, subnetwork="workers").result()
    network.delete(**SCOPE, network="inside").result()
    assert [item.name for item in network.list(**SCOPE)] == ["default"]


def test_an_instance_boots_from_a_snapshot(cloud):
    insert_instance(cloud, name="source")
    snapshots = connect(compute_v1.SnapshotsClient, cloud)
    snapshot = compute_v1.Snapshot(name="nightly", source_disk=f"zones/{ZONE}/disks/source")
    snapshots.insert(**SCOPE, snapshot_resource=snapshot).result()
    found = snapshots.get(**SCOPE, snapshot="nightly")
    instances = connect(compute_v1.InstancesClient, cloud)
    parameters = compute_v1.AttachedDiskInitializeParams(source_snapshot="global/snapshots/nightly")
    disk = compute_v1.AttachedDisk(boot=True, initialize_params=parameters)
    machine_type = f"zones/{ZONE}/machineTypes/e2-medium"
    vm = compute_v1.Instance(name="vm", machine_type=machine_type, disks=[disk])
    instances.insert(**SCOPE, zone=ZONE, instance_resource=vm).result()
    made = connect(compute_v1.DisksClient, cloud).get(**SCOPE, zone=ZONE, disk="vm")

    assert (found.status, found.disk_size_gb, found.architecture) == ("READY", 10, "X86_64")
    assert (made.source_snapshot, made.source_snapshot_id) == (found.self_link, str(found.id))
    snapshots.delete(**SCOPE, snapshot="nightly").result()
    with pytest.raises(exceptions.NotFound):
        snapshots.get(**SCOPE, snapshot="nightly")


def test_a_range_for_the_networks_of_services_is_reserved(cloud, network):
    addresses = connect(compute_v1.GlobalAddressesClient, cloud)
    peers = compute_v1.Address(
        name="peers", address_type="INTERNAL", purpose="VPC_PEERING", prefix_length=16, network="global/networks/inside"
    )
    addresses.insert(**SCOPE, address_resource=peers).result()
    found = addresses.get(**SCOPE, address="peers")

    assert (found.address, found.prefix_length, found.status) == ("10.0.0.0", 16, "RESERVED")
    addresses.delete(**SCOPE, address="peers").result()
    assert list(addresses.list(**SCOPE)) == []


@pytest.mark.parametrize(
    ("nic", "message"),
    [
        (
            compute_v1.NetworkInterface(network="global/networks/none"),
            "The referenced network resource cannot be found.",
        ),
        (_nic(), "The referenced subnetwork resource cannot be found."),
    ],
)
def test_an_instance_in_a_network_that_does_not_exist_is_refused(cloud, nic, message):
    with pytest.raises(exceptions.BadRequest, match=message):
        insert_instance(cloud, network_interfaces=[nic])
