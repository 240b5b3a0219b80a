"""Advice on capacity: zones and machine types for a number of instances, with scores."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from gcpx_emulator.compute.bulk_insert import choices, spread
from gcpx_emulator.compute.call import Call, handles, last_part
from gcpx_emulator.compute.capacity import Hardware, room_in
from gcpx_emulator.compute.locations import check_location, zones_of
from gcpx_emulator.compute.machine_types import check_anywhere
from gcpx_emulator.core.controls import ControlBody, Field, is_duration, is_text, setting
from gcpx_emulator.core.errors import check_given, invalid, required
from gcpx_emulator.core.json_data import Json

_ADVISED_MODELS: Final = ("SPOT", "FLEX_START")
_USUAL_UPTIME: Final = "21600s"
_DURATION: Final = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?s")
_FIELDS: Final = {
    "estimatedUptime": Field(
        "a duration, such as 3600s", lambda value: is_text(value) and _DURATION.fullmatch(value) is not None
    ),
    "obtainability": Field("a number from 0 to 1", lambda value: is_duration(value) and value <= 1),
}
_SCORES: Final = setting("advice", ControlBody("advice", _FIELDS).check)


@handles("compute.advice.capacity")
def advise(call: Call) -> Json:
    """Recommend zones and machine types for a number of instances, with scores."""
    check_location(call)
    check_given(call.body, "size")
    size, model = int(call.body["size"]), _model(call.body)
    if size < 0:
        raise invalid("resource.size", size, "Must be positive.")
    kinds = list(choices(call, {"scheduling": {"provisioningModel": model}}))
    _check_machine_types(call, kinds)
    rooms = {zone: room_in(call, zone, kinds) for zone in _zones(call)}
    shape = (call.body.get("distributionPolicy") or {}).get("targetShape", "ANY_SINGLE_ZONE")
    filled = {zone: rooms[zone].fill(number) for zone, number in spread(size, rooms, shape).items()}
    shards = [
        {
            "zone": zone,
            "machineType": hardware.machine_type,
            "provisioningModel": hardware.model,
            "instanceCount": number,
        }
        for zone, chosen in filled.items()
        for hardware, number in Counter(chosen).items()
    ]
    scores: Json = {"obtainability": round(sum(map(len, filled.values())) / size, 2)}
    uptime = {"estimatedUptime": _USUAL_UPTIME} if model == "SPOT" else {}
    return {"recommendations": [{"scores": scores | uptime | _SCORES.read(call.store), "shards": shards}]}


def _model(body: Json) -> str:
    scheduling: Json = (body.get("instanceProperties") or {}).get("scheduling") or {}
    model = scheduling.get("provisioningModel")
    field = "resource.instanceProperties.scheduling.provisioningModel"
    if not model:
        raise required(field)
    if model not in _ADVISED_MODELS:
        raise invalid(field, model, f"Must be one of {', '.join(_ADVISED_MODELS)}.")
    return str(model)


def _check_machine_types(call: Call, kinds: list[Hardware]) -> None:
    field = "resource.instanceFlexibilityPolicy.instanceSelections"
    for hardware in kinds:
        if not hardware.machine_type:
            raise required(field)
        check_anywhere(call.store, field, hardware.machine_type)


def _zones(call: Call) -> list[str]:
    """Name the zones that the call asks for, or all zones of the region."""
    zones, policy = zones_of(call.path["region"]), call.body.get("distributionPolicy") or {}
    wanted = [last_part(item.get("zone", "")) for item in policy.get("zones") or ()]
    for zone in wanted:
        if zone not in zones:
            raise invalid("resource.distributionPolicy.zones", zone, "Not a zone of the region.")
    return wanted or zones
