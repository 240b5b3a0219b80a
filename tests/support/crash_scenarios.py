"""The programs of the crash matrix."""

from __future__ import annotations

from typing import Any

import attrs
from programs import (
    ATTACHMENT,
    EXPIRY,
    FLEET,
    IMAGE,
    KEY,
    NOTIFICATION,
    TEMPLATE,
    attachment,
    fleet,
    image,
    key,
    notification,
    template,
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
