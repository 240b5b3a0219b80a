"""What keeps instances members of their fleet: its label, or the form of their names."""

from __future__ import annotations

import re
from typing import Any, Final

from gcpx.compute.bulk_instances.fleet import TRACKING_LABEL, labels_of, names_of, pattern_of
from gcpx.model.rules import Failure, nested, rule, text
from gcpx.model.values import UNKNOWN

_SOURCE: Final = "gcpx: members are found by it"
_LABELS: Final = ("instanceProperties", "labels")


@rule("the label gcpx-bulk is reserved for gcpx", _SOURCE)
def tracking_label_is_ours(values: dict[str, Any]) -> list[Failure]:
    """Refuse the label by which gcpx finds the members it made."""
    failures: list[Failure] = []
    if TRACKING_LABEL in nested(nested(values, "instanceProperties"), "labels"):
        failures.append(
            ((*_LABELS, TRACKING_LABEL), "must not be set: gcpx finds the members by this label; remove it")
        )
    given = labels_of(text(values, "fleetId"))
    if text(values, "fleetId").startswith("labels/") and TRACKING_LABEL in given:
        failures.append(
            ("fleetId", f"must be {given[TRACKING_LABEL]}, without labels/{TRACKING_LABEL}=, which is the default")
        )
    return failures


@rule("a fleet that is found by a label (fleetId labels/KEY=VALUE) must have it in instanceProperties.labels", _SOURCE)
def label_stays(values: dict[str, Any]) -> list[Failure]:
    """Keep the label of a fleet that is found by one of its own; unknown labels are judged when they are known."""
    properties, fleet_id = values.get("instanceProperties"), text(values, "fleetId")
    given = properties.get("labels") if isinstance(properties, dict) else properties
    if given is UNKNOWN or not fleet_id.startswith("labels/"):
        return []
    labels = given if isinstance(given, dict) else {}
    return [
        ((*_LABELS, key), f"must be {value or 'empty'}: the members are found by this label; to use another label, change `fleetId`, which replaces the fleet")
        for key, value in labels_of(fleet_id).items()
        if key != TRACKING_LABEL and labels.get(key) not in {value, UNKNOWN}
    ]  # fmt: skip


@rule("a fleet that is found by the names of its members (fleetId namePattern/PATTERN) must keep those names", _SOURCE)
def names_stay(values: dict[str, Any]) -> list[Failure]:
    """Keep the names of a fleet that is found by them."""
    fleet_id = text(values, "fleetId")
    form = names_of(fleet_id)
    if form is None:
        return []
    pattern, wanted = values.get("namePattern"), pattern_of(fleet_id)
    why = "the members are found by their names; to change the names, change `fleetId`, which replaces the fleet"
    wrong = [name for name in nested(values, "perInstanceProperties") if not re.fullmatch(form, name)]
    failures: list[Failure] = [(("perInstanceProperties", name), f"must fit {wanted}: {why}") for name in wrong]
    if isinstance(pattern, str) and pattern != wanted:
        failures.append(("namePattern", f"must be {wanted}: {why}"))
    return failures
