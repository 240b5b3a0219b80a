"""The programs of the crash matrix, and what exists beside them in the emulator."""

from __future__ import annotations

from typing import Any

import attrs
from emulated import Emulated
from programs import (
    ATTACHMENT,
    BUCKET,
    EXPIRY,
    FLEET,
    IMAGE,
    KEY,
    NOTIFICATION,
    PROJECT,
    TEMPLATE,
    USER,
    VM,
    attachment,
    fleet,
    image,
    key,
    notification,
    template,
)

_ZONES = [f"projects/{PROJECT}/zones/us-east1-{letter}" for letter in "bcd"]
_COLLECTIONS = (
    f"projects/{PROJECT}/global/instanceTemplates",
    f"projects/{PROJECT}/regions/us-east1/instanceTemplates",
    f"projects/{PROJECT}/global/machineImages",
    f"b/{BUCKET}/notificationConfigs",
    f"users/{USER}/sshPublicKeys",
    *(f"{zone}/{kind}" for zone in _ZONES for kind in ("instances", "disks")),
)


@attrs.frozen
class Scenario:
    """One resource's programs.

    Attributes:
        inputs: the program that creates it.
        edits: later programs, each of which changes it in place.
        changed: another program, which a user may write after an interrupted creation.
        number: how many things it consists of, in the emulator.
    """

    token: str
    inputs: dict[str, Any]
    edits: tuple[dict[str, Any], ...] = ()
    changed: dict[str, Any] | None = None
    number: int = 1


_NAMED = {name: {} for name in ("alpha", "beta")}
_LABELS = {"labels": {"tier": "web"}}
_FALLBACK = {"fallbacks": [{"machineType": "e2-medium"}]}
SCENARIOS = {
    "template": Scenario(TEMPLATE, {"name": "web", **template()}, changed={"name": "web", **template(machineType="e2-medium")}),
    "generated template": Scenario(TEMPLATE, template(), changed=template(machineType="e2-medium")),
    "generated regional template": Scenario(
        TEMPLATE, {"region": "us-east1", **template()}, changed={"region": "us-east1", **template(machineType="e2-medium")}
    ),
    "image": Scenario(IMAGE, image(name="golden"), (image(name="golden", **_LABELS),), image(name="golden", description="new")),
    "generated image": Scenario(IMAGE, image(), (image(**_LABELS),), image(description="new")),
    "key": Scenario(KEY, key(), (key(expirationTimeUsec=EXPIRY),)),
    "notification": Scenario(NOTIFICATION, notification()),
    "attachment": Scenario(ATTACHMENT, attachment(), (attachment(autoDelete=True),), attachment(mode="READ_ONLY")),
    "attachment with a device": Scenario(
        ATTACHMENT, attachment(deviceName="data"), changed=attachment(deviceName="other")
    ),
    "fleet": Scenario(
        FLEET, fleet(2, fleetId="crew"), (fleet(3, fleetId="crew"), fleet(1, fleetId="crew"), fleet(1, fleetId="crew", **_LABELS)), fleet(3, fleetId="crew"), 4
    ),
    "generated fleet": Scenario(FLEET, fleet(2), (fleet(3), fleet(1)), fleet(3), 4),
    "generated fleet of given names": Scenario(
        FLEET, fleet(None, namePattern=None, perInstanceProperties=_NAMED), changed=fleet(None, namePattern=None, perInstanceProperties={"alpha": {}}), number=4
    ),
    "generated fleet with fallbacks": Scenario(FLEET, fleet(2, **_FALLBACK), (fleet(3, **_FALLBACK),), number=4),
}  # fmt: skip
"""The resources, by what is special about them."""


def prepare(cloud: Emulated) -> dict[str, Any]:
    """Create what the scenarios need and what is not theirs; return everything that exists."""
    cloud.reset()
    cloud.emulator.store.put(
        f"b/{BUCKET}", {"kind": "storage#bucket", "name": BUCKET, "id": BUCKET, "_project": PROJECT}
    )
    cloud.make_topics()
    cloud.make_disk()
    cloud.make_instance()
    cloud.make_instance("web-stranger")
    cloud.post(f"/compute/v1/projects/{PROJECT}/global/instanceTemplates", {"name": "stranger", **template()})
    return existing(cloud)


def existing(cloud: Emulated) -> dict[str, Any]:
    """Return everything that exists, by path; the disks that are attached to the instance are part of it."""
    cloud.emulator.operations.settle()
    store = cloud.emulator.store
    found = {
        f"{path}/{item.get('name') or item.get('id') or item.get('fingerprint')}": ""
        for path in _COLLECTIONS
        for item in store.list(path)
    }
    instance = cloud.get(VM) or {}
    return found | {f"{VM} {disk['deviceName']}": disk["source"] for disk in instance.get("disks", ())}
