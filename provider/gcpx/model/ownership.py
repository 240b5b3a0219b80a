"""Decides who owns what Google shows, from three facts: the state's number, Google's number, and the creator.

A name or a label alone proves nothing. Once the state has a number from Google, the number decides. A number is a value
that Google never assigns twice: the numeric ID of a template, an image or an instance, the fingerprint of a key, or the
device name of an attachment together with its disk. The number of a notification is assigned again after its bucket was
deleted and created anew, so the notification's content decides.
"""

from __future__ import annotations

import enum
from collections.abc import Callable


class Owner(enum.Enum):
    """The owner of something."""

    OURS = "this resource"
    OTHER_RESOURCE = "another resource of this stack"
    THEIRS = "somebody else"
    NOBODY = "nobody: it does not exist"
    UNKNOWN = "not known"


def owner(
    shown: str | None, made_by_us: Callable[[], bool | None], *, known: str | None = None, is_in_state: bool = False
) -> Owner:
    """Decide who owns something.

    Args:
        shown: the number that Google shows; None if Google shows nothing.
        made_by_us: returns whether a request of this resource created it, and nobody has deleted that since; None if
            there is no evidence. It is called only if the answer depends on it, because it sends requests.
        known: this resource's number in the state; None if there is none.
        is_in_state: whether the state has it as another resource, or as the one that this one replaces.
    """
    if known is not None and shown is not None:
        return Owner.OURS if shown == known else Owner.THEIRS
    if shown is None:  # the result of our request may not be visible yet
        return Owner.UNKNOWN if known is None and made_by_us() else Owner.NOBODY
    if is_in_state:
        return Owner.OTHER_RESOURCE
    return {True: Owner.OURS, False: Owner.THEIRS, None: Owner.UNKNOWN}[made_by_us()]
