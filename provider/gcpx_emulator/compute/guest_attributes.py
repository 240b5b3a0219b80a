"""Guest attributes: what programs on an instance report, as set at `/_emulator/guest-attributes`.

They are kept with the instance, and are deleted with it. It makes no difference whether the metadata of the instance
enables them, because the metadata of the project could do that as well.
"""

from __future__ import annotations

import fnmatch
import re
from typing import Any, Final

from gcpx_emulator.compute.call import Call, handles
from gcpx_emulator.compute.links import path_of
from gcpx_emulator.core.call import Cloud
from gcpx_emulator.core.control_actions import acts
from gcpx_emulator.core.control_bodies import TEXT, ControlBody, Field, is_object, is_text
from gcpx_emulator.core.errors import ApiError, not_found
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.merge_patch import merge
from gcpx_emulator.core.settings import setting
from gcpx_emulator.core.store import Store

_FIELD: Final = "_guestAttributes"
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
"""What instances report when they boot: `onBoot`, and `only` with a pattern of their names."""


@acts(_BODY)
def set_guest_attributes(cloud: Cloud, fields: Json) -> Json:
    """Set attributes of an instance, or those that instances get when they boot from now on."""
    if set(fields) == {"instance", "attributes"}:
        return _set(cloud.store, path_of(fields["instance"], ""), fields["attributes"])
    if "onBoot" in fields and set(fields) <= set(_ON_BOOT):
        return _BOOTS.write(cloud.store, fields)
    expected = "either instance and attributes or onBoot and, optionally, only"
    raise ApiError(400, f"The body of a request to /_emulator/{_NAME_OF_CONTROL} must have {expected}.")


def _set(store: Store, path: str, change: Json) -> Json:
    instance = store.get(path)
    if instance is None or "/instances/" not in path:
        raise not_found(path)
    attributes: Json = merge(instance.get(_FIELD), change)
    store.put(path, instance | {_FIELD: attributes})
    return attributes


def attributes_of_boot(store: Store, instance: Json) -> Json:
    """Return the field of an instance with the guest attributes that it has after a boot, if a boot sets any."""
    boots = _BOOTS.read(store)
    if not boots.get("onBoot") or not fnmatch.fnmatchcase(instance["name"], boots.get("only", "*")):
        return {}
    return {_FIELD: instance.get(_FIELD, {}) | boots["onBoot"]}


@handles("compute.instances.getGuestAttributes")
def get_guest_attributes(call: Call) -> Json:
    """Read the guest attributes of a namespace, or one of them."""
    path, query_path = f"{call.parent}/instances/{call.path['instance']}", call.query.get("queryPath", "")
    attributes = call.read(path).get(_FIELD, {})
    head = {"kind": "compute#guestAttributes", "selfLink": call.url(f"{path}/guestAttributes/{query_path}")}
    head |= {"queryPath": query_path} if query_path else {}
    if call.query.get("variableKey"):
        return head | _variable(attributes, query_path, call.query["variableKey"])
    found = [name for name in sorted(attributes) if _is_at(name, query_path)]
    if not found:
        raise _no_attribute(query_path)
    return head | {"queryValue": {"items": [_entry(name, attributes[name]) for name in found]}}


def _is_at(name: str, query_path: str) -> bool:
    """Return whether an attribute is the one at a path, or in the namespace at that path."""
    return not query_path or name == query_path or name.partition("/")[0] == query_path.removesuffix("/")


def _variable(attributes: Json, query_path: str, key: str) -> Json:
    """Read one attribute by its key, which may be given alone, at the end of the path, or within its namespace."""
    namespace = query_path.removesuffix(f"/{key}").removesuffix("/")
    name = f"{namespace}/{key}" if namespace else key
    if name not in attributes:
        raise _no_attribute(name)
    return {"variableKey": key, "variableValue": attributes[name]}


def _entry(name: str, value: str) -> Json:
    namespace, _, key = name.partition("/")
    return {"namespace": namespace, "key": key, "value": value}


def _no_attribute(name: str) -> ApiError:
    return ApiError(404, f"The resource '{name}' of type 'Guest Attribute' was not found.")
