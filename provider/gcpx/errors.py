"""The errors that end a call of the engine with a message for the user."""

from __future__ import annotations

from typing import ClassVar, Self


class ProviderError(Exception):
    """An error whose text is written for the user and contains no secret.

    Attributes:
        code: the gRPC status. Never UNAVAILABLE or UNIMPLEMENTED, which the protocol uses itself, nor UNKNOWN
            or INTERNAL, which the engine reads as a corrupt state.
    """

    code: ClassVar[str] = "FAILED_PRECONDITION"


class UserError(ProviderError):
    """A mistake that only the user can correct; the text says how."""

    code = "INVALID_ARGUMENT"


class MalformedResponse(ProviderError):  # noqa: N818 - it names the outcome
    """A response of another form than its API promises, which says nothing about what exists."""

    code = "ABORTED"


class CancelledError(ProviderError):
    """The user cancelled before anything was changed: before a request was sent, or while something was read."""

    code = "CANCELLED"

    @classmethod
    def before(cls, what: str) -> Self:
        """Describe a request, which messages call `what`, that was not sent."""
        return cls(f"{what}: cancelled before the request was sent; it changed nothing")


class OutOfTimeError(ProviderError):
    """The custom timeout was over before the request was sent."""

    code = "ABORTED"

    def __init__(self, what: str, timeout: float | None) -> None:
        super().__init__(
            f"{what}: not sent, because the custom timeout of {timeout:g} s was over; raise customTimeouts"
        )


def safe_message(error: Exception, what: str = "") -> str:
    """Return the message of an error, without secrets.

    A `ProviderError` gives its own text. The text of any other exception may quote a secret, so the message only names
    its type, and says that Google's response to `what` could not be parsed.
    """
    if isinstance(error, ProviderError):
        return str(error)
    return f"{what}: Google's response could not be parsed ({type(error).__name__})".removeprefix(": ")
