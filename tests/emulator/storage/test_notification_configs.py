"""Notification configurations."""

from __future__ import annotations

import pytest
from google.api_core import exceptions
from google_clients import storage_client
from programs import BUCKET, PROJECT

TOPIC = f"projects/{PROJECT}/topics/uploads"


def test_a_configuration_is_created_read_listed_and_deleted(cloud):
    client = storage_client(cloud)
    bucket = client.bucket(BUCKET)
    config = bucket.notification(
        "uploads",
        topic_project=PROJECT,
        event_types=["OBJECT_FINALIZE"],
        custom_attributes={"a": "b"},
        payload_format="NONE",
    )
    config.create()

    assert bucket.get_notification(config.notification_id).custom_attributes == {"a": "b"}
    assert [item.notification_id for item in bucket.list_notifications()] == [config.notification_id]
    assert client.get_service_account_email().endswith("gs-project-accounts.iam.gserviceaccount.com")
    config.delete()
    assert not config.exists()


def test_an_unknown_event_type_is_refused(cloud):
    config = storage_client(cloud).bucket(BUCKET).notification("uploads", PROJECT, event_types=["NOTHING"])
    with pytest.raises(exceptions.BadRequest, match="event type"):
        config.create()


@pytest.mark.parametrize("topic", [TOPIC, f"//pubsub.googleapis.com/{TOPIC}"])
def test_a_notification_takes_a_topic_in_both_forms(http, topic):
    made = http.post(f"/storage/v1/b/{BUCKET}/notificationConfigs", json={"topic": topic, "payload_format": "NONE"})

    assert made.json()["topic"] == f"//pubsub.googleapis.com/{TOPIC}"
    assert (
        http.get(f"/storage/v1/b/{BUCKET}/notificationConfigs/1").json()["topic"] == f"//pubsub.googleapis.com/{TOPIC}"
    )


@pytest.mark.parametrize(
    "topic", ["uploads", f"{TOPIC}/", "projects/p/topics/x", "//pubsub.googleapis.com//projects/p/topics/abc"]
)
def test_a_malformed_topic_is_refused(http, topic):
    answer = http.post(f"/storage/v1/b/{BUCKET}/notificationConfigs", json={"topic": topic, "payload_format": "NONE"})

    assert (answer.status_code, "Invalid Google Cloud Pub/Sub topic name" in answer.text) == (400, True)


def test_a_notification_for_a_topic_that_does_not_exist_is_refused(cloud, http):
    bucket = storage_client(cloud).bucket(BUCKET)
    with pytest.raises(exceptions.Forbidden, match=f"{PROJECT}/topics/missing.*does not exist"):
        bucket.notification("missing", topic_project=PROJECT).create()
    http.delete(f"/v1/{TOPIC}").raise_for_status()
    with pytest.raises(exceptions.Forbidden, match="does not exist"):
        bucket.notification("uploads", topic_project=PROJECT).create()

    assert list(bucket.list_notifications()) == []
