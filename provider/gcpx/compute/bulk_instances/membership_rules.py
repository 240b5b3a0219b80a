"""Rules that keep instances in their fleet: they must keep the label or the names by which gcpx finds them."""

from __future__ import annotations

import re
from typing import Any, Final

from gcpx.compute.bulk_instances.fleet_id import (
    FLEET_ID_SOURCE,
    RESERVED_LABELS,
    TRACKING_LABEL,
    membership_labels,
    membership_pattern,
    pattern_expression,
)
from gcpx.model.rules import Violation, nested, rule, text
from gcpx.model.values import UNKNOWN

_LABELS: Final = ("instanceProperties", "labels")


@rule(
    f"instanceProperties.labels and fleetId must not name the labels {', '.join(sorted(RESERVED_LABELS))}, which are reserved for gcpx",
    FLEET_ID_SOURCE,
)
def gcpx_labels_are_reserved(values: dict[str, Any]) -> list[Violation]:
    """Refuse to set a label that gcpx sets, and to name one in `fleetId`."""
    words = "must not be set, because gcpx sets this label: remove it"
    labels = nested(nested(values, "instanceProperties"), "labels")
    failures: list[Violation] = [((*_LABELS, name), words) for name in sorted(RESERVED_LABELS & labels.keys())]
    fleet_id = text(values, "fleetId")
    for name, value in membership_labels(fleet_id).items():
        if fleet_id.startswith("labels/") and name in RESERVED_LABELS:
            better = f"must be {value}, without labels/{name}=, which is the default"
            other = f"must not be labels/{name}=VALUE, because gcpx sets this label: choose another label"
            failures.append(("fleetId", better if name == TRACKING_LABEL else other))
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
        if key not in RESERVED_LABELS and labels.get(key) not in {value, UNKNOWN}
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
