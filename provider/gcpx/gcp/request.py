"""Calls of REST APIs before they are sent, and the APIs that gcpx calls."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote, unquote

import attrs

from gcpx.errors import UserError
from gcpx.model.redaction import shortened


@attrs.frozen(kw_only=True)
class Api:
    """One of Google's APIs.

    Attributes:
        name: the first label of its host name, as in `compute.googleapis.com`.
        title: its name in messages and descriptions.
        path: the part of its URLs between host and version; empty for most APIs.
        scope: the narrowest OAuth 2.0 scope that all of gcpx's calls accept; empty for calls without credentials.
        content: the data, in words, that others must neither read nor change.
        setting: the attribute of `Settings` that replaces its base URL.
    """

    name: str
    title: str
    path: str = ""
    scope: str
    content: str = "the credentials"
    setting: str


COMPUTE: Final = Api(
    name="compute",
    title="Compute",
    path="/compute",
    scope="https://www.googleapis.com/auth/compute",
    setting="compute_custom_endpoint",
)
STORAGE: Final = Api(
    name="storage",
    title="Cloud Storage",
    path="/storage",
    scope="https://www.googleapis.com/auth/devstorage.read_write",
    setting="storage_custom_endpoint",
)
OSLOGIN: Final = Api(
    name="oslogin",
    title="OS Login",
    scope="https://www.googleapis.com/auth/compute",
    setting="os_login_custom_endpoint",
)
PUBSUB: Final = Api(
    name="pubsub", title="Pub/Sub", scope="https://www.googleapis.com/auth/pubsub", setting="pubsub_custom_endpoint"
)
OAUTH2: Final = Api(
    name="oauth2",
    title="OAuth 2.0",
    scope="",  # its token inspection is public, so no credentials are sent
    content="the token",
    setting="oauth2_custom_endpoint",
)
PATIENCE: Final = 120.0
"""The default time in which a request may be retried, in seconds."""
SHORT_PATIENCE: Final = 10.0
"""The same for reads that only inform or are soon repeated, so that nobody waits long."""
MOST_AT_ONCE: Final = 256
"""The maximum number of concurrent requests, each with its own connection; others wait."""


def segment(text: str) -> str:
    """Escape a name or an ID, which may contain any character, as one segment of a path.

    Raises:
        UserError: no escape makes it a segment: it is empty, `.` or `..`.
    """
    if text in _NO_NAMES:
        raise _no_segment(text)
    return quote(text, safe="@:")


_NO_NAMES: Final = frozenset({"", ".", ".."})
"""Segments that are no names: HTTP clients and servers resolve them to another path."""
_SEGMENT: Final = re.compile(r"(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})+")
"""A segment of a path (RFC 3986)."""
_PLACES: Final = frozenset({"projects", "regions", "zones"})
"""The segments before the name of a place."""
_PLACE: Final = re.compile(r"[A-Za-z0-9._:-]+")
"""The name of a place, such as `example.com:my-project` or `us-east1-b`."""


def _no_segment(text: str, path: str = "") -> UserError:
    where = f" ({shortened(path, 300)})" if path else ""
    return UserError(
        f"{shortened(text, 100)!r} cannot be part of the path of a request{where}; correct the name, link or ID"
    )


def _check_path(_request: Request, _attribute: Any, path: str) -> None:
    """Refuse a path that clients or servers would resolve to another one.

    Escapes are decoded first, as servers do: `%2e%2e` and `a%2F..` lead elsewhere, too. Projects, regions and zones,
    which may come from an ID, need no escapes.
    """
    before = ""
    for part in path.split("/"):
        form = _PLACE if before in _PLACES else _SEGMENT
        if not form.fullmatch(part) or not _NO_NAMES.isdisjoint(re.split(r"[/\\]", unquote(part))):
            raise _no_segment(part, path)
        before = part


@attrs.define
class Room:
    """The number of bytes that the responses to several requests may still have together; negative if they had more."""

    left: int


@attrs.frozen(kw_only=True)
class Request:
    """One REST call.

    Attributes:
        path: the path below the API's own, with the version: `v1/projects/p/global/images`. A segment such as `..`
            raises UserError.
        shown: the path in messages, if `path` has a numeric ID instead of a name; empty for `path`.
        query: the query parameters; one that is None is not sent.
        body: the JSON of the body; None sends no body.
        idempotent: sending it twice has the effect of sending it once, so it may be retried after any failure.
        patience: the number of seconds in which it may be retried.
        read_timeout: the seconds to wait for the response; None for the provider's `requestTimeout`.
        room: counts the bytes of the response, which are not compressed; None to count nothing.
        only_reads: it changes nothing, so its response may be dropped.
    """

    api: Api
    method: str
    path: str = attrs.field(validator=_check_path)
    shown: str = ""
    query: Mapping[str, Any] = attrs.Factory(dict)
    body: Any = None
    idempotent: bool = True
    patience: float = PATIENCE
    read_timeout: float | None = None
    room: Room | None = None
    only_reads: bool = attrs.field(default=attrs.Factory(lambda self: self.method == "GET", takes_self=True))

    @property
    def description(self) -> str:
        """The call in messages: `GET projects/p/global/images/i`."""
        shown = self.shown or self.path
        return f"{self.method} {shown.partition('/')[2] or shown}"
