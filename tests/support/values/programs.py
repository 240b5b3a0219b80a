"""Type tokens, names and inputs that many tests use."""

from __future__ import annotations

import base64
from typing import Any, Final

TEMPLATE = "gcpx:compute:InstanceTemplate"
NOTIFICATION = "gcpx:storage:NotificationConfig"
KEY = "gcpx:oslogin:SshKey"
IMAGE = "gcpx:compute:MachineImage"
DEBIAN = "projects/debian-cloud/global/images/family/debian-12"
FULL_IMAGE_NAMES = {"family/debian-12": DEBIAN}
"""The full names of the short image names in tests, as Check resolves them."""
FLEET = "gcpx:compute:BulkInstances"
ATTACHMENT = "gcpx:compute:DiskAttachment"
PROJECT = "demo-project"
ZONE = "us-east1-b"
VM = f"projects/{PROJECT}/zones/{ZONE}/instances/example-vm"
BUCKET = "demo-uploads"
TOPICS = (
    "projects/demo-project/topics/everything",
    "projects/demo-project/topics/uploads",
    "projects/example-project/topics/uploads",
    "projects/other/topics/audit",
)
"""The topics that notifications in tests and examples use."""
USER = "operator@example.com"
BLOB = "AAAAC3NzaC1lZDI1NTE5AAAAIJ0gF6TLPrDwxF8fNKq2bwUKcGqxnzqRMxcbNKS1wR3g"
OTHER_BLOB = "AAAAC3NzaC1lZDI1NTE5AAAAIJ0gF6TLPrDwxF8fNKq2bwUKcGqxnzqRMxcbNKS1wR3h"
FINGERPRINT = "9560cf75d94808070087ecf1761c5bfa75ed5903336b48ff711e89eee5376054"
EXPIRY = "1924991999000000"
MARKER: Final = "planted-marker"
"""A secret that no message may contain."""
DISK_KEY: Final = base64.b64encode(bytes(range(32))).decode()
"""The secret key of the encrypted disk."""


def properties(**more: Any) -> dict[str, Any]:
    """Return the properties of a small template."""
    disk = {"boot": True, "initializeParams": {"sourceImage": DEBIAN}}
    return {"machineType": "e2-small", "disks": [disk], "networkInterfaces": [{"network": "default"}], **more}


def template(**more: Any) -> dict[str, Any]:
    """Return the inputs of a small template."""
    return {"properties": properties(**more)}


def notification(**more: Any) -> dict[str, Any]:
    """Return the inputs of a notification configuration."""
    return {"bucket": BUCKET, "topic": "projects/demo-project/topics/uploads", **more}


def key(**more: Any) -> dict[str, Any]:
    """Return the inputs of an SSH key."""
    return {"user": USER, "key": f"ssh-ed25519 {BLOB} laptop", **more}


def image(**more: Any) -> dict[str, Any]:
    """Return the inputs of a machine image."""
    return {"sourceInstance": "zones/us-east1-b/instances/example-vm", **more}


def attachment(**more: Any) -> dict[str, Any]:
    """Return the inputs of a disk attachment."""
    return {"instance": "zones/us-east1-b/instances/example-vm", "disk": "example-data", **more}


def one_at_a_time(policy: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return an update policy under which one member may be unavailable, unless the given settings say how many."""
    given = policy or {}
    return given if given.keys() & {"maxSurge", "maxUnavailable"} else {"maxUnavailable": 1, **given}


def fleet(count: Any = 3, **more: Any) -> dict[str, Any]:
    """Return the inputs of a fleet; arguments about its instances go into `instanceProperties`."""
    own = {
        *("namePattern", "perInstanceProperties", "minCount", "locationPolicy", "fleetId", "region"),
        *("fallbacks", "placement", "instanceFlexibilityPolicy", "onStopped", "rollingAction", "updatePolicy"),
        "maxDeleted",
    }
    given = {name: value for name, value in more.items() if name in own}
    made = properties(**{name: value for name, value in more.items() if name not in own})
    made["disks"] = [{"autoDelete": True, **disk} for disk in made["disks"]]
    return {"region": "us-east1", "count": count, "namePattern": "web-###", "instanceProperties": made, **given}
