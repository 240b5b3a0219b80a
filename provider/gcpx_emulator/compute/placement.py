"""Resource policies and reservations."""

from __future__ import annotations

from typing import Final

from gcpx_emulator.compute.call import Call, check_free, check_name, check_ready, handles
from gcpx_emulator.compute.capacity import Hardware, reservation_path, used_of_reservation
from gcpx_emulator.compute.lists import list_scope, show
from gcpx_emulator.compute.locations import check_location, region_in, zones_of
from gcpx_emulator.core.clock import pacific_timestamp
from gcpx_emulator.core.errors import ApiError, invalid, required
from gcpx_emulator.core.json_data import Json

_MOST_COMPACT: Final = {None: 150, 1: 22, 2: 256, 3: 1500}
"""The largest number of instances of a compact placement policy, by its maximum distance."""
_MOST_SPREAD: Final = 256


@handles("compute.resourcePolicies.insert")
def insert_policy(call: Call) -> Json:
    """Create a resource policy."""
    check_location(call)
    path = f"{call.parent}/resourcePolicies/{check_name(call.body)}"
    check_free(call, path)
    own = {
        "kind": "compute#resourcePolicy",
        "id": call.store.new_id(),
        "creationTimestamp": pacific_timestamp(),
        "region": call.url(call.parent),
        "selfLink": call.url(path),
        "status": "READY",
    }
    return call.insert(path, call.body | own)


@handles("compute.resourcePolicies.get")
def get_policy(call: Call) -> Json:
    """Read a resource policy."""
    return show(call, call.read(_path(call)))


@handles("compute.resourcePolicies.list")
def list_policies(call: Call) -> Json:
    """List the resource policies of a region."""
    return list_scope(call, "resourcePolicies", "compute#resourcePolicyList")


@handles("compute.resourcePolicies.delete")
def delete_policy(call: Call) -> Json:
    """Delete a resource policy that no instance uses."""
    path = _path(call)
    check_ready(call, path)
    if _members(call, path):
        message = f"The resource_policy resource '{path}' is already being used by an instance"
        raise ApiError(400, message, "resourceInUseByAnotherResource")
    return call.delete(path)


def _path(call: Call) -> str:
    return f"{call.parent}/resourcePolicies/{call.path['resourcePolicy']}"


def check_policies(call: Call, field: str, properties: Json, count: int = 1) -> None:
    """Refuse new instances if their policies do not exist in the region, or have no room for them.

    `field` is the place of the properties in the request, for error messages.
    """
    for index, link in enumerate(properties.get("resourcePolicies") or ()):
        where, path = f"{field}.resourcePolicies[{index}]", policy_path(call, link)
        policy = call.store.get(path)
        if policy is None:
            raise invalid(where, link, f"The resource '{path}' was not found.")
        most, used = _most_instances(policy), len(_members(call, path))
        if most is not None and used + count > most:
            raise invalid(where, link, f"The placement policy takes at most {most} instances, and has {used}.")


def policy_path(call: Call, link: str) -> str:
    """Return the path of a policy that is named by a URL, or by its name in the region of the call."""
    return call.resolve(link if "/" in link else f"regions/{region_in(call)}/resourcePolicies/{link}")


def _most_instances(policy: Json) -> int | None:
    """Return how many instances a policy allows; None if it is not a placement policy."""
    placement = policy.get("groupPlacementPolicy")
    if placement is None:
        return None
    if placement.get("vmCount"):
        return int(placement["vmCount"])
    is_compact = placement.get("collocation") == "COLLOCATED"
    return _MOST_COMPACT.get(placement.get("maxDistance"), _MOST_COMPACT[3]) if is_compact else _MOST_SPREAD


def _members(call: Call, path: str) -> list[Json]:
    """List the instances with a policy."""
    project, _, rest = path.partition("/regions/")
    collections = [f"{project}/zones/{zone}/instances" for zone in zones_of(rest.partition("/")[0])]
    url = call.url(path)
    return [item for _, item in call.store.scan(collections) if url in item.get("resourcePolicies", ())]


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
        "id": call.store.new_id(),
        "creationTimestamp": pacific_timestamp(),
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

    `field` is the place of the properties in the request, for error messages.
    """
    name = Hardware.of(properties).reservation
    zones = [call.path["zone"]] if "zone" in call.path else zones_of(call.path["region"])
    paths = [reservation_path(call, zone, name) for zone in zones]
    if name and not any(call.store.get(path) for path in paths):
        why = f"Specified reservations [{', '.join(paths)}] do not exist."
        raise invalid(f"{field}.reservationAffinity", name, why)
