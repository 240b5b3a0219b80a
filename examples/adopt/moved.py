"""Write the file that `pulumi import --file` reads, from the state of Terraform or of pulumi-gcp.

    terraform show -json | python moved.py > moved.json
    pulumi stack export | python moved.py > moved.json

It takes the resources that gcpx has, also those in modules, and leaves the others alone. Nothing is changed. It also
leaves out what the program only reads, and what is already to be deleted: an import would let Pulumi manage it.
"""

import json
import sys
from collections.abc import Iterator
from typing import Any

from adopt import named

TYPES = {
    "google_compute_instance_template": "gcpx:compute:InstanceTemplate",
    "google_compute_region_instance_template": "gcpx:compute:InstanceTemplate",
    "google_compute_machine_image": "gcpx:compute:MachineImage",
    "google_compute_attached_disk": "gcpx:compute:DiskAttachment",
    "google_storage_notification": "gcpx:storage:NotificationConfig",
    "google_os_login_ssh_public_key": "gcpx:oslogin:SshKey",
    "gcp:compute/instanceTemplate:InstanceTemplate": "gcpx:compute:InstanceTemplate",
    "gcp:compute/regionInstanceTemplate:RegionInstanceTemplate": "gcpx:compute:InstanceTemplate",
    "gcp:compute/machineImage:MachineImage": "gcpx:compute:MachineImage",
    "gcp:compute/attachedDisk:AttachedDisk": "gcpx:compute:DiskAttachment",
    "gcp:storage/notification:Notification": "gcpx:storage:NotificationConfig",
    "gcp:oslogin/sshPublicKey:SshPublicKey": "gcpx:oslogin:SshKey",
}


def in_terraform(module: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield the type, the name and the values of each managed resource of a module, and of the modules in it."""
    for found in module.get("resources", ()):
        if found["mode"] == "managed" and "deposed_key" not in found:  # a deposed one is to be deleted
            index = f"-{found['index']}" if "index" in found else ""
            yield found["type"], f"{found['name']}{index}", found["values"]
    for child in module.get("child_modules", ()):
        yield from in_terraform(child)


def in_pulumi(deployment: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield the type, the name and the outputs of each resource that a stack manages."""
    for found in deployment.get("resources") or ():
        left_out = found.get("external") or found.get("delete") or found.get("pendingReplacement")
        if found.get("custom") and not left_out:
            yield found["type"], found["urn"].rpartition("::")[2], {**found.get("outputs", {}), "id": found.get("id")}


def import_id(token: str, values: dict[str, Any]) -> str:
    """Return the ID to import a resource by: an attachment's has its device name, others are the same as before."""
    if token != "gcpx:compute:DiskAttachment":
        return str(values["id"])
    instance = values["id"].rpartition("/")[0]
    return f"{instance}/{values.get('device_name') or values['deviceName']}"


def moved(state: dict[str, Any]) -> list[dict[str, str]]:
    """Return the resources that gcpx has, in the form that `pulumi import --file` reads."""
    if "deployment" in state:
        found = in_pulumi(state["deployment"] or {})
    elif "values" in state:
        found = in_terraform(state["values"].get("root_module", {}))
    else:
        sys.exit("There are no resources. moved.py reads what `terraform show -json` or `pulumi stack export` prints.")
    return named(
        [
            {"type": TYPES[kind], "name": name, "id": import_id(TYPES[kind], values)}
            for kind, name, values in found
            if kind in TYPES and values.get("id")
        ]
    )


def main() -> None:
    """Read a state from standard input, and write the file; exits with a message if it contains nothing for gcpx."""
    try:
        resources = moved(json.load(sys.stdin))
    except json.JSONDecodeError:
        sys.exit("This is not JSON. moved.py reads what `terraform show -json` or `pulumi stack export` prints.")
    if not resources:
        sys.exit("There is nothing to import: the state has none of the resources that gcpx has.")
    json.dump({"resources": resources}, sys.stdout, indent=2)


if __name__ == "__main__":
    main()
