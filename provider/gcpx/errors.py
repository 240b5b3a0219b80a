"""Errors that carry their meaning to the engine."""

from __future__ import annotations

from typing import ClassVar


class ProviderError(Exception):
    """Anything that ends a call with a message for the user.

    Attributes:
        code: the gRPC status. Never UNAVAILABLE or UNIMPLEMENTED, which the engine reads as protocol, nor UNKNOWN or
            INTERNAL, which it reads as a corrupt state.
    """

    code: ClassVar[str] = "FAILED_PRECONDITION"


def words_of(error: Exception, what: str = "") -> str:
    """Say what went wrong. Only our own errors speak for themselves: the text of any other may show a secret."""
    if isinstance(error, ProviderError):
        return str(error)
    return f"{what}: Google's response could not be parsed ({type(error).__name__})".removeprefix(": ")


class UserError(ProviderError):
    """Something only the user can mend; the text says how."""

    code = "INVALID_ARGUMENT"


class CancelledError(ProviderError):
    """The user asked to stop before anything was sent."""

    code = "CANCELLED"
