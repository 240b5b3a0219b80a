"""Encryption keys: how they are shown, and which key decrypts which disk."""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import Final

from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.json_data import Json

_CUSTOMER_SUPPLIED: Final = {"rawKey": 32, "rsaEncryptedKey": 256}
"""The fields of customer-supplied keys, each with the number of bytes."""
_KMS: Final = ("kmsKeyName", "kmsKeyServiceAccount")


def is_customer_supplied(key: Json | None) -> bool:
    """Return whether a key is supplied by the customer, and not by Cloud KMS."""
    return bool(_CUSTOMER_SUPPLIED.keys() & (key or {}).keys())


def shown_key(field: str, key: Json | None) -> Json:
    """Show a key as Google does: a Cloud KMS key by its name and version, a customer's key by its SHA-256 hash only.

    Errors about a malformed key name `field`. Without a key, the result is empty.
    """
    given = [name for name in (*_CUSTOMER_SUPPLIED, "kmsKeyName") if (key or {}).get(name)]
    if not key or not given:
        return {}
    if len(given) > 1:
        raise _refusal(field, f"Only one of {' and '.join(given)} can be set.")
    if given == ["kmsKeyName"]:
        version = "" if "/cryptoKeyVersions/" in key["kmsKeyName"] else "/cryptoKeyVersions/1"
        return {name: key[name] for name in _KMS if key.get(name)} | {"kmsKeyName": key["kmsKeyName"] + version}
    # Only Google can unwrap a wrapped key, so the emulator hashes it as it is.
    digest = hashlib.sha256(_decoded(field, given[0], key[given[0]])).digest()
    return {"sha256": base64.b64encode(digest).decode()}


def _decoded(field: str, name: str, key: str) -> bytes:
    try:
        decoded = base64.b64decode("".join(key.split()), validate=True)
    except (binascii.Error, ValueError):
        raise _refusal(f"{field}.{name}", "The key must be base64.") from None
    if len(decoded) != _CUSTOMER_SUPPLIED[name]:
        raise _refusal(f"{field}.{name}", f"The key must have {8 * _CUSTOMER_SUPPLIED[name]} bits.")
    return decoded


def check_key(field: str, key: Json | None, disk: Json) -> None:
    """Refuse to use a disk without the customer-supplied key that it was encrypted with, if it was."""
    needed = disk.get("diskEncryptionKey", {}).get("sha256")
    if needed is not None and shown_key(field, key).get("sha256") != needed:
        raise _refusal(field, f"The disk '{disk['name']}' is protected by a customer-supplied key; supply that key.")


def _refusal(field: str, why: str) -> ApiError:
    """Refuse a key; the message does not repeat it."""
    return ApiError(400, f"Invalid value for field '{field}'. {why}")
