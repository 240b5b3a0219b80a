"""Rules that compare an update policy with the fleet's other inputs."""

from __future__ import annotations

from typing import Any, Final

from gcpx.compute.bulk_instances.rollout.policy import Policy, is_rolling
from gcpx.compute.bulk_instances.rollout.policy_rules import SOURCE, has_surge
from gcpx.model.rules import Violation, elements, nested, rule, text
from gcpx.model.values import has_unknown

_ENABLING: Final = "enable-guest-attributes"
"""The metadata key that enables guest attributes."""


@rule("namePattern must have room for count and maxSurge", SOURCE)
def surge_fits_the_name_pattern(values: dict[str, Any]) -> list[Violation]:
    """Refuse a surge if the name pattern has no free numbers for its instances."""
    digits = text(values, "namePattern").count("#")
    if not digits or not is_rolling(values) or has_unknown(values.get("updatePolicy")):
        return []
    policy = Policy.of(values)
    names = 10**digits - 1
    if not policy.surge or policy.wanted > names or policy.wanted + policy.surge <= names:
        return []
    words = f"must leave room in namePattern, which has {names:,} names: use at most {names - policy.wanted:,}, or a pattern with more #"
    return [("updatePolicy.maxSurge", words)]


@rule("updatePolicy.maxSurge must be 0 with perInstanceProperties", SOURCE)
def named_fleets_have_no_surge(values: dict[str, Any]) -> list[Violation]:
    """Refuse a surge, whose instances would have no names."""
    if not values.get("perInstanceProperties") or not has_surge(nested(values, "updatePolicy")):
        return []
    return [("updatePolicy.maxSurge", "must be 0 with perInstanceProperties, which names every instance")]


@rule("instanceProperties.labels must not be null with strategy: ROLLING, which needs a label", SOURCE)
def rolling_fleets_keep_a_label(values: dict[str, Any]) -> list[Violation]:
    """Refuse to remove all labels, because one of them tells the generation of a member."""
    properties = nested(values, "instanceProperties")
    if not is_rolling(values) or properties.get("labels", {}) is not None or not values.get("sourceInstanceTemplate"):
        return []
    words = "must not be null with strategy: ROLLING, which marks members with a label: to remove labels, set each of their keys to null"
    return [(("instanceProperties", "labels"), words)]


@rule("ready.guestAttribute requires the metadata enable-guest-attributes: TRUE", SOURCE, warns=True)
def guest_attributes_are_enabled(values: dict[str, Any]) -> list[Violation]:
    """Warn if the instances' metadata does not enable guest attributes; the project's metadata may."""
    ready = nested(nested(values, "updatePolicy"), "ready")
    properties = nested(values, "instanceProperties")
    metadata = properties.get("metadata")
    if not text(ready, "guestAttribute") or has_unknown(metadata) or values.get("sourceInstanceTemplate"):
        return []
    items = elements(nested(properties, "metadata"), "items")
    if any(item.get("key") == _ENABLING and text(item, "value").upper() == "TRUE" for _, item in items):
        return []
    words = "requires the metadata enable-guest-attributes: TRUE, in instanceProperties or in the project"
    return [("updatePolicy.ready.guestAttribute", words)]
