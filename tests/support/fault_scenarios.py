"""What the fault matrix does with each resource: programs, and the verbs that lead from one to the next."""

from __future__ import annotations

import base64
from typing import Any, Final

import attrs
from driver import secret
from programs import (
    ATTACHMENT,
    DEBIAN,
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

MARKER: Final = "planted-marker"
"""A secret that no message may contain."""
DISK_KEY: Final = base64.b64encode(bytes(range(32))).decode()
"""The secret key of the encrypted disk."""
_SECRET: Final = {"metadata": {"items": [{"key": "token", "value": secret(MARKER)}]}}
_BIGGER_DISK: Final = {"disks": [{"boot": True, "initializeParams": {"diskSizeGb": 50, "sourceImage": DEBIAN}}]}
_ROLLING: Final = {"updatePolicy": {"strategy": "ROLLING", "maxUnavailable": 1}}


VERBS: Final = ("create", "read", "delete", "import")
"""The verbs that every program has; the others are updates."""


@attrs.frozen
class Scenario:
    """One verb of one program.

    Attributes:
        program: the name of the program.
        token: the type token of its resource.
        verb: `create`, `read`, `delete`, `import`, or the name of an update.
        inputs: the program.
        changed: the program that an update leads to; otherwise the same one.
    """

    program: str
    token: str
    verb: str
    inputs: dict[str, Any]
    changed: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.program}.{self.verb}"

    @property
    def resource(self) -> str:
        """The resource's name without its package."""
        return self.token.rpartition(":")[2]


def _scenarios(program: str, token: str, inputs: dict[str, Any], **updates: dict[str, Any]) -> list[Scenario]:
    """Return the scenarios of a program, with updates by the name of what changes."""
    fixed = [Scenario(program, token, verb, inputs, inputs) for verb in VERBS]
    return [*fixed, *(Scenario(program, token, verb, inputs, inputs | changed) for verb, changed in updates.items())]


def _rolling(**more: Any) -> dict[str, Any]:
    return fleet(2, **_ROLLING, **more)


def _named(*names: str) -> dict[str, Any]:
    made = fleet(len(names), labels={"a": "1"})
    del made["namePattern"], made["count"]
    return made | {"perInstanceProperties": {name: {} for name in names}}


_LABELS: Final = {"labels": {"a": "2"}}
SCENARIOS: Final = [
    *_scenarios("template", TEMPLATE, template(**_SECRET)),
    *_scenarios("template_named", TEMPLATE, {"name": "web", **template(**_SECRET)}),
    *_scenarios("template_regional", TEMPLATE, {"name": "web", "region": "us-east1", **template()}),
    *_scenarios("image", IMAGE, image(labels={"a": "1"}), relabel=_LABELS),
    *_scenarios("image_named", IMAGE, image(name="golden"), relabel=_LABELS),
    *_scenarios(
        "fleet", FLEET, fleet(2, **_SECRET), scale_up=fleet(4, **_SECRET), scale_down=fleet(1, **_SECRET),
        relabel=fleet(2, **_LABELS, **_SECRET),
    ),
    *_scenarios(
        "fleet_named", FLEET, _named("alpha", "beta"), scale_up=_named("alpha", "beta", "gamma"),
        scale_down=_named("beta"),
    ),
    *_scenarios(
        "fleet_rolling", FLEET, _rolling(), relabel=_rolling(**_LABELS), restart=_rolling(machineType="e2-medium"),
        replace=_rolling(**_BIGGER_DISK),
    ),
    *_scenarios("attachment", ATTACHMENT, attachment(), keep_disk={"autoDelete": True}),
    *_scenarios(
        "attachment_encrypted", ATTACHMENT,
        attachment(disk="locked", deviceName="data", diskEncryptionKey={"rawKey": secret(DISK_KEY)}),
        keep_disk={"autoDelete": True},
    ),
    *_scenarios("key", KEY, key()),
    *_scenarios("key_expiring", KEY, key(expirationTimeUsec=EXPIRY), extend={"expirationTimeUsec": "1930000000000000"}),
    *_scenarios("notification", NOTIFICATION, notification(eventTypes=["OBJECT_FINALIZE"])),
]  # fmt: skip
"""All scenarios."""
