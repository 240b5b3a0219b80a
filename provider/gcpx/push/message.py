"""The body of a push: the message, decoded.

Source: Google's documentation of push subscriptions, section 2.3.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any

import attrs

from gcpx.push.errors import MalformedRequest


@attrs.frozen
class PushMessage:
    """One message.

    Attributes:
        data: the payload; `text` gives it as text.
        attributes: what the publisher said beside it.
        subscription: the full name of the subscription that it came over.
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
        """The payload as text; `UnicodeDecodeError` where it is none."""
        return self.data.decode()

    @classmethod
    def parse(cls, body: bytes) -> PushMessage:
        """Read a body."""
        try:
            document = json.loads(body.decode())
        except (ValueError, RecursionError):
            raise MalformedRequest("the body is not JSON in UTF-8") from None
        message = document.get("message") if isinstance(document, dict) else None
        if not isinstance(message, dict):
            raise MalformedRequest("the body is no object with a message")
        attempt = document.get("deliveryAttempt")
        return cls(
            data=_data(message),
            attributes=_attributes(message),
            message_id=_text(message, "messageId", "message_id"),
            publish_time=_text(message, "publishTime", "publish_time"),
            ordering_key=_text(message, "orderingKey", "ordering_key"),
            subscription=_text(document, "subscription"),
            delivery_attempt=attempt if isinstance(attempt, int) else None,
        )


def _data(message: dict[str, Any]) -> bytes:
    data = message.get("data", "")
    try:
        if isinstance(data, str):
            return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        pass
    raise MalformedRequest("the message's data is not base64")


def _attributes(message: dict[str, Any]) -> dict[str, str]:
    found = message.get("attributes") or {}
    if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
        raise MalformedRequest("the message's attributes are no map of texts")
    return found


def _text(owner: dict[str, Any], *names: str) -> str:
    return next((owner[name] for name in names if isinstance(owner.get(name), str)), "")
