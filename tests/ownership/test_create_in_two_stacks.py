"""Two stacks that declare the same thing: the second one gets a conflict, and never deletes what the first one has.

Holds reliability.md: "Only what belongs to the stack"; "gcpx deletes, detaches and changes only"; "If you have to
decide first"; "Three facts decide"; "What is promised".
"""

from __future__ import annotations

import pytest
from engines.inventory import Inventory
from engines.stack import Declared, Stack
from samples import SAMPLES

CREATIONS = {
    name: (sample.token, next(iter(sample.lives.values())).inputs, sample.changed_by[0])
    for name, sample in SAMPLES.items()
}
"""A program of each resource with a name, and the API method that creates it."""
FAULTS = {
    "no fault": None,
    "one 500": {"status": 500},
    "500 for good": {"status": 500, "times": 10**9},
    "no response for good": {"drop": "before", "times": 10**9},
    "the response is lost": {"drop": "after"},
}


@pytest.fixture
def stacks(cloud):
    made = [Stack(cloud, stack_name=name) for name in ("dev", "prod")]
    yield made
    for stack in made:
        stack.end_plugin()


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
@pytest.mark.parametrize("name", CREATIONS)
def test_what_another_stack_has_is_never_taken_over_or_deleted(cloud, stacks, name, fault):
    token, inputs, method = CREATIONS[name]
    program, (one, other) = {"thing": Declared(token, inputs)}, stacks
    cloud.prepare()
    one.up(program)
    made = Inventory.of(cloud)
    if fault:
        cloud.fail(method, **fault)
    other.up(program)
    cloud.emulator.faults.queue.clear()
    assert other.entries == []
    other.up(program)

    assert "`pulumi import " in other.failures[0].message
    other.destroy()
    assert Inventory.of(cloud) == made
    assert not one.preview(program)


NEXT = {
    "up": lambda stack, program: stack.up(program),
    "refresh": lambda stack, _: stack.refresh(),
    "destroy": lambda stack, _: stack.destroy(),
}


@pytest.mark.parametrize("following", NEXT.values(), ids=NEXT)
@pytest.mark.parametrize("name", ["instance_template", "machine_image", "disk_attachment"])
def test_an_outage_of_everything_does_not_make_what_another_stack_has_ours(cloud, stacks, name, following):
    token, inputs, _ = CREATIONS[name]
    program, (one, other) = {"thing": Declared(token, inputs)}, stacks
    cloud.prepare()
    one.up(program)
    made = Inventory.of(cloud)
    cloud.fail("*", drop="before", times=10**9)
    other.up(program)
    cloud.emulator.faults.queue.clear()
    assert len(other.entries) == 1, "Google may have created it"

    following(other, program)
    other.destroy()
    assert Inventory.of(cloud) == made
    assert not one.preview(program)


@pytest.mark.parametrize("following", NEXT.values(), ids=NEXT)
def test_a_fleet_that_another_stack_creates_during_an_outage_does_not_become_ours(cloud, stacks, following):
    token, inputs, method = CREATIONS["bulk_instances"]
    program, (one, other) = {"thing": Declared(token, inputs)}, stacks
    cloud.prepare()
    cloud.fail(method, drop="before", times=10**9)
    other.up(program)
    cloud.emulator.faults.queue.clear()
    assert len(other.entries) == 1, "Google may have created it"
    one.up(program)
    made = Inventory.of(cloud)

    following(other, program)
    other.destroy()
    assert Inventory.of(cloud) == made
    assert not one.preview(program)
