"""Access control lists of buckets and objects: what they may hold, predefined lists, and how entries are shown.

Source: the API's description, the page "Access control lists (ACLs)", recordings of buckets, and the rules and messages
that tests of a public client quote from Google.
"""

from __future__ import annotations

import re
from typing import Any, Final

from gcpx_emulator.core.errors import ApiError, required
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.projects import project_number

Entries = list[Json]
"""The stored entries of a list: each has an `entity` and a `role`."""
LISTS: Final = {"acl": "storage#bucketAccessControl", "defaultObjectAcl": "storage#objectAccessControl"}
"""The fields of a bucket with its list and with that of its new objects, each with the kind of its entries."""
OWNER, WRITER, READER = "OWNER", "WRITER", "READER"
_ROLES: Final = {"storage#bucketAccessControl": {OWNER, WRITER, READER}, "storage#objectAccessControl": {OWNER, READER}}
_TEAMS: Final = {"owners": OWNER, "editors": OWNER, "viewers": READER}
"""The teams of a project, each with its role in the list `projectPrivate`, which a new bucket has, as recorded."""
_ALL, _SIGNED_IN = "allUsers", "allAuthenticatedUsers"
_OTHERS: Final = {
    "authenticatedRead": [{"entity": _SIGNED_IN, "role": READER}],
    "private": [],
    "publicRead": [{"entity": _ALL, "role": READER}],
}
"""What predefined lists give to others than the owner."""
_MOST: Final = 100
_PERSON: Final = re.compile(r"(user|group|domain)-(.+)")
_TEAM: Final = re.compile(r"project-(owners|editors|viewers)-(.+)")
READ_BUCKET: Final = "Cannot get legacy ACL for a bucket that has uniform bucket-level access."
WRITE_BUCKET: Final = "Cannot use ACL API to update bucket policy when uniform bucket-level access is enabled."
READ_OBJECT: Final = "Cannot get legacy ACL for an object when uniform bucket-level access is enabled."
WRITE_OBJECT: Final = "Cannot update access control for an object when uniform bucket-level access is enabled."
NEW_OBJECT: Final = "Cannot insert legacy ACL for an object when uniform bucket-level access is enabled."
_MORE: Final = "Read more at https://cloud.google.com/storage/docs/uniform-bucket-level-access"


def is_uniform(bucket: Json) -> bool:
    """Return whether a bucket has uniform bucket-level access, which replaces all lists."""
    return bool(bucket["iamConfiguration"]["uniformBucketLevelAccess"]["enabled"])


def refuse_uniform(bucket: Json, why: str) -> None:
    """Refuse to use a list of a bucket with uniform bucket-level access; `why` is one of the messages above."""
    if is_uniform(bucket):
        raise ApiError(400, f"{why} {_MORE}")


def bucket_owner(bucket: Json) -> str:
    """Return the entity that owns a bucket."""
    return f"project-owners-{bucket['projectNumber']}"


def project_private(bucket: Json) -> Entries:
    """Return the list that a new bucket and its objects have unless the request says otherwise."""
    return [{"entity": f"project-{team}-{bucket['projectNumber']}", "role": role} for team, role in _TEAMS.items()]


def predefined_of_bucket(bucket: Json, name: str) -> Entries:
    """Return the predefined list of a bucket."""
    if name == "projectPrivate":
        return project_private(bucket)
    others = [{"entity": _ALL, "role": WRITER}] if name == "publicReadWrite" else _OTHERS[name]
    return [{"entity": bucket_owner(bucket), "role": OWNER}, *others]


def predefined_of_objects(bucket: Json, name: str) -> Entries:
    """Return the predefined list of objects in a bucket, without the object's owner."""
    if name == "projectPrivate":
        return project_private(bucket)
    if name in {"bucketOwnerFullControl", "bucketOwnerRead"}:
        return [{"entity": bucket_owner(bucket), "role": OWNER if name == "bucketOwnerFullControl" else READER}]
    return list(_OTHERS[name])


def chosen(bucket: Json, given: Any, predefined: Entries | None, kind: str, owner: str = "") -> Entries | None:
    """Return the list that a request asks for; None if it asks for none, as an empty list does.

    Args:
        bucket: the bucket of the list.
        given: the entries in the body.
        predefined: the predefined list that a parameter names.
        kind: the kind of the entries.
        owner: the entity that keeps the role OWNER, if there is one.
    """
    if given and predefined is not None:
        raise ApiError(409, "Cannot provide both a predefinedAcl and access controls.", "conflict")
    if predefined is None and not given:
        return None
    entries: Entries = predefined if predefined is not None else []
    for item in given or ():
        entries = with_entry(entries, checked_entry(item, kind, owner))
    check_list(bucket, entries)
    is_complete = not owner or any(entry["entity"] == owner for entry in entries)
    return entries if is_complete else [*entries, {"entity": owner, "role": OWNER}]


def check_list(bucket: Json, entries: Entries) -> None:
    """Refuse a list that is too long, or one that grants the public access although the bucket prevents that."""
    if len(entries) > _MOST:
        words = f"An access control list can contain at most {_MOST} entries."
        raise ApiError(400, words, "tooManyAccessControlEntries")
    is_prevented = bucket["iamConfiguration"].get("publicAccessPrevention") == "enforced"
    if is_prevented and any(entry["entity"] in {_ALL, _SIGNED_IN} for entry in entries):
        words = "The member bindings allUsers and allAuthenticatedUsers are not allowed since public access prevention"
        raise ApiError(412, f"{words} is enforced.")


def checked_entry(given: Json, kind: str, owner: str = "") -> Json:
    """Return an entry as it is stored; refuse one that is incomplete, malformed, or takes a role from the owner."""
    if not given.get("entity"):
        raise required("entity")
    if not given.get("role"):
        raise ApiError(400, "Access control must contain a role", "required")
    if given["role"] not in _ROLES[kind]:
        raise ApiError(400, f"Invalid value for: {given['role']} is not a valid value")
    entry = {"entity": entity_of(given["entity"]), "role": given["role"]}
    if entry["entity"] == owner and entry["role"] != OWNER:
        raise ApiError(403, "The owner of the resource is required to have OWNER access.")
    return entry


def with_entry(entries: Entries, entry: Json) -> Entries:
    """Return a list with an entry, which replaces that of the same entity."""
    if all(other["entity"] != entry["entity"] for other in entries):
        return [*entries, entry]
    return [entry if other["entity"] == entry["entity"] else other for other in entries]


def entity_of(text: str) -> str:
    """Return an entity as it is stored: in lower case, and with the number of a project; refuse a malformed one."""
    if text in {_ALL, _SIGNED_IN}:
        return text
    if team := _TEAM.fullmatch(text):
        return f"project-{team[1]}-{project_number(team[2])}"
    if not _PERSON.fullmatch(text):
        raise ApiError(400, f'Scope text "{text}" is not valid.')
    return text.lower()


def shown_entry(entry: Json, kind: str, own: Json) -> Json:
    """Show an entry of a list; `own` has the fields of the bucket or object, such as its etag."""
    team, person = _TEAM.fullmatch(entry["entity"]), _PERSON.fullmatch(entry["entity"])
    place = f"{own['id']}/{entry['entity']}" if "id" in own else ""
    link = f"{own['selfLink']}/acl/{entry['entity']}" if "selfLink" in own else ""
    named = {"domain" if person[1] == "domain" else "email": person[2]} if person else {}
    project = {"projectTeam": {"projectNumber": team[2], "team": team[1]}} if team else {}
    return {"kind": kind, **own, **({"id": place, "selfLink": link} if place else {}), **entry, **named, **project}
