"""What Compute adds to an instance that it shows: what its metadata sets, and deprecated copies of fields."""

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
_COPIES: Final = {
    "shieldedInstanceConfig": "shieldedVmConfig",
    "shieldedInstanceIntegrityPolicy": "shieldedVmIntegrityPolicy",
}
"""Deprecated fields of the beta version by those that they repeat."""


def viewed(instance: Json) -> Json:
    """Return an instance as Compute shows it."""
    status = instance.get("resourceStatus") or {}
    items = {item["key"]: item.get("value", "") for item in instance.get("metadata", {}).get("items", ())}
    shown = {"effectiveInstanceMetadata": _effective(items), "scheduling": {}} | status
    copies = {copy: instance[name] for name, copy in _COPIES.items() if name in instance}
    return instance | copies | {"resourceStatus": shown}


def _effective(items: dict[str, str]) -> dict[str, Any]:
    """Return the settings that follow from metadata; other projects than those with zonal DNS have global DNS."""
    switches = {field: items[key].upper() in _TRUE for key, field in _SWITCHES.items() if key in items}
    return {"vmDnsSettingMetadataValue": items.get("VmDnsSetting", "GlobalDefault"), **switches}
