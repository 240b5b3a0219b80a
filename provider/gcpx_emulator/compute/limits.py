"""The capacity of zones, the quotas of regions and the sizes of subnetworks, as set at `/_emulator/limits`."""

from __future__ import annotations

from typing import Any, Final

from gcpx_emulator.compute.locations import REGIONS, ZONES
from gcpx_emulator.core.control_bodies import SWITCH, ControlBody, Field, is_object, is_whole, numbers_by, some
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.settings import setting
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


def instance_quota(store: Store, region: str) -> int | None:
    """Return the number of instances that a project may have in a region, if it is limited."""
    return _number(store, "instances", region)


def subnetwork_size(store: Store, region: str) -> int | None:
    """Return the number of addresses that the subnetwork of a region has for instances, if it is limited."""
    return _number(store, "addresses", region)


def zone_capacity(store: Store, zone: str) -> int | None:
    """Return the number of running instances that a zone has room for, if it is limited."""
    return _number(store, "zones", zone)


def machine_type_capacity(store: Store, zone: str, machine_type: str) -> int | None:
    """Return the number of running instances of a machine type that a zone has room for, if it is limited."""
    return _number(store, "machineTypes", zone, machine_type)


def model_capacity(store: Store, zone: str, model: str) -> int | None:
    """Return the number of running instances of a provisioning model that a zone has room for, if it is limited."""
    return _number(store, "provisioningModels", zone, model)


def has_plain_errors(store: Store) -> bool:
    """Return whether errors about capacity and addresses come without details, under their plain codes."""
    return bool(_LIMITS.read(store).get("plainErrors"))


def checks_quota_at_request(store: Store) -> bool:
    """Return whether a request above the quota is refused at once; otherwise its operation fails."""
    return bool(_LIMITS.read(store).get("quotaAtRequest"))


def _number(store: Store, *keys: str) -> int | None:
    value: Any = _LIMITS.read(store)
    for key in keys:
        found: Json | int | None = value.get(key)
        if found is None:
            return None
        value = found
    return int(value)
