"""What must hold, by the kind of what is broken, so that a long run can count each kind."""

from __future__ import annotations

from typing import Final

KINDS: Final = (
    "lost",
    "doubled",
    "taken",
    "forgotten",
    "deleted",
    "untracked",
    "leaked",
    "touched",
    "drift",
    "INTERNAL",
    "not reached",
)
"""What can be broken: a resource is gone though nobody deleted it; two resources are one, or one is two; something is in
no state; a secret is shown; what belongs to others was changed; a preview or a refresh shows a change that
nobody made; the engine would take the state for corrupt; a program is not reached."""


class BrokenPromise(AssertionError):  # noqa: N818 - it names the event
    """Something that must hold does not."""

    def __init__(self, kind: str, what: object) -> None:
        super().__init__(f"{kind}: {what}")
        self.kind = kind


def require(holds: object, kind: str, what: object) -> None:
    """Raise `BrokenPromise` unless something holds."""
    assert kind in KINDS, kind
    if not holds:
        raise BrokenPromise(kind, what)
