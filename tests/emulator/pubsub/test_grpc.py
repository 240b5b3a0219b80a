"""Pub/Sub over gRPC: Google's own clients, with nothing but PUBSUB_EMULATOR_HOST."""

from __future__ import annotations

import itertools
import json
import queue
import re
import subprocess
import sys
import threading
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import grpc
import pytest
from engines.clock import HANGS
from google.api_core import exceptions
from google.cloud import pubsub_v1
from google.iam.v1 import iam_policy_pb2, policy_pb2
from google.pubsub_v1 import SchemaServiceClient, types
from servers import plain_http
from values.programs import PROJECT

from gcpx_emulator.app import application
from gcpx_emulator.core.call import HANDLERS
from gcpx_emulator.core.discovery import route
from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.emulator import Emulator
from gcpx_emulator.grpc_apis import connections
from gcpx_emulator.grpc_apis.transcoding import METHODS
from gcpx_emulator.server import listen
from gcpx_emulator.testing.background import serving

TOPIC = f"projects/{PROJECT}/topics/events"
SUBSCRIPTION = f"projects/{PROJECT}/subscriptions/worker"
SNAPSHOT = f"projects/{PROJECT}/snapshots/before"
SCHEMA = f"projects/{PROJECT}/schemas/state"
AT_ONCE = pubsub_v1.types.BatchSettings(max_messages=1)


@pytest.fixture
def publisher(cloud, monkeypatch):
    monkeypatch.setenv("PUBSUB_EMULATOR_HOST", cloud.host)
    options = pubsub_v1.types.PublisherOptions(enable_message_ordering=True)
    client = pubsub_v1.PublisherClient(AT_ONCE, publisher_options=options)
    client.create_topic(name=TOPIC)
    yield client
    client.stop()
    client.transport.close()


@pytest.fixture
def subscriber(publisher):
    with pubsub_v1.SubscriberClient() as client:
        yield client


def _subscribe(subscriber, **more):
    subscriber.create_subscription(request={"name": SUBSCRIPTION, "topic": TOPIC, **more})


def _publish(publisher, *data, **more):
    return [publisher.publish(TOPIC, one.encode(), **more).result(HANGS) for one in data]


def _pulled(subscriber, most=100):
    return subscriber.pull(subscription=SUBSCRIPTION, max_messages=most).received_messages


@contextmanager
def _callback(subscriber, take):
    """Give messages to a function during the block; at its end, all acknowledgements were sent."""
    future = subscriber.subscribe(SUBSCRIPTION, take, await_callbacks_on_shutdown=True)
    try:
        yield
    finally:
        future.cancel()
        future.result(HANGS)


class _Stream:
    """A streaming pull whose requests and responses a test chooses."""

    def __init__(self, subscriber, **first):
        self._requests = queue.SimpleQueue()
        self.send(**{"subscription": SUBSCRIPTION, "stream_ack_deadline_seconds": 10, **first})
        self._responses = subscriber.streaming_pull(requests=iter(self._requests.get, None))

    def send(self, **request):
        self._requests.put(types.StreamingPullRequest(**request))

    def response(self):
        return next(self._responses)

    def received(self):
        """Wait for messages; return their data, and their IDs of leases."""
        messages = self.response().received_messages
        return [one.message.data.decode() for one in messages], [one.ack_id for one in messages]

    def close(self):
        self._requests.put(None)
        self._responses.cancel()


@pytest.fixture
def stream(subscriber):
    opened = []

    def begin(**first):
        opened.append(_Stream(subscriber, **first))
        return opened[-1]

    yield begin
    for one in opened:
        one.close()


def test_topics_and_subscriptions_are_made_changed_listed_and_deleted(publisher, subscriber):
    project = f"projects/{PROJECT}"
    publisher.update_topic(topic={"name": TOPIC, "labels": {"a": "b"}}, update_mask={"paths": ["labels"]})
    _subscribe(subscriber, ack_deadline_seconds=20, enable_message_ordering=True, retry_policy={})
    change = {"name": SUBSCRIPTION, "ack_deadline_seconds": 30}
    changed = subscriber.update_subscription(subscription=change, update_mask={"paths": ["ack_deadline_seconds"]})
    read = subscriber.get_subscription(subscription=SUBSCRIPTION)
    subscriber.modify_push_config(subscription=SUBSCRIPTION, push_config={"push_endpoint": "https://example.com"})
    pushed = subscriber.get_subscription(subscription=SUBSCRIPTION).push_config.push_endpoint

    assert publisher.get_topic(topic=TOPIC).labels == {"a": "b"}
    assert TOPIC in [topic.name for topic in publisher.list_topics(request={"project": project, "page_size": 1})]
    assert [one.name for one in subscriber.list_subscriptions(project=project)] == [SUBSCRIPTION]
    assert list(publisher.list_topic_subscriptions(topic=TOPIC)) == [SUBSCRIPTION]
    assert (changed.ack_deadline_seconds, read.ack_deadline_seconds, read.topic) == (30, 30, TOPIC)
    assert (read.enable_message_ordering, read.message_retention_duration.days, pushed) == (
        True,
        7,
        "https://example.com",
    )
    subscriber.delete_subscription(subscription=SUBSCRIPTION)
    publisher.delete_topic(topic=TOPIC)
    assert not list(subscriber.list_subscriptions(project=project))


def test_policies_of_topics_and_subscriptions_are_set_and_read(publisher, subscriber):
    _subscribe(subscriber)
    for client, resource in ((publisher, TOPIC), (subscriber, SUBSCRIPTION)):
        binding = policy_pb2.Binding(role="roles/pubsub.viewer", members=["user:a@example.com"])
        policy = policy_pb2.Policy(bindings=[binding])
        made = client.set_iam_policy(iam_policy_pb2.SetIamPolicyRequest(resource=resource, policy=policy))
        options = {"requested_policy_version": 3}
        read = client.get_iam_policy(iam_policy_pb2.GetIamPolicyRequest(resource=resource, options=options))
        wanted = iam_policy_pb2.TestIamPermissionsRequest(resource=resource, permissions=["pubsub.topics.get"])

        assert (read, list(read.bindings)) == (made, [binding])
        assert list(client.test_iam_permissions(wanted).permissions) == ["pubsub.topics.get"]


def test_messages_are_published_pulled_and_acknowledged(publisher, subscriber):
    _subscribe(subscriber)
    (made,) = _publish(publisher, "one", color="red")
    (first,) = _pulled(subscriber)
    again = _pulled(subscriber)
    subscriber.modify_ack_deadline(subscription=SUBSCRIPTION, ack_ids=[first.ack_id], ack_deadline_seconds=0)
    (second,) = _pulled(subscriber)
    subscriber.acknowledge(subscription=SUBSCRIPTION, ack_ids=[second.ack_id])

    assert (first.message.message_id, first.message.data, first.message.attributes) == (made, b"one", {"color": "red"})
    assert (list(again), second.message, list(_pulled(subscriber))) == ([], first.message, [])


def test_messages_with_ordering_keys_keep_their_order(publisher, subscriber):
    _subscribe(subscriber, enable_message_ordering=True)
    numbers = [str(number) for number in range(20)]
    for number in numbers:
        _publish(publisher, number, ordering_key="even" if int(number) % 2 == 0 else "odd")
    received = _pulled(subscriber)
    by_key = {
        key: [one.message.data.decode() for one in received if one.message.ordering_key == key]
        for key in ("even", "odd")
    }

    assert by_key == {"even": numbers[::2], "odd": numbers[1::2]}


def test_a_callback_gets_every_message_and_acknowledges_it(cloud, publisher, subscriber):
    _subscribe(subscriber)
    received, done = [], threading.Event()

    def take(message):
        received.append(message.data.decode())
        message.ack()
        if len(received) == 100:
            done.set()

    with _callback(subscriber, take):
        _publish(publisher, *map(str, range(100)))
        assert done.wait(HANGS)

    assert sorted(received, key=int) == [str(number) for number in range(100)]
    assert list(cloud.emulator.store.scan([f"{SUBSCRIPTION}/messages"])) == []


def test_a_refused_message_comes_again_before_later_ones_of_its_key(publisher, subscriber):
    _subscribe(subscriber, enable_message_ordering=True)
    received, done = [], threading.Event()

    def take(message):
        received.append(message.data.decode())
        if received == ["0", "1"]:
            message.nack()
            return
        message.ack()
        if received[-1] == "4":
            done.set()

    _publish(publisher, *"01234", ordering_key="key")
    with _callback(subscriber, take):
        assert done.wait(HANGS)

    assert received == ["0", "1", "1", "2", "3", "4"]


def test_a_stream_gets_what_rest_publishes_while_it_is_open(cloud, subscriber, stream):
    _subscribe(subscriber)
    opened = stream()
    body = {"messages": [{"data": "b25l"}]}
    plain_http.post(f"http://{cloud.host}/v1/{TOPIC}:publish", json=body).raise_for_status()

    assert opened.received()[0] == ["one"]


@pytest.mark.parametrize("limit", [{"max_outstanding_messages": 2}, {"max_outstanding_bytes": 2}])
def test_a_stream_gets_no_more_messages_than_it_can_take(publisher, subscriber, stream, limit):
    _subscribe(subscriber)
    _publish(publisher, *"abcd")
    opened = stream(**limit)
    first, ack_ids = opened.received()
    opened.send(ack_ids=ack_ids[:1])
    second, _ = opened.received()
    subscriber.acknowledge(subscription=SUBSCRIPTION, ack_ids=ack_ids[1:])
    third, _ = opened.received()

    assert (first, second, third) == (["a", "b"], ["c"], ["d"])


def test_a_message_of_a_stream_comes_again_if_it_is_refused_and_after_its_lease(http, publisher, subscriber, stream):
    _subscribe(subscriber)
    _publish(publisher, "late", "extended", "refused")
    opened = stream(stream_ack_deadline_seconds=20)
    _, ack_ids = opened.received()
    opened.send(modify_deadline_ack_ids=ack_ids, modify_deadline_seconds=[20, 600, 0])
    again = opened.received()[0]
    _advance(http, 19)
    _publish(publisher, "new")
    before = opened.received()[0]
    _advance(http, 2)

    assert (again, before, opened.received()[0]) == (["refused"], ["new"], ["late", "refused"])


def _advance(http, seconds):
    http.post("/_emulator/clock", json={"advance": seconds}).raise_for_status()


def test_the_deadline_of_a_stream_can_be_changed(http, publisher, subscriber, stream):
    _subscribe(subscriber)
    _publish(publisher, "one")
    opened = stream()
    _, ack_ids = opened.received()
    opened.send(stream_ack_deadline_seconds=600, modify_deadline_ack_ids=ack_ids, modify_deadline_seconds=[0])
    again = opened.received()[0]
    _advance(http, 500)
    _publish(publisher, "two")

    assert (again, opened.received()[0]) == (["one"], ["two"])


@pytest.mark.parametrize(
    ("first", "later", "code"),
    [
        ({"subscription": "worker"}, {}, "INVALID_ARGUMENT"),
        ({"subscription": f"projects/{PROJECT}/subscriptions/123"}, {}, "INVALID_ARGUMENT"),
        ({"subscription": f"projects/{PROJECT}/subscriptions/missing"}, {}, "NOT_FOUND"),
        ({"stream_ack_deadline_seconds": 9}, {}, "INVALID_ARGUMENT"),
        ({}, {"subscription": SUBSCRIPTION}, "INVALID_ARGUMENT"),
        ({}, {"max_outstanding_bytes": 1}, "INVALID_ARGUMENT"),
        ({}, {"modify_deadline_ack_ids": ["a"]}, "INVALID_ARGUMENT"),
        ({}, {"stream_ack_deadline_seconds": 601}, "INVALID_ARGUMENT"),
    ],
)
def test_a_stream_with_a_wrong_request_ends(subscriber, stream, first, later, code):
    _subscribe(subscriber)
    opened = stream(**first)
    if later:
        opened.send(**later)

    with pytest.raises(exceptions.GoogleAPICallError) as caught:
        opened.received()
    assert caught.value.grpc_status_code.name == code


def test_a_detached_subscription_loses_its_messages_and_gets_no_more(publisher, subscriber):
    _subscribe(subscriber)
    _publish(publisher, "before")
    publisher.detach_subscription(request={"subscription": SUBSCRIPTION})
    _publish(publisher, "after")

    assert subscriber.get_subscription(subscription=SUBSCRIPTION).detached
    assert list(publisher.list_topic_subscriptions(topic=TOPIC)) == []
    with pytest.raises(exceptions.FailedPrecondition, match="detached"):
        subscriber.pull(subscription=SUBSCRIPTION, max_messages=10)
    publisher.delete_topic(topic=TOPIC)
    assert subscriber.get_subscription(subscription=SUBSCRIPTION).topic == "_deleted-topic_"


def test_snapshots_are_made_changed_listed_and_deleted_and_have_a_policy(publisher, subscriber):
    _subscribe(subscriber)
    project, now = f"projects/{PROJECT}", datetime.now(UTC)
    made = subscriber.create_snapshot(request={"name": SNAPSHOT, "subscription": SUBSCRIPTION, "labels": {"a": "b"}})
    end = now + timedelta(days=1)
    change = {"name": SNAPSHOT, "labels": {"c": "d"}, "expire_time": end}
    mask = {"paths": ["labels", "expire_time"]}
    changed = subscriber.update_snapshot(request={"snapshot": change, "update_mask": mask})
    binding = policy_pb2.Binding(role="roles/pubsub.viewer", members=["user:a@example.com"])
    policy = policy_pb2.Policy(bindings=[binding])
    subscriber.set_iam_policy(iam_policy_pb2.SetIamPolicyRequest(resource=SNAPSHOT, policy=policy))

    assert (made.name, made.topic, made.labels) == (SNAPSHOT, TOPIC, {"a": "b"})
    assert timedelta(days=6, hours=23) < made.expire_time - now < timedelta(days=7, hours=1)
    assert (changed.labels, abs(changed.expire_time - end) < timedelta(seconds=1)) == ({"c": "d"}, True)
    assert subscriber.get_snapshot(snapshot=SNAPSHOT) == changed
    assert list(subscriber.list_snapshots(project=project)) == [changed]
    assert list(publisher.list_topic_snapshots(request={"topic": TOPIC})) == [SNAPSHOT]
    read = subscriber.get_iam_policy(iam_policy_pb2.GetIamPolicyRequest(resource=SNAPSHOT))
    assert list(read.bindings) == [binding]
    subscriber.delete_snapshot(snapshot=SNAPSHOT)
    assert not list(subscriber.list_snapshots(project=project))
    with pytest.raises(exceptions.NotFound):
        subscriber.get_snapshot(snapshot=SNAPSHOT)


DEFINITION = '{"type": "record", "name": "State", "fields": [{"name": "name", "type": "string"}]}'


@pytest.fixture
def schemas(publisher):
    with SchemaServiceClient() as client:
        yield client


def test_schemas_and_their_revisions_are_made_read_listed_and_deleted(schemas):
    project, given = f"projects/{PROJECT}", {"name": SCHEMA, "type_": "AVRO", "definition": DEFINITION}
    made = schemas.create_schema(request={"parent": project, "schema": given, "schema_id": "state"})
    second = schemas.commit_schema(request={"name": SCHEMA, "schema": given})
    third = schemas.rollback_schema(request={"name": SCHEMA, "revision_id": made.revision_id})
    listed = list(schemas.list_schema_revisions(request={"name": SCHEMA, "view": "FULL", "page_size": 2}))
    policy = policy_pb2.Policy(
        bindings=[policy_pb2.Binding(role="roles/pubsub.viewer", members=["user:a@example.com"])]
    )
    schemas.set_iam_policy(iam_policy_pb2.SetIamPolicyRequest(resource=SCHEMA, policy=policy))

    assert (made.name, made.type_.name, made.definition) == (SCHEMA, "AVRO", DEFINITION)
    assert listed == [third, second, made]
    assert schemas.get_schema(name=SCHEMA) == third
    assert schemas.get_schema(name=f"{SCHEMA}@{made.revision_id}") == made
    assert [(one.name, one.definition) for one in schemas.list_schemas(parent=project)] == [(SCHEMA, "")]
    assert schemas.delete_schema_revision(name=f"{SCHEMA}@{third.revision_id}") == second
    read = schemas.get_iam_policy(iam_policy_pb2.GetIamPolicyRequest(resource=SCHEMA))
    assert list(read.bindings) == list(policy.bindings)
    schemas.delete_schema(name=SCHEMA)
    with pytest.raises(exceptions.NotFound):
        schemas.get_schema(name=SCHEMA)


def test_schemas_and_messages_are_validated(schemas):
    project, schema = f"projects/{PROJECT}", {"type_": "AVRO", "definition": DEFINITION}
    schemas.validate_schema(parent=project, schema=schema)
    request = {"parent": project, "schema": schema, "encoding": "JSON"}
    schemas.validate_message(request={**request, "message": b'{"name": "Alaska"}'})

    with pytest.raises(exceptions.InvalidArgument, match="not an Avro schema"):
        schemas.validate_schema(parent=project, schema={**schema, "definition": "{}"})
    with pytest.raises(exceptions.InvalidArgument, match="failed schema validation"):
        schemas.validate_message(request={**request, "message": b"{}"})


def test_a_topic_takes_only_messages_that_match_its_schema(schemas, publisher, subscriber):
    project, schema = f"projects/{PROJECT}", {"type_": "AVRO", "definition": DEFINITION}
    made = schemas.create_schema(request={"parent": project, "schema": schema, "schema_id": "state"})
    settings = {"schema": SCHEMA, "encoding": "BINARY"}
    topic = publisher.update_topic(
        topic={"name": TOPIC, "schema_settings": settings}, update_mask={"paths": ["schema_settings"]}
    )
    _subscribe(subscriber)
    bounds = {"first_revision_id": made.revision_id, "last_revision_id": made.revision_id}
    change = {"topic": {"name": TOPIC, "schema_settings": bounds}}
    mask = "schemaSettings.firstRevisionId,schemaSettings.lastRevisionId"
    bounded = publisher.update_topic(request={**change, "update_mask": mask})
    _publish(publisher, "\x0cAlaska")
    with pytest.raises(exceptions.InvalidArgument, match="failed schema validation") as caught:
        _publish(publisher, "Alaska")

    assert (topic.schema_settings.schema, bounded.schema_settings.encoding.name) == (SCHEMA, "BINARY")
    assert bounded.schema_settings.last_revision_id == made.revision_id
    assert caught.value.details[0].reason == "INVALID_BINARY_AVRO_MESSAGE"
    (received,) = _pulled(subscriber)
    assert (received.message.data, received.message.attributes["googclient_schemaname"]) == (b"\x0cAlaska", SCHEMA)


def test_an_open_stream_gets_what_a_seek_brings_back(subscriber, publisher, stream):
    _subscribe(subscriber, retain_acked_messages=True)
    begin = datetime.now(UTC) - timedelta(minutes=1)
    subscriber.create_snapshot(name=SNAPSHOT, subscription=SUBSCRIPTION)
    _publish(publisher, "one")
    opened = stream()
    received = []
    for target in ({"snapshot": SNAPSHOT}, {"time": begin}):
        data, ack_ids = opened.received()
        received += data
        subscriber.acknowledge(subscription=SUBSCRIPTION, ack_ids=ack_ids)
        subscriber.seek(request={"subscription": SUBSCRIPTION, **target})

    assert [*received, *opened.received()[0]] == ["one"] * 3


def test_a_stream_ends_with_its_subscription(publisher, subscriber, stream):
    _subscribe(subscriber)
    _publish(publisher, "one")
    opened = stream()
    opened.received()
    subscriber.delete_subscription(subscription=SUBSCRIPTION)

    with pytest.raises(exceptions.NotFound):
        opened.received()


def test_with_exactly_once_delivery_a_callback_learns_that_its_message_is_acknowledged(publisher, subscriber):
    _subscribe(subscriber, enable_exactly_once_delivery=True)
    done, results = threading.Event(), []

    def take(message):
        results.append(message.ack_with_response().result(HANGS).name)
        done.set()

    _publish(publisher, "one")
    with _callback(subscriber, take):
        assert done.wait(HANGS)

    assert results == ["SUCCESS"]


def test_with_exactly_once_delivery_an_acknowledgement_after_the_lease_is_refused(http, publisher, subscriber):
    _subscribe(subscriber, enable_exactly_once_delivery=True)
    _publish(publisher, "one")
    (late,) = _pulled(subscriber)
    _advance(http, 11)
    with pytest.raises(exceptions.FailedPrecondition) as caught:
        subscriber.acknowledge(subscription=SUBSCRIPTION, ack_ids=[late.ack_id])

    assert caught.value.details[0].metadata == {late.ack_id: "PERMANENT_FAILURE_INVALID_ACK_ID"}
    assert [one.message for one in _pulled(subscriber)] == [late.message]


def test_with_exactly_once_delivery_a_stream_confirms_what_it_did(publisher, subscriber, stream):
    _subscribe(subscriber, enable_exactly_once_delivery=True)
    _publish(publisher, "one", "two")
    opened = stream()
    _, (one, two) = opened.received()
    opened.send(ack_ids=[one, "other"], modify_deadline_ack_ids=[two, "past"], modify_deadline_seconds=[60, 60])
    answer = opened.response()
    done, changed = answer.acknowledge_confirmation, answer.modify_ack_deadline_confirmation

    assert (list(done.ack_ids), list(done.invalid_ack_ids)) == ([one], ["other"])
    assert (list(changed.ack_ids), list(changed.invalid_ack_ids)) == ([two], ["past"])
    assert answer.subscription_properties.exactly_once_delivery_enabled


def test_errors_have_the_codes_of_google(cloud, publisher, subscriber):
    _subscribe(subscriber)
    cloud.fail("pubsub.projects.topics.delete", status=403, message="no")
    cloud.fail("pubsub.projects.topics.patch", body="not JSON")
    cloud.fail("pubsub.projects.subscriptions.patch", drop="before")

    for code, call, arguments in (
        ("NOT_FOUND", publisher.get_topic, {"topic": f"{TOPIC}-missing"}),
        ("ALREADY_EXISTS", publisher.create_topic, {"name": TOPIC}),
        ("INVALID_ARGUMENT", publisher.get_topic, {"topic": "events"}),
        ("INVALID_ARGUMENT", publisher.create_topic, {"name": f"projects/{PROJECT}/topics/-"}),
        ("INVALID_ARGUMENT", subscriber.pull, {"subscription": SUBSCRIPTION}),
        ("PERMISSION_DENIED", publisher.delete_topic, {"topic": TOPIC}),
        ("INTERNAL", publisher.update_topic, {"topic": {"name": TOPIC}, "retry": None}),
        ("UNAVAILABLE", subscriber.update_subscription, {"subscription": {"name": SUBSCRIPTION}, "retry": None}),
    ):
        with pytest.raises(exceptions.GoogleAPICallError) as caught:
            call(**arguments)
        assert (caught.value.grpc_status_code.name, call.__name__) == (code, call.__name__)


@pytest.mark.parametrize(
    ("status", "body", "code", "message"),
    [
        (403, {"error": "no"}, "PERMISSION_DENIED", "no"),
        (429, {"error": ["no"]}, "RESOURCE_EXHAUSTED", "['no']"),
        (503, {}, "UNAVAILABLE", "The response has the status 503."),
        (400, {"error": {"status": ["ABORTED"], "message": 1}}, "UNKNOWN", "1"),
        (400, {"error": {"status": "ABORTED", "details": [{"@type": "type.googleapis.com/a.B"}]}}, "ABORTED", "400"),
        (400, {"error": {"status": "ABORTED", "details": "none"}}, "ABORTED", "400"),
        (400, {"error": {"status": "OK"}}, "UNKNOWN", "400"),
        (200, {"labels": "none"}, "INTERNAL", "The response is not a Topic."),
    ],
)
def test_a_fault_with_any_body_is_an_error_with_a_code(cloud, publisher, status, body, code, message):
    cloud.fail("pubsub.projects.topics.get", status=status, body=json.dumps(body))

    with pytest.raises(exceptions.GoogleAPICallError, match=re.escape(message)) as caught:
        publisher.get_topic(topic=TOPIC, retry=None)
    assert caught.value.grpc_status_code.name == code


def test_a_fault_of_pulls_fails_a_stream_and_the_log_has_it(cloud, subscriber, stream):
    _subscribe(subscriber)
    cloud.fail("pubsub.projects.subscriptions.pull", status=403, message="no")

    with pytest.raises(exceptions.Forbidden):
        stream().received()
    (entry,) = cloud.requests("pubsub.projects.subscriptions.pull")
    assert (entry["path"], entry["status"]) == ("/google.pubsub.v1.Subscriber/StreamingPull", 403)


def test_a_method_that_is_not_emulated_is_named(cloud):
    messages = []
    for name in ("/google.pubsub.v1.Publisher/Other", "/google.storage.v2.Storage/GetBucket"):
        with grpc.insecure_channel(cloud.host) as channel, pytest.raises(grpc.RpcError) as caught:
            channel.unary_unary(name)(b"", timeout=HANGS)
        assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED
        messages.append(caught.value.details())

    assert messages == [
        "google.pubsub.v1.Publisher/Other is not emulated",
        "google.storage.v2.Storage/GetBucket is not emulated over gRPC, use the client with REST",
    ]


def test_every_rest_method_of_pubsub_has_a_twin(publisher):
    name = itertools.count()
    called = set()
    for method in METHODS.values():
        for kind in ("topics", "subscriptions", "snapshots", "schemas"):
            message = method.request()
            for path in method.paths:
                field = path.partition("{")[2].partition("=")[0]
                owner, _, last = field.rpartition(".")
                form = path.partition("=")[2].partition("}")[0]
                if kind in path or form == "projects/*":
                    setattr(getattr(message, owner) if owner else message, last, form.replace("*", f"x{next(name)}"))
            try:
                request = method.request_of(message, {})
            except ApiError:
                continue
            called.add(route(request.method, request.scope["raw_path"].decode())[0].id)

    assert called == {one for one in HANDLERS if one.startswith("pubsub.")}


def test_nothing_of_grpc_is_loaded_before_a_call():
    code = "import sys, gcpx_emulator.serving, gcpx_emulator.app; print(sorted({'grpc', 'google.protobuf'} & {*sys.modules}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=HANGS)

    assert done.stdout == "[]\n"


def test_without_the_packages_a_call_is_refused_at_once(monkeypatch):
    def missing():
        raise ModuleNotFoundError("No module named 'grpc'")

    monkeypatch.setattr(connections, "_load", missing)
    emulator = Emulator()
    with (
        serving(application(emulator), listen(), connections.Grpc(emulator)) as host,
        grpc.insecure_channel(host) as channel,
        pytest.raises(grpc.RpcError) as caught,
    ):
        channel.unary_unary("/google.pubsub.v1.Publisher/GetTopic")(b"", timeout=HANGS)

    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED
    assert "pip install 'gcpx-emulator[grpc]'" in caught.value.details()


def test_an_emulator_ends_while_a_stream_is_open(monkeypatch):
    emulator = Emulator()
    with serving(application(emulator), listen(), connections.Grpc(emulator)) as host:
        monkeypatch.setenv("PUBSUB_EMULATOR_HOST", host)
        with pubsub_v1.SubscriberClient() as subscriber:
            publisher = pubsub_v1.PublisherClient(AT_ONCE)
            publisher.create_topic(name=TOPIC)
            _subscribe(subscriber)
            opened = _Stream(subscriber)
            _publish(publisher, "one")
            opened.received()
            emulator.requests.clear()
            publisher.stop()
            publisher.transport.close()
    opened.close()
