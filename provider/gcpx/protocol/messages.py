"""The engine's messages as the model's values, and back: autonaming, configuration, differences."""

from __future__ import annotations

from typing import Any

from gcpx.model import naming
from gcpx.model.diff import Change
from gcpx.model.values import format_path
from gcpx.protocol import proto


def name_request(request: Any) -> naming.NameRequest:
    """Read what a CheckRequest says about the resource's name."""
    name = request.name or request.urn.rpartition("::")[2]
    return naming.NameRequest(name, bytes(request.randomSeed), _proposal(request))


def _proposal(request: Any) -> naming.Proposal | None:
    if not request.HasField("autonaming"):
        return None
    mode = proto.provider.CheckRequest.AutonamingOptions.Mode.Name(request.autonaming.mode).lower()
    return naming.Proposal(request.autonaming.proposed_name, mode)


def legacy_variables(variables: dict[str, str]) -> dict[str, Any]:
    """Read the configuration of engines that send no `args`."""
    return {key.rpartition(":")[2]: value for key, value in variables.items()}


def diff_response(changes: list[Change], delete_before_replace: bool) -> Any:
    """Write a DiffResponse; replacements are named in every field that the engine reads."""
    message = proto.provider
    details = {
        format_path(change.path): message.PropertyDiff(
            kind=message.PropertyDiff.Kind.Value(f"{change.kind.upper()}{'_REPLACE' if change.replaces else ''}"),
            inputDiff=True,
        )
        for change in changes
    }
    return message.DiffResponse(
        changes=message.DiffResponse.DIFF_SOME if changes else message.DiffResponse.DIFF_NONE,
        replaces=sorted({str(change.path[0]) for change in changes if change.replaces}),
        diffs=sorted({str(change.path[0]) for change in changes}),
        detailedDiff=details,
        hasDetailedDiff=True,
        deleteBeforeReplace=delete_before_replace,
    )
