"""NotificationConfig: events of a bucket, published to a Pub/Sub topic. Google never changes one.

Source: Cloud Storage JSON API, `notifications` (path `b/B/notificationConfigs`).
"""

from __future__ import annotations

import re
import threading
from typing import Any, Final
from urllib.parse import unquote

import attrs

from gcpx.errors import ProviderError
from gcpx.gcp.client import PUBSUB, STORAGE, Google, Request, segment
from gcpx.gcp.errors import ApiError, NotFound, PermissionDenied, PreconditionFailed, ServerError, Unreachable
from gcpx.gcp.list_method import ListMethod
from gcpx.gcp.lookups import Lookups
from gcpx.gcp.partial_state import keeping_state
from gcpx.gcp.place_defaults import place_or_default, require_project
from gcpx.model import codec
from gcpx.model.call import Call
from gcpx.model.fields import Record, field, record
from gcpx.model.links import Home, path_of
from gcpx.model.patterns import Part, form
from gcpx.model.places import LINK_PARTS, PROJECT
from gcpx.model.resource import Found, InvalidId, Live, Page, Resource
from gcpx.model.rules import Failure, exclusive, rule

_BUCKET = (
    re.compile(r"[a-z0-9][-_.a-z0-9]{1,220}[a-z0-9]"),
    "the name of a bucket: 3 to 222 lower-case letters, digits, hyphens, underscores and dots",
)
_TOPIC = form(
    "TOPIC",
    "projects/PROJECT/topics/TOPIC",
    "//pubsub.googleapis.com/projects/PROJECT/topics/TOPIC",
    PROJECT=LINK_PARTS["PROJECT"],
    TOPIC=Part(
        r"[a-zA-Z][-a-zA-Z0-9_.~+%]{2,254}", "3 to 255 letters, digits and any of -_.~+%, beginning with a letter"
    ),
)
_BUCKETS: Final = 50
"""Buckets to a page of a list; each takes a call of its own."""
_MOST_ATTRIBUTES: Final = 5
_ATTEMPTS: Final = 3


@rule("customAttributes has at most 5 entries", "Cloud Storage, when the resource is made")
def _few_attributes(values: dict[str, Any]) -> list[Failure]:
    given = values.get("customAttributes")
    if isinstance(given, dict) and len(given) > _MOST_ATTRIBUTES:
        return [("customAttributes", f"must have at most {_MOST_ATTRIBUTES} entries, not {len(given)}")]
    return []


@record
class NotificationConfigModel(Record):
    """A bucket's notification configuration: which events go to which Pub/Sub topic.

    The project's Cloud Storage service agent needs the role `roles/pubsub.publisher` on the topic. Google Cloud never
    changes a configuration, so any change replaces it. A bucket holds at most 100 of them.
    """

    RULES = (_few_attributes,)

    bucket: str = field("The bucket's name.", required=True, param=True, pattern=_BUCKET)
    custom_attributes: dict[str, str] = field("Attributes added to every message; at most 5.", wire="custom_attributes")
    etag: str = field("The configuration's entity tag.", output=True, always=True)
    event_types: list[str] = field(
        "The events to publish. Default: all.",
        wire="event_types",
        identity="set",
        enum=("OBJECT_ARCHIVE", "OBJECT_DELETE", "OBJECT_FINALIZE", "OBJECT_METADATA_UPDATE"),
    )
    kind: str = field("Always `storage#notification`.", output=True, always=True)
    notification_id: str = field(
        "The ID that Google assigned to the configuration.", output=True, wire="id", always=True
    )
    object_name_prefix: str = field(
        "Publish only events of objects whose names begin with this. Default: all objects.",
        wire="object_name_prefix",
        max_length=1024,
    )
    payload_format: str = field(
        "`JSON_API_V1` sends the object's metadata, `NONE` only the attributes. Default: `JSON_API_V1`.",
        wire="payload_format",
        enum=("JSON_API_V1", "NONE"),
        closed=True,
        default="JSON_API_V1",
    )
    self_link: str = field("The configuration's URL.", output=True, always=True)
    topic: str = field(
        "The Pub/Sub topic: `T` in the provider's project, `projects/P/topics/T`, or `//pubsub.googleapis.com/projects/P/topics/T`.",
        required=True,
        url="topics",
        pattern=_TOPIC,
    )
    user_project: str = field("The project to bill for the calls, for a bucket with Requester Pays.", param=True)


@record
class NotificationConfigQuery(Record):
    """Which buckets' configurations to list."""

    RULES = (exclusive("bucket", "project"),)

    bucket: str = field("Only configurations of this bucket.", pattern=_BUCKET)
    project: str = field("Configurations of all buckets of this project. Default: the provider's.", pattern=PROJECT)
    user_project: str = field("The project to bill for the calls, for buckets with Requester Pays.")


@attrs.frozen
class _Address:
    bucket: str
    own_id: str = ""

    @property
    def collection(self) -> str:
        return f"v1/b/{segment(self.bucket)}/notificationConfigs"

    @property
    def path(self) -> str:
        return f"{self.collection}/{segment(self.own_id)}"

    @property
    def id(self) -> str:
        return f"{self.bucket}/notificationConfigs/{self.own_id}"


class NotificationConfig(Resource):
    """Configurations by ID in `b/BUCKET/notificationConfigs`."""

    token = "gcpx:storage:NotificationConfig"
    model = NotificationConfigModel
    query = NotificationConfigQuery
    id_forms = (
        "BUCKET/notificationConfigs/ID",
        "projects/_/buckets/BUCKET/notificationConfigs/ID",
        "b/BUCKET/notificationConfigs/ID",
        "a self link",
    )

    def __init__(self, google: Google, lookups: Lookups) -> None:
        self._google = google
        self._lookups = lookups
        self._locks: dict[tuple[str, str], threading.Lock] = {}

    def problems(self, inputs: dict[str, Any]) -> list[Failure]:
        """Require the provider's project for a topic that is only a name."""
        topic = inputs.get("topic")
        if not isinstance(topic, str) or "/" in topic or self._google.settings.project:
            return []
        return [("topic", "must be written projects/PROJECT/topics/TOPIC, because gcpx:project is not set")]

    def query_problems(self, query: dict[str, Any]) -> list[Failure]:
        """Require a bucket, or a project to list the buckets of."""
        return [] if query.get("bucket") else require_project(self._google.settings, query)

    def check_online(self, call: Call, olds: dict[str, Any], inputs: dict[str, Any]) -> list[Failure]:
        """Look up the topic."""
        del olds
        if not isinstance(inputs.get("topic"), str):
            return []
        topic = self._full_topic(inputs["topic"]).removeprefix("//pubsub.googleapis.com/")
        if self._lookups.get(call, f"v1/{topic}", api=PUBSUB) is not None:
            return []
        return [("topic", f"must name a topic that exists; {topic} does not exist: correct it, or create it first")]

    def explained(self, call: Call, inputs: dict[str, Any], error: ProviderError) -> ProviderError:
        """Say what to do if the bucket does not exist."""
        del call
        if not isinstance(error, NotFound) or "bucket does not exist" not in str(error):
            return error
        words = f"bucket: must exist: create the bucket {inputs['bucket']} first, or correct bucket ({error})"
        return NotFound(words, status=error.status, reason=error.reason)

    def predict(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """Nothing is certain but what the user wrote and the default payload."""
        return {"kind": "storage#notification", "payloadFormat": inputs.get("payloadFormat", "JSON_API_V1")}

    def create(self, call: Call, inputs: dict[str, Any]) -> Live:
        """Insert once: an answer that is lost is settled by looking for the new configuration."""
        address = _Address(inputs["bucket"])
        body = {"payload_format": "JSON_API_V1", **codec.to_body(self.type, inputs)}
        body["topic"] = self._full_topic(inputs["topic"])
        # A configuration whose response was lost is found as the new one in the bucket, so equal ones are created in turn.
        with self._locks.setdefault((address.bucket, body["topic"]), threading.Lock()):
            before = self._alike(call, address, inputs)
            for twin in before:
                call.warn(
                    f"{_Address(address.bucket, twin).id} already publishes the same events; every event will be published twice. "
                    f"To manage that one instead: pulumi import {self.token} NAME {_Address(address.bucket, twin).id}"
                )
            found = self._insert(call, address, body, inputs, set(before))
        made = attrs.evolve(address, own_id=str(found["id"]))
        with keeping_state(lambda _: Live.unread(made.id, inputs)) as creation:
            creation.created()
            return self._live(made, found, inputs)

    def _insert(
        self, call: Call, address: _Address, body: dict[str, Any], inputs: dict[str, Any], before: set[str]
    ) -> dict[str, Any]:
        lost: ApiError = Unreachable(f"POST {address.collection}: the response has no ID")
        for _ in range(_ATTEMPTS):
            try:
                found = self._send(call, "POST", address.collection, inputs, body=body)
            except PermissionDenied as error:
                raise self._explained(call, error) from error
            except (Unreachable, ServerError) as error:
                lost, found = error, {}
            made = found if found.get("id") else self._made_since(call, address, inputs, before, lost)
            if made is not None:
                return made
        raise lost

    def _made_since(
        self, call: Call, address: _Address, inputs: dict[str, Any], before: set[str], lost: ApiError
    ) -> dict[str, Any] | None:
        """Find what an insertion made whose answer was lost."""
        try:
            alike = self._alike(call, address, inputs)
        except ProviderError as error:
            raise ApiError(
                f"{lost} It may have been created anyway, but the bucket's list could not be read: {error} Before "
                f"another `pulumi up`, look for it with `pulumi do {self.token} list --all --bucket {address.bucket}`; "
                "what was made can be imported by its ID"
            ) from error
        return next((found for own_id, found in alike.items() if own_id not in before), None)

    def home(self, inputs: dict[str, Any], outputs: dict[str, Any]) -> Home:
        """Complete the topic's bare name by the provider's project."""
        del inputs, outputs
        return Home(project=self._google.settings.project)

    def _alike(self, call: Call, address: _Address, inputs: dict[str, Any]) -> dict[str, dict[str, Any]]:
        """Find the bucket's configurations that say what these inputs say, by ID."""
        listed = self._send(call, "GET", address.collection, inputs).get("items", ())
        return {str(item["id"]): item for item in listed if self._means(item, inputs)}

    def read(self, call: Call, resource_id: str, inputs: dict[str, Any] | None) -> Live | None:
        """Get by ID."""
        address = self._parse(resource_id)
        try:
            found = self._send(call, "GET", address.path, inputs or call.last)
        except NotFound:
            return None
        if not found.get("id"):
            raise ServerError(f"Google's response for {address.id} holds no id")
        return self._live(address, found, inputs or {})

    def delete(self, call: Call, resource_id: str) -> None:
        """Delete by ID; a bucket that is going away at the same time answers 412 for a moment."""
        address = self._parse(resource_id)
        for attempt in range(_ATTEMPTS):
            try:
                self._send(call, "DELETE", address.path, call.last)
            except NotFound:
                return
            except PreconditionFailed:
                if attempt == _ATTEMPTS - 1 or call.cancelled.wait(self._google.backoff):
                    raise
            else:
                return

    def page(self, call: Call, query: dict[str, Any], token: str, size: int) -> Page:
        """List a bucket's configurations, or those of one page of a project's buckets."""
        if query.get("bucket"):
            return Page(self._of_bucket(call, query["bucket"], query))
        payer = {"userProject": query.get("userProject")}
        asked = {
            "project": place_or_default(self._google.settings, "project", query),
            "fields": "items(name),nextPageToken",
            **payer,
        }
        buckets = ListMethod(google=self._google, api=STORAGE, path="v1/b", query=asked)
        page = buckets.page(call, token, min(size, _BUCKETS))
        found = [item for bucket in page.get("items", ()) for item in self._of_bucket(call, bucket["name"], query)]
        return Page(found, page.get("nextPageToken", ""))

    def _of_bucket(self, call: Call, bucket: str, query: dict[str, Any]) -> list[Found]:
        items = self._send(call, "GET", _Address(bucket).collection, query).get("items", ())
        return [Found(_Address(bucket, str(item["id"])).id, f"{bucket}-{item['id']}") for item in items]

    def _send(
        self, call: Call, method: str, path: str, inputs: dict[str, Any], body: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        query = {"userProject": inputs.get("userProject")}
        request = Request(api=STORAGE, method=method, path=path, query=query, body=body, idempotent=method != "POST")
        return self._google.send(request, call)

    def _explained(self, call: Call, error: PermissionDenied) -> ApiError:
        """Name the principal that has to be allowed to publish."""
        project = self._google.settings.project
        if project is None:
            return error
        request = Request(api=STORAGE, method="GET", path=f"v1/projects/{project}/serviceAccount")
        try:
            agent = self._google.send(request, call).get("email_address")
        except ApiError:
            return error
        hint = f"If the error is about the topic, grant roles/pubsub.publisher on it to serviceAccount:{agent}."
        return PermissionDenied(f"{error} {hint}", status=error.status, reason=error.reason)

    def _live(self, address: _Address, found: dict[str, Any], inputs: dict[str, Any]) -> Live:
        payer = {"userProject": inputs["userProject"]} if inputs.get("userProject") else {}
        return Live(address.id, {**codec.from_body(self.type, found), "bucket": address.bucket, **payer})

    def _full_topic(self, topic: str) -> str:
        path = topic.removeprefix("//pubsub.googleapis.com/")
        if "/" not in path:
            path = f"projects/{self._google.settings.project}/topics/{path}"
        return f"//pubsub.googleapis.com/{path}"

    def _parse(self, resource_id: str) -> _Address:
        form = r"(?:projects/[^/]+/buckets/|b/)?([^/]+)/notificationConfigs/(.+)"
        found = re.fullmatch(form, resource_id)
        if found is not None:
            return _Address(found[1], found[2])
        found = re.fullmatch(form, re.sub(r"^(?:storage/)?v1/", "", path_of(resource_id)))
        if found is None:
            raise InvalidId(self.token, resource_id, self.id_forms)
        return _Address(found[1], unquote(found[2]))

    def _means(self, item: dict[str, Any], wanted: dict[str, Any]) -> bool:
        live, how = codec.from_body(self.type, item), self.meaning(wanted, {})
        return all(
            how.same(prop, live.get(name), wanted.get(name))
            for name, prop in self.type.inputs.items()
            if not prop.traits.param
        )
