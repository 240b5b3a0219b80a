"""Publishing to topics: the interface that services use, and that Pub/Sub implements."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from gcpx_emulator.core.json_data import Json


class Publisher(Protocol):
    """Publishes to topics, which are named `projects/PROJECT/topics/TOPIC`."""

    def has_topic(self, name: str) -> bool:
        """Return whether a topic exists."""
        ...

    def publish(self, topic: str, messages: Iterable[Json]) -> list[str]:
        """Put messages (`PubsubMessage`) in every subscription of a topic; return the messages' IDs."""
        ...

    def push_due(self) -> None:
        """Start to push what is due; called after messages or subscriptions have changed."""
        ...
