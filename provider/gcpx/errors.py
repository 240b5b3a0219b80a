"""Errors whose messages are for the user."""

from __future__ import annotations

from typing import ClassVar


class ProviderError(Exception):
    """Ends a call with a message for the user.

    Attributes:
        code: the gRPC status. Never UNAVAILABLE or UNIMPLEMENTED, which the protocol uses itself, nor UNKNOWN
            or INTERNAL, which the engine reads as a corrupt state.
    """

    code: ClassVar[str] = "FAILED_PRECONDITION"


def words_of(error: Exception, what: str = "") -> str:
    """Say what went wrong. Only our own errors speak for themselves: the text of any other may show a secret."""
    if isinstance(error, ProviderError):
        return str(error)
    return f"{what}: Google's response could not be parsed ({type(error).__name__})".removeprefix(": ")


class UserError(ProviderError):
    """Something that the user has to correct; the message says how."""

    code = "INVALID_ARGUMENT"


class CancelledError(ProviderError):
    """The user cancelled before anything was sent."""

    code = "CANCELLED"
