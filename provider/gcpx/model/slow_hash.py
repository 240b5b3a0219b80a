"""The hash of what may hold a secret, for labels and request IDs, which more people can read than the secret."""

from __future__ import annotations

import functools
import hashlib
import json
from typing import Any, Final

_SECRET_PARTS: Final = frozenset({"metadata", "rawKey", "rsaEncryptedKey"})
"""The fields of Google's bodies in which users keep secrets."""


@functools.lru_cache(256)
def slow_hash(text: str) -> str:
    """Hash a text to 32 hexadecimal digits in about 20 ms and 8 MiB, so that guessing it takes long.

    No salt that only others lack would help: anyone who may read Google's data must be able to compare hashes, also
    without the state.
    """
    return hashlib.scrypt(text.encode(), salt=b"gcpx-generation", n=1 << 13, r=8, p=1, dklen=16).hex()


def with_hashed_secrets(body: Any) -> Any:
    """Return the JSON of a body, with the slow hash in place of each part in which users keep secrets.

    The other parts cost no time: equal metadata of many resources is hashed once.
    """
    if isinstance(body, dict):
        return {
            name: slow_hash(json.dumps(part, sort_keys=True)) if name in _SECRET_PARTS else with_hashed_secrets(part)
            for name, part in body.items()
        }
    return list(map(with_hashed_secrets, body)) if isinstance(body, list) else body
