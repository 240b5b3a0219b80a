"""The types of the values that the records declare, for type checkers: a stub of TypedDicts for each service.

Values are plain dicts. These types let mypy find misspelt properties, and wrong types of values.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from gcpx.model.fields import ListOf, MapOf, ObjectType, Type, object_of, object_type
from gcpx.provider import FUNCTIONS, RESOURCES, function_class, resource_class

_SCALARS: Final = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "integer or percentage": "int | str",
    "any": "Any",
}
_HEAD: Final = """\
# Generated from the declarations by tools/generate; do not change this file.
#
# The values of the declared records: plain dicts, in which every property may be missing. In a check or a preview, a
# value may also be unknown or secret; there, read it with the functions of gcpx.model.fields. In a patch, it may be
# None.

"""


def paths() -> dict[str, partial[str]]:
    """Return the function for the text of each stub, by its path."""
    services = sorted({token.split(":")[1] for token in (*RESOURCES, *FUNCTIONS)})
    return {f"provider/gcpx/{service}/value_types.pyi": partial(text, service) for service in services}


def text(service: str) -> str:
    """Return the text of the stub of a service."""
    found: dict[str, ObjectType] = {}
    for kind in _declared(service):
        _collect(kind, found)
    classes = [_class(found[name]) for name in sorted(found)]
    names = [name for name in ("Any", "TypedDict") if any(name in written for written in classes)]
    body = "\n".join(classes)
    return f"{_HEAD}from typing import {', '.join(names)}\n\n{body}"


def class_name(kind: ObjectType) -> str:
    """Return the name of the type of an object's values: `FallbackValues` for `Fallback`."""
    return f"{kind.name.removesuffix('Model')}Values"


def _declared(service: str) -> Iterator[ObjectType]:
    for token in RESOURCES:
        if token.split(":")[1] == service:
            resource = resource_class(token)
            yield from (object_type(resource.model), object_type(resource.query))
    for token in FUNCTIONS:
        if token.split(":")[1] == service:
            function = function_class(token)
            yield from (object_type(function.arguments), object_type(function.result))


def _collect(kind: ObjectType, found: dict[str, ObjectType]) -> None:
    known = found.get(class_name(kind))
    if known is kind:
        return
    if known is not None:
        raise ValueError(f"two records have the name {kind.name}: in {known.module} and in {kind.module}")
    found[class_name(kind)] = kind
    for prop in kind.properties.values():
        inner = object_of(prop.type)
        if inner is not None:
            _collect(inner, found)


def _class(kind: ObjectType) -> str:
    lines = [f"    {name}: {_type(prop.type)}" for name, prop in sorted(kind.properties.items())]
    return "\n".join([f"class {class_name(kind)}(TypedDict, total=False):", *(lines or ["    ..."])]) + "\n"


def _type(kind: Type) -> str:
    if isinstance(kind, ListOf):
        return f"list[{_type(kind.item)}]"
    if isinstance(kind, MapOf):
        return f"dict[str, {_type(kind.item)}]"
    return class_name(kind) if isinstance(kind, ObjectType) else _SCALARS[kind.name]
