"""Reservations of instances of one machine type in a zone, which instances use by naming them."""

from __future__ import annotations

from gcpx_emulator.compute.call import Call, handles
from gcpx_emulator.compute.capacity import Hardware, reservation_path, used_of_reservation
from gcpx_emulator.compute.lists import list_scope
from gcpx_emulator.compute.locations import check_location, zones_of
from gcpx_emulator.compute.names import check_free, check_name, check_ready
from gcpx_emulator.compute.version_views import show
from gcpx_emulator.core.clock import timestamp
from gcpx_emulator.core.errors import invalid, required
from gcpx_emulator.core.json_data import Json


@handles("compute.reservations.insert")
def insert_reservation(call: Call) -> Json:
    """Create a reservation."""
    check_location(call)
    path = f"{call.parent}/reservations/{check_name(call.body)}"
    check_free(call, path)
    specific = call.body.get("specificReservation") or {}
    if not specific.get("count"):
        raise required("resource.specificReservation.count")
    own = {
        "kind": "compute#reservation",
        "id": call.new_id(),
        "creationTimestamp": timestamp(),
        "zone": call.url(call.parent),
        "selfLink": call.url(path),
        "status": "READY",
    }
    defaults = {"specificReservationRequired": False}
    return call.insert(path, defaults | call.body | own)


@handles("compute.reservations.get")
def get_reservation(call: Call) -> Json:
    """Read a reservation, with the number of instances that use it."""
    name = call.path["reservation"]
    reservation = call.read(f"{call.parent}/reservations/{name}")
    used = {"inUseCount": str(used_of_reservation(call, call.path["zone"], name))}
    return show(call, reservation | {"specificReservation": reservation["specificReservation"] | used})


@handles("compute.reservations.list")
def list_reservations(call: Call) -> Json:
    """List the reservations of a zone."""
    return list_scope(call, "reservations", "compute#reservationList")


@handles("compute.reservations.delete")
def delete_reservation(call: Call) -> Json:
    """Delete a reservation; instances that use it keep running."""
    path = f"{call.parent}/reservations/{call.path['reservation']}"
    check_ready(call, path)
    return call.delete(path)


def check_reservation(call: Call, field: str, properties: Json) -> None:
    """Refuse new instances that name a reservation which does not exist in any of the zones that they may be in.

    `field` is the request's field with the properties, for error messages.
    """
    name = Hardware.of(properties).reservation
    zones = [call.path["zone"]] if "zone" in call.path else zones_of(call.path["region"])
    paths = [reservation_path(call, zone, name) for zone in zones]
    if name and not any(call.store.get(path) for path in paths):
        why = f"Specified reservations [{', '.join(paths)}] do not exist."
        raise invalid(f"{field}.reservationAffinity", name, why)
