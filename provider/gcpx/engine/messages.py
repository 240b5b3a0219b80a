"""Between the engine's messages and ours: autonaming, configuration, check failures, differences."""

from __future__ import annotations

from typing import Any

from gcpx.engine import protocol
from gcpx.errors import UserError
from gcpx.model import naming
from gcpx.model.check import Finding, failure_property
from gcpx.model.diff import Change
from gcpx.model.values import format_path


def proposal(request: Any) -> naming.Proposal | None:
    """Read what the user's autonaming configuration asks for."""
    if not request.HasField("autonaming"):
        return None
    mode = protocol.provider.CheckRequest.AutonamingOptions.Mode.Name(request.autonaming.mode).lower()
    return naming.Proposal(request.autonaming.proposed_name, mode)


def legacy_variables(variables: dict[str, str]) -> dict[str, Any]:
    """Read configuration the way engines sent it before `args`."""
    return {key.rpartition(":")[2]: value for key, value in variables.items()}


def refused(what: str, findings: list[Finding]) -> UserError:
    """Write findings as an error, for calls whose answer cannot carry failures to every user."""
    said = [f"{format_path(finding.path)} {finding.reason}".lstrip() for finding in findings]
    return UserError(f"{what}: " + "\n  ".join(said))


def failures(findings: list[Finding]) -> list[Any]:
    """Write findings as check failures."""
    pairs = [failure_property(finding) for finding in findings]
    return [protocol.provider.CheckFailure(property=name, reason=reason) for name, reason in pairs]


def diff_response(changes: list[Change], delete_before_replace: bool) -> Any:
    """Write differences; what is replaced stands in each of the places that the engine looks at."""
    message = protocol.provider
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
