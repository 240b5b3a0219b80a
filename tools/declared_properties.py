"""A mypy plugin: code may read only declared properties of declared values.

mypy itself accepts any name in `values.get("NAME")`, and knows nothing about `text`, `number`, `nested`, `elements`,
`chosen` and `without` of `gcpx.model.fields`. Here, an unknown name is an error in all of them, and `nested` and
`elements` return the declared type.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from mypy.errorcodes import TYPEDDICT_ITEM
from mypy.nodes import Expression
from mypy.plugin import FunctionContext, MethodContext, Plugin
from mypy.plugins.common import try_getting_str_literals
from mypy.plugins.default import typed_dict_get_callback
from mypy.types import Instance, TupleType, Type, TypedDictType, UnionType, get_proper_type

_FIELDS: Final = "gcpx.model.fields"


def _property(values: Type, context: FunctionContext | MethodContext, place: int) -> Type | None:
    """Return the type of the property named by an argument, or of a map's values; None if it is not declared."""
    values = get_proper_type(values)
    if isinstance(values, UnionType):
        found = [_property(item, context, place) for item in values.items]
        return found[0] if all(item == found[0] for item in found) else None
    if isinstance(values, Instance) and values.type.fullname in {"builtins.dict", "typing.Mapping"}:
        return get_proper_type(values.args[1])
    if not isinstance(values, TypedDictType) or not context.args[place]:
        return None
    names = _names(context.args[place][0], context.arg_types[place][0])
    for name in names:
        if name not in values.items:
            words = f'"{values.fallback.type.name}" has no property "{name}"'
            context.api.fail(words, context.context, code=TYPEDDICT_ITEM)
            return None
    return get_proper_type(values.items[names[0]]) if len(names) == 1 else None


def _names(given: Expression, kind: Type) -> list[str]:
    """Return the literal strings of an argument, or of a tuple's elements; empty if they are not known."""
    kind = get_proper_type(kind)
    items = [get_proper_type(item) for item in kind.items] if isinstance(kind, TupleType) else [kind]
    return [name for item in items for name in try_getting_str_literals(given, item) or ()]


def _get(context: MethodContext) -> Type:
    _property(context.type, context, 0)
    return typed_dict_get_callback(context)


def _read(context: FunctionContext) -> Type:
    _property(context.arg_types[0][0], context, 1)
    return context.default_return_type


def _nested(context: FunctionContext) -> Type:
    found = _property(context.arg_types[0][0], context, 1)
    is_object = isinstance(found, TypedDictType) or (
        isinstance(found, Instance) and found.type.fullname == "builtins.dict"
    )
    return found if found is not None and is_object else context.default_return_type


def _elements(context: FunctionContext) -> Type:
    found, default = _property(context.arg_types[0][0], context, 1), get_proper_type(context.default_return_type)
    if not isinstance(found, Instance) or found.type.fullname != "builtins.list" or not isinstance(default, Instance):
        return context.default_return_type
    item, named = found.args[0], context.api.named_generic_type
    return default.copy_modified(args=[TupleType([named("builtins.int", []), item], named("builtins.tuple", [item]))])


_READERS: Final = {
    f"{_FIELDS}.text": _read,
    f"{_FIELDS}.number": _read,
    f"{_FIELDS}.nested": _nested,
    f"{_FIELDS}.elements": _elements,
    f"{_FIELDS}.chosen": _read,
    f"{_FIELDS}.without": _read,
}


class DeclaredProperties(Plugin):
    """Checks the names of properties in reads."""

    def get_method_hook(self, fullname: str) -> Callable[[MethodContext], Type] | None:
        """Check `values.get("NAME")`."""
        return _get if fullname == "typing.Mapping.get" else None

    def get_function_hook(self, fullname: str) -> Callable[[FunctionContext], Type] | None:
        """Check `text(values, "NAME")` and the like."""
        return _READERS.get(fullname)


def plugin(_: str) -> type[Plugin]:
    """Give mypy the plugin."""
    return DeclaredProperties
