"""Limits on capacity, quotas and addresses, as set at `/_emulator/limits`, and the errors when one is reached."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from typing import Any, Final, Literal

import attrs

from gcpx_emulator.compute.call import Call, last_part
from gcpx_emulator.compute.locations import REGIONS, ZONES, region_of, zones_of
from gcpx_emulator.compute.machine_types import is_offered
from gcpx_emulator.core.controls import SWITCH, ControlBody, Field, is_object, is_whole, numbers_by, setting, some
from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.store import Store

PROVISIONING_MODELS: Final = ("FLEX_START", "RESERVATION_BOUND", "SPOT", "STANDARD")


def _are_numbers(value: Any) -> bool:
    return is_object(value) and all(map(is_whole, value.values()))


_MACHINE_TYPES: Final = Field(
    f"whole numbers by zone ({some(ZONES)}) and machine type",
    lambda value: is_object(value) and set(value) <= set(ZONES) and all(map(_are_numbers, value.values())),
)
_MODELS: Final = Field(
    f"whole numbers by zone ({some(ZONES)}) and provisioning model ({', '.join(PROVISIONING_MODELS)})",
    lambda value: (
        _MACHINE_TYPES.accepts(value) and all(set(item) <= set(PROVISIONING_MODELS) for item in value.values())
    ),
)
_BODY: Final = ControlBody(
    "limits",
    {
        "addresses": numbers_by("region", REGIONS),
        "instances": numbers_by("region", REGIONS),
        "machineTypes": _MACHINE_TYPES,
        "plainErrors": SWITCH,
        "provisioningModels": _MODELS,
        "quotaAtRequest": SWITCH,
        "zones": numbers_by("zone", ZONES),
    },
)
_LIMITS: Final = setting("limits", _BODY.check)


def limit(store: Store, *keys: str) -> int | None:
    """Return a limit; None if there is none.

    Args:
        store: has the settings.
        keys: `instances` or `addresses` and a region, `zones` and a zone, `machineTypes`, a zone and a machine type, or
            `provisioningModels`, a zone and a model.
    """
    value: Any = _LIMITS.read(store)
    for key in keys:
        value = value.get(key)
        if value is None:
            return None
    return int(value)


def _is_on(store: Store, name: str) -> bool:
    """Return whether a switch of the limits is on.

    With `plainErrors`, errors about capacity and addresses come without details, under their plain codes; with
    `quotaAtRequest`, a request above the quota is refused at once, and otherwise its operation fails.
    """
    return bool(_LIMITS.read(store).get(name))


UNLIMITED: Final = 10**9
_RESERVATION_KEY: Final = "compute.googleapis.com/reservation-name"
_STOPPED: Final = frozenset({"STOPPED", "SUSPENDED", "TERMINATED"})
"""The states of instances that hold no capacity."""


@attrs.frozen
class Hardware:
    """What an instance needs from a zone.

    Attributes:
        attachment: its accelerators, as errors name them, such as `nvidia-tesla-t4:1`.
        reservation: the reservation that it uses, if it names one; then it needs no other capacity.
    """

    machine_type: str
    model: str = "STANDARD"
    attachment: str = ""
    reservation: str = ""

    @classmethod
    def of(cls, properties: Json) -> Hardware:
        """Read the hardware from an instance's properties, or from the instance itself."""
        scheduling = properties.get("scheduling") or {}
        model = scheduling.get("provisioningModel") or ("SPOT" if scheduling.get("preemptible") else "STANDARD")
        accelerators = properties.get("guestAccelerators") or ()
        attachment = ",".join(
            f"{last_part(item.get('acceleratorType', ''))}:{item.get('acceleratorCount', 1)}" for item in accelerators
        )
        affinity = properties.get("reservationAffinity") or {}
        is_named = affinity.get("key") == _RESERVATION_KEY and affinity.get("values")
        reservation = str(affinity["values"][0]) if is_named else ""
        return cls(last_part(properties.get("machineType") or ""), model, attachment, reservation)


@attrs.frozen
class Room:
    """How many more instances of several kinds of hardware a zone has room for.

    Attributes:
        total: of all kinds together.
        by_hardware: of each kind, in the order in which the kinds are preferred.
    """

    total: int
    by_hardware: dict[Hardware, int]

    @property
    def free(self) -> int:
        """The number of instances that fit if each may have any of the kinds."""
        return min(self.total, sum(self.by_hardware.values()))

    def fill(self, count: int) -> list[Hardware]:
        """Choose the hardware of at most this number of instances; preferred kinds are used up first."""
        chosen: list[Hardware] = []
        for hardware, free in self.by_hardware.items():
            left = min(count, self.total) - len(chosen)
            chosen += [hardware] * min(left, free)
        return chosen


@attrs.frozen
class AddressSpace:
    """How many more instances a subnetwork has addresses for; `subnetwork` is its path."""

    subnetwork: str
    left: int


def room_in(call: Call, zone: str, kinds: Iterable[Hardware], most: int | None = None) -> Room:
    """Return the room in a zone for kinds of hardware; `most` limits them together, if it is not None."""
    running = cache(partial(_running_in, call, zone))
    total, free = _left(call, running, "zones", zone), dict[Hardware, int]()
    for hardware in kinds:
        if not is_offered(call.store, hardware.machine_type, zone):
            free[hardware] = 0
        elif hardware.reservation:
            free[hardware] = _reserved(call, zone, hardware)
        else:
            of_type = _left(call, running, "machineTypes", zone, hardware.machine_type)
            of_model = _left(call, running, "provisioningModels", zone, hardware.model)
            free[hardware] = min(total, of_type, of_model)
    if any(hardware.reservation for hardware in free):
        total = UNLIMITED
    return Room(total if most is None else min(total, most), free)


def _running_in(call: Call, zone: str) -> Counter[tuple[str, ...]]:
    """Count the running instances of a zone that use no reservation, by the keys of the limits that hold for them."""
    found = Counter[tuple[str, ...]]()
    fields = ("machineType", "scheduling.provisioningModel", "status", "reservationAffinity.key")
    tally = call.store.tally(f"{call.project}/zones/{zone}/instances", fields)
    for (machine_type, model, status, key), number in tally.items():
        if status not in _STOPPED and key != _RESERVATION_KEY:
            found["zones", zone] += number
            found["machineTypes", zone, last_part(str(machine_type))] += number
            found["provisioningModels", zone, str(model or "STANDARD")] += number
    return found


def _reserved(call: Call, zone: str, hardware: Hardware) -> int:
    """Return the number of instances that a reservation in a zone still has room for."""
    reservation = call.store.get(reservation_path(call, zone, hardware.reservation))
    specific = (reservation or {}).get("specificReservation") or {}
    machine_type = (specific.get("instanceProperties") or {}).get("machineType", hardware.machine_type)
    if last_part(machine_type) != hardware.machine_type:
        return 0
    return max(0, int(specific.get("count", 0)) - used_of_reservation(call, zone, hardware.reservation))


def reservation_path(call: Call, zone: str, name: str) -> str:
    """Return the path of a reservation in a zone; `name` is its name, or `projects/PROJECT/reservations/NAME`."""
    project, _, own = name.rpartition("/reservations/")
    return f"{project or call.project}/zones/{zone}/reservations/{own}"


def used_of_reservation(call: Call, zone: str, name: str) -> int:
    """Count the running instances that use a reservation."""
    collection, fields = f"{call.project}/zones/{zone}/instances", ("reservationAffinity.values[0]", "status")
    tally = call.store.tally(collection, fields).items()
    return sum(number for (used, status), number in tally if used == name and status not in _STOPPED)


def left_in_region(call: Call, region: str, limited: Literal["instances", "addresses"]) -> int:
    """Return the number of instances that a region's quota of instances or addresses still allows.

    Stopped instances count too.
    """
    collections = [f"{call.project}/zones/{zone}/instances" for zone in zones_of(region)]

    def existing() -> Counter[tuple[str, ...]]:
        return Counter({(limited, region): sum(sum(call.store.tally(one, ()).values()) for one in collections)})

    return _left(call, existing, limited, region)


def _left(call: Call, used: Callable[[], Counter[tuple[str, ...]]], *keys: str) -> int:
    """Return what the limit with these keys still allows; without a limit, return a large number and count nothing."""
    most = limit(call.store, *keys)
    return UNLIMITED if most is None else max(0, most - used()[keys])


_DOCUMENTATION: Final = "https://cloud.google.com/compute/docs/resource-error"
_STATUSES: Final = {"QUOTA_EXCEEDED": (403, "FORBIDDEN"), "ZONE_RESOURCE_POOL_EXHAUSTED": (503, "SERVICE UNAVAILABLE")}
"""The HTTP status of failed operations by error code without `_WITH_DETAILS`; other codes have 400."""


def failure_with(*errors: Json) -> Json:
    """Return the result of an operation that fails with these errors; the first one decides its HTTP status."""
    code = errors[0]["code"].removesuffix("_WITH_DETAILS")
    status, message = _STATUSES.get(code, (400, "BAD REQUEST"))
    return {"errors": list(errors), "httpErrorStatusCode": status, "httpErrorMessage": message}


def shortage_in(call: Call, zone: str, hardware: Hardware) -> Json | None:
    """Return the failure of an operation that needs room for one more instance; None if the zone has room.

    It is for starting an instance, and for other operations that need capacity but no additional quota or address.
    """
    if room_in(call, zone, [hardware]).free:
        return None
    return failure_with(stock_out(call, zone, hardware, zones_with_room(call, zone, hardware)))


def shortage_of_one(call: Call, zone: str, hardware: Hardware, space: AddressSpace) -> Json | None:
    """Return the failure of an operation that creates one instance; None if quota, zone and subnetwork have room.

    Raises:
        ApiError: 403, if quotas are checked at the request and this one is used up.
    """
    region = region_of(zone)
    if not left_in_region(call, region, "instances"):
        refuse_at_request(call, region)
        return failure_with(quota_exceeded(call, region))
    return shortage_in(call, zone, hardware) or (
        None if space.left else failure_with(addresses_exhausted(call, space.subnetwork))
    )


def zones_with_room(
    call: Call, zone: str, hardware: Hardware, placed: Mapping[str, Sequence[Hardware]] | None = None
) -> list[str]:
    """Name the other zones of the region that have room for such an instance, besides those that are placed now."""
    found, taken = [], placed or {}
    for other in (other for other in zones_of(region_of(zone)) if other != zone):
        room, here = room_in(call, other, [hardware]), list(taken.get(other, ()))
        if room.total > len(here) and room.free > here.count(hardware):
            found.append(other)
    return found


def stock_out(call: Call, zone: str, hardware: Hardware, alternatives: list[str]) -> Json:
    """Say that a zone has no room for an instance; `alternatives` are zones that have room."""
    message = f"The zone '{call.project}/zones/{zone}' does not have enough resources available to fulfill the request."
    if _is_on(call.store, "plainErrors"):
        return {
            "code": "ZONE_RESOURCE_POOL_EXHAUSTED",
            "message": f"{message}  Try a different zone, or try again later.",
        }
    metadatas = {
        "vmType": hardware.machine_type,
        "zone": zone,
        "zonesAvailable": ",".join(alternatives),
        "attachment": hardware.attachment,
    }
    info = {"reason": "resource_availability", "domain": "compute.googleapis.com", "metadatas": metadatas}
    return {
        "code": "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS",
        "message": f"{message}  '(resource type:compute)'.",
        "errorDetails": [*_explanation(_advice(zone, hardware, alternatives)), {"errorInfo": info}],
    }


def _advice(zone: str, hardware: Hardware, alternatives: list[str]) -> str:
    """Describe in plain words the unavailable hardware, and the zones that have it."""
    name, _, count = hardware.attachment.partition(":")
    extra = f" with {count} {name} accelerator(s)" if name else ""
    elsewhere = ", ".join(alternatives)
    hint = (
        f"Consider trying your request in the {elsewhere} zone(s), which currently has capacity to accommodate your "
        "request. "
        if alternatives
        else ""
    )
    return (
        f"A {hardware.machine_type} VM instance{extra} is currently unavailable in the {zone} zone. {hint}"
        "Alternatively, you can try your request again with a different VM hardware configuration or at a later time. "
        "For more information, see the troubleshooting documentation."
    )


def _explanation(words: str) -> list[Json]:
    links = [{"description": "Troubleshooting documentation", "url": _DOCUMENTATION}]
    return [{"help": {"links": links}}, {"localizedMessage": {"locale": "en-US", "message": words}}]


def refuse_at_request(call: Call, region: str) -> None:
    """Refuse a request above the quota of a region, if quotas are checked at the request.

    Raises:
        ApiError: 403 with the reason `quotaExceeded`.
    """
    if _is_on(call.store, "quotaAtRequest"):
        raise ApiError(403, quota_exceeded(call, region)["message"], "quotaExceeded")


def quota_exceeded(call: Call, region: str) -> Json:
    """Say that the quota of a region allows no further instance."""
    most = float(limit(call.store, "instances", region) or 0)
    info = {"metricName": "compute.googleapis.com/instances", "limitName": "INSTANCES-per-project-region"}
    details = [{"quotaInfo": info | {"limit": most, "dimensions": {"region": region}}}]
    message = f"Quota 'INSTANCES' exceeded.  Limit: {most} in region {region}."
    return {"code": "QUOTA_EXCEEDED", "message": message, "errorDetails": details}


def addresses_exhausted(call: Call, subnetwork: str) -> Json:
    """Say that a subnetwork, named by its path, has no further address."""
    message = f"IP space of '{subnetwork}' is exhausted."
    if _is_on(call.store, "plainErrors"):
        return {"code": "IP_SPACE_EXHAUSTED", "message": message}
    return {"code": "IP_SPACE_EXHAUSTED_WITH_DETAILS", "message": message, "errorDetails": _explanation(message)}
