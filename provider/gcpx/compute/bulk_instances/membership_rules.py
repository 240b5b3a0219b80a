"""Rules that keep instances in their fleet: they must keep the label or the names by which gcpx finds them."""

from __future__ import annotations

import re
from typing import Any, Final

from gcpx.compute.bulk_instances.fleet_id import (
    FLEET_ID_SOURCE,
    TRACKING_LABEL,
    membership_labels,
    membership_pattern,
    pattern_expression,
)
from gcpx.model.rules import Violation, nested, rule, text
from gcpx.model.values import UNKNOWN

_LABELS: Final = ("instanceProperties", "labels")


@rule(
    f"instanceProperties.labels and fleetId must not name the label {TRACKING_LABEL}, which is reserved for gcpx",
    FLEET_ID_SOURCE,
)
def tracking_label_is_reserved(values: dict[str, Any]) -> list[Violation]:
    """Refuse to set the label, and to name it in `fleetId`."""
    failures: list[Violation] = []
    if TRACKING_LABEL in nested(nested(values, "instanceProperties"), "labels"):
        words = "must not be set, because gcpx finds the members by this label: remove it"
        failures.append(((*_LABELS, TRACKING_LABEL), words))
    fleet_id = text(values, "fleetId")
    if fleet_id.startswith(f"labels/{TRACKING_LABEL}="):
        value = membership_labels(fleet_id)[TRACKING_LABEL]
        failures.append(("fleetId", f"must be {value}, without labels/{TRACKING_LABEL}=, which is the default"))
    return failures


@rule("a fleet whose fleetId is labels/KEY=VALUE must have this label in instanceProperties.labels", FLEET_ID_SOURCE)
def membership_label_is_kept(values: dict[str, Any]) -> list[Violation]:
    """Require the label of `fleetId`; labels that are not known yet are checked once they are known."""
    properties, fleet_id = values.get("instanceProperties"), text(values, "fleetId")
    labels = properties.get("labels") if isinstance(properties, dict) else properties
    if labels is UNKNOWN or not fleet_id.startswith("labels/"):
        return []
    labels = labels if isinstance(labels, dict) else {}
    words = "gcpx finds the members by this label; to use another label, change fleetId, which replaces the fleet"
    return [
        ((*_LABELS, key), f"must be {value or 'empty'}: {words}")
        for key, value in membership_labels(fleet_id).items()
        if key != TRACKING_LABEL and labels.get(key) not in {value, UNKNOWN}
    ]


@rule("a fleet whose fleetId is namePattern/PATTERN must keep names that match it", FLEET_ID_SOURCE)
def membership_names_are_kept(values: dict[str, Any]) -> list[Violation]:
    """Require the names of `fleetId`."""
    wanted, pattern = membership_pattern(text(values, "fleetId")), values.get("namePattern")
    if wanted is None:
        return []
    words = "gcpx finds the members by their names; to change the names, change fleetId, which replaces the fleet"
    names = nested(values, "perInstanceProperties")
    failures: list[Violation] = [
        (("perInstanceProperties", name), f"must fit {wanted}: {words}")
        for name in names
        if not re.fullmatch(pattern_expression(wanted), name)
    ]
    if isinstance(pattern, str) and pattern != wanted:
        failures.append(("namePattern", f"must be {wanted}: {words}"))
    return failures
