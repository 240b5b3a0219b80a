# Generated from the declarations by tools/generate; do not change this file.
#
# The values of the declared records: plain dicts, in which every property may be missing. In a check or a preview, a
# value may also be unknown or secret; there, read it with the functions of gcpx.model.fields. In a patch, it may be
# None.

from typing import TypedDict

class NotificationConfigQueryValues(TypedDict, total=False):
    bucket: str
    project: str
    userProject: str

class NotificationConfigValues(TypedDict, total=False):
    bucket: str
    customAttributes: dict[str, str]
    etag: str
    eventTypes: list[str]
    kind: str
    notificationId: str
    objectNamePrefix: str
    payloadFormat: str
    selfLink: str
    topic: str
    userProject: str
