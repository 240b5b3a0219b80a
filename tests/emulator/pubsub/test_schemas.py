"""Schemas: their revisions, and the messages that match them."""

from __future__ import annotations

import base64
import io
import json

import pytest
from fastavro import schemaless_writer
from google.protobuf.wrappers_pb2 import StringValue
from values.programs import PROJECT

from gcpx_emulator.pubsub import definitions

SCHEMAS = f"/v1/projects/{PROJECT}/schemas"
NAME = f"projects/{PROJECT}/schemas/state"
STATE = f"/v1/{NAME}"
TOPIC = f"projects/{PROJECT}/topics/states"
SUBSCRIPTION = f"/v1/projects/{PROJECT}/subscriptions/worker"
FIELDS = [{"name": "name", "type": "string"}, {"name": "code", "type": ["null", "string"], "default": None}]
RECORD = {"type": "record", "name": "State", "fields": FIELDS}
AVRO = {"type": "AVRO", "definition": json.dumps(RECORD)}
LARGER = {**AVRO, "definition": json.dumps(RECORD | {"fields": [*FIELDS, {"name": "population", "type": "long"}]})}
PROTO = {
    "type": "PROTOCOL_BUFFER",
    "definition": 'syntax = "proto3"; package u; message State { string name = 1; message In { bool b = 1; } In in = 2; }',
}


def _made(http, schema=AVRO, name="state"):
    answer = http.post(SCHEMAS, params={"schemaId": name}, json=schema)
    assert answer.status_code == 200, answer.text
    return answer.json()


def _commit(http, schema):
    answer = http.post(f"{STATE}:commit", json={"schema": schema})
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize("number", [2, "2"])
def test_values_of_enums_may_be_numbers(http, number):
    _made(http, AVRO | {"type": number})

    assert http.get(STATE, params={"view": 1}).json().keys() == http.get(STATE, params={"view": "BASIC"}).json().keys()
    assert http.get(STATE).json()["type"] == "AVRO"
    refused = http.post(SCHEMAS, params={"schemaId": "other"}, json=AVRO | {"type": 3})
    assert (refused.status_code, "'type'" in refused.text) == (400, True)


def _topic(http, encoding="JSON", **settings):
    body = {"schemaSettings": {"schema": NAME, "encoding": encoding, **settings}}
    answer = http.put(f"/v1/{TOPIC}", json=body)
    http.put(SUBSCRIPTION, json={"topic": TOPIC})
    return answer


def _published(http, *data):
    return http.post(
        f"/v1/{TOPIC}:publish", json={"messages": [{"data": base64.b64encode(one).decode()} for one in data]}
    )


def _revisions_of_messages(http):
    """Pull the messages; return the revisions that they matched."""
    entries = http.post(f"{SUBSCRIPTION}:pull", json={"maxMessages": 10}).json().get("receivedMessages", [])
    return [entry["message"]["attributes"]["googclient_schemarevisionid"] for entry in entries]


def _binary(**record):
    out = io.BytesIO()
    schemaless_writer(out, RECORD, record)
    return out.getvalue()


def _json(**record):
    return json.dumps(record).encode()


SMALL = _json(name="Alaska", code=None)
LARGE = _json(name="Alaska", code=None, population=733_391)


def test_a_schema_is_made_read_listed_and_deleted(http):
    made = _made(http)
    short = {name: value for name, value in made.items() if name != "definition"}

    assert (made["name"], made["type"], made["definition"]) == (NAME, "AVRO", AVRO["definition"])
    assert len(made["revisionId"]) == 8
    assert http.get(STATE).json() == http.get(f"{STATE}@{made['revisionId']}").json() == made
    assert http.get(f"{STATE}?view=BASIC").json() == short
    for listed in (SCHEMAS, f"{STATE}:listRevisions"):
        assert http.get(listed).json() == {"schemas": [short]}
        assert http.get(f"{listed}?view=FULL").json() == {"schemas": [made]}
    assert http.post(SCHEMAS, params={"schemaId": "state"}, json=AVRO).status_code == 409
    assert http.delete(STATE).json() == {}
    assert [http.get(url).status_code for url in (STATE, f"{STATE}@{made['revisionId']}")] == [404, 404]
    assert "revisions" not in http.get("/_emulator/resources").json()


def test_revisions_are_committed_rolled_back_and_deleted(http):
    first = _made(http)
    second = _commit(http, LARGER)
    assert http.get(STATE).json() == second
    third = http.post(f"{STATE}:rollback", json={"revisionId": first["revisionId"]}).json()
    assert (third["definition"], http.get(STATE).json()) == (first["definition"], third)
    pages = [http.get(f"{STATE}:listRevisions?pageSize=2").json()]
    pages.append(http.get(f"{STATE}:listRevisions?pageSize=2&pageToken={pages[0]['nextPageToken']}").json())
    ids = [schema["revisionId"] for page in pages for schema in page["schemas"]]

    assert ids == [one["revisionId"] for one in (third, second, first)]
    assert http.delete(f"{STATE}@{third['revisionId']}:deleteRevision").json() == second
    assert http.get(STATE).json() == second
    assert http.delete(f"{STATE}:deleteRevision?revisionId={first['revisionId']}").json() == second
    for url in (f"{STATE}@{first['revisionId']}", f"{STATE}@none"):
        assert (http.get(url).status_code, http.delete(f"{url}:deleteRevision").status_code) == (404, 404)
    assert http.post(f"{STATE}:rollback", json={"revisionId": first["revisionId"]}).status_code == 404
    only = http.delete(f"{STATE}@{second['revisionId']}:deleteRevision")
    assert (only.status_code, only.json()["error"]["status"]) == (400, "FAILED_PRECONDITION")
    assert http.get(STATE).json() == second


def test_a_schema_has_at_most_twenty_revisions(http):
    first = _made(http)
    for _ in range(19):
        _commit(http, AVRO)
    assert http.post(f"{STATE}:commit", json={"schema": AVRO}).status_code == 400
    http.delete(f"{STATE}@{first['revisionId']}:deleteRevision")

    _commit(http, AVRO)


@pytest.mark.parametrize(
    ("schema", "status"),
    [
        (PROTO, 200), ({}, 400), ({"type": "AVRO"}, 400), ({**AVRO, "type": "TYPE_UNSPECIFIED"}, 400),
        ({**AVRO, "definition": "{"}, 400), ({**AVRO, "definition": '"string"'}, 400),
        ({**AVRO, "definition": '{"type": "record", "name": "a"}'}, 400),
        ({**AVRO, "definition": json.dumps(RECORD | {"fields": FIELDS[:1] * 2})}, 400),
        ({**AVRO, "definition": json.dumps(RECORD | {"doc": "x" * 307_200})}, 400),
        ({**PROTO, "definition": AVRO["definition"]}, 400), ({**AVRO, "definition": PROTO["definition"]}, 400),
        ({**PROTO, "definition": "message A {} message B {}"}, 400), ({**PROTO, "definition": "enum A { X = 0; }"}, 400),
        ({**PROTO, "definition": 'import "google/protobuf/timestamp.proto"; message A {}'}, 400),
        ({**PROTO, "definition": 'syntax = "proto3"; message A { B b = 1; }'}, 400),
        ({**PROTO, "compiledProtoSchema": {}}, 501), ({**AVRO, "name": f"projects/{PROJECT}/schemas/other"}, 400),
    ],
)  # fmt: skip
def test_definitions_are_checked(http, schema, status):
    answer = http.post(SCHEMAS, params={"schemaId": "state"}, json=schema)
    alone = http.post(f"{SCHEMAS}:validate", json={"schema": {**schema, "name": ""}})

    assert (answer.status_code, http.get(STATE).status_code) == (status, 200 if status == 200 else 404)
    assert alone.status_code == (status if schema.get("name") is None else 200)
    assert alone.json() == {} or status != 200


def test_what_is_wrong_in_a_definition_is_said_without_the_paths_of_this_machine(http):
    schema = {**PROTO, "definition": 'syntax = "proto3";\nmessage A { B b = 1; }'}
    error = http.post(f"{SCHEMAS}:validate", json={"schema": schema}).json()["error"]

    assert error["message"] == 'Invalid schema definition: 2:13: "B" is not defined.'


@pytest.mark.parametrize("name", ["", "1", "google", "a@b", "x" * 256])
def test_schemas_have_names_like_topics(http, name):
    assert http.post(SCHEMAS, params={"schemaId": name}, json=AVRO).status_code == 400


@pytest.mark.parametrize(
    ("schema", "encoding", "data", "problem"),
    [
        (AVRO, "JSON", SMALL, None), (AVRO, "JSON", _json(name="a", code={"string": "b"}), None),
        (AVRO, "JSON", _json(name="a"), "fields"), (AVRO, "JSON", LARGE, "fields"),
        (AVRO, "JSON", _json(name=1, code=None), "match"), (AVRO, "JSON", _json(name="a", code="b"), "match"),
        (AVRO, "JSON", b"[]", "match"), (AVRO, "JSON", b"{", "match"), (AVRO, "JSON", b"", "match"),
        (AVRO, "BINARY", _binary(name="a", code="b"), None), (AVRO, "BINARY", SMALL, "match"),
        (AVRO, "BINARY", _binary(name="a", code=None) + b"x", "Too much"), (AVRO, "BINARY", b"", "match"),
        (AVRO, "BINARY", _binary(name="a", code="b")[:-1], "match"),
        (PROTO, "JSON", b'{"name": "a", "in": {"b": true}}', None), (PROTO, "JSON", b"{}", None),
        (PROTO, "JSON", b'{"name": 1}', "match"), (PROTO, "JSON", b'{"nam": "a"}', "match"),
        (PROTO, "JSON", b"\xff", "match"),
        (PROTO, "BINARY", StringValue(value="a").SerializeToString(), None), (PROTO, "BINARY", b"", None),
        (PROTO, "BINARY", b"\x0a\x05a", "match"),
    ],
)  # fmt: skip
def test_a_message_matches_or_not(http, schema, encoding, data, problem):
    message = {"message": base64.b64encode(data).decode(), "encoding": encoding}
    alone = http.post(f"{SCHEMAS}:validateMessage", json={**message, "schema": schema})
    made = _made(http, schema)
    named = http.post(f"{SCHEMAS}:validateMessage", json={**message, "name": NAME})
    of_revision = http.post(f"{SCHEMAS}:validateMessage", json={**message, "name": f"{NAME}@{made['revisionId']}"})
    assert _topic(http, encoding).json()["schemaSettings"] == {"schema": NAME, "encoding": encoding}
    messages = [{"data": message["message"], "attributes": {"a": "b"}}]
    published = http.post(f"/v1/{TOPIC}:publish", json={"messages": messages})

    answers = [alone, named, of_revision, published]
    assert [answer.status_code for answer in answers] == [400 if problem else 200] * 4
    pulled = http.post(f"{SUBSCRIPTION}:pull", json={"maxMessages": 10}).json()
    if problem is None:
        (entry,) = pulled["receivedMessages"]
        assert entry["message"]["attributes"] == {
            "a": "b",
            "googclient_schemaencoding": encoding,
            "googclient_schemaname": NAME,
            "googclient_schemarevisionid": made["revisionId"],
        }
        return
    error = published.json()["error"]
    kind = "AVRO" if schema is AVRO else "PROTO"
    assert (pulled, error["status"]) == ({}, "INVALID_ARGUMENT")
    assert error["message"] == "Invalid data in message: Message failed schema validation."
    assert error["details"][0]["reason"] == f"INVALID_{encoding}_{kind}_MESSAGE"
    assert problem in error["details"][0]["metadata"]["revisionInfo"]
    assert made["revisionId"] in error["details"][0]["metadata"]["revisionInfo"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"name": NAME}, 400), ({"name": NAME, "encoding": "ENCODING_UNSPECIFIED"}, 400), ({"encoding": "JSON"}, 400),
        ({"name": NAME, "schema": AVRO, "encoding": "JSON"}, 400), ({"name": "state", "encoding": "JSON"}, 400),
        ({"name": f"projects/{PROJECT}/topics/uploads", "encoding": "JSON"}, 400),
        ({"name": f"{NAME}s", "encoding": "JSON"}, 404), ({"name": f"{NAME}@none", "encoding": "JSON"}, 404),
    ],
)  # fmt: skip
def test_a_message_is_checked_against_one_schema(http, body, status):
    _made(http)

    assert http.post(f"{SCHEMAS}:validateMessage", json={"message": "", **body}).status_code == status


def test_a_request_is_refused_as_a_whole_if_one_message_does_not_match(http):
    _made(http)
    _topic(http)
    assert _published(http, SMALL, b"{}").status_code == 400
    assert http.post(f"{SUBSCRIPTION}:pull", json={"maxMessages": 10}).json() == {}


def test_a_message_matches_the_newest_revision_that_the_topic_allows(http):
    first, second, third = _made(http), _commit(http, LARGER), _commit(http, AVRO)
    _topic(http)
    assert _published(http, SMALL, LARGE).status_code == 200
    assert _revisions_of_messages(http) == [third["revisionId"], second["revisionId"]]

    def allow(**bounds):
        mask = ",".join(f"schemaSettings.{name}" for name in ("firstRevisionId", "lastRevisionId"))
        body = {"topic": {"schemaSettings": bounds}, "updateMask": mask}
        return http.patch(f"/v1/{TOPIC}", json=body).status_code

    assert allow(lastRevisionId=second["revisionId"]) == 200
    assert _published(http, SMALL, LARGE).status_code == 200
    assert _revisions_of_messages(http) == [first["revisionId"], second["revisionId"]]
    assert allow(firstRevisionId=second["revisionId"], lastRevisionId=second["revisionId"]) == 200
    assert (_published(http, SMALL).status_code, _published(http, LARGE).status_code) == (400, 200)
    kept = http.get(f"/v1/{TOPIC}").json()
    assert allow(firstRevisionId=third["revisionId"], lastRevisionId=first["revisionId"]) == 400
    assert allow(firstRevisionId="none") == 400
    assert http.get(f"/v1/{TOPIC}").json() == kept


def test_the_neighbour_takes_the_place_of_a_deleted_bound(http):
    first, second, third = _made(http), _commit(http, LARGER), _commit(http, AVRO)
    _topic(http, firstRevisionId=first["revisionId"], lastRevisionId=third["revisionId"])
    for deleted in (first, third):
        assert http.delete(f"{STATE}@{deleted['revisionId']}:deleteRevision").status_code == 200

    assert (_published(http, SMALL).status_code, _published(http, LARGE).status_code) == (400, 200)
    assert _revisions_of_messages(http) == [second["revisionId"]]
    _commit(http, AVRO)
    assert _published(http, SMALL).status_code == 400, "it is newer than the last revision"


def test_a_topic_without_a_revision_that_is_left_can_be_changed(http):
    first, _ = _made(http), _commit(http, LARGER)
    _topic(http, firstRevisionId=first["revisionId"], lastRevisionId=first["revisionId"])
    assert http.delete(f"{STATE}@{first['revisionId']}:deleteRevision").status_code == 200
    refused = _published(http, SMALL)
    change = {"topic": {"labels": {"a": "b"}}, "updateMask": "labels"}

    assert (refused.status_code, "No revision" in refused.json()["error"]["message"]) == (400, True)
    assert http.patch(f"/v1/{TOPIC}", json=change).status_code == 200


@pytest.mark.parametrize(
    ("settings", "status"),
    [
        ({"schema": NAME}, 400), ({"encoding": "JSON"}, 400), ({"schema": "state", "encoding": "JSON"}, 400),
        ({"schema": f"{NAME}s", "encoding": "JSON"}, 404),
        ({"schema": NAME, "encoding": "JSON", "firstRevisionId": "none"}, 400),
    ],
)  # fmt: skip
def test_a_topic_needs_a_schema_that_exists_and_an_encoding(http, settings, status):
    _made(http)

    assert http.put(f"/v1/{TOPIC}", json={"schemaSettings": settings}).status_code == status


def test_nothing_is_published_after_the_schema_was_deleted(http):
    _made(http)
    _topic(http)
    http.delete(STATE)
    _made(http)

    assert http.get(f"/v1/{TOPIC}").json()["schemaSettings"] == {"schema": "_deleted-schema_", "encoding": "JSON"}
    assert _published(http, SMALL).status_code == 400
    change = {"topic": {"labels": {"a": "b"}}, "updateMask": "labels"}
    assert http.patch(f"/v1/{TOPIC}", json=change).status_code == 200
    assert http.patch(f"/v1/{TOPIC}", json={"topic": {}, "updateMask": "schemaSettings"}).status_code == 200
    assert _published(http, b"anything").status_code == 200


@pytest.mark.parametrize("schema", [AVRO, PROTO], ids=["AVRO", "PROTOCOL_BUFFER"])
def test_without_the_packages_schemas_are_refused(http, monkeypatch, schema):
    monkeypatch.setattr(definitions, "find_spec", lambda _: None)
    answer = http.post(SCHEMAS, params={"schemaId": "state"}, json=schema)

    assert (answer.status_code, answer.json()["error"]["status"]) == (501, "UNIMPLEMENTED")
    what = f"{schema['type']} schemas need more packages: pip install 'gcpx-emulator[schemas]'"
    assert answer.json()["error"]["message"] == what
