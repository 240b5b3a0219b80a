"""Between the engine's messages and ours: autonaming, configuration, check failures, differences."""

from __future__ import annotations

from typing import Any, Final

import attrs

from gcpx.errors import UserError
from gcpx.model import naming
from gcpx.model.check import Finding
from gcpx.model.diff import Change
from gcpx.model.fields import ObjectType
from gcpx.model.secrecy import hidden, protect, redact
from gcpx.model.values import format_path, secret_texts
from gcpx.protocol import proto

_LONGEST: Final = 100
"""Characters of a value up to which it helps to print it whole."""


def proposal(request: Any) -> naming.Proposal | None:
    """Read what the user's autonaming configuration asks for."""
    if not request.HasField("autonaming"):
        return None
    mode = proto.provider.CheckRequest.AutonamingOptions.Mode.Name(request.autonaming.mode).lower()
    return naming.Proposal(request.autonaming.proposed_name, mode)


def legacy_variables(variables: dict[str, str]) -> dict[str, Any]:
    """Read configuration the way engines sent it before `args`."""
    return {key.rpartition(":")[2]: value for key, value in variables.items()}


@attrs.frozen
class Findings:
    """What was found in inputs, on its way to the user: the one place that decides what is shown of a value.

    The engine prints the value of the property that a failure names, secrets in clear, and `{<nil>}` for every path
    below one. So a failure names a property only where its value is known, plain and short; elsewhere the path leads
    the reason.

    Attributes:
        inputs: as they came, with their secrets marked.
        secrets: further texts that no message may hold.
        marked: whether secrets came marked; where the engine strips their marks, no value is shown at all.
    """

    kind: ObjectType
    inputs: dict[str, Any]
    secrets: frozenset[str]
    marked: bool = True

    @classmethod
    def of(cls, kind: ObjectType, inputs: dict[str, Any], secrets: frozenset[str], *, marked: bool = True) -> Findings:
        """Mark what is secret by declaration, by place or by content."""
        protected = protect(kind, inputs, inputs)
        return cls(kind, protected, secrets | secret_texts(protected), marked)

    def failures(self, findings: list[Finding]) -> list[Any]:
        """Write findings as check failures."""
        return [self._failure(finding) for finding in findings]

    def _failure(self, finding: Finding) -> Any:
        name = str(finding.path[0]) if len(finding.path) == 1 else ""
        if name in self.kind.inputs and self._printable(self.inputs.get(name)):
            return proto.provider.CheckFailure(property=name, reason=redact(finding.reason, self.secrets))
        return proto.provider.CheckFailure(reason=self.sentence(finding))

    def sentence(self, finding: Finding, separator: str = ": ") -> str:
        """Write a finding as one text: the path, and the reason."""
        told = finding.told if self.marked and not hidden(self.inputs, finding.path) else None
        reason = finding.reason if told is None else told
        return redact(separator.join(filter(None, (format_path(finding.path), reason))), self.secrets)

    def _printable(self, value: Any) -> bool:
        """Tell whether the engine may print a value, and whether that helps."""
        if not self.marked or not isinstance(value, str | bool | int | float) or value == "":
            return False
        text = str(value)
        return len(text) <= _LONGEST and text.isprintable() and redact(text, self.secrets) == text

    def refusal(self, what: str, findings: list[Finding]) -> UserError:
        """Write findings as an error, for calls whose answer cannot carry failures to every user."""
        return UserError(f"{what}: " + "\n  ".join(map(self.sentence, findings)))


def diff_response(changes: list[Change], delete_before_replace: bool) -> Any:
    """Write differences; what is replaced stands in each of the places that the engine looks at."""
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
