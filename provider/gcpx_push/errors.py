"""Errors of pushes that are refused, or cannot be checked. No message quotes a token, a header's value or a body.

PushError             the push is refused
+- MalformedRequest   400
+- InvalidToken       400
+- WrongMethod        405
+- BodyTooLong        413
CertificatesError     503: the push cannot be checked now
"""

from __future__ import annotations

from typing import ClassVar


class PushError(Exception):
    """A push that must be refused.

    Attributes:
        status: the HTTP status to answer with.
    """

    status: ClassVar[int] = 400


class MalformedRequest(PushError):  # noqa: N818 - the names of this class and the next three say what is wrong
    """A request that does not have the form of a push, or has the wrong verification token."""


class InvalidToken(PushError):  # noqa: N818 - see above
    """A token that is malformed, not signed by the issuer, not meant for this receiver, or not valid now."""


class WrongMethod(PushError):  # noqa: N818 - see above
    """A request whose method is not POST."""

    status = 405


class BodyTooLong(PushError):  # noqa: N818 - see above
    """A body longer than any push."""

    status = 413


class CertificatesError(Exception):
    """The issuer's keys cannot be fetched. The push may be valid, so Pub/Sub should retry it.

    Attributes:
        status: the HTTP status to answer with.
    """

    status: ClassVar[int] = 503
