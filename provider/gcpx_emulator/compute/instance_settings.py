"""Settings of instances and machine images that change in place: labels, metadata and network tags."""

from __future__ import annotations

from gcpx_emulator.compute.call import Call, handles
from gcpx_emulator.compute.fingerprints import fingerprint, metadata_with_fingerprint, tags_with_fingerprint
from gcpx_emulator.compute.names import check_ready
from gcpx_emulator.core.errors import stale
from gcpx_emulator.core.json_data import Json


@handles("compute.instances.setLabels")
def set_instance_labels(call: Call) -> Json:
    """Replace the labels of an instance."""
    return _set_labels(call, _instance_path(call))


@handles("compute.machineImages.setLabels")
def set_machine_image_labels(call: Call) -> Json:
    """Replace the labels of a machine image."""
    return _set_labels(call, f"{call.parent}/machineImages/{call.path['resource']}")


def _set_labels(call: Call, path: str) -> Json:
    labels, current = call.body.get("labels") or {}, call.read(path)["labelFingerprint"]
    _check_change(call, path, call.body.get("labelFingerprint"), current)
    return _update(call, path, {"labels": labels, "labelFingerprint": fingerprint(labels)})


@handles("compute.instances.setMetadata")
def set_metadata(call: Call) -> Json:
    """Replace the metadata of an instance."""
    path = _instance_path(call)
    _check_change(call, path, call.body.get("fingerprint"), call.read(path)["metadata"]["fingerprint"])
    return _update(call, path, {"metadata": metadata_with_fingerprint(call.body.get("items") or [])})


@handles("compute.instances.setTags")
def set_tags(call: Call) -> Json:
    """Replace the network tags of an instance."""
    path = _instance_path(call)
    _check_change(call, path, call.body.get("fingerprint"), call.read(path)["tags"]["fingerprint"])
    return _update(call, path, {"tags": tags_with_fingerprint(call.body.get("items") or [])})


def _instance_path(call: Call) -> str:
    return f"{call.parent}/instances/{call.path['instance']}"


def _check_change(call: Call, path: str, given: str | None, current: str) -> None:
    """Refuse a change while another is under way, or with a fingerprint that is not the current one."""
    check_ready(call, path)
    if given != current:
        raise stale("metadata")


def _update(call: Call, path: str, change: Json) -> Json:
    return call.update(call.method.id.rpartition(".")[2], path, call.read(path) | change)
