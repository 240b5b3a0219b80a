"""NotificationConfig: publishes events of a bucket's objects to a Pub/Sub topic.

Source: Cloud Storage REST reference, `notifications` (path `b/BUCKET/notificationConfigs`).
"""

from __future__ import annotations

import re
import shlex
import threading
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, TypedDict, cast
from urllib.parse import quote, unquote

import attrs

from gcpx.errors import MalformedResponse, ProviderError, safe_message, without_stop
from gcpx.gcp.client import GoogleClient
from gcpx.gcp.creation import keeping_state, taken_over
from gcpx.gcp.errors import (
    ApiError,
    Conflict,
    NotFound,
    PermissionDenied,
    PreconditionFailed,
    Rejected,
    ServerError,
    Unfinished,
)
from gcpx.gcp.in_project import Lookups, how_to_set, place_or_default, require_project
from gcpx.gcp.list_method import ListMethod, items_of
from gcpx.gcp.online_checks import OnlineCheck, OnlineChecks
from gcpx.gcp.request import PUBSUB, SHORT_PATIENCE, STORAGE, Request, segment
from gcpx.gcp.shared_reads import Scope
from gcpx.model import codec
from gcpx.model.compare import ANYWHERE, Comparison
from gcpx.model.context import Context
from gcpx.model.fields import Failure, Record, exclusive, field, output_field, record, requirement, text
from gcpx.model.import_command import how_to_manage
from gcpx.model.links import Location, name_of, path_of
from gcpx.model.naming import UNREAD
from gcpx.model.patterns import LINK_PARTS, PROJECT, Form, Part, form
from gcpx.model.resource import InvalidId, ListedResource, Page, Resource, State

if TYPE_CHECKING:
    from gcpx.storage.value_types import NotificationConfigQueryValues, NotificationConfigValues

_BUCKET = Form(
    r"[a-z0-9][-_.a-z0-9]{1,220}[a-z0-9]",
    "the name of a bucket without gs://: 3 to 222 lower-case letters, digits, hyphens, underscores and dots",
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
_MOST_ATTRIBUTES: Final = 5
_REFERENCE: Final = "[notifications: {}](https://cloud.google.com/storage/docs/json_api/v1/notifications)"


@requirement(
    "customAttributes", f"must have at most {_MOST_ATTRIBUTES} entries", _REFERENCE.format("custom_attributes")
)
def _custom_attributes_are_at_most_5(values: NotificationConfigValues) -> bool:
    given = values.get("customAttributes")
    return not isinstance(given, dict) or len(given) <= _MOST_ATTRIBUTES


@record
class NotificationConfigModel(Record):
    """A notification configuration of a bucket, which publishes events about its objects to a Pub/Sub topic.

    The Cloud Storage service agent of the bucket's project needs the role `roles/pubsub.publisher` on the topic.

    Google Cloud does not allow changes to a configuration, so every change replaces it.
    """

    RULES = (_custom_attributes_are_at_most_5,)

    bucket: str = field(
        "The bucket's name, such as `my-uploads`.",
        required=True,
        in_url=True,
        pattern=_BUCKET,
        source=_REFERENCE.format("bucket"),
    )
    custom_attributes: dict[str, str] = field(
        "Attributes that are added to every message, such as `{team: web}`: at most 5. Default: none.",
        wire="custom_attributes",
    )
    etag: str = output_field("The configuration's entity tag.", always=True)
    event_types: list[str] = field(
        "The types of events to publish, such as `[OBJECT_FINALIZE]`. Default: all types.",
        wire="event_types",
        identity="set",
        enum=("OBJECT_ARCHIVE", "OBJECT_DELETE", "OBJECT_FINALIZE", "OBJECT_METADATA_UPDATE"),
        source=_REFERENCE.format("event_types"),
    )
    kind: str = output_field("Always `storage#notification`.", always=True)
    notification_id: str = output_field(
        "The ID that Google assigns to the configuration, such as `7`.", wire="id", always=True
    )
    object_name_prefix: str = field(
        "Publish only events about objects whose names begin with this prefix, such as `images/`: at most 1,024 characters. Default: all objects.",
        wire="object_name_prefix",
        max_length=1024,
        source=_REFERENCE.format("object_name_prefix"),
    )
    payload_format: str = field(
        "What a message contains: `JSON_API_V1` for the object's metadata as JSON, `NONE` for attributes only. Default: `JSON_API_V1`.",
        wire="payload_format",
        enum=("JSON_API_V1", "NONE"),
        closed=True,
        default="JSON_API_V1",
        source=_REFERENCE.format("payload_format"),
    )
    self_link: str = output_field("The configuration's URL.", always=True)
    topic: str = field(
        "The Pub/Sub topic to publish to: `TOPIC` in the provider's project, `projects/PROJECT/topics/TOPIC`, or `//pubsub.googleapis.com/projects/PROJECT/topics/TOPIC`.",
        required=True,
        url="topics",
        pattern=_TOPIC,
        source=_REFERENCE.format("topic"),
    )
    user_project: str = field(
        "The ID of the project to bill for the calls, such as `my-project`. Default: none. Required for a bucket with Requester Pays.",
        in_url=True,
    )


@record
class NotificationConfigQuery(Record):
    """The buckets whose notification configurations are listed."""

    RULES = (exclusive("bucket", "project"),)

    bucket: str = field(
        "The bucket whose configurations are listed, such as `my-uploads`. Conflicts with `project`.", pattern=_BUCKET
    )
    project: str = field(
        "The project whose buckets' configurations are listed, such as `my-project`. Default: the provider's project. Conflicts with `bucket`.",
        pattern=PROJECT,
    )
    user_project: str = field(
        "The ID of the project to bill for the calls, such as `my-project`. Default: none. Required for buckets with Requester Pays."
    )


_FORM: Final = re.compile(r"new(?:-besides-(?P<known>[^/]+))?")


def provisional_number(known: Iterable[str]) -> str:
    """Return a provisional number, which has Google's numbers of the equal configurations that existed before."""
    numbers = ",".join(quote(number, safe="") for number in sorted(known))
    return f"new-besides-{numbers}" if numbers else "new"


def known_before(number: str) -> frozenset[str] | None:
    """Return the numbers in a provisional one; None for one of Google's numbers."""
    found = _FORM.fullmatch(number)
    return None if found is None else frozenset(map(unquote, (found["known"] or "").split(",")))


class FoundConfig(TypedDict, total=False):
    """A configuration as the API returns it (REST JSON), with the fields that are read one by one."""

    id: str
    topic: str


def _values(values: Mapping[str, Any]) -> NotificationConfigValues:
    """Return inputs or outputs, which were checked before, with their declared type."""
    return cast("NotificationConfigValues", values)


def _query_values(values: Mapping[str, Any]) -> NotificationConfigQueryValues:
    """Return a query, which was checked before, with its declared type."""
    return cast("NotificationConfigQueryValues", values)


def _is_complete(found: Mapping[str, Any]) -> bool:
    """Return whether a response has the identity of a configuration: its ID and its topic."""
    return all(isinstance(found.get(name), str) and found[name] for name in ("id", "topic"))


@attrs.frozen(kw_only=True)
class NotificationConfigs:
    """The collection `b/BUCKET/notificationConfigs`, for one call of the engine. Configurations are Google's JSON.

    Attributes:
        user_project: the project to bill for the calls; None for a bucket without Requester Pays.
    """

    google: GoogleClient
    context: Context
    bucket: str
    user_project: str | None

    @property
    def path(self) -> str:
        """The path of the collection, with the version."""
        return f"v1/b/{segment(self.bucket)}/notificationConfigs"

    def id_of(self, number: str) -> str:
        """Return the resource ID of the configuration with an ID of Google."""
        return f"{self.bucket}/notificationConfigs/{number}"

    def read_all(self) -> list[FoundConfig]:
        """Read all configurations."""
        items = items_of(self._send("GET", self.path))
        if not all(isinstance(item.get("id"), str) and item["id"] for item in items):
            raise MalformedResponse(f"Google's list of {self.path} has a configuration without an id")
        return cast("list[FoundConfig]", items)

    def read(self, number: str) -> FoundConfig | None:
        """Read a configuration; None if it does not exist.

        Raises MalformedResponse for a response without its ID or topic, which does not prove that it is gone.
        """
        found = self.google.reads.read(self.context, self._shared, number)
        if found is None:
            return None
        if str(found.get("id")) != number:
            raise MalformedResponse(f"Google's response for {self.id_of(number)} is not about it: it holds no such id")
        if not _is_complete(found):
            raise MalformedResponse(
                f"Google's response for {self.id_of(number)} does not say to which topic it publishes"
            )
        return cast("FoundConfig", found)

    @property
    def _shared(self) -> Scope:
        """The scope of shared reads of the bucket's configurations, by one list."""

        def page(_: str) -> tuple[dict[str, dict[str, Any]], str]:
            return {str(item.get("id")): item for item in items_of(self._send("GET", self.path))}, ""

        place = f"{self.path}?userProject={self.user_project}" if self.user_project else self.path
        return Scope(
            place=place,
            kind="notificationConfigs",
            get=lambda number: self._send("GET", self._path_of(number)),
            page=page,
        )

    def insert(self, body: dict[str, Any]) -> FoundConfig:
        """Create a configuration. The client sends the request only once, because every insertion creates one more.

        After a lost response, `NotificationConfig._insert_once` sends it again only if the list shows that nothing was created.
        """
        return cast("FoundConfig", self._send("POST", self.path, body))

    def delete(self, number: str) -> None:
        """Delete a configuration; one that does not exist is a success."""
        try:
            self._send("DELETE", self._path_of(number))
        except NotFound:
            if self.read(number) is not None:
                raise

    def inform(self, path: str, **query: str) -> dict[str, Any]:
        """Read a resource of Cloud Storage for an error message only; empty if it cannot be read."""
        query |= {"userProject": self.user_project} if self.user_project else {}
        try:
            return self.google.send(
                Request(api=STORAGE, method="GET", path=path, query=query, patience=SHORT_PATIENCE), self.context
            )
        except ProviderError:
            return {}

    def _path_of(self, number: str) -> str:
        return f"{self.path}/{segment(number)}"

    def _send(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        query = {"userProject": self.user_project}
        request = Request(api=STORAGE, method=method, path=path, query=query, body=body, idempotent=method != "POST")
        return self.google.send(request, self.context)


_ID: Final = r"(?:projects/[^/]+/buckets/|b/)?([^/]+)/notificationConfigs/(.+)"
_MOST_BUCKETS: Final = 50
"""The number of buckets per page of a list; each bucket takes a call of its own."""
_BUCKET_DELETION: Final = 1.5
"""The time for which a deletion is retried in seconds, while Google may be deleting the bucket, too."""
_PUBSUB_HOST: Final = "//pubsub.googleapis.com/"
_DELETED_TOPIC: Final = "_deleted-topic_"
"""Pub/Sub's name for a deleted topic."""
_OF_ANOTHER: Final = (
    "{id} was not deleted, because it may not be the configuration in the state: its content is different. Either its "
    "bucket was deleted and created again, or its topic was deleted. If nobody needs it, delete it with `gcloud storage "
    "buckets notifications delete {quoted}`"
)
"""The warning about a configuration with our number and other content."""
_ATTEMPTS: Final = 3
_UNDER_WAY: Final = 60.0
"""The time for which a request without a response may still be under way, in seconds."""
_LONGEST_PAUSE: Final = 15.0
_FULL_TOPIC: Final = "__topic"
"""A hidden output: the topic with its project, because the provider may have another project later."""
_PUBLISHER: Final = "roles/pubsub.publisher"
_SERVICE_AGENT: Final = re.compile(r"[-a-z0-9]+@gs-project-accounts\.(?:[-a-z0-9]+\.)*gserviceaccount\.com")
"""The account that publishes a project's events. It becomes part of commands, so no other form is accepted."""


class NotificationConfig(Resource["NotificationConfigValues"]):
    """Notification configurations by Google's ID in `b/BUCKET/notificationConfigs`."""

    token = "gcpx:storage:NotificationConfig"
    model = NotificationConfigModel
    query = NotificationConfigQuery
    id_forms = (
        "BUCKET/notificationConfigs/ID",
        "projects/_/buckets/BUCKET/notificationConfigs/ID",
        "b/BUCKET/notificationConfigs/ID",
        "a self link",
    )

    def __init__(self, google: GoogleClient, lookups: Lookups) -> None:
        self._google = google
        self._lookups = lookups
        self._locks: dict[tuple[str, str], threading.Lock] = {}

    def failures(self, inputs: NotificationConfigValues) -> list[Failure]:
        """Require the provider's project for a bare topic name."""
        topic = inputs.get("topic")
        if not isinstance(topic, str) or "/" in topic or self._google.settings.project:
            return []
        words = "must be written projects/PROJECT/topics/TOPIC, because gcpx:project is not set"
        return [Failure("topic", f"{words}; or {how_to_set('project')}")]

    def query_failures(self, query: dict[str, Any]) -> list[Failure]:
        """Require a bucket, or a project to list the buckets of."""
        return [] if _query_values(query).get("bucket") else require_project(self._google.settings, query)

    def check_online(
        self, context: Context, olds: NotificationConfigValues, inputs: NotificationConfigValues
    ) -> list[Failure]:
        """Check that the bucket and the topic exist."""
        del olds
        checks = OnlineChecks(self._lookups, context, project=None)
        bucket, given = text(inputs, "bucket"), text(inputs, "topic")
        topic = self.full_topic(given).removeprefix(_PUBSUB_HOST) if given else ""
        every: list[OnlineCheck] = []
        if bucket:
            name, payer = f"the bucket {bucket}", inputs.get("userProject")
            payer = payer if isinstance(payer, str) else None
            every.append(
                lambda: checks.check_exists(
                    name, f"v1/b/{segment(bucket)}", ("bucket",), api=STORAGE, userProject=payer
                )
            )
        if topic:
            escaped = "/".join(map(segment, topic.split("/")))  # a topic's name may contain %
            every.append(lambda: checks.check_exists(topic, f"v1/{escaped}", ("topic",), api=PUBSUB))
        return checks.run({}, every)

    def explain_error(self, context: Context, inputs: NotificationConfigValues, error: ProviderError) -> ProviderError:
        """Explain what to do if the bucket does not exist."""
        del context
        if not isinstance(error, NotFound) or "bucket does not exist" not in str(error):
            return error
        words = f"must exist: create the bucket {inputs['bucket']} first, or correct the name"
        return error.with_message(f"bucket: {words} ({error})")

    def location(self, inputs: NotificationConfigValues, outputs: dict[str, Any]) -> Location:
        """Complete the topic's bare name with the provider's project; a name in the state stays the same topic."""
        is_of_state = outputs.get("topic") == inputs.get("topic")
        return self._location_of(outputs) if is_of_state else Location(project=self._google.settings.project)

    def comparison(self, inputs: NotificationConfigValues, outputs: dict[str, Any]) -> Comparison:
        """Let a bare name match the topic that Google shows, because the provider may have had another project."""
        del inputs
        here = self._location_of(outputs)
        return Comparison((here, here))

    def _location_of(self, outputs: dict[str, Any]) -> Location:
        known = re.match("projects/([^/]+)/", str(outputs.get(_FULL_TOPIC, "")).removeprefix(_PUBSUB_HOST))
        return Location(project=known[1] if known else self._google.settings.project)

    def moved(
        self, old: NotificationConfigValues, new: NotificationConfigValues, outputs: dict[str, Any]
    ) -> dict[str, tuple[str, str]]:
        """Return the topic if its bare name now stands for a topic in another project than the state's."""
        del old
        here, topic = str(outputs.get(_FULL_TOPIC, "")), new.get("topic")
        there = self.full_topic(topic) if isinstance(topic, str) else here
        return {"topic": (path_of(here), path_of(there))} if here not in {"", there} else {}

    def predict(self, inputs: NotificationConfigValues) -> dict[str, Any]:
        """Predict the outputs that are the same for every configuration, and the payload format."""
        return {"kind": "storage#notification", "payloadFormat": inputs.get("payloadFormat", "JSON_API_V1")}

    def create(self, context: Context, inputs: NotificationConfigValues) -> State:
        """Insert the configuration, and warn about others that publish the same events."""
        configs, topic = self._configs(context, inputs["bucket"], inputs), self.full_topic(inputs["topic"])
        # After a lost response, the new twin in the bucket counts as ours, so equal configurations are inserted one by one.
        lock = self._locks.setdefault((configs.bucket, topic), threading.Lock())
        with context.holding(lock, f"POST {configs.path}"):
            twins = self.twins(configs, inputs)
            self._judge_twins(context, [configs.id_of(number) for number in twins])
            before = frozenset(twins)

            def unread(response: Mapping[str, Any]) -> State:
                return State.unread(configs.id_of(response.get("id") or provisional_number(before)), {**inputs})

            with keeping_state(context, unread) as progress:
                found = self._insert_once(configs, inputs, topic, before)
                progress.created(found)
                state = self.state(configs, str(found["id"]), found)
            # The next equal creation may list it before this call has ended, and must not refuse it as somebody else's.
            context.claim(state.id)
            return state

    def _insert_once(
        self, configs: NotificationConfigs, inputs: NotificationConfigValues, topic: str, before: Collection[str]
    ) -> FoundConfig:
        """Insert a configuration, again after a lost response if the list shows that nothing was created.

        `before` are the IDs of the equal configurations that existed before, so that a new one is ours. Raises the same as
        `gcpx.gcp.creation.create_by_name`.
        """
        body = {"payload_format": "JSON_API_V1", **codec.to_body(self.type, inputs), "topic": topic}
        lost = Unfinished(f"POST {configs.path}: the response lacks the ID or the topic")
        for _ in range(_ATTEMPTS):
            try:
                found = configs.insert(body)
            except Unfinished as error:
                lost, found = error, {}
            except (PermissionDenied, Rejected) as error:
                if isinstance(error, Rejected) and error.reason != "invalid":
                    raise
                raise self.explain_publishing(configs, error, topic.removeprefix(_PUBSUB_HOST)) from error
            created = found if _is_complete(found) else self._find_created(configs, inputs, before, lost)
            if created is not None:
                return created
        raise lost

    def _find_created(
        self, configs: NotificationConfigs, inputs: NotificationConfigValues, before: Collection[str], lost: Unfinished
    ) -> FoundConfig | None:
        """Find the configuration that an insertion without a response created; None if it created none.

        A time-out does not mean that Google refused the request, so this looks until it cannot be under way any more.
        """
        context = configs.context
        for _ in context.tries(_UNDER_WAY, pause=1.0, longest=_LONGEST_PAUSE):
            try:
                twins = self.twins(configs, inputs)
            except Exception as error:  # after any error, Google may have created the configuration
                raise Unfinished(
                    f"{without_stop(str(lost))}. The bucket's list, which shows whether it was created, could not be read: "
                    f"{without_stop(safe_message(error))}. Run `pulumi up` again to go on"
                ) from error
            found = next((twin for number, twin in twins.items() if number not in before), None)
            if found is not None:
                context.inform(taken_over(configs.id_of(found["id"])))
                return found
            if lost.__cause__ is None or isinstance(lost.__cause__, ServerError):
                return None
        if context.is_over:
            raise lost  # it may still be under way
        return None

    def read(self, context: Context, resource_id: str, inputs: NotificationConfigValues | None) -> State | None:
        """Read the configuration with an ID; for a provisional ID, find it by its content.

        If Google shows the topic as deleted, the state keeps its topic, because it may be the deleted one.
        """
        bucket, number = self._parse(resource_id)
        prior = _values(context.prior)
        known = inputs or prior
        configs = self._configs(context, bucket, known)
        found = self._find(configs, number, known)
        if found is not None and name_of(found["topic"]) == _DELETED_TOPIC:
            found = {**found, "topic": context.prior.get(_FULL_TOPIC) or prior.get("topic", found["topic"])}
        if found is None or not self._is_ours(context, found):
            return None
        return self.state(configs, str(found["id"]), found)

    def identity(self, resource_id: str, outputs: dict[str, Any]) -> str:
        """Return the ID with Google's number, as soon as it is known, even for a provisional ID."""
        found, number = re.fullmatch(_ID, resource_id), text(_values(outputs), "notificationId")
        return resource_id if found is None or not number else f"{found[1]}/notificationConfigs/{number}"

    def may_create(self, resource_id: str) -> bool:
        """Return whether the ID is provisional."""
        return known_before(self._parse(resource_id)[1]) is not None

    def delete(self, context: Context, resource_id: str) -> None:
        """Delete the configuration with an ID, unless it is another one than the state's.

        While its bucket is also being deleted, Google may answer 412.
        """
        bucket, number = self._parse(resource_id)
        prior = _values(context.prior)
        configs = self._configs(context, bucket, prior)
        found = self._find(configs, number, prior)
        if found is None:
            return
        number = str(found["id"])
        if not self._is_ours(context, found):
            name = configs.id_of(number)
            context.warn(_OF_ANOTHER.format(id=name, quoted=shlex.quote(f"projects/_/buckets/{name}")))
            return
        for _ in context.tries(_BUCKET_DELETION, pause=self._google.backoff):
            try:
                configs.delete(number)
            except PreconditionFailed as error:
                refusal = error
            else:
                return
        raise refusal

    def page(self, context: Context, query: dict[str, Any], token: str, size: int) -> Page:
        """List the configurations of a bucket, or of one page of a project's buckets."""
        values = _query_values(query)
        if values.get("bucket"):
            return Page(self._found(self._configs(context, values["bucket"], values)))
        project = place_or_default(self._google.settings, "project", query)
        of_project = {"project": project, "userProject": values.get("userProject")}
        buckets = ListMethod(google=self._google, api=STORAGE, path="v1/b", query=of_project, fields="name")
        page = buckets.page(context, token, min(size, _MOST_BUCKETS))
        names = [bucket["name"] for bucket in page.get("items", ())]
        found: list[ListedResource] = []
        for name in names:
            with suppress(NotFound):  # a deleted bucket has none
                found += self._found(self._configs(context, name, values))
        return Page(found, page.get("nextPageToken", ""))

    def _configs(
        self, context: Context, bucket: str, values: NotificationConfigValues | NotificationConfigQueryValues
    ) -> NotificationConfigs:
        """Return the collection of a bucket; `values` are inputs, outputs or a query."""
        user_project = values.get("userProject")
        return NotificationConfigs(google=self._google, context=context, bucket=bucket, user_project=user_project)

    def _find(self, configs: NotificationConfigs, number: str, known: NotificationConfigValues) -> FoundConfig | None:
        """Read a configuration by its number; None if it does not exist.

        `known` are its inputs or outputs, which identify a configuration with a provisional number.
        """
        before, assigned = known_before(number), _values(configs.context.prior).get("notificationId")
        if before is None or assigned:
            return configs.read(assigned or number)
        if not known:
            raise InvalidId(self.token, configs.id_of(number), self.id_forms)
        # Skip configurations that the state has under their own number, such as a replacement.
        in_state, meaning = configs.context.urn_of, self.comparison({**known}, {})
        others = (
            item for item in configs.read_all() if item["id"] not in before and not in_state(configs.id_of(item["id"]))
        )
        found = next((item for item in others if self._is_twin(item, known, meaning)), None)
        if found is not None:
            configs.context.inform(taken_over(configs.id_of(found["id"])))
        return found

    def _is_ours(self, context: Context, item: FoundConfig) -> bool:
        """Return whether a configuration in Google's JSON, found by its number, has the state's content.

        Configurations never change, and Google numbers them in each bucket from 1. So different content means another
        configuration, in a bucket that was created again. In an import, the state has no content. After an unfinished
        creation, an equal configuration that did not exist before counts as ours.
        """
        prior = _values(context.prior)
        if not (prior.get("notificationId") or context.prior.get(UNREAD)):
            return True
        topic = context.prior.get(_FULL_TOPIC)  # without it, the provider's project completes the topic
        content: NotificationConfigValues = {**prior, "topic": topic or self.full_topic(prior["topic"])}
        return self._is_twin(item, content, ANYWHERE)

    def twins(self, configs: NotificationConfigs, inputs: NotificationConfigValues) -> dict[str, FoundConfig]:
        """Find the bucket's configurations that are equivalent to inputs, by Google's ID."""
        meaning = self.comparison({**inputs}, {})
        return {item["id"]: item for item in configs.read_all() if self._is_twin(item, inputs, meaning)}

    def _judge_twins(self, context: Context, twins: list[str]) -> None:
        """Warn of configurations that publish the same events; refuse the creation if the owner of one is not known.

        Nothing shows who created a configuration. An interrupted run of this resource may have, and a second one would
        publish every event twice. The replaced configuration does not count, if the engine has shown its ID.
        """
        unknown = next((twin for twin in twins if context.urn_of(twin) is None), None)
        if unknown is not None:
            words = (
                f"{unknown} already publishes the same events: an interrupted run or somebody else created it, or a "
                "resource that this run has not reached manages it"
            )
            advice = how_to_manage(context, unknown, "give this one other customAttributes")
            raise Conflict(f"{words}.\n{advice}", status=409)
        for twin in twins:
            if context.is_anothers(twin):
                words = f"{twin} already publishes the same events, so every event will be published twice"
                other = "remove one of the two resources, or give one of them other customAttributes"
                context.warn(f"{words}. {how_to_manage(context, twin, other)}")

    def _is_twin(self, item: FoundConfig, known: NotificationConfigValues, meaning: Comparison) -> bool:
        """Return whether a configuration in Google's JSON is equivalent to inputs or outputs."""
        live = codec.from_body(self.type, item)
        return all(
            meaning.same(prop, live.get(name), known.get(name))
            for name, prop in self.type.inputs.items()
            if not prop.traits.in_url
        )

    def explain_publishing(self, configs: NotificationConfigs, error: ApiError, topic: str) -> ApiError:
        """Add to an error how to allow Cloud Storage to publish to a topic, `projects/PROJECT/topics/TOPIC`.

        The account is the one in the error or, without one, the service agent of the bucket's project. The topic is
        written as a whole, because a part of a secret would not be masked.
        """
        named = _SERVICE_AGENT.search(error.message)
        agent, how_to_read = (named[0], "") if named else self._service_agent(configs)
        member = f"serviceAccount:{agent or 'SERVICE_AGENT'}"
        how_to_grant = (
            "If the error is about the topic, create the topic, or allow Cloud Storage to publish to it. Either run "
            f"`gcloud pubsub topics add-iam-policy-binding {topic} --member={member} --role={_PUBLISHER}`, or add "
            f'`gcp.pubsub.TopicIAMMember("publisher", topic="{topic}", role="{_PUBLISHER}", member="{member}")` to the '
            f"program and name it in the depends_on of this resource.{how_to_read}"
        )
        return error.with_next_step(how_to_grant) if named else error.with_hint(how_to_grant)

    def _service_agent(self, configs: NotificationConfigs) -> tuple[str, str]:
        """Read the service account that publishes for the bucket's project; if that fails, say how to find it.

        A bucket need not be in the provider's project, and Google returns only the number of the bucket's project.
        """
        bucket = configs.inform(f"v1/b/{segment(configs.bucket)}", fields="projectNumber")
        number = str(bucket.get("projectNumber", ""))
        if not re.fullmatch("[0-9]+", number):
            found = "`gcloud storage service-agent --project=PROJECT` prints SERVICE_AGENT"
            return "", f" {found}; PROJECT is the project of the bucket {configs.bucket}."
        agent = str(configs.inform(f"v1/projects/{number}/serviceAccount").get("email_address", ""))
        if not _SERVICE_AGENT.fullmatch(agent):
            return "", f" `gcloud storage service-agent --project={number}` prints SERVICE_AGENT."
        return agent, ""

    def state(self, configs: NotificationConfigs, number: str, found: FoundConfig) -> State:
        """Describe a configuration."""
        payer = {"userProject": configs.user_project} if configs.user_project else {}
        properties = {
            **codec.from_body(self.type, found),
            "bucket": configs.bucket,
            _FULL_TOPIC: found["topic"],
            **payer,
        }
        return State(configs.id_of(number), properties)

    def _found(self, configs: NotificationConfigs) -> list[ListedResource]:
        numbers = [str(item["id"]) for item in configs.read_all()]
        return [ListedResource(configs.id_of(number), f"{configs.bucket}-{number}") for number in numbers]

    def full_topic(self, topic: str) -> str:
        """Complete a topic to the form that Cloud Storage requires."""
        path = topic.removeprefix(_PUBSUB_HOST)
        if "/" not in path:
            path = f"projects/{self._google.settings.project}/topics/{path}"
        return f"{_PUBSUB_HOST}{path}"

    def _parse(self, resource_id: str) -> tuple[str, str]:
        """Return the bucket and Google's ID; only in a self link is the ID escaped."""
        found = re.fullmatch(_ID, resource_id)
        if found is not None:
            return found[1], found[2]
        found = re.fullmatch(_ID, re.sub(r"^(?:storage/)?v1/", "", path_of(resource_id)))
        if found is None:
            raise InvalidId(self.token, resource_id, self.id_forms)
        return found[1], unquote(found[2])
