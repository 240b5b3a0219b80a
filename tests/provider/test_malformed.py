"""Every wrong value at every place: each is refused where it is, by itself, soon, and with nothing secret in its words."""

from __future__ import annotations

import copy
import itertools
import time

import driver
import pytest
import search
from driver import secret
from samples import INPUTS

from gcpx.model.fields import ListOf, MapOf, ObjectType, Scalar, object_type
from gcpx.model.values import format_path
from gcpx.provider import resource_class

COUNT = 10_000
"""How many mixtures of several mistakes a search tries."""
HIDDEN = "hunter2hunter2"
SPOILED = f" {HIDDEN}/ü?#"
"""A secret that no form of a text takes."""
WRONG = {
    "string": [5, True, ["x"], {"x": "y"}, 1e300, -0.0],
    "integer": ["many", True, 1.5, [1], {"a": 1}, "", "0x10", "1e999", "NaN"],
    "number": ["many", True, [1], {"a": 1}],
    "boolean": ["yes", 1, 0, "true", [True], {"a": True}],
}
BRIEF = 2.0
"""Seconds of computing, not of the clock, in which a refusal is due however long a text is."""
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
        if isinstance(inner, ObjectType) and not prop.traits.output:
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


def _wrong_scalars(prop, kind):
    """Give every value that the property's declaration does not take; none where it takes any."""
    traits, choices = prop.traits, list(WRONG[kind.name]) if kind != Scalar("any") else []
    if kind.name == "integer":
        choices += [traits.minimum - 1] if traits.minimum is not None else []
        choices += [traits.maximum + 1, 10**18 * 9] if traits.maximum is not None else []
        choices += [traits.minimum + 1] if traits.multiple_of else []
    if kind.name == "string" and traits.pattern:
        choices += [text for text in TEXTS if not traits.pattern[0].fullmatch(text)]
    if kind.name == "string" and traits.enum:
        choices += [f"{traits.enum[0]}X", traits.enum[-1].lower(), "no such value", ""]
    if kind.name == "string" and traits.max_length:
        choices.append("x" * (traits.max_length + 1))
    return [((), value) for value in choices]


def _wrongs(prop, kind):
    """Give every mistake of a property: a path below it, and what is wrong there."""
    if isinstance(kind, ListOf):
        wrong = [((), "x"), ((), {"a": 1}), ((0,), None)]
        if prop.traits.max_items:
            wrong.append(((), [None if isinstance(kind.item, Scalar) else {}] * (prop.traits.max_items + 1)))
        return wrong + [((0, *below), value) for below, value in _wrongs(prop, kind.item)]
    if isinstance(kind, MapOf) and kind.item != Scalar("any"):
        keys = itertools.cycle(["a", "b.c", "d/e"])
        below = [((key, *below), value) for key, (below, value) in zip(keys, _wrongs(prop, kind.item), strict=False)]
        return [((), value) for value in ("x", 5, ["a"], True)] + below
    return _wrong_scalars(prop, kind) if isinstance(kind, Scalar) else [((), value) for value in ("x", 5, ["a"], True)]


def _mistakes(kind):
    """Give every place with every value that is wrong there, and strange keys in every object."""
    objects = set()
    for path, _, prop in _places(kind):
        wrong = [((), value) for value in ("x", 1, {}, [])] if prop.traits.output else _wrongs(prop, prop.type)
        yield from (((*path, prop.name, *below), value) for below, value in wrong)
        if path not in objects:
            objects.add(path)
            yield from (
                ((*path, key), value) for key, value in zip(KEYS, itertools.cycle(["x", 1, {}, HIDDEN]), strict=False)
            )


def _hidden(mistake):
    """Give the mistake with a value that is secret."""
    where, value = mistake
    return where, secret(SPOILED if value in TEXTS else value)


def _all(token):
    """Give every mistake of a resource, and the last of each place once more as a secret."""
    mistakes = list(_mistakes(object_type(resource_class(token).model)))
    by_place = {where: (where, value) for where, value in mistakes if value is not None}
    return [*mistakes, *map(_hidden, by_place.values())]


@pytest.fixture(scope="module")
def offline():
    with driver.engine(project="demo", region="us-east1", zone="us-east1-b", emulatorHost="127.0.0.1:1") as made:
        yield made


def _refused(offline, token, *mistakes):
    """Hold the answer to inputs with these mistakes to what is due to each."""
    inputs = copy.deepcopy(INPUTS[token])
    for where, value in mistakes:
        _set(inputs, where, copy.deepcopy(value))
    begun = time.process_time()
    failures = offline.check(token, "x", inputs).failures
    assert time.process_time() - begun < BRIEF, inputs
    said = [f"{failure.property} {failure.reason}".removeprefix(" ") for failure in failures]
    assert said, (inputs, mistakes)
    assert all(failure.reason for failure in failures)
    assert HIDDEN not in " ".join(said), (inputs, said)
    return said


def _is_named(where, said):
    """Tell whether a failure names the very place."""
    path = format_path(where)
    return any(text.startswith((f"{path} ", f"{path}: ")) for text in said)


@pytest.mark.parametrize("token", INPUTS)
def test_whatever_is_wrong_is_refused_where_it_is(offline, token):
    for mistake in _all(token):
        said = _refused(offline, token, mistake)
        assert _is_named(mistake[0], said), (mistake, said)
    assert not [text for _, _, text in offline.log.messages if HIDDEN in text]


@pytest.mark.search
@pytest.mark.parametrize("token", INPUTS)
def test_several_mistakes_at_once_are_refused(offline, token):
    """At least the one highest up is named: it may stand where the others were."""
    every = _all(token)
    for chance in search.chances(steady=100, searched=COUNT):
        chosen = chance.sample(every, chance.randint(2, 4))
        mistakes = sorted(chosen, key=lambda mistake: len(mistake[0]), reverse=True)
        said = _refused(offline, token, *mistakes)
        assert _is_named(mistakes[-1][0], said), (chance.number, mistakes, said)
    assert not [text for _, _, text in offline.log.messages if HIDDEN in text]
