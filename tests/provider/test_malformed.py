"""Every invalid value at every path is refused at its path, quickly, and without showing a secret."""

from __future__ import annotations

import copy
import itertools

import pytest
from engines import driver
from engines.driver import secret
from samples import INPUTS
from values import search

from gcpx.model.fields import ListOf, MapOf, ObjectType, Scalar, object_type
from gcpx.model.values import format_path
from gcpx.provider import resource_class

COUNT = 10_000
"""How many combinations of several mistakes a search tries."""
HIDDEN = "hunter2hunter2"
INVALID_SECRET = f" {HIDDEN}/ü?#"
"""A secret that no string format accepts."""
WRONG = {
    "string": [5, True, ["x"], {"x": "y"}, 1e300, -0.0],
    "integer": ["many", True, 1.5, [1], {"a": 1}, "", "0x10", "1e999", "NaN"],
    "integer or percentage": ["many", True, -1, 1.5, [1], {"a": 1}, "", "%", "-1%", "1.5%", "101%", "9" * 5000 + "%"],
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


def _properties(kind, path=()):
    """Yield the path of each object, its type, and each of its properties, at every depth."""
    for name, prop in kind.properties.items():
        yield path, kind, prop
        inner, marks = prop.type, []
        while isinstance(inner, ListOf | MapOf):
            marks.append(0 if isinstance(inner, ListOf) else "a")
            inner = inner.item
        if isinstance(inner, ObjectType) and not prop.traits.output:
            yield from _properties(inner, (*path, name, *marks))


def _set(owner, path, value):
    """Set a value at a path, and create missing objects and lists on the way."""
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


def _stands_for_digits(pattern, value):
    """Return whether a value is a whole number whose digits are valid text."""
    return type(value) in {int, float} and abs(value) < 10 and pattern.fullmatch(str(int(value))) is not None


def _invalid_scalars(prop, kind):
    """Return the values that the property's declaration does not accept; none if it accepts any."""
    traits, choices = prop.traits, list(WRONG[kind.name]) if kind != Scalar("any") else []
    if kind.name == "integer":
        choices += [traits.minimum - 1] if traits.minimum is not None else []
        choices += [traits.maximum + 1, 10**18 * 9] if traits.maximum is not None else []
        choices += [traits.minimum + 1] if traits.multiple_of else []
    if kind.name == "string" and traits.pattern:
        choices = [value for value in choices if not _stands_for_digits(traits.pattern.pattern, value)]
        choices += [text for text in TEXTS if not traits.pattern.pattern.fullmatch(text)]
    if kind.name == "string" and traits.enum:
        choices += [f"{traits.enum[0]}X", traits.enum[-1].lower(), "no such value", ""]
    if kind.name == "string" and traits.max_length:
        choices.append("x" * (traits.max_length + 1))
    return [((), value) for value in choices]


def _invalid_values(prop, kind):
    """Return every mistake of a property: a path below it, and the invalid value there."""
    if isinstance(kind, ListOf):
        wrong = [((), "x"), ((), {"a": 1}), ((0,), None)]
        if prop.traits.max_items:
            wrong.append(((), [None if isinstance(kind.item, Scalar) else {}] * (prop.traits.max_items + 1)))
        return wrong + [((0, *below), value) for below, value in _invalid_values(prop, kind.item)]
    if isinstance(kind, MapOf) and kind.item != Scalar("any"):
        keys = itertools.cycle(["a", "b.c", "d/e"])
        below = [
            ((key, *below), value) for key, (below, value) in zip(keys, _invalid_values(prop, kind.item), strict=False)
        ]
        return [((), value) for value in ("x", 5, ["a"], True)] + below
    return (
        _invalid_scalars(prop, kind) if isinstance(kind, Scalar) else [((), value) for value in ("x", 5, ["a"], True)]
    )


def _mistakes(kind):
    """Yield every path with every invalid value there, and unknown keys in every object.

    An empty string is no mistake: it is the same as leaving the input out.
    """
    objects = set()
    for path, _, prop in _properties(kind):
        wrong = [((), value) for value in ("x", 1, {}, [])] if prop.traits.output else _invalid_values(prop, prop.type)
        if prop.type == Scalar("string") and not prop.traits.required:
            wrong = [(below, value) for below, value in wrong if value != ""]
        yield from (((*path, prop.name, *below), value) for below, value in wrong)
        if path not in objects:
            objects.add(path)
            yield from (
                ((*path, key), value) for key, value in zip(KEYS, itertools.cycle(["x", 1, {}, HIDDEN]), strict=False)
            )


def _as_secret(mistake):
    """Return the mistake with its value as a secret."""
    where, value = mistake
    return where, secret(INVALID_SECRET if value in TEXTS else value)


def _all_mistakes(token):
    """Return every mistake of a resource, and the last one of each path also as a secret."""
    mistakes = list(_mistakes(object_type(resource_class(token).model)))
    by_place = {where: (where, value) for where, value in mistakes if value is not None}
    return [*mistakes, *map(_as_secret, by_place.values())]


@pytest.fixture(scope="module")
def offline():
    with driver.direct(project="demo", region="us-east1", zone="us-east1-b") as made:
        yield made


def _assert_refused(offline, token, *mistakes):
    """Assert that inputs with these mistakes are refused without a secret; return the failures."""
    inputs = copy.deepcopy(INPUTS[token])
    for where, value in mistakes:
        _set(inputs, where, copy.deepcopy(value))
    failures = offline.check(token, "x", inputs).failures
    said = [f"{failure.property} {failure.reason}".removeprefix(" ") for failure in failures]
    assert said, (inputs, mistakes)
    assert all(failure.reason for failure in failures)
    assert HIDDEN not in " ".join(said), (inputs, said)
    return said


def _is_named(where, said):
    """Return whether a failure names exactly this path, of which the last part may be masked beside a secret."""
    paths = (format_path(where), f"{format_path(where[:-1])}.[secret]")
    return any(text.startswith((f"{path} ", f"{path}: ")) for path in paths for text in said)


@pytest.mark.parametrize("token", INPUTS)
def test_every_mistake_is_refused_at_its_path(offline, token):
    for mistake in _all_mistakes(token):
        said = _assert_refused(offline, token, mistake)
        assert _is_named(mistake[0], said), (mistake, said)
    assert not [text for _, _, text in offline.log.messages if HIDDEN in text]


@pytest.mark.search
@pytest.mark.parametrize("token", INPUTS)
def test_several_mistakes_are_refused_together(offline, token):
    """At least the outermost mistake is named, because it may have replaced the others."""
    every = _all_mistakes(token)
    for generator in search.seeded_randoms(steady=60, searched=COUNT):
        chosen = generator.sample(every, generator.randint(2, 4))
        mistakes = sorted(chosen, key=lambda mistake: len(mistake[0]), reverse=True)
        said = _assert_refused(offline, token, *mistakes)
        assert _is_named(mistakes[-1][0], said), (generator.number, mistakes, said)
    assert not [text for _, _, text in offline.log.messages if HIDDEN in text]
