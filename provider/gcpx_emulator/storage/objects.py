"""Objects: stored, read in parts, copied, and changed under preconditions."""

from __future__ import annotations

import base64
import hashlib
import re
from typing import Final
from urllib.parse import quote

import attrs
import google_crc32c
from starlette.responses import Response

from gcpx_emulator.core.call import Call, handles
from gcpx_emulator.core.clock import timestamp
from gcpx_emulator.core.errors import ApiError, invalid, required
from gcpx_emulator.core.json_data import Json, merge
from gcpx_emulator.core.listing import page_of
from gcpx_emulator.storage.buckets import bucket_path, read_bucket
from gcpx_emulator.storage.notification_configs import publish_event

_NUMBERS: Final = {"Generation": "generation", "Metageneration": "metageneration"}
"""The numbers that a condition compares: the name in the parameter, and the field of the object."""
_HEADERS: Final = {
    f"x-goog-if-{field}-{words}": f"if{name}{condition}"
    for name, field in _NUMBERS.items()
    for condition, words in (("Match", "match"), ("NotMatch", "not-match"))
}
"""The parameters of the JSON API by the headers that the XML API has instead."""
_NUMBER: Final = re.compile(r"\d{1,19}", re.ASCII)
_MISSING: Final = "0"
"""The generation that an object has before it exists."""


def check_conditions(call: Call, stored: Json | None, prefix: str = "if") -> None:
    """Refuse a call whose conditions on an object do not hold; a copy's conditions on its source begin `ifSource`.

    Source: https://cloud.google.com/storage/docs/request-preconditions
    """
    for name, field in _NUMBERS.items():
        number = int((stored or {}).get(field, _MISSING))
        wanted, unwanted = (call.query.get(f"{prefix}{name}{words}") for words in ("Match", "NotMatch"))
        if wanted is not None and int(wanted) != number:
            raise _failed()
        if unwanted is not None and int(unwanted) == number:
            raise ApiError(304, "Not modified") if call.method.http_method == "GET" else _failed()


def with_header_conditions(call: Call) -> Call:
    """Return a call of the XML API with the conditions of its headers as those of the JSON API."""
    given = {name: call.headers[header] for header, name in _HEADERS.items() if header in call.headers}
    for name, value in given.items():
        if not _NUMBER.fullmatch(value):
            raise invalid(name, value, "Must be a number.")
    return attrs.evolve(call, query={**call.query, **given})


def _failed() -> ApiError:
    return ApiError(412, "At least one of the pre-conditions you specified did not hold.", "conditionNotMet")


CONTENT: Final = "_media"
"""Where the store keeps an object's content, in base64."""
DEFAULT_TYPE: Final = "application/octet-stream"
_RANGE: Final = re.compile(r"bytes=(?:(\d+)-(\d*)|-(\d+))")
_PARTIAL: Final = 206


def content_response(call: Call, stored: Json) -> Response:
    """Return an object's content, or the part that the header `Range` asks for.

    Source: RFC 9110, section 14; a header with several ranges is ignored, as it allows.
    """
    content = base64.b64decode(stored[CONTENT])
    part = _part(call.headers.get("range", ""), len(content))
    headers = {
        "X-Goog-Hash": f"crc32c={stored['crc32c']},md5={stored['md5Hash']}",
        "X-Goog-Generation": stored["generation"],
        "Accept-Ranges": "bytes",
    }
    media_type = stored.get("contentType") or DEFAULT_TYPE
    if part is None:
        return Response(content, headers=headers, media_type=media_type)
    headers["Content-Range"] = f"bytes {part.start}-{part.stop - 1}/{len(content)}"
    return Response(content[part.start : part.stop], _PARTIAL, headers, media_type)


def _part(header: str, size: int) -> range | None:
    """Return the numbers of the bytes that a header asks for; None if it asks for no range."""
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
                   "customTime", "metadata", "storageClass")  # fmt: skip
"""The metadata that a client may set."""
READ_CONTENT: Final = "storage.xml.getObject"
"""Names the call of the XML API that reads an object's content, which no discovery document describes."""
_CREATION_TIMES: Final = ("timeCreated", "updated", "timeFinalized", "timeStorageClassUpdated")


def object_path(bucket: str, name: str) -> str:
    """Return the path of an object; a slash in its name does not divide the path."""
    return f"b/{bucket}/o/{name.replace('%', '%25').replace('/', '%2F')}"


def _path(call: Call, name: str) -> str:
    return object_path(call.path["bucket"], name)


def metadata_of(call: Call, stored: Json) -> Json:
    """Return an object's metadata as the client of a call sees it: without the content, with a link to it."""
    path = f"b/{stored['bucket']}/o/{quote(stored['name'], safe='')}"
    link = f"{call.origin}/download/storage/v1/{path}?generation={stored['generation']}&alt=media"
    return {name: value for name, value in stored.items() if name != CONTENT} | {"mediaLink": link}


@handles("storage.objects.insert")
def insert_object(call: Call) -> Json:
    """Create an object, or replace the one of its name."""
    read_bucket(call)
    name = call.query.get("name") or call.body.get("name")
    if not name:
        raise required("name")
    replaced = call.store.get(_path(call, name))
    check_conditions(call, replaced)
    metadata = _new_metadata(call, name)
    for field in ("md5Hash", "crc32c"):
        if call.body.get(field) not in (None, metadata[field]):
            raise ApiError(400, f"Provided {field} '{call.body[field]}' doesn't match calculated '{metadata[field]}'.")
    stored = metadata | {CONTENT: base64.b64encode(call.media.content).decode()}
    write_object(call, stored, replaced)
    return metadata_of(call, stored)


def write_object(call: Call, stored: Json, replaced: Json | None) -> None:
    """Store an object in its bucket, in place of another one if there is one, and publish the events."""
    call.store.put(object_path(stored["bucket"], stored["name"]), stored)
    if replaced:
        by = {"overwrittenByGeneration": stored["generation"]}
        publish_event(call, "OBJECT_DELETE", metadata_of(call, replaced), by)
    overwrote = {"overwroteGeneration": replaced["generation"]} if replaced else {}
    publish_event(call, "OBJECT_FINALIZE", metadata_of(call, stored), overwrote)


def _new_metadata(call: Call, name: str) -> Json:
    given = given_metadata(call)
    return {
        **new_identity(call, call.path["bucket"], name),
        "etag": "CAE=",
        "size": str(len(call.media.content)),
        "storageClass": "STANDARD",
        **_checksums(call.media.content),
        **given,
        "contentType": given.get("contentType") or _checked_type(call.media.content_type or DEFAULT_TYPE),
    }


def given_metadata(call: Call) -> Json:
    """Return the metadata that a request sets."""
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
        **dict.fromkeys(_CREATION_TIMES, timestamp()),
    }


def _checksums(content: bytes) -> Json:
    md5 = hashlib.md5(content, usedforsecurity=False).digest()
    crc32c = google_crc32c.Checksum(content).digest()
    return {"md5Hash": base64.b64encode(md5).decode(), "crc32c": base64.b64encode(crc32c).decode()}


def _checked_type(content_type: str) -> str:
    """Refuse a content type that a header cannot hold."""
    if not (content_type.isascii() and content_type.isprintable()):
        raise invalid("contentType", content_type, "Must be a media type.")
    return content_type


def read_stored(call: Call, bucket: str, name: str, generation: str | None) -> Json:
    """Read an object as the store keeps it, with its content; only its newest generation exists."""
    stored = call.store.get(object_path(bucket, name))
    if stored is None or (generation is not None and int(generation) != int(stored["generation"])):
        raise ApiError(404, f"No such object: {bucket}/{name}")
    return stored


def _read_object(call: Call) -> Json:
    """Read the object that a call names, if the call's conditions hold."""
    read_bucket(call)
    stored = read_stored(call, call.path["bucket"], call.path["object"], call.query.get("generation"))
    check_conditions(call, stored)
    return stored


@handles("storage.objects.get")
def get_object(call: Call) -> Json | Response:
    """Read an object's metadata, or with `alt=media` its content."""
    stored = _read_object(call)
    return content_response(call, stored) if call.query.get("alt") == "media" else metadata_of(call, stored)


@handles(READ_CONTENT)
def get_content(call: Call) -> Response:
    """Read an object's content by the XML API, as Google's client for Go does."""
    if call.store.get(bucket_path(call)) is None:
        path = f"/{call.path['bucket']}/{call.path['object']}"
        raise ApiError(404, f"{path} is not a path of any API that is emulated, and no object of a bucket.")
    return content_response(call, _read_object(with_header_conditions(call)))


@handles("storage.objects.list")
def list_objects(call: Call) -> Json:
    """List objects; of names with the delimiter after the prefix, only the common beginnings are listed."""
    read_bucket(call)
    prefix, delimiter = call.query.get("prefix", ""), call.query.get("delimiter", "")
    stored = [metadata_of(call, item) for item in call.store.list(f"{bucket_path(call)}/o")]
    names = [item["name"] for item in stored if item["name"].startswith(prefix)]
    prefixes = {name: _common_prefix(name, prefix, delimiter) for name in names}
    shown, token = page_of([item for item in stored if prefixes.get(item["name"]) == ""], call.query)
    common = sorted({common for common in prefixes.values() if common})
    found = ({"items": shown} if shown else {}) | ({"prefixes": common} if common else {})
    return {"kind": "storage#objects", **found} | ({"nextPageToken": token} if token else {})


def _common_prefix(name: str, prefix: str, delimiter: str) -> str:
    """Return a name up to the first delimiter after a prefix; empty if there is none."""
    head, mark, _ = name[len(prefix) :].partition(delimiter) if delimiter else ("", "", "")
    return prefix + head + mark if mark else ""


@handles("storage.objects.patch", "storage.objects.update")
def patch_object(call: Call) -> Json:
    """Change an object's metadata as a JSON Merge Patch; an update also removes the fields that it leaves out."""
    stored = _read_object(call)
    if call.method.id.endswith("update"):
        stored = {name: value for name, value in stored.items() if name not in {"metadata", "cacheControl"}}
    stored = merge(stored, given_metadata(call))
    stored |= {"metageneration": str(int(stored["metageneration"]) + 1), "updated": timestamp()}
    call.store.put(_path(call, stored["name"]), stored)
    publish_event(call, "OBJECT_METADATA_UPDATE", metadata_of(call, stored), {})
    return metadata_of(call, stored)


@handles("storage.objects.delete")
def delete_object(call: Call) -> None:
    """Delete an object."""
    stored = _read_object(call)
    call.store.delete(_path(call, stored["name"]))
    publish_event(call, "OBJECT_DELETE", metadata_of(call, stored), {})


@handles("storage.objects.rewrite")
def rewrite_object(call: Call) -> Json:
    """Copy an object, at once and as a whole."""
    copied = copy_object(call)
    size = {"objectSize": copied["size"], "totalBytesRewritten": copied["size"]}
    return {"kind": "storage#rewriteResponse", "done": True, **size, "resource": copied}


@handles("storage.objects.copy")
def copy_object(call: Call) -> Json:
    """Copy an object; metadata in the body replaces that of the source."""
    generation = call.query.get("sourceGeneration")
    source = read_stored(call, call.path["sourceBucket"], call.path["sourceObject"], generation)
    check_conditions(call, source, "ifSource")
    bucket, name = call.path["destinationBucket"], call.path["destinationObject"]
    if call.store.get(f"b/{bucket}") is None:
        raise ApiError(404, "The specified bucket does not exist.")
    replaced = call.store.get(object_path(bucket, name))
    check_conditions(call, replaced)
    copy = source | given_metadata(call) | new_identity(call, bucket, name)
    write_object(call, copy, replaced)
    return metadata_of(call, copy)
