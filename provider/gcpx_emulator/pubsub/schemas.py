"""Schemas and their revisions, and the messages that match them.

The store has the current revision of a schema under the schema's name, and all revisions below it, oldest first. A
deleted one keeps its place there, because topics may name it as the first or last revision that they allow.
"""

from __future__ import annotations

import uuid
from typing import Final

from gcpx_emulator.core.call import Call, handles
from gcpx_emulator.core.clock import timestamp
from gcpx_emulator.core.errors import FAILED_PRECONDITION, ApiError
from gcpx_emulator.core.json_data import Json, bytes_of
from gcpx_emulator.core.listing import in_order, page_of
from gcpx_emulator.core.store import Store
from gcpx_emulator.pubsub.definitions import AVRO, read_definition
from gcpx_emulator.pubsub.topics_and_subscriptions import (
    DELETED_SCHEMA,
    SCHEMA,
    all_of,
    create,
    list_resources,
    no_revision,
    policy_path,
    read,
    revisions_of,
)

_MOST_REVISIONS: Final = 20
"""Source: "Quotas and limits for schemas" in the documentation of Pub/Sub."""
_NONE: Final = "SCHEMA_VIEW_UNSPECIFIED"


def _project(call: Call) -> str:
    return f"projects/{call.path['projectsId']}"


def read_schema(call: Call) -> Json:
    """Read the schema that a call names without a revision, which must exist."""
    return read(call.store, f"{_project(call)}/schemas/{call.path['schemasId']}")


def _read_revision(call: Call) -> Json:
    """Read the revision that a call names as SCHEMA@REVISION, or in the older way, in the query."""
    name, _, revision = call.path["schemasId"].partition("@")
    revision = revision or call.query.get("revisionId", "")
    if not revision:
        raise ApiError(400, "The name of a revision is required, as projects/PROJECT/schemas/SCHEMA@REVISION.")
    return _revision(call.store, f"{_project(call)}/schemas/{name}", revision)


def _revision(store: Store, schema: str, revision: str) -> Json:
    """Read a revision of a schema, which must both exist."""
    read(store, schema)
    found = store.get(f"{schema}/revisions/{revision}")
    if found is None or found.get("deleted"):
        raise ApiError(404, f"Resource not found (resource={schema.rpartition('/')[2]}@{revision}).")
    return found


def _shown(call: Call, schema: Json, default: str) -> Json:
    """Leave the definition out, unless the call asks for it, or does so by default."""
    view = call.query.get("view") or _NONE
    is_basic = (default if view == _NONE else view) == "BASIC"
    return {name: value for name, value in schema.items() if name != "definition"} if is_basic else schema


def _checked(schema: Json) -> Json:
    """Check the type and the definition of a schema; return them."""
    if "compiledProtoSchema" in schema:
        raise ApiError(501, "schemas with compiledProtoSchema are not emulated")
    kind, definition = str(schema.get("type", "")), str(schema.get("definition", ""))
    read_definition(kind, definition)
    return {"type": kind, "definition": definition}


@handles("pubsub.projects.schemas.create")
def create_schema(call: Call) -> Json:
    """Create a schema with its first revision."""
    own = call.query.get("schemaId") or call.body.get("name", "").rpartition("/")[2]
    name = f"{_project(call)}/schemas/{own}"
    _check_named(call.body, name)
    schema = create(call.store, name, _checked(call.body))
    return _add(call, schema)


def _check_named(schema: Json, name: str) -> None:
    """Refuse a schema in a request that has another name than the one that the request means."""
    if schema.get("name") not in {None, "", name}:
        raise ApiError(400, f"Invalid resource name given (name={schema['name']}); it must be {name}, or empty.")


def _add(call: Call, schema: Json) -> Json:
    """Add a revision to a schema, and make it the current one."""
    store, name = call.store, schema["name"]
    if len(revisions_of(store, {"schema": name})) >= _MOST_REVISIONS:
        raise ApiError(400, f"A schema has at most {_MOST_REVISIONS} revisions.", FAILED_PRECONDITION)
    own = {"revisionId": uuid.uuid4().hex[:8], "revisionCreateTime": timestamp(call.cloud.now())}
    revision = schema | own
    store.put(f"{name}/revisions/{revision['revisionId']}", revision)
    store.put(name, revision)
    return revision


@handles("pubsub.projects.schemas.get")
def get_schema(call: Call) -> Json:
    """Answer with the schema or the revision that a call names."""
    return _shown(call, _read_revision(call) if "@" in call.path["schemasId"] else read_schema(call), "FULL")


@handles("pubsub.projects.schemas.list")
def list_schemas(call: Call) -> Json:
    """List the schemas of a project."""
    found = [_shown(call, schema, "BASIC") for schema in call.store.list(f"{_project(call)}/schemas")]
    return list_resources(call, "schemas", found)


@handles("pubsub.projects.schemas.listRevisions")
def list_revisions(call: Call) -> Json:
    """List the revisions of a schema, newest first."""
    revisions = revisions_of(call.store, {"schema": read_schema(call)["name"]})[::-1]
    keys = {f"{number:02}": _shown(call, revision, "BASIC") for number, revision in enumerate(revisions)}
    rows, token = page_of(in_order(keys), {**call.query, "maxResults": call.query.get("pageSize", "")})
    return {"schemas": [item for _, item in rows]} | ({"nextPageToken": token} if token else {})


@handles("pubsub.projects.schemas.commit")
def commit_schema(call: Call) -> Json:
    """Add a revision, which must have the type of the schema."""
    schema, given = read_schema(call), call.body.get("schema") or {}
    _check_named(given, schema["name"])
    change = _checked(given)
    if change["type"] != schema["type"]:
        raise ApiError(400, f"The type of a schema does not change; it is {schema['type']}.")
    return _add(call, schema | change)


@handles("pubsub.projects.schemas.rollback")
def roll_back(call: Call) -> Json:
    """Add a revision that is a copy of another one."""
    revision = str(call.body.get("revisionId", ""))
    if not revision:
        raise ApiError(400, "The revision_id to roll back to is required.")
    return _add(call, _revision(call.store, read_schema(call)["name"], revision))


@handles("pubsub.projects.schemas.deleteRevision")
def delete_revision(call: Call) -> Json:
    """Delete a revision, but not the last one that is left; answer with the one that is then the current one."""
    store, revision = call.store, _read_revision(call)
    name = revision["name"]
    left = [one for one in revisions_of(store, {"schema": name}) if one["revisionId"] != revision["revisionId"]]
    if not left:
        raise ApiError(400, "The only revision of a schema cannot be deleted; delete the schema.", FAILED_PRECONDITION)
    store.put(f"{name}/revisions/{revision['revisionId']}", revision | {"deleted": True})
    store.put(name, left[-1])
    return left[-1]


@handles("pubsub.projects.schemas.delete")
def delete_schema(call: Call) -> Json:
    """Delete a schema with its revisions; no message then matches in its topics."""
    store, name = call.store, read_schema(call)["name"]
    for topic in all_of(store, "topics"):
        settings = topic.get("schemaSettings") or {}
        if settings.get("schema") == name:
            store.put(topic["name"], topic | {"schemaSettings": settings | {"schema": DELETED_SCHEMA}})
    for path, _ in list(store.scan([f"{name}/revisions"])):
        store.delete(path)
    store.delete(policy_path(name))
    store.delete(name)
    return {}


@handles("pubsub.projects.schemas.validate")
def validate_schema(call: Call) -> Json:
    """Check a schema that need not exist."""
    _checked(call.body.get("schema") or {})
    return {}


@handles("pubsub.projects.schemas.validateMessage")
def validate_message(call: Call) -> Json:
    """Check a message against a schema that exists, or against one in the request."""
    body = call.body
    if ("name" in body) == ("schema" in body):
        raise ApiError(400, "The request must have either the name of a schema or a schema.")
    encoding = str(body.get("encoding", ""))
    if encoding not in {"JSON", "BINARY"}:
        raise ApiError(400, "The encoding of the message is required; it is JSON or BINARY.")
    if "name" in body:
        name, _, revision = str(body["name"]).partition("@")
        if not SCHEMA.fullmatch(name):
            raise ApiError(400, f"Invalid resource name given (name={name}); it is projects/PROJECT/schemas/SCHEMA.")
        schema = _revision(call.store, name, revision) if revision else read(call.store, name)
    else:
        schema = _checked(body["schema"])
    problem = _problem(schema, bytes_of(body.get("message", "")), encoding)
    if problem:
        raise _mismatch(schema, encoding, problem)
    return {}


def matching(store: Store, settings: Json, message: Json, data: bytes) -> Json:
    """Add what subscribers learn about the schema to a message, which must match one revision: the newest comes first.

    Raises:
        ApiError: 400 if no revision of the topic's settings matches.
    """
    if settings["schema"] == DELETED_SCHEMA:
        raise ApiError(400, "The schema of the topic was deleted.")
    encoding, refusal = settings["encoding"], no_revision()
    for revision in reversed(revisions_of(store, settings)):
        problem = _problem(revision, data, encoding)
        if problem is None:
            about = {"encoding": encoding, "name": settings["schema"], "revisionid": revision["revisionId"]}
            own = {f"googclient_schema{name}": value for name, value in about.items()}
            return {**message, "attributes": {**message.get("attributes", {}), **own}}
        refusal = _mismatch(revision, encoding, problem)
    raise refusal


def _problem(schema: Json, data: bytes, encoding: str) -> str | None:
    return read_definition(schema["type"], schema["definition"]).problem(data, encoding)


def _mismatch(schema: Json, encoding: str, problem: str) -> ApiError:
    """Say that a message does not match, as reported in 2023 for publications."""
    kind = "AVRO" if schema.get("type") == AVRO else "PROTO"
    where = "Could not validate message with any schema revision for schema"
    checked = f"last checked revision: revision_id={schema.get('revisionId', '')} failed with status: {problem}"
    info = {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": f"INVALID_{encoding}_{kind}_MESSAGE",
        "domain": "pubsub.googleapis.com",
        "metadata": {
            "message": "Message failed schema validation",
            "revisionInfo": f"{where}: {schema.get('name', '')}, {checked}",
        },
    }
    return ApiError(400, "Invalid data in message: Message failed schema validation.", details=[info])
