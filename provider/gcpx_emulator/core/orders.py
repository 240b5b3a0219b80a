"""Orders that tests give at `/_emulator`: what each may hold. Anything else is refused, in Google's error shape."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, Final

import attrs

from gcpx_emulator.compute.catalog import ZONES, every_scope, zone_names
from gcpx_emulator.core import failures
from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.store import Json

_REASON: Final = re.compile(r"(?=.{1,63}$)[A-Z][A-Z0-9_]+[A-Z0-9]")
_METADATA_KEY: Final = re.compile(r"(?=.{1,64}$)[a-z][a-zA-Z0-9_-]+")


@attrs.frozen
class _Part:
    """What one key of an order takes.

    Attributes:
        words: what is required.
    """

    words: str
    fits: Callable[[Any], bool]


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _is_switch(value: Any) -> bool:
    return isinstance(value, bool)


def _is_whole(value: Any, low: int = 0) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= low


def _is_duration(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf


def _numbers_of(names: list[str]) -> Callable[[Any], bool]:
    return lambda value: _is_object(value) and set(value) <= set(names) and all(map(_is_whole, value.values()))


def _some_of(names: list[str]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(_is_text(name) and name in names for name in value)


def _is_failure(value: Any) -> bool:
    """Tell whether an operation of Google's could end like this."""
    if not _is_object(value) or set(value) - {"errors", "httpErrorStatusCode", "httpErrorMessage"}:
        return False
    errors = value.get("errors")
    if not _is_whole(value.get("httpErrorStatusCode", 400)) or not _is_text(value.get("httpErrorMessage", "")):
        return False
    return isinstance(errors, list) and bool(errors) and all(map(_is_error, errors))


def _is_error(error: Any) -> bool:
    if not _is_object(error) or not _is_text(error.get("code")) or not _is_text(error.get("message", "")):
        return False
    details = error.get("errorDetails") or []
    return isinstance(details, list) and all(_is_object(detail) and _is_info(detail) for detail in details)


def _is_info(detail: Json) -> bool:
    info = detail.get("errorInfo", {})
    if not _is_object(info) or not _is_object(info.get("metadatas", {})):
        return False
    reason, keys = str(info.get("reason", "REASON")), info.get("metadatas", {})
    return _REASON.fullmatch(reason) is not None and all(map(_METADATA_KEY.fullmatch, keys))


_REGIONS: Final = list(ZONES)
_TEXT: Final = _Part("a string", _is_text)
_SWITCH: Final = _Part("true or false", _is_switch)
_FORMS: Final[dict[str, dict[str, _Part]]] = {
    "faults": {
        "method": _Part("a method's ID, or * for any", lambda value: _is_text(value) and bool(value)),
        "times": _Part("a whole number of at least 1", lambda value: _is_whole(value, 1)),
        "status": _Part("an HTTP status, 200 to 599", lambda value: _is_whole(value, 200) and value <= 599),  # noqa: PLR2004 - statuses
        "reason": _TEXT,
        "message": _TEXT,
        "retry_after": _Part("a whole number of seconds", _is_whole),
        "drop": _Part("before or after", lambda value: value in ("before", "after")),
        "delay": _Part("a number of seconds", _is_duration),
        "body": _TEXT,
        "operation": _Part(
            "an operation's result: errors, each with a code, and optionally httpErrorStatusCode and httpErrorMessage",
            _is_failure,
        ),
    },
    "keys/rotate": {},
    "limits": {
        "instances": _Part(f"whole numbers by region ({', '.join(_REGIONS)})", _numbers_of(_REGIONS)),
        "zones": _Part(f"whole numbers by zone ({', '.join(zone_names())})", _numbers_of(zone_names())),
    },
    "outages": {
        "scopes": _Part(f"a list of scopes ({', '.join(every_scope())})", _some_of(every_scope())),
        "quotas": _Part(f"a list of regions ({', '.join(_REGIONS)})", _some_of(_REGIONS)),
        "requireBasicQuota": _SWITCH,
    },
    "reset": {},
    "tokens": {"email": _TEXT, "audience": _TEXT, "claims": _Part("an object", _is_object), "iap": _SWITCH},
}


def read(name: str, raw: bytes) -> Json:
    """Read an order; an empty body is an empty order."""
    return checked(name, parsed(name, raw))


def read_change(raw: bytes) -> Json:
    """Read a change of a resource, which may hold anything."""
    change = parsed("resources", raw)
    if not isinstance(change, dict):
        raise ApiError(400, f"An order at /_emulator/resources must be a JSON object, not {_kind(change)}.")
    return change


def checked(name: str, order: Any) -> Json:
    """Refuse an order with unknown keys or values of the wrong type."""
    form = _FORMS[name]
    where = f"An order at /_emulator/{name}"
    if not isinstance(order, dict):
        raise ApiError(400, f"{where} must be a JSON object, not {_kind(order)}.")
    unknown = ", ".join(sorted(set(order) - set(form)))
    if unknown:
        known = f"must have no other keys than {', '.join(sorted(form))}" if form else "must be empty"
        raise ApiError(400, f"{where} {known}; {unknown} is unknown.")
    given = {key: value for key, value in order.items() if value is not None}
    for key, value in given.items():
        if not form[key].fits(value):
            raise ApiError(400, f"{where}: '{key}' must be {form[key].words}.")
    return given


def parsed(name: str, raw: bytes) -> Any:
    """Read the JSON of an order."""
    return failures.parsed(raw, f"an order at /_emulator/{name}") if raw else {}


def _kind(value: Any) -> str:
    kinds = {list: "a list", str: "a string", bool: "a boolean", int: "a number", float: "a number"}
    return kinds.get(type(value), "null")
