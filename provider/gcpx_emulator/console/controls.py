"""The forms that set the clock, faults and settings; a script sends them as JSON to `/_emulator`."""

from __future__ import annotations

import json
from typing import Final

from gcpx_emulator.compute.locations import ZONES
from gcpx_emulator.console.markup import Html, joined, tag, void
from gcpx_emulator.core.call import HANDLERS
from gcpx_emulator.core.controls import SETTINGS
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.emulator import Emulator

_STEPS: Final = {"+ 1 minute": 60, "+ 1 hour": 3600, "+ 1 day": 86400}
_NEEDS_SCRIPT: Final = tag("noscript", tag("p", "The buttons need JavaScript; requests to /_emulator do the same."))


def clock() -> Html:
    """Write buttons that advance the clock."""
    steps = (
        tag("button", words, type="button", data_post="/_emulator/clock", data_body=json.dumps({"advance": seconds}))
        for words, seconds in _STEPS.items()
    )
    field = tag("label", "Seconds", void("input", name="advance", type="number", min=0, required=True))
    return joined(_NEEDS_SCRIPT, tag("p", *steps, _answer(), class_="actions"), _form("clock", "Advance", field))


def fault() -> Html:
    """Write the form of a fault."""
    methods = tag("datalist", *(void("option", value=name) for name in sorted(HANDLERS)), id="methods")
    drops = (tag("option", words, value=value) for value, words in _DROPS.items())
    fields = joined(
        tag("label", "Method", void("input", name="method", list="methods", required=True, placeholder="* for any")),
        tag("label", "Status", void("input", name="status", type="number", min=200, max=599)),
        tag("label", "Reason", void("input", name="reason", placeholder="quotaExceeded")),
        tag("label", "Operation's error", void("input", name="operation", placeholder="QUOTA_EXCEEDED")),
        tag("label", "Message", void("input", name="message")),
        tag("label", "Calls", void("input", name="times", type="number", min=1, value=1)),
        tag("label", "Delay in seconds", void("input", name="delay", type="number", min=0, step="any")),
        tag("label", "Connection", tag("select", *drops, name="drop")),
        tag("label", "Name", void("input", name="name", placeholder="to remove it by")),
    )
    remove = tag("button", "Remove all faults", type="button", data_delete="/_emulator/faults")
    return joined(methods, _form("faults", "Inject", fields), tag("p", remove, _answer(), class_="actions"))


_DROPS: Final = {"": "kept", "before": "cut before the work", "after": "cut after the work"}


def capacity() -> Html:
    """Write the form of the capacity of a zone, which leaves all other limits as they are."""
    zones = (tag("option", zone) for zone in sorted(ZONES))
    fields = joined(
        tag("label", "Zone", tag("select", *zones, name="key")),
        tag("label", "Running instances", void("input", name="value", type="number", min=0, required=True)),
    )
    form = _form("limits", "Limit", fields, into="zones")
    return tag("section", tag("h2", "Capacity of a zone"), form, class_="panel", aria_label="Capacity of a zone")


def settings(emulator: Emulator) -> Html:
    """Write a form for each setting, with its value as JSON."""
    values = {setting.name: setting.read(emulator.store) for setting in SETTINGS} | {"rates": emulator.rates.limits}
    forms = tag("div", *(_setting(name, value) for name, value in values.items()), class_="settings")
    reset = tag(
        *("button", "Reset the emulator"),
        type="button",
        data_post="/_emulator/reset",
        data_body="{}",
        class_="danger",
        data_confirm="Delete all resources, faults and settings?",
    )
    return joined(capacity(), forms, tag("p", reset, _answer(), class_="actions"))


def _setting(name: str, set_: Json) -> Html:
    title = name.replace("-", " ").capitalize()
    value = json.dumps(set_, indent=2)
    rows = min(12, value.count("\n") + 2)
    area = tag("textarea", value, name="json", rows=rows, spellcheck="false", autocomplete="off")
    form = _form(name, "Set", tag("label", "JSON", area, class_="wide"))
    return tag("section", tag("h2", title), form, class_="panel", aria_label=title)


def _form(name: str, words: str, fields: Html, into: str | None = None) -> Html:
    """Write a form for `/_emulator/NAME`; `into` is the key of the object to which its key and value are added."""
    marks = {"data-post": f"/_emulator/{name}", "data-into": into}
    return tag("form", fields, tag("button", words), _answer(), class_="fields", **marks)


def _answer() -> Html:
    """Write the place where the emulator's answer appears."""
    return tag("output", class_="answer", role="status")
