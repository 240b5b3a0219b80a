"""The body of a push: the message, decoded.

Source: Google's documentation of push subscriptions, section 2.3.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

import attrs

from gcpx.push import strict_json
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
        """The payload as text; `UnicodeDecodeError` where it is not UTF-8."""
        return self.data.decode()

    @classmethod
    def parse(cls, body: bytes) -> PushMessage:
        """Read a body."""
        try:
            document = strict_json.parse(body)
        except ValueError:
            raise MalformedRequest("the body must be a JSON object in UTF-8") from None
        message = document.get("message") if isinstance(document, dict) else None
        if not isinstance(message, dict):
            raise MalformedRequest("the body must be an object with a message")
        return cls(
            data=_data(message),
            attributes=_attributes(message),
            message_id=_text(message, "messageId", "message_id"),
            publish_time=_text(message, "publishTime", "publish_time"),
            ordering_key=_text(message, "orderingKey", "ordering_key"),
            subscription=_text(document, "subscription"),
            delivery_attempt=_attempt(document),
        )


def _data(message: dict[str, Any]) -> bytes:
    data = message.get("data", "")
    try:
        if isinstance(data, str):
            return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        pass
    raise MalformedRequest("the message's data must be base64")


def _attributes(message: dict[str, Any]) -> dict[str, str]:
    found = message.get("attributes", {})
    if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
        raise MalformedRequest("the message's attributes must be an object with string values")
    return found


def _text(owner: dict[str, Any], *names: str) -> str:
    """Read a text that may be left out, by the first name that is there."""
    given = [owner[name] for name in names if name in owner]
    if not all(isinstance(value, str) for value in given):
        raise MalformedRequest(f"{names[0]} must be a string")
    return given[0] if given else ""


def _attempt(document: dict[str, Any]) -> int | None:
    found = document.get("deliveryAttempt")
    if "deliveryAttempt" in document and (isinstance(found, bool) or not isinstance(found, int)):
        raise MalformedRequest("deliveryAttempt must be an integer")
    return found
