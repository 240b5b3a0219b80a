"""Check and Diff of a template with every field set, compared with encoding and decoding the same body as JSON."""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Callable
from typing import Any, Final

from measurement import Row
from sizes import sized

from gcpx.compute.instance_template import InstanceTemplateModel
from gcpx.model.check import check
from gcpx.model.diff import diff
from gcpx.model.fields import ListOf, MapOf, ObjectType, Property, Type, object_type

_MOST: Final = 10.0
_ROUNDS: Final = sized(400, 2)
_BY_FIELD: Final = {
    "networkIP": "10.0.0.2", "ipv6Address": "2600::1", "ipCidrRange": "/24", "terminationTime": "2031-01-31T00:00:00Z",
    "networkAttachment": "projects/1/regions/r/networkAttachments/a", "diskSizeGb": 20,
}  # fmt: skip


def full() -> dict[str, Any]:
    """Return a template with every field set to a value of its type and form."""
    made = _object(object_type(InstanceTemplateModel))
    return {name: value for name, value in made.items() if not name.startswith("sourceInstance")}


def _object(kind: ObjectType) -> dict[str, Any]:
    return {name: _value(prop, prop.type) for name, prop in kind.inputs.items()}


def _value(prop: Property, kind: Type) -> Any:
    if isinstance(kind, ObjectType):
        return _object(kind)
    if isinstance(kind, ListOf):
        return [_value(prop, kind.item) for _ in range(max(1, prop.traits.min_items))]
    if isinstance(kind, MapOf):
        return {"a": _value(prop, kind.item)}
    if prop.name in _BY_FIELD:
        return _BY_FIELD[prop.name]
    plain = {"integer": prop.traits.minimum or 1, "number": 1.5, "boolean": True}
    return plain.get(kind.name, prop.traits.enum[0] if prop.traits.enum else "abc")


def checks() -> Row:
    """Compare Check and Diff of a changed template with JSON encoding and decoding of it, on one core."""
    kind, inputs = object_type(InstanceTemplateModel), full()
    other = copy.deepcopy(inputs)
    other["properties"]["labels"] = {"a": "another"}
    ours = _seconds_per_round(lambda: (check(kind, inputs), diff(kind, inputs, other, {})))
    theirs = _seconds_per_round(lambda: json.loads(json.dumps(inputs)))
    size = len(json.dumps(inputs))
    return Row(f"Check and Diff of {size:,} bytes", ours * 1e6, theirs * 1e6, "us", "JSON, both ways", _MOST)


def _seconds_per_round(work: Callable[[], Any]) -> float:
    """Return the seconds of one round in the best of five runs, because other work on the machine only adds time."""
    best = float("inf")
    for _ in range(5):
        begun = time.perf_counter()
        for _ in range(_ROUNDS):
            work()
        best = min(best, (time.perf_counter() - begun) / _ROUNDS)
    return best
