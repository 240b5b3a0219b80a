"""Times in inputs and in responses, in RFC 3339 format."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any


def moment(text: Any) -> datetime | None:
    """Read a time, which is in UTC if it has no offset; None for anything else.

    >>> moment("2027-01-31T01:00:00+01:00") == moment("2027-01-31T00:00:00Z"), moment("soon"), moment(None)
    (True, None, None)
    """
    try:
        found = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
