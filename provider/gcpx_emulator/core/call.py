"""The calls that handlers get."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import attrs

from gcpx_emulator.core.discovery import Method
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.operations import Operations
from gcpx_emulator.core.publishing import Publisher
from gcpx_emulator.core.signing import Signer
from gcpx_emulator.core.store import Store
from gcpx_emulator.core.uploads import Media


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
        path: parameters in the path.
        query: parameters in the query.
        body: without output-only fields.
        media: the content of an upload.
        headers: the headers of the request, by their names in lower case.
        origin: the emulator's address as the client wrote it, such as `http://127.0.0.1:8095`.
        caller: the e-mail address in the access token, if the emulator signed the token.
        failure: the result that an injected fault gives the operation, if any.
    """

    cloud: Cloud
    method: Method
    path: Mapping[str, str]
    query: Mapping[str, str]
    body: Json
    media: Media = attrs.Factory(Media)
    headers: Mapping[str, str] = attrs.Factory(dict)
    origin: str = ""
    caller: str = ""
    failure: Json | None = None

    @property
    def store(self) -> Store:
        """The resources that exist."""
        return self.cloud.store
