"""Google's API client for Python, which makes its methods from the descriptions, works with the emulator."""

from __future__ import annotations

import pytest
from googleapiclient import errors
from values.programs import BLOB, BUCKET, PROJECT, USER, ZONE, properties


def _missing(request):
    with pytest.raises(errors.HttpError) as refused:
        request.execute()
    return refused.value.status_code == 404


def test_a_template_and_an_instance(client):
    compute = client("compute.v1")
    templates, instances = compute.instanceTemplates(), compute.instances()
    at = {"project": PROJECT, "zone": ZONE}
    named = {**at, "instance": "vm"}
    templates.insert(project=PROJECT, body={"name": "web", "properties": properties()}).execute()
    body = {**properties(), "name": "vm", "machineType": f"zones/{ZONE}/machineTypes/e2-small"}
    operation = instances.insert(**at, body=body).execute()
    done = compute.zoneOperations().wait(**at, operation=operation["name"]).execute()
    read = instances.get(**named).execute()
    labels = {"labels": {"a": "b"}, "labelFingerprint": read["labelFingerprint"]}
    instances.setLabels(**named, body=labels).execute()
    instances.stop(**named).execute()
    pages = instances.list(**at, filter="labels.a=b")

    assert (done["status"], read["status"]) == ("DONE", "RUNNING")
    assert [vm["status"] for vm in pages.execute()["items"]] == ["TERMINATED"]
    assert instances.list_next(pages, pages.execute()) is None
    assert templates.list(project=PROJECT).execute()["items"][0]["name"] == "web"
    assert templates.get(project=PROJECT, instanceTemplate="web").execute()["properties"]["machineType"] == "e2-small"
    instances.delete(**named).execute()
    templates.delete(project=PROJECT, instanceTemplate="web").execute()
    assert _missing(instances.get(**named))


def test_a_bucket_and_a_notification(client):
    storage = client("storage.v1")
    storage.buckets().insert(project=PROJECT, body={"name": "made"}).execute()
    storage.buckets().patch(bucket="made", body={"labels": {"a": "b"}}).execute()
    config = {"topic": f"projects/{PROJECT}/topics/uploads", "payload_format": "NONE"}
    notification = storage.notifications().insert(bucket=BUCKET, body=config).execute()

    assert storage.buckets().get(bucket="made").execute()["labels"] == {"a": "b"}
    assert {item["name"] for item in storage.buckets().list(project=PROJECT).execute()["items"]} == {BUCKET, "made"}
    assert storage.notifications().list(bucket=BUCKET).execute()["items"] == [notification]
    storage.notifications().delete(bucket=BUCKET, notification=notification["id"]).execute()
    storage.buckets().delete(bucket="made").execute()
    assert _missing(storage.buckets().get(bucket="made"))


def test_a_topic_and_a_subscription(client):
    projects = client("pubsub.v1").projects()
    topic, subscription = f"projects/{PROJECT}/topics/made", f"projects/{PROJECT}/subscriptions/made"
    projects.topics().create(name=topic, body={}).execute()
    projects.subscriptions().create(name=subscription, body={"topic": topic}).execute()
    projects.topics().publish(topic=topic, body={"messages": [{"data": "aGVsbG8="}]}).execute()
    pulled = projects.subscriptions().pull(subscription=subscription, body={"maxMessages": 1}).execute()
    (message,) = pulled["receivedMessages"]
    projects.subscriptions().acknowledge(subscription=subscription, body={"ackIds": [message["ackId"]]}).execute()

    assert message["message"]["data"] == "aGVsbG8="
    assert projects.subscriptions().get(subscription=subscription).execute()["topic"] == topic
    projects.subscriptions().delete(subscription=subscription).execute()
    projects.topics().delete(topic=topic).execute()
    assert _missing(projects.topics().get(topic=topic))


def test_a_key(client):
    keys = client("oslogin.v1").users().sshPublicKeys()
    made = keys.create(parent=f"users/{USER}", body={"key": f"ssh-ed25519 {BLOB}"}).execute()

    assert keys.get(name=made["name"]).execute() == made
    keys.delete(name=made["name"]).execute()
    assert _missing(keys.get(name=made["name"]))
