"""Topics, used by Google's own clients."""

from __future__ import annotations

import pytest
from google.api_core import exceptions
from google.protobuf import field_mask_pb2
from google.pubsub_v1 import types
from servers.google_clients import PUSHER
from values.programs import PROJECT

TOPIC = f"projects/{PROJECT}/topics/uploads"
SUBSCRIPTION = f"projects/{PROJECT}/subscriptions/worker"


def _pushing(subscriber, url, name="worker", **token):
    oidc = types.PushConfig.OidcToken(service_account_email=PUSHER, **token)
    config = types.PushConfig(push_endpoint=url, oidc_token=oidc)
    path = f"projects/{PROJECT}/subscriptions/{name}"
    return subscriber.create_subscription(request={"name": path, "topic": TOPIC, "push_config": config})


def test_topics_are_created_read_listed_changed_and_deleted(publisher, subscriber):
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


def test_invalid_topics_messages_and_subscriptions_are_refused(publisher, subscriber):
    with pytest.raises(exceptions.Conflict):
        publisher.create_topic(name=TOPIC)
    with pytest.raises(exceptions.BadRequest, match="resource name"):
        publisher.create_topic(name=f"projects/{PROJECT}/topics/1x")
    with pytest.raises(exceptions.NotFound):
        publisher.publish(topic=f"projects/{PROJECT}/topics/none", messages=[types.PubsubMessage(data=b"x")])
    transforms = [
        {"javascript_udf": {"function_name": "f", "code": "function f(message, metadata) { return message; }"}}
    ]
    with pytest.raises(exceptions.MethodNotImplemented, match="messageTransforms"):
        publisher.create_topic(request={"name": f"{TOPIC}-2", "message_transforms": transforms})
    change = {"name": TOPIC, "message_transforms": transforms}
    with pytest.raises(exceptions.MethodNotImplemented, match="messageTransforms"):
        publisher.update_topic(request={"topic": change, "update_mask": {"paths": ["message_transforms"]}})
    with pytest.raises(exceptions.BadRequest, match="non-empty"):
        publisher.publish(topic=TOPIC, messages=[types.PubsubMessage()])
    with pytest.raises(exceptions.NotFound):
        subscriber.create_subscription(request={"name": SUBSCRIPTION, "topic": f"projects/{PROJECT}/topics/none"})
    with pytest.raises(exceptions.BadRequest, match="push endpoint"):
        _pushing(subscriber, "http://example.com/push")
    with pytest.raises(exceptions.BadRequest, match="deadline"):
        subscriber.create_subscription(request={"name": SUBSCRIPTION, "topic": TOPIC, "ack_deadline_seconds": 5})
    with pytest.raises(exceptions.BadRequest, match="filter"):
        subscriber.create_subscription(request={"name": SUBSCRIPTION, "topic": TOPIC, "filter": "attributes"})
