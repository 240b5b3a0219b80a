"""Why a push is refused. No message holds anything of a token."""

from __future__ import annotations

from typing import ClassVar


class PushError(Exception):
    """A push that is refused.

    Attributes:
        status: the HTTP status to answer with.
    """

    status: ClassVar[int] = 400


class MalformedRequest(PushError):  # noqa: N818 - this and its siblings name what is wrong
    """A header or a body that a push does not have."""


class InvalidToken(PushError):  # noqa: N818
    """A token that was not made for this receiver, by this issuer, lately."""


class WrongMethod(PushError):  # noqa: N818
    """A push is a POST."""

    status = 405


class BodyTooLong(PushError):  # noqa: N818
    """A body that is longer than any push."""

    status = 413
