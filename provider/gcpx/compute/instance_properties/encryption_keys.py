"""Keys that encrypt disks, images and snapshots in place of Google's own keys: their declaration and rules."""

from __future__ import annotations

import base64
import binascii
from typing import Any, Final

from gcpx.compute.documentation import rest
from gcpx.model import normal_forms
from gcpx.model.fields import Record, field, output_field, record
from gcpx.model.rules import Violation, elements, exclusive, nested, rule, text

_KEY_SIZES: Final = (("rawKey", 32), ("rsaEncryptedKey", 256))
"""The number of bytes that each customer-supplied key has, before it is written in base64."""
_UNSUPPORTED: Final = "Google no longer supports customer-supplied keys; use kmsKeyName"


@rule(
    "a customer-supplied key must be base64 (RFC 4648) of 32 bytes (rawKey) or 256 bytes (rsaEncryptedKey)",
    rest("instances", "disks[].diskEncryptionKey"),
)
def customer_supplied_keys_have_their_size(values: dict[str, Any]) -> list[Violation]:
    """Refuse customer-supplied keys that are not base64 of the right number of bytes."""
    return [
        (name, f"must be {size} bytes in base64 (RFC 4648)")
        for name, size in _KEY_SIZES
        if text(values, name) and _decoded_size(text(values, name)) != size
    ]


def _decoded_size(given: str) -> int:
    try:
        return len(base64.b64decode("".join(given.split()), validate=True))
    except (binascii.Error, ValueError):
        return -1


@record
class CustomerEncryptionKey(Record):
    """An encryption key of your own, used in place of Google's. Set one of `kmsKeyName`, `rawKey` and `rsaEncryptedKey`."""

    RULES = (
        exclusive(
            "kmsKeyName", "rawKey", "rsaEncryptedKey", source=rest("instances", "disks[].diskEncryptionKey.rawKey")
        ),
        customer_supplied_keys_have_their_size,
    )

    kms_key_name: str = field(
        "The Cloud KMS key, such as `projects/my-project/locations/us-east1/keyRings/my-ring/cryptoKeys/my-key`. A change of the version at the end, such as `/cryptoKeyVersions/1`, is not a change of the key.",
        normalize=lambda name: str(name).partition("/cryptoKeyVersions/")[0],
    )
    kms_key_service_account: str = field(
        "The service account that uses the Cloud KMS key, such as `name@my-project.iam.gserviceaccount.com`. Default: Compute Engine's default service account."
    )
    raw_key: str = field(
        "A customer-supplied key: 32 bytes (256 bits) in base64 (RFC 4648). Instance templates do not store such keys, and bulk creation does not accept them.",
        secret=True,
        write_only=True,
        deprecated=_UNSUPPORTED,
        normalize=normal_forms.decoded,
    )
    rsa_encrypted_key: str = field(
        "A customer-supplied key, wrapped with the RSA public key of Google's certificate: 256 bytes in base64 (RFC 4648). Instance templates do not store such keys, and bulk creation does not accept them.",
        secret=True,
        write_only=True,
        deprecated=_UNSUPPORTED,
        normalize=normal_forms.decoded,
    )
    sha256: str = output_field("The SHA-256 hash of the customer-supplied key, in base64.")


def no_customer_keys(owner: str, values: dict[str, Any]) -> list[Violation]:
    """Refuse customer-supplied keys of disks, for templates, which do not store them, and for bulk creation.

    Args:
        owner: the property that holds the instance properties: `properties` or `instanceProperties`.
        values: the inputs of the template or fleet.
    """
    return [
        (
            (owner, "disks", index, "diskEncryptionKey", name),
            "must be left out: customer-supplied keys cannot be used here; use kmsKeyName",
        )
        for index, disk in elements(nested(values, owner), "disks")
        for name, _ in _KEY_SIZES
        if nested(disk, "diskEncryptionKey").get(name)
    ]
