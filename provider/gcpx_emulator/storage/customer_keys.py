"""Customer-supplied keys of objects, which requests send in headers; only a key's hash is stored.

Source: the page "Customer-supplied encryption keys", and the reasons and messages on the page "HTTP status and error
codes for JSON".
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import Final

from gcpx_emulator.core.call import TAKES_KEYS, Call
from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.json_data import Json

_ALGORITHM: Final = "AES256"
_BYTES: Final = 32
_OWN, _SOURCE = "x-goog-encryption-", "x-goog-copy-source-encryption-"
"""The beginnings of the headers with the key of an object, and with that of the source of a copy."""
_FIELD: Final = "customerEncryption"
NOT_COPIED: Final = frozenset({_FIELD})
_HASHES: Final = ("crc32c", "md5Hash")
TAKES_KEYS.update(f"storage.objects.{verb}" for verb in ("compose", "copy", "get", "insert", "rewrite"))
TAKES_KEYS.add("storage.xml.getObject")


def _given(call: Call, beginning: str) -> Json:
    """Read a key from headers; return what is stored of it, which is empty without a key."""
    names = ("algorithm", "key", "key-sha256")
    algorithm, key, digest = (call.headers.get(beginning + name) for name in names)
    if algorithm is None and key is None and digest is None:
        return {}
    if algorithm != _ALGORITHM:
        words = f'Missing an encryption algorithm, or the provided algorithm is not "{_ALGORITHM}."'
        raise ApiError(400, words, "customerEncryptionAlgorithmIsInvalid")
    content = _decoded(key or "")
    if len(content) != _BYTES:
        words = "Missing an encryption key, or it is not base64 encoded, or it does not meet the required length of the"
        raise ApiError(400, f"{words} encryption algorithm.", "customerEncryptionKeyFormatIsInvalid")
    own = base64.b64encode(hashlib.sha256(content).digest()).decode()
    if digest != own:
        words = "Missing a SHA256 hash of the encryption key, or it is not base64 encoded, or it does not match the"
        raise ApiError(400, f"{words} encryption key.", "customerEncryptionKeySha256IsInvalid")
    return {"encryptionAlgorithm": algorithm, "keySha256": own}


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""


def with_own_key(call: Call, stored: Json) -> Json:
    """Return a new object, which is protected by the key of the request if it has one, and then by no other."""
    key = _given(call, _OWN)
    if not key:
        return stored
    if any(call.query.get(name) for name in ("kmsKeyName", "destinationKmsKeyName")) or call.body.get("kmsKeyName"):
        raise ApiError(400, "An object is encrypted either with a Cloud KMS key or with a customer-supplied key.")
    return {name: value for name, value in stored.items() if name != "kmsKeyName"} | {_FIELD: key}


def check_key(call: Call, stored: Json, *, is_source: bool = False, is_needed: bool = True) -> None:
    """Refuse to use an object with another key than its own, or without it.

    Args:
        call: has the key in its headers.
        stored: the object.
        is_source: whether the object is the source of a copy, for which a request has headers of their own.
        is_needed: whether the key is needed, as it is for the content.
    """
    given, own = _given(call, _SOURCE if is_source else _OWN), stored.get(_FIELD)
    if given and not own:
        words = "The target object is not encrypted by a customer-supplied encryption key."
        raise ApiError(400, words, "resourceNotEncryptedWithCustomerEncryptionKey")
    if own and is_needed and not given:
        words = "The target object is encrypted by a customer-supplied encryption key."
        raise ApiError(400, words, "resourceIsEncryptedWithCustomerEncryptionKey")
    if given and given != own:
        raise ApiError(400, "The provided encryption key is incorrect.", "customerEncryptionKeyIsIncorrect")


def without_hidden_hashes(call: Call, shown: Json) -> Json:
    """Return the metadata of an object without the hashes of its content, unless the request has the object's key."""
    if _FIELD not in shown or _given(call, _OWN) == shown[_FIELD]:
        return shown
    return {name: value for name, value in shown.items() if name not in _HASHES}


def headers_of(stored: Json) -> dict[str, str]:
    """Return the headers of a response with the content of an object, which name its key."""
    key = stored.get(_FIELD)
    if not key:
        return {}
    return {f"{_OWN}algorithm": key["encryptionAlgorithm"], f"{_OWN}key-sha256": key["keySha256"]}
