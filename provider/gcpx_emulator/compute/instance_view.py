"""Fields that Compute adds when it shows an instance: settings from its metadata, and deprecated copies of fields."""

from __future__ import annotations

from typing import Any, Final

from gcpx_emulator.core.json_data import Json

_SWITCHES: Final = {
    "block-project-ssh-keys": "blockProjectSshKeysMetadataValue",
    "enable-guest-attributes": "enableGuestAttributesMetadataValue",
    "enable-os-inventory": "enableOsInventoryMetadataValue",
    "enable-osconfig": "enableOsconfigMetadataValue",
    "enable-oslogin": "enableOsloginMetadataValue",
    "serial-port-enable": "serialPortEnableMetadataValue",
    "serial-port-logging-enable": "serialPortLoggingEnableMetadataValue",
}
"""The fields of `effectiveInstanceMetadata` by the metadata keys that set them, which are true or false."""
_TRUE: Final = frozenset({"1", "TRUE", "Y", "YES"})
_GLOBAL_DNS: Final = "GlobalDefault"
_DNS_WARNING: Final = (
    "You are creating a global DNS VM. VM instances using global DNS are vulnerable to cross-regional outages. To "
    "reduce the risk of widespread service disruption, use zonal DNS instead. Learn more at "
    "https://cloud.google.com/compute/docs/networking/zonal-dns"
)
"""A warning of 2025, which was recorded without a code."""
_COPIES: Final = {
    "shieldedInstanceConfig": "shieldedVmConfig",
    "shieldedInstanceIntegrityPolicy": "shieldedVmIntegrityPolicy",
}
"""Deprecated fields of the beta version by the fields that they repeat."""


def is_on(value: str) -> bool:
    """Return whether a value of metadata switches something on."""
    return value.upper() in _TRUE


def viewed(instance: Json) -> Json:
    """Return an instance as Compute shows it."""
    status = instance.get("resourceStatus") or {}
    shown = {"effectiveInstanceMetadata": _effective(instance), "scheduling": {}} | status
    copies = {copy: instance[name] for name, copy in _COPIES.items() if name in instance}
    return instance | copies | {"resourceStatus": shown}


def dns_warnings(properties: Json) -> list[Json]:
    """Return the warning of an operation that creates an instance with global DNS."""
    has_global_dns = _effective(properties)["vmDnsSettingMetadataValue"] == _GLOBAL_DNS
    return [{"message": _DNS_WARNING}] if has_global_dns else []


def _effective(instance: Json) -> dict[str, Any]:
    """Return the settings that follow from an instance's metadata; without any, it has global DNS."""
    given = (instance.get("metadata") or {}).get("items") or ()
    items = {item["key"]: item.get("value", "") for item in given}
    switches = {field: is_on(items[key]) for key, field in _SWITCHES.items() if key in items}
    return {"vmDnsSettingMetadataValue": items.get("VmDnsSetting", _GLOBAL_DNS), **switches}
