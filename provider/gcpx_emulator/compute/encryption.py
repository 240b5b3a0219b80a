"""Encryption keys: how they are shown, and which disk needs which."""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import Final

from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.store import Json

_OWN: Final = {"rawKey": 32, "rsaEncryptedKey": 256}
"""Customer-supplied keys, and how many bytes each has."""
_KMS: Final = ("kmsKeyName", "kmsKeyServiceAccount")


def customer_supplied(key: Json | None) -> bool:
    """Tell whether a key is the customer's own, and not one of a key management service."""
    return bool(_OWN.keys() & (key or {}).keys())


def shown_key(where: str, key: Json | None) -> Json:
    """Show a key as Google does: one of a service by its version, a customer's own by its hash alone."""
    given = [name for name in (*_OWN, "kmsKeyName") if (key or {}).get(name)]
    if not key or not given:
        return {}
    if len(given) > 1:
        raise _refused(where, f"Only one of {' and '.join(given)} can be set.")
    if given == ["kmsKeyName"]:
        version = "" if "/cryptoKeyVersions/" in key["kmsKeyName"] else "/cryptoKeyVersions/1"
        return {name: key[name] for name in _KMS if key.get(name)} | {"kmsKeyName": key["kmsKeyName"] + version}
    # Only Google can unwrap a wrapped key; here its wrapped form stands for it.
    digest = hashlib.sha256(_bytes(f"{where}.{given[0]}", key[given[0]], _OWN[given[0]])).digest()
    return {"sha256": base64.b64encode(digest).decode()}


def _bytes(where: str, key: str, size: int) -> bytes:
    try:
        found = base64.b64decode("".join(key.split()), validate=True)
    except (binascii.Error, ValueError):
        raise _refused(where, "The key must be base64.") from None
    if len(found) != size:
        raise _refused(where, f"The key must have {8 * size} bits.")
    return found


def check_opens(where: str, key: Json | None, disk: Json) -> None:
    """Refuse to open a disk with any key but the customer's own that it was encrypted with."""
    needed = disk.get("diskEncryptionKey", {}).get("sha256")
    if needed is not None and shown_key(where, key).get("sha256") != needed:
        raise _refused(where, f"The disk '{disk['name']}' is protected by a customer-supplied key; supply that key.")


def _refused(where: str, why: str) -> ApiError:
    """Refuse a key, without repeating it."""
    return ApiError(400, f"Invalid value for field '{where}'. {why}")
