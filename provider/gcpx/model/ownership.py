"""Whose is what Google shows under a name: one table, which decides it for all resources.

Three facts lead to the answer: what the state knows, what Google shows, and which request created that. A name or a
label alone proves nothing. Once the state has the number that Google gave, the number decides.

A number is what Google never gives twice: the numeric ID of a template, an image or an instance, the fingerprint of a
key, the ID of a notification together with its content, the device name of an attachment together with its disk.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from typing import Any, Final

from gcpx.model.naming import UNREAD


class Known(enum.Enum):
    """What the state of the stack knows."""

    NOTHING = "nothing"
    ID = "an ID, because the engine has shown that there is an entry, but not its number"
    NUMBER = "an ID and its number"
    UNFINISHED = "a creation whose result was not read"
    SHARED = "another entry with the same ID"

    @classmethod
    def of(cls, outputs: Mapping[str, Any]) -> Known:
        """Tell what the outputs of an entry of the state know."""
        if not outputs:
            return cls.NOTHING
        return cls.UNFINISHED if outputs.get(UNREAD) and not outputs.get("numericId") else cls.NUMBER


class Shown(enum.Enum):
    """What Google shows under the name."""

    NOTHING = "nothing"
    SAME = "the same number or, if no number is known, anything"
    OTHER = "another number"
    UNREADABLE = "it cannot be read"


class Maker(enum.Enum):
    """Which request created what Google shows."""

    OURS = "a request of this resource of this stack"
    OTHERS = "another request"
    UNTOLD = "not to be told"


class Owner(enum.Enum):
    """Whose something is."""

    NOBODY = "nobody's: there is nothing"
    OURS = "ours"
    ENTRY = "another entry's of this stack"
    THEIRS = "somebody else's"
    UNKNOWN = "not known"


_Row = tuple[Owner, Owner, Owner]
"""The owners by maker: ours, another request, not to be told."""


def _always(owner: Owner) -> _Row:
    return (owner, owner, owner)


TABLE: Final[Mapping[tuple[Known, Shown], _Row]] = {
    (Known.NOTHING, Shown.NOTHING): (Owner.UNKNOWN, Owner.NOBODY, Owner.NOBODY),
    (Known.NOTHING, Shown.SAME): (Owner.OURS, Owner.THEIRS, Owner.UNKNOWN),
    (Known.NOTHING, Shown.OTHER): _always(Owner.THEIRS),
    (Known.ID, Shown.NOTHING): _always(Owner.NOBODY),
    (Known.ID, Shown.SAME): (Owner.ENTRY, Owner.THEIRS, Owner.UNKNOWN),
    (Known.ID, Shown.OTHER): _always(Owner.THEIRS),
    (Known.NUMBER, Shown.NOTHING): _always(Owner.NOBODY),
    (Known.NUMBER, Shown.SAME): _always(Owner.OURS),
    (Known.NUMBER, Shown.OTHER): _always(Owner.THEIRS),
    (Known.UNFINISHED, Shown.NOTHING): (Owner.UNKNOWN, Owner.NOBODY, Owner.NOBODY),
    (Known.UNFINISHED, Shown.SAME): (Owner.OURS, Owner.THEIRS, Owner.UNKNOWN),
    (Known.UNFINISHED, Shown.OTHER): _always(Owner.THEIRS),
    (Known.SHARED, Shown.NOTHING): _always(Owner.NOBODY),
    (Known.SHARED, Shown.SAME): _always(Owner.ENTRY),
    (Known.SHARED, Shown.OTHER): _always(Owner.THEIRS),
    **{(known, Shown.UNREADABLE): _always(Owner.UNKNOWN) for known in Known},
}
"""By what is known and shown, the owner by maker."""


def owner(known: Known, shown: Shown, maker: Callable[[], Maker]) -> Owner:
    """Decide whose something is; `maker` is asked only if the answer depends on it, because that takes requests."""
    row = TABLE[known, shown]
    return row[0] if row[0] is row[1] is row[2] else row[list(Maker).index(maker())]
