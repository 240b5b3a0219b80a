"""The errors that end a call of the engine with a message for the user."""

from __future__ import annotations

from typing import ClassVar, Final, Self


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


RUN_AGAIN: Final = "Run the command again to go on"
"""The next step after something that has not ended."""


class Interrupted(ProviderError):  # noqa: N818 - it names the outcome
    """Something has not ended, or its result is not known. Its text is the message followed by the next step.

    Attributes:
        message: what happened, without the next step.
        next_step: which command goes on or finds out the result; empty if the message says what to do.
    """

    def __init__(self, message: str, next_step: str = RUN_AGAIN) -> None:
        super().__init__(sentences(message, next_step))
        self.message = message
        self.next_step = next_step


class CancelledError(Interrupted):
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


def without_stop(text: str) -> str:
    """Return a text without the full stop at its end, to go on with its sentence.

    An ellipsis stays: it says that the text was cut, and only so the beginning of a secret before it is recognized.

    >>> without_stop("It failed. "), without_stop("Invalid value: hunt...")
    ('It failed', 'Invalid value: hunt...')
    """
    stem = text.rstrip(". ")
    spaces, ellipsis, _ = text[len(stem) :].partition("...")
    return f"{stem}{spaces}{ellipsis}" if ellipsis else stem


def sentences(*texts: str) -> str:
    """Write texts after each other, so that each ends as a sentence before the next one begins.

    >>> sentences("GET x: no (HTTP 403)", "", "See https://example.com.")
    'GET x: no (HTTP 403). See https://example.com.'
    """
    written = ""
    for text in filter(None, texts):
        before = without_stop(written)
        stop = "" if not before or before.endswith("...") else "."
        space = "" if not before or text.startswith("\n") else " "
        written = f"{before}{stop}{space}{text}"
    return written


def safe_message(error: Exception, what: str = "") -> str:
    """Return the message of an error, without secrets, for a text that says itself whether to run a command again.

    A `ProviderError` gives its own text, without the next step if it is `Interrupted`. The text of any other exception
    may quote a secret: the message names its type, and says that Google's response to `what` could not be parsed.
    """
    if isinstance(error, ProviderError):
        return error.message if isinstance(error, Interrupted) else str(error)
    return f"{what}: Google's response could not be parsed ({type(error).__name__})".removeprefix(": ")
