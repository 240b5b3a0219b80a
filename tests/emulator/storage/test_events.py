"""Events of objects, published to topics."""

from __future__ import annotations

import json

import pytest
from google.pubsub_v1 import SubscriberClient
from servers.google_clients import connect, storage_client
from values.programs import BUCKET, PROJECT

TOPIC = f"projects/{PROJECT}/topics/uploads"
SUBSCRIPTION = f"projects/{PROJECT}/subscriptions/worker"


@pytest.fixture
def subscriber(cloud):
    return connect(SubscriberClient, cloud)


@pytest.mark.parametrize("payload", ["JSON_API_V1", "NONE"])
def test_events_of_objects_reach_the_topic(cloud, subscriber, payload):
    subscriber.create_subscription(request={"name": SUBSCRIPTION, "topic": TOPIC})
    bucket = storage_client(cloud).bucket(BUCKET)
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


def test_only_the_requested_events_are_published(cloud, subscriber):
    subscriber.create_subscription(request={"name": SUBSCRIPTION, "topic": TOPIC})
    bucket = storage_client(cloud).bucket(BUCKET)
    bucket.notification("uploads", topic_project=PROJECT, event_types=["OBJECT_DELETE"]).create()
    bucket.blob("one").upload_from_string("1")
    bucket.blob("one").delete()

    received = subscriber.pull(subscription=SUBSCRIPTION, max_messages=10).received_messages
    assert [entry.message.attributes["eventType"] for entry in received] == ["OBJECT_DELETE"]
