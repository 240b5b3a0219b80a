"""The oldest Pulumi CLI that gcpx works with."""

from __future__ import annotations

from typing import Any, Final

import grpc

from gcpx.errors import UserError
from gcpx.protocol import proto

OLDEST_CLI: Final = "3.217.0"
"""The first version that tells a plugin whether it is new enough. gcpx is tested with the version in tools/pulumi."""
_DEADLINE: Final = 2.0
"""Seconds that the answer may take; without one, the plugin goes on."""
_ANSWERS: Final = {grpc.StatusCode.UNIMPLEMENTED: "this one is older", grpc.StatusCode.UNKNOWN: ""}
"""What an engine that is too old answers with; an empty text stands for the engine's own, which names its version."""
_MESSAGE: Final = (
    f"gcpx needs the Pulumi CLI {OLDEST_CLI} or later: {{}}. `pulumi version` prints the version; "
    "https://www.pulumi.com/docs/install says how to upgrade"
)


def require(engine: Any) -> None:
    """Raise UserError if an engine, given by its stub, belongs to a CLI that is too old; without an answer, go on."""
    request = proto.engine.RequirePulumiVersionRequest(pulumi_version_range=f">={OLDEST_CLI}")
    try:
        engine.RequirePulumiVersion(request, timeout=_DEADLINE)
    except grpc.RpcError as error:
        if error.code() in _ANSWERS:
            raise UserError(_MESSAGE.format(_ANSWERS[error.code()] or error.details())) from error
