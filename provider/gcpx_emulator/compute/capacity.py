"""How many more instances zones, quotas and subnetworks have room for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import attrs

from gcpx_emulator.compute.call import Call
from gcpx_emulator.compute.limits import (
    instance_quota,
    machine_type_capacity,
    model_capacity,
    subnetwork_size,
    zone_capacity,
)
from gcpx_emulator.compute.links import last_part
from gcpx_emulator.compute.locations import zones_of
from gcpx_emulator.core.json_data import Json

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
        """Read what an instance needs from its properties, or from the instance itself."""
        scheduling = properties.get("scheduling") or {}
        model = scheduling.get("provisioningModel") or ("SPOT" if scheduling.get("preemptible") else "STANDARD")
        accelerators = properties.get("guestAccelerators") or ()
        attachment = ",".join(
            f"{last_part(item.get('acceleratorType', ''))}:{item.get('acceleratorCount', 1)}" for item in accelerators
        )
        reservation = _named_reservation(properties.get("reservationAffinity") or {})
        return cls(last_part(properties.get("machineType") or ""), model, attachment, reservation)


def _named_reservation(affinity: Json) -> str:
    """Return the name or path of the reservation that an instance must use, or an empty string."""
    return str(affinity["values"][0]) if affinity.get("key") == _RESERVATION_KEY and affinity.get("values") else ""


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


def room_in(call: Call, zone: str, kinds: Iterable[Hardware], most: int | None = None) -> Room:
    """Return the room in a zone for kinds of hardware; `most` limits them together, if it is not None."""
    usage = _Usage.of(call, zone)
    total = _left(zone_capacity(call.store, zone), usage.count())
    free = {
        hardware: _reserved(call, zone, hardware) if hardware.reservation else min(total, usage.left_of(call, hardware))
        for hardware in kinds
    }
    if any(hardware.reservation for hardware in free):
        total = UNLIMITED
    return Room(total if most is None else min(total, most), free)


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


@attrs.frozen
class _Usage:
    """The number of running instances in a zone that use no reservation, by machine type and provisioning model."""

    zone: str
    numbers: dict[tuple[str, str], int]

    @classmethod
    def of(cls, call: Call, zone: str) -> _Usage:
        collection = f"{call.project}/zones/{zone}/instances"
        numbers: dict[tuple[str, str], int] = {}
        fields = ("machineType", "scheduling.provisioningModel", "status", "reservationAffinity.key")
        for (machine_type, model, status, key), number in call.store.tally(collection, fields).items():
            if status not in _STOPPED and key != _RESERVATION_KEY:
                kind = last_part(str(machine_type)), str(model or "STANDARD")
                numbers[kind] = numbers.get(kind, 0) + number
        return cls(zone, numbers)

    def left_of(self, call: Call, hardware: Hardware) -> int:
        """Return the number of instances that the limits of a machine type and of a model still allow."""
        of_type = machine_type_capacity(call.store, self.zone, hardware.machine_type)
        of_model = model_capacity(call.store, self.zone, hardware.model)
        return min(
            _left(of_type, self.count(machine_type=hardware.machine_type)),
            _left(of_model, self.count(model=hardware.model)),
        )

    def count(self, machine_type: str | None = None, model: str | None = None) -> int:
        """Count the instances, or only those of one machine type or model if it is given."""
        return sum(
            number for key, number in self.numbers.items() if machine_type in {None, key[0]} and model in {None, key[1]}
        )


def quota_left(call: Call, region: str) -> int:
    """Return the number of instances that the quota of a region still allows; stopped ones count too."""
    return _left(instance_quota(call.store, region), _existing(call, region))


def addresses_left(call: Call, region: str) -> int:
    """Return the number of instances that the subnetwork of a region still has addresses for."""
    return _left(subnetwork_size(call.store, region), _existing(call, region))


def _existing(call: Call, region: str) -> int:
    collections = [f"{call.project}/zones/{zone}/instances" for zone in zones_of(region)]
    return sum(sum(call.store.tally(collection, ()).values()) for collection in collections)


def _left(limit: int | None, used: int) -> int:
    return UNLIMITED if limit is None else max(0, limit - used)
