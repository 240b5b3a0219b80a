"""Times in inputs and in responses, in RFC 3339 format."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any, Final

RFC_3339: Final = r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)"
"""The regular expression of a time."""
_FRACTION: Final = re.compile(r"\.(\d+)")


def exact_moment(text: Any) -> Any:
    """Read a time with all digits of its fraction (a datetime has six); return anything else unchanged.

    >>> exact_moment("2027-01-31T00:00:00.50Z") == exact_moment("2027-01-31t01:00:00.5+01:00")
    True
    """
    fraction = _FRACTION.search(str(text))
    whole = moment(_FRACTION.sub("", str(text), count=1).upper())
    return text if whole is None else (whole, fraction[1].rstrip("0") if fraction else "")


def moment(text: Any) -> datetime | None:
    """Read a time, in UTC if it has no offset; None for anything else.

    >>> moment("2027-01-31T01:00:00+01:00") == moment("2027-01-31T00:00:00Z"), moment("soon"), moment(None)
    (True, None, None)
    """
    try:
        found = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def in_microseconds(text: Any) -> Any:
    """Convert a time to microseconds since 1970, as digits; return anything else unchanged.

    >>> in_microseconds("1970-01-01T00:00:01Z"), in_microseconds("1000000")
    ('1000000', '1000000')
    """
    found = moment(text.upper()) if isinstance(text, str) and re.fullmatch(RFC_3339, text) else None
    return text if found is None else str((found - datetime.fromtimestamp(0, UTC)) // timedelta(microseconds=1))
