# Generated from the declarations by tools/generate; do not change this file.
#
# The values of the declared records: plain dicts, in which every property may be missing. In a check or a preview, a
# value may also be unknown or secret; there, read it with the functions of gcpx.model.fields. In a patch, it may be
# None.

from typing import TypedDict

class SshKeyQueryValues(TypedDict, total=False):
    user: str

class SshKeyValues(TypedDict, total=False):
    expirationTimeUsec: str
    fingerprint: str
    key: str
    name: str
    projectId: str
    regions: list[str]
    user: str
