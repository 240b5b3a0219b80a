"""SSH public keys in OpenSSH's format, `TYPE BASE64 [COMMENT]`."""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import Any


def parse_public_key(key: str) -> bytes:
    """Return the decoded data of a public key; raise ValueError with what is required if it is not one."""
    if "PRIVATE KEY" in key or key.startswith("PuTTY-User-Key-File"):
        raise ValueError("must be the public key, the content of the .pub file; this is the private one")
    parts = key.split()
    if len(parts) < 2:  # noqa: PLR2004 - type and data
        raise ValueError("must be an SSH public key, written `TYPE BASE64 [COMMENT]`")
    try:
        data = base64.b64decode(parts[1], validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("must have valid base64 after its type: `TYPE BASE64 [COMMENT]`") from None
    length = int.from_bytes(data[:4], "big")
    if data[4 : 4 + length].decode("ascii", "replace") != parts[0]:
        raise ValueError("must begin with the type of its data; the data has a different type")
    return data


def fingerprint(key: str) -> str:
    """Return the SHA-256 hash of a valid public key in hexadecimal, by which OS Login identifies it."""
    return hashlib.sha256(parse_public_key(key)).hexdigest()


def without_comment(key: Any) -> Any:
    """Reduce a public key to its data, which is equal for keys that differ in comment and spacing only.

    Any other value is returned as it is.
    """
    try:
        return parse_public_key(str(key))
    except ValueError:
        return key
