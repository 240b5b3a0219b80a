# Generated from the declarations by tools/generate; do not change this file.
#
# The values of the declared records: plain dicts, in which every property may be missing. In a check or a preview, a
# value may also be unknown or secret; there, read it with the functions of gcpx.model.fields. In a patch, it may be
# None.

from typing import TypedDict

class TokenInfoQueryValues(TypedDict, total=False):
    idToken: str

class TokenInfoValues(TypedDict, total=False):
    alg: str
    aud: str
    azp: str
    email: str
    emailVerified: str
    exp: str
    iat: str
    iss: str
    kid: str
    sub: str
    typ: str
