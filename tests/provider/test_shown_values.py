"""At the path of a change, the engine shows the old and the new input; both have to be of the thing that changed."""

from __future__ import annotations

import pytest
from values.programs import TEMPLATE, template


def _items(**items):
    return {"metadata": {"items": [{"key": key, "value": value} for key, value in items.items()]}}


def _tags(*tags):
    return {"tags": {"items": list(tags)}}


def _data_disks(**sizes):
    boot = {"boot": True, "initializeParams": {"sourceImage": "projects/debian-cloud/global/images/family/debian-12"}}
    data = [{"deviceName": name, "initializeParams": {"diskSizeGb": size}} for name, size in sizes.items()]
    return {"disks": [boot, *data]}


ITEMS = "properties.metadata.items"


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        (_items(a="1", b="2"), _items(b="3", a="1"), {ITEMS: "UPDATE_REPLACE"}),
        (_items(a="1", b="2"), _items(b="2", a="1"), {}),
        (_items(a="1", b="2"), _items(a="1", b="3"), {f"{ITEMS}[1].value": "UPDATE_REPLACE"}),
        (_items(a="1", b="2"), _items(b="2"), {f"{ITEMS}[0]": "DELETE_REPLACE"}),
        (_items(a="1"), _items(a="1", b="2"), {f"{ITEMS}[1]": "ADD_REPLACE"}),
        (_items(a="1", b="2"), _items(b="3"), {ITEMS: "UPDATE_REPLACE"}),
        (_tags("a"), _tags("b"), {"properties.tags.items": "UPDATE_REPLACE"}),
        (_tags("a", "b"), _tags("b", "c"), {"properties.tags.items[0]": "DELETE_REPLACE", "properties.tags.items[1]": "ADD_REPLACE"}),
        (
            _data_disks(data=10, logs=20),
            _data_disks(logs=30, data=10),
            {"properties.disks": "UPDATE_REPLACE"},
        ),
    ],
)  # fmt: skip
def test_a_change_in_a_list_is_shown_where_both_sides_are_of_the_same_element(engine, old, new, changes):
    made = engine.create(TEMPLATE, "web", template(**old))
    found = engine.diff(made, template(**new)).detailedDiff

    assert {path: diff.Kind.Name(diff.kind) for path, diff in found.items()} == changes
