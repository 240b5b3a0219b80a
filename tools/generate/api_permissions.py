"""The permissions of the API methods that gcpx calls, from the emulator's table of what Google requires.

The plugin has no emulator, so it gets them as a file (`TABLE`), with the call of each method.
"""

from __future__ import annotations

import json
import re
from functools import cache
from importlib import resources
from typing import Final

import attrs

import gcpx_emulator.services  # noqa: F401 - registers what the emulator serves
from gcpx_emulator.core.discovery import APIS, methods_of
from gcpx_emulator.core.permissions import NEEDS, Permission
from generate.verb_permissions import table

TABLE: Final = "provider/gcpx/gcp/permissions.csv"
_IN_GCPX: Final = {
    "if `labels` is set": "",  # gcpx labels the members of a fleet
    "if disks are created": "if disks are created, as in nearly every fleet",
    "if `resourcePolicies` is set": "if `resourcePolicies` or `placement` is set",
    "if an existing disk is attached for reading": "if an existing disk is attached, which is then read-only",
    "if an existing disk is attached for writing": None,
    "if a disk is made from a snapshot": None,
    "if the disk is made from an image": None,
}
"""What becomes of a condition in gcpx: other words; nothing if it always holds; None if it never holds."""
_OF_WHOLE: Final = frozenset({"the project", "the bucket", "the bucket's project"})
"""What the first parameter of a path names, and the last one names something in it."""


def permissions_of(method: str) -> list[Permission]:
    """List the permissions that a method may need when gcpx calls it; every call needs the first one."""
    declared = [permission for need in NEEDS[method] for permission in need.permissions]
    found = [(permission, _IN_GCPX.get(permission.when, permission.when)) for permission in declared]
    return [attrs.evolve(permission, when=when) for permission, when in found if when is not None]


def text() -> str:
    """Return the text of the plugin's file."""
    methods = {method for row in table() for method in row.methods.split()}
    return "".join(["method,call,permissions\n", *map(_line, sorted(methods))])


def _line(method: str) -> str:
    permissions = permissions_of(method)
    names = " ".join(dict.fromkeys(permission.name for permission in permissions))
    return f"{method},{_call(method, permissions[0].on)},{names}\n"


def _call(method: str, on: str) -> str:
    """Write a call, as in `GET [projects/{project}]/regions`: brackets enclose what the first permission is on."""
    http_method, path = _calls()[method]
    named = re.match(r"[^}]*\}" if on in _OF_WHOLE else r".*\}", path)
    return f"{http_method} [{named[0]}]{path[named.end() :]}" if named else f"{http_method} {path}"


@cache
def _calls() -> dict[str, tuple[str, str]]:
    """Give the HTTP method, and the path below the version, of every method that Google describes."""
    folder = resources.files("googleapiclient") / "discovery_cache" / "documents"
    found = {}
    for name, api in APIS.items():
        for method in methods_of(json.loads((folder / f"{name}.json").read_text())):
            path = (method.get("flatPath") or method["path"]).removeprefix(f"{api.prefixes[0]}/")
            found[method["id"]] = method["httpMethod"], path
    return found
