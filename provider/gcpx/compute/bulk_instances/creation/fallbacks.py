"""What a fallback changes in a fleet for the instances that are created with it."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from gcpx.compute.bulk_instances.instance_flexibility import InstanceFlexibilityPolicy
from gcpx.compute.documentation import rest
from gcpx.compute.instance_properties.machine_types import MACHINE_TYPE
from gcpx.compute.instance_properties.reservations import ReservationAffinity
from gcpx.model.fields import Record, field, record
from gcpx.model.links import name_of
from gcpx.model.location_patterns import ZONE
from gcpx.model.rules import Violation, exclusive, rule, text

FALLBACKS: Final = "[fallbacks.py](provider/gcpx/compute/bulk_instances/creation/fallbacks.py): fallbacks"
"""The source of rules about fallbacks, which gcpx defines itself, as a link in RULES.md."""


@rule(
    "machineType of a fallback must be a bare name, not a URL",
    rest("regionInstances.bulkInsert", "instanceProperties.machineType"),
)
def fallback_machine_type_is_a_bare_name(values: dict[str, Any]) -> list[Violation]:
    """Refuse a URL, which names a machine type of one zone."""
    if "/" not in text(values, "machineType"):
        return []
    return [("machineType", "must be a bare name, not a URL: write only the part after the last slash")]


@record
class Fallback(Record):
    """What is different for the instances that are created with this fallback; everything else is as in the fleet."""

    HINTS: ClassVar = {
        "*": "must be left out: a fallback changes only capacity; all other properties are the same for all instances, and are set in instanceProperties"
    }
    RULES = (
        fallback_machine_type_is_a_bare_name,
        exclusive("machineType", "instanceFlexibilityPolicy", source=FALLBACKS),
    )

    instance_flexibility_policy: InstanceFlexibilityPolicy = field(
        "Alternative machine types, from which Google chooses. They replace those of the fleet. Conflicts with `machineType`."
    )
    machine_type: str = field(
        "The name of the machine type, such as `n2d-standard-4`. It also replaces the fleet's `instanceFlexibilityPolicy`.",
        pattern=MACHINE_TYPE,
    )
    min_cpu_platform: str = field("The oldest CPU platform to run on, such as `Intel Ice Lake`.")
    provisioning_model: str = field(
        "How capacity is provisioned: `STANDARD`, `SPOT`, `FLEX_START` or `RESERVATION_BOUND`, as in `scheduling`. Settings that apply only to the fleet's own model are left out: `preemptible`, `preemptionNoticeDuration`, and, with `STANDARD` and without a run limit, `instanceTerminationAction`.",
        enum=("FLEX_START", "RESERVATION_BOUND", "SPOT", "STANDARD"),
    )
    reservation_affinity: ReservationAffinity = field(
        "The reservations that the instances consume, such as `{consumeReservationType: NO_RESERVATION}`."
    )
    zones: list[str] = field(
        "The zones in which the instances may be created, such as `[us-east1-c]`. They replace `zones` and `locations` of the fleet's `locationPolicy`.",
        pattern=ZONE,
        identity="set",
        normalize=name_of,
    )
