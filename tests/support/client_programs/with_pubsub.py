"""Topics, subscriptions and messages with google-cloud-pubsub by REST."""

from google.pubsub_v1 import PublisherClient, SubscriberClient
from steps import PROJECT, step

publisher, subscriber = PublisherClient(transport="rest"), SubscriberClient(transport="rest")
TOPIC, SUBSCRIPTION = f"projects/{PROJECT}/topics/uploads", f"projects/{PROJECT}/subscriptions/workers"

with step("create, get and list topics"):
    publisher.create_topic(name=TOPIC)
    publisher.get_topic(topic=TOPIC)
    assert [topic.name for topic in publisher.list_topics(project=f"projects/{PROJECT}")] == [TOPIC]
with step("update a topic"):
    publisher.update_topic(topic={"name": TOPIC, "labels": {"a": "b"}}, update_mask={"paths": ["labels"]})
with step("create, update and list subscriptions"):
    ordered = {"name": SUBSCRIPTION, "topic": TOPIC, "enable_message_ordering": True}
    subscriber.create_subscription(request=ordered)
    subscriber.update_subscription(
        subscription={"name": SUBSCRIPTION, "ack_deadline_seconds": 30}, update_mask={"paths": ["ack_deadline_seconds"]}
    )
    assert [found.name for found in subscriber.list_subscriptions(project=f"projects/{PROJECT}")] == [SUBSCRIPTION]
with step("publish, pull and acknowledge"):
    publisher.publish(
        topic=TOPIC, messages=[{"data": b"one", "ordering_key": "k"}, {"data": b"two", "ordering_key": "k"}]
    )
    received = subscriber.pull(subscription=SUBSCRIPTION, max_messages=10).received_messages
    assert [found.message.data for found in received] == [b"one", b"two"]
    subscriber.modify_ack_deadline(
        subscription=SUBSCRIPTION, ack_ids=[found.ack_id for found in received], ack_deadline_seconds=60
    )
    subscriber.acknowledge(subscription=SUBSCRIPTION, ack_ids=[found.ack_id for found in received])
with step("change the IAM policy of a topic"):
    binding = {"role": "roles/pubsub.publisher", "members": ["user:me@example.com"]}
    publisher.set_iam_policy(request={"resource": TOPIC, "policy": {"bindings": [binding]}})
    publisher.get_iam_policy(request={"resource": TOPIC})
    publisher.test_iam_permissions(request={"resource": TOPIC, "permissions": ["pubsub.topics.publish"]})
with step("detach and delete a subscription"):
    publisher.detach_subscription(request={"subscription": SUBSCRIPTION})
    subscriber.delete_subscription(subscription=SUBSCRIPTION)
with step("take a snapshot and seek to it"):
    subscriber.create_subscription(name=f"{SUBSCRIPTION}-2", topic=TOPIC)
    subscriber.create_snapshot(name=f"projects/{PROJECT}/snapshots/now", subscription=f"{SUBSCRIPTION}-2")
    subscriber.seek(request={"subscription": f"{SUBSCRIPTION}-2", "snapshot": f"projects/{PROJECT}/snapshots/now"})
with step("create a schema"):
    from google.pubsub_v1 import SchemaServiceClient

    definition = '{"type": "record", "name": "R", "fields": [{"name": "a", "type": "string"}]}'
    SchemaServiceClient(transport="rest").create_schema(
        parent=f"projects/{PROJECT}", schema={"type_": "AVRO", "definition": definition}, schema_id="record"
    )
with step("delete a topic"):
    publisher.delete_topic(topic=TOPIC)
