"""The body of a push: a Pub/Sub message.

Source: "Push subscriptions" in the Pub/Sub documentation.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

import attrs

from gcpx_push import strict_json
from gcpx_push.errors import MalformedRequest


@attrs.frozen
class PushMessage:
    """A Pub/Sub message. Values that the push lacks are empty strings, or None.

    Attributes:
        data: the decoded payload; see `text` for a payload in UTF-8.
        attributes: the message's attributes, by name.
        message_id: Pub/Sub's ID of the message.
        publish_time: the time of publication, in RFC 3339 format.
        ordering_key: messages with the same key are delivered in order.
        subscription: the full name of the subscription, `projects/P/subscriptions/S`.
        delivery_attempt: the number of the attempt, from 1, for subscriptions with a dead-letter topic.
    """

    data: bytes
    attributes: Mapping[str, str]
    message_id: str = ""
    publish_time: str = ""
    ordering_key: str = ""
    subscription: str = ""
    delivery_attempt: int | None = None

    @property
    def text(self) -> str:
        """The payload as a string; raises `UnicodeDecodeError` if it is not UTF-8."""
        return self.data.decode()

    @classmethod
    def parse(cls, body: bytes) -> PushMessage:
        """Read the message from the body of a request.

        Raises:
            MalformedRequest: if it is not the body of a push.
        """
        try:
            document = strict_json.parse(body)
        except ValueError:
            raise MalformedRequest("the body must be a JSON object in UTF-8") from None
        if not isinstance(document, dict) or not isinstance(document.get("message"), dict):
            raise MalformedRequest("the body must be an object with a message")
        message, attempt = document["message"], document.get("deliveryAttempt")
        if "deliveryAttempt" in document and (isinstance(attempt, bool) or not isinstance(attempt, int)):
            raise MalformedRequest("deliveryAttempt must be an integer")
        attributes = message.get("attributes", {})
        if not isinstance(attributes, dict) or not all(isinstance(value, str) for value in attributes.values()):
            raise MalformedRequest("the message's attributes must be an object with string values")
        return cls(
            data=_data(message),
            attributes=attributes,
            message_id=_string(message, "messageId", "message_id"),
            publish_time=_string(message, "publishTime", "publish_time"),
            ordering_key=_string(message, "orderingKey", "ordering_key"),
            subscription=_string(document, "subscription"),
            delivery_attempt=attempt,
        )


def _data(message: dict[str, Any]) -> bytes:
    data = message.get("data", "")
    try:
        if isinstance(data, str):
            return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        pass
    raise MalformedRequest("the message's data must be base64")


def _string(owner: dict[str, Any], *names: str) -> str:
    """Read an optional string, which Pub/Sub sends under several names."""
    values = [owner[name] for name in names if name in owner]
    if not all(isinstance(value, str) for value in values):
        raise MalformedRequest(f"{names[0]} must be a string")
    return values[0] if values else ""
