"""Settings of an instance's machine: most change only while the instance is stopped."""

from __future__ import annotations

from typing import Final

from gcpx_emulator.compute.call import Call, handles
from gcpx_emulator.compute.constraints.checks import check_object
from gcpx_emulator.compute.instance_lifecycle import ready_instance
from gcpx_emulator.compute.instance_states import TERMINATED
from gcpx_emulator.compute.instances import check_machine_type
from gcpx_emulator.compute.links import last_part, path_of
from gcpx_emulator.compute.names import check_ready
from gcpx_emulator.core.errors import ApiError, invalid, required
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.merge_patch import merge

_CHANGED_WHILE_RUNNING: Final = frozenset({"automaticRestart", "onHostMaintenance"})
"""The parts of scheduling that change on a running instance.

Source: the page "Set host maintenance policy of a VM"; the other parts need a stopped instance, as the description of
`setScheduling` says.
"""


@handles("compute.instances.setMachineType")
def set_machine_type(call: Call) -> Json:
    """Change the machine type of a stopped instance."""
    link = call.body.get("machineType")
    if not link:
        raise required("resource.machineType")
    check_machine_type(link)
    check_object(call.method, "Instance", {"machineType": link})
    parent, _, name = path_of(link, call.path["project"]).rpartition("/machineTypes/")
    if parent != call.parent:
        raise invalid("resource.machineType", link, f"The machine type must be in the zone '{call.path['zone']}'.")
    return _change_stopped(call, "the machine type", {"machineType": call.url(f"{parent}/machineTypes/{name}")})


@handles("compute.instances.setMinCpuPlatform")
def set_min_cpu_platform(call: Call) -> Json:
    """Change the minimum CPU platform of a stopped instance; an empty one removes it."""
    return _change_stopped(
        call, "the minimum CPU platform", {"minCpuPlatform": call.body.get("minCpuPlatform") or None}
    )


@handles("compute.instances.setServiceAccount")
def set_service_account(call: Call) -> Json:
    """Change the service account of a stopped instance and its scopes; without an e-mail address, remove it."""
    email, scopes = call.body.get("email"), call.body.get("scopes") or []
    accounts = [{"email": email, "scopes": scopes}] if email else None
    return _change_stopped(call, "the service account", {"serviceAccounts": accounts})


@handles("compute.instances.setMachineResources")
def set_machine_resources(call: Call) -> Json:
    """Change the accelerators of a stopped instance."""
    _, instance = ready_instance(call)
    accelerators = [
        item | {"acceleratorType": call.full_url(item.get("acceleratorType", ""))}
        for item in call.body.get("guestAccelerators") or []
    ]
    changed = {"guestAccelerators": accelerators or None}
    check_object(call.method, "Instance", {"scheduling": instance["scheduling"], **changed})
    return _change_stopped(call, "the accelerators", changed)


@handles("compute.instances.setScheduling")
def set_scheduling(call: Call) -> Json:
    """Change the scheduling; what the request leaves out stays, and a null removes a value (RFC 7396)."""
    path, instance = ready_instance(call)
    current = instance["scheduling"]
    scheduling = merge(current, _with_preemptible(call.body))
    check_object(call.method, "Instance", {**_accelerators(instance), "scheduling": scheduling})
    changed = {name for name in current | scheduling if current.get(name) != scheduling.get(name)}
    if changed - _CHANGED_WHILE_RUNNING:
        _check_stopped(instance, f"scheduling.{min(changed - _CHANGED_WHILE_RUNNING)}")
    return call.update("setScheduling", path, instance | {"scheduling": scheduling})


def _with_preemptible(change: Json) -> Json:
    """Let `preemptible` follow a change of the provisioning model."""
    if not change.get("provisioningModel"):
        return change
    return {"preemptible": change["provisioningModel"] == "SPOT", **change}


def _accelerators(instance: Json) -> Json:
    return {name: instance[name] for name in ("guestAccelerators",) if name in instance}


@handles("compute.instances.updateShieldedInstanceConfig")
def update_shielded_instance_config(call: Call) -> Json:
    """Change options of Shielded VM on a stopped instance."""
    return _merge_stopped(call, "shieldedInstanceConfig")


@handles("compute.instances.updateDisplayDevice")
def update_display_device(call: Call) -> Json:
    """Enable or disable the display of a stopped instance."""
    return _merge_stopped(call, "displayDevice")


def _merge_stopped(call: Call, field: str) -> Json:
    """Merge the request into a field of a stopped instance."""
    _, instance = ready_instance(call)
    return _change_stopped(call, field, {field: merge(instance.get(field), call.body)})


@handles("compute.instances.setDeletionProtection")
def set_deletion_protection(call: Call) -> Json:
    """Protect an instance from deletion, or end the protection."""
    path = f"{call.parent}/instances/{call.path['resource']}"
    instance = call.read(path)
    check_ready(call, path)
    is_protected = call.query.get("deletionProtection", "true") == "true"
    return call.update("setDeletionProtection", path, instance | {"deletionProtection": is_protected})


@handles("compute.instances.addResourcePolicies")
def add_resource_policies(call: Call) -> Json:
    """Attach a resource policy to an instance."""
    path, instance = ready_instance(call)
    links = call.body.get("resourcePolicies") or []
    if len(links) != 1:
        raise invalid("resource.resourcePolicies", len(links), "Exactly one resource policy can be added at a time.")
    current = instance.get("resourcePolicies", [])
    if last_part(links[0]) in map(last_part, current):
        raise invalid("resource.resourcePolicies[0]", links[0], "The instance already has this resource policy.")
    return call.update(
        "addResourcePolicies", path, instance | {"resourcePolicies": [*current, call.full_url(links[0])]}
    )


@handles("compute.instances.removeResourcePolicies")
def remove_resource_policies(call: Call) -> Json:
    """Detach resource policies from an instance."""
    path, instance = ready_instance(call)
    current, removed = instance.get("resourcePolicies", []), call.body.get("resourcePolicies") or []
    for index, link in enumerate(removed):
        if last_part(link) not in map(last_part, current):
            raise invalid(f"resource.resourcePolicies[{index}]", link, "The instance has no such resource policy.")
    kept = [link for link in current if last_part(link) not in set(map(last_part, removed))]
    return call.update("removeResourcePolicies", path, instance | {"resourcePolicies": kept})


def _change_stopped(call: Call, what: str, fields: Json) -> Json:
    """Set fields of a stopped instance; None removes a field. `what` names them in a refusal."""
    path, instance = ready_instance(call)
    _check_stopped(instance, what)
    return call.update(call.method.id.rpartition(".")[2], path, instance | fields)


def _check_stopped(instance: Json, what: str) -> None:
    if instance["status"] != TERMINATED:
        message = f"The instance '{instance['name']}' must be stopped before {what} can be changed."
        raise ApiError(400, message, "invalidResourceUsage")
