"""Guest attributes: set at `/_emulator/guest-attributes` or by the scripts in an instance's metadata, and read.

The emulator runs no scripts. Of the commands in `startup-script` and `shutdown-script`, it carries out those that write
or delete a guest attribute in the form of Google's guide: `curl -X PUT --data VALUE -H "Metadata-Flavor: Google" URL`.

Source: Compute Engine guide, "Set and query guest attributes".
"""

from __future__ import annotations

import fnmatch
import itertools
import re
import shlex
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Final

from gcpx_emulator.compute.call import Call, handles, path_of
from gcpx_emulator.compute.instance_view import is_on
from gcpx_emulator.core.call import Cloud
from gcpx_emulator.core.controls import TEXT, ControlBody, Field, acts, is_object, is_text, setting
from gcpx_emulator.core.errors import ApiError, not_found
from gcpx_emulator.core.json_data import Json, merge
from gcpx_emulator.core.store import Store

FIELD: Final = "_guestAttributes"
"""The field of a stored instance with its guest attributes, by `NAMESPACE/KEY`; the API does not show it."""
_NAME: Final = re.compile(r"[^/]{1,128}/[^/]{1,128}")


def _are_attributes(value: Any, *, removes: bool = False) -> bool:
    """Accept strings by `NAMESPACE/KEY`; with `removes`, also nulls."""
    if not is_object(value) or not all(map(_NAME.fullmatch, value)):
        return False
    return all(is_text(text) or (removes and text is None) for text in value.values())


_NAME_OF_CONTROL: Final = "guest-attributes"
_ON_BOOT: Final = {"onBoot": Field("strings by NAMESPACE/KEY", _are_attributes), "only": TEXT}
_BODY: Final = ControlBody(
    _NAME_OF_CONTROL,
    {
        "instance": TEXT,
        "attributes": Field(
            "strings, or null to remove one, by NAMESPACE/KEY", lambda value: _are_attributes(value, removes=True)
        ),
        **_ON_BOOT,
    },
)
_BOOTS: Final = setting(_NAME_OF_CONTROL, ControlBody(_NAME_OF_CONTROL, _ON_BOOT).check)
"""The guest attributes that instances report at boot: `onBoot`, and `only` with a pattern of instance names."""


@acts(_BODY)
def set_guest_attributes(cloud: Cloud, fields: Json) -> Json:
    """Set attributes of an instance, or the attributes that instances get at future boots."""
    if set(fields) == {"instance", "attributes"}:
        path = path_of(fields["instance"], "")
        instance = cloud.store.get(path)
        if instance is None or "/instances/" not in path:
            raise not_found(path)
        attributes: Json = merge(instance.get(FIELD), fields["attributes"])
        cloud.store.put(path, instance | {FIELD: attributes})
        return attributes
    if "onBoot" in fields and set(fields) <= set(_ON_BOOT):
        return _BOOTS.write(cloud.store, fields)
    expected = "either instance and attributes or onBoot and, optionally, only"
    raise ApiError(400, f"The body of a request to /_emulator/{_NAME_OF_CONTROL} must have {expected}.")


def after_boot(store: Store, instance: Json) -> Json:
    """Return the field of an instance with the guest attributes that it has after a boot, if it has any.

    Attributes of a control request for boots override those of the startup script.
    """
    boots, found = _BOOTS.read(store), _after_script(instance, "startup-script")
    if fnmatch.fnmatchcase(instance["name"], boots.get("only", "*")):
        found |= boots.get("onBoot", {})
    return {FIELD: found} if found else {}


def after_shutdown(instance: Json) -> Json:
    """Return the field of an instance with its guest attributes after its shutdown script, if it has any."""
    found = _after_script(instance, "shutdown-script")
    return {FIELD: found} if found or FIELD in instance else {}


@handles("compute.instances.getGuestAttributes")
def get_guest_attributes(call: Call) -> Json:
    """Read the guest attributes of a namespace, or one of them."""
    path, query_path = f"{call.parent}/instances/{call.path['instance']}", call.query.get("queryPath", "")
    attributes, key = call.read(path).get(FIELD, {}), call.query.get("variableKey")
    head = {"kind": "compute#guestAttributes", "selfLink": call.url(f"{path}/guestAttributes/{query_path}")}
    head |= {"queryPath": query_path} if query_path else {}
    if key:  # given alone, at the end of the path, or within its namespace
        namespace = query_path.removesuffix(f"/{key}").removesuffix("/")
        name = f"{namespace}/{key}" if namespace else key
        if name not in attributes:
            raise _no_attribute(name)
        return head | {"variableKey": key, "variableValue": attributes[name]}
    items = [
        {"namespace": namespace, "key": name, "value": attributes[f"{namespace}/{name}"]}
        for namespace, name in (whole.split("/") for whole in sorted(attributes))
        if query_path in {"", namespace, f"{namespace}/", f"{namespace}/{name}"}
    ]
    if not items:
        raise _no_attribute(query_path)
    return head | {"queryValue": {"items": items}}


def _no_attribute(name: str) -> ApiError:
    return ApiError(404, f"The resource '{name}' of type 'Guest Attribute' was not found.")


_URL: Final = re.compile(
    r"http://(?:metadata\.google\.internal|169\.254\.169\.254)/computeMetadata/v1/instance/guest-attributes/"
    r"(?P<name>[^/\s]{1,128}/[^/\s]{1,128})"
)
_HEADER: Final = re.compile(r"Metadata-Flavor:\s*Google", re.IGNORECASE)
_OPTIONS: Final = {
    "-X": "method",
    "--request": "method",
    "-d": "data",
    "--data": "data",
    "-H": "header",
    "--header": "header",
}
_EXPANDED: Final = re.compile(r"[$`]")
"""The parts of a value that a shell replaces; the value is then unknown."""
_ENDS_A_COMMAND: Final = re.compile(r"[&|;()<>]+")


def _after_script(instance: Json, script: str) -> Json:
    """Return the guest attributes that an instance has after the script under a key of its metadata."""
    items = {item["key"]: item.get("value") or "" for item in (instance.get("metadata") or {}).get("items") or ()}
    changes = dict(_changes(items.get(script, ""))) if is_on(items.get("enable-guest-attributes", "")) else {}
    found: Json = merge(instance.get(FIELD), changes)
    return found


def _changes(script: str) -> Iterator[tuple[str, str | None]]:
    """Yield the names of the attributes that a script writes, each with its value, or with None if it deletes it."""
    for command in _commands(script):
        options: dict[str, list[str]] = defaultdict(list)
        for before, word in itertools.pairwise(command):
            options[_OPTIONS.get(before, "other")].append(word)
        name = next((url["name"] for word in options["other"] if (url := _URL.fullmatch(word))), None)
        if name is None or not any(map(_HEADER.fullmatch, options["header"])):
            continue
        if options["method"] == ["DELETE"]:
            yield name, None
        elif options["method"] == ["PUT"] and options["data"] and not _EXPANDED.search(options["data"][-1]):
            yield name, options["data"][-1]


def _commands(script: str) -> Iterator[list[str]]:
    """Yield the words of each command of a script that calls `curl`, as a shell divides them."""
    for line in script.replace("\\\n", " ").splitlines():
        if "guest-attributes/" not in line:
            continue
        words = shlex.shlex(line, posix=True, punctuation_chars=True)
        words.whitespace_split = True
        try:
            divided = list(words)
        except ValueError:  # the quotation continues in the next line
            continue
        for ends, command in itertools.groupby(divided, lambda word: bool(_ENDS_A_COMMAND.fullmatch(word))):
            called = list(command)
            if not ends and "curl" in called:
                yield called[called.index("curl") :]
