# Generated from the declarations by tools/generate; do not change this file.
#
# The values of the declared records: plain dicts, in which every property may be missing. In a check or a preview, a
# value may also be unknown or secret; there, read it with the functions of gcpx.model.fields. In a patch, it may be
# None.

from typing import TypedDict

class PushTokenClaimsValues(TypedDict, total=False):
    aud: str
    azp: str
    email: str
    emailVerified: bool
    exp: int
    iat: int
    iss: str
    sub: str

class PushTokenQueryValues(TypedDict, total=False):
    audience: str
    certificates: dict[str, str]
    clockSkewSeconds: int
    identityAwareProxy: bool
    serviceAccountEmail: str
    token: str

class PushTokenVerdictValues(TypedDict, total=False):
    claims: PushTokenClaimsValues
    reason: str
    valid: bool
