"""The composition root: which resources there are, and how they meet Google."""

from __future__ import annotations

import importlib
import importlib.resources
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gcpx import __version__
from gcpx.errors import UserError
from gcpx.model.call import Call
from gcpx.model.check import Report
from gcpx.model.diff import Change
from gcpx.model.fields import ObjectType
from gcpx.model.function import Function
from gcpx.model.resource import Resource

if TYPE_CHECKING:
    from gcpx.gcp.client import Google
    from gcpx.gcp.lookups import Lookups
    from gcpx.gcp.settings import Settings

RESOURCES: Final = {
    "gcpx:compute:BulkInstances": "gcpx.compute.bulk_instances.resource",
    "gcpx:compute:DiskAttachment": "gcpx.compute.disk_attachment",
    "gcpx:compute:InstanceTemplate": "gcpx.compute.instance_template",
    "gcpx:compute:MachineImage": "gcpx.compute.machine_image",
    "gcpx:oslogin:SshKey": "gcpx.oslogin.ssh_key.resource",
    "gcpx:storage:NotificationConfig": "gcpx.storage.notification_config.resource",
}
"""Type token to module; a module is loaded when its resource is first used."""
FUNCTIONS: Final = {
    "gcpx:compute:aggregatedListInstanceTemplates": "gcpx.compute.lists.aggregated_list_instance_templates",
    "gcpx:compute:aggregatedListInstances": "gcpx.compute.lists.aggregated_list_instances",
    "gcpx:compute:getOperation": "gcpx.compute.get_operation",
    "gcpx:compute:listInstanceTemplates": "gcpx.compute.lists.list_instance_templates",
    "gcpx:compute:listRegions": "gcpx.compute.lists.list_regions",
    "gcpx:oauth2:getTokenInfo": "gcpx.oauth2.get_token_info",
    "gcpx:pubsub:verifyPushToken": "gcpx.pubsub.verify_push_token",
}
"""Token to module, likewise."""


def resource_class(token: str) -> type[Resource]:
    """Load the class behind a type token."""
    if token not in RESOURCES:
        raise UserError(f"{token} is not a resource of gcpx; the resources are {', '.join(RESOURCES)}")
    module = importlib.import_module(RESOURCES[token])
    found: type[Resource] = getattr(module, token.rpartition(":")[2])
    return found


def function_class(token: str) -> type[Function]:
    """Load the class behind a function's token."""
    if token not in FUNCTIONS:
        raise UserError(f"{token} is not a function of gcpx; the functions are {', '.join(FUNCTIONS)}")
    module = importlib.import_module(FUNCTIONS[token])
    name = token.rpartition(":")[2]
    found: type[Function] = getattr(module, name[0].upper() + name[1:])
    return found


class Provider:
    """The provider as the servicer serves it."""

    version = __version__

    def __init__(self) -> None:
        self._args: dict[str, Any] | None = None
        self._settings: Settings | None = None
        self._client: Google | None = None
        self._lookups: Lookups | None = None
        self._retired: list[Google] = []
        self._resources: dict[str, Resource] = {}
        self._functions: dict[str, Function] = {}
        self._lock = threading.RLock()
        """Calls come from many threads at once, and share one client, and one object for each resource."""
        self._cancelled = threading.Event()

    @property
    def secrets(self) -> frozenset[str]:
        """Texts of the configuration that no message may hold."""
        return self._settings.secrets if self._settings is not None else frozenset()

    @property
    def validates_online(self) -> bool:
        """Whether the user wants Google asked at preview."""
        return self._settings is not None and self._settings.validate_online

    def schema(self) -> str:
        """Give the packaged schema, or in a checkout the generated file."""
        packaged = importlib.resources.files("gcpx") / "schema.json"
        if packaged.is_file():
            return packaged.read_text()
        return (Path(__file__).parents[2] / "schema.json").read_text()

    @property
    def config_type(self) -> ObjectType:
        """The configuration's declaration as data."""
        from gcpx import config  # noqa: PLC0415 - a process that only gives its schema needs none of it

        return config.KIND

    def check_config(self, inputs: dict[str, Any]) -> Report:
        """Check the provider's configuration, and what the environment adds to it."""
        from gcpx import config  # noqa: PLC0415 - as above

        return config.check_config(inputs)

    def diff_config(self, old: dict[str, Any], new: dict[str, Any]) -> list[Change]:
        """Compare two configurations."""
        from gcpx import config  # noqa: PLC0415 - as above

        return config.diff_config(old, new)

    def configure(self, args: dict[str, Any]) -> None:
        """Take a configuration; an engine that attaches does so again in every run."""
        from gcpx import config  # noqa: PLC0415 - as above

        self._cancelled = threading.Event()
        with self._lock:
            if args == self._args:
                if self._lookups is not None:
                    self._lookups.forget()
                return
            settings = config.settings(args)
            # Calls of an earlier run may still be under way, so its connections are closed only at the end.
            if self._client is not None:
                self._retired.append(self._client)
            self._client, self._lookups, self._args, self._settings = None, None, args, settings
            self._resources.clear()
            self._functions.clear()

    def resource(self, token: str) -> Resource:
        """Find the resource of a type token."""
        with self._lock:
            if token not in self._resources:
                self._resources[token] = resource_class(token)(*self._cloud)
            return self._resources[token]

    def function(self, token: str) -> Function:
        """Find the function of a token."""
        with self._lock:
            if token not in self._functions:
                self._functions[token] = function_class(token)(self._cloud[0])
            return self._functions[token]

    def cancel(self) -> None:
        """Wake every wait."""
        self._cancelled.set()

    def close(self) -> None:
        """Let go of what the process holds, at its end."""
        self.cancel()
        with self._lock:
            for google in (*self._retired, *([self._client] if self._client is not None else [])):
                google.close()

    def call(self, **surroundings: Any) -> Call:
        """Bundle what surrounds one call."""
        return Call(cancelled=self._cancelled, **surroundings)

    @property
    def _cloud(self) -> tuple[Google, Lookups]:
        """The client of the configuration and its cached lookups, which all resources share."""
        from gcpx import config  # noqa: PLC0415 - loaded with the first resource
        from gcpx.gcp.client import Google  # noqa: PLC0415 - as above
        from gcpx.gcp.lookups import Lookups  # noqa: PLC0415 - as above

        with self._lock:
            if self._client is None or self._lookups is None:
                self._client = Google(self._settings or config.settings({}))
                self._lookups = Lookups(self._client)
            return self._client, self._lookups
