"""Errors about capacity, quotas or addresses that have run out, as operations show them.

Sources: Compute Engine documentation, "Troubleshoot resource availability errors" and "Troubleshooting bulk VM
creation"; REST reference, `Operation`.
"""

from __future__ import annotations

from typing import Final

from gcpx_emulator.compute.call import Call
from gcpx_emulator.compute.capacity import Hardware, addresses_left, quota_left, room_in
from gcpx_emulator.compute.limits import checks_quota_at_request, has_plain_errors, instance_quota
from gcpx_emulator.compute.locations import region_of, zones_of
from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.json_data import Json

_DOCUMENTATION: Final = "https://cloud.google.com/compute/docs/resource-error"
_STATUSES: Final = {"QUOTA_EXCEEDED": (403, "FORBIDDEN"), "ZONE_RESOURCE_POOL_EXHAUSTED": (503, "SERVICE UNAVAILABLE")}
"""The HTTP status of operations that fail with an error, by its code without `_WITH_DETAILS`; of others it is 400."""


def failure_with(*errors: Json) -> Json:
    """Return the result of an operation that fails with these errors; the first one decides its HTTP status."""
    code = errors[0]["code"].removesuffix("_WITH_DETAILS")
    status, message = _STATUSES.get(code, (400, "BAD REQUEST"))
    return {"errors": list(errors), "httpErrorStatusCode": status, "httpErrorMessage": message}


def shortage_in(call: Call, zone: str, hardware: Hardware) -> Json | None:
    """Return the result of an operation that needs room for one more instance in a zone, if there is none.

    It is meant for starting an instance, and for anything else that needs capacity but no additional quota or address.
    """
    if room_in(call, zone, [hardware]).free:
        return None
    return failure_with(stock_out(call, zone, hardware, zones_with_room(call, zone, hardware)))


def shortage_of_one(call: Call, zone: str, hardware: Hardware) -> Json | None:
    """Return the result of an operation that creates one instance in a zone, if the zone has no room for it.

    Raises:
        ApiError: 403, if quotas are checked at the request and this one is used up.
    """
    region = region_of(zone)
    if not quota_left(call, region):
        refuse_at_request(call, region)
        return failure_with(quota_exceeded(call, region))
    return shortage_in(call, zone, hardware) or (
        None if addresses_left(call, region) else failure_with(addresses_exhausted(call, region))
    )


def zones_with_room(call: Call, zone: str, hardware: Hardware) -> list[str]:
    """Name the other zones of the region that have room for such an instance."""
    others = [other for other in zones_of(region_of(zone)) if other != zone]
    return [other for other in others if room_in(call, other, [hardware]).free]


def stock_out(call: Call, zone: str, hardware: Hardware, alternatives: list[str]) -> Json:
    """Say that a zone has no room for an instance; `alternatives` are zones that have room."""
    message = f"The zone '{call.project}/zones/{zone}' does not have enough resources available to fulfill the request."
    if has_plain_errors(call.store):
        return {
            "code": "ZONE_RESOURCE_POOL_EXHAUSTED",
            "message": f"{message} Try a different zone, or try again later.",
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
    """Describe in plain words what is not available, and where it is."""
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
    if checks_quota_at_request(call.store):
        raise ApiError(403, quota_exceeded(call, region)["message"], "quotaExceeded")


def quota_exceeded(call: Call, region: str) -> Json:
    """Say that the quota of a region allows no further instance."""
    limit = float(instance_quota(call.store, region) or 0)
    info = {"metricName": "compute.googleapis.com/instances", "limitName": "INSTANCES-per-project-region"}
    details = [{"quotaInfo": info | {"limit": limit, "dimensions": {"region": region}}}]
    message = f"Quota 'INSTANCES' exceeded.  Limit: {limit} in region {region}."
    return {"code": "QUOTA_EXCEEDED", "message": message, "errorDetails": details}


def addresses_exhausted(call: Call, region: str) -> Json:
    """Say that the subnetwork of a region has no further address."""
    subnetwork = f"{call.project}/regions/{region}/subnetworks/default"
    message = f"IP space of '{subnetwork}' is exhausted."
    if has_plain_errors(call.store):
        return {"code": "IP_SPACE_EXHAUSTED", "message": message}
    return {"code": "IP_SPACE_EXHAUSTED_WITH_DETAILS", "message": message, "errorDetails": _explanation(message)}
