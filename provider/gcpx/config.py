"""Turns the engine's configuration and the environment into `Settings`.

`gcpx.gcp.settings` declares the settings.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Any

from gcpx.errors import UserError
from gcpx.gcp.settings import Settings
from gcpx.model import codec
from gcpx.model.check import CheckResult, check
from gcpx.model.diff import Change, diff
from gcpx.model.fields import Failure, Scalar, object_type
from gcpx.model.secrecy import secret_texts
from gcpx.model.values import Secret, format_path, reveal

_ENGINE_KEYS = ("version", "pluginDownloadURL")
_BOOLEANS = dict.fromkeys(("1", "true", "t", "yes", "y", "on"), True) | dict.fromkeys(
    ("0", "false", "f", "no", "n", "off"), False
)
"""The spellings of a boolean that is given as a string, in lower case."""
_ALTERNATIVES = {"credentials": "accessToken", "accessToken": "credentials"}
"""Settings that identify the caller: if one is configured, the environment does not add the other."""
_URL = re.compile("https?://")
_SHORTEST_PART = 8
"""A shorter part of a URL, such as `compute`, is a word of many messages."""

KIND = object_type(Settings)


def check_config(inputs: dict[str, Any], environment: Mapping[str, str] = os.environ) -> CheckResult:
    """Check a configuration with the additions of the environment.

    `inputs` are engine values as in CheckConfig: they may be secret or unknown, and values other than strings may be
    JSON in strings.
    """
    values = _decoded(inputs)
    result = check(KIND, values)
    for name, variable in _variables(values, environment).items():
        for failure in check(KIND, {name: _parsed(name, environment[variable])}).failures:
            words = f"the environment variable {variable} {failure.with_value or failure.reason}"
            result.failures.append(Failure((), words))
    return result


def diff_config(old: dict[str, Any], new: dict[str, Any]) -> list[Change]:
    """Compare two configurations; no change replaces a resource, because every ID contains its project."""
    return diff(KIND, _decoded(old), _decoded(new), {})


def settings(inputs: Mapping[str, Any], environment: Mapping[str, str] = os.environ) -> Settings:
    """Resolve a configuration: each setting comes from the inputs, or else from its first variable that is set.

    Raises UserError with every failure if a value is not valid, because the engine need not have called CheckConfig.
    """
    known = {name: value for name, value in inputs.items() if name in KIND.properties}
    failures = check_config(known, environment).failures
    if failures:
        reasons = (f"{format_path(item.path)}: {item.reason}" if item.path else item.reason for item in failures)
        raise UserError(f"the provider configuration is not valid; correct it: {'; '.join(reasons)}")
    values = _decoded(reveal(known))
    added = _variables(values, environment)
    return Settings.of(values | {name: _parsed(name, environment[variable]) for name, variable in added.items()})


def marked_secrets(inputs: Mapping[str, Any]) -> frozenset[str]:
    """Return the texts that a configuration marks as secret, and the parts of URLs among them: messages name a part."""
    texts = secret_texts(KIND, inputs)
    parts = (part for text in texts if _URL.match(text) for part in re.split("[/:?]", text))
    return texts | {part for part in parts if len(part) >= _SHORTEST_PART}


def _decoded(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out the engine's own keys and empty values, and parse strings that stand for values of other types."""
    own = {key: value for key, value in inputs.items() if key not in _ENGINE_KEYS and not key.startswith("__")}
    parsed = {key: _parsed(key, value) for key, value in own.items()}
    # An empty string stands for no value of any type.
    return codec.without_empty(KIND, {key: value for key, value in parsed.items() if reveal(value) != ""})


def _parsed(key: str, value: Any) -> Any:
    """Read the value of a setting; return a malformed string unchanged, for the check to report."""
    prop = KIND.properties.get(key)
    if isinstance(value, Secret):
        return Secret(_parsed(key, value.value))
    if prop is None or not isinstance(value, str):
        return value
    text = value.strip()
    if not text or prop.type == Scalar("string"):
        return text
    if prop.type == Scalar("boolean"):
        return _BOOLEANS.get(text.lower(), value)
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return value


def _variables(values: Mapping[str, Any], environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables of settings that are not configured, by setting."""
    found = {}
    for name, prop in KIND.properties.items():
        variable = next((key for key in prop.traits.environment if environment.get(key, "").strip()), None)
        configured = any(values.get(key) is not None for key in (name, _ALTERNATIVES.get(name, name)))
        if variable is not None and not configured:
            found[name] = variable
    return found
