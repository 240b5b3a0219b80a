"""The errors that end a call of the engine with a message for the user."""

from __future__ import annotations

from typing import ClassVar, Final, Self


class ProviderError(Exception):
    """An error with a text for the user, without secrets.

    Attributes:
        code: the gRPC status. Never UNAVAILABLE or UNIMPLEMENTED, which the protocol itself uses, nor UNKNOWN or
            INTERNAL, which the engine reads as a corrupt state.
    """

    code: ClassVar[str] = "FAILED_PRECONDITION"


class UserError(ProviderError):
    """A mistake that only the user can correct; the text says how."""

    code = "INVALID_ARGUMENT"


class MalformedResponse(ProviderError):  # noqa: N818 - it names the outcome
    """A response of another form than documented, which says nothing about existing resources."""

    code = "ABORTED"


RUN_AGAIN: Final = "Run the command again to go on"
"""The next step after an unfinished change."""


class Interrupted(ProviderError):  # noqa: N818 - it names the outcome
    """A change is not finished, or its result is not known. Its text is the message followed by the next step.

    Attributes:
        message: what happened, without the next step.
        next_step: the command that continues, or finds out the result; empty if the message has it.
    """

    def __init__(self, message: str, next_step: str = RUN_AGAIN) -> None:
        super().__init__(sentences(message, next_step))
        self.message = message
        self.next_step = next_step


class CancelledError(Interrupted):
    """The user cancelled before any change: before a request was sent, or during a read."""

    code = "CANCELLED"

    @classmethod
    def before(cls, what: str) -> Self:
        """Describe an unsent request with the name `what`."""
        return cls(f"{what}: cancelled before the request was sent; it changed nothing")


class OutOfTimeError(ProviderError):
    """The custom timeout passed before the request was sent."""

    code = "ABORTED"

    def __init__(self, what: str, timeout: float | None) -> None:
        super().__init__(
            f"{what}: not sent, because the custom timeout of {timeout:g} s was over; raise customTimeouts"
        )


def without_stop(text: str) -> str:
    """Return a text without the full stop at its end, to continue its sentence.

    An ellipsis stays: it shows that the text was cut, and redaction needs it to find a cut secret before it.

    >>> without_stop("It failed. "), without_stop("Invalid value: hunt...")
    ('It failed', 'Invalid value: hunt...')
    """
    stem = text.rstrip(". ")
    spaces, ellipsis, _ = text[len(stem) :].partition("...")
    return f"{stem}{spaces}{ellipsis}" if ellipsis else stem


def sentences(*texts: str) -> str:
    """Join texts, so that each ends as a sentence before the next one begins.

    >>> sentences("GET x: no (HTTP 403)", "", "See https://example.com.")
    'GET x: no (HTTP 403). See https://example.com.'
    """
    first, *others = [*filter(None, texts)] or [""]
    written = [first]
    for text in others:
        before = without_stop(written[-1])
        stop = "" if not before or before.endswith("...") else "."
        written[-1] = f"{before}{stop}"
        written.append(text if not before or text.startswith("\n") else f" {text}")
    return "".join(written)


def safe_message(error: Exception, what: str = "") -> str:
    """Return the message of an error, without secrets, for a text that itself says whether to run a command again.

    The message of a `ProviderError` is its text, without the next step if it is `Interrupted`. The text of any other
    exception may quote a secret, so the message names its type, and says that Google's response to `what` could not be
    parsed.
    """
    if isinstance(error, ProviderError):
        return error.message if isinstance(error, Interrupted) else str(error)
    return f"{what}: Google's response could not be parsed ({type(error).__name__})".removeprefix(": ")
