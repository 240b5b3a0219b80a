"""Google's own clients of Pub/Sub, and a topic."""

from __future__ import annotations

import pytest
from google.pubsub_v1 import PublisherClient, SubscriberClient
from servers.google_clients import connect
from values.programs import PROJECT, TOPICS

TOPIC = f"projects/{PROJECT}/topics/uploads"


@pytest.fixture
def publisher(cloud):
    return connect(PublisherClient, cloud)


@pytest.fixture
def subscriber(cloud, publisher):
    for name in TOPICS:
        cloud.emulator.store.delete(name)  # these tests make their own
    publisher.create_topic(name=TOPIC)
    return connect(SubscriberClient, cloud)
