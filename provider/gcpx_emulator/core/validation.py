"""Requests against the API's description: what Google would refuse is refused."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any

from gcpx_emulator.compute.constraints.checks import check_body
from gcpx_emulator.core.discovery import Document, Json, Method
from gcpx_emulator.core.errors import ApiError

_MAXIMA = {("compute", "maxResults"): "500"}
"""Bounds of parameters that an API's documentation names and its description leaves out."""
_PATCH = "instanceProperties"
"""The properties that bulk creation merges over a template by JSON Merge Patch: a null removes a value."""
_WHOLE = re.compile(r"-?[0-9]{1,20}")
_INTEGERS = {"int32": 31, "uint32": 32, "int64": 63, "uint64": 64}


def check_query(method: Method, query: Mapping[str, str]) -> None:
    """Refuse unknown, missing and malformed query parameters."""
    for name, value in query.items():
        spec = method.parameters.get(name)
        if spec is None or spec["location"] != "query":
            if name in method.document.standard:
                continue
            raise _refused(f'Unknown name "{name}": Cannot bind query parameter.')
        most = _MAXIMA.get((method.id.partition(".")[0], name))
        _check_text(name, {"maximum": most, **spec} if most else spec, value)
    for name, spec in method.parameters.items():
        if spec["location"] == "query" and spec.get("required") and name not in query:
            raise ApiError(400, f"Required parameter: {name}", "required")


def _check_text(name: str, spec: Json, value: str) -> None:
    if spec["type"] == "boolean" and value not in {"true", "false"}:
        raise _refused(f"Invalid value at '{name}' (TYPE_BOOL), \"{value}\"")
    if spec["type"] == "string" and spec.get("format") in _INTEGERS:
        _clean_integer("string", spec["format"], value, name)
    if spec["type"] == "integer" and not _in_bounds(value, spec):
        raise ApiError(
            400,
            f"Invalid value for field '{name}': '{value}'. Values must be within the range: "
            f"[{spec.get('minimum', '0')}, {spec.get('maximum', '4294967295')}]",
        )
    if "enum" in spec and value not in {"", *spec["enum"]}:
        raise _refused(f"Invalid value at '{name}' (TYPE_ENUM), \"{value}\"")


def _in_bounds(value: str, spec: Json) -> bool:
    low, high = int(spec.get("minimum", 0)), int(spec.get("maximum", 2**32 - 1))
    return _WHOLE.fullmatch(value) is not None and low <= int(value) <= high


def check_path(method: Method, path: Mapping[str, str]) -> None:
    """Refuse what is malformed in the path, such as a project with blanks."""
    for name, value in path.items():
        pattern = method.parameters.get(name, {}).get("pattern")
        if pattern and not re.fullmatch(pattern, value):
            raise ApiError(400, f"Invalid value for field '{name}': '{value}'. Must be a match of regex '{pattern}'")


def clean_body(method: Method, body: Any) -> Json:
    """Check a body against its schema; returns it without what only the server sets."""
    if method.request is None:
        if body:
            raise _refused("Request body must be empty.")
        return {}
    if not isinstance(body, dict):
        raise _refused("Root element must be a message.")
    cleaned: Json = _clean(method.document, {"$ref": method.request}, body, "")
    check_body(method, cleaned)
    return cleaned


def _clean(document: Document, spec: Json, value: Any, path: str) -> Any:
    if "$ref" in spec:
        spec = document.schemas[spec["$ref"]]
    kind = spec.get("type")
    if value is None or kind == "any":
        return value
    if kind == "object":
        return _clean_object(document, spec, value, path)
    if kind == "array":
        if not isinstance(value, list):
            raise _refused(f"Invalid value at '{path}': a list is expected, not {value!r}")
        if None in value:
            raise _refused(f"Invalid value at '{path}[{value.index(None)}]': a list holds no null")
        return [_clean(document, spec["items"], item, f"{path}[{index}]") for index, item in enumerate(value)]
    return _clean_scalar(spec, value, path)


def _clean_object(document: Document, spec: Json, value: Any, path: str) -> Any:
    if not isinstance(value, dict):
        raise _refused(f"Invalid value at '{path}': an object is expected, not {value!r}")
    if "additionalProperties" in spec:
        return {
            key: _clean(document, spec["additionalProperties"], item, f"{path}.{key}")
            for key, item in value.items()
            if item is not None or path.startswith(_PATCH)
        }
    cleaned: Json = {}
    for key, item in value.items():
        known = spec.get("properties", {}).get(key)
        if known is None:
            where = f" at '{path}'" if path else ""
            raise _refused(f'Unknown name "{key}"{where}: Cannot find field.')
        # Clients that know no absence send an empty text for an enum that is not set.
        empty = "enum" in known and item == ""
        if item is None and path.startswith(_PATCH) and "[" not in path:
            cleaned[key] = None
        elif item is not None and not known.get("readOnly") and not empty:
            cleaned[key] = _clean(document, known, item, f"{path}.{key}" if path else key)
    return cleaned


def _clean_scalar(spec: Json, value: Any, path: str) -> Any:
    kind, form = spec.get("type"), spec.get("format", "")
    if kind == "boolean" and not isinstance(value, bool):
        raise _refused(f"Invalid value at '{path}' (TYPE_BOOL), {value!r}")
    if form in _INTEGERS:
        return _clean_integer(kind, form, value, path)
    if kind in {"number", "integer"} and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise _refused(f"Invalid value at '{path}' (TYPE_DOUBLE), {value!r}")
    if kind == "string" and not isinstance(value, str):
        raise _refused(f"Invalid value at '{path}' (TYPE_STRING), {value!r}")
    if "enum" in spec and value not in spec["enum"]:
        raise _refused(f"Invalid value at '{path}' (TYPE_ENUM), \"{value}\"")
    if form == "byte":
        _check_base64(value, path)
    return value


def _clean_integer(kind: str | None, form: str, value: Any, path: str) -> Any:
    low = 0 if form.startswith("u") else -(2 ** _INTEGERS[form])
    if isinstance(value, str) and not _WHOLE.fullmatch(value):
        raise _refused(f"Invalid value at '{path}' (TYPE_{form.upper()}), {value!r}")
    try:
        number = int(value) if not isinstance(value, bool | float) or float(value).is_integer() else None
    except (TypeError, ValueError):
        number = None
    if number is None or isinstance(value, bool) or not low <= number < 2 ** _INTEGERS[form]:
        raise _refused(f"Invalid value at '{path}' (TYPE_{form.upper()}), {value!r}")
    return str(number) if kind == "string" else number


def _check_base64(value: str, path: str) -> None:
    try:
        base64.b64decode(
            value + "=" * (-len(value) % 4), altchars=b"-_" if set(value) & set("-_") else None, validate=True
        )
    except (binascii.Error, ValueError):
        raise _refused(f"Invalid value at '{path}' (TYPE_BYTES), Base64 decoding failed for \"{value}\"") from None


def _refused(why: str) -> ApiError:
    return ApiError(400, f"Invalid JSON payload received. {why}", "badRequest")
