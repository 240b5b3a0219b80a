"""Credentials as JSON: what each type must hold, which can be checked without calling anyone."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from gcpx.errors import UserError
from gcpx.gcp.hosts import is_nearby

_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "authorized_user": ("client_id", "client_secret", "refresh_token"),
    "external_account": ("audience", "subject_token_type", "token_url", "credential_source"),
    "external_account_authorized_user": ("client_id", "client_secret", "refresh_token", "token_url"),
    "impersonated_service_account": ("service_account_impersonation_url", "source_credentials"),
    "service_account": ("client_email", "private_key", "token_uri"),
}
"""The types of credentials, with the members that each must have."""
_TYPES: Final = ", ".join(_FIELDS)
_EXECUTABLES: Final = "GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES"
_URL_ENDINGS: Final = ("url", "uri")

NOT_READABLE: Final = "must be the path of a readable file, or valid JSON: an object"
UNKNOWN_TYPE: Final = f"must have one of the types {_TYPES}"
INCOMPLETE: Final = "must have every field of their type, as in the file that Google creates"
NOT_ENCRYPTED: Final = "must contain only URLs that begin with https://, or that lead to this machine"
EXECUTABLE: Final = f"must not run a program unless the environment variable {_EXECUTABLES} is 1"
PROBLEMS: Final = (NOT_READABLE, UNKNOWN_TYPE, INCOMPLETE, NOT_ENCRYPTED, EXECUTABLE)
"""Everything that may be wrong, as what credentials must be, must have or must do."""


def parsed(text: str) -> dict[str, Any]:
    """Read credentials that are JSON, or the path of a file with JSON; raises UserError without quoting them."""
    try:
        content = text if text.lstrip().startswith("{") else Path(text).expanduser().read_text()
        found: Any = json.loads(content)
    except (OSError, ValueError, RuntimeError, RecursionError):
        raise UserError(f"gcpx:credentials {NOT_READABLE}") from None
    if not isinstance(found, dict):
        raise UserError(f"gcpx:credentials {NOT_READABLE}")
    return found


def problem(text: str) -> str:
    """Say what is wrong with credentials, in one of the phrases of this module; empty if they may be valid."""
    try:
        found = parsed(text)
    except UserError:
        return NOT_READABLE
    return _problem(found)


def _problem(found: Mapping[str, Any]) -> str:
    checks: tuple[tuple[Callable[[Mapping[str, Any]], bool], str], ...] = (
        (_has_known_type, UNKNOWN_TYPE),
        (_has_all_fields, INCOMPLETE),
        (_is_encrypted, NOT_ENCRYPTED),
        (_may_run, EXECUTABLE),
    )
    return next((words for is_met, words in checks if not is_met(found)), "")


def _has_known_type(found: Mapping[str, Any]) -> bool:
    return isinstance(found.get("type"), str) and found["type"] in _FIELDS


def _has_all_fields(found: Mapping[str, Any]) -> bool:
    if not all(found.get(name) for name in _FIELDS[found["type"]]):
        return False
    key = found.get("private_key", "")
    if found["type"] == "service_account" and not (isinstance(key, str) and "PRIVATE KEY-----" in key):
        return False
    source = found.get("source_credentials")
    return source is None or (isinstance(source, dict) and _problem(source) in {"", NOT_ENCRYPTED, EXECUTABLE})


def _is_encrypted(found: Mapping[str, Any]) -> bool:
    return all(is_protected(url) for url in _urls(found))


def is_protected(url: str) -> bool:
    """Return whether a secret may be sent to a URL: encrypted, or to this machine or its metadata server."""
    try:
        parts = urlsplit(url)
        return bool(parts.hostname) and (parts.scheme == "https" or is_nearby(parts.hostname))
    except ValueError:
        return False


def _urls(value: Any) -> Iterator[str]:
    """Yield every address that google-auth may call."""
    for name, item in value.items() if isinstance(value, dict) else ():
        if isinstance(item, str) and name.endswith(_URL_ENDINGS):
            yield item
        yield from _urls(item)


def _may_run(found: Mapping[str, Any]) -> bool:
    source = found.get("credential_source")
    runs = isinstance(source, dict) and "executable" in source
    return not runs or os.environ.get(_EXECUTABLES) == "1"
