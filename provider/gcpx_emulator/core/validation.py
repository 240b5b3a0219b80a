"""Checks of requests: by the API's description, and by constraints beyond it."""

from __future__ import annotations

import base64
import binascii
import ipaddress
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

import attrs

from gcpx_emulator.core.discovery import MERGE_PATCH, SKIPS_NULLS, Document, Method
from gcpx_emulator.core.errors import ApiError, invalid
from gcpx_emulator.core.json_data import Json

_LONGEST_VALUE: Final = 100
"""The number of characters of a value that an error message repeats."""
Accepts = Callable[[Any], bool]


@attrs.frozen
class Constraint:
    """A condition on the objects of one schema, wherever requests have them.

    Attributes:
        schema: the API's name of the object.
        field: the field that is constrained, which an error names: dotted, with `[]` for each element of a list, `{}`
            for each key of a map and `*` for each value of a map.
        message: the requirement.
        accepts: returns whether the field's value satisfies the constraint. It is not called without a value.
        of_object: `accepts` gets the whole object, for constraints of several fields.
        if_absent: objects without the field are checked too, with `of_object`.
        methods: the methods that it applies to, by beginnings of their IDs; empty for all.
        secret: an error does not repeat the value.
    """

    schema: str
    field: str
    message: str
    accepts: Accepts
    of_object: bool = attrs.field(default=False, kw_only=True)
    if_absent: bool = attrs.field(default=False, kw_only=True)
    methods: tuple[str, ...] = attrs.field(default=(), kw_only=True)
    secret: bool = attrs.field(default=False, kw_only=True)


class ConstraintTable:
    """Constraints, looked up by schema."""

    def __init__(self, constraints: Iterable[Constraint]) -> None:
        self._by_schema: defaultdict[str, list[Constraint]] = defaultdict(list)
        for constraint in constraints:
            self._by_schema[constraint.schema].append(constraint)

    def check(self, method: Method, schema: str, value: Any, where: str) -> None:
        """Check every object in a value of a schema; `where` is the value's path in error messages."""
        for name, path, item in _objects(method.document, {"$ref": schema}, value, where):
            for constraint in self._by_schema[name]:
                if constraint.methods and not method.id.startswith(constraint.methods):
                    continue
                found = list(field_values(item, constraint.field))
                if constraint.if_absent and not found:
                    found = [(constraint.field, "")]
                for field, given in found:
                    if not constraint.accepts(item if constraint.of_object else given):
                        shown = "" if constraint.secret else _shortened(given)
                        raise invalid(f"{path}.{field}", shown, constraint.message)


def _shortened(value: Any) -> str:
    text = "" if isinstance(value, dict | list) else str(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}..."


def field_values(value: Any, field: str) -> Iterator[tuple[str, Any]]:
    """Yield the values of a field in an object, each with its path; null and absent values are left out."""
    head, _, rest = field.partition(".")
    for path, item in _spread(head, value if isinstance(value, dict) else {}):
        if item is None:
            continue
        if not rest:
            yield path, item
        for inner_path, inner in field_values(item, rest) if rest else ():
            yield f"{path}.{inner_path}", inner


def _spread(head: str, value: Json) -> Iterator[tuple[str, Any]]:
    """Yield the values of the first part of a field."""
    name = head.rstrip("[]{}")
    if head == "*":
        yield from value.items()
    elif head.endswith("[]"):
        yield from ((f"{name}[{index}]", item) for index, item in enumerate(value.get(name) or ()))
    elif head.endswith("{}"):
        yield from ((f"{name}.{key}", key) for key in value.get(name) or ())
    else:
        yield name, value.get(name)


def _objects(document: Document, spec: Json, value: Any, where: str) -> Iterator[tuple[str, str, Json]]:
    """Yield every object in a value: the name of its schema, its path, and the object."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _objects(document, spec.get("items", {}), item, f"{where}[{index}]")
    if not isinstance(value, dict):
        return
    if "$ref" in spec:
        yield spec["$ref"], where, value
        spec = document.schemas[spec["$ref"]]
    known, other = spec.get("properties", {}), spec.get("additionalProperties", {})
    for key, item in value.items():
        yield from _objects(document, known.get(key, other), item, f"{where}.{key}")


def is_ip_address(text: str) -> bool:
    """Return whether this is an IPv4 or IPv6 address."""
    try:
        return bool(ipaddress.ip_address(text))
    except ValueError:
        return False


def between(low: int, high: int, step: int = 1) -> Accepts:
    """Accept whole numbers from `low` to `high`, both included, in steps that begin at `low`."""
    return lambda value: low <= int(value) <= high and (int(value) - low) % step == 0


def at_least(low: int) -> Accepts:
    """Accept whole numbers of at least `low`."""
    return lambda value: int(value) >= low


def matches(pattern: str | re.Pattern[str]) -> Accepts:
    """Accept strings that match as a whole."""
    return lambda value: re.fullmatch(pattern, value) is not None


def at_most_one(*names: str) -> Accepts:
    """Accept objects with at most one of these fields."""
    return lambda value: sum(value.get(name) is not None for name in names) <= 1


BodyCheck = Callable[[Method, Json], None]
"""Gets a body without output-only fields, and may refuse it with an ApiError."""
_BODY_CHECKS: Final[dict[str, BodyCheck]] = {}
_WHOLE: Final = re.compile(r"-?[0-9]{1,20}")
_BOOLEANS: Final = {
    **dict.fromkeys(("1", "t", "true", "y", "yes"), True),
    **dict.fromkeys(("0", "f", "false", "n", "no"), False),
}
"""The texts that stand for booleans in a body, in lower case; some clients send them.

Source: `DataPiece::ToBool` of protobuf, which Google's APIs read JSON with.
"""
_INTEGER_BITS: Final = {"int32": 31, "uint32": 32, "int64": 63, "uint64": 64}


def checks_bodies(api: str) -> Callable[[BodyCheck], BodyCheck]:
    """Register a function that checks the bodies of all methods of an API, such as `compute`."""

    def register(check: BodyCheck) -> BodyCheck:
        _BODY_CHECKS[api] = check
        return check

    return register


def clean_query(method: Method, path: Mapping[str, str], query: Mapping[str, str]) -> dict[str, str]:
    """Refuse malformed parameters, and unknown or missing query parameters.

    Return the query, with booleans in lower case.
    """
    for name, value in path.items():
        pattern = method.parameters.get(name, {}).get("pattern")
        if pattern and not re.fullmatch(pattern, value):
            raise invalid(name, value, f"Must be a match of regex '{pattern}'")
    cleaned = dict(query)
    for name, value in query.items():
        spec = method.parameters.get(name, {})
        if spec.get("location") != "query":
            spec = method.document.standard.get(name)
        if spec is None:
            raise _refusal(f'Unknown name "{name}": Cannot bind query parameter.')
        # Google's client for Python sends `True`.
        cleaned[name] = value.lower() if spec["type"] == "boolean" else _named_value(spec, value)
        if name in {"alt", "$alt"}:
            _check_alt(method, name, spec, value)
        else:
            _check_parameter(name, spec, cleaned[name])
    for name, spec in method.parameters.items():
        if spec["location"] == "query" and spec.get("required") and name not in query:
            raise ApiError(400, f"Required parameter: {name}", "required")
    return cleaned


def _check_parameter(name: str, spec: Json, value: str) -> None:
    if spec["type"] == "boolean" and value not in {"true", "false"}:
        raise _refusal(f"Invalid value at '{name}' (TYPE_BOOL), \"{value}\"")
    if spec["type"] == "string" and spec.get("format") in _INTEGER_BITS:
        _clean_integer(spec, value, name)
    if spec["type"] == "integer":
        _check_range(name, spec, value)
    if "enum" in spec and value not in {"", *spec["enum"]}:
        raise _refusal(f"Invalid value at '{name}' (TYPE_ENUM), \"{value}\"")


def _check_alt(method: Method, name: str, spec: Json, value: str) -> None:
    """Refuse an `alt` that the method does not support; it may include the encoding of enums."""
    form = value.partition(";")[0]
    _check_parameter(name, spec, form)
    if form == "proto":
        raise ApiError(501, "responses in the form proto are not emulated")
    if form == "media" and not method.has_media:
        raise ApiError(400, f"Invalid value at '{name}': '{value}'. {method.id} has no media.", "invalidParameter")


def _check_range(name: str, spec: Json, value: str) -> None:
    low, high = spec.get("minimum", "0"), spec.get("maximum", "4294967295")
    if not _WHOLE.fullmatch(value) or not int(low) <= int(value) <= int(high):
        words = f"Values must be within the range: [{low}, {high}]"
        raise invalid(name, value, words)


def clean_body(method: Method, body: Any, ignored: list[str] | None = None) -> Json:
    """Check a body against its schema, and with the API's own check; return it without output-only fields.

    `ignored` gets the paths of unknown names, which the result does not have; without it, they are refused.
    """
    if method.request is None:
        if body and ignored is None:
            raise _refusal("Request body must be empty.")
        if body and ignored is not None:
            ignored.extend(body if isinstance(body, dict) else ["the body"])
        return {}
    if body is None:
        body = {}  # Google treats an omitted body as an empty object
    if not isinstance(body, dict):
        raise _refusal("Root element must be a message.")
    cleaned: Json = _Cleaner(method.document, ignored).value({"$ref": method.request}, body, "", patch=method.is_patch)
    check = _BODY_CHECKS.get(method.api)
    if check is not None:
        check(method, cleaned)
    return cleaned


@attrs.frozen
class _Cleaner:
    """Checks values against schemas; returns them without output-only fields, and without nulls outside of patches."""

    document: Document
    ignored: list[str] | None

    def value(self, spec: Json, value: Any, path: str, *, patch: bool = False) -> Any:
        """Clean a value; `patch` is set within a JSON Merge Patch."""
        if "$ref" in spec:
            spec = self.document.schemas[spec["$ref"]]
        kind = spec.get("type")
        if value is None or kind == "any":
            return value
        if kind == "array":
            return self._list(spec, value, path, patch=patch)
        if kind == "object":
            if not isinstance(value, dict):
                raise _refusal(f"Invalid value at '{path}': an object is expected, not {value!r}")
            clean = self._map if "additionalProperties" in spec else self._object
            return clean(spec, value, path, patch=patch)
        return _clean_scalar(spec, value, path)

    def _list(self, spec: Json, value: Any, path: str, *, patch: bool) -> Any:
        if not isinstance(value, list):
            raise _refusal(f"Invalid value at '{path}': a list is expected, not {value!r}")
        if spec.get(SKIPS_NULLS):  # the list is empty, or one of its items is not null
            value = [item for item in value if item is not None]
        if None in value:
            raise _refusal(f"Invalid value at '{path}[{value.index(None)}]': null is not allowed in a list")
        return [self.value(spec["items"], item, f"{path}[{index}]", patch=patch) for index, item in enumerate(value)]

    def _map(self, spec: Json, value: Json, path: str, *, patch: bool) -> Json:
        inner = spec["additionalProperties"]
        keeps_nulls = patch or inner.get("type") == "any"  # null is a google.protobuf.Value
        return {
            key: self.value(inner, item, f"{path}.{key}", patch=patch)
            for key, item in value.items()
            if item is not None or keeps_nulls
        }

    def _object(self, spec: Json, value: Json, path: str, *, patch: bool) -> Json:
        cleaned: Json = {}
        for key, item in value.items():
            known = spec.get("properties", {}).get(key)
            if known is None:
                self._refuse_or_ignore(key, path)
                continue
            if item is None or (known.get(SKIPS_NULLS) and item and set(map(type, item)) == {type(None)}):
                # A list within a patch replaces the whole list, so its objects are not patches.
                if patch and "[" not in path:
                    cleaned[key] = None
            # Clients send an empty string to leave an enum unset.
            elif not known.get("readOnly") and not ("enum" in known and item == ""):
                inner = patch or known.get(MERGE_PATCH, False)
                cleaned[key] = self.value(known, item, f"{path}.{key}" if path else key, patch=inner)
        return cleaned

    def _refuse_or_ignore(self, key: str, path: str) -> None:
        """Handle an unknown name in the object at a path."""
        if self.ignored is None:
            where = f" at '{path}'" if path else ""
            raise _refusal(f'Unknown name "{key}"{where}: Cannot find field.')
        self.ignored.append(f"{path}.{key}" if path else key)


def _clean_scalar(spec: Json, value: Any, path: str) -> Any:
    kind, form, value = spec.get("type"), spec.get("format", ""), _named_value(spec, value)
    if form in _INTEGER_BITS:
        return _clean_integer(spec, value, path)
    if kind == "boolean":
        return _clean_boolean(value, path)
    if kind in {"number", "integer"} and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise _refusal(f"Invalid value at '{path}' (TYPE_DOUBLE), {value!r}")
    if kind == "string" and not isinstance(value, str):
        raise _refusal(f"Invalid value at '{path}' (TYPE_STRING), {value!r}")
    if "enum" in spec and value not in spec["enum"]:
        raise _refusal(f"Invalid value at '{path}' (TYPE_ENUM), \"{value}\"")
    if form == "byte":
        _check_base64(value, path)
    return value


def _named_value(spec: Json, value: Any) -> Any:
    """Return the name of an enum's value that is given as a number, as Google's clients for REST do, or else the value.

    Only enums that begin with an unspecified value are numbered; the names of others are in no order.
    """
    names = spec.get("enum", [""])
    is_numbered = names[0].endswith("_UNSPECIFIED") and _WHOLE.fullmatch(str(value))
    return names[int(value)] if is_numbered and 0 <= int(value) < len(names) else value


def _clean_boolean(value: Any, path: str) -> bool:
    """Read a boolean, which may be written as a string."""
    found = _BOOLEANS.get(value.lower()) if isinstance(value, str) else value
    if not isinstance(found, bool):
        raise _refusal(f"Invalid value at '{path}' (TYPE_BOOL), {value!r}")
    return found


def _clean_integer(spec: Json, value: Any, path: str) -> Any:
    """Read an integer of the schema's format, which may be written as a string or as a float.

    Return a string if the schema says so.
    """
    form = spec["format"]
    low, high = 0 if form.startswith("u") else -(2 ** _INTEGER_BITS[form]), 2 ** _INTEGER_BITS[form]
    if isinstance(value, str):
        is_whole = _WHOLE.fullmatch(value) is not None
    else:
        is_whole = isinstance(value, int | float) and not isinstance(value, bool) and value % 1 == 0
    if not is_whole or not low <= int(value) < high:
        raise _refusal(f"Invalid value at '{path}' (TYPE_{form.upper()}), {value!r}")
    return str(int(value)) if spec["type"] == "string" else int(value)


def _check_base64(value: str, path: str) -> None:
    alphabet = b"-_" if set(value) & set("-_") else None
    try:
        base64.b64decode(value + "=" * (-len(value) % 4), altchars=alphabet, validate=True)
    except (binascii.Error, ValueError):
        raise _refusal(f"Invalid value at '{path}' (TYPE_BYTES), Base64 decoding failed for \"{value}\"") from None


def _refusal(why: str) -> ApiError:
    return ApiError(400, f"Invalid JSON payload received. {why}", "badRequest")
