"""Calls by gRPC as requests to the REST methods that do the same.

Source: the options `google.api.http` in google/pubsub/v1/pubsub.proto and google/iam/v1/iam_policy.proto.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote, urlencode

import attrs
from google.iam.v1 import iam_policy_pb2, policy_pb2
from google.protobuf.empty_pb2 import Empty
from google.protobuf.json_format import MessageToDict, SerializeToJsonError
from google.protobuf.message import Message
from google.pubsub_v1 import types
from starlette.requests import Request

from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.json_data import Json

_PATH: Final = re.compile(r"(.*)\{([\w.]+)=(.*)\}(.*)")


@attrs.frozen
class Transcoded:
    """A method of gRPC with its REST twin.

    Attributes:
        name: of the method, such as `google.pubsub.v1.Publisher/GetTopic`.
        request: the class of its requests.
        response: the class of its responses.
        http_method: of the REST method, such as `GET`.
        paths: of the REST method; each names the field of the request that it contains, and the form of that field.
        body: the field of the request that is the body; the others are then in the query.
    """

    name: str
    request: type[Message]
    response: type[Message]
    http_method: str
    paths: tuple[str, ...]
    body: str = ""

    def request_of(self, message: Message, headers: Mapping[str, str]) -> Request:
        """Return the REST request of a call.

        Raises:
            ApiError: 400, if a name or an update mask is malformed.
        """
        try:
            fields = MessageToDict(message)
        except SerializeToJsonError as error:
            raise ApiError(400, f"Invalid update_mask provided: {error}") from None
        path = self._path(message, fields)
        if self.http_method in {"GET", "DELETE"}:
            return _request(self.http_method, path, dict(_flat(fields)), b"", headers)
        body = fields.pop(self.body, {}) if self.body else fields
        query = dict(_flat(fields)) if self.body else {}
        return _request(self.http_method, path, query, json.dumps(body).encode(), headers)

    def _path(self, message: Message, fields: Json) -> str:
        """Return the path, and remove what it contains from the fields."""
        for path in self.paths:
            match = _PATH.fullmatch(path)
            if match is None:
                raise ValueError(path)
            before, field, form, after = match.groups()
            name = str(operator.attrgetter(field)(message))
            if re.fullmatch(form.replace("*", "[^/]+"), name):
                fields.pop(field, None)
                return f"{before}{quote(name)}{after}"
        raise ApiError(400, f"Invalid resource name given ({field}={name}); it must be like {form}.")


def _flat(fields: Json, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield fields as parameters of a query."""
    for name, value in fields.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _request(http_method: str, path: str, query: Json, body: bytes, headers: Mapping[str, str]) -> Request:
    own = {"host": "localhost", "content-type": "application/json", "content-length": str(len(body))}

    async def receive() -> Json:
        return {"type": "http.request", "body": body, "more_body": False}

    scope = {
        "type": "http",
        "scheme": "http",
        "method": http_method,
        "path": path,
        "raw_path": path.encode("ascii"),
        "root_path": "",
        "query_string": urlencode(query).encode("ascii"),
        "headers": [(name.encode("latin-1"), value.encode("latin-1")) for name, value in {**headers, **own}.items()],
    }
    return Request(scope, receive)


_TOPIC: Final = "{%s=projects/*/topics/*}"
_SUBSCRIPTION: Final = "{%s=projects/*/subscriptions/*}"
_SNAPSHOT: Final = "{%s=projects/*/snapshots/*}"
_SCHEMA: Final = "{%s=projects/*/schemas/*}"


def _methods() -> Iterator[Transcoded]:
    topic, subscription = types.Topic.pb(), types.Subscription.pb()

    def method(
        name: str, response: type[Message], http_method: str, *paths: str, takes: Any = None, body: str = ""
    ) -> Transcoded:
        request = takes or getattr(types, f"{name.partition('/')[2]}Request").pb()
        all_paths = tuple(f"/v1/{path}" for path in paths)
        return Transcoded(f"google.pubsub.v1.{name}", request, response, http_method, all_paths, body)

    def iam(name: str, response: type[Message], http_method: str, verb: str) -> Transcoded:
        paths = tuple(f"/v1/{kind % 'resource'}:{verb}" for kind in (_TOPIC, _SUBSCRIPTION, _SNAPSHOT, _SCHEMA))
        request = getattr(iam_policy_pb2, f"{name}Request")
        return Transcoded(f"google.iam.v1.IAMPolicy/{name}", request, response, http_method, paths)

    yield method("Publisher/CreateTopic", topic, "PUT", _TOPIC % "name", takes=topic)
    yield method("Publisher/UpdateTopic", topic, "PATCH", _TOPIC % "topic.name")
    yield method("Publisher/Publish", types.PublishResponse.pb(), "POST", f"{_TOPIC % 'topic'}:publish")
    yield method("Publisher/GetTopic", topic, "GET", _TOPIC % "topic")
    yield method("Publisher/ListTopics", types.ListTopicsResponse.pb(), "GET", "{project=projects/*}/topics")
    listed = types.ListTopicSubscriptionsResponse.pb()
    yield method("Publisher/ListTopicSubscriptions", listed, "GET", f"{_TOPIC % 'topic'}/subscriptions")
    yield method("Publisher/DeleteTopic", Empty, "DELETE", _TOPIC % "topic")
    detached = types.DetachSubscriptionResponse.pb()
    yield method("Publisher/DetachSubscription", detached, "POST", f"{_SUBSCRIPTION % 'subscription'}:detach")
    yield method("Subscriber/CreateSubscription", subscription, "PUT", _SUBSCRIPTION % "name", takes=subscription)
    yield method("Subscriber/GetSubscription", subscription, "GET", _SUBSCRIPTION % "subscription")
    yield method("Subscriber/UpdateSubscription", subscription, "PATCH", _SUBSCRIPTION % "subscription.name")
    all_listed = types.ListSubscriptionsResponse.pb()
    yield method("Subscriber/ListSubscriptions", all_listed, "GET", "{project=projects/*}/subscriptions")
    yield method("Subscriber/DeleteSubscription", Empty, "DELETE", _SUBSCRIPTION % "subscription")
    for name, response in (
        ("ModifyAckDeadline", Empty),
        ("Acknowledge", Empty),
        ("Pull", types.PullResponse.pb()),
        ("ModifyPushConfig", Empty),
        ("Seek", types.SeekResponse.pb()),
    ):
        verb = f"{name[0].lower()}{name[1:]}"
        yield method(f"Subscriber/{name}", response, "POST", f"{_SUBSCRIPTION % 'subscription'}:{verb}")
    snapshot, snapshots = types.Snapshot.pb(), types.ListSnapshotsResponse.pb()
    yield method("Subscriber/CreateSnapshot", snapshot, "PUT", _SNAPSHOT % "name")
    yield method("Subscriber/GetSnapshot", snapshot, "GET", _SNAPSHOT % "snapshot")
    yield method("Subscriber/ListSnapshots", snapshots, "GET", "{project=projects/*}/snapshots")
    yield method("Subscriber/UpdateSnapshot", snapshot, "PATCH", _SNAPSHOT % "snapshot.name")
    yield method("Subscriber/DeleteSnapshot", Empty, "DELETE", _SNAPSHOT % "snapshot")
    of_topic = types.ListTopicSnapshotsResponse.pb()
    yield method("Publisher/ListTopicSnapshots", of_topic, "GET", f"{_TOPIC % 'topic'}/snapshots")
    schema, schemas, revisions = (
        types.Schema.pb(),
        types.ListSchemasResponse.pb(),
        types.ListSchemaRevisionsResponse.pb(),
    )
    yield method("SchemaService/CreateSchema", schema, "POST", "{parent=projects/*}/schemas", body="schema")
    yield method("SchemaService/GetSchema", schema, "GET", _SCHEMA % "name")
    yield method("SchemaService/ListSchemas", schemas, "GET", "{parent=projects/*}/schemas")
    yield method("SchemaService/ListSchemaRevisions", revisions, "GET", f"{_SCHEMA % 'name'}:listRevisions")
    yield method("SchemaService/CommitSchema", schema, "POST", f"{_SCHEMA % 'name'}:commit")
    yield method("SchemaService/RollbackSchema", schema, "POST", f"{_SCHEMA % 'name'}:rollback")
    yield method("SchemaService/DeleteSchemaRevision", schema, "DELETE", f"{_SCHEMA % 'name'}:deleteRevision")
    yield method("SchemaService/DeleteSchema", Empty, "DELETE", _SCHEMA % "name")
    validated = types.ValidateSchemaResponse.pb()
    yield method("SchemaService/ValidateSchema", validated, "POST", "{parent=projects/*}/schemas:validate")
    matched = types.ValidateMessageResponse.pb()
    yield method("SchemaService/ValidateMessage", matched, "POST", "{parent=projects/*}/schemas:validateMessage")
    yield iam("SetIamPolicy", policy_pb2.Policy, "POST", "setIamPolicy")
    yield iam("GetIamPolicy", policy_pb2.Policy, "GET", "getIamPolicy")
    yield iam("TestIamPermissions", iam_policy_pb2.TestIamPermissionsResponse, "POST", "testIamPermissions")


METHODS: Final = {method.name: method for method in _methods()}
"""Every method, by name, but for streams."""
