"""The hash of what may hold a secret, for labels and request IDs, which more people can read than the secret."""

from __future__ import annotations

import functools
import hashlib


@functools.lru_cache(256)
def slow_hash(text: str) -> str:
    """Hash a text to 32 hexadecimal digits in about 20 ms and 8 MiB, so that guessing it takes long.

    No salt that only others lack would help: anyone who may read Google's data must be able to compare hashes, also
    without the state.
    """
    return hashlib.scrypt(text.encode(), salt=b"gcpx-generation", n=1 << 13, r=8, p=1, dklen=16).hex()
