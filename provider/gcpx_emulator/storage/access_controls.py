"""The entries of access control lists: of buckets, of their new objects, and of single objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import attrs

from gcpx_emulator.core.call import Call, handles
from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.storage import buckets, objects
from gcpx_emulator.storage.access_lists import (
    LISTS,
    READ_BUCKET,
    READ_OBJECT,
    WRITE_BUCKET,
    WRITE_OBJECT,
    Entries,
    bucket_owner,
    check_list,
    checked_entry,
    entity_of,
    refuse_uniform,
    with_entry,
)
from gcpx_emulator.storage.conditions import check_conditions


@attrs.frozen(kw_only=True)
class _List:
    """The list that a call is about.

    Attributes:
        bucket: the bucket of the list.
        entries: its entries.
        owner: the entity that keeps the role OWNER; empty if there is none.
        show: writes an entry.
        write: stores other entries, and returns the list with them.
        reading: why it cannot be read if the bucket has uniform access.
        writing: why it cannot be changed then.
    """

    kind: str
    bucket: Json
    entries: Entries
    owner: str
    show: Callable[[Json], Json]
    write: Callable[[Entries], _List]
    reading: str = READ_BUCKET
    writing: str = WRITE_BUCKET

    def entry(self, entity: str) -> Json:
        """Return the entry of an entity, which must exist."""
        wanted = entity_of(entity)
        found = next((entry for entry in self.entries if entry["entity"] == wanted), None)
        if found is None:
            raise ApiError(404, "The specified key does not exist.")
        return found


def _of_bucket(name: str, call: Call, bucket: Json) -> _List:
    """Return a list of a bucket, which requests have in the field `name` of the bucket."""

    def write(entries: Entries) -> _List:
        return _of_bucket(name, call, buckets.write_changed(call, buckets.with_list(bucket, name, entries)))

    return _List(
        kind=LISTS[name],
        bucket=bucket,
        entries=buckets.list_of_bucket(bucket, name),
        owner=bucket_owner(bucket) if name == "acl" else "",
        show=lambda entry: buckets.shown_control(bucket, name, entry),
        write=write,
    )


def _of_object(call: Call, stored: Json) -> _List:
    bucket = objects.bucket_of(call, stored)

    def write(entries: Entries) -> _List:
        return _of_object(call, objects.write_changed_object(call, objects.with_list(stored, entries)))

    return _List(
        kind=LISTS["defaultObjectAcl"],
        bucket=bucket,
        entries=objects.list_of(bucket, stored),
        owner=objects.owner_of(stored),
        show=lambda entry: objects.shown_control(stored, entry),
        write=write,
        reading=READ_OBJECT,
        writing=WRITE_OBJECT,
    )


_NAMES: Final = {"bucketAccessControls": "acl", "defaultObjectAccessControls": "defaultObjectAcl"}
"""The collections of a bucket, each with the field of the bucket that has the list."""


def _list(call: Call) -> _List:
    """Read the list that a call is about; refuse it if the bucket has uniform access."""
    name = _NAMES.get(call.method.id.split(".")[1])
    if name is None:
        found = _of_object(call, objects.read_object(call))
    else:
        bucket = buckets.read_bucket(call)
        check_conditions(call, bucket)
        found = _of_bucket(name, call, bucket)
    refuse_uniform(found.bucket, found.reading if call.method.http_method == "GET" else found.writing)
    return found


def _each(verb: str) -> list[str]:
    """Return the IDs of the methods with a verb."""
    return [f"storage.{name}.{verb}" for name in (*_NAMES, "objectAccessControls")]


@handles(*_each("list"))
def list_entries(call: Call) -> Json:
    """List the entries of a list."""
    found = _list(call)
    items = {"items": [found.show(entry) for entry in found.entries]} if found.entries else {}
    return {"kind": f"{found.kind}s", **items}


@handles(*_each("get"))
def get_entry(call: Call) -> Json:
    """Read the entry of an entity."""
    found = _list(call)
    return found.show(found.entry(call.path["entity"]))


@handles(*_each("insert"))
def insert_entry(call: Call) -> Json:
    """Add an entry, which replaces that of the same entity."""
    return _written(_list(call), call.body)


def _written(found: _List, given: Json) -> Json:
    """Write an entry; return it as it is shown afterwards."""
    entry = checked_entry(given, found.kind, found.owner)
    entries = with_entry(found.entries, entry)
    check_list(found.bucket, entries)
    return found.write(entries).show(entry)


@handles(*_each("patch"), *_each("update"))
def change_entry(call: Call) -> Json:
    """Change the role of an entity, which must have an entry."""
    found = _list(call)
    current = found.entry(call.path["entity"])
    given = call.body.get("entity")
    if given and entity_of(given) != current["entity"]:
        raise ApiError(400, f"The entity {given} is not that of the path, {current['entity']}.")
    role = call.body.get("role") or (current["role"] if call.method.http_method == "PATCH" else "")
    return _written(found, {"entity": current["entity"], "role": role})


@handles(*_each("delete"))
def delete_entry(call: Call) -> None:
    """Remove the entry of an entity, which must not be the owner."""
    found = _list(call)
    gone = found.entry(call.path["entity"])
    if gone["entity"] == found.owner:
        raise ApiError(403, "The owner of the resource is required to have OWNER access.")
    found.write([entry for entry in found.entries if entry is not gone])
