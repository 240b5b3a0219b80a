"""Settings and events of the simulated cloud that tests control at `/_emulator/NAME`."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

import attrs

from gcpx_emulator.core.call import Cloud
from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.json_data import Json, parse_json
from gcpx_emulator.core.store import Store

_TYPE_NAMES: Final = {list: "a list", str: "a string", bool: "a boolean", int: "a number", float: "a number"}
_FEW: Final = 12


@attrs.frozen
class Field:
    """The values that one key of a body takes.

    Attributes:
        expected: the form of the value, in words.
        accepts: returns whether a value has that form.
    """

    expected: str
    accepts: Callable[[Any], bool]


@attrs.frozen
class ControlBody:
    """The form of a request's body.

    Attributes:
        name: the path of the request, after `/_emulator/`.
    """

    name: str
    fields: Mapping[str, Field] = attrs.Factory(dict)

    def read(self, raw: bytes) -> Json:
        """Read and check the bytes of a body; an empty body is an empty object."""
        return self.check(read_body(self.name, raw))

    def check(self, body: Any) -> Json:
        """Refuse unknown keys and wrong values; return the body without nulls."""
        given = {key: value for key, value in check_object(self.name, body).items() if value is not None}
        unknown = sorted(set(body) - set(self.fields))
        if unknown:
            allowed = f"It may have {', '.join(sorted(self.fields))}." if self.fields else "It must be empty."
            raise ApiError(400, f"{_where(self.name)} has unknown keys: {', '.join(unknown)}. {allowed}")
        for key, value in given.items():
            if not self.fields[key].accepts(value):
                raise ApiError(400, f"{_where(self.name)}: '{key}' must be {self.fields[key].expected}.")
        return given


def did_you_mean(given: str, names: Collection[str], form: str = "") -> str:
    """End a message about an unknown name with similar names, or else with the allowed ones.

    `form` describes the allowed names; without it, all are listed.
    """
    near = difflib.get_close_matches(given, names, n=3, cutoff=0.5)
    return f"; did you mean {' or '.join(near)}?" if near else f"; {form or ', '.join(sorted(names)) + ' are'}."


def read_body(name: str, raw: bytes) -> Any:
    """Read the JSON of a request at `/_emulator/NAME`; an empty body is an empty object."""
    return parse_json(raw, f"the body of a request to /_emulator/{name}") if raw else {}


def check_object(name: str, body: Any) -> Json:
    """Refuse a body that is not a JSON object."""
    if not isinstance(body, dict):
        raise ApiError(400, f"{_where(name)} must be a JSON object, not {_TYPE_NAMES.get(type(body), 'null')}.")
    return body


def _where(name: str) -> str:
    return f"The body of a request to /_emulator/{name}"


def is_text(value: Any) -> bool:
    """Accept strings."""
    return isinstance(value, str)


def is_object(value: Any) -> bool:
    """Accept JSON objects."""
    return isinstance(value, dict)


def is_whole(value: Any, least: int = 0) -> bool:
    """Accept whole numbers of at least `least`."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def is_duration(value: Any) -> bool:
    """Accept seconds: any number that is finite and not negative."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf


TEXT: Final = Field("a string", is_text)
SWITCH: Final = Field("true or false", lambda value: isinstance(value, bool))


def some(names: Collection[str]) -> str:
    """List names for a message: all if there are few, or else the first two."""
    return ", ".join(names) if len(names) <= _FEW else f"such as {' and '.join([*names][:2])}"


def numbers_by(what: str, names: Collection[str]) -> Field:
    """Accept an object of whole numbers by name; `what` is the kind of names, such as `region`."""
    return Field(
        f"whole numbers by {what} ({some(names)})",
        lambda value: is_object(value) and set(value) <= set(names) and all(map(is_whole, value.values())),
    )


def list_of(what: str, names: Collection[str]) -> Field:
    """Accept a list of names; `what` is their kind, such as `regions`."""
    return Field(
        f"a list of {what} ({some(names)})",
        lambda value: isinstance(value, list) and all(is_text(name) and name in names for name in value),
    )


SETTINGS: Final[list[Setting]] = []
"""Every setting, in the order of registration."""


@attrs.frozen
class Setting:
    """One setting.

    Attributes:
        name: as in its path, `/_emulator/NAME`.
        path: the path of its value in the store.
        check: returns the value to keep; refuses a wrong value with an ApiError.
        default: its value until it is set.
    """

    name: str
    path: str
    check: Callable[[Any], Json]
    default: Json = attrs.Factory(dict)

    def read(self, store: Store) -> Json:
        """Return the current value."""
        return store.get(self.path) or self.default

    def write(self, store: Store, value: Any) -> Json:
        """Check and store a value; return the stored value."""
        kept = self.check(value)
        store.put(self.path, kept)
        return kept


def setting(name: str, check: Callable[[Any], Json], default: Json | None = None) -> Setting:
    """Register a setting."""
    registered = Setting(name, f"{name}/all", check, default or {})
    SETTINGS.append(registered)
    return registered


Run = Callable[[Cloud, Json], Json]
"""Triggers the event; gets the checked body of the request, and returns the response."""
ACTIONS: Final[list[Action]] = []
"""Every action, in the order of registration."""


@attrs.frozen
class Action:
    """The action of a POST to `/_emulator/NAME`; NAME is the body's name."""

    body: ControlBody
    run: Run


def acts(body: ControlBody) -> Callable[[Run], Run]:
    """Register a function that triggers an event."""

    def register(run: Run) -> Run:
        ACTIONS.append(Action(body, run))
        return run

    return register
