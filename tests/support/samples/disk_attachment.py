from __future__ import annotations

from engines.driver import Resource, secret
from hypothesis import strategies as st
from servers.emulated import Emulated
from values.programs import ATTACHMENT, DISK_KEY, PROJECT, VM, ZONE, attachment
from values.sample import (
    CANCELLATIONS,
    CRASHES,
    FAULTS,
    ApiObject,
    Edit,
    Inputs,
    Life,
    Program,
    Sample,
    changing,
    inputs_with,
)
from values.valid import names


def _detach(cloud: Emulated) -> None:
    cloud.detach(VM, f"projects/{PROJECT}/zones/{ZONE}/disks/example-data")


def _is_detached(cloud: Emulated) -> bool:
    instance = cloud.get(VM)
    return instance is not None and len(instance["disks"]) == 1


def _surround(cloud: Emulated) -> None:
    """Make the instance, with a disk of somebody else's, and the disks of the programs."""
    cloud.make_disk()
    disks = f"/compute/v1/projects/{PROJECT}/zones/{ZONE}/disks"
    cloud.post(disks, {"name": "locked", "sizeGb": "50", "diskEncryptionKey": {"rawKey": DISK_KEY}})
    other = cloud.make_disk("other-data")
    if cloud.get(VM) is None:
        cloud.make_instance()
    cloud.post(f"/compute/v1/{VM}/attachDisk", {"source": other, "deviceName": "other"})


def _declared(disk: str, has_name: bool, more: Inputs) -> Inputs:
    return attachment(**{"disk": disk, **({"deviceName": f"my-{disk}"} if has_name else {}), **more})


def _identity(inputs: Inputs) -> str:
    return f"{VM} projects/{PROJECT}/zones/{ZONE}/disks/{inputs['disk'].rpartition('/')[2]}"


def _identity_of(resource: Resource) -> str:
    return _identity({**resource.outputs, **resource.inputs})


_KEEP_DISK: dict[str, Inputs | tuple[Inputs, ...]] = {"keep_disk": {"autoDelete": True}}
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
    changed_by=("compute.instances.attachDisk", "compute.instances.detachDisk"),
    programs={
        "attachment": Program(inputs=attachment(), updates=_KEEP_DISK, other={"mode": "READ_ONLY"}),
        "attachment_encrypted": Program(
            inputs=attachment(disk="locked", deviceName="data", diskEncryptionKey={"rawKey": secret(DISK_KEY)}),
            updates=_KEEP_DISK,
            suites=frozenset({FAULTS}),
        ),
        "attachment_device": Program(
            inputs=attachment(deviceName="data"), other={"deviceName": "other"}, suites=frozenset({CRASHES, CANCELLATIONS})
        ),
    },
    surround=_surround,
    declared=st.builds(
        _declared, st.sampled_from(["example-data", "more-data"]), st.booleans(), inputs_with({}, {"autoDelete": st.booleans()})
    ),
    identity=_identity,
    identity_of=_identity_of,
    provisional_ids=frozenset({f"{VM}/projects/{PROJECT}/zones/{ZONE}/disks/example-data"}),
)  # fmt: skip
