"""Decides who owns what Google shows, from three facts: what the state knows, what Google shows, and who created that.

A name or a label alone proves nothing. Once the state has the number that Google gave, the number decides. A number is
what Google never gives twice: the numeric ID of a template, an image or an instance, the fingerprint of a key, the
device name of an attachment together with its disk. The number of a notification is given again after its bucket was
deleted and created anew, so its content decides.
"""

from __future__ import annotations

import enum
from collections.abc import Callable


class Owner(enum.Enum):
    """Who owns something."""

    OURS = "this resource"
    ENTRY = "another resource of this stack"
    THEIRS = "somebody else"
    NOBODY = "nobody: it does not exist"
    UNKNOWN = "not known"


def owner(
    shown: str | None, made_by_us: Callable[[], bool | None], *, known: str | None = None, is_in_state: bool = False
) -> Owner:
    """Decide who owns something.

    Args:
        shown: its number, as Google shows it; None if Google shows nothing.
        made_by_us: asks whether a request of this resource created it, and nobody has deleted that since; returns None
            if nothing tells. It is called only if the answer depends on it, because it takes requests.
        known: the number that the state has of this resource; None if it has none.
        is_in_state: whether the state has it as another resource, or as what this one replaces.
    """
    if known is not None and shown is not None:
        return Owner.OURS if shown == known else Owner.THEIRS
    if shown is None:  # what our request created may not be visible yet
        return Owner.UNKNOWN if known is None and made_by_us() else Owner.NOBODY
    if is_in_state:
        return Owner.ENTRY
    return {True: Owner.OURS, False: Owner.THEIRS, None: Owner.UNKNOWN}[made_by_us()]
