"""Labels: how they are changed on every resource that has them."""

from __future__ import annotations

from gcpx_emulator.compute.call import Call, check_ready, collection_of, handles
from gcpx_emulator.compute.fingerprints import with_label_fingerprint
from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.json_data import Json


@handles(
    "compute.addresses.setLabels",
    "compute.disks.setLabels",
    "compute.globalAddresses.setLabels",
    "compute.images.setLabels",
    "compute.instances.setLabels",
    "compute.machineImages.setLabels",
    "compute.regionDisks.setLabels",
    "compute.snapshots.setLabels",
)
def set_labels(call: Call) -> Json:
    """Replace the labels of a resource."""
    name = call.path.get("resource") or call.path["instance"]
    path = f"{call.parent}/{collection_of(call.method.id)}/{name}"
    current = call.read(path)
    check_ready(call, path)
    if call.body.get("labelFingerprint") != current["labelFingerprint"]:
        why = "Labels fingerprint either invalid or resource labels have changed"
        raise ApiError(412, why, "conditionNotMet")
    return call.update("setLabels", path, with_label_fingerprint(current | {"labels": call.body.get("labels") or {}}))
