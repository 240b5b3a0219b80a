"""The composition root: the resources and functions, and the client that they share."""

from __future__ import annotations

import functools
import importlib
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gcpx import __version__
from gcpx.errors import UserError

if TYPE_CHECKING:
    from gcpx.gcp.client import GoogleClient
    from gcpx.gcp.in_project import Lookups
    from gcpx.gcp.settings import Settings
    from gcpx.model.check import CheckResult
    from gcpx.model.diff import Change
    from gcpx.model.fields import ObjectType
    from gcpx.model.function import Function
    from gcpx.model.resource import Resource

RESOURCES: Final = {
    "gcpx:compute:BulkInstances": "gcpx.compute.bulk_instances.resource",
    "gcpx:compute:DiskAttachment": "gcpx.compute.disk_attachment",
    "gcpx:compute:InstanceTemplate": "gcpx.compute.instance_template",
    "gcpx:compute:MachineImage": "gcpx.compute.machine_image",
    "gcpx:oslogin:SshKey": "gcpx.oslogin.ssh_key",
    "gcpx:storage:NotificationConfig": "gcpx.storage.notification_config",
}
"""The module of each resource, loaded at the first use of the resource."""
FUNCTIONS: Final = {
    "gcpx:compute:aggregatedListInstanceTemplates": "gcpx.compute.list_functions",
    "gcpx:compute:aggregatedListInstances": "gcpx.compute.list_functions",
    "gcpx:compute:getOperation": "gcpx.compute.get_operation",
    "gcpx:compute:listInstanceTemplates": "gcpx.compute.list_functions",
    "gcpx:compute:listRegions": "gcpx.compute.list_functions",
    "gcpx:oauth2:getTokenInfo": "gcpx.oauth2.get_token_info",
    "gcpx:pubsub:verifyPushToken": "gcpx.pubsub.verify_push_token",
}
"""The module of each function, likewise."""


def resource_class(token: str) -> type[Resource[Any]]:
    """Load the class of a resource; raises UserError if there is none."""
    if token not in RESOURCES:
        raise UserError(f"{token} is not a resource of gcpx; the resources are {', '.join(RESOURCES)}")
    module = importlib.import_module(RESOURCES[token])
    found: type[Resource[Any]] = getattr(module, token.rpartition(":")[2])
    return found


def function_class(token: str) -> type[Function]:
    """Load the class of a function; raises UserError if there is none."""
    if token not in FUNCTIONS:
        raise UserError(f"{token} is not a function of gcpx; the functions are {', '.join(FUNCTIONS)}")
    module = importlib.import_module(FUNCTIONS[token])
    name = token.rpartition(":")[2]
    found: type[Function] = getattr(module, name[0].upper() + name[1:])
    return found


class Provider:
    """The provider that the plugin serves; implements `protocol.plugin.Plugin`."""

    version = __version__

    def __init__(self) -> None:
        self._args: dict[str, Any] | None = None
        self._settings: Settings | None = None
        self._marked: frozenset[str] = frozenset()
        self._client: GoogleClient | None = None
        self._lookups: Lookups | None = None
        self._retired: list[GoogleClient] = []
        self._resources: dict[str, Resource[Any]] = {}
        self._functions: dict[str, Function] = {}
        self._lock = threading.RLock()
        """Many threads call at once. They share one client, and one object for each resource type."""
        self.cancelled = threading.Event()
        self.clock: Callable[[], float] = time.monotonic

    @functools.cached_property
    def parallel(self) -> int:
        """The maximum number of concurrent requests of a call."""
        from gcpx.model.context import PARALLEL  # noqa: PLC0415 - not before the process serves

        return PARALLEL

    @property
    def secrets(self) -> frozenset[str]:
        """Strings in the configuration that no message may contain."""
        return self._marked | self._settings.secrets if self._settings is not None else frozenset()

    @property
    def validates_online(self) -> bool:
        """Whether the user wants online checks at preview."""
        return self._settings is not None and self._settings.validate_online

    def schema(self) -> str:
        """Return the schema: the packaged file or, in a checkout, the generated one."""
        from importlib import resources  # noqa: PLC0415 - few processes give their schema

        packaged = resources.files("gcpx") / "schema.json"
        if packaged.is_file():
            return packaged.read_text()
        return (Path(__file__).parents[2] / "schema.json").read_text()

    @property
    def config_type(self) -> ObjectType:
        """The configuration's declaration as data."""
        from gcpx import config  # noqa: PLC0415 - a process that only gives its schema does not need it

        return config.KIND

    def check_config(self, inputs: dict[str, Any]) -> CheckResult:
        """Check the provider's configuration, together with the environment variables that add to it."""
        from gcpx import config  # noqa: PLC0415 - as above

        return config.check_config(inputs)

    def diff_config(self, old: dict[str, Any], new: dict[str, Any]) -> list[Change]:
        """Compare two configurations."""
        from gcpx import config  # noqa: PLC0415 - as above

        return config.diff_config(old, new)

    def configure(self, args: dict[str, Any]) -> None:
        """Set the configuration, in which secrets are marked; offline.

        An engine that attaches to a running plugin calls this once per run.
        """
        from gcpx import config  # noqa: PLC0415 - as above

        self.cancelled = threading.Event()
        with self._lock:
            if args == self._args:
                if self._client is not None and self._lookups is not None:
                    self._client.reads.forget()
                    self._lookups.forget()
                return
            settings, marked = config.settings(args), config.marked_secrets(args)
            # Calls of an earlier run may still be under way, so its connections are closed only at the end.
            if self._client is not None:
                self._retired.append(self._client)
            self._client, self._lookups, self._args, self._settings, self._marked = None, None, args, settings, marked
            self._resources.clear()
            self._functions.clear()

    def resource(self, token: str) -> Resource[Any]:
        """Find the resource of a type token."""
        with self._lock:
            if token not in self._resources:
                self._resources[token] = resource_class(token)(*self._client_and_lookups)
            return self._resources[token]

    def function(self, token: str) -> Function:
        """Find the function of a token."""
        with self._lock:
            if token not in self._functions:
                self._functions[token] = function_class(token)(self._client_and_lookups[0])
            return self._functions[token]

    def cancel(self) -> None:
        """Wake every wait."""
        self.cancelled.set()

    def close(self) -> None:
        """Close all connections, at the end of the process."""
        self.cancel()
        with self._lock:
            for google in (*self._retired, *([self._client] if self._client is not None else [])):
                google.close()

    def new_client(self, settings: Settings) -> GoogleClient:
        """Return the client of a configuration."""
        from gcpx.gcp.client import GoogleClient  # noqa: PLC0415 - loaded with the first resource

        return GoogleClient(settings, clock=self.clock)

    @property
    def _client_and_lookups(self) -> tuple[GoogleClient, Lookups]:
        """The client of the configuration and its cached lookups, which all resources share."""
        from gcpx import config  # noqa: PLC0415 - loaded with the first resource
        from gcpx.gcp.in_project import Lookups  # noqa: PLC0415 - as above

        with self._lock:
            if self._client is None or self._lookups is None:
                self._client = self.new_client(self._settings or config.settings({}))
                self._lookups = Lookups(self._client)
            return self._client, self._lookups
