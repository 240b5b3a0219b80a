from __future__ import annotations

from emulated import Emulated
from hypothesis import strategies as st
from programs import ATTACHMENT, PROJECT, VM, ZONE, attachment
from sample import ApiObject, Edit, Life, Sample, changing, inputs_with
from valid import names


def _detach(cloud: Emulated) -> None:
    cloud.detach(VM, f"projects/{PROJECT}/zones/{ZONE}/disks/example-data")


def _is_detached(cloud: Emulated) -> bool:
    instance = cloud.get(VM)
    return instance is not None and len(instance["disks"]) == 1


SAMPLE = Sample(
    token=ATTACHMENT,
    inputs=attachment(),
    any_inputs=inputs_with(
        {"instance": st.sampled_from([VM, "zones/us-east1-b/instances/example-vm"]), "disk": st.sampled_from(["example-data", f"projects/{PROJECT}/regions/us-east1/disks/shared"])},
        {"deviceName": names, "mode": st.sampled_from(["READ_WRITE", "READ_ONLY"]), "autoDelete": st.booleans()},
    ),
    api=ApiObject.compute("AttachedDisk"),
    own={"project", "zone", "instance"},
    read_method="compute.instances.get",
    later_calls=("compute.zoneOperations.wait", "compute.instances.get"),
    lives={
        "attachment": Life(
            inputs=attachment(deviceName="data", mode="READ_WRITE", autoDelete=False),
            path=VM,
            drift=(changing(VM, lambda body: body["disks"][1].update(autoDelete=True)), "autoDelete"),
            edits=[
                Edit({"autoDelete": True}, "update", {"autoDelete"}),
                Edit({"mode": "READ_ONLY"}, "replace", {"mode"}),
            ],
            imports=[f"{VM}/data", f"{PROJECT}/{ZONE}/example-vm/data", f"{ZONE}/example-vm/data", f"https://www.googleapis.com/compute/beta/{VM}/data"],
            remove=_detach,
            is_gone=_is_detached,
        )
    },
)  # fmt: skip
