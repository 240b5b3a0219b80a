"""The public keys with which tokens are verified."""

from __future__ import annotations

from typing import Final

from starlette.responses import JSONResponse

from gcpx_emulator.core.call import Call
from gcpx_emulator.core.handlers import handles
from gcpx_emulator.core.json_data import Json

_MAX_AGE: Final = 20_000
"""Seconds for which clients may keep the keys."""


def _cacheable(keys: Json) -> JSONResponse:
    return JSONResponse(keys, headers={"Cache-Control": f"public, max-age={_MAX_AGE}, must-revalidate"})


@handles("oauth2.certs")
def get_certificates(call: Call) -> JSONResponse:
    """Publish the certificates of Google accounts."""
    return _cacheable(call.cloud.signer.certificates())


@handles("oauth2.keys")
def get_key_set(call: Call) -> JSONResponse:
    """Publish the same keys as a JSON Web Key Set."""
    return _cacheable(call.cloud.signer.key_set())


@handles("iap.publicKeys")
def get_proxy_keys(call: Call) -> JSONResponse:
    """Publish the keys of Identity-Aware Proxy."""
    return _cacheable(call.cloud.signer.proxy_keys())
