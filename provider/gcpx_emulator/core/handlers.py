"""What a handler gets, and how it is found: one function per method ID, from call to answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

import attrs

from gcpx_emulator.compute.links import path_of
from gcpx_emulator.core.errors import not_found
from gcpx_emulator.core.operations import Effect, Operations
from gcpx_emulator.core.store import Json, Store

if TYPE_CHECKING:
    from gcpx_emulator.oauth2.tokens import Signer

_COLLECTIONS: Final = {
    "disk": "disks",
    "instance": "instances",
    "instanceTemplate": "instanceTemplates",
    "machineImage": "machineImages",
}
"""The collections whose members parameters of the path name."""


@attrs.frozen(kw_only=True)
class Call:
    """One request, checked against the API's description.

    Attributes:
        method: the method's ID.
        version: of the API.
        parameters: that the method has.
        path: parameters of the path.
        query: parameters of the query.
        body: without output-only fields.
        media: contents that were uploaded.
        content_type: of the contents.
        now: gives the time of Pub/Sub and of tokens.
        caller: the e-mail address in the access token, if the emulator signed it.
        failure: what a fault injected to end the operation with, if anything.
    """

    store: Store
    operations: Operations
    method: str
    version: str
    parameters: Json
    path: Mapping[str, str]
    query: Mapping[str, str]
    body: Json
    signer: Signer
    now: Callable[[], float]
    caller: str = ""
    media: bytes | None = None
    content_type: str = ""
    failure: Json | None = None

    @property
    def base(self) -> str:
        """The prefix of Compute's links."""
        return f"https://www.googleapis.com/compute/{self.version}"

    @property
    def scope(self) -> str:
        """Where in a project the request plays."""
        for name in ("zone", "region"):
            if name in self.path:
                return f"{name}s/{self.path[name]}"
        return "global"

    @property
    def parent(self) -> str:
        """Project and scope."""
        return f"projects/{self.path['project']}/{self.scope}"

    def linked(self, link: str) -> str:
        """Give the path of the resource that a full or partial URL names, by its name or its numeric ID."""
        return self.store.named(path_of(link, self.path["project"]))

    def with_names(self) -> Call:
        """Replace numeric IDs in the path with names; no name begins with a digit."""
        names = {}
        for parameter, value in self.path.items():
            collection = self.method.split(".")[1] if parameter == "resource" else _COLLECTIONS.get(parameter)
            if collection is not None:
                names[parameter] = self.store.named(f"{self.parent}/{collection}/{value}").rpartition("/")[2]
        return attrs.evolve(self, path={**self.path, **names})

    def found(self, path: str) -> Json:
        """Read a resource that has to be there."""
        body = self.store.get(path)
        if body is None:
            raise not_found(path)
        return body

    def operation(self, kind: str, target: str, target_id: str, effects: list[Effect], **more: Any) -> Json:
        """Begin the operation that this request asks for."""
        return self.operations.start(
            project=self.path["project"],
            scope=self.scope,
            kind=kind,
            target=target,
            target_id=target_id,
            base=self.base,
            effects=effects,
            request_id=self.query.get("requestId"),
            **{"error": self.failure, **more},
        )

    def delete(self, path: str) -> Json:
        """Begin the deletion of a resource."""
        body = self.found(path)
        return self.operation("delete", path, str(body["id"]), [{"delete": path}])


Handler = Callable[[Call], Any]
HANDLERS: Final[dict[str, Handler]] = {}


def handles(*methods: str) -> Callable[[Handler], Handler]:
    """Register the handler of one or more method IDs."""

    def register(handler: Handler) -> Handler:
        HANDLERS.update(dict.fromkeys(methods, handler))
        return handler

    return register
