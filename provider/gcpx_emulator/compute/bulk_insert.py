"""Compute: many instances in one call, as far as capacity and quota go."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator

import attrs

from gcpx_emulator.compute.catalog import LIMITS, ZONES, check_place
from gcpx_emulator.compute.constraints.checks import check_merged
from gcpx_emulator.compute.deprecations import notes
from gcpx_emulator.compute.encryption import customer_supplied
from gcpx_emulator.compute.instance_templates import of_template
from gcpx_emulator.compute.instances import check_instance, new_instance
from gcpx_emulator.core.errors import ApiError, invalid, required
from gcpx_emulator.core.handlers import Call, handles
from gcpx_emulator.core.merge_patch import merge
from gcpx_emulator.core.operations import Effect
from gcpx_emulator.core.store import Json


@attrs.frozen
class _Plan:
    """What a call comes to.

    Attributes:
        names: of instances by zone.
        wanted: how many were asked for by zone.
        shortage: the error of what could not be made, if anything.
    """

    names: dict[str, list[str]]
    wanted: dict[str, int]
    shortage: Json | None

    @property
    def made(self) -> int:
        return sum(len(names) for names in self.names.values())


@handles("compute.regionInstances.bulkInsert", "compute.instances.bulkInsert")
def bulk_insert(call: Call) -> Json:
    """Make instances; when fewer than the minimum can be made, none stay."""
    check_place(call)
    body = call.body
    properties = _properties(call, body)
    check_instance({**properties, "machineType": str(properties.get("machineType", "")).rpartition("/")[2]})
    _refuse_customer_keys(properties)
    count, least = _counts(body)
    _refuse_shared_writing(properties, count)
    zones = _zones(call, body.get("locationPolicy") or {})
    plan = _plan(call, body, count, zones)
    enough = plan.made >= least
    effects = list(_effects(call, body, properties, plan)) if enough and call.failure is None else []
    extra = notes(call, properties) | {
        "operationGroupId": str(uuid.uuid4()),
        "instancesBulkInsertOperationMetadata": {"perLocationStatus": _status(plan, enough and not call.failure)},
    }
    error = call.failure or (None if enough else _not_enough(plan, least))
    return call.operation("bulkInsert", f"{call.parent}", "0", effects, error=error, extra=extra)


def _properties(call: Call, body: Json) -> Json:
    """Merge the template's properties with those of the call, as RFC 7396 says."""
    own = body.get("instanceProperties") or {}
    link = body.get("sourceInstanceTemplate")
    if not link:
        if not own:
            raise required("resource.instanceProperties")
        return dict(merge({}, own))
    merged: Json = merge(of_template(call, "resource.sourceInstanceTemplate", link), own)
    check_merged(call.version, call.method, merged)
    return merged


def _refuse_customer_keys(properties: Json) -> None:
    for disk in properties.get("disks") or ():
        if customer_supplied(disk.get("diskEncryptionKey")):
            raise invalid("resource.instanceProperties.disks", "", "Customer-supplied keys cannot be used in bulk.")


def _refuse_shared_writing(properties: Json, count: int) -> None:
    for index, disk in enumerate(properties.get("disks") or ()):
        if count > 1 and disk.get("source") and disk.get("mode") != "READ_ONLY":
            where = f"resource.instanceProperties.disks[{index}].mode"
            raise invalid(where, disk.get("mode", ""), "A disk of several instances must be read-only.")


def _counts(body: Json) -> tuple[int, int]:
    names = body.get("perInstanceProperties") or {}
    if not names and not body.get("namePattern"):
        raise required("resource.namePattern")
    if names and body.get("namePattern"):
        raise invalid("resource.namePattern", body["namePattern"], "Conflicts with perInstanceProperties.")
    count = int(body.get("count") or len(names))
    if not count:
        raise required("resource.count")
    if names and count != len(names):
        raise invalid("resource.count", count, "Must be the number of perInstanceProperties.")
    return count, int(body.get("minCount") or count)


def _zones(call: Call, policy: Json) -> dict[str, int]:
    """Name the zones that may be used, with how many instances each takes."""
    if "zone" in call.path:
        return {call.path["zone"]: _free(call, call.path["zone"])}
    region = call.path["region"]
    named = {key.rpartition("/")[2]: value for key, value in (policy.get("locations") or {}).items()}
    allowed = [f"{region}-{letter}" for letter in ZONES[region]]
    unknown = set(named) - set(allowed)
    if unknown:
        raise invalid("resource.locationPolicy.locations", ", ".join(sorted(unknown)), "No zone of the region.")
    listed = [item["zone"].rpartition("/")[2] for item in policy.get("zones") or ()]
    wished = {zone for zone, value in named.items() if value.get("preference", "ALLOW") == "ALLOW"} | set(listed)
    usable = [
        zone for zone in allowed if named.get(zone, {}).get("preference") != "DENY" and (not wished or zone in wished)
    ]
    if not usable:
        raise invalid("resource.locationPolicy", "", "No zone is left.")
    caps = {zone: (named.get(zone, {}).get("constraints") or {}).get("maxCount") for zone in usable}
    return {zone: min(_free(call, zone), cap if cap is not None else 10**9) for zone, cap in caps.items()}


def _free(call: Call, zone: str) -> int:
    limits = (call.store.get(LIMITS) or {}).get("zones", {})
    used = len(call.store.list(f"projects/{call.path['project']}/zones/{zone}/instances"))
    return max(0, int(limits[zone]) - used) if zone in limits else 10**9


def _plan(call: Call, body: Json, count: int, zones: dict[str, int]) -> _Plan:
    allowed, quota = _quota(call, count)
    shape = (body.get("locationPolicy") or {}).get("targetShape", "ANY_SINGLE_ZONE")
    wanted = _spread(count, zones, shape)
    left, names = allowed, {}
    for zone, number in wanted.items():
        fits = min(number, zones[zone], left)
        left -= fits
        names[zone] = fits
    chosen = iter(_names(call, body, list(zones), count))
    placed = {zone: [next(chosen) for _ in range(number)] for zone, number in names.items()}
    made = sum(names.values())
    shortage = None if made == count else quota if allowed < count else _stock_out(wanted, zones)
    return _Plan(placed, wanted, shortage)


def _spread(count: int, zones: dict[str, int], shape: str) -> dict[str, int]:
    if shape == "BALANCED":
        share, rest = divmod(count, len(zones))
        return {zone: share + (index < rest) for index, zone in enumerate(zones)}
    if shape == "ANY_SINGLE_ZONE":
        return {max(zones, key=lambda zone: min(zones[zone], count)): count}
    wanted: dict[str, int] = {}
    left = count
    for zone, room in zones.items():
        wanted[zone] = min(left, room)
        left -= wanted[zone]
    last = next(reversed(wanted))
    wanted[last] += left
    return {zone: number for zone, number in wanted.items() if number}


def _quota(call: Call, count: int) -> tuple[int, Json]:
    region = call.path.get("region") or call.path["zone"].rpartition("-")[0]
    limit = (call.store.get(LIMITS) or {}).get("instances", {}).get(region)
    if limit is None:
        return count, {}
    project = f"projects/{call.path['project']}"
    used = sum(len(call.store.list(f"{project}/zones/{region}-{letter}/instances")) for letter in ZONES[region])
    info = {"metricName": "compute.googleapis.com/instances", "limitName": "INSTANCES-per-project-region"}
    details = [{"quotaInfo": info | {"limit": float(limit), "dimensions": {"region": region}}}]
    message = f"Quota 'INSTANCES' exceeded. Limit: {float(limit)} in region {region}."
    error = {"code": "QUOTA_EXCEEDED", "message": message, "errorDetails": details}
    return min(count, max(0, int(limit) - used)), error


def _stock_out(wanted: dict[str, int], zones: dict[str, int]) -> Json:
    short = next(zone for zone, number in wanted.items() if number > zones[zone])
    message = f"The zone '{short}' does not have enough resources available to fulfill the request."
    return {"code": "ZONE_RESOURCE_POOL_EXHAUSTED", "message": message}


def _names(call: Call, body: Json, zones: list[str], count: int) -> Iterator[str]:
    given = body.get("perInstanceProperties")
    if given:
        taken = [name for name in given if any(_exists(call, zone, name) for zone in zones)]
        if taken:
            raise ApiError(409, f"The resource 'instances/{taken[0]}' already exists")
        yield from given
        return
    pattern = body["namePattern"]
    width = pattern.count("#")
    form = re.compile(re.escape(pattern).replace(re.escape("#" * width), rf"(\d{{{width}}})"))
    first = 1 + max((number for zone in zones for number in _numbers(call, zone, form)), default=0)
    if len(str(first + count - 1)) > width:
        raise invalid("resource.namePattern", pattern, "Has too few # for the names that are needed.")
    yield from (pattern.replace("#" * width, f"{number:0{width}}") for number in range(first, first + count))


def _exists(call: Call, zone: str, name: str) -> bool:
    return call.store.get(f"projects/{call.path['project']}/zones/{zone}/instances/{name}") is not None


def _numbers(call: Call, zone: str, form: re.Pattern[str]) -> Iterator[int]:
    for item in call.store.list(f"projects/{call.path['project']}/zones/{zone}/instances"):
        found = form.fullmatch(item["name"])
        if found:
            yield int(found[1])


def _effects(call: Call, body: Json, properties: Json, plan: _Plan) -> Iterator[Effect]:
    given = body.get("perInstanceProperties") or {}
    for zone, names in plan.names.items():
        for name in names:
            path = f"projects/{call.path['project']}/zones/{zone}/instances/{name}"
            hostname = (given.get(name) or {}).get("hostname")
            own = {"hostname": hostname} if hostname else {}
            yield from new_instance(call, path, {**properties, **own})[1]


def _status(plan: _Plan, enough: bool) -> Json:
    return {
        f"zones/{zone}": {
            "status": "DONE" if enough else "ROLLING_BACK",
            "targetVmCount": wanted,
            "createdVmCount": len(plan.names[zone]),
            "failedToCreateVmCount": wanted - len(plan.names[zone]),
            "deletedVmCount": 0 if enough else len(plan.names[zone]),
        }
        for zone, wanted in plan.wanted.items()
    }


def _not_enough(plan: _Plan, least: int) -> Json:
    message = f"Requested minimum count of {least} VMs could not be created."
    errors = [{"code": "VM_MIN_COUNT_NOT_REACHED", "message": message}]
    return {"errors": [*([plan.shortage] if plan.shortage else []), *errors], "httpErrorStatusCode": 503}
