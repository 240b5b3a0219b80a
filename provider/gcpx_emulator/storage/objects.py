"""Objects, with range requests, copies, versions and preconditions."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import quote

import attrs
import google_crc32c
from starlette.responses import Response

from gcpx_emulator.core.call import ANONYMOUS, Call, handles
from gcpx_emulator.core.clock import timestamp
from gcpx_emulator.core.errors import NO_BUCKET, ApiError, invalid, required
from gcpx_emulator.core.json_data import Json, merge
from gcpx_emulator.core.listing import in_order, page_of
from gcpx_emulator.storage.access_lists import (
    LISTS,
    NEW_OBJECT,
    OWNER,
    WRITE_OBJECT,
    Entries,
    chosen,
    is_uniform,
    predefined_of_objects,
    refuse_uniform,
    shown_entry,
    with_entry,
)
from gcpx_emulator.storage.buckets import bucket_path, find_bucket, list_of_bucket, read_bucket, refuse_soft_deleted
from gcpx_emulator.storage.conditions import check_conditions, etag, failed_condition, with_header_conditions
from gcpx_emulator.storage.customer_keys import NOT_COPIED, check_key, headers_of, with_own_key, without_hidden_hashes
from gcpx_emulator.storage.globs import matches_glob
from gcpx_emulator.storage.notification_configs import publish_event
from gcpx_emulator.storage.protections import (
    HOLDS,
    NOT_INHERITED,
    check_unprotected,
    expiration,
    protections_of_new,
    refuse_new_key,
    refuse_other_protections,
    released,
)
from gcpx_emulator.storage.signed_urls import check_signature

_ENDED: Final = "timeDeleted"
"""The field with the time at which a version ceased to be live."""
CONTENT: Final = "_media"
"""The stored field with an object's content, in base64."""
DEFAULT_TYPE: Final = "application/octet-stream"
_HASHES: Final = {"crc32c": "crc32c", "md5Hash": "md5"}
"""The fields with hashes of an object's content, each with its name in headers; what was composed has no MD5 hash."""
_RANGE: Final = re.compile(r"bytes=(?:(\d+)-(\d*)|-(\d+))")
_PARTIAL: Final = 206
_HARMLESS: Final = {"Content-Security-Policy": "sandbox", "X-Content-Type-Options": "nosniff"}
"""What keeps a browser from running a stored page with the origin of the emulator, which may control it."""


def content_response(call: Call, stored: Json) -> Response:
    """Return an object's content, or the part that the header `Range` asks for.

    Source: RFC 9110, section 14, which allows servers to ignore a header with several ranges.
    """
    content = base64.b64decode(stored[CONTENT])
    part = _part(call.headers.get("range", ""), len(content))
    headers = {
        "X-Goog-Hash": ",".join(f"{name}={stored[field]}" for field, name in _HASHES.items() if field in stored),
        "X-Goog-Generation": stored["generation"],
        "Accept-Ranges": "bytes",
        **_HARMLESS,
        **headers_of(stored),
    }
    media_type = stored.get("contentType") or DEFAULT_TYPE
    if part is None:
        return Response(content, headers=headers, media_type=media_type)
    headers["Content-Range"] = f"bytes {part.start}-{part.stop - 1}/{len(content)}"
    return Response(content[part.start : part.stop], _PARTIAL, headers, media_type)


def _part(header: str, size: int) -> range | None:
    """Return the range of bytes that a header asks for; None if it asks for no range."""
    found = _RANGE.fullmatch(header)
    if found is None:
        return None
    part = range(max(0, size - int(found[3])), size) if found[3] else range(int(found[1]), size)
    if found[2]:
        part = range(part.start, min(int(found[2]) + 1, size))
    if not part:
        raise ApiError(416, "The requested range cannot be satisfied.", "requestedRangeNotSatisfiable")
    return part


_SETTABLE: Final = ("cacheControl", "contentDisposition", "contentEncoding", "contentLanguage", "contentType",
                   "customTime", "metadata", "storageClass", *HOLDS)  # fmt: skip
"""The metadata that a client may set."""
_REPLACED: Final = frozenset(_SETTABLE) - {"customTime", "storageClass"}
"""The metadata that an update removes if it leaves them out."""
READ_CONTENT: Final = "storage.xml.getObject"
"""The name of the XML API's call that reads an object's content; no discovery document describes it."""
_CREATION_TIMES: Final = ("timeCreated", "updated", "timeFinalized", "timeStorageClassUpdated")


def object_path(bucket: str, name: str) -> str:
    """Return the path of an object; a slash in its name does not divide the path."""
    return f"b/{bucket}/o/{name.replace('%', '%25').replace('/', '%2F')}"


def metadata_of(call: Call, stored: Json) -> Json:
    """Return an object's metadata in a response: without the content, but with a link to it."""
    path = f"b/{stored['bucket']}/o/{quote(stored['name'], safe='')}"
    link = f"{call.origin}/download/storage/v1/{path}?generation={stored['generation']}&alt=media"
    shown = {name: value for name, value in stored.items() if not name.startswith("_")}
    return without_hidden_hashes(call, shown) | {"mediaLink": link} | expiration(call, stored)


_ACL, _OWNER = "_acl", "_owner"
"""The stored fields with the entries of an object's access control list, and the entity that owns the object."""


def list_of(bucket: Json, stored: Json) -> Entries:
    """Return the entries of an object's access control list."""
    entries: Entries | None = stored.get(_ACL)
    return list_of_bucket(bucket, "defaultObjectAcl") if entries is None else entries


def owner_of(stored: Json) -> str:
    """Return the entity that owns an object; empty if it was stored without the API."""
    return str(stored.get(_OWNER, ""))


def with_list(stored: Json, entries: Entries) -> Json:
    """Return an object with other entries in its access control list."""
    return stored | {_ACL: entries}


def shown_object(call: Call, stored: Json, default_projection: str = "noAcl") -> Json:
    """Show an object, with its owner and access controls if the request asks for the full projection."""
    shown = metadata_of(call, stored)
    if call.query.get("projection", default_projection) == "noAcl" or is_uniform(bucket := bucket_of(call, stored)):
        return shown
    owner = {"owner": {"entity": owner_of(stored)}} if owner_of(stored) else {}
    return shown | owner | {"acl": [shown_control(stored, entry) for entry in list_of(bucket, stored)]}


def bucket_of(call: Call, stored: Json) -> Json:
    """Read the bucket of an object."""
    return find_bucket(call, stored["bucket"])


def shown_control(stored: Json, entry: Json) -> Json:
    """Show an entry of an object's access control list."""
    own = {name: stored[name] for name in ("id", "selfLink", "bucket", "generation", "etag")}
    return shown_entry(entry, LISTS["defaultObjectAcl"], own | {"object": stored["name"]})


def _access_of_new(call: Call, bucket: Json, parameter: str = "predefinedAcl") -> Json:
    """Return the owner and the list of a new object; a query parameter may name a predefined list."""
    owner, name, kind = f"user-{call.caller or ANONYMOUS}", call.query.get(parameter), LISTS["defaultObjectAcl"]
    if name or call.body.get("acl"):
        refuse_uniform(bucket, NEW_OBJECT)
    predefined = [{"entity": owner, "role": OWNER}, *predefined_of_objects(bucket, name)] if name else None
    entries = chosen(bucket, call.body.get("acl"), predefined, kind, owner)
    if entries is None:
        entries = with_entry(list_of_bucket(bucket, "defaultObjectAcl"), {"entity": owner, "role": OWNER})
    return {_OWNER: owner, _ACL: entries}


def _changed_access(call: Call, stored: Json) -> Json:
    """Return an object with the list that a patch or an update asks for."""
    bucket, name, owner = bucket_of(call, stored), call.query.get("predefinedAcl"), owner_of(stored)
    if name or call.body.get("acl"):
        refuse_uniform(bucket, WRITE_OBJECT)
    own = [{"entity": owner, "role": OWNER}] if owner else []
    predefined = [*own, *predefined_of_objects(bucket, name)] if name else None
    entries = chosen(bucket, call.body.get("acl"), predefined, LISTS["defaultObjectAcl"], owner)
    return stored if entries is None else with_list(stored, entries)


@handles("storage.objects.insert")
def insert_object(call: Call) -> Json:
    """Create an object, or replace the one with its name."""
    read_bucket(call)
    name = call.query.get("name") or call.body.get("name")
    if not name:
        raise required("name")
    replaced = call.store.get(object_path(call.path["bucket"], name))
    check_conditions(call, replaced)
    metadata = _new_metadata(call, name)
    for field in ("md5Hash", "crc32c"):
        if call.body.get(field) not in (None, metadata[field]):
            raise ApiError(400, f"Provided {field} '{call.body[field]}' doesn't match calculated '{metadata[field]}'.")
    stored = with_own_key(call, metadata | {CONTENT: base64.b64encode(call.media.content).decode()})
    write_object(call, stored, replaced)
    return shown_object(call, stored, "full" if call.body.get("acl") else "noAcl")


def write_object(call: Call, stored: Json, replaced: Json | None) -> None:
    """Store an object in its bucket, replace any existing one, and publish the events."""
    if replaced:
        check_unprotected(call, replaced, is_kept=_has_versions(call, replaced))
    call.store.put(object_path(stored["bucket"], stored["name"]), stored)
    if replaced:
        _end_of_live_version(call, replaced, {"overwrittenByGeneration": stored["generation"]})
    overwrote = {"overwroteGeneration": replaced["generation"]} if replaced else {}
    publish_event(call, "OBJECT_FINALIZE", metadata_of(call, stored), overwrote)


def _end_of_live_version(call: Call, stored: Json, attributes: Json) -> None:
    """Keep a version that is no longer live, if its bucket has versioning; publish the event.

    Source: https://cloud.google.com/storage/docs/object-versioning and /pubsub-notifications#events
    """
    if not _has_versions(call, stored):
        publish_event(call, "OBJECT_DELETE", metadata_of(call, stored), attributes)
        return
    noncurrent = stored | {_ENDED: timestamp()}
    call.store.put(_stored_path(noncurrent), noncurrent)
    publish_event(call, "OBJECT_ARCHIVE", metadata_of(call, noncurrent), attributes)


def _has_versions(call: Call, stored: Json) -> bool:
    """Return whether an object's bucket keeps versions that are no longer live."""
    bucket = call.store.get(f"b/{stored['bucket']}") or {}
    return bool(bucket.get("versioning", {}).get("enabled"))


def _stored_path(stored: Json) -> str:
    """Return the path of a version, live or not."""
    live = object_path(stored["bucket"], stored["name"])
    if _ENDED not in stored:
        return live
    return f"b/{stored['bucket']}/versions/{live.rpartition('/')[2]}@{stored['generation']}"


def _new_metadata(call: Call, name: str) -> Json:
    given, content, bucket = given_metadata(call), call.media.content, read_bucket(call)
    md5 = hashlib.md5(content, usedforsecurity=False).digest()
    return {
        **new_identity(call, call.path["bucket"], name),
        **_size_and_checksum(content),
        "storageClass": bucket["storageClass"],
        "md5Hash": base64.b64encode(md5).decode(),
        **protections_of_new(call, bucket),
        **_access_of_new(call, bucket),
        **given,
        "contentType": given.get("contentType") or _checked_type(call.media.content_type or DEFAULT_TYPE),
    }


def _size_and_checksum(content: bytes) -> Json:
    checksum = google_crc32c.Checksum(content).digest()
    return {"size": str(len(content)), "crc32c": base64.b64encode(checksum).decode()}


def given_metadata(call: Call) -> Json:
    """Return the metadata that a request sets."""
    refuse_other_protections(call)
    given: Json = {field: call.body[field] for field in _SETTABLE if field in call.body}
    _checked_type(given.get("contentType") or "")
    return given


def new_identity(call: Call, bucket: str, name: str) -> Json:
    """Return the names, generation and times of a new object."""
    generation = str(10**15 + call.store.next("generations"))
    return {
        "kind": "storage#object",
        "id": f"{bucket}/{name}/{generation}",
        "selfLink": f"https://www.googleapis.com/storage/v1/b/{bucket}/o/{quote(name, safe='')}",
        "name": name,
        "bucket": bucket,
        "generation": generation,
        "metageneration": "1",
        "etag": etag(generation, "1"),
        **dict.fromkeys(_CREATION_TIMES, timestamp()),
    }


def _checked_type(content_type: str) -> str:
    """Refuse a content type that a header cannot hold."""
    if not (content_type.isascii() and content_type.isprintable()):
        raise invalid("contentType", content_type, "Must be a media type.")
    return content_type


def read_stored(call: Call, bucket: str, name: str, generation: str | None) -> Json:
    """Read a stored object with its content: the live version, or the one of a generation."""
    stored = call.store.get(object_path(bucket, name))
    if generation is not None and (stored is None or int(generation) != int(stored["generation"])):
        wanted = {"bucket": bucket, "name": name, "generation": str(int(generation)), _ENDED: ""}
        stored = call.store.get(_stored_path(wanted))
    if stored is None:
        raise ApiError(404, f"No such object: {bucket}/{name}")
    return stored


def read_object(call: Call) -> Json:
    """Read the object that a call names, if the call's conditions hold."""
    read_bucket(call)
    refuse_soft_deleted(call)
    stored = read_stored(call, call.path["bucket"], call.path["object"], call.query.get("generation"))
    check_conditions(call, stored)
    return stored


@handles("storage.objects.get")
def get_object(call: Call) -> Json | Response:
    """Read an object's metadata, or with `alt=media` its content."""
    stored, is_content = read_object(call), call.query.get("alt") == "media"
    check_key(call, stored, is_needed=is_content)
    return content_response(call, stored) if is_content else shown_object(call, stored)


@handles(READ_CONTENT)
def get_content(call: Call) -> Response:
    """Read an object's content by the XML API, as Google's client for Go does."""
    check_signature(call)
    if call.store.get(bucket_path(call)) is None:
        path = f"/{call.path['bucket']}/{call.path['object']}"
        words = f"{path} is not a path of any API that is emulated, and no object of a bucket."
        raise ApiError(404, words, NO_BUCKET)
    stored = read_object(with_header_conditions(call))
    check_key(call, stored)
    return content_response(call, stored)


@handles("storage.objects.list")
def list_objects(call: Call) -> Json:
    """List objects; names with the delimiter after the prefix are listed as common prefixes only."""
    read_bucket(call)
    refuse_soft_deleted(call)
    if call.query.get("filter"):
        raise ApiError(501, "lists of objects with filter are not emulated")
    shown, token = page_of(in_order(_rows(call)), call.query)
    items = [shown_object(call, row) for _, row in shown if _PREFIX not in row]
    prefixes = [row[_PREFIX] for _, row in shown if _PREFIX in row]
    return {
        "kind": "storage#objects",
        **({"items": items} if items else {}),
        **({"prefixes": prefixes} if prefixes else {}),
        **({"nextPageToken": token} if token else {}),
    }


_PREFIX: Final = "_prefix"
"""The field of a row that is a common prefix."""


def _rows(call: Call) -> dict[str, Json]:
    """Return the objects and common prefixes of a list, by their sort keys."""
    prefix, delimiter = call.query.get("prefix", ""), call.query.get("delimiter", "")
    rows: dict[str, Json] = {}
    for stored in _listed(call):
        name = stored["name"]
        common = _common_prefix(name, prefix, delimiter)
        if common:
            rows[f"{common}\0"] = {_PREFIX: common}
        if not common or (common == name and call.query.get("includeTrailingDelimiter") == "true"):
            rows[f"{name}\0{int(stored['generation']):020}"] = stored
    return rows


def _listed(call: Call) -> Iterator[Json]:
    """Yield the versions of the objects that a list asks for."""
    query, path = call.query, bucket_path(call)
    collections = [f"{path}/o", *([f"{path}/versions"] if query.get("versions") == "true" else [])]
    for stored in (item for collection in collections for item in call.store.list(collection)):
        name = stored["name"]
        is_between = query.get("startOffset", "") <= name and (not query.get("endOffset") or name < query["endOffset"])
        if is_between and name.startswith(query.get("prefix", "")) and matches_glob(query.get("matchGlob", ""), name):
            yield stored


def _common_prefix(name: str, prefix: str, delimiter: str) -> str:
    """Return a name up to the first delimiter after a prefix; empty if there is none."""
    head, mark, _ = name[len(prefix) :].partition(delimiter) if delimiter else ("", "", "")
    return prefix + head + mark if mark else ""


@handles("storage.objects.patch", "storage.objects.update")
def patch_object(call: Call) -> Json:
    """Change an object's metadata by a JSON Merge Patch; an update also removes omitted fields."""
    stored = read_object(call)
    refuse_new_key(call, stored)
    if call.method.id.endswith("update"):
        stored = {name: value for name, value in stored.items() if name not in _REPLACED}
    changed = _changed_access(call, merge(stored, given_metadata(call)))
    return shown_object(call, write_changed_object(call, changed | released(stored, changed)), "full")


def write_changed_object(call: Call, stored: Json) -> Json:
    """Store an object with changed metadata, with its next metageneration and etag, and publish the event."""
    metageneration = str(int(stored["metageneration"]) + 1)
    changed = {"metageneration": metageneration, "etag": etag(stored["generation"], metageneration)}
    stored |= changed | {"updated": timestamp()}
    call.store.put(_stored_path(stored), stored)
    publish_event(call, "OBJECT_METADATA_UPDATE", metadata_of(call, stored), {})
    return stored


@handles("storage.objects.delete")
def delete_object(call: Call) -> None:
    """Delete an object; with a generation, delete that version for good, even if its bucket has versioning."""
    _delete(call, read_object(call), is_for_good=bool(call.query.get("generation")))


def _delete(call: Call, stored: Json, *, is_for_good: bool) -> None:
    """Delete an object, of which a bucket with versioning keeps a noncurrent version unless it is deleted for good."""
    check_unprotected(call, stored, is_kept=not is_for_good and _has_versions(call, stored))
    call.store.delete(_stored_path(stored))
    if is_for_good:
        publish_event(call, "OBJECT_DELETE", metadata_of(call, stored), {})
    else:
        _end_of_live_version(call, stored, {})


@handles("storage.objects.rewrite")
def rewrite_object(call: Call) -> Json:
    """Copy an object in a single step."""
    copied = copy_object(call)
    size = {"objectSize": copied["size"], "totalBytesRewritten": copied["size"]}
    return {"kind": "storage#rewriteResponse", "done": True, **size, "resource": copied}


@handles("storage.objects.copy")
def copy_object(call: Call) -> Json:
    """Copy an object; metadata in the body replaces that of the source."""
    generation = call.query.get("sourceGeneration")
    source = read_stored(call, call.path["sourceBucket"], call.path["sourceObject"], generation)
    check_conditions(call, source, "ifSource")
    check_key(call, source, is_source=True)
    bucket, name = call.path["destinationBucket"], call.path["destinationObject"]
    destination = find_bucket(call, bucket)
    replaced = call.store.get(object_path(bucket, name))
    check_conditions(call, replaced)
    not_copied = NOT_INHERITED | NOT_COPIED | {_ENDED, _ACL, _OWNER}
    copy = {
        **{field: value for field, value in source.items() if field not in not_copied},
        **protections_of_new(call, destination),
        **_access_of_new(call, destination, "destinationPredefinedAcl"),
        **given_metadata(call),
        **new_identity(call, bucket, name),
    }
    copy = with_own_key(call, copy)
    write_object(call, copy, replaced)
    return shown_object(call, copy, "full" if call.body.get("acl") else "noAcl")


_MOST_SOURCES: Final = 32
"""The number of objects that can be composed at once, as the page "Composite objects" says."""


@handles("storage.objects.compose")
def compose_object(call: Call) -> Json:
    """Concatenate objects of a bucket into a new one, without an MD5 hash; delete the sources if asked to."""
    bucket, name, given = call.path["destinationBucket"], call.path["destinationObject"], call.body.get("sourceObjects")
    destination = find_bucket(call, bucket)
    if not given:
        raise required("sourceObjects")
    if len(given) > _MOST_SOURCES:
        raise invalid("sourceObjects", len(given), f"The number of source objects must be at most {_MOST_SOURCES}.")
    sources = [_source(call, bucket, one) for one in given]
    for source in sources:
        check_key(call, source)
    replaced = call.store.get(object_path(bucket, name))
    check_conditions(call, replaced)
    content = b"".join(base64.b64decode(source[CONTENT]) for source in sources)
    own = attrs.evolve(call, body=call.body.get("destination") or {})
    stored = {
        **new_identity(call, bucket, name),
        **_size_and_checksum(content),
        "storageClass": destination["storageClass"],
        "contentType": DEFAULT_TYPE,
        "componentCount": sum(source.get("componentCount", 1) for source in sources),
        **protections_of_new(own, destination),
        **_access_of_new(own, destination, "destinationPredefinedAcl"),
        **given_metadata(own),
        CONTENT: base64.b64encode(content).decode(),
    }
    stored = with_own_key(own, stored)
    write_object(call, stored, replaced)
    if call.body.get("deleteSourceObjects"):
        for source in sources:
            _delete(call, source, is_for_good=False)
    return metadata_of(call, stored)


def _source(call: Call, bucket: str, given: Json) -> Json:
    """Read a source of a composition, if its own condition holds."""
    if not given.get("name"):
        raise required("sourceObjects.name")
    stored = read_stored(call, bucket, given["name"], given.get("generation"))
    wanted = (given.get("objectPreconditions") or {}).get("ifGenerationMatch")
    if wanted is not None and int(wanted) != int(stored["generation"]):
        raise failed_condition()
    return stored
