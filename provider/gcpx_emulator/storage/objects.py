"""Cloud Storage: objects, and the events that they cause."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from typing import Final

import google_crc32c
from starlette.responses import Response

from gcpx_emulator.core.errors import ApiError, invalid, required
from gcpx_emulator.core.handlers import Call, handles
from gcpx_emulator.core.listing import page
from gcpx_emulator.core.operations import timestamp
from gcpx_emulator.core.store import Json
from gcpx_emulator.pubsub.messages import deliver
from gcpx_emulator.storage.buckets import bucket_of

_SETTABLE: Final = ("cacheControl", "contentDisposition", "contentEncoding", "contentLanguage", "contentType",
                    "customTime", "metadata", "storageClass")  # fmt: skip
_HIDDEN: Final = "_media"


def _path(call: Call, name: str) -> str:
    # A slash in an object's name is no level of ours.
    return f"b/{call.path['bucket']}/o/{name.replace('%', '%25').replace('/', '%2F')}"


def _shown(body: Json) -> Json:
    return {key: value for key, value in body.items() if key != _HIDDEN}


def _check_generation(call: Call, body: Json | None) -> None:
    wanted = call.query.get("ifGenerationMatch")
    if wanted is not None and wanted != (body or {}).get("generation", "0"):
        raise ApiError(412, "At least one of the pre-conditions you specified did not hold.", "conditionNotMet")


@handles("storage.objects.insert")
def insert_object(call: Call) -> Json:
    """Keep an object; one of that name is overwritten."""
    bucket_of(call)
    name = call.query.get("name") or call.body.get("name")
    if not name:
        raise required("name")
    before = call.store.get(_path(call, name))
    _check_generation(call, before)
    media = call.media or b""
    made = _made(call, name, media)
    for key in ("md5Hash", "crc32c"):
        if call.body.get(key) not in (None, made[key]):
            raise ApiError(400, f"Provided {key} '{call.body[key]}' doesn't match calculated '{made[key]}'.")
    call.store.put(_path(call, name), made | {_HIDDEN: base64.b64encode(media).decode()})
    replaced = {"overwroteGeneration": before["generation"]} if before else {}
    if before:
        _publish(call, "OBJECT_DELETE", before, {"overwrittenByGeneration": made["generation"]})
    _publish(call, "OBJECT_FINALIZE", made, replaced)
    return made


def _checked_type(kind: str) -> str:
    """Refuse a content type that no header of an answer can hold."""
    if not (kind.isascii() and kind.isprintable()):
        raise invalid("contentType", kind, "It is no media type.")
    return kind


def _made(call: Call, name: str, media: bytes) -> Json:
    now, number = timestamp(), str(10**15 + call.store.next("generations"))
    bucket = call.path["bucket"]
    given: Json = {key: call.body[key] for key in _SETTABLE if key in call.body}
    kind = _checked_type(given.get("contentType") or call.content_type or "application/octet-stream")
    sums = {
        "md5Hash": base64.b64encode(hashlib.md5(media, usedforsecurity=False).digest()).decode(),
        "crc32c": base64.b64encode(google_crc32c.Checksum(media).digest()).decode(),
    }
    times = {"timeCreated": now, "updated": now, "timeFinalized": now, "timeStorageClassUpdated": now}
    link = f"https://www.googleapis.com/storage/v1/b/{bucket}/o/{name.replace('/', '%2F')}"
    return {
        "kind": "storage#object",
        "id": f"{bucket}/{name}/{number}",
        "selfLink": link,
        "mediaLink": f"{link}?generation={number}&alt=media",
        "name": name,
        "bucket": bucket,
        "generation": number,
        "metageneration": "1",
        "etag": "CAE=",
        "size": str(len(media)),
        "storageClass": "STANDARD",
        **sums,
        **times,
        **given,
        "contentType": kind,
    }


def _found(call: Call) -> Json:
    bucket_of(call)
    body = call.store.get(_path(call, call.path["object"]))
    if body is None:
        raise ApiError(404, f"No such object: {call.path['bucket']}/{call.path['object']}")
    return body


@handles("storage.objects.get")
def get_object(call: Call) -> Json | Response:
    """Read an object, or with `alt=media` what it holds."""
    body = _found(call)
    if call.query.get("alt") != "media":
        return _shown(body)
    sums = {"X-Goog-Hash": f"crc32c={body['crc32c']},md5={body['md5Hash']}", "X-Goog-Generation": body["generation"]}
    return Response(base64.b64decode(body[_HIDDEN]), media_type=body["contentType"], headers=sums)


@handles("storage.objects.list")
def list_objects(call: Call) -> Json:
    """List objects; with a delimiter, what lies deeper as prefixes."""
    bucket_of(call)
    prefix, delimiter = call.query.get("prefix", ""), call.query.get("delimiter", "")
    stored = [_shown(item) for item in call.store.list(f"b/{call.path['bucket']}/o")]
    items = [item for item in stored if item["name"].startswith(prefix)]
    deeper = {item["name"]: item["name"][len(prefix) :].partition(delimiter) for item in items} if delimiter else {}
    prefixes = sorted({prefix + head + mark for head, mark, _ in deeper.values() if mark})
    shown, token = page([item for item in items if not deeper.get(item["name"], ("", "", ""))[1]], call.query)
    found = {"prefixes": prefixes} if prefixes else {}
    return {"kind": "storage#objects", "items": shown, **found} | ({"nextPageToken": token} if token else {})


@handles("storage.objects.patch", "storage.objects.update")
def patch_object(call: Call) -> Json:
    """Change an object's metadata."""
    body = _found(call)
    _check_generation(call, body)
    if call.method.endswith("update"):
        body = {key: value for key, value in body.items() if key not in {"metadata", "cacheControl"}}
    _checked_type(call.body.get("contentType", ""))
    for key in _SETTABLE:
        if key in call.body:
            body[key] = call.body[key]
    body |= {"metageneration": str(int(body["metageneration"]) + 1), "updated": timestamp()}
    call.store.put(_path(call, body["name"]), {key: value for key, value in body.items() if value is not None})
    _publish(call, "OBJECT_METADATA_UPDATE", body, {})
    return _shown(body)


@handles("storage.objects.delete")
def delete_object(call: Call) -> None:
    """Delete an object."""
    body = _found(call)
    _check_generation(call, body)
    call.store.delete(_path(call, body["name"]))
    _publish(call, "OBJECT_DELETE", body, {})


def _publish(call: Call, event: str, body: Json, more: Json) -> None:
    """Tell every topic whose configuration asks for this event."""
    for config in _interested(call, event, body["name"]):
        where = f"b/{body['bucket']}/notificationConfigs/{config['id']}"
        attributes = {
            "notificationConfig": f"projects/_/{where.replace('b/', 'buckets/', 1)}",
            "eventType": event,
            "payloadFormat": config["payload_format"],
            "bucketId": body["bucket"],
            "objectId": body["name"],
            "objectGeneration": body["generation"],
            "eventTime": timestamp(),
            **more,
            **config.get("custom_attributes", {}),
        }
        payload = json.dumps(_shown(body)).encode() if config["payload_format"] == "JSON_API_V1" else b""
        topic = config["topic"].removeprefix("//pubsub.googleapis.com/")
        deliver(call, topic, {"data": base64.b64encode(payload).decode(), "attributes": attributes})


def _interested(call: Call, event: str, name: str) -> Iterator[Json]:
    for config in call.store.list(f"b/{call.path['bucket']}/notificationConfigs"):
        if event in config.get("event_types", [event]) and name.startswith(config.get("object_name_prefix", "")):
            yield config
