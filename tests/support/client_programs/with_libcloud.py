"""Nodes, volumes, images and networks with apache-libcloud, and objects by its driver for Cloud Storage."""

import os
import tempfile
from pathlib import Path

from libcloud.common.google import ResourceNotFoundError
from libcloud.compute.providers import get_driver
from libcloud.compute.types import NodeState, Provider
from libcloud.storage.providers import get_driver as get_storage_driver
from libcloud.storage.types import Provider as StorageProvider
from steps import PROJECT, REGION, ZONE, step

KEY = os.environ["GOOGLE_APPLICATION_CREDENTIALS"]
ACCOUNT = f"emulator@{PROJECT}.iam.gserviceaccount.com"
tokens = str(Path(tempfile.mkdtemp()) / "tokens")


def names(found):
    """Return the names of resources, sorted."""
    return sorted(one.name for one in found)


def is_missing(read, *arguments):
    """Return whether a driver says that a resource does not exist."""
    try:
        read(*arguments)
    except ResourceNotFoundError:
        return True
    return False


with step("connect"):
    driver = get_driver(Provider.GCE)(ACCOUNT, KEY, project=PROJECT, datacenter=ZONE, credential_file=tokens)

# What every project has.
with step("read the project"):
    assert driver.ex_get_project().name == PROJECT
with step("list zones"):
    assert ZONE in names(driver.ex_list_zones())
with step("read a zone"):
    assert driver.ex_get_zone(ZONE).status == "UP"
with step("list regions"):
    assert REGION in names(driver.ex_list_regions())
with step("read a region"):
    assert ZONE in names(driver.ex_get_region(REGION).zones)
with step("list locations"):
    assert ZONE in names(driver.list_locations())
with step("list sizes"):
    assert "e2-small" in names(driver.list_sizes())
with step("list sizes of all zones"):
    assert driver.list_sizes("all")
with step("read a size"):
    assert driver.ex_get_size("e2-small").ram == 2048
with step("list images of the project and of a public project"):
    driver.list_images()
    assert any(name.startswith("debian-12") for name in names(driver.list_images(ex_project="debian-cloud")))
with step("list images that are deprecated, too"):
    assert driver.list_images(ex_project="debian-cloud", ex_include_deprecated=True)
with step("read an image by a part of its name"):
    assert driver.ex_get_image("debian-12").name.startswith("debian-12-bookworm-")
with step("read an image from a family"):
    image = driver.ex_get_image_from_family("debian-12", ex_project_list=["debian-cloud"])
with step("read a license"):
    assert driver.ex_get_license("debian-cloud", "debian-12-bookworm").name == "debian-12-bookworm"
with step("list disk types"):
    assert {"pd-ssd", "pd-standard"} <= set(names(driver.ex_list_disktypes()))
with step("list disk types of all zones"):
    assert "pd-ssd" in names(driver.ex_list_disktypes("all"))
with step("read a disk type"):
    assert driver.ex_get_disktype("pd-ssd").name == "pd-ssd"
with step("read an accelerator type"):
    assert driver.ex_get_accelerator_type("nvidia-tesla-t4", ZONE.replace("-b", "-c")).name == "nvidia-tesla-t4"

# Networks.
with step("create a network"):
    network = driver.ex_create_network("inside", None, mode="custom")
    assert network.mode == "custom"
with step("create a network in auto mode"):
    assert driver.ex_create_network("automatic", None, mode="auto").mode == "auto"
with step("list networks"):
    assert {"automatic", "default", "inside"} == set(names(driver.ex_list_networks()))
with step("create a subnetwork"):
    subnetwork = driver.ex_create_subnetwork("workers", "10.9.0.0/24", network, REGION)
with step("list subnetworks"):
    assert "workers" in names(driver.ex_list_subnetworks())
with step("list subnetworks of all regions"):
    assert "workers" in names(driver.ex_list_subnetworks("all"))
with step("create a firewall rule"):
    firewall = driver.ex_create_firewall("ssh", [{"IPProtocol": "tcp", "ports": ["22"]}], network="inside")
with step("create a firewall rule that denies egress"):
    driver.ex_create_firewall(
        "closed", denied=[{"IPProtocol": "all"}], direction="EGRESS", target_ranges=["0.0.0.0/0"], network="inside"
    )
with step("change a firewall rule"):
    firewall.source_ranges = ["10.0.0.0/8"]
    assert firewall.update().source_ranges == ["10.0.0.0/8"]
with step("list firewall rules"):
    assert {"closed", "ssh"} <= set(names(driver.ex_list_firewalls()))
with step("reserve an address"):
    address = driver.ex_create_address("kept", region=REGION)
with step("reserve an internal address"):
    assert driver.ex_create_address("inner", REGION, address_type="INTERNAL").address.startswith("10.")
with step("reserve a global address"):
    driver.ex_create_address("everywhere", region="global")
with step("list addresses of all regions"):
    assert {"everywhere", "inner", "kept"} == set(names(driver.ex_list_addresses("all")))
with step("create a route"):
    driver.ex_create_route("out", "10.77.0.0/16", network="inside")
with step("list routes"):
    assert driver.ex_list_routes()

# Nodes.
with step("create a node"):
    node = driver.create_node("web", "e2-small", image, ex_tags=["http"], ex_metadata={"purpose": "test"})
    assert node.state == NodeState.RUNNING
with step("create a node with an address, labels and a subnetwork"):
    other = driver.create_node(
        "other",
        "e2-medium",
        image,
        ex_network=network,
        ex_subnetwork=subnetwork,
        external_ip=address,
        internal_ip="10.9.0.9",
        ex_labels={"a": "b"},
        ex_service_accounts=[{"email": "default", "scopes": ["compute-ro"]}],
        ex_preemptible=True,
        ex_disk_type="pd-ssd",
        ex_disk_auto_delete=False,
    )
    assert (other.public_ips, other.private_ips) == ([address.address], ["10.9.0.9"])
with step("list nodes"):
    assert names(driver.list_nodes()) == ["other", "web"]
with step("list nodes of all zones"):
    assert names(driver.list_nodes("all")) == ["other", "web"]
with step("read a node"):
    assert driver.ex_get_node("web").extra["status"] == "RUNNING"
with step("read a node that does not exist"):
    assert is_missing(driver.ex_get_node, "nothing")
with step("create several nodes"):
    many = driver.ex_create_multiple_nodes("many", "e2-small", image, 3)
    assert names(many) == ["many-000", "many-001", "many-002"]
with step("set tags"):
    driver.ex_set_node_tags(node, ["http", "https"])
    assert sorted(driver.ex_get_node("web").extra["tags"]) == ["http", "https"]
with step("set labels"):
    driver.ex_set_node_labels(driver.ex_get_node("web"), {"a": "b"})
    assert driver.ex_get_node("web").extra["labels"] == {"a": "b"}
with step("set metadata"):
    driver.ex_set_node_metadata(driver.ex_get_node("web"), {"purpose": "other"})
    assert driver.ex_get_node("web").extra["metadata"]["items"] == [{"key": "purpose", "value": "other"}]
with step("set metadata of all nodes of the project"):
    driver.ex_set_common_instance_metadata({"purpose": "test"})
    driver.ex_set_common_instance_metadata({"purpose": "test", "more": "x"})
    items = driver.ex_get_project().extra["commonInstanceMetadata"]["items"]
    assert sorted(item["key"] for item in items) == ["more", "purpose"]
with step("set the scheduling"):
    assert driver.ex_set_node_scheduling(node, on_host_maintenance="TERMINATE", automatic_restart=False)
with step("remove the access config and add one"):
    driver.ex_delete_access_config(node, "External NAT", "nic0")
    driver.ex_add_access_config(node, "External NAT", "nic0")
    assert driver.ex_get_node("web").public_ips
with step("reboot a node"):
    assert driver.reboot_node(node)
with step("read the serial port"):
    assert isinstance(driver.ex_get_serial_output(node), str)
with step("stop a node"):
    driver.stop_node(node)
    assert driver.ex_get_node("web").state == NodeState.STOPPED
with step("change the size of a stopped node"):
    driver.ex_set_machine_type(node, "e2-medium")
    assert driver.ex_get_node("web").size == "e2-medium"
with step("start a node"):
    driver.start_node(node)
    assert driver.ex_get_node("web").state == NodeState.RUNNING

# Volumes, snapshots and images.
with step("create a volume"):
    volume = driver.create_volume(10, "data")
    assert volume.size == "10"
with step("create a volume of another type from an image"):
    driver.create_volume(20, "root", image=image, ex_disk_type="pd-ssd")
with step("list volumes"):
    assert {"data", "root", "web"} <= set(names(driver.list_volumes()))
with step("list volumes of all zones"):
    assert {"data", "root", "web"} <= set(names(driver.list_volumes("all")))
with step("read a volume"):
    assert driver.ex_get_volume("data").name == "data"
with step("attach a volume"):
    assert driver.attach_volume(node, volume, device="data", ex_mode="READ_WRITE")
with step("let a volume be deleted with its node, or not"):
    assert driver.ex_set_volume_auto_delete(volume, node, auto_delete=False)
with step("resize a volume"):
    assert driver.ex_resize_volume(volume, 30)
    assert driver.ex_get_volume("data").size == "30"
with step("label a volume"):
    driver.ex_set_volume_labels(driver.ex_get_volume("data"), {"a": "b"})
with step("detach a volume"):
    assert driver.detach_volume(volume, node)
with step("take a snapshot"):
    snapshot = driver.create_volume_snapshot(volume, "data-1")
    assert snapshot.size == "30"
with step("list snapshots"):
    assert names(driver.ex_list_snapshots()) == ["data-1"]
with step("list snapshots of a volume"):
    assert names(driver.list_volume_snapshots(volume)) == ["data-1"]
with step("create a volume from a snapshot"):
    restored = driver.create_volume(None, "restored", snapshot=snapshot)
    assert restored.size == "30"
with step("make an image"):
    own = driver.ex_create_image("data-image", volume, family="data", ex_labels={"a": "b"})
with step("read the newest image of a family of the project"):
    assert driver.ex_get_image_from_family("data").name == "data-image"
with step("label an image"):
    driver.ex_set_image_labels(driver.ex_get_image("data-image"), {"c": "d"})
with step("copy an image from a bucket"):
    driver.ex_copy_image("copied", "gs://images/disk.tar.gz")
with step("deprecate an image"):
    assert driver.ex_deprecate_image(own, "copied", state="DEPRECATED")
with step("delete images"):
    assert driver.ex_delete_image(driver.ex_get_image("data-image"))
    assert is_missing(driver.ex_get_image, "data-image")
with step("destroy a snapshot"):
    assert driver.destroy_volume_snapshot(snapshot)
with step("destroy a volume"):
    assert driver.destroy_volume(restored)
    assert is_missing(driver.ex_get_volume, "restored")

# Groups and load balancing.
with step("create an instance template"):
    driver.ex_create_instancetemplate("web", "e2-small", image=image, network="default")
with step("list instance templates"):
    assert names(driver.ex_list_instancetemplates()) == ["web"]
with step("create a managed instance group"):
    driver.ex_create_instancegroupmanager("group", ZONE, driver.ex_get_instancetemplate("web"), 1)
with step("create an instance group"):
    driver.ex_create_instancegroup("servers", driver.ex_get_zone(ZONE))
with step("create a health check"):
    driver.ex_create_healthcheck("alive")
with step("create a target pool"):
    driver.ex_create_targetpool("pool", nodes=[node])

# Removal.
with step("destroy a node"):
    assert driver.destroy_node(driver.ex_get_node("web"))
    assert is_missing(driver.ex_get_node, "web")
with step("destroy several nodes"):
    assert driver.ex_destroy_multiple_nodes(many) == [True, True, True]
with step("destroy a node and its disk"):
    assert driver.destroy_node(driver.ex_get_node("other"), destroy_boot_disk=True)
    assert is_missing(driver.ex_get_volume, "other")
with step("destroy a managed instance group"):
    assert driver.ex_destroy_instancegroupmanager(driver.ex_get_instancegroupmanager("group", ZONE))
with step("destroy an instance group"):
    assert driver.ex_destroy_instancegroup(driver.ex_get_instancegroup("servers", ZONE))
with step("destroy an instance template"):
    assert driver.ex_destroy_instancetemplate(driver.ex_get_instancetemplate("web"))
with step("release addresses"):
    for found in driver.ex_list_addresses("all"):
        assert driver.ex_destroy_address(found)
with step("destroy a firewall rule"):
    assert driver.ex_destroy_firewall(firewall)
with step("destroy a subnetwork"):
    assert driver.ex_destroy_subnetwork(subnetwork)
with step("destroy a network"):
    assert driver.ex_destroy_network(driver.ex_get_network("automatic"))
with step("create a container by the XML API"):
    get_storage_driver(StorageProvider.GOOGLE_STORAGE)("GOOG1", "secret").create_container("uploads")
