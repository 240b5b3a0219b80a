"""Preconditions of calls on objects, such as `ifGenerationMatch`."""

from __future__ import annotations

from typing import Final

from gcpx_emulator.core.call import Call
from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.json_data import Json

_NUMBERS: Final = {"Generation": "generation", "Metageneration": "metageneration"}
"""The numbers that a condition compares: the name in the parameter, and the field of the object."""
_MISSING: Final = "0"
"""The generation that an object has before it exists."""


def check_conditions(call: Call, stored: Json | None, prefix: str = "if") -> None:
    """Refuse a call whose conditions on an object do not hold; a copy's conditions on its source begin `ifSource`.

    Source: https://cloud.google.com/storage/docs/request-preconditions
    """
    for name, field in _NUMBERS.items():
        number = (stored or {}).get(field, _MISSING)
        if call.query.get(f"{prefix}{name}Match", number) != number:
            raise _failed()
        if call.query.get(f"{prefix}{name}NotMatch") == number:
            raise ApiError(304, "Not modified") if call.method.http_method == "GET" else _failed()


def _failed() -> ApiError:
    return ApiError(412, "At least one of the pre-conditions you specified did not hold.", "conditionNotMet")
