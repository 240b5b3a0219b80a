"""What Google and other people do to the resources of a stack: stop, edit and delete them without Pulumi."""

from __future__ import annotations

from typing import Final

from engines.inventory import Inventory
from servers.emulated import Emulated
from values.programs import VM

from gcpx_emulator.compute.instance_lifecycle import effects_on_disks
from gcpx_emulator.compute.interruptions import preempt, terminate_from_within
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.operations import apply

STOPS: Final = {"preempt": preempt, "shut down": terminate_from_within}
_LATER: Final = "1950000000000000"


def place_of(key: str, number: str) -> str:
    """Return the identity of something by its path and, for an attached disk, the link to it."""
    vm, _, device = key.partition("/attachedDisks/")
    return f"{vm} {number[number.index('projects/') :]}" if device else key


def delete(cloud: Emulated, identity: str) -> None:
    """Delete a resource; of a fleet, one member."""
    store = cloud.emulator.store
    member = next(iter(Inventory.of(cloud).fleet(identity)), None) if "/bulkInstances/" in identity else None
    if "/instances/" in identity and identity in Inventory.of(cloud).items:
        member = identity
    if member is not None:
        for effect in effects_on_disks(store, member, cloud.get(member) or {}):
            apply(effect, store)
        cloud.delete(member)
    elif identity.startswith(f"{VM} "):
        cloud.detach(VM, identity.removeprefix(f"{VM} "))
    else:
        cloud.delete(identity)


def stop(cloud: Emulated, identity: str, how: str) -> None:
    """Stop a running member of a fleet."""
    members = Inventory.of(cloud).fleet(identity) if "/bulkInstances/" in identity else {}
    path = next((path for path, item in members.items() if item["status"] == "RUNNING"), None)
    if path is not None:
        is_spot = members[path].get("scheduling", {}).get("preemptible")
        how = how if is_spot else "shut down"  # a stranger with the label of the fleet may be no Spot instance
        STOPS[how](cloud.emulator.cloud, {"instances": [path]})


def edit(cloud: Emulated, identity: str) -> None:
    """Change a property of a resource that can be changed in place."""
    if identity.startswith(f"{VM} "):
        disk = identity.removeprefix(f"{VM} ")
        cloud.change(VM, lambda body: _toggle_auto_delete(body, disk))
    elif "/bulkInstances/" in identity:
        path = next(iter(Inventory.of(cloud).fleet(identity)))
        cloud.change(path, lambda body: body["labels"].update(tier="edited"))
    elif "/machineImages/" in identity:
        cloud.change(identity, lambda body: body.update(labels={"tier": "edited"}))
    elif "/sshPublicKeys/" in identity:
        cloud.change(identity, lambda body: body.update(expirationTimeUsec=_LATER))


def _toggle_auto_delete(body: Json, disk: str) -> None:
    for one in body["disks"]:
        if one["source"].endswith(disk):
            one["autoDelete"] = not one.get("autoDelete")
