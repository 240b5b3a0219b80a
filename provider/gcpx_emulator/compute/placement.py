"""Resource policies and reservations."""

from __future__ import annotations

from typing import Final

from gcpx_emulator.compute.call import Call, handles, path_of
from gcpx_emulator.compute.capacity import Hardware, reservation_path, used_of_reservation
from gcpx_emulator.compute.collection import USUAL, Collection
from gcpx_emulator.compute.lists import show
from gcpx_emulator.compute.locations import region_in, zones_of
from gcpx_emulator.core.errors import ApiError, invalid, required
from gcpx_emulator.core.json_data import Json, field_names, merge

_MOST_COMPACT: Final = {None: 150, 1: 22, 2: 256, 3: 1500}
"""The largest number of instances of a compact placement policy, by its maximum distance."""
_MOST_SPREAD: Final = 256


def _members(call: Call, path: str, kind: str = "instances") -> list[str]:
    """List the paths of the resources of a kind in the zones of a policy that have the policy."""
    project, _, rest = path.partition("/regions/")
    return _with_policy(call, path, [f"{project}/zones/{zone}/{kind}" for zone in zones_of(rest.partition("/")[0])])


def _with_policy(call: Call, path: str, collections: list[str]) -> list[str]:
    rows = call.store.scan(collections)
    return [user for user, item in rows if path in (path_of(link, "") for link in item.get("resourcePolicies", ()))]


def _users(call: Call, path: str) -> list[str]:
    """List the paths of the instances and the disks with a policy."""
    regional = path.replace("/resourcePolicies/", "/disks/").rpartition("/")[0]
    return [*_members(call, path), *_members(call, path, "disks"), *_with_policy(call, path, [regional])]


_POLICIES: Final = Collection(
    name="resourcePolicies",
    singular="resourcePolicy",
    create=lambda call, path, head: call.insert(path, {**call.body, **head, "status": "READY"}),
    users=_users,
)
_POLICIES.register(*USUAL)
_PATCHED: Final = frozenset({"description", "snapshotSchedulePolicy"})
"""The fields of a policy that a patch can change.

Source: the options of `gcloud compute resource-policies update snapshot-schedule`.
"""


@handles("compute.resourcePolicies.patch")
def patch_policy(call: Call) -> Json:
    """Change a snapshot schedule; with a mask, only the fields that it names."""
    _, policy = _POLICIES.find(call)
    named = field_names(call.query.get("updateMask") or "") or list(call.body)
    given = {name: call.body.get(name) for name in named}
    for name in given.keys() - _PATCHED:
        if given[name] != policy.get(name):
            raise ApiError(501, f"{call.method.id} of {name} is not emulated")
    changed = {name: merge(policy.get(name), given[name]) for name in given.keys() & _PATCHED}
    schedule = (given.get("snapshotSchedulePolicy") or {}).get("schedule")
    if schedule:  # a schedule has one frequency, which replaces another one
        changed["snapshotSchedulePolicy"]["schedule"] = schedule
    return _POLICIES.change(call, "patch", changed)


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


def _create_reservation(call: Call, path: str, head: Json) -> Json:
    if not (call.body.get("specificReservation") or {}).get("count"):
        raise required("resource.specificReservation.count")
    return call.insert(path, {"specificReservationRequired": False, **call.body, **head, "status": "READY"})


_RESERVATIONS: Final = Collection(name="reservations", singular="reservation", create=_create_reservation)
_RESERVATIONS.register("delete", "insert", "list")


@handles("compute.reservations.get")
def get_reservation(call: Call) -> Json:
    """Read a reservation, with the number of instances that use it."""
    _, reservation = _RESERVATIONS.find(call)
    used = {"inUseCount": str(used_of_reservation(call, call.path["zone"], reservation["name"]))}
    return show(call, reservation | {"specificReservation": reservation["specificReservation"] | used})


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
