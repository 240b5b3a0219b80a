"""Google's own clients, connected to an emulator by REST, and what tests create with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import google.auth.transport.requests
import requests
from google.auth.credentials import Credentials
from google.cloud import compute_v1, storage
from servers import lean_compute  # noqa: F401 - before the import of compute_v1
from servers.emulated import Emulated
from values.programs import DEBIAN, PROJECT, ZONE

from gcpx_emulator.testing.google_clients import connect as connected

PUSHER = "pusher@demo-project.iam.gserviceaccount.com"
"""The service account that signs pushes."""


def connect(kind: Any, cloud: Emulated, credentials: Credentials | None = None) -> Any:
    """Return a client of this class."""
    return connected(kind, cloud.host, PROJECT, credentials)


def storage_client(cloud: Emulated) -> storage.Client:
    """Return a client of Cloud Storage."""
    return connected(storage.Client, cloud.host, PROJECT)


def relocated(cloud: Emulated) -> Callable[..., Any]:
    """Return a transport of google-auth that calls the emulator in place of Google."""
    session = requests.Session()
    session.trust_env = False
    send = google.auth.transport.requests.Request(session)
    return lambda url, **more: send(url.replace("https://www.googleapis.com", f"http://{cloud.host}"), **more)


def instance_properties(**more: Any) -> compute_v1.InstanceProperties:
    """Return small instance properties."""
    parameters = compute_v1.AttachedDiskInitializeParams(source_image=DEBIAN, disk_size_gb=20)
    disk = compute_v1.AttachedDisk(boot=True, initialize_params=parameters)
    nic = compute_v1.NetworkInterface(network="global/networks/default", access_configs=[compute_v1.AccessConfig()])
    return compute_v1.InstanceProperties(machine_type="e2-small", disks=[disk], network_interfaces=[nic], **more)


def insert_template(templates: Any, name: str, **more: Any) -> Any:
    """Create a template with small properties; return the operation."""
    template = compute_v1.InstanceTemplate(name=name, properties=instance_properties(**more))
    return templates.insert(project=PROJECT, instance_template_resource=template)


def insert_instance(cloud: Emulated, name: str = "vm", machine: str = "e2-medium", **more: Any) -> Any:
    """Create an instance, and wait for it; return the client of instances."""
    instances = connect(compute_v1.InstancesClient, cloud)
    parameters = compute_v1.AttachedDiskInitializeParams(source_image=DEBIAN)
    disk = compute_v1.AttachedDisk(boot=True, auto_delete=True, initialize_params=parameters)
    machine_type = f"zones/{ZONE}/machineTypes/{machine}"
    vm = compute_v1.Instance(name=name, machine_type=machine_type, disks=[disk], **more)
    instances.insert(project=PROJECT, zone=ZONE, instance_resource=vm).result()
    return instances
