"""The forms of inputs: a list in place of an object ends a program with a message.

This module is copied into the Python SDK, with `FORMS` filled in. Pulumi's SDK would end the program with a traceback,
and the provider, which could explain the mistake, would not get the value.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pulumi

Form = str | list[Any] | dict[str, Any] | None
"""None for a single value, the name of an object, a list of one form, or a map from an empty text to a form."""
FORMS: dict[str, dict[str, Form]] = {}
"""The inputs of each resource, by its token, and the properties of each object; their names are those in Python."""


def require_forms(token: str, name: str, inputs: Mapping[str, Any]) -> None:
    """Refuse lists in place of objects or maps in the inputs of a resource.

    Raises:
        pulumi.RunError: there is one. It ends the program with its message, and without a traceback.
    """
    for key, form in FORMS[token].items():
        _require(f"{token.rpartition(':')[2]} {name}: {key}", form, inputs.get(key))


def _require(place: str, form: Form, value: Any) -> None:
    if isinstance(value, list | tuple):
        if isinstance(form, list):
            for index, item in enumerate(value):
                _require(f"{place}[{index}]", form[0], item)
        elif form is not None:
            raise pulumi.RunError(f"{place} must be {_shape(form, value)}, not a list")
    elif isinstance(form, str) and not isinstance(value, pulumi.Output):
        given = value if isinstance(value, Mapping) else getattr(value, "__dict__", {})
        for key, inner in FORMS[form].items():
            _require(f"{place}.{key}", inner, given.get(key))
    elif isinstance(form, dict) and isinstance(value, Mapping):
        for key, item in value.items():
            _require(f"{place}[{json.dumps(key)}]", form[""], item)


def _shape(form: Form, value: list[Any] | tuple[Any, ...]) -> str:
    """Show how to write an object or a map; an object with only a list of strings is shown with the given ones."""
    if not isinstance(form, str):
        return 'a dict, such as {"key": "value"}'
    (key, inner), *others = FORMS[form].items()
    if inner != [None] or others:
        return f"a dict with the properties of {form}Args"
    texts = ", ".join(json.dumps(item) if isinstance(item, str) else "..." for item in value)
    return f'written {{"{key}": [{texts}]}}'
