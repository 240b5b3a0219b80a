"""Preconditions of calls on objects, such as `ifGenerationMatch`."""

from __future__ import annotations

import re
from typing import Final

import attrs

from gcpx_emulator.core.call import Call
from gcpx_emulator.core.errors import ApiError, invalid
from gcpx_emulator.core.json_data import Json

_NUMBERS: Final = {"Generation": "generation", "Metageneration": "metageneration"}
"""The numbers that a condition compares: the name in the parameter, and the field of the object."""
_HEADERS: Final = {
    f"x-goog-if-{field}-{words}": f"if{name}{condition}"
    for name, field in _NUMBERS.items()
    for condition, words in (("Match", "match"), ("NotMatch", "not-match"))
}
"""The parameters of the JSON API by the headers that the XML API has instead."""
_NUMBER: Final = re.compile(r"\d{1,19}", re.ASCII)
_MISSING: Final = "0"
"""The generation that an object has before it exists."""


def check_conditions(call: Call, stored: Json | None, prefix: str = "if") -> None:
    """Refuse a call whose conditions on an object do not hold; a copy's conditions on its source begin `ifSource`.

    Source: https://cloud.google.com/storage/docs/request-preconditions
    """
    for name, field in _NUMBERS.items():
        number = int((stored or {}).get(field, _MISSING))
        wanted, unwanted = (call.query.get(f"{prefix}{name}{words}") for words in ("Match", "NotMatch"))
        if wanted is not None and int(wanted) != number:
            raise _failed()
        if unwanted is not None and int(unwanted) == number:
            raise ApiError(304, "Not modified") if call.method.http_method == "GET" else _failed()


def with_header_conditions(call: Call) -> Call:
    """Return a call of the XML API with the conditions of its headers as those of the JSON API."""
    given = {name: call.headers[header] for header, name in _HEADERS.items() if header in call.headers}
    for name, value in given.items():
        if not _NUMBER.fullmatch(value):
            raise invalid(name, value, "Must be a number.")
    return attrs.evolve(call, query={**call.query, **given})


def _failed() -> ApiError:
    return ApiError(412, "At least one of the pre-conditions you specified did not hold.", "conditionNotMet")
