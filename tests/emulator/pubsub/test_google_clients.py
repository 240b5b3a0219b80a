"""Topics, pushes, objects and tokens, judged by Google's own clients."""

from __future__ import annotations

import asyncio
import base64
import io
import json

import google.auth.transport.requests
import httpx
import pytest
import requests
from google.api_core import exceptions
from google.api_core.client_options import ClientOptions
from google.auth.credentials import AnonymousCredentials
from google.cloud import storage
from google.oauth2 import id_token
from google.protobuf import field_mask_pb2
from google.pubsub_v1 import PublisherClient, SubscriberClient, types
from programs import BUCKET, PROJECT, TOPICS
from receiving import endpoint
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.responses import Response
from starlette.routing import Route
from steered import Fixed

TOPIC = f"projects/{PROJECT}/topics/uploads"
SUBSCRIPTION = f"projects/{PROJECT}/subscriptions/worker"
PUSHER = "pusher@demo-project.iam.gserviceaccount.com"


def _client(kind, cloud):
    transport = kind.get_transport_class("rest")
    return kind(transport=transport(host=cloud.host, url_scheme="http", credentials=AnonymousCredentials()))


@pytest.fixture
def publisher(cloud):
    return _client(PublisherClient, cloud)


@pytest.fixture
def subscriber(cloud, publisher):
    for name in TOPICS:
        cloud.emulator.store.delete(name)  # these tests make their own
    publisher.create_topic(name=TOPIC)
    return _client(SubscriberClient, cloud)


def _recorder(*statuses):
    """Answer with these statuses, then with 204, and keep headers and body of every push."""
    answers = iter(statuses)

    def app(_url, received):
        async def take(request):
            received.put((dict(request.headers), await request.json()))
            return Response(status_code=next(answers, 204))

        return Starlette(routes=[Route("/push", take, methods=["POST"])])

    return app


def _pushing(subscriber, url, name="worker", **token):
    oidc = types.PushConfig.OidcToken(service_account_email=PUSHER, **token)
    config = types.PushConfig(push_endpoint=url, oidc_token=oidc)
    path = f"projects/{PROJECT}/subscriptions/{name}"
    return subscriber.create_subscription(request={"name": path, "topic": TOPIC, "push_config": config})


def test_topics_are_made_read_listed_changed_and_deleted(publisher, subscriber):
    publisher.create_topic(request=types.Topic(name=f"projects/{PROJECT}/topics/other", labels={"a": "b"}))
    topic = types.Topic(name=TOPIC, labels={"c": "d"})
    publisher.update_topic(topic=topic, update_mask=field_mask_pb2.FieldMask(paths=["labels"]))
    subscriber.create_subscription(request={"name": SUBSCRIPTION, "topic": TOPIC})

    assert publisher.get_topic(topic=TOPIC).labels == {"c": "d"}
    assert [item.name for item in publisher.list_topics(project=f"projects/{PROJECT}")] == [
        f"projects/{PROJECT}/topics/other",
        TOPIC,
    ]
    assert list(publisher.list_topic_subscriptions(topic=TOPIC)) == [SUBSCRIPTION]
    publisher.delete_topic(topic=TOPIC)
    assert subscriber.get_subscription(subscription=SUBSCRIPTION).topic == "_deleted-topic_"
    with pytest.raises(exceptions.NotFound):
        publisher.get_topic(topic=TOPIC)


def test_what_pubsub_refuses(publisher, subscriber):
    with pytest.raises(exceptions.Conflict):
        publisher.create_topic(name=TOPIC)
    with pytest.raises(exceptions.BadRequest, match="resource name"):
        publisher.create_topic(name=f"projects/{PROJECT}/topics/1x")
    with pytest.raises(exceptions.NotFound):
        publisher.publish(topic=f"projects/{PROJECT}/topics/none", messages=[types.PubsubMessage(data=b"x")])
    with pytest.raises(exceptions.BadRequest, match="non-empty"):
        publisher.publish(topic=TOPIC, messages=[types.PubsubMessage()])
    with pytest.raises(exceptions.NotFound):
        subscriber.create_subscription(request={"name": SUBSCRIPTION, "topic": f"projects/{PROJECT}/topics/none"})
    with pytest.raises(exceptions.BadRequest, match="push endpoint"):
        _pushing(subscriber, "http://example.com/push")
    with pytest.raises(exceptions.BadRequest, match="deadline"):
        subscriber.create_subscription(request={"name": SUBSCRIPTION, "topic": TOPIC, "ack_deadline_seconds": 5})
    with pytest.raises(exceptions.MethodNotImplemented, match="filter"):
        subscriber.create_subscription(request={"name": SUBSCRIPTION, "topic": TOPIC, "filter": "attributes:a"})


def test_messages_are_pulled_leased_and_acknowledged(cloud, publisher, subscriber):
    cloud.emulator.clock = Fixed(1_000.0)
    subscriber.create_subscription(request={"name": SUBSCRIPTION, "topic": TOPIC})
    messages = [types.PubsubMessage(data=b"one", attributes={"a": "b"}), types.PubsubMessage(data=b"two")]
    made = publisher.publish(topic=TOPIC, messages=messages).message_ids
    first = subscriber.pull(subscription=SUBSCRIPTION, max_messages=1).received_messages
    second = subscriber.pull(subscription=SUBSCRIPTION, max_messages=10).received_messages

    assert [entry.message.message_id for entry in (*first, *second)] == list(made)
    assert (first[0].message.data, first[0].message.attributes) == (b"one", {"a": "b"})
    subscriber.acknowledge(subscription=SUBSCRIPTION, ack_ids=[first[0].ack_id])
    subscriber.modify_ack_deadline(subscription=SUBSCRIPTION, ack_ids=[second[0].ack_id], ack_deadline_seconds=0)
    assert [
        entry.message.data for entry in subscriber.pull(subscription=SUBSCRIPTION, max_messages=10).received_messages
    ] == [b"two"]


def test_what_is_not_acknowledged_in_time_is_pulled_again(cloud, publisher, subscriber):
    cloud.emulator.clock = Fixed(1_000.0)
    subscriber.create_subscription(request={"name": SUBSCRIPTION, "topic": TOPIC, "ack_deadline_seconds": 20})
    _publish(publisher, b"x")
    first = subscriber.pull(subscription=SUBSCRIPTION, max_messages=1).received_messages
    for moment, received in ((1_019.9, 0), (1_020.0, 1), (1_030.0, 0)):
        cloud.emulator.clock = Fixed(moment)
        again = subscriber.pull(subscription=SUBSCRIPTION, max_messages=1).received_messages
        assert len(again) == received
    subscriber.modify_ack_deadline(subscription=SUBSCRIPTION, ack_ids=[first[0].ack_id], ack_deadline_seconds=0)

    assert not subscriber.pull(subscription=SUBSCRIPTION, max_messages=1).received_messages, "that lease was over"


def test_a_push_is_signed_and_google_auth_agrees(cloud, publisher, subscriber):
    with endpoint(_recorder()) as receiver:
        _pushing(subscriber, receiver.url)
        publisher.publish(topic=TOPIC, messages=[types.PubsubMessage(data="Grüße".encode(), attributes={"a": "b"})])
        headers, body = receiver.next()
    scheme, token = headers["authorization"].split(" ")
    claims = id_token.verify_oauth2_token(token, _relocated(cloud), audience=receiver.url)

    assert scheme == "Bearer"
    assert (claims["email"], claims["email_verified"], claims["iss"]) == (PUSHER, True, "https://accounts.google.com")
    assert claims["sub"].isdigit()
    assert claims["exp"] - claims["iat"] == 3600
    assert body["subscription"] == SUBSCRIPTION
    assert base64.b64decode(body["message"]["data"]).decode() == "Grüße"
    assert body["message"]["attributes"] == {"a": "b"}


def _relocated(cloud):
    """Let google-auth ask the emulator wherever it would ask Google."""
    session = requests.Session()
    session.trust_env = False
    send = google.auth.transport.requests.Request(session)
    return lambda url, **more: send(url.replace("https://www.googleapis.com", f"http://{cloud.host}"), **more)


def test_the_audience_that_is_set_takes_the_place_of_the_endpoint(cloud, publisher, subscriber):
    with endpoint(_recorder()) as receiver:
        _pushing(subscriber, receiver.url, audience="my-audience")
        publisher.publish(topic=TOPIC, messages=[types.PubsubMessage(data=b"x")])
        headers, _ = receiver.next()

    assert id_token.verify_oauth2_token(headers["authorization"].split()[1], _relocated(cloud), audience="my-audience")


def test_what_is_not_taken_is_pushed_again_until_it_is(cloud, publisher, subscriber):
    with endpoint(_recorder(500, 400, 201)) as receiver:
        _pushing(subscriber, receiver.url)
        publisher.publish(topic=TOPIC, messages=[types.PubsubMessage(data=b"x")])
        pushed = [receiver.next()[1]["message"]["messageId"] for _ in range(3)]
        _publish(publisher, b"y")
        pushed_then = receiver.next()[1]["message"]["data"]
        deliveries = cloud.deliveries(4)

    attempts = [(entry["attempt"], entry["status"]) for entry in deliveries if entry["messageId"] == pushed[0]]
    assert len(set(pushed)) == 1
    assert attempts == [(1, 500), (2, 400), (3, 201)]
    assert base64.b64decode(pushed_then) == b"y"


def test_a_message_is_delivered_whenever_it_is_published(cloud, publisher, subscriber):
    with endpoint(_recorder()) as receiver:
        _pushing(subscriber, receiver.url)
        for number in range(30):
            publisher.publish(topic=TOPIC, messages=[types.PubsubMessage(data=str(number).encode())])
            assert base64.b64decode(receiver.next()[1]["message"]["data"]) == str(number).encode()
            assert [entry["status"] for entry in cloud.deliveries(number + 1)] == [204] * (number + 1)


class _Gate:
    """Keeps answers back until it is opened; a receiver that ends meanwhile is not held up."""

    def __init__(self):
        self._open = asyncio.Event()

    def enter(self):
        self._loop = asyncio.get_running_loop()

    async def passed(self):
        await self._open.wait()

    def open(self):
        self._loop.call_soon_threadsafe(self._open.set)


def _waiting_for(gate, data, status):
    """Answer one message only once the gate is open, with this status; tell what arrives, and when it was answered."""

    def app(_url, received):
        async def take(request):
            found = base64.b64decode((await request.json())["message"]["data"])
            gate.enter()
            received.put(found)
            if found != data:
                return Response(status_code=204)
            await gate.passed()
            return Response(status_code=status, background=BackgroundTask(received.put, "answered"))

        return Starlette(routes=[Route("/push", take, methods=["POST"])])

    return app


def _publish(publisher, data):
    publisher.publish(topic=TOPIC, messages=[types.PubsubMessage(data=data)])


def test_a_receiver_that_does_not_answer_does_not_delay_others(cloud, publisher, subscriber):
    gate = _Gate()
    with endpoint(_waiting_for(gate, b"x", 204)) as first, endpoint(_recorder()) as second:
        _pushing(subscriber, first.url)
        _publish(publisher, b"x")
        first.next()
        _pushing(subscriber, second.url, name="other")
        _publish(publisher, b"y")
        _, body = second.next()
        assert base64.b64decode(body["message"]["data"]) == b"y"
        gate.open()

        assert [entry["status"] for entry in cloud.deliveries(3)] == [204] * 3


def test_what_is_under_way_at_a_reset_is_not_listed_after_it(cloud, publisher, subscriber):
    gate = _Gate()
    with endpoint(_waiting_for(gate, b"old", 500)) as receiver:
        _pushing(subscriber, receiver.url)
        _publish(publisher, b"old")
        assert receiver.next() == b"old"
        cloud.reset()
        publisher.create_topic(name=TOPIC)
        _pushing(subscriber, receiver.url)
        _publish(publisher, b"new")
        assert receiver.next() == b"new"
        gate.open()
        assert receiver.next() == "answered"
        _publish(publisher, b"last")
        assert receiver.next() == b"last"

        assert [entry["status"] for entry in cloud.deliveries(2)] == [204, 204]


def test_a_subscription_turns_from_pull_to_push_and_back(publisher, subscriber):
    subscriber.create_subscription(request={"name": SUBSCRIPTION, "topic": TOPIC})
    with endpoint(_recorder()) as receiver:
        publisher.publish(topic=TOPIC, messages=[types.PubsubMessage(data=b"waiting")])
        subscriber.modify_push_config(
            subscription=SUBSCRIPTION, push_config=types.PushConfig(push_endpoint=receiver.url)
        )
        headers, body = receiver.next()
        assert "authorization" not in headers
        assert base64.b64decode(body["message"]["data"]) == b"waiting"
    wanted = types.Subscription(name=SUBSCRIPTION, push_config=types.PushConfig(), ack_deadline_seconds=20)
    subscriber.update_subscription(
        subscription=wanted, update_mask=field_mask_pb2.FieldMask(paths=["push_config", "ack_deadline_seconds"])
    )

    assert subscriber.get_subscription(subscription=SUBSCRIPTION).ack_deadline_seconds == 20
    assert not subscriber.pull(subscription=SUBSCRIPTION, max_messages=1).received_messages
    subscriber.delete_subscription(subscription=SUBSCRIPTION)
    assert not list(subscriber.list_subscriptions(project=f"projects/{PROJECT}"))


def _storage(cloud):
    options = ClientOptions(api_endpoint=f"http://{cloud.host}")
    return storage.Client(project=PROJECT, credentials=AnonymousCredentials(), client_options=options)


def test_objects_are_uploaded_in_every_way_read_listed_and_deleted(cloud):
    bucket = _storage(cloud).bucket(BUCKET)
    bucket.blob("a/one.txt").upload_from_string("eins", content_type="text/plain")
    large = io.BytesIO(bytes(range(256)) * 4096)
    bucket.blob("a/two.bin", chunk_size=512 * 1024).upload_from_file(large)
    bucket.blob("three").upload_from_string("drei", if_generation_match=0)

    assert bucket.blob("a/one.txt").download_as_text() == "eins"
    assert bucket.blob("a/two.bin").download_as_bytes() == large.getvalue()
    assert [blob.name for blob in bucket.list_blobs(prefix="a/")] == ["a/one.txt", "a/two.bin"]
    listed = bucket.list_blobs(delimiter="/")
    assert ([blob.name for blob in listed], listed.prefixes) == (["three"], {"a/"})
    with pytest.raises(exceptions.PreconditionFailed):
        bucket.blob("three").upload_from_string("neu", if_generation_match=0)
    bucket.blob("three").delete()
    with pytest.raises(exceptions.NotFound):
        bucket.blob("three").download_as_bytes()
    with pytest.raises(exceptions.Conflict, match="not empty"):
        bucket.delete()


@pytest.mark.parametrize("payload", ["JSON_API_V1", "NONE"])
def test_events_of_objects_reach_the_topic(cloud, publisher, subscriber, payload):
    subscriber.create_subscription(request={"name": SUBSCRIPTION, "topic": TOPIC})
    bucket = _storage(cloud).bucket(BUCKET)
    made = bucket.notification(
        "uploads",
        topic_project=PROJECT,
        payload_format=payload,
        custom_attributes={"team": "a"},
        blob_name_prefix="in/",
    )
    made.create()
    blob = bucket.blob("in/one")
    blob.upload_from_string("1")
    bucket.blob("out/two").upload_from_string("2")
    blob.metadata = {"k": "v"}
    blob.patch()
    bucket.blob("in/one").upload_from_string("11")
    bucket.blob("in/one").delete()
    received = [
        entry.message for entry in subscriber.pull(subscription=SUBSCRIPTION, max_messages=10).received_messages
    ]

    assert [message.attributes["eventType"] for message in received] == [
        "OBJECT_FINALIZE", "OBJECT_METADATA_UPDATE", "OBJECT_DELETE", "OBJECT_FINALIZE", "OBJECT_DELETE",
    ]  # fmt: skip
    first = received[0].attributes
    assert (first["bucketId"], first["objectId"], first["team"]) == (BUCKET, "in/one", "a")
    assert first["notificationConfig"] == f"projects/_/buckets/{BUCKET}/notificationConfigs/{made.notification_id}"
    assert received[2].attributes["overwrittenByGeneration"] == received[3].attributes["objectGeneration"]
    assert received[3].attributes["overwroteGeneration"] == first["objectGeneration"]
    assert (json.loads(received[0].data)["name"] == "in/one") if payload == "JSON_API_V1" else not received[0].data


def test_only_events_that_are_asked_for_are_published(cloud, publisher, subscriber):
    subscriber.create_subscription(request={"name": SUBSCRIPTION, "topic": TOPIC})
    bucket = _storage(cloud).bucket(BUCKET)
    bucket.notification("uploads", topic_project=PROJECT, event_types=["OBJECT_DELETE"]).create()
    bucket.blob("one").upload_from_string("1")
    bucket.blob("one").delete()

    received = subscriber.pull(subscription=SUBSCRIPTION, max_messages=10).received_messages
    assert [entry.message.attributes["eventType"] for entry in received] == ["OBJECT_DELETE"]


def _signed(cloud, **order):
    return httpx.post(f"http://{cloud.host}/_emulator/tokens", json=order, timeout=600, trust_env=False).json()["token"]


def test_a_token_is_inspected(cloud):
    token = _signed(cloud, email=PUSHER, audience="me")
    with httpx.Client(base_url=f"http://{cloud.host}", timeout=600, trust_env=False) as http:
        good = http.get("/tokeninfo", params={"id_token": token})
        bad = http.get("/tokeninfo", params={"id_token": token[:-2]})
        none = http.get("/tokeninfo")

    assert set(good.json()) == {
        "alg",
        "aud",
        "azp",
        "email",
        "email_verified",
        "exp",
        "iat",
        "iss",
        "kid",
        "sub",
        "typ",
    }
    assert (good.json()["email_verified"], good.json()["alg"]) == ("true", "RS256")
    assert (bad.status_code, none.status_code) == (400, 400)
    assert bad.json()["error"] == "invalid_token"
    assert token not in json.dumps(list(cloud.emulator.requests.kept))


def test_tokens_are_signed_for_service_accounts(cloud):
    path = f"/v1/projects/-/serviceAccounts/{PUSHER}:generateIdToken"
    made = httpx.post(
        f"http://{cloud.host}{path}", json={"audience": "me", "includeEmail": True}, timeout=600, trust_env=False
    ).json()

    assert id_token.verify_oauth2_token(made["token"], _relocated(cloud), audience="me")["email"] == PUSHER


def test_keys_are_published_in_every_form_and_rotated(cloud):
    with httpx.Client(base_url=f"http://{cloud.host}", timeout=600, trust_env=False) as http:
        pem, jwk = http.get("/oauth2/v1/certs"), http.get("/oauth2/v3/certs")
        http.post("/_emulator/keys/rotate")
        later = http.get("/oauth2/v1/certs")

    assert "max-age" in pem.headers["cache-control"]
    assert list(pem.json()) == [key["kid"] for key in jwk.json()["keys"]]
    assert not set(pem.json()) & set(later.json())
