"""Messages: published, pulled and acknowledged."""

from __future__ import annotations

import pytest
from engines.clock import FakeClock
from google.pubsub_v1 import types
from values.programs import PROJECT

TOPIC = f"projects/{PROJECT}/topics/uploads"
SUBSCRIPTION = f"projects/{PROJECT}/subscriptions/worker"


def _publish(publisher, data):
    publisher.publish(topic=TOPIC, messages=[types.PubsubMessage(data=data)])


def test_messages_are_pulled_leased_and_acknowledged(cloud, publisher, subscriber):
    cloud.emulator.clock = FakeClock(1_000.0)
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


def test_a_message_that_is_not_acknowledged_in_time_is_pulled_again(cloud, publisher, subscriber):
    cloud.emulator.clock = FakeClock(1_000.0)
    subscriber.create_subscription(request={"name": SUBSCRIPTION, "topic": TOPIC, "ack_deadline_seconds": 20})
    _publish(publisher, b"x")
    first = subscriber.pull(subscription=SUBSCRIPTION, max_messages=1).received_messages
    for moment, received in ((1_019.9, 0), (1_020.0, 1), (1_030.0, 0)):
        cloud.emulator.clock = FakeClock(moment)
        again = subscriber.pull(subscription=SUBSCRIPTION, max_messages=1).received_messages
        assert len(again) == received
    subscriber.modify_ack_deadline(subscription=SUBSCRIPTION, ack_ids=[first[0].ack_id], ack_deadline_seconds=0)

    assert not subscriber.pull(subscription=SUBSCRIPTION, max_messages=1).received_messages, "that lease was over"


@pytest.mark.parametrize("ended", ["by time", "by the subscriber"])
def test_a_message_that_is_pulled_too_often_goes_to_the_dead_letter_topic(cloud, publisher, subscriber, ended):
    cloud.emulator.clock = clock = FakeClock(1_000.0)
    dead, kept = f"projects/{PROJECT}/topics/dead", f"projects/{PROJECT}/subscriptions/dead"
    publisher.create_topic(name=dead)
    subscriber.create_subscription(request={"name": kept, "topic": dead})
    policy = {"dead_letter_topic": dead, "max_delivery_attempts": 5}
    subscriber.create_subscription(request={"name": SUBSCRIPTION, "topic": TOPIC, "dead_letter_policy": policy})
    _publish(publisher, b"x")
    attempts, early = [], []
    for _ in range(5):
        (found,) = subscriber.pull(subscription=SUBSCRIPTION, max_messages=10).received_messages
        attempts.append(found.delivery_attempt)
        early += subscriber.pull(subscription=kept, max_messages=10).received_messages
        if ended == "by time":
            clock.advance(10)
        else:
            subscriber.modify_ack_deadline(subscription=SUBSCRIPTION, ack_ids=[found.ack_id], ack_deadline_seconds=0)

    assert (attempts, early) == ([1, 2, 3, 4, 5], [])
    assert not subscriber.pull(subscription=SUBSCRIPTION, max_messages=10).received_messages
    (found,) = subscriber.pull(subscription=kept, max_messages=10).received_messages
    assert (found.message.data, found.message.attributes["CloudPubSubDeadLetterSourceDeliveryCount"]) == (b"x", "5")
