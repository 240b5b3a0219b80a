"""The function `getOperation`: read an operation of any scope, whatever its status.

Source: REST reference, `globalOperations.get`, `regionOperations.get` and `zoneOperations.get`.
"""

from __future__ import annotations

from typing import Any

from gcpx.compute.get_operation.declaration import LINK, Operation, OperationQuery
from gcpx.gcp.apis import COMPUTE
from gcpx.gcp.in_project import InProjectFunction
from gcpx.gcp.request import Request
from gcpx.model import codec
from gcpx.model.call import Call
from gcpx.model.links import name_of, path_of
from gcpx.model.rules import Violation


class GetOperation(InProjectFunction):
    """Reads one operation, by name and scope or by link."""

    token = "gcpx:compute:getOperation"
    description = "Reads a global, regional or zonal operation."
    arguments = OperationQuery
    result = Operation

    def problems(self, arguments: dict[str, Any]) -> list[Violation]:
        """Require a project, unless `name` is a link, which includes one."""
        return [] if "/" in str(arguments.get("name", "")) else super().problems(arguments)

    def invoke(self, call: Call, arguments: dict[str, Any]) -> dict[str, Any]:
        """Read the operation once, without waiting until it is done."""
        link = LINK.fullmatch(path_of(arguments["name"]))
        project, scope, name = (
            link.groups() if link else (self._project(arguments), _scope(arguments), arguments["name"])
        )
        path = f"beta/projects/{project}/{scope}/operations/{name}"
        return codec.from_body(self.result_type, self._google.send(Request(api=COMPUTE, method="GET", path=path), call))


def _scope(arguments: dict[str, Any]) -> str:
    for kind in ("zone", "region"):
        if arguments.get(kind):
            return f"{kind}s/{name_of(arguments[kind])}"
    return "global"
