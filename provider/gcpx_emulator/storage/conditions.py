"""Preconditions of requests: the generation and the metageneration that an object or a bucket must have."""

from __future__ import annotations

import base64
import re
from typing import Final

import attrs

from gcpx_emulator.core.call import Call
from gcpx_emulator.core.errors import ApiError, invalid
from gcpx_emulator.core.json_data import Json

_NUMBERS: Final = {"Generation": "generation", "Metageneration": "metageneration"}
"""The numbers that a condition compares: the name in the parameter, and the object's field."""
_HEADERS: Final = {
    f"x-goog-if-{field}-{words}": f"if{name}{condition}"
    for name, field in _NUMBERS.items()
    for condition, words in (("Match", "match"), ("NotMatch", "not-match"))
}
"""The JSON API's parameters by the corresponding headers of the XML API."""
_NUMBER: Final = re.compile(r"\d{1,19}", re.ASCII)
_MISSING: Final = "0"
"""The generation of an object that does not exist."""


def check_conditions(call: Call, stored: Json | None, prefix: str = "if") -> None:
    """Refuse a call whose conditions do not hold; a copy's conditions on its source begin `ifSource`.

    Source: https://cloud.google.com/storage/docs/request-preconditions
    """
    for name, field in _NUMBERS.items():
        number = int((stored or {}).get(field, _MISSING))
        wanted, unwanted = (call.query.get(f"{prefix}{name}{words}") for words in ("Match", "NotMatch"))
        if wanted is not None and int(wanted) != number:
            raise failed_condition()
        if unwanted is not None and int(unwanted) == number:
            raise ApiError(304, "Not modified") if call.method.http_method == "GET" else failed_condition()


def with_header_conditions(call: Call) -> Call:
    """Return a call of the XML API with its headers' conditions as parameters of the JSON API."""
    given = {name: call.headers[header] for header, name in _HEADERS.items() if header in call.headers}
    for name, value in given.items():
        if not _NUMBER.fullmatch(value):
            raise invalid(name, value, "Must be a number.")
    return attrs.evolve(call, query={**call.query, **given})


def failed_condition() -> ApiError:
    """Say that a condition of a request does not hold."""
    return ApiError(412, "At least one of the pre-conditions you specified did not hold.", "conditionNotMet")


def etag(*numbers: str) -> str:
    """Return the etag with the numbers of a version, as a protocol buffer in base64.

    Google's etag of a bucket has its metageneration: `CAE=` is that of 1, and `CAM=` that of 3, as recorded. Its etag
    of an object has the generation, and then the metageneration.
    """
    fields = (bytes([8 * field]) + _varint(int(number)) for field, number in enumerate(numbers, 1))
    return base64.b64encode(b"".join(fields)).decode()


def _varint(number: int) -> bytes:
    low, rest = number & 0x7F, number >> 7
    return bytes([low | 0x80]) + _varint(rest) if rest else bytes([low])
