"""Wrong inputs by the ten thousand: each is refused at its place, by itself, soon, and with nothing secret in its words."""

from __future__ import annotations

import copy
import random

import driver
import pytest
from driver import secret
from programs import (
    ATTACHMENT,
    FLEET,
    IMAGE,
    KEY,
    NOTIFICATION,
    TEMPLATE,
    attachment,
    fleet,
    image,
    key,
    notification,
    template,
)

from gcpx.model.fields import ListOf, MapOf, ObjectType, Scalar, object_type
from gcpx.model.values import format_path
from gcpx.provider import resource_class

COUNT = 10_000
HIDDEN = "hunter2hunter2"
SPOILED = f" {HIDDEN}/ü?#"
"""A secret that no form of a text takes."""
BASES = {
    TEMPLATE: template(),
    IMAGE: image(),
    ATTACHMENT: attachment(),
    FLEET: fleet(3),
    NOTIFICATION: notification(),
    KEY: key(),
}
WRONG = {
    "string": [5, True, ["x"], {"x": "y"}, 1e300, -0.0],
    "integer": ["many", True, 1.5, [1], {"a": 1}, "", "0x10", "1e999", "NaN"],
    "number": ["many", True, [1], {"a": 1}],
    "boolean": ["yes", 1, 0, "true", [True], {"a": True}],
}
KEYS = [
    "",
    "x",
    "Name",
    "machine_type",
    "диск",
    "a.b",
    'q"uote',
    "a/b",
    "back\\slash",
    "\n",
    "x" * 300,
    "__proto__x"[2:],
    "🙂",
]
TEXTS = [
    "",
    " ",
    "\x00",
    "A",
    "-",
    "a b",
    "ünïcode",
    "x" * 70,
    "x" * 5000,
    "../..",
    "'; drop",
    "${x}",
    "%s%n",
    "\u202e",
]


def _places(kind, path=()):
    """Give each input property with the path to its object, as far as objects go down."""
    for name, prop in kind.properties.items():
        yield path, kind, prop
        inner, marks = prop.type, []
        while isinstance(inner, ListOf | MapOf):
            marks.append(0 if isinstance(inner, ListOf) else "a")
            inner = inner.item
        if isinstance(inner, ObjectType) and not prop.rules.output:
            yield from _places(inner, (*path, name, *marks))


def _set(owner, path, value):
    """Put a value at a path, making what is missing on the way."""
    for index, part in enumerate(path[:-1]):
        empty = [] if isinstance(path[index + 1], int) else {}
        if isinstance(part, int):
            owner.extend([empty] if not owner else [])
            owner = owner[part]
        else:
            found = owner.get(part)
            owner[part] = found if isinstance(found, type(empty)) else empty
            owner = owner[part]
    if isinstance(path[-1], int):
        owner[:] = [value]
    else:
        owner[path[-1]] = value


def _wrong_scalar(chance, prop, kind):
    """Give a value that the property's declaration does not take; None where it takes any."""
    rules, choices = prop.rules, list(WRONG[kind.name]) if kind != Scalar("any") else []
    if kind.name == "integer":
        choices += [rules.minimum - 1] if rules.minimum is not None else []
        choices += [rules.maximum + 1, 10**18 * 9] if rules.maximum is not None else []
        choices += [rules.minimum + 1] if rules.multiple_of else []
    if kind.name == "string" and rules.pattern:
        choices += [text for text in TEXTS if not rules.pattern[0].fullmatch(text)]
    if kind.name == "string" and rules.enum:
        choices += [f"{rules.enum[0]}X", rules.enum[-1].lower(), "no such value", ""]
    if kind.name == "string" and rules.max_length:
        choices.append("x" * (rules.max_length + 1))
    return chance.choice(choices) if choices else None


def _wrong(chance, prop, kind):
    """Give a path below the property, and what is wrong there."""
    if isinstance(kind, ListOf):
        return _wrong_list(chance, prop, kind)
    if isinstance(kind, MapOf) and chance.random() < 0.5 and kind.item != Scalar("any"):
        below, value = _wrong(chance, prop, kind.item)
        return (chance.choice(["a", "b.c", "d/e"]), *below), value
    if isinstance(kind, Scalar):
        return (), _wrong_scalar(chance, prop, kind)
    return (), chance.choice(["x", 5, ["a"], True])


def _wrong_list(chance, prop, kind):
    how = chance.choice(["text", "map", "null", "item", *(["many"] if prop.rules.max_items else [])])
    if how == "many":
        return (), [None if isinstance(kind.item, Scalar) else {}] * (prop.rules.max_items + 1)
    if how == "item":
        below, value = _wrong(chance, prop, kind.item)
        return (0, *below), value
    return ((0,), None) if how == "null" else ((), {"text": "x", "map": {"a": 1}}[how])


def _malformed(chance, places, base):
    """Spoil good inputs at one place; gives them and the place."""
    while True:
        path, _, prop = chance.choice(places)
        inputs = copy.deepcopy(base)
        if prop.rules.output:
            where, value = (*path, prop.name), chance.choice(["x", 1, {}, []])
        elif chance.random() < 0.15:
            where, value = (*path, chance.choice(KEYS)), chance.choice(["x", 1, {}, HIDDEN])
        else:
            below, value = _wrong(chance, prop, prop.type)
            where = (*path, prop.name, *below)
            if value is None and (not below or below[-1] != 0):
                continue
        if chance.random() < 0.1 and value is not None:
            value = secret(SPOILED if value in TEXTS else value)
        _set(inputs, where, value)
        return inputs, where


@pytest.fixture(scope="module")
def offline():
    with driver.engine(project="demo", region="us-east1", zone="us-east1-b", emulatorHost="127.0.0.1:1") as made:
        yield made


@pytest.mark.parametrize("token", BASES)
def test_whatever_is_wrong_is_refused_where_it_is(offline, token):
    chance, base = random.Random(token), BASES[token]
    places = list(_places(object_type(resource_class(token).model)))
    for number in range(COUNT):
        inputs, where = _malformed(chance, places, base)
        request = driver.rpc.CheckRequest(
            urn=offline.urn(token, "x"), news=driver.struct(inputs), randomSeed=b"x", name="x", type=token
        )
        failures = offline.stub.Check(request, timeout=5).failures
        said = [f"{failure.property} {failure.reason}".removeprefix(" ") for failure in failures]
        assert said, (number, where, inputs)
        assert all(failure.reason for failure in failures)
        assert any(
            text.startswith(format_path(where[:depth])) for depth in range(1, len(where) + 1) for text in said
        ), (where, said)
        assert HIDDEN not in " ".join(said)
    assert not [text for _, _, text in offline.log.messages if HIDDEN in text]
