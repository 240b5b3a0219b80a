"""The keys that encrypt disks, images, snapshots and instances; their form is checked by `constraints`."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable
from typing import Final

from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.json_data import Json

_CUSTOMER_SUPPLIED: Final = ("rawKey", "rsaEncryptedKey")
_KMS: Final = ("kmsKeyName", "kmsKeyServiceAccount")


def is_customer_supplied(key: Json | None) -> bool:
    """Return whether a key is supplied by the customer, and not by Cloud KMS."""
    return any(name in (key or {}) for name in _CUSTOMER_SUPPLIED)


def shown_key(key: Json | None) -> Json:
    """Show a key as Google does: a Cloud KMS key by its name and version, a customer's key by its SHA-256 hash only.

    Without a key, the result is empty.
    """
    given = key or {}
    if given.get("kmsKeyName"):
        version = "" if "/cryptoKeyVersions/" in given["kmsKeyName"] else "/cryptoKeyVersions/1"
        return {name: given[name] for name in _KMS if given.get(name)} | {"kmsKeyName": given["kmsKeyName"] + version}
    supplied = next((given[name] for name in _CUSTOMER_SUPPLIED if given.get(name)), None)
    if supplied is None:
        return {}
    # Only Google can unwrap a wrapped key, so the emulator hashes it as it is.
    digest = hashlib.sha256(base64.b64decode("".join(supplied.split()))).digest()
    return {"sha256": base64.b64encode(digest).decode()}


def shown_keys(body: Json, names: Iterable[str]) -> Json:
    """Show the keys in these fields of a body; fields without a key are left out."""
    keys = {name: shown_key(body.get(name)) for name in names}
    return {name: key for name, key in keys.items() if key}


def check_own_key(field: str, key: Json | None, resource: Json) -> None:
    """Refuse to use a resource with another key than its own, or without its customer-supplied key."""
    kind, own = _protection(resource)
    if (given := shown_key(key)) and _identity(given) != _identity(own):
        why = f"The {kind} '{resource['name']}' is not protected by this key."
        raise ApiError(400, f"Invalid value for field '{field}'. {why}")
    check_key(field, key, resource)


def _protection(resource: Json) -> tuple[str, Json]:
    """Return the word for a resource in messages, and the key that protects it; without one, the key is empty."""
    kind = resource.get("kind", "").removeprefix("compute#")
    return re.sub("([A-Z])", r" \1", kind).lower(), resource.get(f"{kind}EncryptionKey") or {}


def _identity(shown: Json) -> str:
    """Return what distinguishes a shown key from others: its hash, or its name without the version."""
    name: str = shown.get("sha256") or shown.get("kmsKeyName", "")
    return name.partition("/cryptoKeyVersions/")[0]


def check_key(field: str, key: Json | None, resource: Json) -> None:
    """Refuse to use an encrypted resource without its customer-supplied key; the message hides the key."""
    kind, own = _protection(resource)
    if "sha256" in own and shown_key(key).get("sha256") != own["sha256"]:
        why = f"The {kind} '{resource['name']}' is protected by a customer-supplied key; supply that key."
        raise ApiError(400, f"Invalid value for field '{field}'. {why}")
