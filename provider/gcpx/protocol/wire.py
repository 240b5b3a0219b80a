"""Converts the engine's messages (property values, names, configuration, differences) to the model's values, and back.

Secrets travel as objects with a signature, unknowns as special strings. A text or a key of Google's that the engine
would read as one of them travels with a backslash before it.
"""

from __future__ import annotations

from typing import Any, Final

from google.protobuf import struct_pb2

from gcpx.model import naming
from gcpx.model.diff import Change
from gcpx.model.numbers import BITS, is_exact
from gcpx.model.values import UNKNOWN, Secret, Special, format_path
from gcpx.protocol import proto

SIGNATURE: Final = "4dabf18193072939515e22adb298388d"
SECRET: Final = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 - a marker, not a credential
RESOURCE: Final = "5cf8f73096256a8f31e491e813e4eb8e"
OUTPUT: Final = "d0e6a833031e9bbcd3f4e8bde6ca49a4"
_SPECIAL: Final = {
    "c44067f5952c0a294b673a41bacd8c17": "an asset: let the program read the file, and write its text here",
    "0def7320c3a5731c473e5ecbe6d01bc7": "an archive",
}
"""Values that no property accepts, by signature."""
UNKNOWN_STRING: Final = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
UNKNOWNS: Final = frozenset(
    {
        UNKNOWN_STRING,
        "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",  # boolean
        "3eeb2bf0-c639-47a8-9e75-3b44932eb421",  # number
        "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",  # list
        "030794c1-ac77-496b-92df-f27374a8bd58",  # asset
        "e48ece36-62e2-4504-bad9-02848725956a",  # archive
        "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",  # map
    }
)


def decode(struct: struct_pb2.Struct) -> dict[str, Any]:
    """Read a Struct: unknowns become `UNKNOWN`, secrets `Secret`, whole numbers of at most 64 bits `int`.

    Its fields are sorted by name, because protobuf's order differs between processes.
    """
    return _decode_fields(struct.fields)


def _decode_fields(fields: Any) -> dict[str, Any]:
    return {
        key[1:] if key[:1] == "\\" and key.lstrip("\\") == SIGNATURE else key: _decode(fields[key])
        for key in sorted(fields)
    }


def _decode(value: struct_pb2.Value) -> Any:
    if text := value.string_value:  # most values: asking for their kind first would take a seventh more time
        if text in UNKNOWNS:
            return UNKNOWN
        return text[1:] if text[0] == "\\" and text.lstrip("\\") in UNKNOWNS else text
    kind = value.WhichOneof("kind")
    if kind == "struct_value":
        fields = value.struct_value.fields
        return _decode_special(fields) if SIGNATURE in fields else _decode_fields(fields)
    if kind == "list_value":
        return [_decode(item) for item in value.list_value.values]
    if kind == "number_value":
        number = value.number_value
        return int(number) if number.is_integer() and abs(number) <= 1 << BITS else number
    if kind == "bool_value":
        return value.bool_value
    return "" if kind == "string_value" else None


def _decode_special(fields: Any) -> Any:
    """Read an object with a signature: a secret, an output or a reference to a resource."""
    signature = fields[SIGNATURE].string_value
    if signature == SECRET:
        return Secret(_decode(fields["value"]))
    if signature == OUTPUT:
        value = _decode(fields["value"]) if "value" in fields else UNKNOWN
        return Secret(value) if "secret" in fields and fields["secret"].bool_value else value
    if signature == RESOURCE:
        return _decode(fields["id"]) if "id" in fields else fields["urn"].string_value
    return Special(_SPECIAL.get(signature, "a special value of Pulumi"))


def encode(values: dict[str, Any]) -> struct_pb2.Struct:
    """Write a Struct; None is kept as null."""
    struct = struct_pb2.Struct()
    _encode_fields(values, struct.fields)
    return struct


def _encode_fields(values: dict[str, Any], into: Any) -> None:
    for key, value in values.items():
        _encode(value, into[f"\\{key}" if key.lstrip("\\") == SIGNATURE else key])


def _encode(value: Any, into: struct_pb2.Value) -> None:
    if isinstance(value, str):
        into.string_value = f"\\{value}" if value.lstrip("\\") in UNKNOWNS else value
    elif isinstance(value, dict):
        into.struct_value.SetInParent()
        _encode_fields(value, into.struct_value.fields)
    elif isinstance(value, list):
        into.list_value.SetInParent()
        add = into.list_value.values.add
        for item in value:
            _encode(item, add())
    elif isinstance(value, bool):
        into.bool_value = value
    elif isinstance(value, int) and not is_exact(value):
        into.string_value = str(value)  # numbers are doubles here, which would change the value
    elif isinstance(value, int | float):
        into.number_value = value
    elif isinstance(value, Secret):
        fields = into.struct_value.fields
        fields[SIGNATURE].string_value = SECRET
        _encode(value.value, fields["value"])
    elif value is None or isinstance(value, Special):  # only inputs that Check refused have it
        into.null_value = struct_pb2.NULL_VALUE
    elif value is UNKNOWN:
        into.string_value = UNKNOWN_STRING
    else:
        raise TypeError(f"{type(value).__name__} is not a property value")


def name_request(request: Any) -> naming.NameRequest:
    """Read the request for a name in a CheckRequest."""
    proposal = None
    if request.HasField("autonaming"):
        mode = proto.provider.CheckRequest.AutonamingOptions.Mode.Name(request.autonaming.mode).lower()
        proposal = naming.Proposal(request.autonaming.proposed_name, mode)
    name = request.name or request.urn.rpartition("::")[2]
    return naming.NameRequest(name, bytes(request.randomSeed), proposal)


def diff_response(changes: list[Change], delete_before_replace: bool) -> Any:
    """Write a DiffResponse; replacements are named in every field that the engine reads.

    The CLI compares with the new inputs. So it would show a changed output, such as a member of a fleet, as one that is
    deleted; what happens to members is said in words instead.
    """
    message = proto.provider
    details = {
        format_path(change.path): message.PropertyDiff(
            kind=message.PropertyDiff.Kind.Value(f"{change.kind.upper()}{'_REPLACE' if change.replaces else ''}"),
            inputDiff=change.is_input,  # otherwise, only the outputs have the old value
        )
        for change in changes
    }
    return message.DiffResponse(
        changes=message.DiffResponse.DIFF_SOME if changes else message.DiffResponse.DIFF_NONE,
        replaces=sorted({str(change.path[0]) for change in changes if change.replaces}),
        diffs=sorted({str(change.path[0]) for change in changes}),
        detailedDiff=details,
        hasDetailedDiff=True,
        deleteBeforeReplace=delete_before_replace,
    )
