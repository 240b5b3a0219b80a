"""Nodes, volumes and networks with apache-libcloud, and objects by its driver for Cloud Storage."""

import os
import tempfile
from pathlib import Path

from libcloud.compute.providers import get_driver
from libcloud.compute.types import Provider
from libcloud.storage.providers import get_driver as get_storage_driver
from libcloud.storage.types import Provider as StorageProvider
from steps import PROJECT, ZONE, step

KEY = os.environ["GOOGLE_APPLICATION_CREDENTIALS"]
ACCOUNT = f"emulator@{PROJECT}.iam.gserviceaccount.com"
tokens = str(Path(tempfile.mkdtemp()) / "tokens")

with step("connect"):
    driver = get_driver(Provider.GCE)(ACCOUNT, KEY, project=PROJECT, datacenter=ZONE, credential_file=tokens)
with step("list sizes, images and locations"):
    assert driver.list_sizes()
    assert driver.list_images()
    assert driver.list_locations()
with step("create a network, a subnetwork, a firewall rule and an address"):
    network = driver.ex_create_network("inside", None, mode="custom")
    driver.ex_create_subnetwork("workers", "10.9.0.0/24", network, "us-east1")
    driver.ex_create_firewall("ssh", [{"IPProtocol": "tcp", "ports": ["22"]}], network="inside")
    driver.ex_create_address("kept", region="us-east1")
with step("create a node and list nodes"):
    image = driver.ex_get_image_from_family("debian-12", ex_project_list=["debian-cloud"])
    node = driver.create_node("web", "e2-small", image, ex_disk_auto_delete=True)
    assert [found.name for found in driver.list_nodes()] == ["web"]
with step("create several nodes"):
    driver.ex_create_multiple_nodes("many", "e2-small", image, 2)
with step("create, attach and detach a volume"):
    volume = driver.create_volume(10, "data")
    driver.attach_volume(node, volume, device="data")
    driver.detach_volume(volume, node)
with step("take a snapshot and make an image"):
    snapshot = driver.create_volume_snapshot(volume, "data-1")
    driver.ex_create_image("data-image", volume)
    driver.destroy_volume_snapshot(snapshot)
with step("stop, start and reboot a node"):
    driver.ex_stop_node(node)
    driver.ex_start_node(node)
    driver.reboot_node(node)
with step("set tags, labels and metadata"):
    node = driver.ex_get_node("web")
    driver.ex_set_node_tags(node, ["http"])
    driver.ex_set_node_labels(driver.ex_get_node("web"), {"a": "b"})
    driver.ex_set_node_metadata(driver.ex_get_node("web"), {"purpose": "test"})
with step("create an instance template"):
    driver.ex_create_instancetemplate("web", "e2-small", image=image, network="default")
with step("create a managed instance group"):
    driver.ex_create_instancegroupmanager("group", ZONE, driver.ex_get_instancetemplate("web"), 1)
with step("destroy nodes, in a batch and alone"):
    driver.ex_destroy_multiple_nodes([driver.ex_get_node(name) for name in ("many-000", "many-001")])
    driver.destroy_node(driver.ex_get_node("web"))
with step("create a container by the XML API"):
    get_storage_driver(StorageProvider.GOOGLE_STORAGE)("GOOG1", "secret").create_container("uploads")
