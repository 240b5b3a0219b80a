"""The number in the ID of a configuration whose creation has lost its response, so that Google's own is not known yet.

It names the equal configurations that existed before, so that a later run finds the new one by its content. A refresh
replaces it by Google's number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import quote, unquote

_FORM: Final = re.compile(r"new(?:-besides-(?P<known>[^/]+))?")


def provisional_number(known: Iterable[str]) -> str:
    """Return the number; `known` are Google's numbers of the equal configurations that existed before."""
    numbers = ",".join(quote(number, safe="") for number in sorted(known))
    return f"new-besides-{numbers}" if numbers else "new"


def known_before(number: str) -> frozenset[str] | None:
    """Return the numbers that a provisional one names; None for one of Google's numbers."""
    found = _FORM.fullmatch(number)
    return None if found is None else frozenset(map(unquote, (found["known"] or "").split(",")))
