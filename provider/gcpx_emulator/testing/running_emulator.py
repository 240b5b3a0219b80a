"""A running emulator, as tests use it."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, urlsplit

import attrs

from gcpx_emulator.core.json_data import Json
from gcpx_emulator.testing import google_clients
from gcpx_emulator.testing.control import Control, EmulatorError, read
from gcpx_emulator.testing.seed import Seed

_Client = TypeVar("_Client")
_NOT_FOUND = 404
_STATE = "/_emulator/state"
_NO_PROXY = ("NO_PROXY", "no_proxy")
"""The variables with the hosts that clients call without a proxy; clients differ in the one that they read first."""


@attrs.frozen
class RunningEmulator:
    """A running emulator, in this process or elsewhere.

    Attributes:
        host: its address, such as `127.0.0.1:8095`; gcpx takes it as `GCPX_EMULATOR_HOST`.
        project: the project of programs and of the resources that `seed` creates.
        interception: more variables, which lead clients from Google's own addresses to the emulator.
    """

    host: str
    project: str = "demo-project"
    interception: Mapping[str, str] = attrs.field(factory=dict, repr=False)

    @property
    def url(self) -> str:
        """The address with its scheme. In a browser, it shows the resources and the latest requests."""
        return f"http://{self.host}"

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables with which gcpx and Google's clients call the emulator.

        `NO_PROXY` and `no_proxy` have the emulator's host besides those of this process. `PUBSUB_EMULATOR_HOST` is not
        among the variables if clients call Google's own addresses: with it, those for Python cannot use REST.
        """
        return {
            "GCPX_EMULATOR_HOST": self.host,
            **({} if self.interception else {"STORAGE_EMULATOR_HOST": self.url}),
            "GOOGLE_PROJECT": self.project,
            "GOOGLE_CLOUD_PROJECT": self.project,
            **dict.fromkeys(_NO_PROXY, self._without_proxy),
            **(self.interception or {"PUBSUB_EMULATOR_HOST": self.host}),
        }

    @property
    def without_interception(self) -> RunningEmulator:
        """The same emulator, for clients that are told its address."""
        return attrs.evolve(self, interception={})

    @property
    def _without_proxy(self) -> str:
        """The hosts that clients call without a proxy: this process's value and the emulator's host."""
        named = ",".join(os.environ.get(name, "") for name in _NO_PROXY).split(",")
        hosts = dict.fromkeys(host.strip() for host in [*named, urlsplit(self.url).hostname or ""])
        # Clients accept `*`, for all hosts, only as the whole value.
        return "*" if "*" in hosts else ",".join(filter(None, hosts))

    @property
    def seed(self) -> Seed:
        """Creates the resources that a program needs but does not create itself."""
        return Seed(self._control, self.project)

    @property
    def _control(self) -> Control:
        return Control(self.host)

    def client(self, kind: type[_Client]) -> _Client:
        """Return a client of a class of Google's libraries, connected by REST and without credentials.

        For example `client(compute_v1.InstancesClient)`, `client(storage.Client)`, or
        `client(google.pubsub_v1.PublisherClient)`.
        """
        return google_clients.connect(kind, self.host, self.project)

    def resource(self, path: str) -> Json | None:
        """Return a resource as the emulator keeps it, or None if it does not exist.

        `path` is without host and version: `projects/demo-project/zones/us-east1-b/instances/web`, `b/my-bucket`.
        The keys of `resources` are such paths.

        Raises:
            EmulatorError: if the emulator cannot be reached, or refuses the request.
        """
        __tracebackhide__ = True
        answer = self._control.answer("GET", f"/_emulator/resources/{quote(path)}")
        found: Json | None = None if answer.status_code == _NOT_FOUND else read(answer)
        return found

    def resources(self, kind: str) -> dict[str, Json]:
        """Return the resources of a kind by path, oldest first.

        A kind is the last part of a collection's path: `instances`, `disks`, `instanceTemplates`, `machineImages`,
        `topics`, `subscriptions`, `b` for buckets, `notificationConfigs`.

        Raises:
            EmulatorError: if there is no such kind; the error suggests similar names.
        """
        __tracebackhide__ = True
        found: dict[str, Json] = self.control("GET", "resources", kind=kind)
        return found

    def requests(self, method: str | None = None) -> list[Json]:
        """Return the requests of this test, oldest first: all, or those of a method such as `compute.instances.insert`.

        Each has `method`, `httpMethod`, `path`, `query`, `body` and `status`. Those of `seed` are included.

        Raises:
            EmulatorError: if the emulator has no such method; the error suggests similar names.
        """
        __tracebackhide__ = True
        query = {} if method is None else {"method": method}
        found: list[Json] = self.control("GET", "requests", **query)
        return found

    @contextmanager
    def fault(self, method: str, *, times: int = 1, **fault: Any) -> Iterator[None]:
        """Let the next `times` calls of a method fail during the block.

        Args:
            method: its ID, such as `compute.instances.insert`; `*` is any.
            times: how many calls fail.
            fault: how they fail, as in the body of `/_emulator/faults`: `status`, `reason`, `message`, `retry_after`,
                `drop`, `delay`, `body`, `operation`.

        Raises:
            EmulatorError: if the emulator refuses the fault, or if the block ends normally without calling the method.
        """
        __tracebackhide__ = True
        if "name" in fault:
            raise EmulatorError("fault gives each fault a name of its own, to remove it after the block: omit `name`")
        name = str(uuid.uuid4())
        self.control("POST", "faults", {"method": method, "name": name, "times": times, **fault})
        try:
            yield
            left = [entry["times"] for entry in self.control("GET", "faults") if entry["name"] == name]
        finally:
            self.control("DELETE", "faults", name=name)
        if left == [times]:
            raise EmulatorError(f"the fault was not used: nothing called {method} during the block")

    def deliveries(self, at_least: int = 0) -> list[Json]:
        """Wait for this number of attempts to push messages; return all attempts, each with its result."""
        found: list[Json] = self.control("GET", "deliveries", atLeast=at_least)
        return found

    def advance(self, seconds: float) -> None:
        """Advance the emulator's clock: run limits expire, and failed pushes are tried again, without a wait."""
        self.control("POST", "clock", {"advance": seconds})

    def save(self, file: str | Path) -> None:
        """Write all resources, operations and settings, and the clock, to a file, such as one of `--data`."""
        __tracebackhide__ = True
        answer = self._control.answer("GET", _STATE)
        if not answer.is_success:
            read(answer)
        Path(file).write_bytes(answer.content)

    def load(self, file: str | Path) -> None:
        """Replace all resources, operations and settings, and the clock, by those in a file that was saved.

        Raises:
            EmulatorError: if the file is something else.
        """
        __tracebackhide__ = True
        self._control.send("PUT", _STATE, Path(file).read_bytes())

    def reset(self) -> None:
        """Delete all resources, faults, settings and requests."""
        self.control("POST", "reset")

    def control(self, http_method: str, name: str, /, body: Any = None, **query: Any) -> Any:
        """Send a request to `/_emulator/NAME`, such as `control("POST", "limits", {...})`; return its response.

        Raises:
            EmulatorError: if the emulator refuses it, with the reason.
        """
        __tracebackhide__ = True
        return self._control.send(http_method, f"/_emulator/{name}", body, **query)
