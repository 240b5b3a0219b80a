"""Failures and warnings about inputs, as the user reads them.

What is found, and whether a reason may quote a value, is decided in `model.check` and `model.lifecycle`. Here it is
decided which failures name a property, because the engine prints its value, and secrets are masked.
"""

from __future__ import annotations

from typing import Any, Final

import attrs

from gcpx.errors import UserError
from gcpx.model.check import Finding
from gcpx.model.fields import ObjectType
from gcpx.model.redaction import redact
from gcpx.model.secrecy import is_secret_at, mark_secrets, secret_texts
from gcpx.model.values import format_path
from gcpx.protocol import proto

_LONGEST: Final = 100
"""Values with more characters are not printed."""


@attrs.frozen
class Findings:
    """Writes what was found in inputs.

    The engine prints the value of the property that a failure names. It prints secrets in clear, and `{<nil>}` for
    nested paths. So a failure names a property only if its value is known, plain and short; otherwise the reason begins
    with the path.

    Attributes:
        kind: declares the inputs.
        inputs: the inputs, with secrets marked.
        secrets: additional strings that no message may contain.
        marked: whether the engine marked the secrets; if it did not, no value is shown.
    """

    kind: ObjectType
    inputs: dict[str, Any]
    secrets: frozenset[str]
    marked: bool = True

    @classmethod
    def of(cls, kind: ObjectType, inputs: dict[str, Any], secrets: frozenset[str], *, marked: bool = True) -> Findings:
        """Mark what is secret by declaration, by place or by content; `inputs` are as the engine sent them."""
        protected = mark_secrets(kind, inputs, inputs)
        return cls(kind, protected, secrets | secret_texts(kind, protected), marked)

    def failures(self, findings: list[Finding]) -> list[Any]:
        """Write findings as check failures."""
        return [self._failure(finding) for finding in findings]

    def _failure(self, finding: Finding) -> Any:
        name = str(finding.path[0]) if len(finding.path) == 1 else ""
        if name in self.kind.inputs and self._printable(self.inputs.get(name)):
            return proto.provider.CheckFailure(property=name, reason=redact(finding.reason, self.secrets))
        return proto.provider.CheckFailure(reason=self.sentence(finding))

    def sentence(self, finding: Finding, separator: str = ": ") -> str:
        """Write a finding as one string: the path and the reason."""
        value = finding.with_value if self.marked and not is_secret_at(self.inputs, finding.path) else None
        reason = finding.reason if value is None else value
        return redact(separator.join(filter(None, (format_path(finding.path), reason))), self.secrets)

    def _printable(self, value: Any) -> bool:
        """Return whether the engine may print a value, and whether it is short enough to help."""
        if not self.marked or not isinstance(value, str | bool | int | float) or value == "":
            return False
        text = str(value)
        return len(text) <= _LONGEST and text.isprintable() and redact(text, self.secrets) == text

    def refusal(self, what: str, findings: list[Finding]) -> UserError:
        """Write findings as an error, for RPCs whose response has no failures that every user sees."""
        return UserError(f"{what}: " + "\n  ".join(map(self.sentence, findings)))
