"""The calls that handlers get, the handlers of methods, and how services publish to topics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Protocol, TypeVar

import attrs

from gcpx_emulator.core.discovery import Method
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.operations import Operations
from gcpx_emulator.core.signing import Signer
from gcpx_emulator.core.store import Store
from gcpx_emulator.core.uploads import Media


class Publisher(Protocol):
    """Publishes to topics, which are named `projects/PROJECT/topics/TOPIC`."""

    def may_publish(self, topic: str, account: str) -> bool:
        """Return whether a topic exists and the service account with this e-mail address may publish to it."""
        ...

    def publish(self, topic: str, messages: Iterable[Json]) -> list[str]:
        """Put messages (`PubsubMessage`) in every subscription of a topic; return the messages' IDs."""
        ...

    def settle(self) -> None:
        """Delete what has expired, and publish messages that were delivered too often to dead letter topics."""
        ...

    def deliver_due(self) -> None:
        """Start to deliver due messages; called after messages or subscriptions have changed."""
        ...


@attrs.frozen(kw_only=True)
class Cloud:
    """The simulated cloud, which all calls share.

    Attributes:
        now: gives the time in seconds since 1970; operations have a clock of their own.
    """

    store: Store
    operations: Operations
    signer: Signer
    publisher: Publisher
    now: Callable[[], float]


@attrs.frozen(kw_only=True)
class Call:
    """A request, after it was checked against the description of its method.

    Attributes:
        store: the resources that exist.
        path: parameters in the path.
        query: parameters in the query.
        body: without output-only fields.
        media: the content of an upload.
        headers: the headers of the request, by their names in lower case.
        origin: the emulator's address as the client wrote it, such as `http://127.0.0.1:8095`.
        caller: the e-mail address in the access token, if the emulator signed the token.
        failure: the operation's failure by an injected fault, if any.
    """

    cloud: Cloud
    store: Store
    method: Method
    path: Mapping[str, str]
    query: Mapping[str, str]
    body: Json
    media: Media = attrs.Factory(Media)
    headers: Mapping[str, str] = attrs.Factory(dict)
    origin: str = ""
    caller: str = ""
    failure: Json | None = None


ANONYMOUS: Final = "operator@example.com"
"""The user of requests without a token of the emulator."""
Handler = Callable[[Call], Any]
"""Returns the JSON of the response, None for an empty one, a Response, or a coroutine that returns one of these."""
HANDLERS: Final[dict[str, Handler]] = {}
"""Every handler, by method ID."""
TAKES_KEYS: Final[set[str]] = set()
"""The IDs of the methods that take the customer-supplied key of an object in headers; others refuse it."""
_H = TypeVar("_H", bound=Handler)


def handles(*methods: str) -> Callable[[_H], _H]:
    """Register the handler of one or more methods, by their IDs."""

    def register(handler: _H) -> _H:
        HANDLERS.update(dict.fromkeys(methods, handler))
        return handler

    return register
