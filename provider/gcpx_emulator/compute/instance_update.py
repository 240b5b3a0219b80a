"""The update of an instance: the request has the whole instance as it was read, with a few fields changed."""

from __future__ import annotations

from typing import Any, Final

from gcpx_emulator.compute.call import Call, handles, last_part
from gcpx_emulator.compute.fingerprints import fingerprint
from gcpx_emulator.compute.instance_changes import new_machine_type
from gcpx_emulator.compute.instance_lifecycle import check_stopped, ready_instance
from gcpx_emulator.compute.lists import show
from gcpx_emulator.core.errors import ApiError, required, stale
from gcpx_emulator.core.json_data import Json

_UPDATED: Final[Json] = {
    "advancedMachineFeatures": None,
    "canIpForward": False,
    "description": None,
    "partnerMetadata": None,
}
"""The fields that an update can change, each with its default if the request leaves it out.

Partner metadata that is left out stays, because a read shows it only in the full view.

Source: Terraform's provider, which also changes `params`; Google does not show that field.
"""
_OF_STOPPED: Final = frozenset({"advancedMachineFeatures"})
"""The fields that change only while the instance is stopped, as in Terraform's provider."""
_NOT_COMPARED: Final = frozenset({"fingerprint", "machineType", "params"})


@handles("compute.instances.update")
def update_instance(call: Call) -> Json:
    """Change the fields that differ from the instance, if an update can change them."""
    path, instance = ready_instance(call)
    if call.query.get("minimalAction") in {"RESTART", "RESTART_IN_PLACE"}:
        raise ApiError(501, "updates that restart an instance are not emulated")
    if not call.body.get("fingerprint"):
        raise required("resource.fingerprint")
    if call.body["fingerprint"] != instance["fingerprint"]:
        raise stale("resource")
    shown = show(call, instance)  # with the links of this version of the API
    for name, value in call.body.items():
        if name not in _UPDATED and name not in _NOT_COMPARED and not _is_same(value, shown.get(name)):
            raise ApiError(501, f"updates of an instance's {name} are not emulated")
    kept = {"partnerMetadata"} - call.body.keys()
    wanted = {name: call.body.get(name) or default for name, default in _UPDATED.items() if name not in kept}
    changed = {name: value for name, value in wanted.items() if (value or None) != (instance.get(name) or None)}
    if changed.keys() & _OF_STOPPED:
        check_stopped(instance, min(changed.keys() & _OF_STOPPED))
    if last_part(call.body.get("machineType") or "") != last_part(instance["machineType"]):
        # Source: Google's sample that adds extended memory, whose test runs on Google.
        changed["machineType"] = new_machine_type(call, instance)
    return call.update("update", path, instance | changed | {"fingerprint": fingerprint(instance | changed)})


def _is_same(given: Any, current: Any) -> bool:
    """Return whether a value equals the current one, apart from output-only fields, which requests leave out."""
    if isinstance(given, dict) and isinstance(current, dict):
        return all(_is_same(value, current.get(name)) for name, value in given.items())
    if isinstance(given, list) and isinstance(current, list):
        return len(given) == len(current) and all(map(_is_same, given, current))
    return bool(given == current or (not given and not current))
