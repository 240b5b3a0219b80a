"""Compute: what of an instance or a machine image is changed under a fingerprint."""

from __future__ import annotations

from typing import Any

from gcpx_emulator.compute.instance_properties import fingerprint
from gcpx_emulator.compute.names import check_ready
from gcpx_emulator.core.errors import stale
from gcpx_emulator.core.handlers import Call, handles
from gcpx_emulator.core.store import Json


def _changed(call: Call, path: str, given: str | None, known: str, change: dict[str, Any]) -> Json:
    check_ready(call, path)
    if given != known:
        raise stale("metadata")
    body = call.found(path)
    verb = call.method.rpartition(".")[2]
    return call.operation(verb, path, body["id"], [{"put": path, "body": body | change}])


@handles("compute.instances.setLabels", "compute.machineImages.setLabels")
def set_labels(call: Call) -> Json:
    """Replace the labels."""
    image = call.method.startswith("compute.machineImages")
    path = f"{call.parent}/machineImages/{call.path['resource']}" if image else _instance(call)
    labels = call.body.get("labels") or {}
    change = {"labels": labels, "labelFingerprint": fingerprint(labels)}
    return _changed(call, path, call.body.get("labelFingerprint"), call.found(path)["labelFingerprint"], change)


@handles("compute.instances.setMetadata")
def set_metadata(call: Call) -> Json:
    """Replace the metadata."""
    path, items = _instance(call), call.body.get("items") or []
    content = {"items": items} if items else {}
    change = {"metadata": {"kind": "compute#metadata", "fingerprint": fingerprint(content), **content}}
    return _changed(call, path, call.body.get("fingerprint"), call.found(path)["metadata"]["fingerprint"], change)


@handles("compute.instances.setTags")
def set_tags(call: Call) -> Json:
    """Replace the network tags."""
    path, items = _instance(call), sorted(call.body.get("items") or [])
    content = {"items": items}
    change = {"tags": (content if items else {}) | {"fingerprint": fingerprint(content)}}
    return _changed(call, path, call.body.get("fingerprint"), call.found(path)["tags"]["fingerprint"], change)


def _instance(call: Call) -> str:
    return f"{call.parent}/instances/{call.path['instance']}"
