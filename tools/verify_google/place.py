"""The place of a verification: the real or emulated Google, and a plugin that records its exchanges."""

from __future__ import annotations

import contextlib
import json
import re
import secrets
import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

import attrs
import httpx
from engines import driver

import gcpx_emulator.services  # noqa: F401 - registers the APIs, by which requests are named
from gcpx.compute.operations import Operation, Operations, Wait
from gcpx.gcp.client import GoogleClient
from gcpx.gcp.connections import Connections
from gcpx.gcp.request import COMPUTE, Api, Request
from gcpx.gcp.settings import Settings
from gcpx.model.context import Context
from gcpx.provider import Provider
from gcpx_emulator.core.discovery import route
from gcpx_emulator.core.errors import ApiError as NoSuchMethod
from gcpx_http.connections import Received

_SECRET: Final = re.compile(r"(key|token|password|secret)$", re.IGNORECASE)
"""Names of fields that are recorded without their values."""
_ADDRESS: Final = re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b|[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
"""IP addresses and e-mail addresses."""
_PATIENCE: Final = 1200.0
"""The longest time of an operation, in seconds."""


@attrs.frozen
class Exchange:
    """A request for one of Google's APIs, and its response, without secrets.

    Attributes:
        method: the ID of the API's method, such as `compute.instances.get`.
    """

    method: str
    verb: str
    path: str
    query: dict[str, Any]
    request: Any
    status: int
    response: Any


@attrs.define
class Recorder:
    """Keeps exchanges; replaces names of the project, and addresses.

    Attributes:
        project: the ID of the project.
        kept: the exchanges, oldest first.
    """

    project: str
    kept: list[Exchange] = attrs.Factory(list)

    def add(self, verb: str, url: httpx.URL, body: Any, received: Received) -> None:
        """Keep an exchange with one of Google's APIs; skip others, such as requests for tokens."""
        path = url.raw_path.decode().partition("?")[0]
        try:
            method = route(verb, path)[0].id
        except NoSuchMethod:
            return
        try:
            response = json.loads(received.body) if received.body else None
        except ValueError:
            response = "no JSON"
        shown = self.masked(path), self.masked(dict(url.params)), self.masked(body)
        self.kept.append(Exchange(method, verb, *shown, received.status, self.masked(response)))

    def masked(self, value: Any, name: str = "") -> Any:
        """Return JSON without secrets, the project, and addresses."""
        if isinstance(value, dict):
            return {self.masked(key): self.masked(item, key) for key, item in value.items()}
        if isinstance(value, list):
            return [self.masked(item, name) for item in value]
        if not isinstance(value, str):
            return value
        if _SECRET.search(name):
            return "SECRET"
        text = re.sub(r"projects/\d+\b", "projects/NUMBER", value.replace(self.project, "PROJECT"))
        return _ADDRESS.sub("ADDRESS", text)


class _RecordingConnections(Connections):
    """Connections that record each exchange."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self._recorder = recorder

    def exchange(self, method: str, url: httpx.URL | str, *, timeout: httpx.Timeout, **content: Any) -> Received:
        received = super().exchange(method, url, timeout=timeout, **content)
        self._recorder.add(method, httpx.URL(url), content.get("json"), received)
        return received


class RecordingProvider(Provider):
    """A provider that records its exchanges."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self._recorder = recorder

    @property
    def client(self) -> GoogleClient:
        """The client of the configured provider."""
        return self._client_and_lookups[0]

    def new_client(self, settings: Settings) -> GoogleClient:
        """Return a client that records its exchanges."""
        return GoogleClient(settings, connections=_RecordingConnections(self._recorder))


@attrs.define
class Place:
    """The real or emulated Google, and a plugin that is connected to it.

    Attributes:
        prefix: the beginning of all names of created resources.
        user: the user who gets an SSH key; empty to leave that out.
        id_token: a token for the functions that inspect one; empty to leave them out.
        facts: findings of steps, for later steps.
    """

    engine: driver.Engine
    provider: RecordingProvider
    recorder: Recorder
    project: str
    zone: str
    prefix: str
    user: str
    id_token: str
    facts: dict[str, Any] = attrs.Factory(dict)

    @property
    def region(self) -> str:
        """The region of the zone."""
        return self.zone.rpartition("-")[0]

    @property
    def context(self) -> Context:
        """A call without cancellation and messages."""

        def quiet(_: str) -> None:
            """Say nothing."""

        return Context(
            urn="",
            timeout=None,
            started=time.monotonic(),
            cancelled=threading.Event(),
            progress=quiet,
            inform=quiet,
            warn=quiet,
        )

    def call(self, verb: str, path: str, body: Any = None, *, api: Api = COMPUTE, **query: Any) -> dict[str, Any]:
        """Send a request, with the plugin's credentials and retries; raises `gcpx.gcp.errors.ApiError`."""
        request = Request(api=api, method=verb, path=path.replace("PROJECT", self.project), body=body, query=query)
        return self.provider.client.send(request, self.context)

    def done(self, operation: Mapping[str, Any], version: str = "v1") -> Operation:
        """Wait until an operation of Compute has succeeded; raises `gcpx.errors.ProviderError`."""
        operations = Operations(google=self.provider.client, version=version, project=self.project)
        given = cast("Operation", operation)
        return operations.outcome(self.context, given, Wait("verification", _PATIENCE)).result()


@contextlib.contextmanager
def place(project: str, zone: str, *, user: str, id_token: str, host: str = "") -> Iterator[Place]:
    """Start a plugin for a project of Google or, with `host`, of an emulator."""
    recorder = Recorder(project)
    provider = RecordingProvider(recorder)
    config = {"project": project, **({"emulatorHost": host} if host else {})}
    with driver.engine(provider, **config) as engine:
        engine.provider_id = str(uuid.uuid4())
        engine.next_run()
        prefix = f"gcpx-verify-{secrets.token_hex(3)}"
        yield Place(engine, provider, recorder, project, zone, prefix, user, id_token)
