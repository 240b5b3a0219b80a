"""Compares values by meaning: links and numbers in any spelling, absent values as defaults, sets in any order."""

from __future__ import annotations

import base64
import binascii
import ipaddress
import re
from collections.abc import Mapping
from typing import Any, Final

import attrs

from gcpx.model.fields import SCALARS, ListOf, MapOf, ObjectType, Property, Scalar, Type
from gcpx.model.links import NO_LOCATION, Location, same_link
from gcpx.model.numbers import as_integer
from gcpx.model.values import UNKNOWN, same_json

ANY: Final = SCALARS[Any]
"""The type of arbitrary JSON, in which null is a value and not the same as a missing one."""


def address(given: Any) -> Any:
    """Shorten an IP address: `2600:0:0::1` is `2600::1`."""
    try:
        return str(ipaddress.ip_address(str(given)))
    except ValueError:
        return given


def address_range(given: Any) -> Any:
    """Write a range with its length: `10.1.2.3` is `10.1.2.3/32`."""
    try:
        return str(ipaddress.ip_network(str(given), strict=False))
    except ValueError:
        return given


def decoded(given: Any) -> Any:
    """Decode base64, with or without line breaks."""
    try:
        return base64.b64decode("".join(str(given).split()), validate=True)
    except (binascii.Error, ValueError):
        return given


def domain(given: Any) -> Any:
    """Write a domain name in lower case and without a dot at the end."""
    return str(given).lower().rstrip(".")


def is_absent(prop: Property, value: Any) -> bool:
    """Return whether a value means the same as leaving it out: it is empty, or the server's default."""
    if value is UNKNOWN:
        return False
    if value is None or value in ({}, [], ""):
        return True
    if isinstance(prop.type, MapOf) and isinstance(value, dict):
        return prop.type.item != ANY and without_nulls(value).keys() <= prop.traits.merge_keys
    if isinstance(prop.type, ObjectType) and isinstance(value, dict):
        properties = prop.type.properties
        if all(key in properties and is_absent(properties[key], item) for key, item in value.items()):
            return True
    default = prop.default
    if isinstance(default, re.Pattern):
        return isinstance(value, str) and default.fullmatch(value) is not None
    return default is not None and ANYWHERE.equal(prop, prop.type, value, default)


def or_implied(prop: Property, value: Any, implied: Any) -> Any:
    """Return a value or, if it means the same as leaving it out, the value that the rest of its object implies."""
    return implied if is_absent(prop, value) else value


def is_another_choice(prop: Property, one: Any, other: Any) -> bool:
    """Return whether a value differs from `other`, one of the values among which the server chooses a default."""
    is_chosen = isinstance(prop.traits.default, re.Pattern) and isinstance(other, str)
    return is_chosen and other not in {"", one}


def without_nulls(values: dict[str, Any]) -> dict[str, Any]:
    """Leave out the null items of a map, which mean the same as missing ones."""
    return {key: value for key, value in values.items() if value is not None}


def is_patch(prop: Property, values: Mapping[str, Any]) -> bool:
    """Return whether a property is a JSON Merge Patch, in which null removes; `values` are its object's values."""
    return bool(prop.traits.patches) and values.get(prop.traits.patches) is not None


@attrs.frozen
class Comparison:
    """Compares the values of two sides.

    Attributes:
        locations: the locations that complete the short names of each side.
        sure: whether links are equal only if that is certain, as between old and new inputs. Otherwise, as between
            inputs and Google's values, they are equal unless they certainly differ.
    """

    locations: tuple[Location, Location] = (NO_LOCATION, NO_LOCATION)
    sure: bool = False

    def same(self, prop: Property, one: Any, other: Any) -> bool:
        """Return whether two values of a property mean the same; either may be absent."""
        if is_absent(prop, one) or is_absent(prop, other):
            differ = bool(one) and is_another_choice(prop, one, other)
            return is_absent(prop, one) and is_absent(prop, other) and not differ
        return self.equal(prop, prop.type, one, other)

    def equal(self, prop: Property, kind: Type, one: Any, other: Any) -> bool:
        """Return whether two present values mean the same; an unknown equals nothing."""
        if one is UNKNOWN or other is UNKNOWN or one is None or other is None:
            return one is None and other is None
        if isinstance(kind, Scalar):
            return self._equal_scalars(prop, kind, one, other)
        if isinstance(kind, ObjectType) and isinstance(one, dict) and isinstance(other, dict):
            return self._equal_objects(kind, one, other)
        if isinstance(kind, MapOf) and kind.item != ANY and isinstance(one, dict) and isinstance(other, dict):
            keys = (one.keys() | other.keys()) - prop.traits.merge_keys
            return all(self.equal(prop, kind.item, one.get(key), other.get(key)) for key in keys)
        if isinstance(kind, ListOf) and isinstance(one, list) and isinstance(other, list):
            pairs = self.match(prop, one, other)
            return all(left is not None and right is not None for left, right in pairs) and all(
                self.equal(prop, kind.item, one[left], other[right])
                for left, right in pairs
                if left is not None and right is not None
            )
        return same_json(one, other)

    def _equal_objects(self, kind: ObjectType, one: dict[str, Any], other: dict[str, Any]) -> bool:
        left, right = kind.implied(one), kind.implied(other)
        known = all(
            self.same(
                prop, or_implied(prop, one.get(key), left.get(key)), or_implied(prop, other.get(key), right.get(key))
            )
            for key, prop in kind.inputs.items()
            if key in one or key in other
        )
        return known and {k: one.get(k) for k in one.keys() - kind.properties} == {
            k: other.get(k) for k in other.keys() - kind.properties
        }

    def _equal_scalars(self, prop: Property, kind: Scalar, one: Any, other: Any) -> bool:
        for form in filter(None, (prop.traits.normalize, prop.traits.resolve)):
            one, other = form(one), form(other)
        if kind.name == "integer":
            left, right = as_integer(one), as_integer(other)
            return bool(one == other) if left is None or right is None else left == right
        if kind.name == "number":
            return bool(_number(one) == _number(other))
        if prop.traits.url and isinstance(one, str) and isinstance(other, str):
            return same_link(one, other, prop.traits.url, self.locations, sure=self.sure)
        return same_json(one, other)

    def match(self, prop: Property, one: list[Any], other: list[Any]) -> list[tuple[int | None, int | None]]:
        """Pair the elements of two lists, as indexes; None stands for no partner.

        Equal elements are paired first, then elements that share the property's `identity`, then by their position.
        Repeated elements of a set are left out of the result.
        """
        identity = prop.traits.identity if isinstance(prop.type, ListOf) else "ordered"
        pairs: list[tuple[int, int]] = []
        left, right = list(range(len(one))), list(range(len(other)))  # the elements without a partner
        ways = [self._is_equal_element, *([self._is_same_element] if isinstance(identity, tuple) else [])]
        for same in [] if identity == "ordered" else ways:
            for index in list(left):
                partner = next((free for free in right if same(prop, one[index], other[free])), None)
                if partner is not None:
                    pairs.append((index, partner))
                    left.remove(index)
                    right.remove(partner)
        if identity == "set":
            # An element that equals one with a partner only repeats it.
            same = self._is_same_element
            left = [free for free in left if not any(same(prop, one[free], other[found]) for _, found in pairs)]
            right = [free for free in right if not any(same(prop, one[found], other[free]) for found, _ in pairs)]
        else:
            by_position = list(zip(left, right, strict=False))
            pairs += by_position
            left, right = left[len(by_position) :], right[len(by_position) :]
        return sorted([*pairs, *((index, None) for index in left)]) + [(None, index) for index in right]

    def _is_same_element(self, prop: Property, one: Any, other: Any) -> bool:
        """Return whether two elements share an identity; without identities, whether they are equal."""
        assert isinstance(prop.type, ListOf)  # noqa: S101 - `match` asked before
        item, identity = prop.type.item, prop.traits.identity
        if identity == "set" or not isinstance(item, ObjectType):
            return self._is_equal_element(prop, one, other)
        for path in identity:
            at, kind, left, right = prop, prop.type.item, one, other
            for name in path.split("."):
                if not isinstance(kind, ObjectType) or not isinstance(left, dict) or not isinstance(right, dict):
                    left = right = None
                    break
                at = kind.properties[name]
                kind, left, right = at.type, left.get(name), right.get(name)
            if left and right and self.equal(at, kind, left, right):
                return True
        return False

    def _is_equal_element(self, prop: Property, one: Any, other: Any) -> bool:
        assert isinstance(prop.type, ListOf)  # noqa: S101 - as above
        return self.equal(prop, prop.type.item, one, other)


ANYWHERE = Comparison()
"""A comparison without known locations."""


def _number(value: Any) -> Any:
    try:
        return float(value)
    except (TypeError, ValueError):
        return value
